"""Where somebody is, from the count of one place: prior times the likelihood of what was released.

Ghayyur's thesis (2022), Eqs. 4.3 and 4.4. Of m people each is in a place with the prior p, so z of them are there with
the binomial probability; if z are, somebody is one of them with z/m. Sums run from z = 0. The thesis writes z = 1,
which at no information would give p / (1 - (1 - p)^m) and not the prior, against its own Theorem B.1.

Each place is judged by its own count alone, so the places of one person need not sum to 1; `joint` takes all counts.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from louver.attack.law import Law, log_likelihoods
from louver.attack.shapes import Rows, log_factorials, wholes

Floats = NDArray[np.float64]
_NEVER = 1e300  # the log odds of a place where nobody goes: only certainty outweighs them


def from_true_counts(counts: ArrayLike, people: ArrayLike) -> Floats:
    """c/m for each place (Eq. 4.3): the prior does not matter where the counts are known.

    >>> from_true_counts([3, 1, 0], 4).tolist()
    [0.75, 0.25, 0.0]
    """
    true, many = wholes("counts", counts), wholes("people", people)
    return np.asarray(true / np.maximum(many, 1)[..., None], dtype=np.float64)


def single_posterior(
    released: ArrayLike, prior: ArrayLike, people: ArrayLike, law: Law, known: ArrayLike = 0
) -> Floats:
    """The probability that one of `people` is in each place, given what was released about that place (Eq. 4.4).

    `released` is (..., places), NaN where nothing was. The prior is broadcast against it, `people` is one number or one
    for each row; of each count, `known` were known before and are not among `people`. Where the law calls a release
    impossible, the prior stays.

    >>> from louver.attack.law import ContinuousLaplace
    >>> single_posterior([3.2, 7.9, 0.4], [0.2, 0.7, 0.1], 11, ContinuousLaplace(1)).round(6).tolist()
    [0.250481, 0.716999, 0.060829]
    """
    rows = Rows(released, prior, people, known)
    found = np.empty(rows.released.shape)
    for chunk in rows.chunks():
        many = rows.people[chunk]
        counts = np.arange(int(many.max(initial=0)) + 1)
        likelihood = log_likelihoods(law, rows.released[chunk], rows.known[chunk][..., None] + counts)
        found[chunk] = from_likelihood(likelihood, rows.prior[chunk], many)
    return found.reshape(rows.shape)


def from_likelihood(log_likelihood: Floats, prior: Floats, people: NDArray[np.int64]) -> Floats:
    """The same from ln f(y | z) of z = 0, 1, ... on the last axis: (..., places, counts), (..., places) and (...)."""
    counts = np.arange(log_likelihood.shape[-1])
    log_weights = log_binomial(prior, people, len(counts))
    log_weights += log_likelihood
    largest = log_weights.max(axis=-1, keepdims=True)
    log_weights -= np.where(np.isfinite(largest), largest, 0.0)
    weights = np.exp(log_weights, out=log_weights)
    total = weights.sum(axis=-1)
    mean = weights @ counts.astype(np.float64)
    possible = total > 0
    share = mean / np.where(possible, total, 1.0) / np.maximum(people, 1)[..., None]
    return np.where(possible, share, prior)


def log_binomial(prior: Floats, people: NDArray[np.int64], counts: int) -> Floats:
    """ln of the probability that z of the people are in a place, up to what does not depend on z: (..., counts)."""
    with np.errstate(divide="ignore"):
        odds = np.clip(np.log(prior) - np.log1p(-prior), -_NEVER, _NEVER)
    return np.asarray(odds[..., None] * np.arange(counts) + _log_ways(people, counts)[..., None, :])


def _log_ways(people: NDArray[np.int64], counts: int) -> Floats:
    """ln of m over z for z = 0, 1, ...; there is no way to have more than m: (..., counts)."""
    factorials = log_factorials(max(int(people.max(initial=0)), counts))
    z = np.arange(counts)
    left = people[..., None] - z
    ways = factorials[people][..., None] - factorials[z] - factorials[np.maximum(left, 0)]
    return np.where(left >= 0, ways, -np.inf)
