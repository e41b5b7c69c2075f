"""Step by step: the promise under every rule of choice, tightness, and what it costs."""

from __future__ import annotations

import contextlib
import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from louver.errors import LouverError, ParameterError, PromiseError
from louver.privacy.calibrate import LevelGrid, failure_probability, grid_levels, one_shot, tslm
from louver.privacy.calibrate.grid import SCALE_STEP, Side, side
from tests.misuse import NOT_COUNTS, NOT_NUMBERS, anything
from tests.privacy.calibrate.brute import convolved_failures, simulated_chain

# A true law leaves the band of 6 standard errors with probability 2e-9.
STANDARD_ERRORS = 6
TWENTIETH = Fraction(1, 20)

rates = st.one_of(
    st.fractions(Fraction(1, 1000), Fraction(2, 5), max_denominator=1000),
    st.sampled_from([Fraction(1, 10**9), Fraction(49, 100)]),
)
small_rates = st.fractions(Fraction(1, 1000), Fraction(1, 5), max_denominator=1000)
shapes = st.fixed_dictionaries(
    {
        "levels": st.integers(1, 5),
        "last_share": st.fractions(Fraction(1, 10), Fraction(9, 10), max_denominator=20),
        "span": st.fractions(Fraction(11, 10), 300, max_denominator=20),
        "joint": st.booleans(),
    }
)


def by_convolution(levels: tuple[Fraction, ...], thresholds: tuple[int, ...], coin: Fraction) -> Fraction:
    """The probability that some level fails; at the last one noise one short of its threshold does so by a coin."""
    nearer = [*thresholds[:-1], thresholds[-1] - 1]
    surely = sum(map(Fraction, convolved_failures(levels, thresholds)), Fraction(0))
    by_coin = sum(map(Fraction, convolved_failures(levels, nearer)), Fraction(0)) if coin else Fraction(0)
    return (1 - coin) * surely + coin * by_coin


def coins(grid: LevelGrid) -> tuple[Fraction, Fraction]:
    """How likely the one value that the last level leaves open becomes a miss, or a false alarm."""
    undecided = grid.eliminate[-1] + grid.accept[-1] - grid.steps - 1
    assert undecided in (0, 1)
    return (1 - grid.last.coin, grid.last.coin) if undecided else (Fraction(0), Fraction(0))


@settings(max_examples=25)
@given(small_rates, small_rates, st.integers(0, 8), st.integers(1, 4), st.integers(1, 4), st.booleans())
def test_the_proven_bounds_are_the_true_probabilities(
    miss: Fraction, alarm: Fraction, slack: int, sensitivity: int, size: int, joint: bool
) -> None:
    grid = grid_levels(miss, slack, alarm, sensitivity, levels=size, span=8, joint=joint)
    missed = by_convolution(grid.levels, grid.eliminate, coins(grid)[0])
    alarmed = by_convolution(grid.levels, grid.accept, coins(grid)[1])
    assert abs(grid.miss - missed) < Fraction(1, 10**35)
    assert abs(grid.false_alarm - alarmed) < Fraction(1, 10**35)
    assert grid.miss <= miss
    assert grid.false_alarm <= alarm


