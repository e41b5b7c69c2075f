"""A CSV file of events as SQL that takes it line by line, as `formats.CSV` does: no line decides how others are read.

An engine that finds out by itself how a file is written looks at its rows for that, and one stray quote would take all
lines up to the next one with it.
"""

from __future__ import annotations

import csv
from pathlib import Path

from louver.errors import DataError

_LONGEST_HEADER = 1 << 20
# No line has the unit separator in it but one that is left out, so that each is one value.
_LINES = """SELECT rtrim(line, chr(13)) AS line FROM read_csv({path}, auto_detect = false, header = true,
    columns = {{'line': 'VARCHAR'}}, delim = '\x1f', quote = '', escape = '', nullstr = '', compression = 'none',
    hive_partitioning = false, ignore_errors = true, strict_mode = false)"""
_CELLS = """SELECT line, CASE WHEN contains(line, '"')
    THEN regexp_extract_all(',' || line, ',("(?:[^"]|"")*"|[^",]*)', 1) ELSE string_split(line, ',') END AS cells
    FROM ({lines})"""


def lines(path: Path, quoted: str) -> str:
    """The select of a file, whose path comes quoted for SQL too; its first line names the columns, all of them texts.

    A line with more or fewer values than that is left out, and an empty value is missing.
    """
    names = _header(path)
    columns = ", ".join(f"{_bare(number)} AS {_named(name)}" for number, name in enumerate(names, start=1) if name)
    cells = _CELLS.format(lines=_LINES.format(path=quoted))
    whole = f"len(cells) = {len(names)} AND array_to_string(cells, ',') = line"
    return f"SELECT {columns} FROM ({cells}) WHERE {whole}"  # noqa: S608 quoted names


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


def _bare(number: int) -> str:
    """One value without its quotes."""
    cell = f"cells[{number}]"
    return f"nullif(CASE WHEN starts_with({cell}, '\"') THEN replace({cell}[2:-2], '\"\"', '\"') ELSE {cell} END, '')"


def _named(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
