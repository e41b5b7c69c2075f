"""Published columns, a list of values by each name: as CSV, as a frame, and in a file."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from datetime import date, datetime
from pathlib import Path
from typing import Any

from louver.errors import DataError, ParameterError


def as_csv(columns: Mapping[str, list[Any]]) -> str:
    """A line with the names, and one for each row; what is not known is empty."""
    text = io.StringIO()
    made = csv.writer(text, lineterminator="\n")
    made.writerow(columns)
    made.writerows(zip(*([_cell(each) for each in column] for column in columns.values()), strict=True))
    return text.getvalue()


def as_frame(columns: Mapping[str, list[Any]], kind: str, what: str) -> Any:
    """A frame of pandas, polars or arrow; `what` becomes one, such as "A table", begins a refusal."""
    if kind not in ("pandas", "polars", "arrow"):
        raise ParameterError(f"{what} becomes a frame of pandas, polars or arrow, not {str(kind)[:40]!r}.")
    library = "pyarrow" if kind == "arrow" else kind
    try:
        module = __import__(library)
    except ImportError:
        raise DataError(f"A frame of {kind} needs {library}; install it with: pip install {library}.") from None
    return module.table(columns) if kind == "arrow" else module.DataFrame(columns)


def write(path: str | Path, text: str) -> None:
    try:
        Path(path).write_text(text, encoding="utf-8", newline="")
    except OSError as fault:
        raise DataError(f"{path} cannot be written: {fault.strerror or 'the system gave no reason'}.") from None


def json_value(value: Any) -> Any:
    """The value as JSON carries it: times and days are texts."""
    return value.isoformat() if isinstance(value, date | datetime) else value


def _cell(value: Any) -> Any:
    """As it stands in a CSV file, where 10.0 is 10."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return "" if value is None else str(value).lower() if isinstance(value, bool) else json_value(value)
