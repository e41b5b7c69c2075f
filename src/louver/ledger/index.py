"""Where a scope is filed, so that the scopes that may meet it are found without looking at all of them.

A scope is filed by its first interval column, the axis, under its reach (the power of two that holds its length) and
its start. A scope of reach k that meets [low, high) starts after low - 2^k and before high: one short range of an
ordered index for each reach in use, and slots of one length have one reach. A scope without an interval is filed by
its first single category, and one without either under nothing, where everybody looks. What is found may be too much,
never too little; whoever asks compares exactly.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any

from louver.ledger.store import Connection
from louver.privacy.ranges import TIMES, Among, Between, Range, range_from_dict
from louver.privacy.scope import Scope

LOWEST, HIGHEST = -(2**62), 2**62
ENDLESS = 63
MOST_CATEGORIES = 256
CATEGORY = "\t"  # before a column's name, where no name can have it: an axis of categories
MOST_SCOPES = 1 << 16
_SCOPES: dict[str, Scope] = {}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Filed:
    """Where one scope is in the index."""

    id: str
    axis: str
    reach: int
    low: int
    high: int
    keyed: str
    category: int
    text: str

    @property
    def is_interval(self) -> bool:
        return self.reach >= 0


@lru_cache(maxsize=1 << 16)
def filed(scope: Scope) -> Filed:
    text = "{" + ",".join(_text(column, kept) for column, kept in scope.ranges) + "}"
    id_ = hashlib.sha256(text.encode("utf-8")).hexdigest()[:32]
    _remembered(text, scope)
    keyed, category = _category(scope)
    for column, kept in scope.ranges:
        if isinstance(kept, Between):
            low, high = edges(kept)
            reach = ENDLESS if kept.start is None or kept.end is None else min((high - low - 1).bit_length(), ENDLESS)
            return Filed(id_, column, reach, low, high, keyed, category, text)
    # Axes of categories and the one of nothing have no reach of their own.
    return Filed(id_, f"{CATEGORY}{keyed}" if keyed else "", -1, category, category + 1, keyed, category, text)


@lru_cache(maxsize=1 << 14)
def _text(column: str, kept: Range) -> str:
    return f"{json.dumps(column)}:{json.dumps(kept.to_dict(), separators=(',', ':'))}"


def scope_of(text: str) -> Scope:
    """The scope behind its stored text; what was filed lately is at hand."""
    known = _SCOPES.get(text)
    if known is not None:
        return known
    ranges = {column: _range(column, json.dumps(stored)) for column, stored in json.loads(text).items()}
    return _remembered(text, Scope(ranges))


@lru_cache(maxsize=1 << 14)
def _range(column: str, text: str) -> Range:
    """Scopes share most of their ranges: many rooms in one slot, one room in many."""
    return range_from_dict(column, json.loads(text))


def _remembered(text: str, scope: Scope) -> Scope:
    if len(_SCOPES) >= MOST_SCOPES:
        _SCOPES.clear()
    _SCOPES[text] = scope
    return scope


@lru_cache(maxsize=1 << 14)
def edges(kept: Between) -> tuple[int, int]:
    """An interval as two integers, the first below the second; what is beyond all of them is at the ends."""
    low, high = _edge(kept.start, LOWEST), _edge(kept.end, HIGHEST)
    return min(low, HIGHEST - 1), max(high, LOWEST + 1)


def interval(like: Between, low: int, high: int) -> Between:
    """The interval between two integers, of the same kind as another; the ends hold what is beyond all of them."""
    if like.kind != TIMES:
        return Between(None if low <= LOWEST else low, None if high >= HIGHEST else high)
    return Between(_time(low), _time(high))


def meeting(connection: Connection, region: Scope, classes: Iterable[tuple[str, int]]) -> list[tuple[Any, ...]]:
    """The rows (scope, audience, family, price, delta) under these classes whose scopes may meet a region."""
    ranges = dict(region.ranges)
    keyed = [(column, _categories(column, kept)) for column, kept in region.ranges if isinstance(kept, Among)]
    rows: list[tuple[Any, ...]] = []
    for axis, reach in classes:
        sql = "axis = ? AND reach = ?"
        values: list[object] = [axis, reach]
        kept = ranges.get(axis)
        if reach >= 0 and isinstance(kept, Between):
            low, high = edges(kept)
            start = LOWEST if reach == ENDLESS else max(low - (1 << reach), LOWEST)
            sql += " AND low >= ? AND low < ? AND high > ?"
            values += [start, high, low]
        for column, categories in keyed:
            if len(categories) <= MOST_CATEGORIES and axis != "":
                sql += f" AND (keyed <> ? OR category IN ({', '.join('?' * len(categories))}))"
                values += [column, *categories]
                if axis == f"{CATEGORY}{column}":
                    sql += f" AND low IN ({', '.join('?' * len(categories))})"
                    values += categories
        rows += connection.rows(f"SELECT scope, audience, family, price, delta FROM totals WHERE {sql}", *values)  # noqa: S608
    return rows


def _edge(edge: int | datetime | None, otherwise: int) -> int:
    if edge is None:
        return otherwise
    number = (edge - _EPOCH) // _MICROSECOND if isinstance(edge, datetime) else edge
    return max(LOWEST, min(number, HIGHEST))


def _time(number: int) -> datetime | None:
    try:
        return _EPOCH + number * _MICROSECOND
    except OverflowError:  # beyond the calendar
        return None


def _category(scope: Scope) -> tuple[str, int]:
    for column, kept in scope.ranges:
        if isinstance(kept, Among) and len(kept.values) == 1:
            return column, _categories(column, kept)[0]
    return "", 0


def _categories(column: str, kept: Among) -> list[int]:
    return [_number(column, value) for value in kept.values]


@lru_cache(maxsize=1 << 16, typed=True)  # 1 and True are equal, and different categories
def _number(column: str, value: object) -> int:
    named = json.dumps([column, type(value).__name__, value])
    return int.from_bytes(hashlib.sha256(named.encode("utf-8")).digest()[:7], "big")
