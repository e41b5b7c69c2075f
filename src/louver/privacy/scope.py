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
from datetime import UTC, datetime
from functools import reduce, total_ordering
from typing import Any, Self, TypeAlias

import numpy as np

from louver import parameters
from louver.errors import ParameterError
from louver.privacy.unit import Unit, column_name

LARGEST_INTEGER = 2**128
LONGEST_TEXT = 1024
NUMBERS, TIMES, ANYTHING = "a range of whole numbers", "a period of time", "unrestricted"

Category: TypeAlias = "str | int | bool"
Value: TypeAlias = "str | int | bool | datetime"
Point: TypeAlias = "Mapping[str, Value | None]"
Range: TypeAlias = "Among | Between"


@dataclass(frozen=True, slots=True, init=False)
class Among:
    """A finite set of categories, all of them texts, whole numbers, or true and false."""

    values: frozenset[Category]
    kind: str

    def __init__(self, values: Category | Iterable[Category]) -> None:
        listed = [values] if isinstance(values, str) or not isinstance(values, Iterable) else list(values)
        kinds = sorted({_category_kind(value) for value in listed})
        if not kinds:
            raise ParameterError("A set of categories must hold at least one value; leave the column out instead.")
        if len(kinds) > 1:
            raise ParameterError(f"Categories of one column must be of one kind, but these are {' and '.join(kinds)}.")
        self._fill(frozenset(_category(value) for value in listed), kinds[0])

    def _fill(self, values: frozenset[Category], kind: str) -> Self:
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "kind", kind)
        return self

    def _made(self, values: frozenset[Category]) -> Self:
        return type(self).__new__(type(self))._fill(values, self.kind)

    def holds(self, value: Value) -> bool:
        if (kind := _category_kind(value)) != self.kind:
            raise ParameterError(f"A point with a value from {kind} cannot be compared with {self.kind}.")
        return value in self.values

    def meet(self, other: Any) -> Self | None:
        common = self.values & other.values
        return self._made(common) if common else None

    def hull(self, other: Any) -> Self:
        return self._made(self.values | other.values)

    def covers(self, other: Any) -> bool:
        return bool(other.values <= self.values)

    def outside(self, whole: Any) -> list[Self]:
        """What is left of another range (None: of all values) without this one, in disjoint ranges."""
        if whole is None:
            raise ParameterError("All categories but some are not a range; list the categories of the whole first.")
        left = whole.values - self.values
        return [self._made(left)] if left else []

    def order(self) -> tuple[Any, ...]:
        return (self.kind, tuple(sorted(self.values)))

    def to_dict(self) -> dict[str, object]:
        return {"among": sorted(self.values)}

    def phrase(self, column: str) -> str:
        shown = [str(value) for value in sorted(self.values)]
        if len(shown) == 1:
            return f"{column} = {shown[0]}"
        listed = shown if len(shown) <= 6 else [*shown[:5], f"{len(shown) - 5} more"]
        return f"{column} in {{{', '.join(listed)}}}"


@dataclass(frozen=True, slots=True, init=False)
class Between:
    """Whole numbers, or times, from start up to but not including end; None is open."""

    start: int | datetime | None
    end: int | datetime | None

    def __init__(self, start: int | datetime | None, end: int | datetime | None) -> None:
        first: Any = None if start is None else _edge(start)
        last: Any = None if end is None else _edge(end)
        if first is not None and last is not None:
            if type(first) is not type(last):
                raise ParameterError("A range must start and end with whole numbers, or with times, not with one each.")
            if first >= last:
                raise ParameterError(f"A range must end after it starts, but {first} is not before {last}.")
        self._fill(first, last)

    def _fill(self, start: Any, end: Any) -> Self:
        object.__setattr__(self, "start", start)
        object.__setattr__(self, "end", end)
        return self

    def _made(self, start: Any, end: Any) -> Self | None:
        if start is not None and end is not None and start >= end:
            return None
        return type(self).__new__(type(self))._fill(start, end)

    @property
    def kind(self) -> str:
        edge = self.end if self.start is None else self.start
        return ANYTHING if edge is None else TIMES if isinstance(edge, datetime) else NUMBERS

    def holds(self, value: Value) -> bool:
        exact: Any = _edge(value)
        start: Any = self.start
        end: Any = self.end
        if (kind := TIMES if isinstance(exact, datetime) else NUMBERS) != self.kind:
            raise ParameterError(f"A point with a value from {kind} cannot be compared with {self.kind}.")
        return (start is None or start <= exact) and (end is None or exact < end)

    def meet(self, other: Any) -> Self | None:
        return self._made(_later(self.start, other.start), _earlier(self.end, other.end))

    def hull(self, other: Any) -> Self:
        start = None if self.start is None or other.start is None else _earlier(self.start, other.start)
        end = None if self.end is None or other.end is None else _later(self.end, other.end)
        return type(self).__new__(type(self))._fill(start, end)

    def covers(self, other: Any) -> bool:
        starts = self.start is None or (other.start is not None and self.start <= other.start)
        return starts and (self.end is None or (other.end is not None and other.end <= self.end))

    def outside(self, whole: Any) -> list[Self]:
        """What is left of another range (None: of all values) without this one, in disjoint ranges."""
        start, end = (None, None) if whole is None else (whole.start, whole.end)
        before = None if self.start is None else self._made(start, _earlier(end, self.start))
        after = None if self.end is None else self._made(_later(start, self.end), end)
        return [piece for piece in (before, after) if piece is not None]

    def order(self) -> tuple[Any, ...]:
        return (self.kind, () if self.start is None else (self.start,), (1,) if self.end is None else (0, self.end))

    def to_dict(self) -> dict[str, object]:
        return {
            name: edge.isoformat() if isinstance(edge, datetime) else edge
            for name, edge in (("from", self.start), ("to", self.end))
        }

    def phrase(self, column: str) -> str:
        start = "" if self.start is None else f"{_written(self.start)} <= "
        return f"{start}{column}" + ("" if self.end is None else f" < {_written(self.end)}")


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
        return cls({column_name(column): _from_dict(column, stored) for column, stored in plain.items()})


