"""A public list that must not be the private table, wherever both are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas
import pytest

from louver import plan
from louver.errors import ParameterError
from louver.privacy import Unit
from louver.question import count
from louver.source import Domain, Source, Table
from louver.source.public_list import has_the_rows, public_list
from louver.stream import stream
from louver.table import table

DAY: dict[str, Any] = {"every": "1h", "begin": "2026-03-01", "end": "2026-03-02"}
SERVER = "postgresql://ada:secret@host/plant#presence"


def at(place: str | Path, unit: Unit | None = None) -> Table:
    return Table(place, dataset="house", unit=unit or Unit.row())


@pytest.mark.parametrize(
    ("rows", "listed", "same"),
    [
        ("a.csv", "./b/../a.csv", True),
        ("a.csv", "b.csv", False),
        ("a.csv", "a.json", False),
        ("plant.duckdb#presence", "plant.duckdb#MAIN.Presence", True),
        ("plant.duckdb#presence", "plant.duckdb#plant.main.presence", True),
        ("plant.duckdb#plant.presence", "plant.duckdb#presence", True),
        ("plant.duckdb#presence", "plant.duckdb#rooms", False),
        ("plant.duckdb#presence", "plant.duckdb#presence.rooms", False),
        ("plant.duckdb#presence", "other.duckdb#presence", False),
        ("a.csv", "plant.duckdb#a", False),
        (SERVER, "postgres://eve@host:5432/plant#public.presence", True),
        (SERVER, "postgresql://host/plant#plant.public.presence", True),
        ("postgresql://localhost/plant#presence", "postgresql://eve@127.0.0.1/plant#presence", True),
        ("postgresql:///plant#presence", "postgresql://[::1]:5432/plant#presence", True),
        ("postgresql://localhost/plant#presence", "postgresql://host/plant#presence", False),
        (SERVER, "postgresql://ada:secret@host/plant#rooms", False),
        (SERVER, "postgresql://ada:secret@host:5433/plant#presence", False),
        (SERVER, "postgresql://ada:secret@host:odd/plant#rooms", False),
    ],
)
def test_a_place_is_the_same_by_whatever_name(rows: str, listed: str, same: bool) -> None:
    assert has_the_rows(at(rows), listed) == same


def test_a_frame_is_at_no_place(tmp_path: Path) -> None:
    assert not has_the_rows(at(pandas.DataFrame({"room": ["hall"]})), tmp_path / "a.csv")


def test_rows_of_a_database_are_no_list_and_its_other_tables_may_be(tmp_path: Path) -> None:
    place = tmp_path / "plant.duckdb"
    with duckdb.connect(str(place)) as connection:
        connection.execute(
            "CREATE TABLE presence AS SELECT 'zoe' AS person; CREATE TABLE rooms AS SELECT 'hall' AS room"
        )
    table = at(f"{place}#presence")
    assert public_list(table, f"{place}#rooms").column("room") == ("hall",)
    with pytest.raises(ParameterError, match="has the rows") as refused:
        public_list(table, f"{place}#presence")
    assert "zoe" not in str(refused.value)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_rows_that_hold_counts_may_be_the_list_without_their_counts(tmp_path: Path, suffix: str) -> None:
    place = tmp_path / f"counties.{suffix}"
    with duckdb.connect() as connection:
        made = connection.sql("SELECT 'x' AS state, 'a' AS county, 12 AS births")
        made.write_csv(str(place)) if suffix == "csv" else made.write_parquet(str(place))
    counted = at(place, Unit.one_of("births"))
    assert public_list(counted, place, ["county"]).columns == ("state", "county")
    with pytest.raises(ParameterError, match="'births' is counted, so it cannot be a key as well"):
        public_list(counted, place, ["births"])


@pytest.mark.parametrize("domain", ['file = "a.csv"', 'keys = ["person"]\nperson = { file = "a.csv" }'])
def test_a_description_may_name_the_rows_as_a_list_only_if_they_hold_counts(tmp_path: Path, domain: str) -> None:
    (tmp_path / "a.csv").write_text("person,visits\nann,3\nbob,4\n")
    for unit in ("row", "one of visits"):
        described = f'[source.a]\ntable = "a.csv"\ndataset = "a"\nunit = "{unit}"\n[domain.people]\n{domain}\n'
        (tmp_path / "louver.toml").write_text(described)
        source = Source.read(tmp_path / "louver.toml")
        if unit == "row":
            with pytest.raises(ParameterError, match="has the rows"):
                source.domain()
        else:
            assert source.domain().columns == ("person",)


def test_a_domain_that_was_read_from_the_rows_is_refused_in_python_too(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("person,visits\nann,3\nbob,4\n")
    listed = Domain.read(tmp_path / "a.csv")
    for given in (listed, {"people": listed}):
        with pytest.raises(ParameterError, match="has the rows"):
            Source(at(tmp_path / "a.csv"), domains=given)
    with pytest.raises(ParameterError, match="has the rows"):
        table(at(tmp_path / "a.csv"), domain=listed, epsilon=1)
    with pytest.raises(ParameterError, match="has the rows"):
        plan(Source(at(tmp_path / "a.csv")), count().by("person") > 3, domain=listed, miss_rate=0.1, slack=5)
    with pytest.raises(ParameterError, match="has the rows"):
        stream(Source(at(tmp_path / "a.csv")), by="person", domain=listed, epsilon=1, **DAY)
    assert Source(at(tmp_path / "a.csv", Unit.one_of("visits")), domains=listed).domain() == listed


@pytest.mark.parametrize(
    "made",
    [
        lambda listed: Domain.product(listed, hour=[1, 2]),
        lambda listed: Domain.product(Domain({"hour": [1]}, keys=["hour"]), Domain.product(listed)),
        lambda listed: listed.renamed({"person": "who"}),
        lambda listed: listed.only(np.array([0])),
    ],
)
def test_what_is_made_of_the_rows_is_no_list_either(tmp_path: Path, made: Callable[[Domain], Domain]) -> None:
    (tmp_path / "a.csv").write_text("person,visits\nann,3\nbob,4\n")
    with pytest.raises(ParameterError, match="has the rows"):
        table(at(tmp_path / "a.csv"), domain=made(Domain.read(tmp_path / "a.csv")), epsilon=1)


def test_a_product_of_lists_read_elsewhere_may_be_the_list(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("person,visits\nann,3\n")
    (tmp_path / "people.csv").write_text("person\nann\nbob\n")
    listed = Domain.product(Domain.read(tmp_path / "people.csv"), hour=[1, 2])
    assert len(table(at(tmp_path / "a.csv"), domain=listed, epsilon=1).domain) == 4
