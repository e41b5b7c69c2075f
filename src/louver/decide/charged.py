"""What an answer cost each key, for the owner: prices, levels, min-entropy, and how evenly they fall.

All of it follows from what was released. A key's price is what the ledger charged at the dearest point of the key, so
keys that one unit can touch together pay the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from louver.decide.fairness import fairness
from louver.decide.program import Look
from louver.decide.progressive import Progressive
from louver.decide.shown import number_up
from louver.privacy import Charge, MinEntropy, largest_total, min_entropy


@dataclass(frozen=True)
class Charged:
    """The price of each key of the question, in order, and for each look how many keys stopped at which level.

    All prices are those of one unit, which may pay a level's rate several times.
    """

    prices: tuple[Fraction, ...]
    levels: tuple[Mapping[int, int], ...] = ()
    level_prices: tuple[tuple[Fraction, ...], ...] = ()

    @cached_property
    def min_entropy(self) -> MinEntropy:
        """How unsure whoever sees the answer must remain about which key a record belongs to."""
        return min_entropy([above(price) for price in self.prices])

    @property
    def fairness(self) -> str:
        """How unequal prices and error rates are over the keys, in words."""
        return f"{fairness(self.prices)} The promised rates are the same for every key."

    def to_dict(self) -> dict[str, Any]:
        return {
            "prices": [str(price) for price in self.prices],
            "prices_epsilon": [number_up(price) for price in self.prices],
            "levels": [
                [
                    {"level": level, "price": str(price), "price_epsilon": number_up(price), "keys": keys}
                    for level, keys in sorted(used.items())
                    for price in [prices[level] if level >= 0 else Fraction(0)]
                ]
                for used, prices in zip(self.levels, self.level_prices, strict=True)
            ],
            "min_entropy": self.min_entropy.value,
            "min_entropy_normalised": self.min_entropy.normalised,
            "fairness": self.fairness,
        }


def charged(plan: Any, answer: Mapping[str, Any], paid: Fraction) -> Charged:
    """What each key was charged by an answer that cost `paid` at the dearest point."""
    stopped: Sequence[Sequence[int]] | None = answer.get("levels")
    if stopped is None or not isinstance(plan, Progressive):
        return Charged((paid,) * int(answer["keys"]))
    looks, prices = plan.program.looks, [grid.levels for grid in plan.grids]
    reached = [
        _reached(plan, look, np.array(levels, dtype=np.int64), own)
        for look, levels, own in zip(looks, stopped, prices, strict=True)
    ]
    kinds, which = np.unique(np.stack(reached), axis=1, return_inverse=True)
    totals = [_total(looks, kind, prices) for kind in kinds.T]
    return Charged(
        tuple(totals[number] for number in which.reshape(-1).tolist()),
        tuple(Counter(levels) for levels in stopped),
        tuple(tuple(look.touch.times * price for price in own) for look, own in zip(looks, prices, strict=True)),
    )


def _reached(
    plan: Progressive, look: Look, stopped: NDArray[np.int64], prices: Sequence[Fraction]
) -> NDArray[np.int64]:
    """The level that each key of the question pays for in this look: the clearest among keys that pay together."""
    keys, positions = plan.reading.keys[look.keys], plan.program.positions[look.keys]
    fixed = [at for at, column in enumerate(keys.columns) if plan.unit.fixes(column)]
    paid = {charge.price for charge in plan.charges(look, stopped.tolist(), prices)}
    one_scope = len(paid) == 1 and len(np.unique(stopped)) > 1
    if not fixed or one_scope:
        return np.full(len(positions), stopped.max())
    if len(fixed) == len(keys.columns):
        return stopped[positions]
    clearest: dict[tuple[object, ...], int] = {}
    groups = [tuple(key[at] for at in fixed) for key in keys.values]
    for group, level in zip(groups, stopped.tolist(), strict=True):
        clearest[group] = max(level, clearest.get(group, -1))
    return np.array([clearest[group] for group in groups], dtype=np.int64)[positions]


def _total(looks: Sequence[Look], levels: NDArray[np.int64], prices: Sequence[Sequence[Fraction]]) -> Fraction:
    """What a key pays that reached these levels: looks at rows that no unit shares do not add up."""
    made = [
        Charge(look.box, look.touch.times * own[level])
        for look, level, own in zip(looks, levels.tolist(), prices, strict=True)
        if level >= 0
    ]
    return largest_total(made).price if made else Fraction(0)


def above(price: Fraction) -> float:
    """The nearest float that is not less than the price."""
    near = float(price)
    return near if Fraction(near) >= price else float(np.nextafter(near, np.inf))
