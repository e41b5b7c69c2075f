"""What may be known about margins: the private look moves one number by one, and costs its rate."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from louver.decide import spread
from louver.decide.choose import estimate
from louver.decide.objectives import MEAN
from louver.decide.spread import Margins, edges, guessed, private_margins
from louver.errors import ParameterError
from louver.noise import discrete_laplace
from louver.privacy import grid_levels
from tests.misuse import NOT_COUNTS

TWENTIETH = Fraction(1, 20)
EDGES = (-50, -10, 0, 10, 50)
STANDARD_ERRORS = 6


@pytest.fixture
def noiseless(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spread, "discrete_laplace", lambda _rate, count, *, bits: np.zeros(count, dtype=np.int64))  # noqa: ARG005


def reached(margins: Margins) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The number of keys at or above each edge, from the weights between them."""
    return np.cumsum(margins.weights[::-1])[::-1][1:]


@pytest.mark.usefixtures("noiseless")
@given(st.lists(st.integers(-100, 100), min_size=1, max_size=20), st.data())
def test_one_step_of_one_margin_changes_one_number_by_one(values: list[int], data: st.DataObject) -> None:
    place, step = data.draw(st.integers(0, len(values) - 1)), data.draw(st.sampled_from((-1, 1)))
    here, there = np.array(values), np.array(values)
    there[place] += step
    apart = np.abs(reached(private_margins(here, EDGES, 1)) - reached(private_margins(there, EDGES, 1)))
    assert apart.sum() <= 1


@pytest.mark.usefixtures("noiseless")
def test_without_noise_the_numbers_are_the_true_ones() -> None:
    found = private_margins(np.array([-70, -20, -10, -1, 0, 9, 10, 60, 61]), EDGES, 1)
    assert reached(found).tolist() == [8, 7, 5, 3, 2]
    assert found.values.tolist() == [-100, -30, -5, 5, 30, 100]
    assert found.weights.tolist() == [1, 1, 2, 2, 1, 2]


def crossings(margin: int, rounds: int, rate: int) -> float:
    """How often one key, at or just below an edge, is released as above it."""
    return float(np.mean([private_margins(np.array([margin]), (0,), rate).weights[-1] == 1 for _ in range(rounds)]))


def test_an_audit_finds_no_more_than_the_rate_and_notices_halved_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    """One key steps over an edge; 6 standard errors are kept back, which luck uses up with probability 2e-9."""
    rounds, rate = 6_000, 1

    def loss() -> float:
        above, below = crossings(0, rounds, rate), crossings(-1, rounds, rate)
        error = math.sqrt((1 / above + 1 / below - 2) / rounds)
        return math.log(above / below) - STANDARD_ERRORS * error

    assert loss() < rate
    draw = discrete_laplace
    monkeypatch.setattr(spread, "discrete_laplace", lambda rate, count, *, bits: draw(2 * rate, count, bits=bits))
    assert loss() > rate


def test_weights_are_never_negative_and_add_up_to_the_public_number_of_keys() -> None:
    for _ in range(200):
        found = private_margins(np.array([-5, 3, 8]), EDGES, Fraction(1, 100))
        assert found.weights.min() >= 0
        assert found.keys == pytest.approx(3)


def test_a_cheap_look_at_many_keys_finds_the_same_choice_as_the_truth() -> None:
    """20,000 keys near their thresholds, or far: noise of rate 1/20 moves the numbers by 28 or so of 20,000.

    With a tenth of the keys none of 300 looks went wrong, so that here one does with far less than 1e-6.
    """
    grid = grid_levels(TWENTIETH, 21)
    for truth, best in ((np.arange(20_000) % 21 - 15, "one-shot"), (np.arange(20_000) % 2000 - 1000, "progressive")):
        known = private_margins(truth, edges(grid), TWENTIETH)
        assert estimate(known, miss_rate=TWENTIETH, slack=21).best(MEAN).strategy == best


def test_edges_come_from_the_grid_and_are_few() -> None:
    for levels in (1, 2, 7, 10, 32):
        found = edges(grid_levels(TWENTIETH, 21, levels=levels))
        assert list(found) == sorted(set(found))
        assert 2 <= len(found) <= 16


def test_a_guess_is_uniform_and_says_so() -> None:
    known = guessed(24, 180)
    assert known.keys == pytest.approx(24)
    assert (known.values.min(), known.values.max()) == (-180, 180)
    assert "uniform within 180" in known.source
    assert guessed(5, 0).values.tolist() == [0]


@pytest.mark.parametrize("bad", [{}, {1.5: 1}, {1: -1}, {1: 0}, {1: math.nan}, {"a": 1}, {2**50: 1}])
def test_what_are_no_margins_is_refused(bad: dict[int, float]) -> None:
    with pytest.raises(ParameterError, match=r"\.$"):
        Margins(bad)


@pytest.mark.parametrize("bad", [(), (1, 1), (2, 1), (0.5,), ("a",)])
def test_what_are_no_edges_is_refused(bad: tuple[int, ...]) -> None:
    with pytest.raises(ParameterError, match=r"[Ee]dge.*\.$"):
        private_margins(np.array([1]), bad, 1)


@pytest.mark.parametrize("bad", NOT_COUNTS)
def test_what_is_no_number_of_keys_is_refused(bad: object) -> None:
    with pytest.raises(ParameterError, match=r"^The number of keys .*\.$"):
        guessed(bad, 10)  # type: ignore[arg-type]
