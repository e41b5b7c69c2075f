"""Time is what a clock says that the tests turn, but for one test of real runs, which is wrong once in a million."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import mannwhitneyu

from louver.attack.timing import LEVEL, compared, pairs_law, timed
from louver.errors import LouverError
from louver.noise import Bits, discrete_gaussian, discrete_laplace, levels
from louver.stream.laplace import Laplace
from tests.attack.broken import seeded


class Turned:
    """A clock that goes on by as many bytes of randomness as were read since."""

    def __init__(self, seed: int) -> None:
        self.now = 0
        source = seeded(seed)

        def read(size: int) -> bytes:
            self.now += size
            return source.integer(8 * size).to_bytes(size, "little")

        self.bits = Bits._from(read)

    def __call__(self) -> int:
        return self.now


def until_not_negative(count: int, bits: Bits) -> int:
    """Draws again until the answer looks like a count, and so takes longer the fewer people there are."""
    while True:
        noisy = count + int(discrete_laplace(Fraction(1, 4), 1, bits=bits)[0])
        if noisy >= 0:
            return noisy


@pytest.mark.parametrize("sizes", [(2, 2), (3, 5), (6, 4)])
def test_the_law_of_pairs_counts_all_permutations(sizes: tuple[int, int]) -> None:
    first, second = sizes
    counted = np.zeros(first * second + 1)
    for chosen in itertools.combinations(range(first + second), second):
        counted[sum(chosen) - second * (second - 1) // 2] += 1
    np.testing.assert_allclose(pairs_law(first, second), counted / counted.sum())


def test_p_values_are_those_of_the_exact_test_of_mann_and_whitney() -> None:
    dice = np.random.default_rng(1)
    for shift in (0, 30, 300):
        first, second = dice.permutation(10_000)[:30], dice.permutation(10_000)[:30] + shift * 10
        second = np.where(np.isin(second, first), second + 20_001, second)
        exact = mannwhitneyu(second, first, method="exact").pvalue
        assert compared(first, second, seed=1).p_value == pytest.approx(exact)


def test_a_sampler_that_draws_again_until_the_answer_fits_is_caught() -> None:
    clock = Turned(1)
    found = timed(
        lambda: until_not_negative(0, clock.bits), lambda: until_not_negative(40, clock.bits), seed=1, clock=clock
    )
    assert found.leaks
    assert found.later < 0.5
    assert "depends on the secret" in str(found)


def test_the_samplers_read_as_many_bits_whatever_they_hide() -> None:
    """False alarm: 1e-6 each, and the bits are seeded."""
    for number, draw in enumerate(
        (discrete_laplace, discrete_gaussian, lambda rate, size, bits: levels([rate, 9], size, bits=bits))
    ):
        clock = Turned(number)

        def answer(count: int, clock: Turned = clock, draw: object = draw) -> object:
            return count + draw(Fraction(1, 4), 3, bits=clock.bits)  # type: ignore[operator]

        assert not timed(lambda: answer(0), lambda: answer(40), seed=number, clock=clock).leaks


def test_times_of_real_runs_tell_a_leaky_sampler_from_one_of_louver() -> None:
    """Real time: the leaky one takes a hundred times as long for the other count. False alarm: 1e-6."""

    def leaky(count: int) -> int:
        return sum(int(discrete_laplace(1, 1)[0]) * 0 + 1 for _ in range(1 + count))

    assert timed(lambda: leaky(0), lambda: leaky(100), seed=2, answers=40).leaks
    streams = Laplace(1), Laplace(1)
    neighbours = [lambda: streams[0].update(40), lambda: streams[1].update(41)]
    assert not timed(*neighbours, seed=3, answers=100).leaks


def test_equal_times_are_no_evidence() -> None:
    same = np.full(50, 7)
    assert compared(same, same, seed=1).p_value > LEVEL


@pytest.mark.parametrize("answers", [1, 10**6, 2.5])
def test_too_few_and_too_many_answers_are_refused(answers: int) -> None:
    with pytest.raises(LouverError, match=r"\.$"):
        timed(lambda: 0, lambda: 0, seed=1, answers=answers)
