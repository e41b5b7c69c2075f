"""Differencing: the same question with and without one person, and the one answer less the other.

With exact answers the difference is what the person has. With noise it is that plus the noise of both answers. The
person is in the first question only, so all that the two answers tell about the person costs the first one's epsilon,
and whoever knows all the others needs the second answer for nothing; where the person is in both, their prices add up.
Computed from the law of discrete Laplace noise, without trials: P(d) of the difference of two, by convolution.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from louver import parameters
from louver.attack.scores import Floats
from louver.noise.laplace import noise_rate
from louver.privacy import Pure

_NEPERS = 60.0  # how far out the law is followed: what is beyond has a probability of 1e-26
_RAREST = 1e-12  # a difference that is rarer is left out


@dataclass(frozen=True, slots=True)
class Differenced:
    """What the difference of two answers tells about one person who is there or not.

    `right` is the share of even-odds guesses that are right. `surest` is the largest belief that a difference leads to,
    of those that are not rarer than 1e-12, for whoever believed `prior` before; `allowed` is the largest belief that
    the first answer's price allows.
    """

    right: float
    surest: float
    allowed: float
    prior: float

    def __str__(self) -> str:
        return (
            f"Even-odds guesses are right in {self.right:.1%} of cases; a belief of {self.prior:.0%} becomes at most "
            f"{self.surest:.1%}, and {self.allowed:.1%} is allowed."
        )


def differenced(
    first: parameters.Number | None, second: parameters.Number | None, prior: parameters.Number = Fraction(1, 2)
) -> Differenced:
    """For two answers with discrete Laplace noise of these rates; None is an exact answer.

    >>> print(differenced(None, None))
    Even-odds guesses are right in 100.0% of cases; a belief of 50% becomes at most 100.0%, and 100.0% is allowed.
    >>> print(differenced(1, 1))
    Even-odds guesses are right in 64.0% of cases; a belief of 50% becomes at most 72.5%, and 73.1% is allowed.
    """
    before = parameters.probability("prior", prior)
    absent = difference(first, second)
    there, not_there = np.append(0.0, absent), np.append(absent, 0.0)
    right = 0.5 + float(np.abs(there - not_there).sum()) / 4
    seen = np.maximum(there, not_there) > _RAREST
    beliefs = float(before) * there[seen] / (float(before) * there[seen] + float(1 - before) * not_there[seen])
    allowed = 1.0 if first is None else float(Pure(parameters.fraction("The rate", first)).posterior(before))
    return Differenced(right, float(beliefs.max()), allowed, float(before))


def difference(first: parameters.Number | None, second: parameters.Number | None) -> Floats:
    """The law of the difference of two noises, at whole numbers around 0."""
    return np.convolve(_law(first), _law(second))


def _law(rate: parameters.Number | None) -> Floats:
    if rate is None:
        return np.ones(1)
    exact = float(noise_rate("The rate", rate))
    reach = math.ceil(_NEPERS / exact)
    weights = np.exp(-exact * np.abs(np.arange(-reach, reach + 1)))
    return np.asarray(weights / weights.sum())
