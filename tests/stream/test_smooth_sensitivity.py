from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from louver.errors import LouverError
from louver.stream.smooth_sensitivity import Spread, rung, smooth_sensitivity
from tests.stream.picked import replaced


def local_sensitivity(values: tuple[int, ...], k: int, high: int) -> int:
    """The most that the k-th value moves when one value changes, by trying every change."""
    changed = [
        sorted((*values[:place], new, *values[place + 1 :]))[k - 1]
        for place in range(len(values))
        for new in range(high + 1)
    ]
    return max(abs(each - sorted(values)[k - 1]) for each in changed)


def distance(first: tuple[int, ...], second: tuple[int, ...]) -> int:
    """How many values must change to make one sorted data set the other."""
    common = sum(min(first.count(value), second.count(value)) for value in set(first))
    return len(first) - common


@pytest.mark.parametrize(
    ("k", "falloff", "known"), [(995, 0.05, 782.69479), (500, 0.05, 7.73482), (995, 0.2, 369.71884)]
)
def test_a_thousand_even_values_have_the_known_sensitivities(k: int, falloff: float, known: float) -> None:
    assert smooth_sensitivity(np.arange(1, 1001), k, 2000, falloff) == pytest.approx(known, abs=5e-6)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=4), st.data())
def test_it_is_the_definition_over_all_data_sets(values: list[int], data: st.DataObject) -> None:
    k = data.draw(st.integers(1, len(values)))
    falloff = data.draw(st.floats(0.01, 2))
    ordered = tuple(sorted(values))
    every = itertools.combinations_with_replacement(range(4), len(values))
    by_hand = max(math.exp(-falloff * distance(ordered, each)) * local_sensitivity(each, k, 3) for each in every)
    assert smooth_sensitivity(np.array(ordered), k, 3, falloff) == pytest.approx(by_hand, rel=1e-12)


@given(st.lists(st.integers(0, 50), min_size=1, max_size=60), st.data())
def test_skipping_ranges_skips_no_maximum(values: list[int], data: st.DataObject) -> None:
    k = data.draw(st.integers(1, len(values)))
    falloff = data.draw(st.floats(0.001, 1))
    spread = Spread(np.sort(np.array(values)), k, 50)
    every = max(math.exp(-falloff * j) * spread.at(j) for j in range(len(values) + 1))
    assert spread.largest(lambda gap, j: gap * math.exp(-falloff * j)) == every


def test_few_of_many_ranges_are_looked_into(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[int] = []
    at = Spread.at

    def counted(self: Spread, changed: int) -> int:
        looked.append(changed)
        return at(self, changed)

    monkeypatch.setattr(Spread, "at", counted)
    values = np.sort(np.random.default_rng(1).exponential(2000, 50_000).astype(np.int64))
    smooth_sensitivity(values, 49_750, 144_000, 0.0157)
    assert len(looked) < 300


@pytest.mark.parametrize("ladder", [[1, 2, 3], [1, 1, 2, 2, 3], [2, 3], [1, 1, 1, 3]])
@pytest.mark.parametrize("size", [1, 3, 4])
def test_neighbours_are_at_most_one_rung_apart_and_each_rung_covers_its_spread(ladder: list[int], size: int) -> None:
    rungs = np.array(ladder)
    for first, second in replaced(size, 3):
        for k in range(1, size + 1):
            spreads = [Spread(np.array(each), k, 3) for each in (first, second)]
            at = [rung(each, rungs) for each in spreads]
            assert abs(at[0] - at[1]) <= 1
            for each, place in zip(spreads, at, strict=True):
                assert each.at(0) <= rungs[place]
            assert abs(spreads[0].value - spreads[1].value) <= min(each.at(0) for each in spreads)


def test_a_spread_does_not_show_its_values() -> None:
    assert repr(Spread(np.array([12345]), 1, 99999)) == "Spread(1 private values)"


@pytest.mark.parametrize("k", [0, 4, -1, 1.0])
def test_a_rank_that_is_none_is_refused(k: object) -> None:
    with pytest.raises(LouverError):
        Spread(np.array([1, 2, 3]), k, 5)  # type: ignore[arg-type]
