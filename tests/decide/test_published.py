"""What the published algorithms do, and where they break: on idealised noise, without a seed.

Figures are compared within 5 standard errors, which a true figure leaves with probability 6e-7.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from louver.decide.published import (
    Decision,
    dppwlm,
    mim_baseline,
    mim_progressive,
    nlm,
    ppwlm,
    split_naive,
    split_price,
    split_published,
    tslm,
)
from louver.decide.stopping import stops
from louver.errors import ParameterError
from louver.privacy import LevelGrid, OneShot, grid_levels

RATE = Fraction(1, 20)
STANDARD_ERRORS = 5
JUST_ABOVE = 1e-9
FINE = 10**6  # steps to one unit of α: so many that discrete noise is as good as continuous
DEFAULTS = {"beta": RATE, "alpha": 1, "first_epsilon": 1e-5, "fine_steps": 3}


def share_missed(decisions: list[Decision]) -> float:
    return 1 - float(np.mean([decision.flagged.mean() for decision in decisions]))


def standard_error(rate: float, count: int) -> float:
    return math.sqrt(rate * (1 - rate) / count)


def path_misses(levels: list[float], rates: list[float]) -> float:
    """The exact chance that a count just above c is missed on a path of levels with these shares of β.

    Level j drops at or below -ln(1/(2 rate))/level and accepts above the opposite; the last accepts what is left.
    """
    thresholds = [round(math.log(1 / (2 * rate)) / level * FINE) for level, rate in zip(levels, rates, strict=True)]
    exact = tuple(Fraction(level) / FINE for level in levels)
    eliminate = tuple(threshold + 1 for threshold in thresholds)
    accept = (*thresholds[:-1], 1 - thresholds[-1])
    last = OneShot(exact[-1], Fraction(1, 2) - thresholds[-1], 1, 1)
    grid = LevelGrid(exact, eliminate, accept, last, Fraction(1), Fraction(1))
    return 1 - float(stops(grid, np.array([1])).flagged[0])


def thesis_path(steps: int) -> tuple[list[float], list[float]]:
    """Where the data-dependent algorithm goes when all of 200 counts lie just above their thresholds."""
    plan = np.geomspace(1e-5, math.log(steps / (2 * RATE)), steps).tolist()
    inner = plan[-2] + (plan[-1] - plan[-2]) / 3
    share = float(RATE) / steps
    if steps == 2:
        return [plan[0], inner, plan[1]], [share] * 3
    return [plan[0], plan[1] + (plan[2] - plan[1]) / 3, inner, plan[3]], [share, 2 * share, share, share]


@pytest.mark.parametrize(("steps", "runs", "exact"), [(4, 400, 0.0593), (2, 200, 0.0702)])
def test_the_data_dependent_algorithm_breaks_its_promise(steps: int, runs: int, exact: float) -> None:
    """The path's exact rate is over 11 standard errors above the promise, so both assertions hold but for 1e-6."""
    path, rates = thesis_path(steps)
    assert path_misses(path, rates) == pytest.approx(exact, abs=5e-5)
    decisions = [dppwlm(np.full(200, JUST_ABOVE), 0, steps=steps, **DEFAULTS) for _ in range(runs)]  # type: ignore[arg-type]
    taken = np.unique(np.concatenate([decision.epsilon for decision in decisions]))
    assert taken == pytest.approx(path, rel=1e-5)
    found, error = share_missed(decisions), standard_error(exact, 200 * runs)
    assert found - STANDARD_ERRORS * error > float(RATE)
    assert found == pytest.approx(exact, abs=STANDARD_ERRORS * error)


def test_its_shares_sum_to_more_than_the_whole() -> None:
    """Five of four shares: no reading can miss more than 0.0625, and this one misses nearly that."""
    path, rates = thesis_path(4)
    assert sum(rates) == pytest.approx(0.0625)
    assert float(RATE) < path_misses(path, rates) < sum(rates)


def test_with_its_shares_repaired_it_keeps_the_promise_on_these_counts() -> None:
    decisions = [
        dppwlm(np.full(200, JUST_ABOVE), 0, steps=4, repaired=True, **DEFAULTS)  # type: ignore[arg-type]
        for _ in range(200)
    ]
    assert share_missed(decisions) < float(RATE) + STANDARD_ERRORS * standard_error(float(RATE), 40_000)


def test_the_naive_mechanism_misses_every_other_count_just_above_its_threshold() -> None:
    decision = nlm(np.full(100_000, JUST_ABOVE), 0, beta=RATE, alpha=10)
    assert share_missed([decision]) == pytest.approx(0.5, abs=STANDARD_ERRORS * standard_error(0.5, 100_000))


@pytest.mark.parametrize("alpha", [1, 10])
def test_the_threshold_shift_misses_at_its_rate(alpha: int) -> None:
    decision = tslm(np.full(200_000, JUST_ABOVE), 0, beta=RATE, alpha=alpha)
    assert share_missed([decision]) == pytest.approx(0.05, abs=STANDARD_ERRORS * standard_error(0.05, 200_000))
    assert decision.epsilon == pytest.approx(math.log(10) / alpha)


