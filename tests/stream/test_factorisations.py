"""Toeplitz and buffered sums: what one unit moves, their privacy, their errors.

What one unit moves is checked without noise, on streams that try to make rounding differ: that cannot fail by chance.
The audit measures a distance of 4 with a deviation of 0.007, and allows 0.05: under 1e-9.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from louver.errors import ParameterError
from louver.stream import buffered, toeplitz
from louver.stream.buffered import BLOCK, Buffered
from louver.stream.buffers import buffers_for
from louver.stream.toeplitz import Toeplitz
from tests.stream.counting import REGIONS, assert_spread, without_noise

BOTH = pytest.mark.parametrize("make", [Toeplitz, Buffered])
Make: TypeAlias = type[Toeplitz] | type[Buffered]


def noised(stream: Toeplitz | Buffered, values: NDArray[np.int64], batched: bool) -> NDArray[np.int64]:
    """The rows that noise is added to, all at once or tick by tick and block by block."""
    if batched:
        return stream._noised(values)
    parts = np.split(values, [1, 2, 3, 128, 129, 130, 255, 300])
    return np.concatenate([stream._noised(part) for part in parts if len(part)])


@pytest.fixture
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (toeplitz, buffered):
        monkeypatch.setattr(module, "discrete_gaussian", without_noise)


def moved(make: Make, values: NDArray[np.int64], tick: int, change: int, batched: bool, **arguments: Any) -> Fraction:
    """How far one changed tick moves the rows, as the rho that their noise then costs."""
    neighbours = values.copy()
    neighbours[tick] += change
    streams = [make(len(values), regions=values.shape[1], **arguments) for _ in range(2)]
    first, second = (noised(stream, each, batched) for stream, each in zip(streams, (values, neighbours), strict=True))
    squares = max((first - second).astype(object).T.tolist(), key=lambda column: sum(each**2 for each in column))
    return sum((Fraction(each) ** 2 for each in squares), Fraction(0)) / (2 * streams[0]._used.variance)


@BOTH
@pytest.mark.parametrize("batched", [True, False])
@pytest.mark.usefixtures("quiet")
@settings(max_examples=25)
@given(
    length=st.sampled_from([1, 2, 40, 300]),
    seed=st.integers(0, 2**32),
    sensitivity=st.sampled_from([1, 3, 1000, 2**20, 2**33]),
    rho=st.sampled_from([Fraction(1, 1000), Fraction(1, 2), Fraction(100)]),
    at=st.floats(0, 0.999),
)
@example(length=300, seed=0, sensitivity=2**33, rho=Fraction(1, 1000), at=0.0)
def test_no_unit_moves_the_rows_further_than_it_pays_for(
    make: Make, batched: bool, length: int, seed: int, sensitivity: int, rho: Fraction, at: float
) -> None:
    high = max(2**20, 2 * sensitivity)
    values = np.random.default_rng(seed).integers(0, high - sensitivity + 1, (length, 4))
    change = int(np.random.default_rng(seed).integers(1, sensitivity + 1)) if seed % 2 else sensitivity
    price = moved(make, values, int(at * length), change, batched, sensitivity=sensitivity, rho=rho, high=high)
    assert price <= rho


@pytest.mark.usefixtures("quiet")
def test_what_rounding_moves_is_paid_for_where_units_are_coarse(monkeypatch: pytest.MonkeyPatch) -> None:
    """A price so small that a person is some fifty units: rounding alone would make 0.3% more of it."""
    monkeypatch.setattr(Buffered, "longest", 300)
    rho = Fraction(1, 10**10)
    values = np.random.default_rng(5).integers(0, 1000, (300, 50))
    assert rho / 2 < moved(Buffered, values, 0, 1, True, rho=rho) <= rho


@BOTH
@pytest.mark.usefixtures("quiet")
def test_a_unit_at_the_first_tick_uses_nearly_all_that_it_pays(make: Make) -> None:
    values = np.full((500, 1), 1000)
    assert moved(make, values, 0, 1, True, rho=Fraction(1, 2)) > 0.999 * Fraction(1, 2)


@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize("batched", [True, False])
def test_rows_of_a_buffered_sum_are_the_exact_ones_rounded(batched: bool) -> None:
    """Within half a unit, and half a unit for the error: against the coefficients, added up in fractions."""
    length, high = 1000, 1000
    values = np.random.default_rng(1).integers(0, high + 1, (length, 1))
    stream = Buffered(length, rho=Fraction(1, 2), high=high)
    rows = noised(stream, values, batched)[:, 0].tolist()
    scale = Fraction(2) ** stream._used.scale_bits
    coefficients = [scale * Fraction(each) for each in buffers_for(length).coefficients(length).tolist()]
    for tick in (0, 1, BLOCK - 1, BLOCK, 3 * BLOCK + 5, length - 1):
        exact = sum(coefficients[tick - earlier] * int(values[earlier, 0]) for earlier in range(tick + 1))
        assert abs(rows[tick] - exact) < 1


@pytest.mark.parametrize("high", [1, 1000, 2**20, 2**34])
@pytest.mark.parametrize("regions", [1, 3])
def test_buffers_are_whole_sums_of_whole_ticks_to_the_last_digit(high: int, regions: int) -> None:
    """On the largest ticks, whose products come nearest to what floats hold exactly, and on others."""
    length = 20 * BLOCK
    values = np.random.default_rng(7).integers(0, high + 1, (length, regions))
    values[: length // 2] = high
    stream = Buffered(length, rho=Fraction(1, 2), high=high, regions=regions)
    for part in np.split(values, [5, BLOCK, 3 * BLOCK, 9 * BLOCK + 1]):
        stream.run(part)
    ratios = 1 - buffers_for(length).losses
    for buffer, ratio in enumerate(ratios.tolist()):
        weights = np.rint(np.ldexp(ratio ** np.arange(BLOCK)[::-1], stream._used.weight_bits)).astype(np.int64).tolist()
        decay = round(Fraction(ratio) ** BLOCK * 2**buffered.DECAY_BITS)
        for region in range(regions):
            kept = 0
            for block in values[:, region].reshape(-1, BLOCK).tolist():
                added = sum(weight * each for weight, each in zip(weights, block, strict=True))
                kept = (kept * decay >> buffered.DECAY_BITS) + added
            assert stream._buffers[region, buffer] == kept


@BOTH
def test_neighbouring_streams_are_as_far_apart_as_the_price_says_and_no_further(make: Make) -> None:
    """The best test of two Gaussian vectors is along their difference, where they are sqrt(2 rho) deviations apart."""
    assert distance(make) == pytest.approx(4, abs=0.05)


@BOTH
def test_the_audit_fails_when_the_noise_is_halved(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (toeplitz, buffered):
        exact: Callable[..., NDArray[np.int64]] = module.discrete_gaussian
        monkeypatch.setattr(
            module,
            "discrete_gaussian",
            lambda variance, count, *, bits, exact=exact: exact(variance / 4, count, bits=bits),
        )
    assert distance(make) > 4 + 0.05


def distance(make: Make) -> float:
    """Between what is released with and without one person at the first tick, along what that person changes in R x."""
    regions, ticks = 200_000, 12
    released = []
    for people in (0, 1):
        values = np.zeros((ticks, regions), dtype=np.int64)
        values[0] += people
        released.append(make(ticks, rho=8, regions=regions).run(values))
    stream = make(ticks, rho=8)
    coefficients = stream._used.whole.terms if isinstance(stream, Toeplitz) else buffers_for(ticks).coefficients(ticks)
    matrix = np.array(
        [[coefficients[row - column] if row >= column else 0 for column in range(ticks)] for row in range(ticks)]
    )
    # From released sums back to noisy rows: differences, then R.
    rows = [matrix @ np.diff(each, axis=0, prepend=0) for each in released]
    shown = [matrix[:, 0] @ each for each in rows]
    return float((shown[1].mean() - shown[0].mean()) / shown[0].std())


# Root mean square and largest error, in multiples of the noise of one number at the same price.
TABLE = [
    (Toeplitz(10**5, rho=0.5), 4.57, 4.73),
    (Toeplitz(10**6, rho=0.5), 5.30, 5.46),
    (Buffered(10**5, rho=0.5), 4.57, 4.73),
    (Buffered(10**6, rho=0.5), 5.30, 5.46),
]


@pytest.mark.parametrize(("stream", "rms", "largest"), TABLE)
def test_errors_over_long_streams_are_those_of_the_literature(
    stream: Toeplitz | Buffered, rms: float, largest: float
) -> None:
    assert stream.rms_error() == pytest.approx(rms, rel=0.01)
    assert stream.largest_error() == pytest.approx(largest, rel=0.01)


@BOTH
def test_a_large_sensitivity_scales_the_error_and_nothing_else(make: Make) -> None:
    fine = make(1000, rho=0.5, sensitivity=2**30, high=2**33)
    assert fine.rms_error() / 2**30 == pytest.approx(make(1000, rho=0.5).rms_error(), rel=0.01)
    values = np.random.default_rng(2).integers(0, 2**33, (1000, 2000))
    stream = make(1000, rho=0.5, sensitivity=2**30, high=2**33, regions=2000)
    assert_spread((stream.run(values) - values.cumsum(axis=0))[-1], fine.error_at(1000))


@BOTH
def test_errors_do_not_depend_on_the_values(make: Make) -> None:
    regions = REGIONS
    values = np.random.default_rng(3).integers(0, 2**20, (300, regions))
    stream = make(300, rho=1, regions=regions)
    errors = stream.run(values) - values.cumsum(axis=0)
    for tick in (1, 128, 129, 300):
        assert_spread(errors[tick - 1], stream.error_at(tick))


@BOTH
def test_values_beyond_what_the_arithmetic_carries_are_refused_before_the_first(make: Make) -> None:
    with pytest.raises(ParameterError, match=r"within 2\*\*34 of 0"):
        make(100, rho=1, high=2**35)


@pytest.mark.parametrize("ticks", [1, 10, 1000, 10**5])
def test_buffers_are_within_a_thousandth_of_the_square_root(ticks: int) -> None:
    after = np.arange(1, ticks)
    root = np.cumprod(np.concatenate(([1.0], (2 * after - 1) / (2 * after))))
    made = buffers_for(ticks)
    assert made.squares(ticks) * made.undone_squares(ticks) < 1.001**2 * float(root @ root) ** 2
    assert len(made.sizes) <= 5 + np.log(ticks) / 2


def test_sums_of_buffers_are_those_of_adding_up() -> None:
    made = buffers_for(10_000)
    coefficients = made.coefficients(10_000)
    assert made.squares(10_000) == pytest.approx(float(coefficients @ coefficients), rel=1e-12)
    assert made.total(10_000) == pytest.approx(float(coefficients.sum()), rel=1e-12)
    undone = np.array([made.undone_squares(tick) for tick in range(1, 10_001)])
    assert made.undone_squares_in_all(10_000) == pytest.approx(float(undone.sum()), rel=1e-9)


@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize(("length", "batched"), [(1000, False), (1000, True), (30_000, True)])
def test_a_buffered_sum_of_large_values_is_off_by_its_noise_and_no_more(length: int, batched: bool) -> None:
    """Weights of few bits are undone as they were rounded: without noise, a twentieth of that or less is left."""
    high = 2**34
    stream = Buffered(length, rho=Fraction(1, 2), high=high)
    values = np.full(length, high)
    released = stream.run(values) if batched else np.array([stream.update(high) for _ in range(length)])
    off = released - np.cumsum(values)
    assert np.sqrt((off**2).mean()) < 0.05 * stream.rms_error()
