"""What an attacker learns on average over the noise, for given true counts: Ghayyur's thesis, Eq. 4.5.

By a sum over all releases where noise is whole numbers, by quadrature where it is not, and by drawing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from louver import parameters
from louver.attack.law import TAIL, NoiseLaw, log_likelihoods
from louver.attack.posterior import from_likelihood, log_binomial, single_posterior
from louver.attack.shapes import Rows, wholes
from louver.errors import ParameterError
from louver.noise.bits import SYSTEM, Bits

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
_LOST, _SAFE = 1e-120, 1e-100  # factors that are left out, and sums that did not need them


def expected_posterior(
    counts: ArrayLike, prior: ArrayLike, people: ArrayLike, law: NoiseLaw, known: ArrayLike = 0
) -> Floats:
    """The posterior of each place on average over the noise, from the true counts of the unknown people.

    Arguments are those of `single_posterior`; people who are `known` come on top of the counts.

    >>> from louver.attack.law import DiscreteLaplace
    >>> expected_posterior([3, 1, 7], [0.2, 0.7, 0.1], 11, DiscreteLaplace(1)).round(4).tolist()
    [0.241, 0.4662, 0.2295]
    """
    true = wholes("counts", counts)
    rows = Rows(true, prior, people, known)
    inside = np.broadcast_to(true, rows.shape).reshape(rows.released.shape) + rows.known
    found = np.empty(rows.released.shape)
    for row, many in enumerate(rows.people):
        most = max(int(many + rows.known[row].max(initial=0)), int(inside[row].max(initial=0)))
        values, weights = law.outcomes(inside[row], most)
        for known_there in np.unique(rows.known[row]):
            alike = rows.known[row] == known_there
            needed = weights[:, alike].T
            each = _of_values(values, needed > TAIL, rows.prior[row][alike], int(many), law, int(known_there))
            found[row, alike] = (needed * each).sum(axis=1)
    return found.reshape(rows.shape)


def _of_values(
    values: Floats, needed: NDArray[np.bool_], prior: Floats, people: int, law: NoiseLaw, known: int
) -> Floats:
    """The posterior of each place for each released value: (places, values), as products of two matrices.

    Small factors are left out, since their products would be slow; what depends on them is done again by logarithms
    where it is needed, and is 0 elsewhere.
    """
    counts = np.arange(people + 1)
    likelihood = log_likelihoods(law, values, known + counts)
    chances = _scaled(log_binomial(prior, np.asarray(people), people + 1))
    given = _scaled(likelihood).T
    total, sums = chances @ given, (chances * counts) @ given
    safe = total > _SAFE
    found = sums / np.where(safe, total, 1.0) / max(people, 1)
    place, value = np.nonzero(~safe & needed)
    found[place, value] = from_likelihood(likelihood[value], prior[place], np.asarray(people))
    return np.where(safe | needed, found, 0.0)


def _scaled(log_weights: Floats) -> Floats:
    largest = log_weights.max(axis=-1, keepdims=True)
    weights = np.exp(log_weights - np.where(np.isfinite(largest), largest, 0.0))
    return np.where(weights > _LOST, weights, 0.0)


@dataclass(frozen=True)
class Sampled:
    """An average over runs, with its standard error, and the largest of the runs."""

    average: Floats
    standard_error: Floats
    worst: Floats
    runs: int


def sampled_posterior(
    counts: ArrayLike,
    prior: ArrayLike,
    people: ArrayLike,
    law: NoiseLaw,
    known: ArrayLike = 0,
    *,
    runs: int = 30,
    bits: Bits = SYSTEM,
) -> Sampled:
    """The same by drawing the noise again and again, as the thesis does (30 runs)."""
    many = parameters.integer("runs", runs, 2, 10**6)
    true = wholes("counts", counts)
    seen = wholes("known", known)
    try:
        inside = np.broadcast_to(true + seen, (many, *true.shape))
    except ValueError:
        raise ParameterError("The shape of known does not fit that of the counts.") from None
    found = single_posterior(law.draw(inside, bits), prior, people, law, known)
    error = found.std(axis=0, ddof=1) / np.sqrt(many)
    return Sampled(found.mean(axis=0), error, found.max(axis=0), many)
