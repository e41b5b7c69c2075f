"""The public keys of a reading as small tables that are joined with the rows, each key with its number and limits.

Where each key column has few values whatever the rows are, the rows can be grouped by those values before their keys
are looked up: one look for each group instead of one for each row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from louver.errors import ParameterError
from louver.source import bands, derived
from louver.source.columns import Column
from louver.source.conditions import LARGEST_WHOLE, Native, float_limit, literal, matched, transported, whole_limit
from louver.source.crossed import Crossed
from louver.source.derived import Derived
from louver.source.dialects import DAY, REAL, TEXT, TIME, WHOLE, Dialect
from louver.source.measures import BEYOND, Keys, Measure, Reading

NUMBER = "number"
MANY_KEYS = 100  # with fewer, a join leaves out most rows before they are grouped
MOST_SLOTS_FOR_ONE = 4  # that rows may be in, for each slot that is asked about


@dataclass(frozen=True, slots=True)
class Listed:
    """One column of a list: its name, the type in which it travels, its different values, and which of them each key
    has. A list of all regions at all ticks has few values of each, and only those need be converted."""

    name: str
    kind: str
    different: list[Any]
    which: NDArray[np.int64]

    @property
    def values(self) -> list[Any]:
        return [self.different[at] for at in self.which.tolist()]


@dataclass(frozen=True, slots=True)
class KeyList:
    """One list of keys: what to hand to the engine, under which name, and how rows find their key in it."""

    name: str
    columns: tuple[Listed, ...]
    on: tuple[exp.Expr, ...]
    number: exp.Expr
    few: tuple[exp.Expr, ...] | None = None
    """What rows are grouped by before they are joined; None where that could be too many groups."""

    @property
    def is_joined(self) -> bool:
        """Without columns there is one key, which all rows have, and nothing to look up."""
        return bool(self.on)

    def column(self, name: str) -> exp.Expr:
        return exp.column(name, table=self.name, quoted=True)

    def found_in(self, groups: Sequence[exp.Expr]) -> exp.Expr:
        """How a group of rows finds its key."""
        pairs = zip(self.on, groups, strict=True)
        return exp.and_(*(exp.EQ(this=group, expression=each.expression.copy()) for each, group in pairs), copy=False)


def key_lists(reading: Reading, find: Callable[[str], Column], dialect: Dialect) -> list[KeyList]:
    return [_key_list(place, keys, reading, find, dialect) for place, keys in enumerate(reading.keys)]


def limit_name(measure: int) -> str:
    return f"limit{measure}"


def _key_list(place: int, keys: Keys, reading: Reading, find: Callable[[str], Column], dialect: Dialect) -> KeyList:
    name = f"keys{place}"
    limits = [
        _limits(number, measure, find(measure.column or ""))
        for number, measure in enumerate(reading.measures)
        if measure.keys == place and measure.kind == BEYOND
    ]
    if not keys.columns and not limits:
        return KeyList(name, (), (), exp.convert(0))
    listed: list[Listed] = []
    on: list[exp.Expr] = []
    few: list[exp.Expr | None] = []
    for at, (column, (different, which)) in enumerate(zip(keys.columns, _columns(keys), strict=True)):
        taken, kind, natives = matched(find(column), different)
        listed.append(Listed(f"c{at}", kind, natives, which))
        few.append(_few(find(column), taken, kind, natives, dialect))
        own = exp.column(f"c{at}", table=name, quoted=True)
        on.append(exp.EQ(this=taken, expression=dialect.cast(own, kind) if kind in (DAY, TIME) else own))
    # A key that no value of the column can be is left out: no row has it.
    found = np.flatnonzero(_found(listed, len(keys)))
    _check_different(keys, listed, found)
    numbered = [Listed(NUMBER, WHOLE, found.tolist(), np.arange(len(found)))]
    columns = (*numbered, *(_travelling(each, found) for each in (*listed, *limits)))
    number = exp.column(NUMBER, table=name, quoted=True)
    grouped = tuple(each for each in few if each is not None) if len(keys) >= MANY_KEYS and not limits else ()
    return KeyList(
        name, columns, tuple(on) or (exp.true(),), number, grouped if grouped and len(grouped) == len(on) else None
    )


def _few(
    column: Column, taken: exp.Expr, kind: str, natives: Sequence[Native | None], dialect: Dialect
) -> exp.Expr | None:
    """The column's value where it is one of these or one of few, and anything else where not."""
    if kind == TEXT:
        return dialect.among_texts(taken, sorted({str(each) for each in natives if each is not None}))
    if not dialect.groups_first:
        return None
    if bands.parse(column.name) is not None:
        return taken.copy()
    part = derived.parse(column.name)
    if part is None:
        return None
    if kind == TIME:
        return _few_slots(part, taken, [each for each in natives if isinstance(each, datetime)], dialect)
    return taken.copy() if kind in (DAY, WHOLE) else None


