"""A CSV file of events as SQL that takes it line by line, as `formats.CSV` does: no line decides about others."""

from __future__ import annotations

import csv
from pathlib import Path

from louver.errors import DataError
from louver.source import csv_cells

_LONGEST_HEADER = 1 << 20


def lines(path: Path, quoted: str) -> str:
    """The select of a file, whose path comes quoted for SQL too; its first line names the columns, all of them texts.

    A line with more or fewer values than that is left out, and an empty value is missing.
    """
    names = _header(path)
    columns = ", ".join(f"{csv_cells.cell(number)} AS {_named(name)}" for number, name in enumerate(names) if name)
    return csv_cells.select(quoted, len(names), columns)


def _header(path: Path) -> list[str]:
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        first = file.readline(_LONGEST_HEADER)
    names = [name.strip() for name in next(csv.reader([first]), [])]
    if not any(names):
        raise DataError(f"{path} needs a first line with the names of its columns, split by commas.")
    named = [name for name in names if name]  # a table's index may have no name
    if len(set(named)) < len(named):
        raise DataError(f"{path} names a column twice in its first line; rename one.")
    return names


def _named(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
