"""Reconstruction: the secret bits of everybody, from answers to many questions about groups of them.

Dinur and Nissim (2003): whoever answers many questions about random groups of n people, each to within o(sqrt n), gives
nearly all of their bits away. The attacker needs no trick, only least squares: he takes the numbers that fit all
answers best, and rounds them.

What stops it is noise that grows with the number of answers, and that is what a budget does: m answers from one budget
of epsilon have noise of m/epsilon each.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.attack.scores import Floats
from louver.noise import discrete_laplace
from louver.noise.bits import SYSTEM, Bits

_RIDGE = 1e-9  # where there are fewer questions than people, the least of all that fit


@dataclass(frozen=True, slots=True)
class Reconstructed:
    """The share of bits that the attacker has right; half of them is what a coin would have."""

    right: float
    people: int
    questions: int

    def __str__(self) -> str:
        return f"{self.right:.1%} of the bits of {self.people} people, from {self.questions} answers."


def reconstruct(
    answer: Callable[[NDArray[np.int64]], Floats], people: int, questions: int, *, seed: int
) -> Reconstructed:
    """Draws secret bits and random groups, asks how many of each group have the bit, and guesses all bits.

    `answer` is given the true counts, one for each group, and returns what is released.
    """
    people = parameters.count("people", people, 1)
    questions = parameters.count("questions", questions, 1)
    dice = np.random.default_rng(seed)
    secret = dice.integers(0, 2, people)
    groups = dice.integers(0, 2, (questions, people))
    released = np.asarray(answer(groups @ secret), dtype=np.float64)
    asked = groups.astype(np.float64)
    fitted = np.linalg.solve(asked.T @ asked + _RIDGE * np.eye(people), asked.T @ released)
    guess = fitted > 0.5
    return Reconstructed(float((guess == secret).mean()), people, questions)


def without_budget(rate: parameters.Number, *, bits: Bits = SYSTEM) -> Callable[[NDArray[np.int64]], Floats]:
    """Answers with discrete Laplace noise of this rate each, however many there are."""
    return lambda counts: (counts + discrete_laplace(rate, len(counts), bits=bits)).astype(np.float64)


def from_budget(epsilon: parameters.Number, *, bits: Bits = SYSTEM) -> Callable[[NDArray[np.int64]], Floats]:
    """Answers that share one budget: each person may be in every group, so each answer gets an equal part of it."""
    whole = parameters.positive("epsilon", epsilon)
    return lambda counts: without_budget(whole / Fraction(len(counts)), bits=bits)(counts)
