"""Which rows count: conditions on single rows, and the box of columns they provably stay in.

A row whose value is missing, or is no number where a number is compared, meets no condition on that column, and not its
negation either, as in SQL. `scope` gives a box that holds every row a filter lets through: what two filters share
decides whether their costs add up, so a filter that has no simple box gets a larger one, never a smaller one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from functools import reduce
from typing import Any, TypeAlias

from louver.errors import ParameterError
from louver.privacy import Among, Between, Scope
from louver.privacy.ranges import Range
from louver.privacy.unit import column_name

Value: TypeAlias = "str | int | bool | Fraction | date | datetime"
Filter: TypeAlias = "Compare | OneOf | Missing | Both | Either | Not"
SIGNS = ("=", "<>", "<", "<=", ">", ">=")
DAY = timedelta(days=1)
INSTANT = timedelta(microseconds=1)


class _Exact(ABC):
    """Equal to what says the same of the same kind of values: 1 is not true, though Python finds them equal."""

    __slots__ = ()

    @abstractmethod
    def _said(self) -> tuple[object, ...]:
        """What makes it what it is."""

    def __eq__(self, other: object) -> bool:
        return self._said() == other._said() if isinstance(other, type(self)) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._said())


@dataclass(frozen=True, slots=True, eq=False)
class Compare(_Exact):
    """A column against a value; `sign` is one of =, <>, <, <=, >, >=."""

    column: str
    sign: str
    value: Value

    def __post_init__(self) -> None:
        column_name(self.column)
        if self.sign not in SIGNS:
            raise ParameterError(f"Rows are compared with one of {', '.join(SIGNS)}, not with {self.sign!r}.")
        if isinstance(self.value, bool) and self.sign not in ("=", "<>"):
            raise ParameterError(f"Column {self.column!r} can be true or false; neither is larger.")

    def _said(self) -> tuple[object, ...]:
        return self.column, self.sign, self.value, isinstance(self.value, bool)


@dataclass(frozen=True, slots=True, eq=False)
class OneOf(_Exact):
    """A column with one of several values of one kind."""

    column: str
    values: tuple[Value, ...]

    def __post_init__(self) -> None:
        column_name(self.column)
        if not self.values:
            raise ParameterError(f"Column {self.column!r} must be one of at least one value.")
        if len({kind_of(value) for value in self.values}) > 1:
            raise ParameterError(f"The values listed for column {self.column!r} must be of one kind.")

    def _said(self) -> tuple[object, ...]:
        return self.column, self.values, isinstance(self.values[0], bool)


@dataclass(frozen=True, slots=True)
class Missing:
    """A column without a value."""

    column: str

    def __post_init__(self) -> None:
        column_name(self.column)


@dataclass(frozen=True, slots=True)
class Both:
    """All of the parts; without parts, every row."""

    parts: tuple[Filter, ...] = ()


@dataclass(frozen=True, slots=True)
class Either:
    """At least one of the parts."""

    parts: tuple[Filter, ...]

    def __post_init__(self) -> None:
        if not self.parts:
            raise ParameterError("A filter of alternatives needs at least one.")


@dataclass(frozen=True, slots=True)
class Not:
    part: Filter


EVERY_ROW = Both()


def both(filters: Iterable[Filter]) -> Filter:
    """One filter for several, flat and without repeats."""
    parts = tuple(dict.fromkeys(part for each in filters for part in conjuncts(each)))
    return parts[0] if len(parts) == 1 else Both(parts)


def conjuncts(given: Filter) -> tuple[Filter, ...]:
    """The parts that must all hold."""
    if isinstance(given, Both):
        return tuple(part for each in given.parts for part in conjuncts(each))
    return (given,)


def columns(given: Filter) -> Iterator[str]:
    if isinstance(given, Both | Either):
        for part in given.parts:
            yield from columns(part)
    elif isinstance(given, Not):
        yield from columns(given.part)
    else:
        yield given.column


def scope(given: Filter) -> Scope | None:
    """A box that holds every row the filter lets through, or None where it can let none through."""
    if isinstance(given, Both):
        boxes = [scope(part) for part in given.parts]
        met: Scope | None = Scope.everything()
        for box in boxes:
            met = None if met is None or box is None else met.intersection(box)
        return met
    if isinstance(given, Either):
        some = [box for part in given.parts if (box := scope(part)) is not None]
        return _hull(some) if some else None
    if isinstance(given, Compare) and given.sign != "<>":
        kept = _range(given)
        return Scope.everything() if kept is None else Scope({given.column: kept})
    if isinstance(given, OneOf):
        ranges = [scope(Compare(given.column, "=", value)) for value in given.values]
        return _hull([each for each in ranges if each is not None])
    return Scope.everything()


def _hull(boxes: list[Scope]) -> Scope:
    """The smallest box around several; a column that one of them leaves open stays open."""
    return reduce(Scope.hull, boxes)


def point_range(value: Value) -> Range:
    """The range that holds one value: a category, or an interval. A fraction is in the range of its whole part."""
    if isinstance(value, str | bool):
        return Among(value)
    if isinstance(value, int | Fraction):
        return Between(value.__floor__(), value.__floor__() + 1)
    if isinstance(value, datetime):
        return Between(_utc(value), _utc(value) + INSTANT)
    return Between(_midnight(value), _midnight(value) + DAY)


def _range(given: Compare) -> Range | None:
    """A range that holds every value the comparison lets through; None where that is all values.

    Values are taken down to a whole number, microsecond or day, so that what is above 3 may still be in the range of 3.
    """
    point = point_range(given.value)
    if given.sign == "=":
        return point
    if not isinstance(point, Between):
        return None
    if given.sign in (">", ">="):
        return Between(point.start, None)
    exact = given.sign == "<" and not (isinstance(given.value, Fraction) and given.value.denominator > 1)
    return Between(None, point.start if exact else point.end)


def _utc(value: datetime) -> datetime:
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def _midnight(value: date) -> datetime:
    return datetime(value.year, value.month, value.day, tzinfo=UTC)


def kind_of(value: object) -> str:
    """What kind of value this is, as a word."""
    for kind, types in _KINDS.items():
        if isinstance(value, types):
            return kind
    raise ParameterError(
        f"A value must be a text, a number, true or false, a day or a time, not a {type(value).__name__}."
    )


_KINDS: dict[str, type | tuple[type, ...]] = {
    "truth": bool,
    "text": str,
    "number": (int, Fraction),
    "time": datetime,
    "day": date,
}


def value_to_plain(value: Value) -> list[Any]:
    """A value for JSON, with its kind."""
    kind = kind_of(value)
    if kind == "number":
        return [kind, str(value)]
    return [kind, value if kind in ("truth", "text") else value.isoformat()]  # type: ignore[union-attr]


def value_from_plain(plain: object) -> Value:
    try:
        stored: Any = plain
        kind, written = stored
        if kind == "number":
            if not set(written) <= set("-/0123456789"):
                raise ValueError  # an exponent would make a number that fills the memory
            number = Fraction(written)
            return int(number) if number.denominator == 1 else number
        made: dict[str, Any] = {"day": date.fromisoformat, "time": datetime.fromisoformat}
        value: Value = made.get(kind, lambda same: same)(written)
        if kind_of(value) != kind:
            raise ValueError
    except (TypeError, ValueError, ZeroDivisionError):
        raise ParameterError("A stored value needs its kind and itself, like ['text', 'hall'].") from None
    return value


def filter_to_dict(given: Filter) -> dict[str, Any]:
    if isinstance(given, Compare):
        return {"column": given.column, "sign": given.sign, "value": value_to_plain(given.value)}
    if isinstance(given, OneOf):
        return {"column": given.column, "one_of": [value_to_plain(value) for value in given.values]}
    if isinstance(given, Missing):
        return {"column": given.column, "missing": True}
    if isinstance(given, Not):
        return {"not": filter_to_dict(given.part)}
    name = "both" if isinstance(given, Both) else "either"
    return {name: [filter_to_dict(part) for part in given.parts]}


def filter_from_dict(plain: object) -> Filter:
    if isinstance(plain, Mapping):
        match sorted(plain):
            case ["column", "sign", "value"]:
                return Compare(plain["column"], plain["sign"], value_from_plain(plain["value"]))
            case ["column", "one_of"] if isinstance(plain["one_of"], list):
                return OneOf(plain["column"], tuple(value_from_plain(value) for value in plain["one_of"]))
            case ["column", "missing"]:
                return Missing(plain["column"])
            case ["not"]:
                return Not(filter_from_dict(plain["not"]))
            case ["both"] if isinstance(plain["both"], list):
                return Both(tuple(filter_from_dict(part) for part in plain["both"]))
            case ["either"] if isinstance(plain["either"], list):
                return Either(tuple(filter_from_dict(part) for part in plain["either"]))
    raise ParameterError("A stored filter is not complete; make it again.")
