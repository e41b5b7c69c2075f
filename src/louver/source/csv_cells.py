"""SQL of DuckDB that takes a CSV file line by line, and each line apart into its cells.

An engine that finds out by itself how a file is written looks at its rows for that, and one stray quote would take all
lines up to the next one with it. Here no line decides how others are read: a quote that is not closed ends with its
line.
"""

from __future__ import annotations

# No line has the unit separator in it but one that is left out, so that each is one value.
_CELLS = """SELECT line, CASE WHEN contains(line, '"')
    THEN regexp_extract_all(',' || line, ',("(?:[^"]|"")*"|[^",]*)', 1) ELSE string_split(line, ',') END AS cells
    FROM (SELECT rtrim(line, chr(13)) AS line FROM read_csv({path}, auto_detect = false, header = true,
        columns = {{'line': 'VARCHAR'}}, delim = '\x1f', quote = '', escape = '', nullstr = '', compression = 'none',
        hive_partitioning = false, ignore_errors = true, strict_mode = false))"""


def select(path: str, count: int, columns: str) -> str:
    """The select of columns made of `cell`s from a file, whose path comes quoted for SQL.

    A line that is not made of just so many values, as many as the header, is left out.
    """
    whole = f"len(cells) = {count} AND array_to_string(cells, ',') = line"
    return f"SELECT {columns} FROM ({_CELLS.format(path=path)}) WHERE {whole}"  # noqa: S608 quoted by whoever calls


def cell(number: int) -> str:
    """The value of a line at a place, the first at 0, without its quotes; an empty one is missing."""
    cut = f"cells[{number + 1}]"
    return f"nullif(CASE WHEN starts_with({cut}, '\"') THEN replace({cut}[2:-2], '\"\"', '\"') ELSE {cut} END, '')"
