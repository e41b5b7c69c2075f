"""Standing questions about readings: a zone over its load, by what its meters say together."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from louver.errors import ParameterError
from louver.ledger import Ledger
from louver.sense.events import Event
from louver.sense.feeds import open_feed
from louver.sense.formats.fields import GENERIC
from louver.sense.readings_rows import Combining
from louver.watch.deciding import Decided
from louver.watch.journal import Journal
from louver.watch.pipeline import Pipeline
from louver.watch.rules import WALL, Rules
from tests.watch.made import MINUTE, NINE, STEP, Given, house, paid_keys, told, watched

READINGS = 'rows = "readings"\nlower = 0\nupper = 10\n'
LOAD = """
[rule.overload]
having = "sum(value) > load"
miss_rate = 0.05
slack = 400
"""
LIMIT = 1000


def zones(folder: Path, rules: str = LOAD, watch: str = READINGS) -> Rules:
    """East and west with a load of 1,000 each, and meters that send their zone as their place."""
    house(folder, regions=("east", "west"))
    building = (folder / "building.toml").read_text().replace("capacity = 200", f"capacity = 200\nload = {LIMIT}")
    (folder / "building.toml").write_text(building)
    text = (folder / "rules.toml").read_text()
    (folder / "rules.toml").write_text(text[: text.index("[rule.")] + watch + rules)
    return Rules.read(folder / "rules.toml")


def readings(*slots: dict[str, float], meters: int = 300) -> list[Event]:
    """Every meter of a zone reads the same twice in each slot."""
    return [
        Event(f"{zone} meter {number}", zone, NINE + at * STEP + half * STEP // 2, value)
        for at, values in enumerate(slots)
        for half in range(2)
        for zone, value in values.items()
        for number in range(meters)
    ]


def test_a_zone_over_its_load_fires_and_is_clear_again(tmp_path: Path) -> None:
    rules = zones(tmp_path)
    # 300 meters of 8 are 1,400 above the load; 0.5 each is 850 below: wrong with a probability below 1e-12.
    quiet, busy = {"east": 0.5, "west": 0.5}, {"east": 0.5, "west": 8.0}
    made = asyncio.run(watched(rules, Given(readings(quiet, busy, busy, quiet, quiet))))
    assert made.undecided == 0
    assert told(rules) == [("overload", "west", "firing", 1), ("overload", "west", "clear", 3)]
    assert len(paid_keys(rules)) == made.slots
    with Ledger.open(rules.ledger) as ledger:
        assert ledger.spent() <= 1


def test_one_meter_moves_a_sum_by_no_more_than_its_bound_however_much_it_sends(tmp_path: Path) -> None:
    rules = zones(tmp_path)
    many = [Event("a loud meter", "west", NINE + at * STEP // 100, 1e9) for at in range(100)]
    made = asyncio.run(watched(rules, Given(sorted(many + readings({"east": 0.5}, {"east": 0.5}), key=_time))))
    assert made.slots == 2
    assert told(rules) == []


def test_numbers_of_readings_are_released_with_a_hysteresis(tmp_path: Path) -> None:
    numbers = '[rule.power]\nvalues = true\nwithin = 400\nlimit = "load"\nmiss_rate = 0.05\nhysteresis = 5000\n'
    rules = zones(tmp_path, numbers)
    # 3,000 and then nothing: flagged above 600, clear below -4,400 only; either fails with a probability below 1e-7.
    busy, none = {"west": 10.0}, {"west": 0.0}
    asyncio.run(watched(rules, Given(readings(busy, none, none))))
    fired = [each[2:] for each in told(rules) if each[1] == "west"]
    assert fired == [("firing", 0)]
    with Journal.open(rules.journal) as journal:
        assert all(isinstance(row.value, int | float) for row in journal.released("power"))


def test_an_alarm_says_that_it_is_about_what_sensors_read(tmp_path: Path) -> None:
    from louver.watch.alarms.alarm import Notice
    from louver.watch.alarms.words import text

    rules = zones(tmp_path)
    asyncio.run(watched(rules, Given(readings({"west": 8.0}, {"west": 8.0}))))
    with Journal.open(rules.journal) as journal:
        (alarm,) = [each.alarm for each in journal.alarms(open_only=False)]
    said = text(Notice(alarm))
    assert "its limit of 1,000 (what sensors read)" in said
    assert "devices" not in said


def test_what_readings_beyond_their_bounds_count_as_is_said_before_and_in_every_alarm(tmp_path: Path) -> None:
    from louver.watch.pipeline import prepared

    rules = zones(tmp_path)
    with Ledger.open(rules.ledger) as ledger:
        ready = prepared(rules, ledger)
    assert "larger and smaller ones count as the nearest bound" in ready.forecast.rules[0]
    (asked,) = ready.asked
    assert asked.promise(asked.plan).endswith("Readings below 0 count as that, and those above 10 as that.")


def test_a_message_without_a_value_is_no_reading(tmp_path: Path) -> None:
    rules = zones(tmp_path)
    bare = [Event(f"phone {number}", "west", NINE) for number in range(5000)]
    made = asyncio.run(watched(rules, Given(bare + readings({"east": 0.5}, {"east": 0.5}))))
    assert made.tally["no value"] == 5000
    assert told(rules) == []


@pytest.mark.parametrize(
    ("watch", "said"),
    [
        ('rows = "reading"\n', "'rows' in [watch] must be one of presence and readings (did you mean 'readings'?)"),
        ('rows = "readings"\nlower = 0\n', "'upper' in [watch] is missing"),
        ("upper = 3\n", "'upper' in [watch] is for readings; they take rows ="),
        ('rows = "readings"\nlower = 3\nupper = 1\n', "The lower bound of readings must be below the upper one"),
        ('rows = "readings"\nlower = 0\nupper = 1\ncombine = "first"\n', "Readings cannot be combined by 'first'"),
        (READINGS + 'only = ["kind"]\n', "'only' in [watch] is a field and its value, such as"),
        (READINGS + 'fields = "sensors"\n', 'no person would be protected; write unit = "(region, slot)".'),
        (READINGS + 'fields = "sensors"\nonly = ["kind", "power"]\n', "no person would be protected"),
    ],
)
def test_what_is_wrong_about_readings_is_said_in_one_sentence(tmp_path: Path, watch: str, said: str) -> None:
    with pytest.raises(ParameterError) as refused:
        zones(tmp_path, watch=watch)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("watch", "said"),
    [
        (READINGS, "The unit (region, slot) is for sensors of places"),
        (READINGS + 'fields = "meters"\n', "somebody's own take (person, slot)"),
        ("", "The unit (region, slot) is for readings; presence is of people."),
        (READINGS + 'fields = "sensors"\nrotate = "1 hour"\n', "rotate goes with the unit (person, slot) only"),
    ],
)
def test_a_region_is_the_unit_of_sensors_of_places_alone(tmp_path: Path, watch: str, said: str) -> None:
    zones(tmp_path)
    text = (tmp_path / "rules.toml").read_text().replace(READINGS, watch)
    (tmp_path / "rules.toml").write_text(text.replace("(person, slot)", "(region, slot)"))
    with pytest.raises(ParameterError) as refused:
        Rules.read(tmp_path / "rules.toml")
    assert said in str(refused.value)


def test_whose_a_sensor_of_own_names_is_the_unit_says(tmp_path: Path) -> None:
    named = READINGS + 'fields = "{}"\n'
    assert zones(tmp_path, watch=named.format("unit=room,place=room")).combining == Combining("mean", 0, 10)
    path, person, region = tmp_path / "rules.toml", "(person, slot)", "(region, slot)"
    path.write_text(path.read_text().replace(person, region))
    assert Rules.read(path).combining == Combining("mean", 0, 10, by_region=True)
    path.write_text(path.read_text().replace("unit=room,", "unit=phone,"))
    with pytest.raises(ParameterError, match="is for sensors of places"):
        Rules.read(path)


def test_one_kind_of_reading_is_watched_of_a_feed_that_brings_several(tmp_path: Path) -> None:
    fields = zones(tmp_path, watch=READINGS + 'only = ["kind", "power"]\n').options["fields"]
    assert fields == replace(GENERIC, only=("kind", "power"))
    with pytest.raises(ParameterError, match="have no field by which only some are taken"):
        open_feed("mqtt://host/topic", format="compact", fields=fields)


def live(rules: Rules, now: Callable[[], int], away: tuple[int, int] | None, until: int) -> list[Decided]:
    """What is decided by the wall clock at this time, where the feed was away for a while."""
    with Journal.open(rules.journal) as journal, Pipeline.open(rules, journal, clock=WALL, now=now) as pipeline:
        if away is not None:
            pipeline.away(*away)
        return pipeline.advance(by_clock=True, until=until)


@pytest.mark.parametrize(
    ("begin", "end", "unknown"),
    [
        (7, 13, [1, 2]),  # readings of the whole slot count, and not those at its beginning alone
        (10.5, 10.9, [1, 2]),  # what was said late of the slot before
        (11.5, 13.5, [2]),  # one minute after its end nothing more counts for it
    ],
)
def test_a_slot_of_readings_is_undecided_where_the_feed_was_away_in_it(
    tmp_path: Path, begin: float, end: float, unknown: list[int]
) -> None:
    rules, now = zones(tmp_path), NINE - 4 * STEP
    live(rules, lambda: now, None, now)
    now = NINE + 6 * STEP
    away = (NINE + int(begin * MINUTE), NINE + int(end * MINUTE))
    made = live(rules, lambda: now, away, now)
    assert [(each.slot - NINE) // STEP for each in made if each.undecided] == unknown
    assert all(each.paid == 0 for each in made if each.undecided)
    assert len(made) > len(unknown)


def test_readings_are_late_after_the_end_of_their_slot_and_not_after_its_beginning(tmp_path: Path) -> None:
    rules, now = zones(tmp_path, watch=READINGS + 'late_after = "2 minutes"\n'), NINE - 4 * STEP
    live(rules, lambda: now, None, now)
    now = NINE + STEP + MINUTE
    assert [bool(each.undecided) for each in live(rules, lambda: now, None, now)][-2:] == [True, False]


def _time(event: Event) -> int:
    return event.time
