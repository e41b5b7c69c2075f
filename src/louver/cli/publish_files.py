"""Which files `louver publish stream` writes, and that none of them is one that the stream is made of."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from louver.cli.ask_source import described, is_bare, ledger_address
from louver.errors import DataError, ParameterError

if TYPE_CHECKING:
    from louver.source.description import Source

PICTURE = ".svg"


def check_plot(arguments: argparse.Namespace) -> None:
    """Whether there can be a picture where it is asked for."""
    if arguments.plot is None:
        return
    path = Path(arguments.plot)
    if path.suffix.lower() != PICTURE:
        raise ParameterError(f"--plot writes an SVG picture, so its file must end in .svg, not {path.name!r}.")
    if arguments.dry_run:
        raise ParameterError("--plot draws a stream, and a dry run has none; leave one of them out.")
    if not path.parent.is_dir():
        raise ParameterError(f"There is no folder {path.parent} for the picture.")
    if path.exists() and not arguments.force:
        raise DataError(f"{path} is there already; name another file, or write over it with --force.")


def check_written(arguments: argparse.Namespace, source: Source, what: str = "stream") -> None:
    """Nothing is written over the rows, the description, the domain or the ledger, whatever --force says."""
    kept = list(_made_of(arguments, source))
    for option in ("to", "plot", "state"):
        given: str | None = getattr(arguments, option)
        if given is None or given == "-" or "://" in given:
            continue
        if any(_is_same(Path(given), path) for path in kept):
            raise ParameterError(f"--{option} would write over {given}, which the {what} needs; name another file.")


def _made_of(arguments: argparse.Namespace, source: Source) -> Iterator[Path]:
    from louver.ledger.place import key_path

    rows: Path | None = getattr(source.table.location, "path", None)
    if rows is not None:
        yield Path(rows)
    domain: str | None = arguments.domain or os.environ.get("LOUVER_DOMAIN")
    if domain is not None:
        yield Path(domain.partition("#")[0])
    ledger = ledger_address(arguments, source)
    if ledger is not None and "://" not in str(ledger):
        key = key_path(ledger, None)
        yield from (Path(ledger), key, key.with_name(f"{key.name}.witness"))
    if not is_bare(arguments.source):
        description, _ = described(arguments.source)
        yield description
        yield from _named_in(description)


def _named_in(description: Path) -> Iterator[Path]:
    """Whatever text in a description is the path of a file."""
    from louver.source.toml_file import parsed

    for text in _texts(parsed(description)):
        path = description.parent / text.partition("#")[0]
        if "\0" not in text and len(text) < os.pathconf("/", "PC_PATH_MAX") and path.name and path.is_file():
            yield path


def _texts(given: Any) -> Iterator[str]:
    if isinstance(given, str):
        yield given
    elif isinstance(given, dict | list):
        for each in given.values() if isinstance(given, dict) else given:
            yield from _texts(each)


def _is_same(one: Path, other: Path) -> bool:
    try:
        return one.resolve() == other.resolve() or (one.exists() and other.exists() and one.samefile(other))
    except OSError:
        return False
