from __future__ import annotations

import sys

import numpy as np
import pytest

from louver.attack.learned_identity import Trails, identified
from louver.attack.learned_score import interval
from louver.errors import DataError, ParameterError

DAYS, KNOWN = 14, 10


def sightings(seed: int, *, habits: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Twelve people, seen ten times a day: each at an own place in two of three cases where there are habits."""
    dice = np.random.default_rng(seed)
    who = np.tile(np.repeat(np.arange(12), 10), DAYS)
    hour = np.repeat(np.arange(DAYS), 120) * 24 + dice.integers(8, 18, len(who))
    at_home = dice.random(len(who)) < (2 / 3 if habits else 0)
    return who, np.where(at_home, who % 8, dice.integers(0, 8, len(who))), hour


def test_pseudonyms_do_not_hide_habits() -> None:
    """Chance is 1 in 12. Eight places are shared by twelve people: half of them can be told for sure."""
    score = identified(Trails.of(*sightings(1, habits=True)), KNOWN)
    assert score.chance == pytest.approx(1 / 12)
    assert score.low > 0.4
    assert score.beats_chance
    assert (score.cases, score.days) == (48, 4)


def test_people_without_habits_are_not_told_apart() -> None:
    """At chance 1/12, at least 20 of 48 right guesses have probability below 1e-9."""
    score = identified(Trails.of(*sightings(2, habits=False)), KNOWN)
    assert score.value < 20 / 48


def test_the_control_learns_nothing_from_mixed_up_names() -> None:
    """At chance 1/12, at least 20 of 48 right guesses have probability below 1e-9."""
    assert identified(Trails.of(*sightings(3, habits=True)), KNOWN).control < 20 / 48


def test_a_pseudonym_that_is_renewed_more_often_has_more_and_shorter_trails() -> None:
    who, place, hour = sightings(4, habits=True)
    day, half = Trails.of(who, place, hour), Trails.of(who, place, hour, renewed=6)
    assert len(day) == 12 * DAYS < len(half)
    assert identified(half, KNOWN).value < identified(day, KNOWN).value


def test_days_to_learn_from_and_days_to_guess_are_apart() -> None:
    """Names that change at the border of known days cannot be told; learning from later days would tell them."""
    who, place, hour = sightings(5, habits=True)
    turned = np.where(hour < KNOWN * 24, place, (place + 1) % 8)
    assert identified(Trails.of(who, turned, hour), KNOWN).value < 0.2


def test_labels_count_alike_however_many_have_them() -> None:
    who, place, hour = sightings(6, habits=True)
    roles = np.where(np.arange(12) % 8 == 0, "staff", "student")
    score = identified(Trails.of(who, place, hour), KNOWN, labels=roles)
    assert score.chance == pytest.approx(0.5)
    assert score.value > 0.8


def test_too_few_days_are_refused() -> None:
    trails = Trails.of(*sightings(7, habits=True))
    with pytest.raises(DataError, match="too few"):
        identified(trails, DAYS)


def test_a_renewal_of_more_than_a_day_is_refused() -> None:
    with pytest.raises(ParameterError):
        Trails.of(*sightings(8, habits=True), renewed=25)


def test_without_scikit_learn_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.ensemble", None)
    with pytest.raises(DataError, match=r"pip install 'louver\[audit\]'"):
        identified(Trails.of(*sightings(1, habits=True)), KNOWN)


def test_trails_show_nothing_of_themselves() -> None:
    assert repr(Trails.of(*sightings(9, habits=True))) == "<trails>"


def test_an_interval_is_as_wide_as_days_differ() -> None:
    even, uneven = np.full(20, 5.0), np.tile([0.0, 10.0], 10)
    weights = np.full(20, 10.0)
    assert interval(even, weights, 1) == (0.5, 0.5)
    low, high = interval(uneven, weights, 1)
    assert 0.2 < low < 0.4 < 0.6 < high < 0.8
