from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from louver.errors import LouverError
from louver.noise import clearer, levels
from louver.noise.bits import SYSTEM
from louver.noise.enclosure import exp
from louver.noise.gradual import _coins, beyond, opposite_side, same_value, stay_at_zero
from tests.misuse import NOT_COUNTS, NOT_POSITIVE
from tests.noise import laws
from tests.noise.laws import FALSE_ALARM, assert_follows, assert_rejects, same_law

RATES = [Fraction(1, 20), Fraction(1, 5), Fraction(4, 5), Fraction(2)]
DRAWS = 1_000_000


def pmf(a: Fraction, value: int) -> Fraction:
    return (1 - a) / (1 + a) * a ** abs(value)


def convolved(a: Fraction, b: Fraction, value: int) -> Fraction:
    """P(X + Y = value) for independent discrete Laplace X, Y of ratios a, b, summed in closed form."""
    size = abs(value)
    outside = (a**size + b**size) * a * b / (1 - a * b)
    inside = (a ** (size + 1) - b ** (size + 1)) / (a - b)
    return (1 - a) / (1 + a) * (1 - b) / (1 + b) * (outside + inside)


def upward(a: Fraction, b: Fraction, clear: int, noisy: int) -> Fraction:
    """P(noisier level = noisy | clearer level = clear)."""
    stay = same_value(a, b, b / a)
    return (stay if clear == noisy else 0) + (1 - stay) * pmf(a, noisy - clear)


def downward(a: Fraction, b: Fraction, noisy: int, clear: int) -> Fraction:
    """P(clearer level = clear | noisier level = noisy), from the coins and geometrics of the on-demand step."""
    r = b / a
    size, value = abs(noisy), clear if noisy >= 0 else -clear
    stay = stay_at_zero(a, b, r) * r**size
    other, past = opposite_side(a, b, r), beyond(a, b, r)
    refused = (1 - other) * r ** (size + 1) * (1 - past)
    if value < 0:
        proposal = other * (1 - a * b) * (a * b) ** (-value - 1)
    elif value <= size:
        proposal = (1 - other) * (1 - r) * r**value
    else:
        proposal = (1 - other) * r ** (size + 1) * past * (1 - a * b) * (a * b) ** (value - size - 1)
    return (stay if clear == noisy else 0) + (1 - stay) * proposal / (1 - refused)


def test_the_chance_to_share_a_value_makes_the_noisier_law_exact_in_rationals() -> None:
    a, b = Fraction(3, 4), Fraction(1, 3)
    stay = same_value(a, b, b / a)
    assert stay == Fraction(1, 16)
    assert 1 - stay == (1 - b / a) * (1 - a * b) / (1 - b) ** 2
    for value in range(-59, 60):
        assert stay * pmf(b, value) + (1 - stay) * convolved(a, b, value) == pmf(a, value)


def test_the_identity_holds_in_floats_to_their_last_places() -> None:
    for noisy, clear in ((0.1, 0.2), (0.5, 1.0), (0.3, 2.5)):
        a, b = Fraction(math.exp(-noisy)), Fraction(math.exp(-clear))
        stay = float(same_value(a, b, b / a))
        for value in range(-59, 60):
            mixed = stay * float(pmf(b, value)) + (1 - stay) * float(convolved(a, b, value))
            assert abs(mixed - float(pmf(a, value))) < 1e-16


@pytest.mark.parametrize(("a", "b"), [(Fraction(3, 4), Fraction(1, 3)), (Fraction(9, 10), Fraction(8, 9))])
def test_both_directions_have_one_joint_law_in_exact_rationals(a: Fraction, b: Fraction) -> None:
    for noisy, clear in itertools.product(range(-15, 16), repeat=2):
        assert pmf(b, clear) * upward(a, b, clear, noisy) == pmf(a, noisy) * downward(a, b, noisy, clear)


