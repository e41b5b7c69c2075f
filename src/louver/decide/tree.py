"""Conditions as trees of leaves: who gets which part of the error rates, and what is decided when some leaves are.

A tree is a leaf's number, or `All` or `Any` of trees; negation is gone, because a negated comparison is another
comparison. A key that meets the condition is missed only if some leaf that holds is missed, so of the miss rate

- `Any` gives each part all of it: one part holds, and missing the condition takes missing that part;
- `All` splits it: each part holds, and missing any of them misses the condition.

For false alarms it is the other way round. Leaves cost about weight * ln(1/rate), so that splitting in proportion to
the weights is cheapest (the thesis' equation 6.21 for one flat `All`, carried on to trees). Parts that can only concern
different units pay the largest price and not the sum; they get rates at which their prices are equal.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Tree: TypeAlias = "int | All | Any"
Flags: TypeAlias = "NDArray[np.int8]"
YES, NO, OPEN = 1, -1, 0
HALVINGS = 60
SHARES = 2**32  # a share is a whole number of these, rounded down, so that exact rates stay short


@dataclass(frozen=True, slots=True)
class All:
    parts: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Any:
    parts: tuple[Tree, ...]


def leaves(tree: Tree) -> Iterator[int]:
    """The leaves' numbers, from left to right, with repeats."""
    if isinstance(tree, int):
        yield tree
    else:
        for part in tree.parts:
            yield from leaves(part)


@dataclass(frozen=True, slots=True)
class Cost:
    """What a leaf costs: about weight * ln(1/rate); `steps` is how fast its rate falls with its price."""

    weight: float
    steps: float


def rates(
    tree: Tree,
    rate: Fraction,
    split: type[All] | type[Any],
    costs: Sequence[Cost],
    apart: Callable[[Sequence[Tree]], bool],
) -> dict[int, Fraction]:
    """Each leaf's part of the rate: nodes of the type `split` divide it, others hand it on; repeats get the least."""
    if isinstance(tree, int):
        return {tree: rate}
    parts = [rate] * len(tree.parts)
    if isinstance(tree, split):
        parts = _divided(rate, tree.parts, costs, apart)
    found: dict[int, Fraction] = {}
    for part, its in zip(tree.parts, parts, strict=True):
        for leaf, given in rates(part, its, split, costs, apart).items():
            found[leaf] = min(given, found.get(leaf, given))
    return found


def _divided(
    rate: Fraction, parts: Sequence[Tree], costs: Sequence[Cost], apart: Callable[[Sequence[Tree]], bool]
) -> list[Fraction]:
    if apart(parts):
        wanted = _equal_prices(float(rate), [min(costs[leaf].steps for leaf in leaves(part)) for part in parts])
    else:
        wanted = [sum(costs[leaf].weight for leaf in set(leaves(part))) for part in parts]
    total = sum(wanted)
    shares = [max(1, int(SHARES * each / total)) for each in wanted]
    shares[shares.index(max(shares))] += SHARES - sum(shares)
    return [rate * share / SHARES for share in shares]


def _equal_prices(rate: float, steps: Sequence[float]) -> list[float]:
    """Rates r_j that add up to `rate` and cost the same: r_j proportional to exp(-price * steps_j)."""
    slowest = min(steps)
    low, high = 0.0, -2 * math.log(rate / len(steps)) / slowest + 1
    for _ in range(HALVINGS):
        price = (low + high) / 2
        reached = sum(math.exp(-price * step) for step in steps)
        low, high = (price, high) if reached > rate else (low, price)
    return [math.exp(-high * step) + 1e-300 for step in steps]


def value(tree: Tree, decided: Mapping[int, Flags] | Sequence[Flags]) -> Flags:
    """Per key YES, NO, or OPEN where the leaves decided so far leave both possible."""
    if isinstance(tree, int):
        return decided[tree]
    values = np.stack([value(part, decided) for part in tree.parts])
    return np.asarray(values.min(axis=0) if isinstance(tree, All) else values.max(axis=0))


def needed(
    tree: Tree, decided: Sequence[Flags], still: NDArray[np.bool_] | None = None
) -> dict[int, NDArray[np.bool_]]:
    """For each leaf the keys whose answer still hangs on it: no early exit has made it idle."""
    here = value(tree, decided) == OPEN
    if still is not None:
        here &= still
    if isinstance(tree, int):
        return {tree: here}
    found: dict[int, NDArray[np.bool_]] = {}
    for part in tree.parts:
        for leaf, keys in needed(part, decided, here).items():
            found[leaf] = keys | found[leaf] if leaf in found else keys
    return found


def holds(tree: Tree, given: Sequence[bool]) -> bool:
    """Whether the condition holds where each leaf does or does not."""
    if isinstance(tree, int):
        return given[tree]
    join = all if isinstance(tree, All) else any
    return join(holds(part, given) for part in tree.parts)


def flattened(tree: Tree) -> Tree:
    """The same condition without one-part nodes, or a node inside one of its own kind."""
    if isinstance(tree, int):
        return tree
    parts: list[Tree] = []
    for part in map(flattened, tree.parts):
        parts += part.parts if isinstance(part, type(tree)) else [part]
    distinct = tuple(dict.fromkeys(parts))
    return distinct[0] if len(distinct) == 1 else type(tree)(distinct)
