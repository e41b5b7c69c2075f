"""One tree for a reading: filter, join with the public keys, bound what each unit contributes, group.

Without a bound, rows go straight into their groups (decision 0009: by the values of the key columns first, where these
are few); `louver.source.bounded` does the rest. What comes back is one line
for each list and key that has rows: the list, the key's number, and a total for each measure.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from functools import cached_property

from sqlglot import exp

from louver.source.bounded import bounded
from louver.source.columns import Column, Columns
from louver.source.conditions import compared, condition
from louver.source.dialects import WHOLE, WIDE, Dialect
from louver.source.filters import EVERY_ROW
from louver.source.key_lists import KeyList, key_lists, limit_name
from louver.source.measures import BEYOND, COUNT, DISTINCT, LARGEST_COUNTED, ODD, SUM, Measure, Reading
from louver.source.steps import steps
from louver.source.trees import is_known, name, named

STORED = "stored"
LIST, NUMBER = "list", "number"
LARGEST = 2**62  # what is read stays within: a sum beyond it is cut there, which keeps neighbours neighbours


class Query:
    """A reading of one table on one engine. Making one checks every column and type, and looks at no row."""

    def __init__(
        self,
        reading: Reading,
        unit: Sequence[str],
        columns: Columns,
        dialect: Dialect,
        secret: bytes,
        stored: exp.Expr | None = None,
    ) -> None:
        self.reading, self.dialect = reading, dialect
        self._secret, self._columns = secret, columns
        self._stored = stored or exp.to_table(STORED)
        self.units = [columns.find(each) for each in unit]
        self.lists = key_lists(reading, columns.find, dialect)
        self.bound = reading.bound if self.units else None
        for measure in reading.measures:
            if measure.column is not None and measure.kind != DISTINCT:
                self._measured(measure).must_be_added_up()
        self.all_rows(*self.told_apart().values())

    def with_secret(self, secret: bytes) -> Query:
        """The same query, which need not be checked again."""
        again = copy(self)
        again.__dict__.pop("tree", None)  # which has the secret in it
        again._secret = secret
        return again

    @cached_property
    def tree(self) -> exp.Query:
        first, *others = bounded(self, self.bound) if self.bound is not None else self._unbounded()
        return exp.union(first, *others, distinct=False, copy=False) if others else first

    def rows(self, *chosen: exp.Expr, only: KeyList | None = None) -> exp.Select:
        """The rows that take part: those with a key in the one list, or with one in any."""
        select = self.all_rows(*chosen)
        asked = self.lists if only is None else [only]
        joined = [each for each in asked if each.is_joined]
        outer = len(asked) > 1
        for each in joined:
            on = exp.and_(*(part.copy() for part in each.on), copy=False)
            select = select.join(exp.to_table(each.name), on=on, join_type="left" if outer else "inner", copy=False)
        if outer and len(joined) == len(asked):
            select = select.where(exp.or_(*(is_known(each.number.copy()) for each in joined), copy=False), copy=False)
        return select

    def all_rows(self, *chosen: exp.Expr) -> exp.Select:
        """The rows that meet the filter and belong to somebody, whatever their keys."""
        select = exp.select(*chosen, copy=False).from_(self._stored.copy(), copy=False)
        return select.where(*(each.copy() for each in self._where), copy=False)

    @cached_property
    def _where(self) -> list[exp.Expr]:
        conditions = [condition(self.reading.where, self._columns.find)] if self.reading.where != EVERY_ROW else []
        return conditions + [is_known(unit.known()) for unit in self.units]

    def added(self, number: int) -> exp.Expr | None:
        """What a row adds to a measure, 0 for nothing; a distinct value itself. None where every row adds 1."""
        measure, meets = self.reading.measures[number], self._meets(number)
        if measure.kind == SUM:
            return exp.func("COALESCE", _where(meets, self._steps(measure)), exp.convert(0))
        if measure.kind == DISTINCT:
            return _where(meets, self._measured(measure).distinguished())
        if meets is None:
            return None
        return exp.Case(ifs=[exp.If(this=meets, true=exp.convert(1))], default=exp.convert(0))

    def told_apart(self) -> dict[str, exp.Expr]:
        """What tells rows of a unit apart, in the order in which they are put: their keys, and what they add."""
        apart: dict[str, exp.Expr] = {f"k{place}": each.number.copy() for place, each in enumerate(self.lists)}
        for number in range(len(self.reading.measures)):
            added = self.added(number)
            if added is not None:
                apart[f"v{number}"] = added
        return apart

    def unit_columns(self) -> dict[str, exp.Expr]:
        return {f"u{place}": each.distinguished() for place, each in enumerate(self.units)}

    def start(self) -> exp.Expr:
        """The keyed hash of a unit, from its columns u0, u1, and so on."""
        text: exp.Expr = exp.convert(self._secret.hex())
        for place, unit in enumerate(self.units):
            own = Column(unit.name, unit.kind, name(f"u{place}"), self.dialect)
            separated = exp.DPipe(this=text, expression=exp.convert("|"))
            text = exp.DPipe(this=separated, expression=own.written())
        return self.dialect.hashed(text)

    def line(self, place: int, number: exp.Expr, totals: Sequence[exp.Expr]) -> list[exp.Expr]:
        """One line of what comes back, for a list: totals of its own measures, 0 for those of others."""
        own = {each: total for (each, _), total in zip(self.measures_of(place), totals, strict=True)}
        cells = [own.get(each, exp.convert(0)) for each in range(len(self.reading.measures))]
        values = {LIST: exp.convert(place), NUMBER: number} | {f"v{each}": cell for each, cell in enumerate(cells)}
        return [named(self.dialect.cast(value, WHOLE), each) for each, value in values.items()]

    def measures_of(self, place: int) -> list[tuple[int, Measure]]:
        return [(number, each) for number, each in enumerate(self.reading.measures) if each.keys == place]

    def cut(self, total: exp.Expr) -> exp.Expr:
        """A sum within what can be read, 0 where nothing was added."""
        known = exp.func("COALESCE", total, exp.convert(0))
        smaller = exp.Least(this=known, expressions=[exp.convert(LARGEST)])
        return exp.Greatest(this=smaller, expressions=[exp.convert(-LARGEST)])

    def _unbounded(self) -> list[exp.Select]:
        selects = []
        for place, keys in enumerate(self.lists):
            totals = [self._total(number) for number, _ in self.measures_of(place)]
            if keys.few is not None:
                selects.append(self._grouped_first(place, keys, totals))
                continue
            select = self.rows(*self.line(place, keys.number.copy(), totals), only=keys)
            selects.append(select.group_by(keys.number.copy(), copy=False) if keys.is_joined else select)
        return selects

    def _grouped_first(self, place: int, keys: KeyList, totals: Sequence[exp.Expr]) -> exp.Select:
        """Totals by the values of the key columns, and then those that are keys. Keys differ, so each is one group."""
        groups = {f"g{at}": value.copy() for at, value in enumerate(keys.few or ())}
        sums = {f"t{at}": total for at, total in enumerate(totals)}
        inner = self.all_rows(*(named(value, each) for each, value in (groups | sums).items()))
        inner = inner.group_by(*(exp.Literal.number(at + 1) for at in range(len(groups))), copy=False)
        line = self.line(place, keys.number.copy(), [name(each) for each in sums])
        on = keys.found_in([name(each) for each in groups])
        outer = exp.select(*line, copy=False).from_(inner.subquery("grouped"), copy=False)
        return outer.join(exp.to_table(keys.name), on=on, copy=False)

    def _total(self, number: int) -> exp.Expr:
        measure, meets = self.reading.measures[number], self._meets(number)
        total: exp.Expr
        if measure.kind == SUM:
            total = exp.Sum(this=self.dialect.cast(self._steps(measure), WIDE))
        elif measure.kind == DISTINCT:
            total = exp.Count(this=exp.Distinct(expressions=[self._measured(measure).distinguished()]))
        else:
            total = exp.Count(this=exp.Star())
        if meets is not None:
            total = exp.Filter(this=total, expression=exp.Where(this=meets))
        return self.cut(total) if measure.kind == SUM else total

    def _meets(self, number: int) -> exp.Expr | None:
        """What a row must meet to count for a measure; None for nothing."""
        measure = self.reading.measures[number]
        parts: list[exp.Expr] = []
        if measure.where != EVERY_ROW:
            parts.append(condition(measure.where, self._columns.find))
        if measure.kind == COUNT and measure.column is not None:
            parts.append(is_known(self._measured(measure).number()))
        if measure.kind == BEYOND:
            limit = self.lists[measure.keys].column(limit_name(number))
            parts.append(compared(self._measured(measure).number(), measure.sign or "", limit))
        if measure.kind == ODD:
            parts.append(_is_no_count(self._measured(measure).float()))
        return exp.and_(*parts, copy=False) if parts else None

    def _steps(self, measure: Measure) -> exp.Expr:
        return steps(self._measured(measure).float(), measure.grid, self.dialect)  # type: ignore[arg-type]

    def _measured(self, measure: Measure) -> Column:
        return self._columns.find(measure.column or "")


def _is_no_count(value: exp.Expr) -> exp.Expr:
    near = exp.Between(this=value.copy(), low=exp.convert(0), high=exp.convert(LARGEST_COUNTED))
    whole = exp.EQ(this=value.copy(), expression=exp.Floor(this=value.copy()))
    count = exp.Case(ifs=[exp.If(this=near, true=whole)], default=exp.false())
    return exp.Not(this=exp.func("COALESCE", count, exp.false()))


def _where(meets: exp.Expr | None, value: exp.Expr) -> exp.Expr:
    return value if meets is None else exp.Case(ifs=[exp.If(this=meets, true=value)])
