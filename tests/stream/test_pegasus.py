"""PeGaSus: its grouping against the exact law, the privacy of that law, its smoothers, and the published figures."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from louver.errors import ParameterError
from louver.stream import pegasus
from louver.stream.pegasus import GRID, Group, Pegasus
from louver.stream.smoothed import Ticks
from tests.decide.auditor import audited
from tests.noise.laws import assert_follows, assert_rejects, laplace, p_value
from tests.stream.smoothing import halve_noise, seeded

Pattern = tuple[int, ...]
"""The size of each tick's group so far."""


def deviation(counts: list[int]) -> int:
    """floor(GRID * sum |c - mean|), by its definition."""
    mean = Fraction(sum(counts), len(counts))
    return math.floor(GRID * sum(abs(count - mean) for count in counts))


def grouping(counts: list[int], stream: Pegasus, noise: float = 1.0) -> dict[Pattern, float]:
    """The exact probability of each way to group: a sum over the threshold's noise, run by run."""
    tests, thresholds = float(stream.test_rate) / noise, float(stream.threshold_rate) / noise
    far = math.ceil(45 / thresholds) + stream.base + max(deviation(counts[:end]) for end in range(1, len(counts) + 1))
    drawn = np.arange(-far, far + 1)
    weights = math.tanh(thresholds / 2) * np.exp(-thresholds * np.abs(drawn))

    def joining(group: list[int]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        """P(deviation + noise < base + threshold) for each threshold."""
        edge = stream.base + drawn - deviation(group)
        below = np.exp(-tests * np.abs(np.where(edge > 0, edge, 1 - edge))) / (1 + math.exp(-tests))
        return np.asarray(np.where(edge > 0, 1 - below, below))

    def runs(at: int) -> dict[Pattern, float]:
        """The patterns from a tick on that opens a group."""
        if at == len(counts):
            return {(): 1.0}
        found: dict[Pattern, float] = {}
        alive = weights
        for end in range(at + 1, len(counts) + 1):
            sizes = tuple(range(1, end - at + 1))
            if end == len(counts):
                found[sizes] = float(alive.sum())
                break
            joined = joining(counts[at : end + 1])
            for rest, chance in runs(end + 1).items():
                found[(*sizes, 1, *rest)] = float((alive * (1 - joined)).sum()) * chance
            alive = alive * joined
        return found

    return runs(0)


def worst_losses(stream: Pegasus, noise: float, change: int) -> tuple[float, float]:
    """The largest log-ratio over neighbours among streams of four small counts: of any grouping, and of one group."""
    anyhow = together = 0.0
    for counts in itertools.product((0, 2, 6), repeat=4):
        near = grouping(list(counts), stream, noise)
        for tick in range(4):
            neighbour = list(counts)
            neighbour[tick] += change
            far = grouping(neighbour, stream, noise)
            losses = {pattern: abs(math.log(near[pattern] / far[pattern])) for pattern in near}
            anyhow, together = max(anyhow, *losses.values()), max(together, losses[1, 2, 3, 4])
    return anyhow, together


@pytest.mark.parametrize("split", ["published", "optimal"])
@pytest.mark.parametrize("sensitivity", [1, 3])
def test_grouping_costs_its_share_at_most_and_an_open_group_its_threshold_and_less_noise_costs_more(
    split: str, sensitivity: int
) -> None:
    """By exact probabilities: no chance is involved."""
    stream = Pegasus(20, split=split, sensitivity=sensitivity, patience=1)
    paid = float(stream.epsilon * stream.grouping_share)
    paid_for_threshold = float(stream.threshold_rate * 2 * sensitivity * GRID)
    anyhow, together = worst_losses(stream, 1, sensitivity)
    assert anyhow <= paid + 1e-9
    assert together <= paid_for_threshold + 1e-9
    assert worst_losses(stream, 0.5, sensitivity)[1] > paid_for_threshold
    assert worst_losses(stream, 0.25, sensitivity)[0] > paid


@pytest.mark.parametrize("counts", [[5, 5, 9, 5, 5], [0, 7, 0, 20, 20]])
def test_groups_follow_the_exact_law(counts: list[int]) -> None:
    stream = Pegasus(10, 50_000, patience=3, bits=seeded(1))
    stream.run(np.tile(np.array(counts)[:, None], (1, 50_000)))
    law = grouping(counts, stream)
    assert math.isclose(sum(law.values()), 1, abs_tol=1e-9)
    assert_follows(stream.trace.lengths.T, lambda sizes: law[sizes])
    wrong = grouping(counts, stream, 0.9)
    assert p_value(stream.trace.lengths.T, lambda sizes: wrong[sizes]) < 1e-9


def test_the_perturber_adds_discrete_laplace_noise_that_does_not_depend_on_the_groups() -> None:
    stream = Pegasus(2, 20_000, bits=seeded(2))
    counts = np.tile([[5], [6], [90], [5]], (1, 20_000))
    stream.run(counts)
    noise = stream.trace.noisy - counts
    for tick in range(4):
        assert_follows(noise[tick], laplace(1.6))
    assert_rejects(noise.ravel(), laplace(1.1 * 1.6))
    for size in (1, 2):
        assert_follows(noise[1][stream.trace.lengths[1] == size], laplace(1.6))


def test_an_audit_of_neighbouring_streams_finds_no_more_than_the_price_and_does_at_half_the_noise() -> None:
    """What comes out and how it is grouped, together. False alarm: 1e-6."""

    seeds = itertools.count()

    def draw(neighbour: bool) -> Counter[object]:
        stream = Pegasus(2, 40_000, grouping_share=Fraction(1, 2), patience=1, bits=seeded(next(seeds)))
        stream.run(np.tile([[3], [4 + neighbour], [3]], (1, 40_000)))
        seen = np.clip(stream.trace.noisy[1] - 4, -2, 3)
        return Counter(zip(seen.tolist(), map(tuple, stream.trace.lengths.T.tolist()), strict=True))

    assert audited(draw, lambda _: Fraction(2)) <= 0  # type: ignore[arg-type]
    with pytest.MonkeyPatch.context() as patch:
        halve_noise(patch)
        assert audited(draw, lambda _: Fraction(2)) > 0  # type: ignore[arg-type]


@given(st.lists(st.integers(0, 50), min_size=1, max_size=12))
def test_the_deviation_is_exact(counts: list[int]) -> None:
    group = Group("median", 10**9, 100)
    nothing = [0] * len(counts)
    group.advance(counts, counts, nothing, nothing, Ticks.none())
    assert pegasus.deviation(group._counts, group._total) == deviation(counts)


@given(st.lists(st.integers(0, 50), min_size=2, max_size=12), st.data())
def test_one_count_moves_the_deviation_by_at_most_its_stated_sensitivity(
    counts: list[int], data: st.DataObject
) -> None:
    change = data.draw(st.integers(1, 7))
    tick = data.draw(st.integers(0, len(counts) - 1))
    neighbour = [*counts]
    neighbour[tick] += change
    assert abs(deviation(counts) - deviation(neighbour)) <= 2 * GRID * change


def test_a_tick_that_does_not_join_is_a_closed_group_of_its_own() -> None:
    stream = Pegasus(100, patience=200)  # otherwise in 3e-11 of runs, by the exact law
    stream.run([5, 5, 90, 90, 90, 90])
    assert stream.trace.lengths.ravel().tolist() == [1, 2, 1, 1, 2, 3]


def test_a_group_closes_at_the_longest_size() -> None:
    stream = Pegasus(100, patience=200, longest=3)
    stream.run([5] * 8)
    assert stream.trace.lengths.ravel().tolist() == [1, 2, 3, 1, 2, 3, 1, 2]


def test_the_next_threshold_starts_from_the_base_again() -> None:
    """Were noise added to the threshold before, it would walk away: 20,000 groups would differ in size over time."""
    stream = Pegasus(1, 200, bits=seeded(3))
    stream.run(np.full((1500, 200), 50))
    opened = (stream.trace.lengths == 1).mean(axis=1)
    assert abs(opened[300:700].mean() - opened[1100:].mean()) < 0.02


@pytest.mark.parametrize(
    ("smoother", "value"), [("average", 4.0), ("median", 3.0), ("james-stein", 4.0 + (2 - 4.0) / 4)]
)
def test_smoothers_are_what_they_are_called(smoother: str, value: float) -> None:
    group = Group(smoother, 10**9, 100)
    values, _, lengths, _ = group.advance([0] * 4, [9, 4, 1, 2], [0] * 4, [0] * 4, Ticks.none())
    assert values[-1] == value
    assert lengths == [1, 2, 3, 4]


def test_a_constant_stream_has_as_many_groups_as_in_the_published_setting() -> None:
    """About 340 per 1000 ticks; 400 streams tell the mean to 0.5."""
    stream = Pegasus(Fraction(1, 10), 400, bits=seeded(5))
    released = stream.run(np.full((1000, 400), 50))
    assert 330 < (stream.trace.lengths == 1).sum() / 400 < 350
    assert abs(np.abs(released - 50).mean() / 7.8 - 1) < 0.05


@pytest.mark.parametrize("sensitivity", [1, 3])
@pytest.mark.parametrize(("split", "first"), [("published", 0.5), ("optimal", 1 / (1 + 2 ** (2 / 3)))])
def test_the_noises_have_the_scales_that_the_proof_needs(split: str, first: float, sensitivity: int) -> None:
    stream = Pegasus(2, split=split, sensitivity=sensitivity)
    for_threshold = stream.threshold_rate * 2 * sensitivity * GRID
    for_tests = stream.test_rate * 4 * sensitivity * GRID
    assert for_threshold + for_tests + stream.rate * sensitivity == 2
    assert for_threshold + for_tests == Fraction(2, 5)
    assert abs(float(for_threshold) / 0.4 - first) < 1e-5


@pytest.mark.parametrize("named", [{"smoother": "mean"}, {"split": "even"}, {"longest": 0}, {"grouping_share": 1}])
def test_a_setting_that_is_none_is_refused(named: dict[str, object]) -> None:
    with pytest.raises(ParameterError, match=r"\.$"):
        Pegasus(1, **named)  # type: ignore[arg-type]
