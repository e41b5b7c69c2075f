"""The one look that all maps are made of: the law of its noise, and its price on neighbours."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from louver.errors import ParameterError
from louver.noise import Bits
from louver.space.field import Field
from louver.space.measure import Measured, Price, measure, variance
from tests.decide.auditor import audited
from tests.noise.laws import assert_follows, assert_rejects, laplace
from tests.space.fields import alike, halve_noise, seeded

SIDE = 300


def atoms_of(field: Field) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    """Each atom as a rectangle."""
    row, column = np.divmod(np.arange(field.rows * field.columns), field.columns)
    return np.stack((column, row, column + 1, row + 1), axis=1)


def look(field: Field, price: Price, centre: int, bits: Bits) -> Measured:
    return measure(field, atoms_of(field), price, centre, bits)


@pytest.mark.parametrize(("centre", "reach"), [(0, 4), (2, 2), (1, 3)])
def test_the_noise_is_discrete_laplace_of_the_price_over_what_one_reading_moves(centre: int, reach: int) -> None:
    seen = look(alike(3, 7, SIDE), Price(Fraction(1, 2), Fraction(2)), centre, seeded(1))
    counts, sums = (seen.counts - 3).astype(np.int64), (seen.sums - 7 + 3 * centre).astype(np.int64)
    assert_follows(counts, laplace(0.5))
    assert_rejects(counts, laplace(0.55))
    assert_follows(sums, laplace(2 / reach))
    assert_rejects(sums, laplace(2.2 / reach))


@pytest.mark.parametrize("rate", [Fraction(1, 50), Fraction(1), Fraction(3)])
def test_the_stated_variance_is_that_of_the_law(rate: Fraction) -> None:
    law = laplace(float(rate))
    assert variance(rate) == pytest.approx(sum(law(x) * x * x for x in range(-3000, 3001)))


@pytest.mark.parametrize("centre", [0, 2])
@pytest.mark.parametrize("value", [0, 4])
def test_an_audit_finds_no_more_than_the_price_and_does_at_half_the_noise(centre: int, value: int) -> None:
    """One reading of the largest or least value more. Control: the largest, which moves both numbers.

    False alarm: 1e-6 each.
    """
    price = Price(Fraction(1, 3), Fraction(2, 3))
    seeds = itertools.count()

    def draw(neighbour: bool) -> Counter[object]:
        field = alike(3 + neighbour, 7 + value * neighbour, SIDE)
        seen = look(field, price, centre, seeded(next(seeds)))
        counts, sums = np.clip(seen.counts - 3, -1, 2), np.clip((seen.sums - 7 + 3 * centre) // 4, -2, 2)
        return Counter(zip(counts.tolist(), sums.tolist(), strict=True))

    assert audited(draw, lambda _: sum(price, Fraction(0))) <= 0  # type: ignore[arg-type]
    if value == 4:
        with pytest.MonkeyPatch.context() as patch:
            halve_noise(patch)
            assert audited(draw, lambda _: sum(price, Fraction(0))) > 0  # type: ignore[arg-type]


def test_centred_sums_weigh_half_as_much() -> None:
    """At T = 80 of 100 and an even split, sum - 80 count scatters 4.8 times less when both are above 50."""
    price = Price(Fraction(1, 20), Fraction(1, 20))
    field = alike(0, 0, 2, high=100)
    plain, centred = (look(field, price, centre, seeded(1)) for centre in (0, 50))
    spread = plain.sum_variances[0] + 80**2 * plain.count_variances[0]
    assert spread / (centred.sum_variances[0] + 30**2 * centred.count_variances[0]) == pytest.approx(4.82, abs=0.01)


def test_two_looks_are_averaged_by_inverse_variance() -> None:
    """Variances 25 and 1.5625, of a fifth and four fifths of a price, make 1.47; the plain mean has 6.64."""
    one, four = (np.array([each]) for each in (25.0, 1.5625))
    first, second = Measured(one * 0 + 10, one * 0 + 100, one, one), Measured(one * 0, one * 0 + 80, four, four)
    both = first.joined(second)
    assert both.count_variances[0] == pytest.approx(1.4706, abs=1e-4)
    assert both.counts[0] == pytest.approx(10 * 1.5625 / 26.5625)
    assert both.sums[0] == pytest.approx(80 + 20 * 1.5625 / 26.5625)


def test_a_price_too_small_for_the_sampler_is_refused() -> None:
    with pytest.raises(ParameterError, match="price of the sums"):
        look(alike(1, 1, 2), Price(Fraction(1), Fraction(1, 2**60)), 0, seeded(1))
