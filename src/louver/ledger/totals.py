"""Totals: what was charged on scopes, and the largest sum of them at one point."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import TypeVar

from louver.privacy.predicatewise import Charge, Peak, heaviest
from louver.privacy.ranges import LARGEST_INTEGER, Among, Between, Range, Value, check_same_kind
from louver.privacy.scope import Scope

EVERYBODY = ""
ZERO = Fraction(0)
_FIRST_TIME = datetime.min.replace(tzinfo=UTC)
Thing = TypeVar("Thing")


@dataclass(frozen=True, slots=True)
class Total:
    """What was charged on one scope by one kind of prices, in one audience's name."""

    scope: Scope
    audience: str
    family: str
    price: Fraction
    delta: Fraction
    stored: bool = True


Measure = Callable[[Total], Fraction]


def price(total: Total) -> Fraction:
    return total.price


def delta(total: Total) -> Fraction:
    return total.delta


def totals_of(charges: Iterable[Charge], audience: str) -> list[Total]:
    """Charges added up by scope."""
    sums: dict[tuple[Scope, str], tuple[Fraction, Fraction]] = {}
    for charge in charges:
        place, numbers = (charge.scope, charge.adds_up_with), (charge.price, charge.delta)
        before = sums.get(place)
        sums[place] = numbers if before is None else (before[0] + numbers[0], before[1] + numbers[1])
    return [Total(scope, audience, family, *numbers, stored=False) for (scope, family), numbers in sums.items()]


def peak(totals: Iterable[Total], region: Scope, measure: Measure, family: str, audience: str) -> Peak:
    """The largest total inside a region of those given, and where."""
    crossing, everywhere = [], ZERO
    for total in totals:
        amount = measure(total)
        if not amount or total.family != family or (audience != EVERYBODY and total.audience != audience):
            continue
        if total.scope == region:
            everywhere += amount
            continue
        part = total.scope.intersection(region)
        if part == region:
            everywhere += amount
        elif part is not None:
            crossing.append((part, amount))
    if not crossing:
        return Peak(everywhere, _corner(region))
    # A price of 1 everywhere inside keeps the point inside the region.
    found = heaviest([(region, Fraction(1)), *crossing])
    return Peak(found.price - 1 + everywhere, {**_corner(region), **found.point})


def with_same_intervals(things: Iterable[Thing], scope: Callable[[Thing], Scope]) -> list[list[Thing]]:
    """Things grouped by the columns of their scopes and the intervals among them; in a group only categories differ."""
    groups: dict[tuple[object, ...], list[Thing]] = {}
    for thing in things:
        shape = tuple((column, kept if isinstance(kept, Between) else None) for column, kept in scope(thing).ranges)
        groups.setdefault(shape, []).append(thing)
    return list(groups.values())


def around(group: Sequence[Scope]) -> Scope:
    """The smallest box around regions with the same intervals."""
    ranges: dict[str, Range] = dict(group[0].ranges)
    for number, (column, kept) in enumerate(group[0].ranges):
        if isinstance(kept, Among):
            sets = [region.ranges[number][1] for region in group]
            for other in sets:
                check_same_kind(column, kept, other)
            ranges[column] = Among({value for each in sets for value in each.values})  # type: ignore[union-attr]
    return Scope(ranges)


def by_category(totals: Iterable[Total], regions: Sequence[Scope]) -> Callable[[Scope], list[Total]]:
    """A quick way to the totals that can meet each region, where regions differ in one category."""
    column = next((name for name, kept in regions[0].ranges if _single(kept)), None) if regions else None
    if column is None or not all(_single(dict(region.ranges).get(column)) for region in regions):
        every = list(totals)
        return lambda _: every
    common: list[Total] = []
    named: dict[object, list[Total]] = {}
    for total in totals:
        kept = dict(total.scope.ranges).get(column)
        if isinstance(kept, Among):
            for value in kept.values:
                named.setdefault(value, []).append(total)
        else:
            common.append(total)

    def found(region: Scope) -> list[Total]:
        (value,) = dict(region.ranges)[column].values  # type: ignore[union-attr]
        return named.get(value, []) + common

    return found


def _single(kept: object) -> bool:
    return isinstance(kept, Among) and len(kept.values) == 1


def _corner(region: Scope) -> dict[str, Value | None]:
    """A point of a region, in the columns it restricts."""
    return {column: _value(kept) for column, kept in region.ranges}


def _value(kept: Range) -> Value | None:
    if isinstance(kept, Among):
        return min(kept.values)  # type: ignore[type-var,unused-ignore]
    if kept.start is not None or kept.end is None:
        return kept.start
    if isinstance(kept.end, datetime):
        return None if kept.end == _FIRST_TIME else kept.end - timedelta(microseconds=1)
    return None if kept.end == -LARGEST_INTEGER else kept.end - 1