@settings(max_examples=150)
@given(rates, rates, st.integers(0, 2000), st.integers(1, 40), shapes)
def test_a_grid_is_well_formed_and_keeps_both_promises(
    miss: Fraction, alarm: Fraction, slack: int, sensitivity: int, shape: dict[str, object]
) -> None:
    grid = grid_levels(miss, slack, alarm, sensitivity, **shape)
    assert (grid.miss <= miss, grid.false_alarm <= alarm) == (True, True)
    assert grid.worst_price == grid.levels[-1] == grid.last.epsilon
    assert (grid.sensitivity, grid.steps) == (sensitivity, -(-(slack + 1) // sensitivity))
    assert all(noisy < clear for noisy, clear in pairwise(grid.levels))
    for thresholds in (grid.eliminate, grid.accept):
        assert all(noisy >= clear >= 0 for noisy, clear in pairwise(thresholds))
    for level in range(len(grid.levels)):
        eliminated, accepted = grid.limits(level)
        assert eliminated < accepted


@settings(max_examples=100)
@given(rates, rates, st.integers(0, 200), shapes)
def test_the_last_level_decides_everything_with_its_cut(
    miss: Fraction, alarm: Fraction, slack: int, shape: dict[str, object]
) -> None:
    grid = grid_levels(miss, slack, alarm, **shape)
    eliminated, accepted = grid.limits(-1)
    for noisy in range(-slack - 5, 6):
        by_cut = min(Fraction(1), max(Fraction(0), noisy + Fraction(1, 2) - grid.cut))
        by_limits = Fraction(noisy >= accepted) if noisy <= eliminated or noisy >= accepted else grid.last.coin
        assert by_cut == by_limits


@settings(max_examples=40)
@given(rates, rates, st.integers(0, 300), st.integers(1, 9), shapes)
def test_the_worst_price_is_one_look_at_the_last_share(
    miss: Fraction, alarm: Fraction, slack: int, sensitivity: int, shape: dict[str, object]
) -> None:
    grid = grid_levels(miss, slack, alarm, sensitivity, **shape)
    share = shape["last_share"] if shape["levels"] != 1 else Fraction(1)
    assert isinstance(share, Fraction)
    assert grid.last == one_shot(miss * share, slack, alarm * share, sensitivity)


@settings(max_examples=30)
@given(rates, st.integers(0, 500), st.integers(2, 6))
def test_the_exact_law_allows_narrower_thresholds_than_shares(rate: Fraction, slack: int, size: int) -> None:
    joint, shares = grid_levels(rate, slack, levels=size), grid_levels(rate, slack, levels=size, joint=False)
    assert joint.levels == shares.levels
    assert all(narrow <= wide for narrow, wide in zip(joint.eliminate, shares.eliminate, strict=True))
    assert shares.miss <= joint.miss


@settings(max_examples=30)
@given(rates, st.integers(0, 500), st.integers(2, 6))
def test_shares_are_kept_level_by_level(rate: Fraction, slack: int, size: int) -> None:
    grid = grid_levels(rate, slack, levels=size, joint=False)
    early = list(zip(grid.levels, grid.eliminate, strict=True))[:-1]
    assert all(failure_probability([level], [t]).upper <= rate / 2 / (size - 1) for level, t in early)


@settings(max_examples=25)
@given(rates, st.integers(0, 300), st.integers(2, 6))
def test_a_little_less_scale_breaks_the_promise(rate: Fraction, slack: int, size: int) -> None:
    grid = grid_levels(rate, slack, levels=size)
    levels, last = grid.levels, grid.last
    misses = side(rate, rate / 2, 2 - last.boundary, 1 - last.coin)
    scale = misses.least_scale(levels, Fraction(100))
    assert tuple(misses.at_scale(levels, scale)) == grid.eliminate
    assert not misses.keeps(levels, misses.at_scale(levels, scale - SCALE_STEP))


@pytest.mark.parametrize("slack", [21, 200, 2000])
def test_narrowing_every_early_threshold_by_one_breaks_the_promise(slack: int) -> None:
    grid = grid_levels(TWENTIETH, slack)
    misses = side(TWENTIETH, TWENTIETH / 2, 2 - grid.last.boundary, 1 - grid.last.coin)
    narrower = [max(t - 1, grid.eliminate[-1]) for t in grid.eliminate[:-1]] + [grid.eliminate[-1]]
    assert not misses.keeps(grid.levels, narrower)
    assert float(grid.miss) > 0.0498


def test_one_level_is_one_look() -> None:
    grid = grid_levels(TWENTIETH, 21, levels=1)
    assert grid.last == one_shot(TWENTIETH, 21)
    assert grid.miss == pytest.approx(0.05, rel=1e-9)


def test_the_worst_price_is_a_fifth_below_even_shares() -> None:
    """Published: four levels with even shares and α = 10; here seven levels and the slack that its α leaves free."""
    published = tslm(TWENTIETH / 4, 10).epsilon
    assert float(grid_levels(TWENTIETH, 21).worst_price / published) == pytest.approx(0.738, abs=1e-3)


def test_margins_are_aligned_as_for_one_look() -> None:
    grid = grid_levels(TWENTIETH, 20, sensitivity=5, levels=2)
    margins = np.arange(-30, 30)
    assert grid.aligned(margins).tolist() == one_shot(TWENTIETH, 20, sensitivity=5).aligned(margins).tolist()
    assert [grid.aligned(margin) for margin in (-20, 0, 1, 5, 6)] == [-4, 0, 1, 1, 2]


def test_wider_noise_would_cost_more_than_aligned_margins() -> None:
    aligned, wider = grid_levels(TWENTIETH, 20, sensitivity=5), grid_levels(TWENTIETH, 20)
    assert float(aligned.worst_price) == pytest.approx(1.1369, abs=1e-4)
    assert float(5 * wider.worst_price) == pytest.approx(1.4217, abs=1e-4)


def test_unequal_rates_move_the_cut() -> None:
    slack = 10**6
    grid = grid_levels(TWENTIETH, slack, Fraction(1, 200))
    k_miss, k_alarm = math.log(1 / 0.05), math.log(1 / 0.005)
    assert float(grid.worst_price * (slack + 1)) == pytest.approx(k_miss + k_alarm, rel=1e-5)
    assert float(-grid.cut * grid.worst_price) == pytest.approx(k_miss, rel=1e-4)


@pytest.mark.parametrize(("level", "threshold", "missed"), [("0.5", 6, 0.0310), ("1", 3, 0.0364), ("2.3", 2, 0.0091)])
def test_integer_thresholds_are_the_known_ones(level: str, threshold: int, missed: float) -> None:
    levels = [Fraction(level), Fraction(100)]
    scale = Fraction(math.log(10)).limit_denominator(10**9)
    assert Side(TWENTIETH, TWENTIETH, 0, Fraction(0)).at_scale(levels, scale)[0] == threshold
    assert float(failure_probability(levels[:1], [threshold]).upper) == pytest.approx(missed, abs=5.1e-5)


def test_simulated_keys_just_over_the_limit_are_missed_at_most_at_the_promised_rate() -> None:
    """Looking at every level is the rule that misses most: it fails wherever any level does."""
    grid = grid_levels(TWENTIETH, 21)
    draws, dice = 200_000, np.random.default_rng(8)
    noise = simulated_chain([float(level) for level in grid.levels], draws, dice)
    coin = dice.random(draws) < float(grid.last.coin)
    for margin, harmful, bound in ((1, "eliminated", grid.miss), (-21, "accepted", grid.false_alarm)):
        failed = np.zeros(draws, dtype=bool)
        for level, row in enumerate(noise + margin):
            eliminated, accepted = grid.limits(level)
            failed |= row <= eliminated if harmful == "eliminated" else row >= accepted
        open_value = noise[-1] + margin == grid.last.boundary
        failed |= open_value & (coin if harmful == "accepted" else ~coin)
        assert abs(failed.mean() - float(bound)) < STANDARD_ERRORS * math.sqrt(float(bound) / draws)


@pytest.mark.parametrize(
    ("reach", "published", "expected"), [(100, 0.191, 0.1304), (400, 0.0752, 0.0542), (2000, 0.0219, 0.0163)]
)
def test_on_integers_a_schedule_costs_a_quarter_less_than_published(
    reach: int, published: float, expected: float
) -> None:
    grid = grid_levels(TWENTIETH, 21)
    draws, dice = 100_000, np.random.default_rng(9)
    margins = dice.integers(-reach, reach, draws, endpoint=True)
    noise = simulated_chain([float(level) for level in grid.levels], draws, dice)
    prices = np.full(draws, float(grid.worst_price))
    for level in reversed(range(len(grid.levels) - 1)):
        eliminated, accepted = grid.limits(level)
        seen = margins + noise[level]
        prices[(seen <= eliminated) | (seen >= accepted)] = float(grid.levels[level])
    error = float(prices.std()) / math.sqrt(draws)
    assert abs(prices.mean() - expected) < STANDARD_ERRORS * error + 5e-5
    assert expected < 0.75 * published


@pytest.mark.parametrize("wrong", [*NOT_NUMBERS, 0, -1, 0.5, 1, Fraction(1, 2)])
def test_an_impossible_rate_is_refused(wrong: object) -> None:
    with pytest.raises(ParameterError, match="miss_rate"):
        grid_levels(wrong, 5)
    if wrong is not None:
        with pytest.raises(ParameterError, match="false_alarm_rate"):
            grid_levels(0.05, 5, wrong)


@pytest.mark.parametrize("wrong", [wrong for wrong in NOT_COUNTS if not (isinstance(wrong, int) and wrong > 1)])
def test_an_impossible_count_is_refused(wrong: object) -> None:
    with pytest.raises(ParameterError, match="slack"):
        grid_levels(0.05, wrong)
    with pytest.raises(ParameterError, match="sensitivity"):
        grid_levels(0.05, 5, sensitivity=wrong)
    with pytest.raises(ParameterError, match="levels"):
        grid_levels(0.05, 5, levels=wrong)


@pytest.mark.parametrize(
    "wrong",
    [
        *({"levels": wrong} for wrong in (0, 65)),
        *({"span": wrong} for wrong in (1, 2**65, "64")),
        *({"last_share": wrong} for wrong in (0, 1, None, math.nan)),
        *({"joint": wrong} for wrong in (1, None, "yes")),
    ],
)
def test_an_impossible_shape_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        grid_levels(0.05, 5, **wrong)


def test_noise_too_wide_to_draw_is_refused() -> None:
    with pytest.raises(ParameterError, match="lower the span"):
        grid_levels(0.05, 2**40, span=2**20)


def test_thresholds_that_do_not_keep_the_promise_are_never_handed_out() -> None:
    grid = grid_levels(TWENTIETH, 21)
    misses = side(TWENTIETH, TWENTIETH / 2, 2 - grid.last.boundary, 1 - grid.last.coin)
    with pytest.raises(PromiseError):
        misses.bound(grid.levels, [20] * 6 + [12])


@settings(max_examples=1000)
@given(anything, anything, anything, anything, anything, anything)
def test_nothing_but_a_louver_error_escapes(
    miss: object, slack: object, alarm: object, sensitivity: object, share: object, span: object
) -> None:
    for arguments, shape in (
        ((miss, slack, alarm, sensitivity), {"last_share": share, "span": span}),
        ((0.05, slack, None, 1), {"levels": sensitivity, "joint": alarm}),
        ((miss, 3, alarm, 1), {"span": 8}),
        ((0.05, 3, None, 1), {"last_share": share, "span": span}),
    ):
        with contextlib.suppress(LouverError):
            assert grid_levels(*arguments, **{"levels": 2, **shape}).levels
