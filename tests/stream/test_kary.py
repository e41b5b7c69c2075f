"""Trees: the law of their noise, their privacy, their errors.

Comparisons with a law fail by chance with probability 1e-9 (`laws.FALSE_ALARM`); audits allow 6.5 deviations, 1e-10.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from louver.errors import ParameterError
from louver.noise import Bits, discrete_laplace
from louver.stream import nodes
from louver.stream.digits import Digits
from louver.stream.kary import KAry, best_shape, shape
from louver.stream.tree import Tree
from tests.noise import laws
from tests.noise.laws import assert_follows, assert_rejects
from tests.stream.counting import signed

DRAWS = 200_000


def zeros(ticks: int, regions: int = DRAWS) -> NDArray[np.int64]:
    return np.zeros((ticks, regions), dtype=np.int64)


def first_errors(stream: KAry | Tree, ticks: int, batched: bool) -> NDArray[Any]:
    return stream.run(zeros(ticks)) if batched else np.array([stream.update(row) for row in zeros(ticks)])


def several(rate: float, count: int) -> laws.Law:
    """The law of a sum of discrete Laplace draws, by convolution far into its tails."""
    reach = math.ceil(60 / rate)
    one = np.array([laws.laplace(rate)(value) for value in range(-reach, reach + 1)])
    whole = np.ones(1)
    for _ in range(count):
        whole = np.convolve(whole, one)
    centre = len(whole) // 2
    return lambda value: float(whole[centre + value]) if abs(value) <= centre else 0.0


@pytest.mark.parametrize("batched", [True, False])
def test_a_plain_prefix_has_exactly_the_noise_of_its_digits(batched: bool) -> None:
    stream = KAry(26, epsilon=3, arity=3, regions=DRAWS)  # three levels: rate 1 on each node
    errors = first_errors(stream, 8, batched)
    for tick, nodes_used in ((1, 1), (2, 2), (3, 1), (8, 4)):
        assert_follows(errors[tick - 1], several(1, nodes_used))
        assert_rejects(errors[tick - 1], several(1.1, nodes_used))


@pytest.mark.parametrize("batched", [True, False])
def test_a_signed_prefix_has_exactly_the_noise_of_its_balanced_digits(batched: bool) -> None:
    stream = signed(13, epsilon=3, arity=3, regions=DRAWS)  # (27 - 1) / 2 = 13: three levels
    errors = first_errors(stream, 6, batched)
    for tick, nodes_used in ((1, 1), (2, 2), (3, 1), (4, 2), (5, 3), (6, 2)):
        assert_follows(errors[tick - 1], several(1, nodes_used))
        assert_rejects(errors[tick - 1], several(0.9, nodes_used))


@pytest.mark.parametrize("batched", [True, False])
def test_prefixes_share_the_noise_of_the_nodes_they_share(batched: bool) -> None:
    """2 = 3 - 1, 3 and 4 = 3 + 1 share the node of three ticks: what differs are single leaves, and not the same."""
    stream = signed(13, epsilon=3, arity=3, regions=DRAWS)
    errors = first_errors(stream, 4, batched)
    below, above = errors[2] - errors[1], errors[3] - errors[2]
    for leaf in (errors[0], below, above):
        assert_follows(leaf, several(1, 1))
    assert_follows(
        np.stack((below, above), axis=1)[:50_000], lambda pair: several(1, 1)(pair[0]) * several(1, 1)(pair[1])
    )


def test_a_tree_averages_a_node_with_its_children() -> None:
    """The error at tick 2 is (2 own + left + right) / 3: in thirds it is whole, and its law a convolution."""
    stream = Tree(3, epsilon=2, regions=DRAWS)  # two levels: rate 1 on each node
    errors = stream.run(zeros(2))
    thirds = np.rint(3 * errors[1]).astype(np.int64)
    assert np.abs(thirds - 3 * errors[1]).max() < 1e-9
    doubled = np.zeros(241)
    doubled[::2] = [laws.laplace(1)(value) for value in range(-60, 61)]
    one = [laws.laplace(1)(value) for value in range(-60, 61)]
    whole = np.convolve(doubled, np.convolve(one, one))
    assert_follows(thirds, lambda value: float(whole[len(whole) // 2 + value]))


# An outcome that the nodes of tick 1 make likely: all of them high. With one more person at tick 1 it is exp(epsilon)
# times as likely where outcomes show the nodes one by one, and never more.
AUDITED: dict[str, tuple[Callable[[int], KAry | Tree], list[int], float]] = {
    "plain": (lambda regions: KAry(3, epsilon=2, arity=2, regions=regions), [0, 1], 0.97),
    "signed": (lambda regions: signed(4, epsilon=2, arity=3, regions=regions), [0, 2], 0.97),
    "tree": (lambda regions: Tree(3, epsilon=2, regions=regions), [0, 1], 0.6),
}


def measured_loss(name: str) -> tuple[float, float]:
    """The logarithm of how much likelier that outcome is made, and the deviation of that measurement."""
    make, shown, _ = AUDITED[name]
    chances = []
    for people in (0, 1):
        values = zeros(4)
        values[0] += people
        chances.append((make(DRAWS).run(values)[shown] > 0.5).all(axis=0).mean())
    return math.log(chances[1] / chances[0]), math.sqrt(sum((1 - p) / (p * DRAWS) for p in chances))


@pytest.mark.parametrize("name", sorted(AUDITED))
def test_one_person_at_one_tick_makes_no_outcome_more_likely_than_the_price_says(name: str) -> None:
    loss, deviation = measured_loss(name)
    assert loss < 2 + 6.5 * deviation
    assert loss > 2 * AUDITED[name][2] - 6.5 * deviation


@pytest.mark.parametrize("name", sorted(AUDITED))
def test_the_audit_fails_when_the_noise_is_halved(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def half(rate: Fraction, count: int, *, bits: Bits) -> NDArray[np.int64]:
        return discrete_laplace(2 * rate, count, bits=bits)

    monkeypatch.setattr(nodes, "discrete_laplace", half)
    loss, deviation = measured_loss(name)
    assert loss > 2 + 6.5 * deviation


def test_a_tick_lies_in_one_node_of_each_level_and_no_more() -> None:
    """The noise of a unit's nodes is calibrated to the number of levels: here it is counted, by tracing the nodes."""
    for tree in (shape(2, 13, False), shape(5, 60, False), shape(3, 13, True), shape(5, 62, True)):
        offsets = [tree.offset(level) for level in range(len(tree.weights))]
        used = set()
        for tick in range(1, 14):
            position = 0
            for level in reversed(range(len(tree.weights))):
                end = (tick + offsets[level]) // tree.arity**level * tree.arity**level
                width = tree.arity**level
                used |= {(level, start) for start in range(min(position, end), max(position, end), width)}
                position = end
            assert position == tick
        for tick in range(13):
            levels = [level for level, start in used if start <= tick < start + tree.arity**level]
            assert len(levels) == len(set(levels)) <= len(tree.weights)


