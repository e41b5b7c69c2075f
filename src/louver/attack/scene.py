"""One attacked day as each attacker sees it, and the truth about it to score by.

Ghayyur's thesis, sections 4.5 and 4.6: an attacker looks into some regions, and knows where some share of all other
people are. Those left are guessed from the prior and from what was released about one tick.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from louver.attack.classes import EDGES, localised
from louver.attack.joint import joint_posterior
from louver.attack.law import Law
from louver.attack.open_regions import Attacker, unknown_groups
from louver.attack.posterior import single_posterior

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class View:
    """One attacker who knows one share of the others: rows of people to guess, each row at one tick.

    Who is guessed is in one row; everybody whose place is known is in `known` there, and not in `counts`.
    """

    attacker: str
    share: float
    closed: Whole
    tick: Whole
    prior: Floats
    counts: Whole
    known: Whole
    ticks: int

    @classmethod
    def of(cls, attacker: Attacker, share: float, prior: Floats, counts: Whole, seed: int) -> View:
        """From the prior and the true counts of the day, (ticks, regions)."""
        left = attacker.left(prior, counts)
        groups = [
            (tick, group.counts, group.known)
            for tick, row in enumerate(left.counts)
            for group in unknown_groups(row, share, seed + tick)
        ]
        tick = np.array([each for each, _, _ in groups], dtype=np.int64)
        shape = (len(groups), len(left.closed))
        inside, known = (np.array([each[at] for each in groups], dtype=np.int64).reshape(shape) for at in (1, 2))
        return cls(attacker.name, share, left.closed, tick, left.prior[tick], inside, known, len(counts))

    @property
    def people(self) -> Whole:
        """How many are guessed at each tick."""
        return np.bincount(self.tick, self.counts.sum(axis=1), self.ticks).astype(np.int64)

    def at(self, ticks: Whole) -> View:
        """The same at some ticks of the day, which are then numbered in their order."""
        number = np.full(self.ticks, -1)
        number[ticks] = np.arange(len(ticks))
        rows = np.flatnonzero(number[self.tick] >= 0)
        return View(
            self.attacker,
            self.share,
            self.closed,
            number[self.tick[rows]],
            self.prior[rows],
            self.counts[rows],
            self.known[rows],
            len(ticks),
        )

    def found(self, released: Floats, law: Law, *, joint: bool = False) -> Whole:
        """How many are found in each class of confidence, above that of the prior: (ticks, 6).

        `released` is (ticks, regions), of all regions.
        """
        seen = released[self.tick][:, self.closed]
        posterior = joint_posterior if joint else single_posterior
        sure = posterior(seen, self.prior, self.counts.sum(axis=1), law, self.known)
        return self._by_tick(localised(sure, self.counts, self.prior))

    def found_before(self) -> Whole:
        """The same by the prior alone."""
        return self._by_tick(localised(self.prior, self.counts))

    def _by_tick(self, found: Whole) -> Whole:
        summed = np.zeros((self.ticks, len(EDGES)), dtype=np.int64)
        np.add.at(summed, self.tick, found)
        return summed

    def __repr__(self) -> str:
        return f"<view of {self.attacker}, who knows {self.share:.0%} of the others>"


def views_of(
    attackers: Iterable[Attacker], shares: Iterable[float], prior: Floats, counts: Whole, seed: int
) -> list[View]:
    """Every attacker with every share of others known."""
    known = tuple(shares)
    return [View.of(attacker, share, prior, counts, seed) for attacker in attackers for share in known]
