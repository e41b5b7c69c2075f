"""The table of candidates: its figures against the chain of noise itself, and what it picks."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from louver.decide.choose import Candidate, estimate, explain
from louver.decide.fairness import fairness
from louver.decide.foreseen import foreseen_grid
from louver.decide.objectives import ENTROPY, MEAN, OBJECTIVES, WORST
from louver.decide.spread import Margins, guessed
from louver.errors import LouverError, ParameterError
from louver.privacy import grid_levels, min_entropy, one_shot
from tests.decide.stepping import simulated
from tests.misuse import NOT_NUMBERS

TWENTIETH = Fraction(1, 20)
STANDARD_ERRORS = 6
FAR, NEAR = guessed(400, 400), guessed(400, 15)


def of_levels(known: Margins, levels: int, slack: int = 21) -> Candidate:
    return estimate(known, miss_rate=TWENTIETH, slack=slack).candidates[levels - 1]


@pytest.mark.parametrize("promise", [(TWENTIETH, 21, TWENTIETH, 1), (Fraction(1, 100), 200, TWENTIETH, 3)])
@pytest.mark.parametrize("levels", [1, 2, 7, 10])
def test_a_foreseen_grid_is_within_a_step_of_the_exact_one(
    promise: tuple[Fraction, int, Fraction, int], levels: int
) -> None:
    foreseen, exact = foreseen_grid(*promise, levels), grid_levels(*promise, levels=levels)
    assert (foreseen.levels, foreseen.last) == (exact.levels, exact.last)
    for one, other in ((foreseen.eliminate, exact.eliminate), (foreseen.accept, exact.accept)):
        assert max(abs(a - b) for a, b in zip(one, other, strict=True)) <= 1


def test_the_mean_price_is_what_keys_are_charged() -> None:
    grid, keys = grid_levels(TWENTIETH, 21, levels=5), 200_000
    margins = np.random.default_rng(2).choice(FAR.values, keys)
    drawn = np.array([float(level) for level in grid.levels])[simulated(grid, margins)]
    error = float(drawn.std()) / math.sqrt(keys)
    expected = of_levels(FAR, 5).mean
    assert abs(drawn.mean() - expected) < STANDARD_ERRORS * error
    assert abs(drawn.mean() - 0.95 * expected) > STANDARD_ERRORS * error


def test_min_entropy_is_about_what_keys_keep() -> None:
    """From 100 keys on; how many keys stop where scatters little."""
    known = guessed(100, 100)
    grid = grid_levels(TWENTIETH, 21)
    levels = np.array([float(level) for level in grid.levels])
    for seed in range(10):
        margins = np.random.default_rng(seed).choice(known.values, 100)
        kept = min_entropy(levels[simulated(grid, margins)]).normalised
        assert kept == pytest.approx(of_levels(known, 7).min_entropy, abs=0.01)


def test_false_alarms_are_counted_with_and_without_the_slack() -> None:
    known = Margins({-40: 10, -10: 10, 5: 10})
    one = of_levels(known, 1)
    test = one_shot(TWENTIETH, 21)
    far, near, over = (float(test.acceptance(margin).upper) for margin in (-40, -10, 5))
    assert one.far_alarms == pytest.approx(10 * far)
    assert one.false_alarms == pytest.approx(10 * (far + near))
    assert one.misses == pytest.approx(10 * (1 - over))


def test_all_candidates_keep_the_promise_at_its_worst_cases() -> None:
    for margin, alarms in ((1, False), (-21, True)):
        for each in estimate(Margins({margin: 1}), miss_rate=TWENTIETH, slack=21).candidates:
            wrong = each.far_alarms if alarms else each.misses
            assert wrong is not None
            assert wrong <= 0.05 + 1e-6


def test_the_least_worst_price_is_one_look() -> None:
    for known in (FAR, NEAR):
        best = estimate(known, miss_rate=TWENTIETH, slack=21).best(WORST)
        assert (best.strategy, best.worst) == ("one-shot", one_shot(TWENTIETH, 21).epsilon)


def test_the_least_mean_price_depends_on_where_keys_are() -> None:
    assert estimate(FAR, miss_rate=TWENTIETH, slack=21).best(MEAN).strategy == "progressive"
    assert estimate(NEAR, miss_rate=TWENTIETH, slack=21).best(MEAN).strategy == "one-shot"


def test_the_largest_min_entropy_is_for_the_adaptive_strategy_or_one_look() -> None:
    assert estimate(FAR, miss_rate=TWENTIETH, slack=21).best(ENTROPY).strategy == "adaptive"
    assert estimate(NEAR, miss_rate=TWENTIETH, slack=21).best(ENTROPY).strategy == "one-shot"


def test_one_look_has_the_min_entropy_of_equal_prices() -> None:
    price = float(one_shot(TWENTIETH, 21).epsilon)
    assert of_levels(FAR, 1).min_entropy == pytest.approx(min_entropy([price] * 400).normalised, abs=1e-9)


def test_keys_that_pay_together_are_charged_the_clearest_level_that_any_reached() -> None:
    known, keys, rounds = Margins({-60: 3}), 3, 40_000
    grid = grid_levels(TWENTIETH, 21, levels=4)
    levels = np.array([float(level) for level in grid.levels])
    largest = levels[simulated(grid, np.full(keys * rounds, -60)).reshape(rounds, keys).max(axis=1)]
    table = estimate(known, miss_rate=TWENTIETH, slack=21, together=True)
    error = float(largest.std()) / math.sqrt(rounds)
    assert abs(table.candidates[3].mean - largest.mean()) < STANDARD_ERRORS * error
    assert abs(of_levels(known, 4).mean - largest.mean()) > STANDARD_ERRORS * error
    assert estimate(FAR, miss_rate=TWENTIETH, slack=21, together=True).best(MEAN).strategy == "one-shot"


def test_who_pays_several_times_pays_several_times() -> None:
    once, thrice = (estimate(FAR, miss_rate=TWENTIETH, slack=21, times=times).candidates[6] for times in (1, 3))
    assert thrice.worst == 3 * once.worst
    assert thrice.mean == pytest.approx(3 * once.mean)
    assert thrice.min_entropy < once.min_entropy


def test_the_explanation_shows_every_candidate_and_marks_the_choice() -> None:
    table = estimate(FAR, miss_rate=TWENTIETH, slack=21)
    for objective in OBJECTIVES:
        lines = explain(table, objective).splitlines()
        assert "nothing known" in lines[0]
        assert sum(line.startswith(("  one", "  prog", "  adap", "* one", "* prog", "* adap")) for line in lines) >= 10
        (marked,) = [line for line in lines[2:12] if line.startswith("* ")]
        _, strategy, levels, *_ = marked.split()
        assert (strategy, int(levels)) == (table.best(objective).strategy, table.best(objective).levels)
        assert f"* {strategy}: " in lines[12]
        assert max(map(len, lines)) <= 120


@pytest.mark.parametrize("bad", [*NOT_NUMBERS, -1, 0.5])
def test_what_is_no_slack_is_refused(bad: object) -> None:
    with pytest.raises(ParameterError, match=r"^slack .*\.$"):
        estimate(FAR, miss_rate=TWENTIETH, slack=bad)


def test_an_unknown_objective_is_refused() -> None:
    with pytest.raises(ParameterError, match="worst, mean, entropy"):
        estimate(FAR, miss_rate=TWENTIETH, slack=21).best("cheap")


def test_fairness_says_who_pays_and_who_errs() -> None:
    assert fairness([0.2, 0.2]) == "All keys were charged 0.2000."
    said = fairness([0.01] * 9 + [0.41], [0.0, 0.01, 0.05])
    assert "from 0.0100 to 0.4100" in said
    assert "dearest tenth paid 82% of all" in said
    assert "from 0% to 5%, at the median 1%" in said


@pytest.mark.parametrize("bad", [[], [-1], ["a"], [None], [math.nan]])
def test_what_is_no_list_of_prices_is_refused(bad: list[object]) -> None:
    with pytest.raises(LouverError, match=r"^prices.*\.$"):
        fairness(bad)  # type: ignore[arg-type]