def test_the_first_papers_baseline_misses_at_its_rate_at_any_epsilon() -> None:
    for epsilon in (0.05, 1):
        decision = mim_baseline(np.full(200_000, 100 + JUST_ABOVE), 100, beta=RATE, epsilon=epsilon)
        assert share_missed([decision]) == pytest.approx(0.05, abs=STANDARD_ERRORS * standard_error(0.05, 200_000))


def test_the_first_papers_steps_miss_less_than_their_shares_add_up_to() -> None:
    decision = mim_progressive(np.full(200_000, JUST_ABOVE), 0, epsilons=[0.05, 0.1], betas=[RATE / 2, RATE / 2])
    assert share_missed([decision]) < 0.05 + STANDARD_ERRORS * standard_error(0.05, 200_000)
    assert set(decision.epsilon[decision.flagged]) == {0.1}


def test_the_progressive_mechanism_keeps_its_miss_rate() -> None:
    decision = ppwlm(np.full(200_000, JUST_ABOVE), 0, beta=RATE, alpha=10, first_epsilon=0.001, steps=4)
    assert share_missed([decision]) < 0.05 + STANDARD_ERRORS * standard_error(0.05, 200_000)


@pytest.mark.parametrize(
    ("reach", "published", "grid", "saved"),
    [(100, 0.191, 0.1304, 0.317), (400, 0.0752, 0.0542, 0.28), (2000, 0.0219, 0.0163, 0.257)],
)
def test_the_grid_costs_a_quarter_to_a_third_less_than_the_published_schedule(
    reach: int, published: float, grid: float, saved: float
) -> None:
    """At equal rates: β = 0.05 for misses, and for false alarms below c - 2α, α = 10, which is a slack of 21.

    The grid's mean follows from the law; the published one is drawn, 400,000 keys.
    """
    counts = np.random.default_rng(3).uniform(-reach, reach, 400_000)
    last = math.log(4 / (2 * RATE)) / 10
    drawn = ppwlm(counts, 0, beta=RATE, alpha=10, first_epsilon=last / 64, steps=4).epsilon
    error = float(drawn.std()) / math.sqrt(len(drawn))
    assert drawn.mean() == pytest.approx(published, abs=STANDARD_ERRORS * error + 5e-5)
    assert drawn.max() == pytest.approx(0.3689, abs=5e-5)
    ours = grid_levels(RATE, 21)
    levels = np.array([float(level) for level in ours.levels])
    mean = float((levels @ stops(ours, np.arange(-reach, reach + 1)).at).mean())
    assert mean == pytest.approx(grid, abs=5e-5)
    assert levels[-1] == pytest.approx(0.2723, abs=5e-5)
    assert 1 - mean / drawn.mean() == pytest.approx(saved, abs=0.01)


def test_splits_of_a_miss_rate_cost_what_the_thesis_says() -> None:
    assert split_naive(RATE, 2) == (RATE / 2, RATE / 2)
    assert split_published(RATE, [1, 4]) == (Fraction(1, 25), Fraction(1, 100))
    assert float(split_price(split_published(RATE, [1, 4]), [1, 4])) == pytest.approx(3.5037, abs=5e-5)
    assert float(split_price(split_naive(RATE, 2), [1, 4])) == pytest.approx(3.7447, abs=5e-5)
    assert float(split_price(split_naive(RATE, 2), [1, 1])) == pytest.approx(5.991, abs=5e-4)
    assert float(split_price(split_naive(RATE, 4), [1] * 4)) == pytest.approx(14.756, abs=5e-4)


def test_the_published_split_is_the_cheapest_for_a_conjunction() -> None:
    best = split_price(split_published(RATE, [1, 2, 5]), [1, 2, 5])
    dice = np.random.default_rng(1)
    for shares in dice.dirichlet([1, 1, 1], 200):
        rates = [RATE * Fraction(share) for share in shares]
        assert split_price(rates, [1, 2, 5]) >= best


@pytest.mark.parametrize(
    "attempt",
    [
        lambda: nlm([math.nan], 0, beta=0.05, alpha=1),
        lambda: tslm("counts", 0, beta=0.05, alpha=1),
        lambda: tslm([1.0], 0, beta=0, alpha=1),
        lambda: mim_progressive([1.0], 0, epsilons=[1], betas=[0.01, 0.01]),
        lambda: mim_progressive([1.0], 0, epsilons=[2, 1], betas=[0.01, 0.01]),
        lambda: mim_progressive([1.0], 0, epsilons=[1], betas=[0.7]),
        lambda: ppwlm([1.0], 0, beta=0.05, alpha=1, first_epsilon=9, steps=4),
        lambda: dppwlm([1.0], 0, beta=0.05, alpha=1, first_epsilon=0.1, steps=4, fine_steps=0),
        lambda: split_naive(0.05, 0),
        lambda: split_published(0.05, []),
        lambda: split_price([0.05], [1, 2]),
    ],
)
def test_bad_input_is_answered_with_a_sentence(attempt: object) -> None:
    with pytest.raises(ParameterError, match=r"\.$"):
        attempt()  # type: ignore[operator]
