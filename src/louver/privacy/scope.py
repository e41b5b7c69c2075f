"""The scope: the part of the domain that an act touches, a box of column ranges.

A box restricts each of its columns to a set of categories, to whole numbers from a start up to but not including an
end, or to a period of time likewise; an end that is None is open, and a column that is absent is unrestricted. What
two scopes share decides whether their costs add up, so whatever is unclear counts as shared or is refused:

- A scope is never empty: a range without values is refused, and an empty intersection is None.
- One column has one kind of range. Comparing {1} with {True}, or {9} with 9 <= x < 10, is refused.
- Times carry a zone and are kept in UTC. A time without a zone is refused, so the two never mix.
- Texts are compared character by character: the engine must compare them so too, not ignoring case.
- A category column always has further values that no scope names, and a missing value (None) is in no range.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce, total_ordering
from typing import Any, Self, TypeAlias

import numpy as np

from louver.errors import ParameterError
from louver.privacy.ranges import ANYTHING, Among, Between, Category, Range, Value, check_same_kind, range_from_dict
from louver.privacy.unit import Unit, column_name

Point: TypeAlias = "Mapping[str, Value | None]"


@total_ordering
@dataclass(frozen=True, slots=True, init=False)
class Scope:
    """A box: for some columns a range, for all others anything.

    >>> nine = Scope({"room": {"atrium", "library"}, "hour": Between(9, 10)})
    >>> morning = Scope({"hour": Between(8, 12)})
    >>> morning.covers(nine), nine.overlaps(Scope({"room": "lab"}))
    (True, False)
    >>> print(nine.for_unit(Unit("person", "hour")))
    9 <= hour < 10
    """

    ranges: tuple[tuple[str, Range], ...]

    def __init__(self, ranges: Mapping[str, Range | Category | Iterable[Category]]) -> None:
        if not isinstance(ranges, Mapping):
            raise ParameterError(f"A scope takes ranges by column name, not a {type(ranges).__name__}.")
        self._fill({column_name(column): _range(column, given) for column, given in ranges.items()})

    def _fill(self, ranges: Mapping[str, Range]) -> Self:
        kept = [(column, ranges[column]) for column in sorted(ranges) if ranges[column].kind != ANYTHING]
        object.__setattr__(self, "ranges", tuple(kept))
        return self

    @classmethod
    def _made(cls, ranges: Mapping[str, Range]) -> Self:
        return cls.__new__(cls)._fill(ranges)

    @classmethod
    def everything(cls) -> Self:
        return cls._made({})

    @classmethod
    def covering(cls, scopes: Iterable[Scope]) -> Scope:
        """The smallest box that covers all the given scopes."""
        return reduce(Scope.hull, _several(scopes))

    def hull(self, other: Scope) -> Scope:
        """The smallest box that covers both."""
        return Scope._made({column: mine.hull(theirs) for column, mine, theirs in self._shared(other)})

    def intersection(self, other: Scope) -> Scope | None:
        """The part in both, or None if there is none."""
        shared = self._shared(other)
        both = dict(self.ranges + other.ranges)
        for column, mine, theirs in shared:
            met = mine.meet(theirs)
            if met is None:
                return None
            both[column] = met
        return Scope._made(both)

    def overlaps(self, other: Scope) -> bool:
        return all(mine.meet(theirs) is not None for _, mine, theirs in self._shared(other))

    def disjoint(self, other: Scope) -> bool:
        return not self.overlaps(other)

    def covers(self, other: Scope) -> bool:
        """Whether every point of the other scope is in this one."""
        shared = self._shared(other)
        return len(shared) == len(self.ranges) and all(mine.covers(theirs) for _, mine, theirs in shared)

    def without(self, other: Scope) -> tuple[Scope, ...]:
        """This scope less the other, in disjoint boxes; rows with a missing value there are in none of them."""
        if self.disjoint(other):
            return (self,)
        left, pieces = dict(self.ranges), []
        for column, cut in other.ranges:
            mine = left.get(column)
            pieces += [Scope._made({**left, column: piece}) for piece in cut.outside(mine)]
            left[column] = (mine.meet(cut) if mine is not None else None) or cut
        return tuple(pieces)

    def for_unit(self, unit: Unit) -> Scope:
        """The smallest box over columns that the unit fixes: along the others one unit may be on both sides."""
        if not isinstance(unit, Unit):
            raise ParameterError(f"A scope is adapted to a Unit, not to a {type(unit).__name__}.")
        return Scope._made({column: kept for column, kept in self.ranges if unit.fixes(column)})

    def contains(self, point: Point) -> bool:
        """Whether a point, which gives a value (None: missing) for each restricted column, is in this scope."""
        if not isinstance(point, Mapping):
            raise ParameterError(f"A point takes values by column name, not a {type(point).__name__}.")
        for column, _ in self.ranges:
            if column not in point:
                raise ParameterError(f"The point must give a value for column {column!r}, or None if it has none.")
        return all((value := point[column]) is not None and kept.holds(value) for column, kept in self.ranges)

    def _shared(self, other: Scope) -> list[tuple[str, Range, Range]]:
        theirs = dict(_checked(other).ranges)
        shared = [(column, mine, theirs[column]) for column, mine in self.ranges if column in theirs]
        for column, mine, its in shared:
            check_same_kind(column, mine, its)
        return shared

    def order(self) -> tuple[Any, ...]:
        return tuple((column, kept.order()) for column, kept in self.ranges)

    def __lt__(self, other: object) -> bool:
        return self.order() < other.order() if isinstance(other, Scope) else NotImplemented

    def __str__(self) -> str:
        return ", ".join(kept.phrase(column) for column, kept in self.ranges) or "everything"

    def to_dict(self) -> dict[str, dict[str, object]]:
        """Plain values for JSON: the same for equal scopes."""
        return {column: kept.to_dict() for column, kept in self.ranges}

    @classmethod
    def from_dict(cls, plain: object) -> Self:
        if not isinstance(plain, Mapping):
            raise ParameterError(f"A stored scope must be an object with column names, not a {type(plain).__name__}.")
        return cls({column_name(column): range_from_dict(column, stored) for column, stored in plain.items()})


def _checked(scope: object) -> Scope:
    if not isinstance(scope, Scope):
        raise ParameterError(f"A scope is compared with a Scope, not with a {type(scope).__name__}.")
    return scope


def _several(scopes: object) -> list[Scope]:
    several = [_checked(scope) for scope in scopes] if isinstance(scopes, Iterable) else []
    if not several:
        raise ParameterError("A covering scope needs a list of at least one scope to cover.")
    return several


def _range(column: str, given: object) -> Range:
    if isinstance(given, Among | Between):
        return given
    if isinstance(given, str | int | np.integer | np.bool_ | list | set | frozenset):
        return Among(given)  # type: ignore[arg-type]
    raise ParameterError(f"Column {column!r} needs a category, a set of categories or Between(start, end).")
