"""The public list behind a table, its days, its units, and what is written of it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from louver.errors import DataError, ParameterError
from louver.privacy import Unit
from louver.sense import Admitted, Batch, Door, Rule, microseconds
from louver.sense.formats.fields import Cells
from louver.sense.listing import Listing
from louver.sense.presence import MINUTE
from louver.sense.source_text import described
from louver.sense.table_file import write
from louver.sense.tabling import local_days, of_occupancy, of_presence, protected, rows_per_unit, slot_column
from louver.source import Source

HALL = """[building]
id = "b"
timezone = "Europe/Vienna"
[floor.1]
[region.hall]
floor = "1"
capacity = 9
access_points = ["ap"]
sensors = ["t-1"]
[region.lab]
floor = "1"
capacity = 5
"""


def test_a_building_lists_its_access_points_or_its_sensors(tmp_path: Path) -> None:
    path = tmp_path / "building.toml"
    path.write_text(HALL)
    assert Listing.of_building(path).places.places == ("ap",)
    sensors = Listing.of_building(path, sensors=True)
    assert set(sensors.places.places) == {"t-1", "hall", "lab"}
    assert sensors.columns["region"] == ["hall", "lab"]
    assert sensors.columns["capacity"] == ["9", "5"]
    assert sensors.timezone == "Europe/Vienna"


def test_a_file_lists_places_and_what_is_known_of_them(tmp_path: Path) -> None:
    path = tmp_path / "places.csv"
    path.write_text("\ufeffplace,limit\nnorth,5\nsouth,\n")
    assert Listing.of_file(path).columns == {"region": ["north", "south"], "limit": ["5", ""]}
    path.write_text("region,place\neast,m1\neast,m2\n")
    listing = Listing.of_file(path)
    assert listing.places.places == ("m1", "m2")
    assert listing.columns == {"region": ["east"]}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("stop\nnorth\n", "needs a header with the column 'place'"),
        ("place\n", "needs a header with the column 'place'"),
        ("place,region\na,x\na,y\n", "one place in two regions"),
        ("place,region\n,x\n", "a line without a place"),
        ('place\n"a\n', "cannot be read as a CSV file"),
    ],
)
def test_a_list_that_is_none_is_refused(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "places.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=said):
        Listing.of_file(path)


def test_a_grid_lists_its_cells_with_their_middles() -> None:
    listing = Listing.of_cells(Cells(0, 0, 2, 1, 2, 1))
    assert listing.columns == {"region": ["r0c0", "r0c1"], "x": ["0.5", "1.5"], "y": ["0.5", "0.5"]}


def test_days_are_those_of_the_zone_also_when_clocks_change() -> None:
    zone = ZoneInfo("Europe/Vienna")
    # Midnight is 23:00 UTC in winter and 22:00 in summer, which began on 29 March 2026.
    written = ["2026-03-28T22:59", "2026-03-28T23:00", "2026-03-29T21:59", "2026-03-29T22:00"]
    times = np.array([microseconds(datetime.fromisoformat(each).replace(tzinfo=UTC)) for each in written])
    assert local_days(times, zone).astype(str).tolist() == ["2026-03-28", "2026-03-29", "2026-03-29", "2026-03-30"]


def test_the_rows_of_a_unit_are_as_many_as_there_can_be() -> None:
    slot = 15 * MINUTE
    assert rows_per_unit("readings", Unit("unit", "slot"), slot, None, None) == 1
    assert rows_per_unit("readings", Unit("unit", "day"), slot, None, None) == 100  # of 25 hours
    assert rows_per_unit("occupancy", Unit("person", "slot"), slot, 3, None) == 3
    assert rows_per_unit("occupancy", Unit("person", "day"), slot, 3, None) == 300
    assert rows_per_unit("trips", Unit("person", "day"), slot, None, None) == 4
    assert rows_per_unit("trips", Unit("person"), slot, None, 7) == 7
    with pytest.raises(ParameterError, match="--rows-per-unit"):
        rows_per_unit("trips", Unit("person"), slot, None, None)
    with pytest.raises(ParameterError, match="The unit of presence is one of"):
        protected("presence", Unit("person", "slot"))


def test_a_day_of_25_hours_fits_into_its_bounds() -> None:
    begin = microseconds(datetime(2026, 10, 24, 22, tzinfo=UTC))  # midnight in Vienna, on the day summer ends
    times = np.arange(begin, begin + 25 * 60 * MINUTE, 5 * MINUTE)
    batch = Batch(Admitted.of([7] * len(times), ["ap"] * len(times), times), Rule(), {"ap": "hall"})
    rows, stays = (
        of_occupancy(batch.occupancy(), ZoneInfo("Europe/Vienna")),
        of_presence(batch.presence(), "Europe/Vienna"),
    )
    many = int(np.count_nonzero(np.asarray(rows.columns["day"]) == np.datetime64("2026-10-25")))
    assert many == rows_per_unit("occupancy", Unit("person", "day"), 5 * MINUTE, None, None) == 300
    assert stays.columns["minutes"].max() == stays.values["minutes"][1] == 1500  # type: ignore[union-attr]
    text = described(rows, Path("o.csv"), Path("r.csv"), Unit("person", "day"), many, "o", Path(), 5 * MINUTE)
    assert "rows_per_unit = 300  # a day has up to 300 slots;" in text


def test_a_description_may_stand_in_another_folder(tmp_path: Path) -> None:
    rows = Batch(Admitted.of([7], ["ap"], [4 * MINUTE]), Rule(), {"ap": "hall"}).occupancy()
    tabled = of_occupancy(rows, ZoneInfo("UTC"))
    table, keys, folder = tmp_path / "data" / "o.parquet", tmp_path / "data" / "o-regions.csv", tmp_path / "here"
    text = described(tabled, table, keys, Unit("person", "slot"), 1, 'a "name"', folder, 5 * MINUTE)
    write({keys: {"region": ["hall"]}, table: tabled.columns, folder / "louver.toml": text})
    source = Source.read(folder / "louver.toml")
    assert source.table.dataset == 'a "name"'
    assert len(source.domain("regions")) == 1
    assert not list(tmp_path.rglob(".sense-*"))


@pytest.mark.parametrize(
    ("length", "named"),
    [(1, "slot(slot, 1)"), (15, "slot(slot, 15)"), (1440, "slot(slot, 1440)"), (0.5, "slot"), (1.5, "slot")],
)
def test_a_column_of_slots_tells_their_length_where_that_is_whole_minutes(length: float, named: str) -> None:
    assert slot_column(Rule(slot=round(length * MINUTE)).slot) == named


@pytest.mark.parametrize("minutes", [1, 5, 45, 480])
def test_every_time_of_a_column_of_slots_begins_a_slot_of_that_length(minutes: int) -> None:
    """So the unit of the column is that of the name."""
    times = [microseconds(datetime(2026, 3, 2, 9, 7, tzinfo=UTC)) + 1_234_567_890 * step for step in range(50)]
    found = Batch(Admitted.of([7] * 50, ["ap"] * 50, times), Rule(slot=minutes * MINUTE), {"ap": "hall"})
    slots = np.asarray(of_occupancy(found.occupancy(3), ZoneInfo("UTC")).columns["slot"])
    assert len(slots)
    since_midnight = slots - slots.astype("datetime64[D]")
    assert not (since_midnight % np.timedelta64(minutes, "m")).astype(np.int64).any()


def test_slots_whose_length_no_name_tells_stay_bare() -> None:
    rows = Batch(Admitted.of([7], ["ap"], [4 * MINUTE]), Rule(slot=MINUTE // 2), {"ap": "hall"}).occupancy()
    tabled = of_occupancy(rows, ZoneInfo("UTC"))
    text = described(tabled, Path("o.csv"), Path("r.csv"), Unit("person", "slot"), 1, "o", Path(), MINUTE // 2)
    assert 'unit = "(person, slot)"' in text
    assert "columns" not in text


def test_no_row_stops_a_reading(tmp_path: Path) -> None:
    """A time that no number holds is one event less, and not an error that tells of it."""
    import duckdb

    path = tmp_path / "events.parquet"
    with duckdb.connect() as engine:
        engine.execute(
            "COPY (SELECT 'd' AS device, 'ap' AS place, t AS time FROM (VALUES (240000000::UBIGINT), "
            f"(18446744073709551615::UBIGINT)) AS v(t)) TO '{path}' (FORMAT parquet)"
        )
    assert len(Batch(path, Rule(), {"ap": "hall"}, Door(b"a salt of sixteen")).occupancy()) == 2
