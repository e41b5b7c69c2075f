"""Where each person is, when the attacker knows each person's own habits: from the count of one place.

With a prior of each person's own, the count of a place is a sum of coins of different chances. Person u is there with

    p_u A / (p_u A + (1 - p_u) B),   A = E[f(y | 1 + others)],   B = E[f(y | others)],

where `others` are all but u. Those before u in some order are a law that grows coin by coin, those after u an expected
likelihood that shrinks coin by coin; together they give everybody's A and B in m^2 steps.

All odds times exp(tilt), and the likelihood of z times exp(-tilt z), give the same posterior. A tilt towards the
likeliest count keeps small numbers from vanishing. With equal priors this is `single_posterior`. All places together
would need a sum over who is where that no way is known to do fast; here each place is judged by itself.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from louver.attack.law import Law, log_likelihoods
from louver.attack.shapes import log_factorials, probabilities
from louver.errors import ParameterError

Floats = NDArray[np.float64]
_AT_ONCE = 2**22  # numbers kept for all people and some places
_SMALL = 1e-12


def individual_posterior(released: ArrayLike, prior: ArrayLike, law: Law) -> Floats:
    """The probability that each person is in each place: (people, ..., places) from releases (..., places).

    `prior` is (people, ..., places), of everybody who may be counted.

    >>> from louver.attack.law import NoNoise
    >>> individual_posterior([1.0], [[0.5], [0.1]], NoNoise()).round(3).tolist()
    [[0.9], [0.1]]
    """
    values, shares = np.asarray(released, dtype=np.float64), probabilities("The prior", prior)
    if not values.ndim or shares.shape[1:] != values.shape:
        raise ParameterError("The prior needs the people as its first axis, and then those of the releases.")
    people = len(shares)
    flat, chances = values.ravel(), shares.reshape(people, values.size)
    found = np.empty(chances.shape)
    together = max(1, _AT_ONCE // (people + 1) ** 2)
    for begin in range(0, len(flat), together):
        part = slice(begin, begin + together)
        likelihood = log_likelihoods(law, flat[part], np.arange(people + 1))
        found[:, part] = _of_places(likelihood, chances[:, part])
    return found.reshape(shares.shape)


def _of_places(log_likelihood: Floats, chances: Floats) -> Floats:
    """From (places, people + 1) and (people, places) to (people, places)."""
    tilt = _tilt(log_likelihood, chances.mean(axis=0) if len(chances) else np.zeros(len(log_likelihood)))
    grown = np.exp(np.minimum(tilt, 700.0))
    coins = chances * grown / (1 - chances + chances * grown)
    log_tilted = log_likelihood - tilt[:, None] * np.arange(log_likelihood.shape[1])
    largest = log_tilted.max(axis=1, keepdims=True)
    after = [np.exp(log_tilted - np.where(np.isfinite(largest), largest, 0.0))]
    for coin in coins[:0:-1]:
        after.append(_expected(after[-1], coin))
    before, found = np.ones((len(log_likelihood), 1)), np.empty(chances.shape)
    for person, coin in enumerate(coins):
        rest = after.pop()
        here = coin * np.einsum("lk,lk->l", before, rest[:, 1:])
        elsewhere = (1 - coin) * np.einsum("lk,lk->l", before, rest[:, :-1])
        total = here + elsewhere
        found[person] = np.where(total > 0, here / np.where(total > 0, total, 1.0), chances[person])
        before = _with(before, coin)
    return found


def _expected(likelihood: Floats, coin: Floats) -> Floats:
    """The likelihood before one more coin is tossed, which may add one to the count."""
    return likelihood[:, :-1] * (1 - coin)[:, None] + likelihood[:, 1:] * coin[:, None]


def _with(law: Floats, coin: Floats) -> Floats:
    """The law of a sum with one more coin."""
    longer = np.zeros((law.shape[0], law.shape[1] + 1))
    longer[:, :-1] = law * (1 - coin)[:, None]
    longer[:, 1:] += law * coin[:, None]
    return longer


def _tilt(log_likelihood: Floats, mean: Floats) -> Floats:
    """From the mean chance to the likeliest count's, as if all chances were equal."""
    people = log_likelihood.shape[1] - 1
    counts, factorials = np.arange(people + 1), log_factorials(people)
    odds = _log_odds(np.clip(mean, _SMALL, 1 - _SMALL))
    ways = -factorials - factorials[::-1]
    likeliest = (ways + odds[:, None] * counts + log_likelihood).argmax(axis=1)
    return _log_odds(np.clip(likeliest, 0.5, max(people - 0.5, 0.5)) / max(people, 1)) - odds


def _log_odds(chance: Floats) -> Floats:
    return np.asarray(np.log(chance) - np.log1p(-chance))
