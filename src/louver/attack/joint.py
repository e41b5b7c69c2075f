"""Where somebody is, from the counts of all places at once, exactly.

Given m, places are filled like a multinomial, so with g_l(z) = f(y_l | z) p_l^z / z! the posterior of place l is
E[z_l] / m under the product of all g_l where the sum of z is m. Ghayyur's thesis (section 4.5.2) calls the sum over all
ways to fill the places infeasible; prefix and suffix convolutions do it in places times m^2 steps.

g_l(z) exp(tilt z) gives the same posterior for every tilt. The one that makes m the expected sum keeps all numbers near
1, whatever was released: terms below `_LOST` of the largest are then below rounding, and are left out.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from louver.attack.law import Law, log_likelihoods
from louver.attack.shapes import Rows, log_factorials
from louver.errors import ParameterError

Floats = NDArray[np.float64]
_LOST = 1e-30
_NEVER = -1e300
_STEPS = 60


def joint_posterior(released: ArrayLike, prior: ArrayLike, people: ArrayLike, law: Law, known: ArrayLike = 0) -> Floats:
    """The probability that one of `people` is in each place, given all that was released about the row's places.

    The places are all there are: the prior of each row sums to 1, and so does what is found. Arguments are those of
    `single_posterior`. A place with no release (NaN) takes part too: it holds who is not elsewhere.

    >>> from louver.attack.law import ContinuousLaplace
    >>> joint_posterior([3.2, 7.9, 0.4], [0.2, 0.7, 0.1], 11, ContinuousLaplace(1)).round(6).tolist()
    [0.24797, 0.706733, 0.045297]
    """
    rows = _whole_rows(released, prior, people, known)
    found = np.empty(rows.released.shape)
    for row, many in enumerate(rows.people):
        likelihood = _likelihood(rows, row, int(many), law)
        found[row] = joint_from_likelihood(likelihood, rows.prior[row])
    return found.reshape(rows.shape)


def joint_from_likelihood(log_likelihood: Floats, prior: Floats) -> Floats:
    """The same for one row, from ln f(y | z) of z = 0, 1, ... m: (places, m + 1)."""
    people = log_likelihood.shape[-1] - 1
    if not people:
        return np.zeros(len(prior))
    log_weights = _log_weights(log_likelihood, prior)
    weights = _tilted(log_weights, people)[0]
    means = _means_given_sum(weights)
    return prior.copy() if means is None else means / people


def joint_posterior_of_unknown(
    released: ArrayLike, prior: ArrayLike, people_prior: ArrayLike, law: Law, known: ArrayLike = 0
) -> Floats:
    """The same where the number of people is not known: `people_prior` has the probability of 0, 1, ... people.

    It is what the attacker believes given that the victim is one of them, so that there is somebody: it sums to 1.
    """
    chances = np.array(people_prior, dtype=np.float64)
    if chances.ndim != 1 or not (chances >= 0).all() or not chances[1:].sum() > 0:
        raise ParameterError("people_prior must be the probabilities of 0, 1, ... people, not all of 0, in one list.")
    chances[0] = 0.0
    rows = _whole_rows(released, prior, len(chances) - 1, known)
    found = np.empty(rows.released.shape)
    with np.errstate(divide="ignore"):
        log_chances = np.log(chances / chances.sum())
    for row in range(len(found)):
        likelihood = _likelihood(rows, row, len(chances) - 1, law)
        found[row] = _mixed(likelihood, rows.prior[row], log_chances)
    return found.reshape(rows.shape)


def _whole_rows(released: ArrayLike, prior: ArrayLike, people: ArrayLike, known: ArrayLike) -> Rows:
    rows = Rows(released, prior, people, known)
    if rows.prior.size and not np.allclose(rows.prior.sum(axis=-1), 1):
        raise ParameterError("The prior of all places must sum to 1; add a place for outside, or for the rest.")
    return rows


def _likelihood(rows: Rows, row: int, people: int, law: Law) -> Floats:
    counts = np.arange(people + 1)
    return log_likelihoods(law, rows.released[row], rows.known[row][:, None] + counts)


def _log_weights(log_likelihood: Floats, prior: Floats) -> Floats:
    """ln g_l(z)."""
    counts = np.arange(log_likelihood.shape[-1])
    with np.errstate(divide="ignore"):
        log_prior = np.maximum(np.log(prior), _NEVER)
    return log_likelihood + log_prior[:, None] * counts - log_factorials(len(counts) - 1)


def _tilted(log_weights: Floats, people: float) -> tuple[Floats, float]:
    """The weights, each place's largest 1, and a tilt at which this many people are expected, within a deviation.

    By Newton's method between bounds; it begins where the tilt would be if nothing had been released."""
    counts = np.arange(log_weights.shape[-1], dtype=np.float64)
    low, high, tilt = -800.0, 800.0, math.log(max(people, 1))
    weights = _scaled(log_weights + tilt * counts)
    for _ in range(_STEPS):
        total = np.maximum(weights.sum(axis=1), np.finfo(float).tiny)
        means, squares = weights @ counts / total, weights @ counts**2 / total
        surplus, slope = float(means.sum() - people), float((squares - means**2).sum())
        if surplus**2 <= max(slope, 0.1):
            break
        low, high = (low, tilt) if surplus > 0 else (tilt, high)
        step = tilt - surplus / slope if slope > 0 else np.inf
        tilt = step if low < step < high else (low + high) / 2
        weights = _scaled(log_weights + tilt * counts)
    return weights, tilt


