"""Which regions a stream reads and which it releases a number for.

They are the same, except where totals are asked for, which has one more region for each floor and one for the building;
and in a histogram, which has one for each bin of each region.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, TypeAlias

from louver import parameters
from louver.errors import ParameterError
from louver.noise.grid import LARGEST_STEPS
from louver.source.domain import Domain
from louver.source.measures import KeyValue

Region: TypeAlias = "tuple[KeyValue | None, ...]"
BIN = "bin"
MOST_BINS, LONGEST_EDGE = 2**10, 40


@dataclass(frozen=True, slots=True)
class Places:
    """`read` are the keys of the domain; `released` have the columns `keys`, None where a total is over all values.

    `parents` is the tree of totals, as `Hierarchy` takes it; `edges` are those of the bins.
    """

    read: tuple[tuple[KeyValue, ...], ...]
    keys: tuple[str, ...]
    released: tuple[Region, ...]
    parents: tuple[int | None, ...] | None = None
    edges: tuple[Fraction, ...] | None = None


def places_of(domain: Domain | None, totals: tuple[str, ...] | None, edges: tuple[Fraction, ...] | None) -> Places:
    """`totals` are the columns of the levels, the widest first: all keys, and others of the domain."""
    keys = () if domain is None else domain.keys
    read: tuple[tuple[KeyValue, ...], ...] = ((),) if domain is None else tuple(domain.listed(domain.keys)[0].values)
    if totals is not None:
        if domain is None or not set(keys) <= set(totals) <= set(domain.columns):
            raise ParameterError("Totals are by columns of the domain, all its keys among them.")
        paths: Any = tuple(zip(*(domain.column(name) for name in totals), strict=True))
        if any(value is None for path in paths for value in path):
            raise ParameterError("A level of the totals is missing for some region; fill it in the domain.")
        nodes, parents = tree(paths)
        return Places(read, totals, nodes, parents)
    if edges is not None:
        if BIN in keys:
            raise ParameterError(f"The regions of a histogram cannot have a column {BIN!r}, which its bins have.")
        named = bin_names(edges)
        return Places(read, (*keys, BIN), tuple((*region, name) for region in read for name in named), None, edges)
    return Places(read, keys, read)


def tree(leaves: tuple[tuple[KeyValue, ...], ...]) -> tuple[tuple[Region, ...], tuple[int | None, ...]]:
    """The nodes of all levels, the root first and the leaves last in their order, and the parent of each.

    >>> tree((("1", "a"), ("1", "b"), ("2", "c")))[0]
    ((None, None), ('1', None), ('2', None), ('1', 'a'), ('1', 'b'), ('2', 'c'))
    >>> tree((("1", "a"), ("1", "b"), ("2", "c")))[1]
    (None, 0, 0, 1, 1, 2)
    """
    depth = len(leaves[0])
    levels = [list(dict.fromkeys(leaf[:length] for leaf in leaves)) for length in range(depth + 1)]
    numbers = {node: number for number, node in enumerate(node for level in levels for node in level)}
    parents = tuple(numbers[node[:-1]] if node else None for node in numbers)
    return tuple((*node, *(None,) * (depth - len(node))) for node in numbers), parents


def bin_names(edges: tuple[Fraction, ...]) -> tuple[str, ...]:
    """What lies between the edges, in words.

    >>> bin_names((Fraction(10), Fraction(25, 2)))
    ('below 10', '10 up to 12.5', '12.5 or more')
    """
    shown = [str(edge) if edge.denominator == 1 else f"{float(edge):.12g}" for edge in edges]
    if len(set(shown)) < len(shown):
        raise ParameterError("Two edges of bins are the same to twelve digits, so that nobody could tell their bins.")
    between = [f"{low} up to {high}" for low, high in pairwise(shown)]
    return (f"below {shown[0]}", *between, f"{shown[-1]} or more")


def edges_of(given: object) -> tuple[Fraction, ...]:
    """The edges of bins from a text like "10, 20, 50"."""
    try:
        texts = [each.strip() for each in str(given).split(",")]
        # An exponent would make a number that fills the memory.
        if len(texts) > MOST_BINS or any(len(each) > LONGEST_EDGE or "e" in each.lower() for each in texts):
            raise ValueError
        edges = tuple(map(Fraction, texts))
        if any(abs(edge) > LARGEST_STEPS for edge in edges):
            raise ValueError
    except (ValueError, ZeroDivisionError):
        raise ParameterError(f"The edges of bins are up to {MOST_BINS:,} numbers, like 10, 20, 50.") from None
    if any(high <= low for low, high in pairwise(edges)):
        raise ParameterError("The edges of bins must each be above the one before.")
    return edges


def in_steps(edges: tuple[Fraction, ...], step: Fraction) -> tuple[int, ...]:
    """The least whole number of steps at or above each edge."""
    found = tuple((edge / step).__ceil__() for edge in edges)
    if len(set(found)) < len(found):
        raise ParameterError(f"Two edges of bins are nearer than the step {parameters.short(step)} of what is counted.")
    return found
