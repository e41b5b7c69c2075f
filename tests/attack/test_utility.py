"""How useful releases are: heat colours, flags, errors; and the mechanisms that make releases."""

from __future__ import annotations

from datetime import date

import numpy as np
import pytest

from louver.attack.mechanisms import MECHANISMS, exact, named
from louver.attack.parts import ticks_of
from louver.attack.truth import Truth
from louver.attack.utility import TASKS, Colours, task
from louver.errors import ParameterError
from louver.sense.heat import heat_class

PAST = np.random.default_rng(3).poisson(6, (20, 4, 3))


def invented(days: int = 5, ticks: int = 24, regions: int = 3, seed: int = 1) -> Truth:
    made = np.random.default_rng(seed)
    counts = made.poisson(8, (days, ticks, regions))
    return Truth(counts, tuple(f"r{number}" for number in range(regions)), date(2026, 1, 5))


def test_colours_are_those_of_the_heat_map() -> None:
    values = np.random.default_rng(4).integers(-3, 20, (30, 4, 3))
    found = Colours.of(PAST)(values)
    for day, tick, region in np.ndindex(values.shape):
        past = PAST[:, tick, region].tolist()
        assert found[day, tick, region] == heat_class(int(values[day, tick, region]), past)


def test_a_past_that_never_changed_has_three_colours() -> None:
    colours = Colours.of(np.full((5, 1, 1), 4))
    assert colours(np.array([[[3]], [[4]], [[5]]])).ravel().tolist() == [1, 6, 10]


@pytest.mark.parametrize("name", TASKS)
def test_the_truth_is_of_full_use(name: str) -> None:
    assert task(name)(PAST)(PAST.astype(float), PAST) == 1


@pytest.mark.parametrize("name", TASKS)
def test_a_release_is_judged_as_whole_people(name: str) -> None:
    judge = task(name)(PAST)
    assert judge(PAST.astype(np.float64) + 0.3, PAST) == 1
    none = np.zeros_like(PAST)
    assert judge(none.astype(np.float64) - 5, none) == 1


def test_a_colour_that_is_off_counts_as_wrong_or_by_its_steps() -> None:
    past = np.array([40, 44, 48, 52, 56]).reshape(5, 1, 1)
    released, true = np.array([[[48.0]], [[60.0]]]), np.array([[[48]], [[48]]])
    assert TASKS["heat-colours"](past)(released, true) == 0.5
    assert TASKS["heat-steps"](past)(released, true) == pytest.approx(1 - 2 / 9)


def test_flags_and_errors_count_what_is_wrong() -> None:
    past = np.arange(11).reshape(11, 1, 1)  # busy above 9
    released, true = np.array([[[12.0]], [[3.0]]]), np.array([[[8]], [[3]]])
    assert TASKS["flags"](past)(released, true) == 0.5
    assert TASKS["mean-error"](past)(released, true) == pytest.approx(1 - 2 / 5)


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(ParameterError, match="heat-colours"):
        task("heat-colors")
    with pytest.raises(ParameterError, match="pegasus"):
        named("pegasos")
    with pytest.raises(ParameterError, match="no part of a day"):
        ticks_of("noon", 24)


def test_day_and_night_make_up_all_ticks() -> None:
    assert sorted([*ticks_of("day", 144), *ticks_of("night", 144)]) == list(range(144))
    assert ticks_of("day", 144)[[0, -1]].tolist() == [42, 113]


@pytest.mark.parametrize("name", ["laplace", "pegasus", "segment", "none"])
def test_at_a_high_price_releases_are_the_counts(name: str) -> None:
    """Each of 720 noises is not 0 with probability below 1e-20."""
    truth = invented()
    released = MECHANISMS[name].releases(truth, slice(1, 3), 60.0, runs=2)
    assert released.shape == (2, 2, 24, 3)
    near = 0.5 if name == "pegasus" else 1e-6  # its groups are smoothed even so
    assert np.abs(released - truth.counts[1:3]).mean() < near


def test_runs_differ_where_noise_is_drawn() -> None:
    """All 120 noises of two runs are alike with probability below 1e-20."""
    first, second = MECHANISMS["laplace"].releases(invented(), slice(0, 2), 0.5, runs=2)
    assert (first != second).any()


def test_only_the_law_of_laplace_and_of_true_counts_is_known() -> None:
    assert [name for name, each in MECHANISMS.items() if each.law(1.0) is not None] == ["laplace", "none"]


def test_a_parameter_is_used_as_it_is_reported() -> None:
    assert str(exact(0.0784123)) == "49/625"
