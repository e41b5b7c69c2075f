"""What attackers are given, checked and brought to one shape: rows of places."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from louver.errors import ParameterError

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
MOST_PEOPLE = 2**20
_IN_CACHE = 2**17  # numbers worked on at a time


class Rows:
    """Releases (..., places) with the prior, the number of people and the known people of each row.

    `released` is NaN where nothing was released. `prior` has the places last and is broadcast, `people` is one number
    or one for each row, and `known` (of the counts, by the attacker beforehand) is broadcast like the prior.
    """

    def __init__(self, released: ArrayLike, prior: ArrayLike, people: ArrayLike, known: ArrayLike = 0) -> None:
        values, shares = np.asarray(released, dtype=np.float64), probabilities("The prior", prior)
        if not values.ndim or not shares.ndim or values.shape[-1] != shares.shape[-1]:
            raise ParameterError("The releases and the prior need the same places as their last axis.")
        self.shape = _broadcast("the prior", values.shape, shares.shape)
        rows = self.shape[:-1]
        many, seen = wholes("people", people), wholes("known", known)
        _fits("people", many.shape, rows)
        _fits("known", seen.shape, self.shape)
        flat = (math.prod(rows), self.shape[-1])
        self.released = np.broadcast_to(values, self.shape).reshape(flat)
        self.prior = np.broadcast_to(shares, self.shape).reshape(flat)
        self.known = np.broadcast_to(seen, self.shape).reshape(flat)
        self.people = np.broadcast_to(many, rows).reshape(-1)

    def chunks(self) -> Iterator[Whole]:
        """Rows that are worked on together: of about as many people, and few enough to stay in the cache."""
        order = np.argsort(self.people, kind="stable")[::-1]
        begin = 0
        while begin < len(order):
            size = self.shape[-1] * (int(self.people[order[begin]]) + 1)
            end = begin + max(1, _IN_CACHE // max(size, 1))
            yield order[begin:end]
            begin = end


def probabilities(name: str, given: ArrayLike) -> Floats:
    found = np.asarray(given, dtype=np.float64)
    if not ((found >= 0) & (found <= 1 + 1e-9)).all():
        raise ParameterError(f"{name} must be probabilities, from 0 to 1.")
    return np.minimum(found, 1.0)


def wholes(name: str, given: ArrayLike) -> Whole:
    """Numbers of people: whole, and neither below 0 nor absurd."""
    found = np.asarray(given)
    if found.dtype.kind not in "iu" or not ((found >= 0) & (found <= MOST_PEOPLE)).all():
        raise ParameterError(f"{name} must be whole numbers from 0 to {MOST_PEOPLE:,}.")
    return found.astype(np.int64)


def log_factorials(most: int) -> Floats:
    """ln 0!, ln 1!, ... ln most!"""
    return np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, most + 1)))])


def _broadcast(name: str, *shapes: tuple[int, ...]) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        raise ParameterError(f"The shape of {name} does not fit that of the releases.") from None


def _fits(name: str, given: tuple[int, ...], wanted: tuple[int, ...]) -> None:
    if _broadcast(name, given, wanted) != wanted:
        raise ParameterError(f"The shape of {name} does not fit that of the releases.")
