"""A TOML file as a dictionary, with exact numbers, or one sentence about what is wrong with it."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

from louver.errors import DataError


def parsed(path: Path) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"), parse_float=Decimal)
    except FileNotFoundError:
        raise DataError(f"There is no file {path}.") from None
    except OSError as fault:
        raise DataError(f"{path} cannot be read: {fault.strerror or 'the system gave no reason'}.") from None
    except UnicodeDecodeError:
        raise DataError(f"{path} is not written in UTF-8.") from None
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as fault:
        said = str(fault)
        place = said.rpartition("(")[2].removesuffix(")")
        where = f" {place}" if place.startswith("at ") else ""
        why = "; a name stands twice" if "twice" in said or "overwrite" in said else ""
        raise DataError(f"{path} cannot be read as TOML{where}{why}.") from None


def sources_of(path: Path, rows: Path) -> list[str]:
    """The names of the sources in a description whose rows are in this file."""
    listed = parsed(path).get("source")
    described = listed.items() if isinstance(listed, dict) else ()
    tables = {name: each.get("table") for name, each in described if isinstance(each, dict)}
    return [name for name, table in tables.items() if isinstance(table, str) and _is_there(path.parent, table, rows)]


def _is_there(folder: Path, written: str, rows: Path) -> bool:
    from louver.source.public_list import is_same_file

    return "://" not in written and "\0" not in written and is_same_file(folder / written, rows)
