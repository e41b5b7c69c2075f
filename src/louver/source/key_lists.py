"""The public keys of a reading as small tables that are joined with the rows, each key with its number and limits.

Where each key column has few values whatever the rows are, the rows can be grouped by those values before their keys
are looked up: one look for each group instead of one for each row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from louver.errors import ParameterError
from louver.source import derived
from louver.source.columns import Column
from louver.source.conditions import LARGEST_WHOLE, Native, float_limit, matched, transported, whole_limit
from louver.source.dialects import DAY, REAL, TEXT, TIME, WHOLE, Dialect
from louver.source.measures import BEYOND, Keys, Measure, Reading

NUMBER = "number"
MANY_KEYS = 100  # with fewer, a join leaves out most rows before they are grouped


@dataclass(frozen=True, slots=True)
class Listed:
    """One column of a list: its name, the type in which it travels, and its values."""

    name: str
    kind: str
    values: list[Any]


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
    found = [True] * len(keys)
    for at, column in enumerate(keys.columns):
        taken, kind, natives = matched(find(column), [key[at] for key in keys.values])
        found = [is_found and native is not None for is_found, native in zip(found, natives, strict=True)]
        listed.append(Listed(f"c{at}", kind, natives))
        few.append(_few(find(column), taken, kind, natives, dialect))
        own = exp.column(f"c{at}", table=name, quoted=True)
        on.append(exp.EQ(this=taken, expression=dialect.cast(own, kind) if kind in (DAY, TIME) else own))
    _check_different(keys, listed)
    # A key that no value of the column can be is left out: no row has it.
    numbered = [Listed(NUMBER, WHOLE, list(range(len(keys)))), *listed, *limits]
    columns = tuple(Listed(each.name, _travels(each.kind), _kept(each, found)) for each in numbered)
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
    is_part = derived.parse(column.name) is not None and kind in (DAY, WHOLE)
    return taken.copy() if dialect.groups_first and is_part else None


def _check_different(keys: Keys, listed: Sequence[Listed]) -> None:
    """A key that comes twice would count its rows twice."""
    tuples = list(zip(*(each.values for each in listed), strict=True))
    complete = [each for each in tuples if None not in each]
    if len(set(complete)) < len(complete):
        raise ParameterError(f"Each key over {', '.join(keys.columns)} is asked about once, but one comes twice.")


def _limits(number: int, measure: Measure, column: Column) -> Listed:
    column.must_be_added_up()
    sign, limits = measure.sign or "", measure.limits or ()
    if column.kind == WHOLE:
        return Listed(limit_name(number), WHOLE, [whole_limit(limit, sign, LARGEST_WHOLE) for limit in limits])
    return Listed(limit_name(number), REAL, [float_limit(limit, sign) for limit in limits])


def _travels(kind: str) -> str:
    return TEXT if kind in (DAY, TIME) else kind


def _kept(listed: Listed, found: Sequence[bool]) -> list[Native | None]:
    kept = [value for value, is_found in zip(listed.values, found, strict=True) if is_found]
    return [transported(value) for value in kept] if listed.kind in (DAY, TIME) else kept
