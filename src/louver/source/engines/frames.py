"""Frames in memory, as what DuckDB can scan. Only the columns that may be wanted are looked at.

A pandas column or an array of Python objects has no type of its own, so each value is taken as its text, like a value
of a CSV file; what pandas calls missing, NaN among it, is missing. No value can stop this.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from louver.errors import DataError
from louver.source.engines.needed import needed
from louver.source.locations import Frame


@dataclass(frozen=True, slots=True)
class Prepared:
    """What DuckDB scans, its columns' own names by the names that are asked for, and which have loose texts."""

    columns: Any
    names: Mapping[str, str]
    loose: set[str] = field(default_factory=set)


def prepared(location: Frame, wanted: Collection[str], *, rows: bool) -> Prepared:
    """The frame for DuckDB; without its rows where only the schema is asked for."""
    frame = location.frame
    if location.kind == "pandas":
        return _pandas(frame if rows else frame.iloc[:0], wanted)
    if location.kind == "polars":
        needed("pyarrow", "A Polars frame", "pyarrow")  # DuckDB scans it through Arrow
        return _polars(frame.lazy() if rows else frame.lazy().limit(0), wanted)
    if location.kind == "numpy":
        return _arrays(frame, wanted, None if rows else 0)
    return _arrow(frame if rows else frame.slice(0, 0), wanted)


def _arrow(table: Any, wanted: Collection[str]) -> Prepared:
    names = [name for name in table.column_names if name in wanted]
    _check_once(names, "The Arrow Table")
    # DuckDB takes a and A for one name, so columns get names of their own.
    own = {name: f"c{place}" for place, name in enumerate(names)}
    chosen = table.select(names).rename_columns(list(own.values())) if names else table.select([])
    return Prepared(chosen if names else _nothing(table.num_rows), own)


def _polars(lazy: Any, wanted: Collection[str]) -> Prepared:
    names = [name for name in lazy.collect_schema().names() if name in wanted]
    own = {name: f"c{place}" for place, name in enumerate(names)}
    if not names:
        import polars

        return Prepared(_nothing(lazy.select(polars.len()).collect().item()), own)
    return Prepared(lazy.select(names).rename(own).collect(), own)


def _pandas(frame: Any, wanted: Collection[str]) -> Prepared:
    names = [name for name in frame.columns if isinstance(name, str) and name in wanted]
    _check_once(names, "The pandas DataFrame")
    own = {name: f"c{place}" for place, name in enumerate(names)}
    if not names:
        return Prepared(_nothing(len(frame)), own)
    chosen = frame[names].rename(columns=own).reset_index(drop=True)
    loose = {name for name in own.values() if chosen[name].dtype == object}
    for name in loose:
        values = chosen[name]
        chosen[name] = [None if missing else _text(value) for value, missing in zip(values, values.isna(), strict=True)]
        chosen[name] = chosen[name].astype(object)
    return Prepared(chosen, own, loose)


def _arrays(arrays: Mapping[str, Any], wanted: Collection[str], end: int | None) -> Prepared:
    sizes = {each.shape for each in arrays.values()}
    if len(sizes) > 1 or len(next(iter(sizes))) != 1:
        raise DataError("The dict of NumPy arrays needs arrays of one dimension and one length.")
    names = [name for name in arrays if name in wanted]
    own = {name: f"c{place}" for place, name in enumerate(names)}
    if not names:
        return Prepared(_nothing(next(iter(sizes))[0] if end is None else end), own)
    loose = {own[name] for name in names if arrays[name].dtype.kind not in "biufM"}
    return Prepared({own[name]: _column(arrays[name][:end], own[name] in loose) for name in names}, own, loose)


def _column(array: Any, is_loose: bool) -> Any:
    import numpy as np

    if not is_loose:
        # DuckDB takes what lies in memory as it is: side by side, and in the machine's own order of bytes.
        kind = "datetime64[us]" if array.dtype.kind == "M" else array.dtype.newbyteorder("=")
        return np.ascontiguousarray(array, dtype=kind)
    return np.array([None if _is_missing(value) else _text(value) for value in array.tolist()], dtype=object)


def _is_missing(value: object) -> bool:
    return value is None or (isinstance(value, float) and value != value)


def _text(value: object) -> str | None:
    try:
        return str(value).encode(errors="replace").decode() if type(value) is not str else _whole(value)
    except Exception:  # whatever an object's own text does, it must not be seen
        return None


def _whole(text: str) -> str | None:
    return text if text.isascii() else text.encode(errors="replace").decode()


def _check_once(names: list[str], said: str) -> None:
    if len(set(names)) < len(names):
        raise DataError(f"{said} names a column twice; rename one.")


def _nothing(rows: int) -> dict[str, Any]:
    """As many rows as there are, for questions that look at no column."""
    import numpy as np

    return {"c0": np.zeros(rows, dtype=np.bool_)}