def _few_slots(part: Derived, taken: exp.Expr, slots: Sequence[datetime], dialect: Dialect) -> exp.Expr | None:
    """The slot where it is none before the first or after the last that is asked about, if most between them are."""
    if part.minutes is None or not slots:
        return None
    first, last = min(slots), max(slots)
    if (last - first) // timedelta(minutes=part.minutes) > MOST_SLOTS_FOR_ONE * len(slots):
        return None
    inside = exp.Between(this=taken.copy(), low=literal(first, TIME, dialect), high=literal(last, TIME, dialect))
    return exp.Case(ifs=[exp.If(this=inside, true=taken.copy())])


def _columns(keys: Keys) -> Iterator[tuple[list[Any], NDArray[np.int64]]]:
    """Of each column, what `_different` finds."""
    crossed = keys.values if isinstance(keys.values, Crossed) else None
    written = keys.values if crossed is None else crossed.first
    for at in range(len(keys.columns) - (crossed is not None)):
        different, which = _different([key[at] for key in written])
        yield different, which if crossed is None else np.repeat(which, len(crossed.last))
    if crossed is not None:
        different, which = _different(crossed.last)
        yield different, np.tile(which, len(crossed.first))


def _different(values: Sequence[Any]) -> tuple[list[Any], NDArray[np.int64]]:
    """The different ones, in the order in which they come, and which of them each is; 1 is another value than true."""
    apart = values if len(set(map(type, values))) < 2 else list(zip(map(type, values), values, strict=True))
    places = {each: place for place, each in enumerate(dict.fromkeys(apart))}
    different = list(places) if apart is values else [value for _, value in places]
    return different, np.fromiter(map(places.__getitem__, apart), dtype=np.int64, count=len(apart))


def _found(listed: Sequence[Listed], count: int) -> NDArray[np.bool_]:
    """The keys of which every part can be a value of its column."""
    found = np.ones(count, dtype=np.bool_)
    for each in listed:
        found &= np.array([native is not None for native in each.different], dtype=np.bool_)[each.which]
    return found


def _check_different(keys: Keys, listed: Sequence[Listed], found: NDArray[np.int64]) -> None:
    """A key that comes twice would count its rows twice."""
    same = np.zeros(len(found), dtype=np.int64)
    for each in listed:
        natives, which = _different(each.different)  # two values may be one for the column
        same = np.unique(same * len(natives) + which[each.which[found]], return_inverse=True)[1]
    if len(found) and listed and same.max() < len(found) - 1:
        raise ParameterError(f"Each key over {', '.join(keys.columns)} is asked about once, but one comes twice.")


def _limits(number: int, measure: Measure, column: Column) -> Listed:
    column.must_be_added_up()
    sign, limits = measure.sign or "", measure.limits or ()
    every = np.arange(len(limits))
    if column.kind == WHOLE:
        return Listed(limit_name(number), WHOLE, [whole_limit(limit, sign, LARGEST_WHOLE) for limit in limits], every)
    return Listed(limit_name(number), REAL, [float_limit(limit, sign) for limit in limits], every)


def _travelling(listed: Listed, found: NDArray[np.int64]) -> Listed:
    """The column as it is handed over, for the keys that are found."""
    kept = [at for at, native in enumerate(listed.different) if native is not None]
    natives = [listed.different[at] for at in kept]
    places = np.zeros(len(listed.different), dtype=np.int64)
    places[kept] = np.arange(len(kept))
    which = places[listed.which[found]]
    if listed.kind not in (DAY, TIME):
        return Listed(listed.name, listed.kind, natives, which)
    return Listed(listed.name, TEXT, [transported(each) for each in natives], which)