def _scaled(log_weights: Floats) -> Floats:
    largest = log_weights.max(axis=-1, keepdims=True)
    weights = np.exp(log_weights - np.where(np.isfinite(largest), largest, 0.0))
    weights[weights < _LOST] = 0.0
    return weights


def _means_given_sum(weights: Floats) -> Floats | None:
    """E[z_l] of each place, given that all sum to the largest count; None if they cannot."""
    people = weights.shape[-1] - 1
    places = [_trimmed(row) for row in weights]
    if any(not len(inside) for _, inside in places):
        return None
    after = _products_after(places, people)
    before = np.zeros(people + 1)
    before[0] = 1.0
    means = np.empty(len(places))
    for place, (first, inside) in enumerate(places):
        rest = after[place][::-1]
        together = _times(before, first, inside, people)
        total = together @ rest
        if not total > 0:
            return None
        counted = _times(before, first, inside * np.arange(first, first + len(inside)), people)
        means[place] = counted @ rest / total
        before = together / together.max()
    return means


def _products_after(places: list[tuple[int, Floats]], people: int) -> list[Floats]:
    """For each place, the product of all places after it, up to a factor."""
    after = np.zeros(people + 1)
    after[0] = 1.0
    found = [after]
    for first, inside in reversed(places[1:]):
        after = _times(after, first, inside, people)
        largest = after.max()
        after = after / largest if largest > 0 else after
        found.append(after)
    return found[::-1]


def _trimmed(row: Floats) -> tuple[int, Floats]:
    """The part of a row that is not 0, and where it begins."""
    there = np.flatnonzero(row)
    return (int(there[0]), row[there[0] : there[-1] + 1]) if len(there) else (0, row[:0])


def _times(product: Floats, first: int, inside: Floats, people: int) -> Floats:
    """The convolution, up to this many people."""
    found = np.zeros(people + 1)
    if first <= people:
        found[first:] = np.convolve(product[: people + 1 - first], inside)[: people + 1 - first]
    return found


def _mixed(log_likelihood: Floats, prior: Floats, log_chances: Floats) -> Floats:
    """The posterior over how many people there are, and the mean of z_l / m under it.

    The tilt is set for the number of people that is found likeliest, and set again until that stays.
    """
    log_weights = _log_weights(log_likelihood, prior)
    counts = np.arange(len(log_chances))
    guess = float(np.exp(log_chances) @ counts)
    shares, many = prior.copy(), np.zeros(len(counts))
    for _ in range(8):
        weights, tilt = _tilted(log_weights, guess)
        found = _means_of_all_sums(weights)
        if found is None:
            return prior.copy()
        means, sums = found
        with np.errstate(divide="ignore"):
            log_many = np.log(sums) - tilt * counts + log_chances + log_factorials(len(counts) - 1)
        largest = log_many.max()
        if not np.isfinite(largest):
            return prior.copy()
        many = np.exp(log_many - largest)
        many /= many.sum()
        shares = (means / np.maximum(counts, 1)) @ many
        likely = float(many @ counts)
        if abs(likely - guess) < 1:
            break
        guess = likely
    return shares


def _means_of_all_sums(weights: Floats) -> tuple[Floats, Floats] | None:
    """E[z_l] given each sum (places, sums), and how likely each sum is, up to a factor."""
    people = weights.shape[-1] - 1
    places = [_trimmed(row) for row in weights]
    if any(not len(inside) for _, inside in places):
        return None
    after = _products_after(places, people)
    before = np.zeros(people + 1)
    before[0] = 1.0
    means, together = np.zeros(weights.shape), before
    for place, (first, inside) in enumerate(places):
        others = np.convolve(before, after[place])[: people + 1]
        counted = _times(others, first, inside * np.arange(first, first + len(inside)), people)
        together = _times(others, first, inside, people)
        np.divide(counted, together, out=means[place], where=together > 0)
        before = _times(before, first, inside, people)
        before = before / max(before.max(), np.finfo(float).tiny)
    return means, together
