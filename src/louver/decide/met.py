"""Which keys a filter can let rows through for, as far as the keys alone tell.

A filter on a key column is decided by each key's own value, which is public. Columns that are no keys leave it open,
and so does a value of another kind than the keys': whether a text is a number, the stored column says.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping
from functools import lru_cache

import numpy as np

from louver.decide.tree import NO, OPEN, YES
from louver.source import filters
from louver.source.domain import Domain
from louver.source.filters import Both, Compare, Either, Filter, Missing, Not, OneOf, Value, kind_of
from louver.source.measures import Keys, KeyValue

MOST_TRIED = 2**16
_SIGNS = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def can_be_met(where: Filter, keys: Keys) -> bool:
    """Whether some key leaves the filter a chance; with very many keys nobody looks."""
    named = set(filters.columns(where))
    columns = [at for at, column in enumerate(keys.columns) if column in named]
    tried = {tuple(key[at] for at in columns) for key in keys.values} if columns else {()}
    if len(tried) > MOST_TRIED:
        return True
    names = [keys.columns[at] for at in columns]
    return any(verdict(where, dict(zip(names, values, strict=True))) != NO for values in tried)


@lru_cache(maxsize=8)
def asked_about(domain: Domain, keys: tuple[str, ...], where: Filter) -> Domain:
    """The domain without the keys whose rows a WHERE leaves out, as the groups of SQL are without them.

    Only the keys' own values decide. Where none would be left, all stay: such a question is refused with a sentence.
    """
    named = set(filters.columns(where))
    columns = [column for column in keys if column in named and column in domain.keys]
    if not columns:
        return domain
    found: dict[tuple[object, ...], bool] = {}
    kept = []
    for row, values in enumerate(zip(*(domain.column(column) for column in columns), strict=True)):
        if values not in found:
            found[values] = verdict(where, dict(zip(columns, values, strict=True))) != NO
        if found[values]:
            kept.append(row)
    return domain if len(kept) in (0, len(domain)) else domain.only(np.array(kept, dtype=np.int64))


def verdict(given: Filter, key: Mapping[str, KeyValue]) -> int:
    """YES or NO where the key's values decide the filter, else OPEN.

    >>> verdict(Both((Compare("room", "=", "hall"), Compare("hour", "<", 9))), {"room": "lab"}) == NO
    True
    """
    if isinstance(given, Both):
        return min((verdict(part, key) for part in given.parts), default=YES)
    if isinstance(given, Either):
        return max(verdict(part, key) for part in given.parts)
    if isinstance(given, Not):
        return -verdict(given.part, key)
    if given.column not in key:
        return OPEN
    if isinstance(given, Missing):
        return NO
    value = key[given.column]
    if isinstance(given, OneOf):
        return max(_compared("=", value, each) for each in given.values)
    return _compared(given.sign, value, given.value)


def _compared(sign: str, value: KeyValue, other: Value) -> int:
    if kind_of(value) != kind_of(other):
        return OPEN
    return YES if _SIGNS[sign](value, other) else NO


def unknown_values(where: Filter, keys: Keys) -> Iterator[tuple[str, Value, set[KeyValue]]]:
    """Values that a key column is to equal and that no key has: the column, the value, and what keys have there."""
    for leaf in _leaves(where):
        if isinstance(leaf, Missing) or leaf.column not in keys.columns:
            continue
        if isinstance(leaf, Compare) and leaf.sign not in ("=", "<>"):
            continue
        at = keys.columns.index(leaf.column)
        known = {key[at] for key in keys.values}
        kind = kind_of(keys.values[0][at])
        for value in leaf.values if isinstance(leaf, OneOf) else (leaf.value,):
            if kind_of(value) == kind and value not in known:
                yield leaf.column, value, known


def _leaves(given: Filter) -> Iterator[Compare | OneOf | Missing]:
    if isinstance(given, Both | Either):
        for part in given.parts:
            yield from _leaves(part)
    elif isinstance(given, Not):
        yield from _leaves(given.part)
    else:
        yield given
