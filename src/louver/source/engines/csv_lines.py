"""A CSV file as a view of texts, line by line, so that no row decides how others are read."""

from __future__ import annotations

import csv
from pathlib import Path

from louver.errors import DataError
from louver.source import csv_cells

LONGEST_HEADER = 1 << 20


def csv_view(path: str, count: int) -> str:
    """The select of a file, whose path comes quoted, with columns c0, c1, and so on."""
    columns = ", ".join(f"{csv_cells.cell(number)} AS c{number}" for number in range(count))
    return csv_cells.select(path, count, columns)


def header(path: Path) -> list[str]:
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        line = file.readline(LONGEST_HEADER)
    names = next(csv.reader([line]), [])
    if not names:
        raise DataError(f"{path} needs a first line with the names of its columns, split by commas.")
    if len(set(names)) < len(names):
        raise DataError(f"{path} names a column twice in its first line; rename one.")
    return names
