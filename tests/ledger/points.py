"""A budget by brute force: what was charged at every point of a tiny grid, to compare the ledger with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from louver.privacy import Between, Scope

ROOMS = ("a", "b", "c")
PART = Fraction(1, 60)  # prices are whole numbers of these
Cells = NDArray[np.bool_]
Amounts = NDArray[np.int64]
Span = tuple[int | None, int | None]


@dataclass(frozen=True)
class Box:
    """A scope by its cells: some rooms, and for each interval column the numbers of two cuts; None is open."""

    rooms: frozenset[str] | None
    spans: tuple[Span, ...]


@dataclass(frozen=True)
class Grid:
    """Rooms, and any others, times the cells between the cuts of each interval column, before, after, and missing."""

    columns: tuple[tuple[str, tuple[int, ...] | tuple[datetime, ...]], ...]

    def scope(self, box: Box) -> Scope:
        ranges: dict[str, Any] = {} if box.rooms is None else {"room": box.rooms}
        for (column, cuts), (first, last) in zip(self.columns, box.spans, strict=True):
            if first is not None or last is not None:
                start, end = None if first is None else cuts[first], None if last is None else cuts[last]
                ranges[column] = Between(start, end)
        return Scope(ranges)

    def cells(self, box: Box) -> Cells:
        inside: Cells = np.array([box.rooms is None or room in box.rooms for room in (*ROOMS, None)])
        for (_, cuts), (first, last) in zip(self.columns, box.spans, strict=True):
            line = np.zeros(len(cuts) + 2, dtype=bool)
            if first is None and last is None:
                line[:] = True
            else:
                line[0 if first is None else first + 1 : (len(cuts) if last is None else last) + 1] = True
            inside = inside[..., None] & line
        return inside

    def nothing(self) -> Amounts:
        return np.zeros((len(ROOMS) + 1, *(len(cuts) + 2 for _, cuts in self.columns)), dtype=np.int64)

    def boxes(self) -> st.SearchStrategy[Box]:
        rooms = st.none() | st.frozensets(st.sampled_from(ROOMS), min_size=1)
        return st.builds(Box, rooms, st.tuples(*(_spans(len(cuts)) for _, cuts in self.columns)))

    def parts(self, box: Box) -> st.SearchStrategy[Box]:
        """Boxes inside a box."""
        rooms = st.frozensets(st.sampled_from(sorted(box.rooms or ROOMS)), min_size=1)
        if box.rooms is None:
            rooms = st.none() | rooms  # type: ignore[assignment]
        return st.builds(
            Box,
            rooms,
            st.tuples(
                *(
                    _spans(len(cuts), *span) if any(edge is not None for edge in span) else _spans(len(cuts))
                    for (_, cuts), span in zip(self.columns, box.spans, strict=True)
                )
            ),
        )


@st.composite
def _spans(draw: st.DrawFn, cuts: int, first: int | None = None, last: int | None = None) -> Span:
    """Two cuts in order, or open ends, within a span; short ones are drawn as often as long ones."""
    lowest, highest = first or 0, cuts - 1 if last is None else last
    open_start, open_end = first is None and draw(st.booleans()), last is None and draw(st.booleans())
    start = draw(st.integers(lowest, highest - 1)) if not open_start and lowest < highest else first
    longest = highest - (start if start is not None else lowest - 1)
    if open_end or longest < 1:
        return start, last
    length = draw(st.just(1) | st.integers(1, longest))
    return start, (start if start is not None else lowest - 1) + length


@dataclass(frozen=True)
class Spent:
    """One price: how many parts, how much delta, which kind."""

    box: Box
    price: int
    delta: int = 0
    family: str = "pure"


@dataclass(frozen=True)
class Limit:
    """A cap, in parts."""

    box: Box
    epsilon: int
    delta: int = 0
    rho: int = 0
    audience: str | None = None

    def amount(self, family: str, measure: str) -> int:
        return self.delta if measure == "delta" else self.epsilon if family == "pure" else self.rho


@dataclass
class Points:
    """What was spent at every point, by kind, by measure and in whose name."""

    grid: Grid
    amounts: dict[tuple[str, str, str | None], Amounts] = field(default_factory=dict)

    def add(self, charges: Sequence[Spent], audience: str | None, sign: int = 1) -> None:
        for (family, measure), more in self._arrays(charges).items():
            before = self.amounts.get((family, measure, audience), self.grid.nothing())
            self.amounts[family, measure, audience] = before + sign * more

    def total(self, family: str, measure: str, audience: str | None) -> Amounts:
        """In one audience's name, or in everybody's."""
        chosen = (
            amounts
            for (kind, what, whose), amounts in self.amounts.items()
            if (kind, what) == (family, measure) and (audience is None or whose == audience)
        )
        return sum(chosen, self.grid.nothing())

    def largest(self, box: Box, family: str, measure: str, audience: str | None) -> int:
        return int(self.total(family, measure, audience)[self.grid.cells(box)].max())

    def left(self, box: Box, limits: Sequence[Limit], family: str, audience: str | None) -> int:
        cells = self.grid.cells(box)
        if any(self.total(kind, "price", None)[cells].any() for kind in self.families() - {family}):
            return 0
        left = [
            limit.amount(family, "price") - int(self.total(family, "price", limit.audience)[part].max())
            for limit in limits
            if limit.audience in (None, audience) and (part := cells & self.grid.cells(limit.box)).any()
        ]
        return max(min(left), 0)

    def fits(self, charges: Sequence[Spent], limits: Sequence[Limit], audience: str | None) -> bool:
        new = self._arrays(charges)
        for (family, measure), more in new.items():
            for limit in limits:
                if limit.audience in (None, audience):
                    total = self.total(family, measure, limit.audience) + more
                    touched = (more > 0) & self.grid.cells(limit.box)
                    if (total[touched] > limit.amount(family, measure)).any():
                        return False
        return not self._mixes(charges, new)

    def _mixes(self, charges: Sequence[Spent], new: dict[tuple[str, str], Amounts]) -> bool:
        for charge in charges:
            cells = self.grid.cells(charge.box)
            others = [
                amounts for (family, *_), amounts in (*new.items(), *self.amounts.items()) if family != charge.family
            ]
            if any(amounts[cells].any() for amounts in others):
                return True
        return False

    def families(self) -> set[str]:
        return {family for family, _, _ in self.amounts}

    def _arrays(self, charges: Sequence[Spent]) -> dict[tuple[str, str], Amounts]:
        arrays: dict[tuple[str, str], Amounts] = {}
        for charge, measure, amount in _each(charges):
            before = arrays.get((charge.family, measure), self.grid.nothing())
            arrays[charge.family, measure] = before + amount * self.grid.cells(charge.box)
        return arrays


def _each(charges: Sequence[Spent]) -> Iterator[tuple[Spent, str, int]]:
    for charge in charges:
        yield charge, "price", charge.price
        yield charge, "delta", charge.delta
