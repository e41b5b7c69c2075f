from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from louver.errors import ParameterError
from louver.sense.events import microseconds
from louver.watch.durations import duration, written
from louver.watch.hours import Hours, midnight_after


def monday(hour: int, minute: int = 0, day: int = 2) -> datetime:
    return datetime(2026, 3, day, hour, minute, tzinfo=UTC)


def test_hours_hold_from_their_start_up_to_their_end() -> None:
    hours = Hours.parse("07:00-22:00")
    assert [hours.hold(monday(*at)) for at in ((6, 59), (7, 0), (21, 59), (22, 0))] == [False, True, True, False]


def test_hours_past_midnight_belong_to_the_day_that_they_begin_on() -> None:
    hours = Hours.parse("22:00-06:00", "mon")
    assert hours.hold(monday(23))
    assert hours.hold(monday(5, day=3))
    assert not hours.hold(monday(5))
    assert not hours.hold(monday(23, day=3))


def test_days_are_listed_or_from_one_to_another() -> None:
    assert Hours.parse(None, "mon-fri").days == frozenset(range(5))
    assert Hours.parse(None, ["sat", "Sunday"]).days == {5, 6}
    assert Hours.parse(None, "fri-mon").days == {4, 5, 6, 0}
    assert Hours.parse().always
    assert str(Hours.parse("07:00-22:00", "mon-tue")) == "07:00-22:00, mon, tue"


def test_hours_are_those_of_the_building() -> None:
    zone = ZoneInfo("Europe/Vienna")
    hours = Hours.parse("10:00-11:00")
    assert hours.hold_at(microseconds(monday(9, 30)), zone)
    assert not hours.hold_at(microseconds(monday(10, 30)), zone)


def test_a_local_midnight_is_found_also_where_the_clock_changes() -> None:
    zone = ZoneInfo("Europe/Vienna")
    evening = datetime(2026, 3, 29, 1, tzinfo=UTC)  # the clock goes forward in this night
    assert midnight_after(microseconds(evening), zone) == microseconds(datetime(2026, 3, 29, 22, tzinfo=UTC))


@pytest.mark.parametrize("wrong", ["7-22", "25:00-26:00", "07:00", "", "07:60-08:00"])
def test_hours_that_cannot_be_read_are_refused(wrong: str) -> None:
    with pytest.raises(ParameterError, match="like '07:00-22:00'"):
        Hours.parse(wrong)


def test_a_mistyped_day_is_met_with_a_suggestion() -> None:
    with pytest.raises(ParameterError, match="did you mean 'tue'"):
        Hours.parse(None, "tus")


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("5 minutes", 300), ("1 minute", 60), ("30m", 1800), ("90 s", 90), ("2h", 7200), ("1 day", 86400)],
)
def test_lengths_are_written_as_people_do(text: str, seconds: int) -> None:
    assert duration("slot", text) == seconds * 1_000_000


@pytest.mark.parametrize("wrong", ["5", "minutes", "five minutes", "-1 s", "1.5 h", 5, None, "5 moons"])
def test_a_length_that_cannot_be_read_is_refused(wrong: object) -> None:
    with pytest.raises(ParameterError, match="like '5 minutes'"):
        duration("slot", wrong)


def test_a_length_is_written_in_the_largest_unit_that_fits() -> None:
    assert [written(duration("it", text)) for text in ("60 s", "90 s", "24 h")] == ["1 minute", "90 seconds", "1 day"]
