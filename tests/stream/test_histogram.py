"""Each comparison with a law has the false-alarm probability `laws.FALSE_ALARM`, 1e-9; this file makes under 10."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from louver.errors import LouverError
from louver.privacy import Pure
from louver.stream.histogram import Histogram
from tests.noise.laws import assert_follows, assert_rejects, laplace
from tests.stream.real_bits import seeded


@pytest.mark.parametrize(("neighbours", "rate"), [("replace", 0.5), ("presence", 1.0)])
def test_every_bin_has_the_noise_that_a_changed_value_pays_for(neighbours: str, rate: float) -> None:
    """A changed value may leave one bin and enter another: then each is counted at half of epsilon."""
    drawn = np.array([Histogram(1, [10, 20], 1, neighbours=neighbours).update(12) for _ in range(800)]) - [0, 1, 0]
    assert_follows(drawn.ravel(), laplace(rate))
    assert_rejects(drawn.ravel(), laplace(2 * rate))


def test_values_fall_into_the_bin_that_begins_at_or_below_them() -> None:
    stream = Histogram(300, [-3, 0, 10], 100)
    released = stream.run([-4, -3, -1, 0, 9, 9.4, 10, 10**9])
    assert released[-1].tolist() == [1, 2, 3, 2]


@pytest.mark.parametrize("odd", [None, math.nan, "much"])
def test_what_is_no_number_is_in_no_bin(odd: object) -> None:
    assert Histogram(300, [0], 100).update(odd).tolist() == [0, 0]


@pytest.mark.parametrize("odd", [math.inf, 10**30, -math.inf, -(10**30)])
def test_absurd_numbers_are_in_the_outer_bins(odd: float) -> None:
    assert Histogram(300, [0], 100).update(odd).tolist() == ([0, 1] if odd > 0 else [1, 0])


def test_a_histogram_restored_at_any_tick_goes_on_as_if_nothing_had_been() -> None:
    values = [3, None, 12, 40, 12, 5, 0, 22]
    whole = Histogram(1, [10, 20], 5, bits=seeded(7))
    expected = np.array([whole.update(value) for value in values])
    for stop in range(len(values)):
        bits = seeded(7)
        stream = Histogram(1, [10, 20], 5, bits=bits)
        before = [stream.update(value) for value in values[:stop]]
        restored = Histogram.from_dict(json.loads(json.dumps(stream.to_dict())), bits=bits)
        np.testing.assert_array_equal(before + [restored.update(value) for value in values[stop:]], expected)
        assert restored.ticks == len(values)


def test_the_price_is_pure() -> None:
    assert Histogram(Fraction(1, 3), [1], 10).price == Pure(Fraction(1, 3))


@pytest.mark.parametrize("edges", [[], None, 5, "12", [1, 1], [2, 1], [1.5], [None], [2**60]])
def test_edges_that_do_not_rise_are_refused(edges: Any) -> None:
    with pytest.raises(LouverError, match=r"\.$"):
        Histogram(1, edges, 10)


@pytest.mark.parametrize("batch", [5, None, [[1, 2]], np.zeros((2, 2))])
def test_batches_of_another_shape_are_refused(batch: Any) -> None:
    with pytest.raises(LouverError, match=r"\.$"):
        Histogram(1, [1], 10).run(batch)


def test_rows_of_different_lengths_are_refused_in_one_sentence() -> None:
    with pytest.raises(LouverError, match=r"^A batch must be .*\.$"):
        Histogram(1, [0], 10).run([[1, 2], [3]])
    with pytest.raises(LouverError, match=r"^A tick must be .*\.$"):
        Histogram(1, [0], 10, regions=2).update([1, 2, 3])


def test_a_missing_tick_is_in_no_bin_of_any_region() -> None:
    assert Histogram(300, [0], 100, regions=2).update(None).tolist() == [0, 0, 0, 0]


def test_an_empty_batch_releases_nothing() -> None:
    assert Histogram(1, [0], 10, regions=2).run(np.empty((0, 2))).shape == (0, 4)


def test_masked_values_are_in_no_bin() -> None:
    masked = np.ma.array([5, 5, -5], mask=[False, True, True])
    assert Histogram(300, [0], 100).run(masked)[-1].tolist() == [0, 1]


@pytest.mark.parametrize(("name", "forged"), [("epsilon", "1000"), ("horizon", 5), ("regions", 3)])
def test_a_state_whose_counts_are_another_stream_is_refused(name: str, forged: object) -> None:
    stream = Histogram(1, [0], 10)
    plain = stream.to_dict()
    plain["state"]["counts"]["parameters"][name] = forged
    with pytest.raises(LouverError, match="damaged"):
        Histogram.from_dict(plain)


def test_a_state_whose_counts_are_of_another_tick_is_refused() -> None:
    stream = Histogram(1, [0], 10)
    before = stream.to_dict()
    stream.update(1)
    with pytest.raises(LouverError, match="damaged"):
        Histogram.from_dict({**stream.to_dict(), "state": before["state"]})