def check_same_kind(column: str, first: Range, second: Range) -> None:
    if first.kind != second.kind:
        raise ParameterError(
            f"Column {column!r} is {first.kind} in one scope and {second.kind} in another; use one kind throughout."
        )


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


def _from_dict(column: str, stored: object) -> Range:
    if isinstance(stored, Mapping) and set(stored) == {"among"} and isinstance(stored["among"], list):
        return Among(stored["among"])
    if isinstance(stored, Mapping) and set(stored) == {"from", "to"}:
        return Between(_edge_from(stored["from"]), _edge_from(stored["to"]))
    raise ParameterError(f"Column {column!r} of a stored scope needs either 'among', or 'from' and 'to'.")


def _edge_from(stored: Any) -> Any:
    try:
        return datetime.fromisoformat(stored) if isinstance(stored, str) else stored
    except ValueError:
        raise ParameterError("A stored time must be a text like 2026-01-31T09:00:00+00:00.") from None


def _category_kind(value: object) -> str:
    if isinstance(value, bool | np.bool_):
        return "a set of true and false"
    if isinstance(value, str):
        return "a set of texts"
    if isinstance(value, int | np.integer):
        return "a set of whole numbers"
    raise ParameterError(f"A category must be a text, a whole number or true or false, not a {type(value).__name__}.")


def _category(value: object) -> Category:
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if not isinstance(value, str):
        return parameters.integer("A category", value, -LARGEST_INTEGER, LARGEST_INTEGER)
    if len(value) > LONGEST_TEXT:
        raise ParameterError(f"A category must have at most {LONGEST_TEXT} characters, not {len(value)}.")
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise ParameterError("A category must be valid text, but this one holds half of a character; clean it first.")
    return str.__str__(value)


def _edge(value: object) -> int | datetime:
    """A start, an end or a value in between: a whole number, or a time in UTC."""
    if not isinstance(value, datetime):
        return parameters.integer("A number in a range", value, -LARGEST_INTEGER, LARGEST_INTEGER)
    if value.utcoffset() is None:
        raise ParameterError("A time needs a zone; write datetime(..., tzinfo=UTC) for times in UTC.")
    if getattr(value, "nanosecond", 0):
        raise ParameterError("A time is kept to the microsecond; round it to one.")
    try:
        utc = value.astimezone(UTC)
    except (OverflowError, ValueError):
        raise ParameterError("A time this near the end of the calendar cannot be kept in UTC; use None.") from None
    return datetime(utc.year, utc.month, utc.day, utc.hour, utc.minute, utc.second, utc.microsecond, UTC)


def _later(first: Any, second: Any) -> Any:
    return second if first is None else first if second is None else max(first, second)


def _earlier(first: Any, second: Any) -> Any:
    return second if first is None else first if second is None else min(first, second)


def _written(edge: int | datetime | None) -> str:
    if not isinstance(edge, datetime):
        return str(edge)
    return edge.isoformat(" ", "auto" if edge.second or edge.microsecond else "minutes").removesuffix("+00:00") + " UTC"
