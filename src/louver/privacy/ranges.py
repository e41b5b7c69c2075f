"""What a scope allows in one column: a set of categories, or an interval of whole numbers or times."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Self, TypeAlias

import numpy as np

from louver import parameters
from louver.errors import ParameterError

LARGEST_INTEGER = 2**128
LONGEST_TEXT = 1024
NUMBERS, TIMES, ANYTHING = "a range of whole numbers", "a period of time", "unrestricted"
Category: TypeAlias = "str | int | bool"
Value: TypeAlias = "str | int | bool | datetime"
Range: TypeAlias = "Among | Between"


@dataclass(frozen=True, slots=True, init=False)
class Among:
    """A finite set of categories, all of them texts, whole numbers, or true and false."""

    values: frozenset[Category]
    kind: str

    def __init__(self, values: Category | Iterable[Category]) -> None:
        listed: list[object] = [values]
        if isinstance(values, Iterable) and not isinstance(values, str):
            with suppress(TypeError):  # NumPy's single numbers look iterable and are not
                listed = list(values)
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


def check_same_kind(column: str, first: Range, second: Range) -> None:
    if first.kind != second.kind:
        raise ParameterError(
            f"Column {column!r} is {first.kind} in one scope and {second.kind} in another; use one kind throughout."
        )


def range_from_dict(column: str, stored: object) -> Range:
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
