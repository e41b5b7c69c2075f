from __future__ import annotations

import numpy as np
import pytest

from louver.attack import presences, prior_by_weekday, prior_of, with_outside
from louver.errors import ParameterError


def test_a_prior_is_the_share_of_past_presences() -> None:
    assert prior_of([[6, 3, 1], [0, 0, 4]], smoothing=0).tolist() == [[0.6, 0.3, 0.1], [0, 0, 1]]


def test_smoothing_adds_presences_to_each_place() -> None:
    assert prior_of([6, 1, 0], smoothing=1).tolist() == [0.7, 0.2, 0.1]
    assert prior_of([6, 3, 0], smoothing=2) == pytest.approx([8 / 15, 5 / 15, 2 / 15])


def test_a_tick_without_a_past_is_even() -> None:
    assert prior_of([0, 0], smoothing=0).tolist() == [0.5, 0.5]


def test_smoothing_can_fill_up_with_what_is_known_of_everybody() -> None:
    everybody = [0.5, 0.5, 0.0]
    assert prior_of([[3, 0, 0], [0, 0, 0]], towards=everybody).tolist() == [[0.75, 0.25, 0.0], everybody]


def test_each_person_can_have_an_own_prior() -> None:
    counts = presences((2, 1, 3), [0, 0, 1], [0, 0, 0], [2, 2, 1])  # person, tick, place
    assert prior_of(counts, smoothing=0)[:, 0].tolist() == [[0, 0, 1], [0, 1, 0]]


def test_weekdays_have_priors_of_their_own() -> None:
    daily = [[[4, 0]], [[0, 4]], [[2, 2]]]
    found = prior_by_weekday(daily, [0, 1, 0], smoothing=0)
    assert found[0].tolist() == [[0.75, 0.25]]
    assert found[1].tolist() == [[0, 1]]


def test_a_weekday_without_a_past_is_like_all_days() -> None:
    daily = np.array([[[9, 3]], [[9, 3]]])
    assert prior_by_weekday(daily, [0, 1], smoothing=0)[6].tolist() == [[0.75, 0.25]]
    assert prior_by_weekday(daily, [0, 1], smoothing=0, like_all=False)[6].tolist() == [[0.5, 0.5]]
    assert prior_by_weekday(daily, [0, 1])[6] == pytest.approx(prior_of(daily.sum(axis=0)))


def test_outside_is_where_all_others_were() -> None:
    assert with_outside([[6, 1], [0, 0]], 10).tolist() == [[6, 1, 3], [0, 0, 10]]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: prior_of([-1, 2]),
        lambda: prior_of([np.nan, 2]),
        lambda: prior_of(3),
        lambda: prior_of([1, 2], smoothing=-1),
        lambda: prior_of([1, 2], towards=[0.2, 0.3, 0.5]),
        lambda: prior_by_weekday([[[1, 2]]], [7]),
        lambda: prior_by_weekday([[[1, 2]]], [0, 1]),
        lambda: with_outside([5, 6], 10),
        lambda: with_outside([0.5, 6], 10),
        lambda: presences((2, 2), [0, 2], [0, 0]),
        lambda: presences((2, 2), [0, 1], [0]),
        lambda: presences((2, 2), [0, 1]),
    ],
)
def test_a_past_that_cannot_be_is_refused(wrong: object) -> None:
    with pytest.raises(ParameterError):
        wrong()  # type: ignore[operator]
