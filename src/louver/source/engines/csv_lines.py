"""A CSV file as a view of texts, line by line, so that no row decides how others are read.

A quote that is not closed ends with its line. A line that is not made of just as many values as the header is left out.
"""

from __future__ import annotations

import csv
from pathlib import Path

from louver.errors import DataError

LONGEST_HEADER = 1 << 20
_VIEW = """SELECT {columns} FROM (
    SELECT line, CASE WHEN contains(line, '"') THEN regexp_extract_all(',' || line, ',("(?:[^"]|"")*"|[^",]*)', 1)
        ELSE string_split(line, ',') END AS fields
    FROM (SELECT rtrim(line, chr(13)) AS line FROM read_csv({path}, columns = {{'line': 'VARCHAR'}},
        auto_detect = false, header = true, delim = '\x1f', quote = '', escape = '', nullstr = '', compression = 'none',
        hive_partitioning = false, ignore_errors = true, strict_mode = false)))
    WHERE len(fields) = {count} AND array_to_string(fields, ',') = line"""


def csv_view(path: str, count: int) -> str:
    """The select of a file, whose path comes quoted, with columns c0, c1, and so on."""
    return _VIEW.format(columns=", ".join(_value(number) for number in range(count)), count=count, path=path)


def header(path: Path) -> list[str]:
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        line = file.readline(LONGEST_HEADER)
    names = next(csv.reader([line]), [])
    if not names:
        raise DataError(f"{path} needs a first line with the names of its columns, split by commas.")
    if len(set(names)) < len(names):
        raise DataError(f"{path} names a column twice in its first line; rename one.")
    return names


def _value(number: int) -> str:
    """One value of a line, without its quotes; an empty one is missing."""
    field = f"fields[{number + 1}]"
    bare = f"CASE WHEN starts_with({field}, '\"') THEN replace({field}[2:-2], '\"\"', '\"') ELSE {field} END"
    return f"nullif({bare}, '') AS c{number}"
