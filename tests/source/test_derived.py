from __future__ import annotations

import pytest

from louver.errors import ParameterError
from louver.source.derived import Derived, parse


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("day(time)", Derived("day", "time")),
        ("hour( seen at )", Derived("hour", "seen at")),
        ("weekday(t)", Derived("weekday", "t")),
        ("month(t)", Derived("month", "t")),
        ("slot(time, 15)", Derived("slot", "time", 15)),
        ("slot(a, b,60)", Derived("slot", "a, b", 60)),
    ],
)
def test_a_name_says_what_it_is_made_of_and_is_written_back(name: str, expected: Derived) -> None:
    assert parse(name) == expected
    assert parse(str(expected)) == expected


@pytest.mark.parametrize("name", ["day", "day()", "days(time)", "Day(time)", "slot(time)", "slot(time, -5)", "xday(t)"])
def test_other_names_are_plain(name: str) -> None:
    assert parse(name) is None


@pytest.mark.parametrize("minutes", [0, 7, 1441, 2880])
def test_the_minutes_of_a_slot_divide_a_day(minutes: int) -> None:
    with pytest.raises(ParameterError, match="must divide a day"):
        parse(f"slot(time, {minutes})")