def test_seeing_both_levels_tells_neighbours_apart_by_the_clearer_level_alone() -> None:
    """Exhaustively near the counts 0 and 1: the largest likelihood ratio is exp of the last level revealed, exactly.

    With a = exp(-.3), b = exp(-1.1) the losses are .3 at the first level and 1.1 at both; fresh noise would lose 1.4.
    """
    a, b = Fraction(math.exp(-0.3)), Fraction(math.exp(-1.1))
    near = range(-12, 14)

    def transcript(count: int, noisy: int, clear: int) -> Fraction:
        return pmf(b, clear - count) * upward(a, b, clear - count, noisy - count)

    both = [transcript(0, y, x) / transcript(1, y, x) for y, x in itertools.product(near, repeat=2)]
    first = [pmf(a, y) / pmf(a, y - 1) for y in near]
    fresh = [pmf(a, y) * pmf(b, x) / (pmf(a, y - 1) * pmf(b, x - 1)) for y, x in itertools.product(near, repeat=2)]
    assert (max(first), min(first)) == (1 / a, a)
    assert (max(both), min(both)) == (1 / b, b)
    assert max(fresh) == 1 / (a * b)
    assert [round(math.log(max(ratios)), 9) for ratios in (first, both, fresh)] == [0.3, 1.1, 1.4]


def test_the_stay_probability_is_the_published_one() -> None:
    a, b = Fraction(2, 3), Fraction(1, 5)
    for size in range(10):
        expected = (b / a) ** (size + 1) * (1 - a**2) / (1 - b**2)
        assert stay_at_zero(a, b, b / a) * (b / a) ** size == expected


@pytest.mark.parametrize(
    ("noisy", "clear", "expected"),
    [("1/10", "1/5", "0.249376"), ("1/2", "1", "0.235004"), ("3/10", "5/2", "0.0088340")],
)
def test_the_chance_to_share_a_value_is_that_of_the_notes(noisy: str, clear: str, expected: str) -> None:
    rates = Fraction(noisy), Fraction(clear)
    chance = same_value(exp(-rates[0], 200), exp(-rates[1], 200), exp(rates[0] - rates[1], 200))
    places = len(expected) - 2
    assert f"{float(chance.lower):.{places}f}" == expected
    assert chance.high - chance.low < 2**20


def test_the_variances_of_the_chain_are_those_of_the_notes() -> None:
    ratios = [math.exp(-rate) for rate in RATES]
    assert [f"{2 * a / (1 - a) ** 2:.5g}" for a in ratios] == ["799.83", "49.834", "2.9635", "0.36203"]


@pytest.fixture(scope="module")
def chains() -> NDArray[np.int64]:
    return levels(RATES, DRAWS)


@pytest.mark.parametrize("level", range(4))
def test_every_level_is_discrete_laplace_and_not_10_percent_off(chains: NDArray[np.int64], level: int) -> None:
    rate = float(RATES[level])
    assert_follows(chains[level], laws.laplace(rate))
    assert_rejects(chains[level], laws.laplace(rate * 1.1))
    assert_rejects(chains[level], laws.laplace(rate * 0.9))


@pytest.mark.parametrize("level", range(3))
def test_neighbouring_levels_have_the_exact_joint_law(chains: NDArray[np.int64], level: int) -> None:
    noisy, clear = RATES[level], RATES[level + 1]
    assert_follows(chains[level : level + 2].T, joint_law(float(noisy), float(clear)))


@pytest.mark.parametrize("level", range(3))
def test_the_on_demand_step_has_the_exact_joint_law(chains: NDArray[np.int64], level: int) -> None:
    noisy, clear = RATES[level], RATES[level + 1]
    stepped = clearer(chains[level], noisy, clear)
    assert_follows(np.stack((chains[level], stepped), axis=1), joint_law(float(noisy), float(clear)))
    assert_follows(stepped, laws.laplace(float(clear)))
    assert_rejects(stepped, laws.laplace(float(clear) * 1.1))
    assert_rejects(stepped, laws.laplace(float(clear) * 0.9))


def test_fresh_noise_would_fail_the_joint_law(chains: NDArray[np.int64]) -> None:
    fresh = np.stack((chains[1], levels([RATES[2]], DRAWS)[0]), axis=1)
    assert_rejects(fresh, joint_law(float(RATES[1]), float(RATES[2])))


def joint_law(noisy: float, clear: float) -> laws.Law:
    """P(X1 = y, X2 = x) in floats, accurate to a few units in the last place."""
    a, b, r = math.exp(-noisy), math.exp(-clear), math.exp(noisy - clear)
    stay = r * ((1 - a) / (1 - b)) ** 2
    of_clear, step = laws.laplace(clear), laws.laplace(noisy)
    return lambda pair: (
        of_clear(pair[1]) * ((stay if pair[0] == pair[1] else 0.0) + (1 - stay) * step(pair[0] - pair[1]))
    )


