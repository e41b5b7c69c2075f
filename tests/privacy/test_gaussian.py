"""The tight (epsilon, delta) of Gaussian noise: against its definition, and the exact law of discrete noise."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest
from scipy.stats import norm

from louver.privacy import ZeroConcentrated, gaussian
from louver.privacy.gaussian import _delta_near as near
from louver.privacy.gaussian import approximately, delta_at, largest_rho, least_epsilon, tail

MILLIONTH = Fraction(1, 10**6)


@pytest.mark.parametrize(
    "place", [Fraction(-3), Fraction(0), Fraction(1, 7), Fraction(2), Fraction(11, 2), Fraction(30)]
)
def test_tails_enclose_those_of_the_normal_law(place: Fraction) -> None:
    found = tail(place)
    assert float(found.lower) <= norm.sf(float(place)) * (1 + 1e-12)
    assert float(found.upper) >= norm.sf(float(place)) * (1 - 1e-12)
    assert found.upper - found.lower <= Fraction(1, 2**400)


@pytest.mark.parametrize(("moved", "epsilon"), [(0.2367, 1.0), (1.0, 0.5), (3.0, 4.0)])
def test_delta_is_that_of_balle_and_wang(moved: float, epsilon: float) -> None:
    expected = norm.cdf(moved / 2 - epsilon / moved) - math.exp(epsilon) * norm.cdf(-moved / 2 - epsilon / moved)
    assert float(delta_at(Fraction(moved) ** 2, Fraction(epsilon))) == pytest.approx(expected, rel=1e-8)


def test_the_least_epsilon_keeps_delta_and_a_smaller_one_does_not() -> None:
    found = least_epsilon(Fraction(1, 18), MILLIONTH)
    assert delta_at(Fraction(1, 18), found) <= MILLIONTH < delta_at(Fraction(1, 18), found * Fraction(999, 1000))


@pytest.mark.parametrize("squared", [Fraction(1, 10**6), Fraction(1, 18), Fraction(7), Fraction(2000), Fraction(10**5)])
@pytest.mark.parametrize("delta", [Fraction(1, 3), MILLIONTH, Fraction(1, 10**30)])
def test_two_looks_at_exact_numbers_find_the_least_epsilon(
    monkeypatch: pytest.MonkeyPatch, squared: Fraction, delta: Fraction
) -> None:
    """Floats find it; each look at a large price takes a tenth of a second."""
    looks: list[Fraction] = []

    def counted(*given: Fraction) -> Fraction:
        looks.append(given[1])
        return delta_at(*given)

    monkeypatch.setattr(gaussian, "delta_at", counted)
    found = least_epsilon.__wrapped__(squared, delta)
    assert len(looks) <= 2
    assert delta_at(squared, found) <= delta
    assert found <= Fraction(1, 2**64) or delta < delta_at(squared, found * Fraction(2**23 - 1, 2**23))


def test_where_floats_are_wrong_exact_numbers_find_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    right = least_epsilon.__wrapped__(Fraction(1, 18), MILLIONTH)
    for wrong in (0.0, 1.001, 0.999):
        monkeypatch.setattr(gaussian, "_delta_near", lambda squared, epsilon, by=wrong: by * near(squared, epsilon))
        assert least_epsilon.__wrapped__(Fraction(1, 18), MILLIONTH) == right


def test_at_epsilon_one_and_a_millionth_noise_is_a_fourteenth_less_than_by_zcdp() -> None:
    rho = largest_rho(1, MILLIONTH, variance=2**30, moved=10**6)
    assert 1 / math.sqrt(2 * rho) == pytest.approx(4.2247, rel=1e-4)
    assert approximately(rho, MILLIONTH, variance=2**30, moved=10**6).epsilon <= 1 + Fraction(1, 2**20)
    assert ZeroConcentrated(rho).as_approximate(MILLIONTH).epsilon > Fraction(107, 100)


def exact_delta(variance: float, moves: tuple[int, ...], epsilon: float) -> float:
    """Of whole numbers with discrete Gaussian noise, by adding up max(P - exp(epsilon) Q, 0) over all outcomes."""
    far = math.ceil(9 * math.sqrt(variance)) + max(moves)
    line = [math.exp(-x * x / (2 * variance)) for x in range(-2 * far, 2 * far + 1)]
    total = math.fsum(line)
    law = {x: line[x + 2 * far] / total for x in range(-2 * far, 2 * far + 1)}
    return math.fsum(
        max(
            math.prod(law[x - move] for x, move in zip(place, moves, strict=True))
            - math.exp(epsilon) * math.prod(law[x] for x in place),
            0.0,
        )
        for place in itertools.product(range(-far, far + 1), repeat=len(moves))
    )


@pytest.mark.parametrize("variance", [2, 5, 20])
@pytest.mark.parametrize("moves", [(1,), (2,), (1, 1), (1, 2)])
@pytest.mark.parametrize("delta", [Fraction(1, 100), Fraction(1, 10**5)])
def test_discrete_noise_is_as_private_as_stated_by_its_exact_law(
    variance: int, moves: tuple[int, ...], delta: Fraction
) -> None:
    rho = Fraction(sum(move**2 for move in moves), 2 * variance)
    stated = approximately(rho, delta, variance=variance, moved=len(moves))
    assert exact_delta(variance, moves, float(stated.epsilon)) <= delta
    tight = least_epsilon(2 * rho, delta)
    assert exact_delta(variance, moves, 0.9 * float(tight)) > delta  # so that the comparison means something


def test_less_is_never_stated_for_more_numbers_or_less_noise() -> None:
    prices = [
        approximately(Fraction(1, 10), MILLIONTH, variance=v, moved=n).epsilon
        for v, n in ((100, 1), (100, 10**6), (10, 10**6))
    ]
    assert prices == sorted(prices)
    assert least_epsilon(Fraction(1, 5), MILLIONTH) <= prices[0]


def test_noise_too_small_for_the_proof_falls_back_on_rho() -> None:
    small = approximately(Fraction(1), MILLIONTH, variance=Fraction(1, 2), moved=3)
    assert small == ZeroConcentrated(1).as_approximate(MILLIONTH)
    assert largest_rho(1, MILLIONTH, variance=Fraction(1, 4), moved=3) == 0
