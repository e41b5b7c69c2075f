"""The same rows in every kind of place. A place may keep other types, and then says what the rows are there."""

from __future__ import annotations

import csv
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet

from tests.engines.reference import DAY, REAL, TEXT, TIME, TRUTH, WHOLE, Data

Place = Callable[[Data], tuple[object, Data]]
ARROW = {
    TEXT: pa.string(),
    WHOLE: pa.int64(),
    REAL: pa.float64(),
    TRUTH: pa.bool_(),
    DAY: pa.date32(),
    TIME: pa.timestamp("us"),
}
POSTGRES = {
    TEXT: "text",
    WHOLE: "bigint",
    REAL: "double precision",
    TRUTH: "boolean",
    DAY: "date",
    TIME: "timestamp",
}
ZONED = {**POSTGRES, TEXT: "varchar", REAL: "numeric", TIME: "timestamptz"}
SPARK = {TEXT: "string", WHOLE: "long", REAL: "double", TRUTH: "boolean", DAY: "date", TIME: "timestamp"}


def column(data: Data, name: str) -> list[Any]:
    return [row[name] for row in data.rows]


def arrow(data: Data, types: Mapping[str, Any] = ARROW) -> pa.Table:
    return pa.table({name: pa.array(column(data, name), types[kind]) for name, kind in data.kinds.items()})


def in_arrow(data: Data) -> tuple[object, Data]:
    types = {**ARROW, TEXT: pa.dictionary(pa.int32(), pa.string()), TIME: pa.timestamp("us", "America/New_York")}
    zoned = [{name: _zoned(value) for name, value in row.items()} for row in data.rows]
    return arrow(replace(data, rows=zoned), types), data


def in_parquet(folder: Path) -> Place:
    def place(data: Data) -> tuple[object, Data]:
        pa.parquet.write_table(arrow(data), folder / "rows.parquet")
        return folder / "rows.parquet", data

    return place


def in_pandas(data: Data) -> tuple[object, Data]:
    """Days are Python's own objects here, and so texts; what is no number is missing."""
    import pandas as pd

    types = {TEXT: "str", WHOLE: "Int64", REAL: "float64", TRUTH: "boolean", TIME: "datetime64[us]"}
    frame = pd.DataFrame(
        {name: pd.Series(column(data, name), dtype=types.get(kind, object)) for name, kind in data.kinds.items()}
    )
    rows = [{name: None if value != value else value for name, value in row.items()} for row in data.rows]
    return frame, replace(data, rows=rows)


def in_polars(data: Data) -> tuple[object, Data]:
    import polars as pl

    return pl.from_arrow(arrow(data)), data


def in_lazy_polars(data: Data) -> tuple[object, Data]:
    return in_polars(data)[0].lazy(), data  # type: ignore[attr-defined]


def in_duckdb(folder: Path) -> Place:
    def place(data: Data) -> tuple[object, Data]:
        path = folder / "rows.duckdb"
        with duckdb.connect(path) as engine:
            engine.register("given", arrow(data))
            engine.execute("CREATE OR REPLACE TABLE kept AS FROM given")
        return f"{path}#kept", data

    return place


def in_ibis(backend: Any) -> Place:
    def place(data: Data) -> tuple[object, Data]:
        backend.con.register("given", arrow(data))
        backend.con.execute("CREATE OR REPLACE TABLE kept AS FROM given")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it calls what DuckDB has renamed
            return backend.table("kept"), data

    return place


def in_csv(folder: Path) -> Place:
    """Everything is a text; days and times are read as such where they are asked for."""

    def place(data: Data) -> tuple[object, Data]:
        path = folder / "rows.csv"
        texts = [{name: _text(row[name]) for name in data.kinds} for row in data.rows]
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerows([list(data.kinds), *(list(row.values()) for row in texts)])
        kinds = {name: kind if kind in (DAY, TIME) else TEXT for name, kind in data.kinds.items()}
        rows = [
            {name: row[name] if kinds[name] != TEXT else text[name] or None for name in kinds}
            for row, text in zip(data.rows, texts, strict=True)
        ]
        return path, replace(data, kinds=kinds, rows=rows)

    return place


def in_postgres(url: str, types: Mapping[str, str] = POSTGRES) -> Place:
    import psycopg

    def place(data: Data) -> tuple[object, Data]:
        rows = data.rows
        if types is ZONED:  # what is too small for a float's usual range is 0 there
            rows = [{name: 0.0 if value == 5e-324 else value for name, value in row.items()} for row in rows]
        columns = ", ".join(f'"{name}" {types[kind]}' for name, kind in data.kinds.items())
        with psycopg.connect(url, autocommit=True, options="-c timezone=UTC") as server:
            server.execute(f'DROP TABLE IF EXISTS "The rows"; CREATE TABLE "The rows" ({columns})'.encode())
            with server.cursor().copy(b'COPY "The rows" FROM STDIN') as copy:
                for row in rows:
                    copy.write_row([row[name] for name in data.kinds])
        return f"{url}#The rows", replace(data, rows=rows)

    return place


def in_spark(session: Any) -> Place:
    def place(data: Data) -> tuple[object, Data]:
        schema = ", ".join(f"`{name}` {SPARK[kind]}" for name, kind in data.kinds.items())
        rows = [tuple(_zoned(row[name]) for name in data.kinds) for row in data.rows]
        return session.createDataFrame(rows, schema), data

    return place


def _zoned(value: Any) -> Any:
    return value.replace(tzinfo=UTC) if isinstance(value, datetime) else value


def _text(value: Any) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)