def test_three_levels_on_demand_have_the_law_of_three_levels_drawn_at_once(chains: NDArray[np.int64]) -> None:
    first = levels([RATES[1]], DRAWS)[0]
    second = clearer(first, RATES[1], RATES[2])
    third = clearer(second, RATES[2], RATES[3])
    on_demand, at_once = (
        np.array([169, 13, 1]) @ np.clip(chain, -6, 6) for chain in ((first, second, third), chains[1:])
    )
    assert same_law(on_demand, at_once) >= FALSE_ALARM


def test_sharing_and_correlation_agree_with_the_exact_values_in_both_directions() -> None:
    """At (.2, .8): the share is .15321 and the correlation, which is the ratio of the standard deviations, .24386."""
    noisy, clear = 0.2, 0.8
    a, b = math.exp(-noisy), math.exp(-clear)
    stay = b / a * ((1 - a) / (1 - b)) ** 2
    shared = stay + (1 - stay) * (1 - a) / (1 + a)
    correlation = math.sqrt((2 * b / (1 - b) ** 2) / (2 * a / (1 - a) ** 2))
    assert round(shared, 5) == 0.15321
    assert round(correlation, 5) == 0.24386
    noisier, drawn = levels([Fraction(1, 5), Fraction(4, 5)], DRAWS)
    for clearer_level in (drawn, clearer(noisier, Fraction(1, 5), Fraction(4, 5))):
        # Seven standard deviations of a proportion; for the correlation its spread under heavy tails is below 2e-3.
        assert abs((noisier == clearer_level).mean() - shared) < 7 * (shared * (1 - shared) / DRAWS) ** 0.5
        assert abs(np.corrcoef(noisier, clearer_level)[0, 1] - correlation) < 0.014


@pytest.mark.parametrize("gap", [Fraction(1, 1000), Fraction(1, 10**7), Fraction(1, 2**48)])
def test_levels_that_are_close_together_end_and_keep_their_law(gap: Fraction) -> None:
    noise = levels([Fraction(1)], 300_000)[0]
    assert_follows(clearer(noise, 1, 1 + gap), laws.laplace(1.0 + float(gap)))


def test_levels_far_apart_keep_their_law() -> None:
    noisy, clear = levels([Fraction(1, 100_000), Fraction(3)], 300_000)
    assert_follows(clear, laws.laplace(3.0))
    assert_follows(clearer(noisy, Fraction(1, 100_000), 3), laws.laplace(3.0))
    assert not clearer(clear, 3, 2000).any()


def test_coins_of_two_pairs_of_levels_are_not_mixed_up_in_the_cache() -> None:
    first = _coins(same_value, Fraction(1, 10), Fraction(1, 5), 200_000, SYSTEM)
    second = _coins(same_value, Fraction(3, 10), Fraction(5, 2), 200_000, SYSTEM)
    assert_follows(first, laws.coin(0.249376))
    assert_follows(second, laws.coin(0.0088340))


def test_memory_is_one_number_per_key_and_level() -> None:
    assert levels([0.1, 0.2, 0.4], 1000).nbytes == 3 * 1000 * 8


def test_noise_at_the_ends_of_the_integers_keeps_its_side() -> None:
    ends = np.array([-(2**63), 2**63 - 1] * 1000)
    stepped = clearer(ends, 1, 2)
    # At such a distance the chance to stay is 0 and the next value lies near 0, on both sides.
    assert np.abs(stepped).max() < 2**20


def test_one_level_and_no_keys_work() -> None:
    assert levels([1], 4).shape == (1, 4)
    assert levels([1, 2], 0).shape == (2, 0)
    assert clearer(np.array([], dtype=np.int64), 1, 2).shape == (0,)


@pytest.mark.parametrize(
    "bad", [*([rate] for rate in NOT_POSITIVE), [], [1, 1], [2, 1], [1, 1 + 2.0**-49], 3, None, [4000], [1] * 2000]
)
def test_what_are_no_levels_is_refused(bad: object) -> None:
    with pytest.raises(LouverError, match=r"^[A-Z].*\.$"):
        levels(bad, 1)  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", NOT_COUNTS)
def test_what_is_no_number_of_keys_is_refused(bad: object) -> None:
    with pytest.raises(LouverError, match=r"^The number of keys .*\.$"):
        levels([1, 2], bad)  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [None, "x", 1, [[1]], [0.5], np.array([np.nan]), np.array([1], dtype=np.uint64)])
def test_what_is_no_noise_is_refused(bad: object) -> None:
    with pytest.raises(LouverError, match=r"^The noise .*\.$"):
        clearer(bad, 1, 2)  # type: ignore[arg-type]
