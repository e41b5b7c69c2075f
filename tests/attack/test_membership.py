"""Bits are seeded. False alarms: 1e-6 for each measurement (`membership.FALSE_ALARM`)."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from louver.attack.losses import least_epsilon, least_rho
from louver.attack.membership import Measured, measure, one_after_the_other, releases
from louver.attack.scores import LEARNED, fineness, known, linear
from louver.errors import LouverError
from louver.local import YesNo
from louver.noise import Bits, discrete_gaussian, discrete_laplace, levels
from louver.privacy import Approximate, Pure, ZeroConcentrated
from louver.privacy.guarantee import Guarantee
from tests.attack.broken import PERSON, TICKS, fresh, fresh_levels, reseeded, reused, seeded

RATES = (Fraction(1, 2), Fraction(1))
ONE = Pure(1)


def test_a_mechanism_that_keeps_its_promise_is_not_accused_and_nearly_all_its_loss_is_found() -> None:
    found = measure(fresh(TICKS), fresh(TICKS + PERSON), ONE, bits=seeded(1))
    assert 0.85 < found.lost <= 1 == found.promised
    assert not found.is_broken


def test_half_the_noise_is_caught() -> None:
    found = measure(fresh(TICKS, 2), fresh(TICKS + PERSON, 2), ONE, trials=8000, bits=seeded(2))
    assert found.is_broken
    assert "more than the 1.000 that is promised" in str(found)


def test_noise_reused_across_ticks_is_caught_because_it_cancels_out() -> None:
    found = measure(reused(TICKS), reused(TICKS + PERSON), ONE, trials=4000, bits=seeded(3))
    assert found.lost > 4


@pytest.mark.parametrize("pool", [1, 8])
def test_a_seed_that_repeats_is_caught_beside_a_release_whose_data_are_known(pool: int) -> None:
    known_data, secret = reseeded(TICKS, pool), reseeded(TICKS + PERSON, pool)
    without = one_after_the_other(known_data(), known_data())
    having = one_after_the_other(known_data(), secret())
    assert measure(without, having, ONE, trials=1500, bits=seeded(4)).is_broken


def test_fresh_noise_for_each_level_is_caught_and_a_chain_is_not_accused() -> None:
    broken = measure(fresh_levels(0, RATES), fresh_levels(1, RATES), ONE, bits=seeded(5))
    assert broken.is_broken

    def chain(count: int) -> object:
        return lambda size, bits: (count + levels(RATES, size, bits=bits)).T

    intact = measure(chain(0), chain(1), ONE, bits=seeded(6))  # type: ignore[arg-type]
    assert 0.85 < intact.lost <= 1


def test_fresh_noise_beside_a_known_release_is_not_accused() -> None:
    without, having = (one_after_the_other(fresh(TICKS), fresh(TICKS + shift)) for shift in (0 * PERSON, PERSON))
    assert not measure(without, having, ONE, trials=8000, bits=seeded(7)).is_broken


@pytest.mark.parametrize("variance", [1, 100])
def test_rho_of_gaussian_noise_is_found_in_part_and_half_the_noise_is_caught(variance: int) -> None:
    moved = math.isqrt(variance)
    promise = ZeroConcentrated(Fraction(1, 2))

    def drawn(scale: int) -> Measured:
        law = Fraction(variance, scale**2)
        return measure(
            lambda size, bits: discrete_gaussian(law, size, bits=bits),
            lambda size, bits: moved + discrete_gaussian(law, size, bits=bits),
            promise,
            bits=seeded(8),
        )

    assert 0.2 < drawn(1).lost <= 0.5
    assert drawn(2).is_broken


def test_a_mechanism_that_fails_rarely_is_accused_of_its_delta_and_not_below_it() -> None:
    """In one of 20 releases it tells the truth."""

    def blurting(count: int) -> object:
        def draw(size: int, bits: Bits) -> object:
            noisy = count + discrete_laplace(1, size, bits=bits)
            return np.where(bits.words16(size) % 20 == 0, 1000 + count, noisy)

        return draw

    def lost(promise: Guarantee) -> Measured:
        return measure(blurting(0), blurting(1), promise, bits=seeded(9))  # type: ignore[arg-type]

    assert lost(ONE).is_broken
    assert lost(Approximate(1, Fraction(1, 100))).is_broken
    assert not lost(Approximate(1, Fraction(1, 10))).is_broken


def test_a_known_law_is_as_good_as_a_learned_one() -> None:
    def log_ratio(rows: object) -> object:
        column = np.asarray(rows)[:, 1]
        return np.abs(column - TICKS[1]) - np.abs(column - TICKS[1] - 1.0)

    score = known(log_ratio)  # type: ignore[arg-type]
    found = measure(fresh(TICKS), fresh(TICKS + PERSON), ONE, scores=[score], bits=seeded(10))
    assert 0.88 < found.lost <= 1


def test_what_is_charged_by_outcome_is_compared_with_that_charge() -> None:
    """A coin says beforehand whether a release is cheap; a cheap one that is as clear as a dear one is caught."""

    def either(count: int, clear: Fraction) -> object:
        def draw(size: int, bits: Bits) -> object:
            cheap = bits.words16(size) % 2 == 0
            noisy = [count + discrete_laplace(rate, size, bits=bits) for rate in (clear, Fraction(1))]
            return np.stack((cheap, np.where(cheap, *noisy)), axis=1)

        return draw

    def lost(clear: Fraction) -> Measured:
        return measure(
            either(0, clear),  # type: ignore[arg-type]
            either(1, clear),  # type: ignore[arg-type]
            ONE,
            paid=lambda rows: np.where(rows[:, 0] == 1, 0.5, 1.0),
            bits=seeded(11),
        )

    assert not lost(Fraction(1, 2)).is_broken
    caught = lost(Fraction(1))
    assert caught.is_broken
    assert caught.promised == 0.5


def test_any_function_of_data_and_bits_can_be_measured() -> None:
    def mechanism(data: int, bits: Bits) -> int:
        return data + int(discrete_laplace(3, 1, bits=bits)[0])

    found = measure(releases(mechanism, 4), releases(mechanism, 5), ONE, trials=2000, bits=seeded(12))
    assert found.is_broken


def test_a_mechanism_on_the_edge_of_its_promise_is_accused_no_more_often_than_stated() -> None:
    """An answer told with odds of e to 1 loses all of its epsilon; above 28 of 60 has a probability below 1e-6."""
    told = YesNo(1, bits=seeded(13))

    def draw(answer: bool) -> object:
        return lambda size, _: told.report(np.full(size, answer))

    accused = sum(
        measure(draw(False), draw(True), ONE, trials=400, scores=[linear], false_alarm=0.2).is_broken  # type: ignore[arg-type]
        for _ in range(60)
    )
    assert accused <= 28


def test_losses_follow_from_two_chances() -> None:
    often, rarely = np.array([0.5]), np.array([0.1])
    assert least_epsilon(often, rarely)[0] == pytest.approx(math.log(5))
    assert least_epsilon(often, rarely, 0.2)[0] == pytest.approx(math.log(3))
    assert least_epsilon(rarely, often)[0] == 0
    two = math.log(0.5**2 / 0.1 + 0.5**2 / 0.9)
    assert least_rho(often, rarely)[0] >= two / 2
    assert least_rho(rarely, often)[0] == 0


def test_no_two_coins_lose_more_rho_than_the_gaussian_noise_they_come_from() -> None:
    """Rho is 1/2 between normal noise at 0 and at 1, so no event may say more."""
    from statistics import NormalDist

    limits = np.linspace(-6, 6, 200)
    chances = [np.array([1 - NormalDist(mean).cdf(limit) for limit in limits]) for mean in (1, 0)]
    assert least_rho(*chances).max() <= 0.5


def test_the_last_binary_digit_is_found() -> None:
    assert fineness(np.array([0.1, 2.0**-60, 6.0, -0.75])).tolist() == [-55, -60, 0, -2]


@pytest.mark.parametrize("learn", LEARNED)
def test_a_score_tells_nothing_where_nothing_differs(learn: object) -> None:
    same = np.zeros((50, 2), dtype=np.int64)
    assert np.ptp(learn(same, same)(same)) == 0  # type: ignore[operator]


@pytest.mark.parametrize(
    "given", [{"trials": 3}, {"false_alarm": 0}, {"false_alarm": 2}, {"paid": lambda rows: rows[:, 0]}]
)
def test_what_cannot_be_measured_is_refused_with_a_sentence(given: dict[str, object]) -> None:
    promise = ZeroConcentrated(1) if "paid" in given else ONE
    with pytest.raises(LouverError, match=r"\.$"):
        measure(fresh(TICKS), fresh(TICKS), promise, **given)  # type: ignore[arg-type]


def test_releases_of_no_one_shape_are_refused() -> None:
    with pytest.raises(LouverError, match="same shape"):
        measure(releases(lambda _, bits: [0] * (1 + bits.integer(8) % 3), 0), fresh(TICKS), ONE, trials=64)
