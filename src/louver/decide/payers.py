"""Who pays for a look: the scopes of its keys, in as few boxes as say the same.

Costs of different keys stay apart only along columns that the unit fixes. Keys that agree there share a scope, which
pays for one unit's touches at the largest price among them: a unit that moves aligned margins by d_1, d_2, ... changes
the probability of any outcome by a factor of at most exp(e_1 |d_1| + e_2 |d_2| + ...), and the |d_i| add up to at most
its touches. Scopes with equal prices are joined into boxes, column by column; a box never covers another key's scope.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

from louver.decide.touch import Touch
from louver.privacy import Among, Between, Charge, Scope, Unit
from louver.privacy.ranges import Range
from louver.source.filters import Value, point_range
from louver.source.measures import Keys

MOST_SCOPES = 4096

Box: TypeAlias = "tuple[Range, ...]"


def charges(
    keys: Keys, box: Scope, touch: Touch, unit: Unit, levels: Sequence[int], prices: Sequence[Fraction]
) -> tuple[Charge, ...]:
    """The charges of one look whose key number i reached prices[levels[i]]; a negative level was never looked at."""
    fixed = [at for at, column in enumerate(keys.columns) if unit.fixes(column)]
    within = dict(box.for_unit(unit).ranges)
    reached: dict[tuple[object, ...], int] = {}
    for key, level in zip(keys.values, levels, strict=True):
        scope: tuple[object, ...] = tuple(key[at] for at in fixed)
        if level > reached.get(scope, -1):
            reached[scope] = level
    columns = [keys.columns[at] for at in fixed]
    by_level: dict[int, list[tuple[object, ...]]] = {}
    for place, level in reached.items():
        by_level.setdefault(level, []).append(place)
    made = []
    for level in sorted(by_level):
        for ranges in _boxes([tuple(map(_range, place)) for place in by_level[level]]):
            narrowed = _narrowed(within, dict(zip(columns, ranges, strict=True)))
            if narrowed is not None:
                made.append(Charge(narrowed, touch.times * prices[level]))
    if len(made) <= MOST_SCOPES:
        return tuple(made)
    # So many boxes would take the ledger minutes. All keys at the largest price are the boxes that were reserved; where
    # even those are too many, one around them was.
    largest = max(levels)
    if min(levels) < largest:
        return charges(keys, box, touch, unit, [largest] * len(keys), prices)
    return (Charge(Scope.covering([each.scope for each in made]), touch.times * prices[largest]),)


def reserved(keys: Keys, box: Scope, touch: Touch, unit: Unit, price: Fraction) -> tuple[Charge, ...]:
    """The charges of one look whose keys all cost the same. They are kept: a plan is asked for them again and again."""
    return _reserved(keys, tuple(map(type, keys.values[0])), box, touch, unit, price)


@lru_cache(maxsize=32)
def _reserved(
    keys: Keys, kinds: tuple[type, ...], box: Scope, touch: Touch, unit: Unit, price: Fraction
) -> tuple[Charge, ...]:
    """`kinds` tells keys apart that Python takes for equal: 1 and True."""
    del kinds
    return charges(keys, box, touch, unit, [0] * len(keys), [price])


def _range(value: object) -> Range:
    return _range_of(type(value), value)  # type: ignore[arg-type]


@lru_cache(maxsize=4096)
def _range_of(kind: type, value: Value) -> Range:
    """Kept, because a value comes in many keys; `kind` tells 1 and True apart."""
    del kind
    return point_range(value)


def _narrowed(within: dict[str, Range], key: dict[str, Range]) -> Scope | None:
    """The key's box inside the filter's; None where the filter lets no row of these keys through."""
    return Scope(within).intersection(Scope(key))


def _boxes(points: list[Box]) -> list[Box]:
    """The same points as fewer boxes: along each column in turn, boxes that differ there only are joined."""
    boxes = points
    for at in reversed(range(len(points[0]) if points else 0)):
        groups: dict[tuple[Range, ...], list[Range]] = {}
        for box in boxes:
            groups.setdefault(box[:at] + box[at + 1 :], []).append(box[at])
        boxes = [(*rest[:at], joined, *rest[at:]) for rest, ranges in groups.items() for joined in _joined(ranges)]
    return boxes


def _joined(ranges: Iterable[Range]) -> list[Range]:
    """Categories as one set, and intervals that touch as one interval."""
    listed = list(ranges)
    if isinstance(listed[0], Among):
        return [Among([value for each in listed for value in each.values])]  # type: ignore[union-attr]
    joined: list[Between] = []
    for each in sorted((each for each in listed if isinstance(each, Between)), key=lambda each: each.order()):
        if joined and joined[-1].end == each.start:
            joined[-1] = Between(joined[-1].start, each.end)
        else:
            joined.append(each)
    return list(joined)
