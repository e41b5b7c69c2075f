"""Presets and their files: the same for the same seed, in every format, and like what they stand for."""

from __future__ import annotations

import hashlib
import json
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from louver.errors import DataError, ParameterError
from louver.sense.simulate import PRESETS, simulate, simulated
from louver.sense.simulate.dice import UNIT, Dice
from louver.sense.simulate.simulated import FORMATS, Simulated

SMALL = {"building": (2, 900), "demo": (2, 900), "campus": (2, 400), "taxi": (3, 5000), "fall-risk": (14, 30)}
PINNED_DICE = [882, 369, 517, 331, 577, 574, -299, 1461, 89799, 91541, 5972, 65024, 1, 3, 0, 2]
PINNED_DEMO = "bf73d2a0339ea1e1"


def digest(made: Simulated) -> str:
    found = hashlib.sha256()
    for name in sorted(made.tables):
        for column in made.tables[name]:
            values = made.column(name, column)
            found.update(
                "\n".join(values).encode()
                if values.dtype == object
                else values.astype(values.dtype.newbyteorder("<")).tobytes()
            )
    return found.hexdigest()[:16]


@pytest.mark.parametrize("preset", SMALL)
def test_the_same_seed_gives_the_same_bytes(preset: str, tmp_path: Path) -> None:
    days, people = SMALL[preset]
    for folder in ("one", "two"):
        simulate(preset, days=days, people=people, seed=11).write(tmp_path / folder)
    files = sorted(file.relative_to(tmp_path / "one") for file in (tmp_path / "one").rglob("*") if file.is_file())
    assert len(files) >= 4
    for file in files:
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


@pytest.mark.parametrize("preset", SMALL)
def test_another_seed_gives_other_data(preset: str) -> None:
    days, people = SMALL[preset]
    assert digest(simulate(preset, days=days, people=people)) != digest(
        simulate(preset, days=days, people=people, seed=8)
    )


def test_every_machine_and_version_rolls_the_same_dice() -> None:
    """Pinned: where this changes, data that documents speak of changes as well."""
    dice = Dice(7, 1)
    rolled = np.concatenate([dice.below(1000, 4), dice.normal(0, 1000, 4), dice.waits(4), dice.order(4)])
    assert rolled.tolist() == PINNED_DICE
    assert digest(simulate("demo", days=1, people=300)) == PINNED_DEMO


def test_dice_follow_their_laws() -> None:
    """Ranges of five standard errors and more, on numbers that the seed fixes."""
    dice, size = Dice(3, 5), 200_000
    assert abs(dice.below(10, size).mean() - 4.5) < 0.04
    assert abs(dice.chance(0.3, size).mean() - 0.3) < 0.006
    normal = dice.normal(50, 1000, size)
    assert abs(normal.mean() - 50) < 12
    assert abs(normal.std() - 1000) < 9
    waits = dice.waits(size) / UNIT
    assert abs(waits.mean() - 1) < 0.007
    assert abs(waits.var() - 1 / 3) < 0.01
    assert sorted(dice.order(50)) == list(range(50))
    assert set(dice.between(3, 5, 100)) == {3, 4, 5}


def test_on_the_campus_somebody_is_in_one_building_an_hour() -> None:
    made = simulate("campus", days=14, people=3000)
    hours = made.column("presence", "time").astype("datetime64[h]").astype(np.int64)
    assert len(np.unique(made.column("presence", "person") * 10**7 + hours)) == len(hours)
    counted = made.column("truth/hours", "people")
    assert counted.sum() == len(hours)
    over = counted > made.column("truth/hours", "capacity")
    time, building = made.column("truth/hours", "time"), made.column("truth/hours", "building")
    tuesday, saturday = (time.astype("datetime64[D]") == np.datetime64(day) for day in ("2018-10-09", "2018-10-13"))
    assert 3 <= (over & tuesday).sum() <= 40  # Q1
    assert set(building[over & saturday]) == {"Arena"}  # Q2


def test_a_lockdown_empties_the_taxis() -> None:
    made = simulate("taxi", people=200_000)
    day, count = made.column("truth/days", "day"), made.column("truth/days", "pickups")
    assert count.sum() == len(made.column("pickups", "time"))
    assert len(set(made.column("pickups", "region"))) == 34
    march = [count[day == np.datetime64(f"2020-03-{number:02}")].sum() for number in range(1, 32)]
    assert max(march[21:]) < 0.3 * min(march[:13])
    busiest = dict(zip(made.column("truth/busiest", "region"), made.column("truth/busiest", "high"), strict=True))
    before = day < np.datetime64("2020-03-01")
    region = made.column("truth/days", "region")
    assert all(count[before & (region == each)].max() == high for each, high in busiest.items())
    assert made.column("pickups", "fare").min() >= 2.5


