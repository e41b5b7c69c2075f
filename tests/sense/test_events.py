"""Events, rejections and tallies."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta, timezone

import pytest

from louver.errors import ParameterError
from louver.sense import FAULTS, OUTCOMES, Event, Rejected, Tally, instant, microseconds


def test_a_tally_counts_outcomes_adds_up_and_travels_as_json() -> None:
    tally = Tally.of([Event("a", "b", 1), Rejected("not JSON"), Rejected("not JSON")])
    tally.add("late", 2)
    whole = tally + Tally({"late": 1})
    assert whole.to_dict() == {"accepted": 1, "late": 3, "not JSON": 2}
    assert whole.total == 6
    assert Tally.from_dict(json.loads(json.dumps(whole.to_dict()))) == whole


@pytest.mark.parametrize("outcome", ["aa:bb:cc:dd:ee:ff", "", 7, None])
def test_a_tally_holds_no_other_names(outcome: str) -> None:
    with pytest.raises(ParameterError, match="An outcome is one of these: accepted, duplicate, late") as refused:
        Tally().add(outcome)
    assert "aa:bb" not in str(refused.value)


@pytest.mark.parametrize("count", [-1, True, 1.5])
def test_a_tally_adds_whole_numbers(count: int) -> None:
    with pytest.raises(ParameterError, match="whole numbers that are not negative"):
        Tally().add("late", count)


def test_a_rejection_says_nothing_but_its_kind() -> None:
    with pytest.raises(ParameterError, match="A message is rejected for one of these: empty") as refused:
        Rejected("the message itself")
    assert "itself" not in str(refused.value)
    assert set(FAULTS) < set(OUTCOMES)


def test_times_have_a_zone_at_the_edge_and_are_microseconds_inside() -> None:
    berlin = datetime(2018, 2, 1, 1, 0, 0, 5, tzinfo=timezone(timedelta(hours=1)))
    assert microseconds(berlin) == 1_517_443_200_000_005
    assert instant(1_517_443_200_000_005) == berlin
    assert instant(0) == datetime(1970, 1, 1, tzinfo=UTC)
    for wrong in (datetime(2018, 2, 1), True, "2018-02-01", 1.5):  # noqa: DTZ001
        with pytest.raises(ParameterError, match="A time is a datetime with a zone"):
            microseconds(wrong)


def test_reading_events_loads_nothing_heavy() -> None:
    code = "import sys; import louver.sense, louver.sense.events; louver.sense.Event; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"numpy", "duckdb", "psycopg", "pyarrow"} & set(loaded)
