"""Several releases about one person: what they tell together (Ghayyur's thesis, appendix B.3).

Theorem B.2: what is independent of the person's place tells nothing, so leave it out. Theorem B.3: releases of the same
counts multiply their likelihoods. Theorem B.4: anything else multiplies the posterior by at most the largest ratio of
its likelihoods. The last is rarely of use: its factor soon passes 1 / posterior. The same ratio bounds the odds, which
never passes 1; and where the counts are known not to change, B.3 or the joint posterior say what is learned exactly.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from louver import parameters
from louver.attack.joint import joint_from_likelihood
from louver.attack.law import Law, log_likelihoods
from louver.attack.posterior import from_likelihood
from louver.attack.shapes import Rows, probabilities
from louver.errors import ParameterError

Floats = NDArray[np.float64]


def repeated_posterior(
    released: ArrayLike, prior: ArrayLike, people: ArrayLike, law: Law, known: ArrayLike = 0, *, joint: bool = False
) -> Floats:
    """From several releases of the same counts, on the first axis: (times, ..., places) to (..., places).

    Theorem B.3, of each place by itself or with `joint` of all places together. A class that sits for an hour and a
    half is the same count in nine ticks, each with noise of its own. Noise that was drawn once and is used again is one
    release, and is given once.

    >>> from louver.attack.law import DiscreteLaplace
    >>> repeated_posterior([[3, 1]] * 9, [0.5, 0.5], 4, DiscreteLaplace(1)).round(4).tolist()
    [0.75, 0.25]
    """
    values = np.asarray(released, dtype=np.float64)
    if values.ndim < 2 or not len(values):
        raise ParameterError("Several releases are on the first axis and their places on the last.")
    rows = Rows(values[0], prior, people, known)
    times = [Rows(each, prior, people, known).released for each in values]
    found = np.empty(rows.released.shape)
    for row, many in enumerate(rows.people):
        counts = rows.known[row][:, None] + np.arange(int(many) + 1)
        together = np.sum([log_likelihoods(law, time[row], counts) for time in times], axis=0)
        if joint:
            found[row] = joint_from_likelihood(together, rows.prior[row])
        else:
            found[row] = from_likelihood(together, rows.prior[row], np.asarray(many))
    return found.reshape(rows.shape)


def bound_with_more(posterior: ArrayLike, log_ratio: ArrayLike) -> Floats:
    """The most that a posterior can become with further releases whose likelihoods differ by at most this log ratio.

    The odds grow by no more than the ratio: both sides of Theorem B.4's fraction are split into the person here and the
    person elsewhere.

    >>> bound_with_more(0.2, 1.0).round(4).tolist()
    0.4046
    """
    shares, kept = probabilities("The posterior", posterior), np.exp(-_log_ratio(log_ratio))
    bound = shares / np.maximum(shares + kept * (1 - shares), np.finfo(float).tiny)
    return np.clip(bound, shares, 1.0)


def published_bound_with_more(posterior: ArrayLike, log_ratio: ArrayLike) -> Floats:
    """Theorem B.4 as it is printed, the ratio times the posterior, no more than 1.

    >>> published_bound_with_more(0.2, 1.0).round(4).tolist()
    0.5437
    """
    shares, grown = probabilities("The posterior", posterior), np.exp(np.minimum(_log_ratio(log_ratio), 700.0))
    return np.clip(shares * grown, shares, 1.0)


def log_ratio_of_more(epsilon: parameters.Number, people: int, releases: int) -> float:
    """epsilon m (n - 1): the log ratio of Corollary 1, for n releases of which one is in the posterior already."""
    rate = float(parameters.within("epsilon", epsilon, 0, 10**9))
    many = parameters.count("people", people)
    return rate * many * (parameters.count("releases", releases, 1) - 1)


def _log_ratio(given: ArrayLike) -> Floats:
    ratio = np.asarray(given, dtype=np.float64)
    if not (ratio >= 0).all():
        raise ParameterError("The log of a largest ratio is 0 or more.")
    return ratio