def test_a_signed_tree_must_be_told_that_the_stream_does_not_react() -> None:
    with pytest.raises(ParameterError, match="do not react to what is released"):
        KAry(100, epsilon=1, signed=True)
    with pytest.raises(ParameterError, match="must be odd"):
        signed(100, epsilon=1, arity=4)


def test_no_arity_is_better_than_the_one_that_is_chosen() -> None:
    for balanced in (False, True):
        best = KAry(5000, epsilon=1, signed=balanced, adaptive=False).rms_error()
        for arity in range(3, 41, 2):
            assert KAry(5000, epsilon=1, arity=arity, signed=balanced, adaptive=False).rms_error() >= best
    assert best_shape(10**5, False, True).arity == 18
    assert best_shape(10**5, True, True).arity == 23


# From the literature and from prototypes with continuous noise: root mean square, and the largest of any tick.
TABLE = [
    (KAry(10**5, epsilon=1, arity=2), 68.6),
    (KAry(10**6, epsilon=1, arity=2), 88.9),
    (Tree(10**5, epsilon=1), 50.9),
    (Tree(10**6, epsilon=1), 65.4),
    (KAry(10**5, epsilon=1, arity=16), 38.1),
    (KAry(10**6, epsilon=1, arity=16), 43.0),
    (signed(10**5, epsilon=1, arity=25), 26.4),
    (signed(10**6, epsilon=1, arity=19), 33.8),
    (KAry(10**5, rho=0.5, arity=2), 11.77),
    (KAry(10**6, rho=0.5, arity=2), 14.06),
    (Tree(10**5, rho=0.5), 8.72),
    (Tree(10**6, rho=0.5), 10.34),
]


@pytest.mark.parametrize(("stream", "expected"), TABLE)
def test_errors_over_long_streams_are_those_of_the_literature(stream: KAry | Tree, expected: float) -> None:
    assert stream.rms_error() == pytest.approx(expected, rel=0.01)


def test_the_largest_error_of_the_binary_tree_is_that_of_the_literature() -> None:
    assert KAry(10**5, rho=0.5, arity=2).largest_error() == pytest.approx(16.49, abs=0.005)
    assert KAry(10**6, rho=0.5, arity=2).largest_error() == pytest.approx(19.49, abs=0.005)


@pytest.mark.parametrize(("arity", "centre"), [(2, 0), (3, 0), (10, 0), (3, 1), (5, 2), (7, 3)])
def test_sums_and_maxima_over_digits_are_those_of_counting_one_by_one(arity: int, centre: int) -> None:
    weights = [[(3 * level + column) % 5 + column for column in range(arity)] for level in range(4)]
    digits = Digits(arity, centre, weights)
    for ticks in (1, 2, 3, 8, 13, 39, 40):
        if ticks <= (arity**4 - 1) // (2 if centre else 1):
            each = [digits.at(tick) for tick in range(1, ticks + 1)]
            assert digits.total(ticks) == sum(each)
            assert digits.largest(ticks) == max(each)
    assert all(
        sum((column - centre) * arity**level for level, column in enumerate(digits.columns(tick))) == tick
        for tick in range(1, 40)
        if tick <= (arity**4 - 1) // (2 if centre else 1)
    )


@pytest.mark.parametrize("make", [KAry, Tree])
def test_sums_that_do_not_fit_64_bits_are_refused(make: type[KAry] | type[Tree]) -> None:
    with pytest.raises(ParameterError, match="64 bits"):
        make(10_000, epsilon=1, high=2**52)
    with pytest.raises(ParameterError, match="64 bits"):
        make(2**20, epsilon=1, low=-(2**42), high=0)
    assert make(2**9, epsilon=10**6, high=2**52).run(np.full(2**9, 2**52))[-1] == pytest.approx(2.0**61)


@pytest.mark.parametrize("make", [KAry, Tree])
def test_a_stream_past_its_horizon_stops_before_its_sum_is_too_large(make: type[KAry] | type[Tree]) -> None:
    stream = make(2**9, epsilon=1, high=2**52)
    stream.run(np.full(2**9, 2**52))
    with pytest.raises(ParameterError, match="64 bits"):
        stream.update(2**52)
