"""Who is a friend of whom: a social network as two arrays, and networks invented from a seed.

This is simulation and protects nobody, so a seed is right here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.errors import ParameterError

Whole = NDArray[np.int64]
MOST_PEOPLE = 10_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Network:
    """People numbered from 0, and each friendship once: `one` is the smaller number of its two people.

    >>> Network.of(4, [(0, 1), (2, 1), (1, 0)]).degrees.tolist()
    [1, 2, 1, 0]
    """

    people: int
    one: Whole
    other: Whole

    @classmethod
    def of(cls, people: int, friendships: Any) -> Network:
        """A network from pairs of people; a pair that comes twice, or the other way round, is one friendship."""
        count = parameters.integer("The number of people", people, 1, MOST_PEOPLE)
        pairs = np.asarray(friendships, dtype=np.int64).reshape(-1, 2) if len(friendships) else np.empty((0, 2), int)
        if pairs.size and (pairs.min() < 0 or pairs.max() >= count):
            raise ParameterError(f"Friendships are pairs of numbers from 0 to {count - 1}.")
        if (pairs[:, 0] == pairs[:, 1]).any():
            raise ParameterError("Nobody is a friend of themselves; leave such pairs out.")
        codes = np.unique(pairs.min(axis=1) * count + pairs.max(axis=1))
        return cls(count, codes // count, codes % count)

    @property
    def directed(self) -> tuple[Whole, Whole]:
        """From and to of both directions of each friendship: the way back of the k-th is the (k+n)-th or (k-n)-th."""
        return np.concatenate([self.one, self.other]), np.concatenate([self.other, self.one])

    @property
    def degrees(self) -> Whole:
        """How many friends each person has."""
        return np.bincount(np.concatenate([self.one, self.other]), minlength=self.people)

    @property
    def is_forest(self) -> bool:
        """Whether no way leads back in a circle."""
        return len(self.one) == self.people - len(np.unique(self._groups()))

    def _groups(self) -> Whole:
        """The least number of anybody who can be reached, for each person."""
        least = np.arange(self.people)
        while True:
            low = np.minimum(least[self.one], least[self.other])
            lower = least.copy()
            np.minimum.at(lower, self.one, low)
            np.minimum.at(lower, self.other, low)
            lower = lower[lower]  # whoever my least one reaches, I reach
            if np.array_equal(lower, least):
                return least
            least = lower


def star(friends: int) -> Network:
    """Person 0 with so many friends who do not know each other."""
    count = parameters.integer("The number of friends", friends, 0, MOST_PEOPLE - 1)
    return Network(count + 1, np.zeros(count, dtype=np.int64), np.arange(1, count + 1))


def tree(people: int, seed: int) -> Network:
    """Everybody but the first knows one person who was there before, any of them alike."""
    count = parameters.integer("The number of people", people, 1, MOST_PEOPLE)
    child = np.arange(1, count)
    return Network(count, np.random.default_rng(seed).integers(0, child) if count > 1 else child, child)


def blocks(sizes: Sequence[int], within: float, between: float, seed: int) -> Network:
    """Circles of people: any two of one circle are friends with chance `within`, any other two with `between`."""
    each = [parameters.integer("The size of a circle", size, 1, MOST_PEOPLE) for size in sizes]
    inside, outside = _chance("within", within), _chance("between", between)
    dice, begins = np.random.default_rng(seed), np.concatenate([[0], np.cumsum(each)])
    found = [np.empty((0, 2), dtype=np.int64)]
    for at, size in enumerate(each):
        low, high = _pairs_of(_chosen(size * (size - 1) // 2, inside, dice))
        found.append(np.stack([low, high], axis=1) + begins[at])
        for next_to in range(at + 1, len(each)):
            codes = _chosen(size * each[next_to], outside, dice)
            pair = [codes // each[next_to] + begins[at], codes % each[next_to] + begins[next_to]]
            found.append(np.stack(pair, axis=1))
    return Network.of(int(begins[-1]), np.concatenate(found))


def small_world(people: int, friends: int, rewired: float, seed: int) -> Network:
    """A ring in which everybody knows the nearest; then this share of friendships gets a new end (Watts, Strogatz)."""
    count = parameters.integer("The number of people", people, 3, MOST_PEOPLE)
    near = parameters.integer("The number of friends", friends, 2, count - 1) // 2
    dice = np.random.default_rng(seed)
    one = np.repeat(np.arange(count), near)
    other = (one + np.tile(np.arange(1, near + 1), count)) % count
    moved = dice.random(len(one)) < _chance("rewired", rewired)
    other = np.where(moved, (one + dice.integers(1, count, len(one))) % count, other)
    return Network.of(count, np.stack([one, other], axis=1))


def _chance(name: str, value: float) -> float:
    return float(parameters.probability(name, value))


def _chosen(pairs: int, chance: float, dice: np.random.Generator) -> Whole:
    """Which of so many pairs are friends, each by itself."""
    if not pairs:
        return np.empty(0, dtype=np.int64)
    return dice.choice(pairs, dice.binomial(pairs, chance), replace=False, shuffle=False).astype(np.int64)


def _pairs_of(codes: Whole) -> tuple[Whole, Whole]:
    """The pairs (low, high) in the order (0,1), (0,2), (1,2), (0,3) and so on."""
    # For 10 million people 8 codes + 1 is below 2^53, so the root is never rounded up to the next whole number.
    high = ((1 + np.sqrt(1 + 8 * codes.astype(np.float64))) / 2).astype(np.int64)
    return codes - high * (high - 1) // 2, high
