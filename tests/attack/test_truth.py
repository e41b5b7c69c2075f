"""The truth behind a study: counts by day, tick and region, from presences, events and files."""

from __future__ import annotations

import pickle
from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import pytest

from louver.attack.truth import Truth
from louver.errors import DataError, ParameterError
from louver.sense.simulate import simulate

MINUTE = 60_000_000
BUILDING = """
[building]
id = "house"
timezone = "Europe/Berlin"
roles = ["student"]
[floor.ground]
[region.hall]
floor = "ground"
capacity = 9
access_points = ["ap-1"]
[region.lab]
floor = "ground"
capacity = 9
access_points = ["ap-2"]
open_to = []
"""


def heard(*events: tuple[int, int, float], days: int = 1) -> Truth:
    """Events as (device, region, minute of the first day)."""
    device, region, minute = zip(*events, strict=True)
    times = np.array(minute) * MINUTE
    return Truth.of_events(
        device, region, times.astype(np.int64), regions=["hall", "lab"], first=date(1970, 1, 1), days=days
    )


def test_a_device_counts_for_ten_minutes_where_it_was_last_heard() -> None:
    truth = heard((1, 0, 5), (1, 1, 15), (2, 0, 20))
    assert truth.counts[0, :5].tolist() == [[0, 0], [1, 0], [1, 1], [0, 0], [0, 0]]


def test_a_pseudonym_that_changes_is_counted_again() -> None:
    truth = heard((1, 0, 11), (1, 0, 13), (1, 0, 19))
    assert truth.counts[0, 2].tolist() == [1, 0]
    assert truth.pseudonyms(1)[0, 2].tolist() == [3, 0]
    assert truth.pseudonyms(86_400)[0, 2].tolist() == [1, 0]


def test_pseudonyms_need_events() -> None:
    truth = Truth.of_presences([1], [0], [0], regions=["hall"], ticks=2, days=1)
    with pytest.raises(DataError, match="need events"):
        truth.pseudonyms(60)


def test_nobody_is_in_two_regions_at_one_tick() -> None:
    with pytest.raises(ParameterError, match="twice at one tick"):
        Truth.of_presences([1, 1], [0, 1], [0, 0], regions=["hall", "lab"], ticks=2, days=1)


def test_the_last_days_are_counted_as_before() -> None:
    truth = heard((1, 0, 5), (1, 1, 24 * 60 + 5), days=2)
    last = truth.last(1)
    assert last.first == date(1970, 1, 2)
    assert (last.counts == truth.counts[1:]).all()
    assert (last.pseudonyms(60) == truth.pseudonyms(60)[1:]).all()


def test_truth_shows_no_count() -> None:
    assert repr(heard((1, 0, 5))) == "<truth of 1 days, 144 ticks a day, 2 regions>"


def test_a_day_begins_at_the_buildings_midnight(tmp_path: Path) -> None:
    (tmp_path / "building.toml").write_text(BUILDING)
    rows = [
        "device,place,time",
        "a,ap-1,2026-01-05 22:58:00Z",
        "a,ap-2,2026-01-05 23:08:00Z",
        "b,other,2026-01-09 09:00:00Z",
    ]
    (tmp_path / "events.csv").write_text("\n".join(rows))
    truth = Truth.read(tmp_path / "building.toml")
    assert (truth.first, truth.days) == (date(2026, 1, 5), 2)
    assert truth.counts[1, :3].tolist() == [[1, 0], [0, 1], [0, 0]]


def test_missing_events_are_said_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "building.toml").write_text(BUILDING)
    with pytest.raises(DataError, match="no events beside"):
        Truth.read(tmp_path / "building.toml")
    (tmp_path / "events.csv").write_text("device,place,time\na,elsewhere,2026-01-05 22:58:00Z\n")
    with pytest.raises(DataError, match="no event at an access point"):
        Truth.read(tmp_path / "building.toml")


def test_a_simulation_and_its_files_are_the_same_truth(tmp_path: Path) -> None:
    made = simulate("demo", days=2, people=60)
    made.write(tmp_path)
    simulated, read = Truth.simulated(made), Truth.read(tmp_path / "building.toml")
    assert simulated.regions == read.regions
    assert (simulated.counts == read.counts).all()
    assert (simulated.pseudonyms(60) == read.pseudonyms(60)).all()


def test_truth_without_its_building_can_go_to_a_worker() -> None:
    truth = Truth.simulated(simulate("demo", days=1, people=20))
    there = pickle.loads(pickle.dumps(replace(truth, building=None)))  # noqa: S301
    assert (there.pseudonyms(60) == truth.pseudonyms(60)).all()