def test_residents_at_risk_pass_the_limit_and_steady_ones_do_not() -> None:
    made = simulate("fall-risk")
    state = dict(zip(made.column("truth/residents", "resident"), made.column("truth/residents", "state"), strict=True))
    states = np.array([state[each] for each in made.column("truth/weeks", "resident")])
    counts = made.column("truth/weeks", "accelerations")
    assert counts.sum() == len(made.column("accelerations", "time"))
    over = counts > made.column("truth/weeks", "limit")
    assert over[states == "at risk"].mean() > 0.75
    assert not over[states == "steady"].any()
    week = made.column("truth/weeks", "week")
    assert (
        counts[(states == "worsening") & (week == 7)].mean()
        > 1.8 * counts[(states == "worsening") & (week == 0)].mean()
    )


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("preset", ["demo", "taxi"])
def test_every_format_holds_the_same_rows(preset: str, form: str, tmp_path: Path) -> None:
    days, people = SMALL[preset]
    made = simulate(preset, days=days, people=people)
    made.write(tmp_path, form)
    reader = {"parquet": "read_parquet", "csv": "read_csv", "ndjson": "read_json"}[form]
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        for name, columns in made.tables.items():
            got = connection.execute(f"SELECT * FROM {reader}('{tmp_path / name}.{form}')").fetchnumpy()
            assert list(got) == list(columns)
            for column in columns:
                expected = made.column(name, column)
                kept = got[column]
                if expected.dtype.kind == "M":
                    assert (kept.astype("datetime64[us]") == expected.astype("datetime64[us]")).all()
                else:
                    assert kept.astype(str).tolist() == expected.astype(kept.dtype).astype(str).tolist()


def test_times_in_texts_are_iso_8601_in_utc(tmp_path: Path) -> None:
    simulate("demo", days=1, people=50).write(tmp_path, "ndjson")
    first = json.loads((tmp_path / "events.ndjson").read_text().splitlines()[0])
    assert list(first) == ["device", "place", "time"]
    assert datetime.fromisoformat(first["time"]).utcoffset() == timedelta(0)
    assert first["time"].startswith("2018-02-01T0")


def test_a_folder_with_such_files_is_left_alone_without_force(tmp_path: Path) -> None:
    made = simulate("fall-risk", days=7, people=5)
    made.write(tmp_path)
    (tmp_path / "residents.csv").write_text("mine")
    with pytest.raises(DataError, match="is there already"):
        made.write(tmp_path)
    assert (tmp_path / "residents.csv").read_text() == "mine"
    made.write(tmp_path, force=True)
    assert (tmp_path / "residents.csv").read_text() != "mine"


def test_a_disk_that_fails_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    made = simulate("fall-risk", days=7, people=5)
    monkeypatch.setattr(simulated, "_write_tables", full)
    with pytest.raises(DataError, match="No space left on device"):
        made.write(tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"preset": "bulding"}, "did you mean 'building'"),
        ({"days": 0}, "The number of days must be between 1"),
        ({"people": 0}, "The number of people must be between 1"),
        ({"people": 10**9}, "The number of people must be between 1"),
        ({"seed": -1}, "The seed must be between 0"),
        ({"seed": 1.5}, "The seed must be a whole number"),
        ({"start": date(1, 1, 1)}, "from 1971 to 2150"),
        ({"start": "2018-02-01"}, "The start is a date"),
    ],
)
def test_wrong_wishes_are_refused(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        simulate(**wrong)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("start", [date(2018, 2, 3), date(2024, 2, 29), date(2018, 3, 26)])
def test_a_single_person_on_a_single_day_is_enough(preset: str, start: date, tmp_path: Path) -> None:
    made = simulate(preset, days=1, people=1, start=start)
    assert made.write(tmp_path, "csv")
    assert "over 1 day from" in made.summary


def test_an_unknown_table_or_column_or_format_gets_a_suggestion(tmp_path: Path) -> None:
    made = simulate("fall-risk", days=7, people=5)
    with pytest.raises(ParameterError, match="There is no table 'acceleration'"):
        made.column("acceleration", "g")
    with pytest.raises(ParameterError, match="has no column 'tim'"):
        made.column("accelerations", "tim")
    with pytest.raises(ParameterError, match="There is no format 'parket'"):
        made.write(tmp_path, "parket")
