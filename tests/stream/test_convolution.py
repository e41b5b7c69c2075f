from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from louver.stream import convolution
from louver.stream.convolution import Series, inverse


@settings(max_examples=40)
@given(
    length=st.integers(1, 200),
    rows=st.integers(1, 200),
    bits=st.integers(0, 34),
    seed=st.integers(0, 2**32),
)
def test_products_of_whole_numbers_are_exact(length: int, rows: int, bits: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    series = random.integers(0, 2**14 + 1, length)
    columns = random.integers(-(2**bits), 2**bits + 1, (rows, 2))
    columns[random.random((rows, 2)) < 0.3] = 2**bits
    found = Series(series).times_exactly(columns, 2**bits)
    expected = [
        [sum(int(series[k]) * int(columns[row - k, side]) for k in range(min(row + 1, length))) for side in (0, 1)]
        for row in range(rows)
    ]
    assert found.tolist() == expected


def test_products_of_many_parts_are_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(convolution, "LONGEST_PART", 16)
    random = np.random.default_rng(1)
    series, columns = random.integers(0, 2**14, 300), random.integers(0, 2**20, (300, 3))
    for rows in (1, 15, 16, 17, 160, 300):
        found = Series(series).times_exactly(columns[:rows], 2**20)
        for side in range(3):
            assert np.array_equal(found[:, side], np.convolve(series, columns[:rows, side])[:rows])


@pytest.mark.parametrize("fill", ["largest", "signs", "random"])
def test_before_rounding_the_error_is_far_below_what_is_allowed(fill: str) -> None:
    """A quarter is allowed, and it is under a fiftieth of that: on the longest numbers that one limb takes."""
    length = 2**19
    after = np.arange(1, length)
    series = Series(
        np.rint(np.cumprod(np.concatenate(([1.0], (2 * after - 1) / (2 * after)))) * 2**14).astype(np.int64)
    )
    largest = 2 ** series.limb_bits(length)
    random = np.random.default_rng(2)
    numbers = {
        "largest": np.full(length, largest - 1),
        "signs": np.where(np.arange(length) % 2, largest - 1, 1 - largest),
        "random": random.integers(0, largest, length),
    }[fill]
    floats = series.times(numbers[:, None])[:, 0]
    assert np.abs(floats - np.rint(floats)).max() < 0.25 / 50
    for row in (0, 1, 2**17 - 1, 2**17, length - 1):
        assert np.rint(floats[row]) == (series.terms[: row + 1][::-1] * numbers[: row + 1]).sum()


def test_an_inverse_times_its_series_is_one() -> None:
    series = 1 / np.sqrt(np.arange(1, 1000.0))
    one = np.convolve(inverse(series), series)[:999]
    assert np.abs(one - np.eye(1, 999)[0]).max() < 1e-12
