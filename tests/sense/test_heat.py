"""Heat: ten classes against the released past, exactly at every edge."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import louver
from louver.errors import ParameterError
from louver.ledger import Cap, Ledger
from louver.privacy import Unit
from louver.question import count, values
from louver.sense.heat import Heat, heat_class
from louver.source import Domain, Source, Table

PAST = [-10, 10] * 3  # mean 0 and standard deviation 10


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        *((-21, 1), (-20, 2), (-16, 2), (-15, 3), (-10, 4), (-5, 5), (-1, 5), (0, 6)),
        *((4, 6), (5, 7), (10, 8), (15, 9), (20, 9), (21, 10), (10**9, 10), (-(10**9), 1)),
    ],
)
def test_edges_belong_to_the_class_above_and_the_last_to_the_ninth(value: int, expected: int) -> None:
    assert heat_class(value, PAST) == expected


def test_a_past_that_never_changed_has_a_class_for_above_below_and_same() -> None:
    assert [heat_class(value, [7] * 9) for value in (8, 7, 6)] == [10, 6, 1]


def test_too_little_past_has_no_class() -> None:
    assert heat_class(7, [7] * 4) is None
    assert heat_class(7, [7] * 4, least=4) == 6
    assert heat_class(7, [], least=1) is None


@given(st.lists(st.integers(-1000, 1000), min_size=5, max_size=30), st.integers(-3000, 3000))
def test_the_class_agrees_with_the_words_of_the_thesis(past: list[int], value: int) -> None:
    mean, deviation = statistics.fmean(past), statistics.pstdev(past)
    assume(deviation > 0)
    steps = (value - mean) / (deviation / 2)
    assume(min(abs(steps - edge) for edge in range(-4, 5)) > 1e-9)  # floats cannot tell the edges
    expected = 10 if steps > 4 else 1 if steps < -4 else 6 + int(steps // 1)
    assert heat_class(value, past) == expected


@given(st.lists(st.integers(-50, 50), min_size=5, max_size=9), st.integers(-99, 99), st.integers(1, 9))
def test_classes_do_not_depend_on_the_scale(past: list[int], value: int, times: int) -> None:
    scaled = [Fraction(each, 3) * times for each in past]
    assert heat_class(Fraction(value, 3) * times, scaled) == heat_class(value, past)


def answers(folder: Path) -> Iterator[Any]:
    (folder / "rows.csv").write_text("device,region\n" + "\n".join(f"{n},hall" for n in range(1000)))
    regions = Domain({"region": ["hall", "lab"]}, keys=["region"])
    source = Source(Table(folder / "rows.csv", dataset="d", unit=Unit.row()), domains=regions)
    ledger, _ = Ledger.create(folder / "ledger", dataset="d", unit=Unit.row(), caps=[Cap(epsilon=1000)])
    with ledger:
        while True:
            yield louver.ask(source, values(count().by("region")), miss_rate=0.05, within=3, ledger=ledger)


def test_classes_come_from_released_answers_at_the_same_time_of_day(tmp_path: Path) -> None:
    heat, start = Heat(least=3, timezone="Europe/Vienna"), datetime(2026, 3, 2, 9, 3, tzinfo=UTC)
    stream = answers(tmp_path)
    for day in range(3):
        assert heat.classes(next(stream), start + timedelta(days=day)) == {"hall": None, "lab": None}
        heat.learn(next(stream), start + timedelta(days=day))
    assert set(heat.classes(next(stream), start + timedelta(days=3))) == {"hall", "lab"}
    classes = heat.classes(next(stream), start + timedelta(days=3, minutes=1))
    assert all(1 <= value <= 10 for value in classes.values() if value is not None)
    assert None not in classes.values()
    assert heat.classes(next(stream), start + timedelta(days=3, minutes=5)) == {"hall": None, "lab": None}
    # Clocks go forward on 29 March: nine in Vienna is an hour earlier in UTC.
    assert None not in heat.classes(next(stream), datetime(2026, 3, 30, 8, 3, tzinfo=UTC)).values()
    stream.close()  # type: ignore[attr-defined]


@pytest.mark.parametrize("unreleased", [{"hall": 7}, [7], 7, None])
def test_what_was_not_released_is_refused(unreleased: Any) -> None:
    with pytest.raises(ParameterError, match="released values only"):
        Heat().learn(unreleased, datetime(2026, 1, 1, tzinfo=UTC))


def test_an_answer_of_alarms_has_no_heat(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("device,region\n1,hall\n")
    regions = Domain({"region": ["hall"]}, keys=["region"])
    source = Source(Table(tmp_path / "rows.csv", dataset="d", unit=Unit.row()), domains=regions)
    ledger, _ = Ledger.create(tmp_path / "ledger", dataset="d", unit=Unit.row(), caps=[Cap(epsilon=9)])
    with ledger:
        flags: Any = louver.ask(source, count().by("region") > 5, miss_rate=0.05, slack=3, ledger=ledger)
    with pytest.raises(ParameterError, match="one number for each key"):
        Heat().classes(flags, datetime(2026, 1, 1, tzinfo=UTC))


@pytest.mark.parametrize("wrong", [{"slot": 7}, {"slot": 0}, {"least": 0}])
def test_wrong_settings_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ParameterError):
        Heat(**wrong)  # type: ignore[arg-type]


def test_a_time_without_a_zone_is_refused(tmp_path: Path) -> None:
    stream = answers(tmp_path)
    with pytest.raises(ParameterError, match="with a zone"):
        Heat().learn(next(stream), datetime(2026, 1, 1))  # noqa: DTZ001
    stream.close()  # type: ignore[attr-defined]
