"""A question in terms of what source and domain know of its columns: what each is made of, and of which kind it is.

A text that writes a value of its column's kind means that value: `day = '2026-03-04'` asks for that day. So it is
compared, and paid for, as what it is. What a table's own schema says of other columns is checked before anything is
reserved.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from louver.errors import ParameterError
from louver.source.derived import check_values, kind_of_part
from louver.source.domain import Domain
from louver.source.domain_columns import KINDS, TEXT, shown
from louver.source.filters import Compare, OneOf, Value
from louver.source.spelling import NUMBER, TO_WRITE, spelled


def renamed(value: Any, names: Mapping[str, str]) -> Any:
    """The same question with what declared columns are made of: day(time) for day."""

    def made(leaf: Compare | OneOf) -> Compare | OneOf:
        column = names.get(leaf.column, leaf.column)
        moved = _typed(replace(leaf, column=column), kind_of_part(column), leaf.column)
        check_values(column, [moved.value] if isinstance(moved, Compare) else moved.values)
        return moved

    return _rebuilt(value, names, made) if names else value


def typed(value: Any, domain: Domain, numbers: Mapping[str, object]) -> Any:
    """The same question, where texts for key columns of the domain and for declared values are of their kind."""

    def made(leaf: Compare | OneOf) -> Compare | OneOf:
        kind = domain.kind(leaf.column) if leaf.column in domain.keys else NUMBER if leaf.column in numbers else None
        return _typed(leaf, kind, leaf.column)

    return _rebuilt(value, {}, made)


def _typed(leaf: Compare | OneOf, kind: str | None, called: str) -> Compare | OneOf:
    if kind is None or kind == TEXT:
        return leaf
    if isinstance(leaf, Compare):
        return replace(leaf, value=_value(leaf.value, kind, called))
    return replace(leaf, values=tuple(_value(each, kind, called) for each in leaf.values))


def _value(given: Value, kind: str, called: str) -> Value:
    if not isinstance(given, str):
        return given
    found = spelled(given, kind)
    if found is None:
        raise ParameterError(
            f"Column {called!r} holds {KINDS[kind]}, so it cannot be compared with the text {shown(given)!r}; write "
            f"{TO_WRITE[kind]}."
        )
    return found


def _rebuilt(value: Any, names: Mapping[str, str], change: Callable[[Any], Any]) -> Any:
    """The same value with other names for columns, and with each comparison of a row changed."""
    if isinstance(value, Compare | OneOf):
        return change(value)
    if isinstance(value, tuple):
        return tuple(_rebuilt(each, names, change) for each in value)
    if not is_dataclass(value) or isinstance(value, type):
        return value
    changed: dict[str, Any] = {}
    for each in fields(value):
        kept = getattr(value, each.name)
        if each.name == "keys":
            changed[each.name] = tuple(names.get(name, name) for name in kept)
        elif each.name == "column" and isinstance(kept, str):
            changed[each.name] = names.get(kept, kept)
        else:
            changed[each.name] = _rebuilt(kept, names, change)
    return replace(value, **changed)
