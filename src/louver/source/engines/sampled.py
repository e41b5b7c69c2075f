"""Bounded contributions in NumPy: the same rule as in `louver.source.query`, over one sorted array instead of windows.

Every row that takes part becomes one whole number: the unit's code, then the keys, then what the row adds, each in bits
of its own and in the order in which the rule puts rows. Sorted, the rows of one unit stand together and in order. The
array is worked through in pieces that end where a unit ends, so that it is the largest thing in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from louver.source.dialects import DUCKDB, WHOLE
from louver.source.measures import DISTINCT, SUM, Bound, Measure
from louver.source.query import LARGEST, LIST, NUMBER, Query
from louver.source.trees import ascending, is_known, name, named

Numbers = NDArray[np.int64]
MOST_BITS = 62
PIECE = 1 << 20


@dataclass(frozen=True, slots=True)
class Part:
    """One of the numbers that are packed into one: where its bits begin, how many they are, what stands for 0."""

    name: str
    shift: int
    bits: int
    lowest: int

    def of(self, packed: Numbers) -> Numbers:
        return ((packed >> self.shift) & ((1 << self.bits) - 1)) + self.lowest


def sampled(query: Query, connection: duckdb.DuckDBPyConnection) -> Mapping[str, Numbers] | None:
    """What the query's tree gives; None where a row does not fit into one number."""
    _keep(connection, "units", _units(query))
    for number in _distinct(query):
        _keep(connection, f"values{number}", _values(query, number))
    sizes = {table: _size(connection, table) for table in ("units", *(f"values{each}" for each in _distinct(query)))}
    parts = _parts(query, sizes)
    below = sum(part.bits for part in parts)
    if below + sizes["units"].bit_length() > MOST_BITS:
        return None
    packed = _column(connection, _packed(query, parts, below))
    if any(len(packed) * _weight(measure) > LARGEST for measure in query.reading.measures):
        return None
    packed.sort()
    starts = _column(connection, exp.select(name("start")).from_("units").order_by(name("code")))
    totals = _Totals(query, parts)
    for piece in _pieces(packed, below):
        totals.add(piece[_kept(piece, starts, below, parts[0].bits, query.bound or Bound())])
    return totals.found()


def _kept(packed: Numbers, starts: Numbers, below: int, key_bits: int, bound: Bound) -> NDArray[np.bool_]:
    """Which rows of these units count."""
    units = packed >> below
    if bound.keys is None:
        return _every_so_many(units, starts[units], bound.rows)
    keys = packed >> (below - key_bits)
    kept = _every_so_many(keys, starts[units], bound.rows)
    first = _first_of_each(keys)
    chosen = _every_so_many(units[first], starts[units[first]], bound.keys)
    return kept & np.repeat(chosen, np.diff(np.append(first, len(packed))))


