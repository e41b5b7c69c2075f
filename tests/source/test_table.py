from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from louver.errors import ParameterError
from louver.privacy import Unit
from louver.source import DuckDBTable, Table, View
from louver.source.locations import File, Frame, PostgresTable
from tests.misuse import Thing


def table(location: object, **further: object) -> Table:
    return Table(location, dataset="house", unit=Unit("device"), **further)  # type: ignore[arg-type]


def test_a_table_describes_a_file_and_reads_nothing() -> None:
    made = Table("nowhere/presence.parquet", dataset="building 7", unit=Unit("device"))
    assert made.location == File(Path("nowhere/presence.parquet"))
    assert (made.dataset, made.unit, made.name) == ("building 7", Unit("device"), "presence")
    assert made.describe() == "nowhere/presence.parquet"


@pytest.mark.parametrize(
    "location", ["presence", "rows.xlsx", "", 3, None, b"rows.csv", "a\0.csv", Thing(), ["rows.csv"], {}]
)
def test_a_table_is_in_a_place_that_louver_knows(location: object) -> None:
    with pytest.raises(ParameterError, match="A table is a file whose name ends in"):
        table(location)


def test_a_table_of_a_database_file_is_named_after_a_mark() -> None:
    for location in ("plant.duckdb#main.presence", DuckDBTable("plant.duckdb", "main.presence")):
        made = table(location)
        assert (made.describe(), made.name) == ("plant.duckdb#main.presence", "presence")
    with pytest.raises(ParameterError, match=r"named after a #: plant\.duckdb#presence"):
        table("plant.duckdb")
    for wrong in ("", 'a"b', "a.b.c.d", "a\nb"):
        with pytest.raises(ParameterError, match="named by its name"):
            DuckDBTable("plant.duckdb", wrong)


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("postgresql://ann:s3cret@db.example/plant#presence", "postgresql://ann@db.example/plant#presence"),
        ("postgresql://db.example/plant?password=s3cret#a.b", "postgresql://db.example/plant#a.b"),
        ("postgres:///plant#presence", "postgresql:///plant#presence"),
        ("postgresql://ann@db.example:5433/plant#t", "postgresql://ann@db.example:5433/plant#t"),
        ("postgresql://ann@db.example:s3cret/plant#t", "postgresql://ann@db.example:.../plant#t"),
        ("postgresql://ann@s3cret:x@db.example/plant#t", "postgresql://...@db.example/plant#t"),
    ],
)
def test_an_address_is_shown_without_its_secrets(address: str, shown: str) -> None:
    made = table(address)
    assert isinstance(made.location, PostgresTable)
    assert made.describe() == shown
    assert "s3cret" not in repr(made) + str(made)


def test_an_address_without_a_table_is_refused() -> None:
    with pytest.raises(ParameterError, match="named after a #") as caught:
        table("postgresql://ann:s3cret@db/plant")
    assert "s3cret" not in str(caught.value)


def test_frames_are_told_apart_by_their_type() -> None:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    for frame, said in (
        (pd.DataFrame(), "The pandas DataFrame"),
        (pl.DataFrame(), "The Polars DataFrame"),
        (pl.LazyFrame(), "The Polars DataFrame"),
        (pa.table({}), "The Arrow Table"),
    ):
        made = table(frame)
        assert isinstance(made.location, Frame)
        assert (made.describe(), made.name) == (said, None)


@pytest.mark.parametrize("dataset", ["", " d", "a\nb", "x" * 129, None, 3])
def test_a_data_set_has_a_name(dataset: object) -> None:
    with pytest.raises(ParameterError, match="data set"):
        Table("a.csv", dataset=dataset, unit=Unit.row())  # type: ignore[arg-type]


def test_a_table_needs_a_unit() -> None:
    with pytest.raises(ParameterError, match="needs a Unit"):
        Table("a.csv", dataset="d", unit="row")  # type: ignore[arg-type]


def test_declared_columns_and_bounds_are_kept_exactly() -> None:
    made = table(
        "a.csv", columns={"day": "day( time )", "slot": "slot(time,15)"}, values={"watts": (0, 0.5, Fraction(1, 8))}
    )
    assert dict(made.columns) == {"day": "day(time)", "slot": "slot(time, 15)"}
    assert dict(made.values) == {"watts": (Fraction(0), Fraction(1, 2), Fraction(1, 8))}
    assert hash(made) == hash(made)


@pytest.mark.parametrize(
    ("further", "said"),
    [
        ({"columns": {"day": "time"}}, "must be made of a time"),
        ({"columns": {"day": 3}}, "must be made of a time"),
        ({"columns": {"slot": "slot(time, 7)"}}, "must divide a day"),
        ({"columns": ["day"]}, "are given by name"),
        ({"values": {"watts": (1, 0)}}, "must not be above"),
        ({"values": {"watts": (0,)}}, r"are \(low, high\)"),
        ({"values": {"watts": "01"}}, r"are \(low, high\)"),
        ({"values": {"watts": (0, float("inf"))}}, "finite"),
        ({"values": {"watts": (0, 1, 0)}}, "greater than 0"),
        ({"name": ""}, "1 to 128 characters"),
    ],
)
def test_a_declaration_that_cannot_be_used_gets_one_sentence(further: dict[str, object], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        table("a.csv", **further)


def test_a_view_never_shows_its_values() -> None:
    view = View((np.array([41, 42]),))
    for shown in (repr(view), str(view), f"{view}"):
        assert shown == "View(1 private measures)"