def _every_so_many(groups: Numbers, starts: Numbers, most: int) -> NDArray[np.bool_]:
    """Of each group of neighbours at most so many, evenly: row x of N is taken where (x most + start) / N passes a
    whole number."""
    first = _first_of_each(groups)
    sizes = np.diff(np.append(first, len(groups)))
    total = np.repeat(sizes, sizes)
    place = np.arange(len(groups)) - np.repeat(first, sizes)
    start = starts % total
    passed = (place + 1) * most + start
    kept: NDArray[np.bool_] = (total <= most) | (passed // total > (passed - most) // total)
    return kept


def _first_of_each(groups: Numbers) -> Numbers:
    changes = np.flatnonzero(groups[1:] != groups[:-1]) + 1
    return np.concatenate([np.zeros(min(1, len(groups)), dtype=np.int64), changes])


def _pieces(packed: Numbers, below: int) -> Iterator[Numbers]:
    begin = 0
    while begin < len(packed):
        last = packed[min(begin + PIECE, len(packed)) - 1] >> below
        end = int(np.searchsorted(packed, (last + 1) << below))
        yield packed[begin:end]
        begin = end


class _Totals:
    """Totals per list and key, added up piece by piece."""

    def __init__(self, query: Query, parts: list[Part]) -> None:
        self._parts = {part.name: part for part in parts}
        self._measures = query.reading.measures
        self._sizes = [len(keys) for keys in query.reading.keys]
        self._values = [np.zeros(self._sizes[measure.keys], dtype=np.int64) for measure in self._measures]
        self._pairs: dict[int, Numbers] = {number: np.zeros(0, dtype=np.int64) for number in _distinct(query)}

    def add(self, packed: Numbers) -> None:
        for number, measure in enumerate(self._measures):
            keys, added = self._of(packed, number, measure)
            if measure.kind == SUM:
                np.add.at(self._values[number], keys, added)
            elif measure.kind == DISTINCT:
                bits = self._parts[f"v{number}"].bits
                pairs = (keys << bits | added)[added > 0]
                self._pairs[number] = np.unique(np.concatenate([self._pairs[number], pairs]))
            else:
                counted = keys if added is None else keys[added > 0]
                self._values[number] += np.bincount(counted, minlength=len(self._values[number]))

    def _of(self, packed: Numbers, number: int, measure: Measure) -> tuple[Numbers, Any]:
        keys = self._parts[f"k{measure.keys}"].of(packed)
        part = self._parts.get(f"v{number}")
        has_key = keys >= 0
        return keys[has_key], None if part is None else part.of(packed)[has_key]

    def found(self) -> Mapping[str, Numbers]:
        for number, pairs in self._pairs.items():
            keys = pairs >> self._parts[f"v{number}"].bits
            self._values[number] = np.bincount(keys, minlength=len(self._values[number])).astype(np.int64)
        found = {
            LIST: np.repeat(np.arange(len(self._sizes)), self._sizes),
            NUMBER: np.concatenate([np.arange(size) for size in self._sizes]),
        }
        for number, measure in enumerate(self._measures):
            lists = [np.zeros(size, dtype=np.int64) for size in self._sizes]
            lists[measure.keys] = self._values[number]
            found[f"v{number}"] = np.concatenate(lists)
        return found


def _parts(query: Query, sizes: Mapping[str, int]) -> list[Part]:
    """The keys and what rows add, from the left; a key that is missing stands before all others."""
    ranges = {f"k{place}": (-1, len(keys) - 1) for place, keys in enumerate(query.reading.keys)}
    for number, measure in enumerate(query.reading.measures):
        if measure.grid is not None:
            ranges[f"v{number}"] = min(0, measure.grid.lowest), max(0, measure.grid.highest)
        elif measure.kind == DISTINCT:
            ranges[f"v{number}"] = 0, sizes[f"values{number}"]
        elif query.added(number) is not None:
            ranges[f"v{number}"] = 0, 1
    bits = {each: (high - low).bit_length() for each, (low, high) in ranges.items()}
    parts, shift = [], sum(bits.values())
    for each, (low, _) in ranges.items():
        shift -= bits[each]
        parts.append(Part(each, shift, bits[each], low))
    return parts


def _packed(query: Query, parts: list[Part], below: int) -> exp.Select:
    columns = {**query.unit_columns(), **query.told_apart()}
    chosen = query.rows(*(named(value, each) for each, value in columns.items()))
    codes = {f"v{number}": exp.column("code", table=f"values{number}", quoted=True) for number in _distinct(query)}
    number: exp.Expr = exp.column("code", table="units", quoted=True) * exp.Literal.number(1 << below)
    for part in parts:
        value = codes.get(part.name, exp.column(part.name, table="chosen", quoted=True))
        missing = 0 if part.name in codes else part.lowest
        known = exp.func("COALESCE", DUCKDB.cast(value.copy(), WHOLE), exp.convert(missing))
        number = number + exp.paren(known - exp.convert(part.lowest)) * exp.Literal.number(1 << part.shift)
    select = exp.select(exp.alias_(DUCKDB.cast(number, WHOLE), "packed")).from_(chosen.subquery("chosen"))
    select = select.join(exp.to_table("units"), on=_same("units", list(query.unit_columns())))
    for each in _distinct(query):
        select = select.join(exp.to_table(f"values{each}"), on=_same(f"values{each}", [f"v{each}"]), join_type="left")
    return select


def _units(query: Query) -> exp.Select:
    """Every unit with a code and the start of its choice."""
    columns = query.unit_columns()
    everyone = query.all_rows(*(named(value, each) for each, value in columns.items())).distinct()
    code = exp.Window(this=exp.RowNumber()) - exp.convert(1)
    chosen = [exp.alias_(exp.paren(code), "code"), *map(name, columns), exp.alias_(query.start(), "start")]
    return exp.select(*chosen).from_(everyone.subquery("everyone"))


def _values(query: Query, number: int) -> exp.Select:
    """Every value of a measure that counts different ones, with a code from 1 in the order of the values."""
    own = f"v{number}"
    every = query.rows(named(query.told_apart()[own], own)).distinct()
    code = exp.alias_(exp.Window(this=exp.RowNumber(), order=exp.Order(expressions=[ascending(own)])), "code")
    return exp.select(code, name(own)).from_(every.subquery("every")).where(is_known(name(own)))


def _same(table: str, columns: list[str]) -> exp.Expr:
    pairs = (
        (exp.column(each, table=table, quoted=True), exp.column(each, table="chosen", quoted=True)) for each in columns
    )
    return exp.and_(*(exp.EQ(this=own, expression=other) for own, other in pairs))


def _distinct(query: Query) -> list[int]:
    return [number for number, measure in enumerate(query.reading.measures) if measure.kind == DISTINCT]


def _weight(measure: Measure) -> int:
    return measure.grid.sensitivity if measure.grid is not None else 1


def _keep(connection: duckdb.DuckDBPyConnection, table: str, select: exp.Select) -> None:
    connection.execute(f"CREATE OR REPLACE TEMP TABLE {table} AS {DUCKDB.sql(select)}")


def _size(connection: duckdb.DuckDBPyConnection, table: str) -> int:
    return len(_column(connection, exp.select(name("code")).from_(table)))


def _column(connection: duckdb.DuckDBPyConnection, select: exp.Select) -> Numbers:
    (values,) = connection.execute(DUCKDB.sql(select)).fetchnumpy().values()
    return np.ascontiguousarray(values, dtype=np.int64)
