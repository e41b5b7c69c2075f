"""Bounded contributions in SQL: of each unit's rows so many, by a rule that looks at the unit's own rows only.

Rows of a unit that nothing tells apart are counted together. Each unit's rows are put in one order (by key, then by
what they add), and where N rows are too many for a bound m, every N/m-th is taken, from a start that a keyed hash of
the unit decides: of the first x rows, floor((x m + start mod N) / N). That takes exactly m rows, each with the same
probability over the hash. Keys are taken in the same way where they are bounded; that a row has no key of the first
list, but one of another, counts as one key more.

Names within the tree: u0, u1, ... are the unit's columns, k0, k1, ... the numbers of the keys in each list, v0, v1, ...
what the row adds to each measure, n how many such rows there are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from louver.source.dialects import WHOLE, WIDE, Dialect
from louver.source.measures import DISTINCT, SUM, Bound
from louver.source.trees import is_known, name, named, over

if TYPE_CHECKING:
    from louver.source.query import Query


def bounded(query: Query, bound: Bound) -> list[exp.Select]:
    """One select per list of keys; the first has the stages that all of them read."""
    apart, units = query.told_apart(), query.unit_columns()
    columns = {**units, **apart}
    chosen = query.rows(*(named(value, each) for each, value in columns.items()))
    alike = [name(each) for each in columns]
    further = [named(query.start(), "start"), named(exp.Count(this=exp.Star()), "n")]
    grouped = exp.select(*alike, *further).from_("chosen").group_by(*(each.copy() for each in alike))
    stages = {"chosen": chosen, "grouped": grouped, **_placed(query.dialect, bound, list(units), list(apart))}
    stages["kept"] = exp.select(exp.column(exp.Star()), named(_kept(query.dialect, bound), "kept")).from_("placed")
    first, *others = [_totals(query, place) for place in range(len(query.lists))]
    for stage, select in stages.items():
        first = first.with_(stage, as_=select)
    return [first, *others]


def _placed(dialect: Dialect, bound: Bound, units: list[str], apart: list[str]) -> dict[str, exp.Select]:
    """Where rows are among those of their unit, or of their unit and key; with how many there are."""

    def number(value: exp.Expr, given: str) -> exp.Expr:
        return named(dialect.cast(value, WHOLE), given)

    everything = exp.column(exp.Star())
    within = units if bound.keys is None else [*units, apart[0]]
    order = [each for each in apart if each not in within]
    counted = [
        number(over(exp.Sum(this=name("n")), within), "total"),
        number(over(exp.Sum(this=name("n")), within, order), "upto"),
    ]
    if bound.keys is None:
        return {"placed": exp.select(everything, *counted).from_("grouped")}
    place = number(over(exp.func("DENSE_RANK"), units, [apart[0]]), "place")
    places = number(over(exp.Max(this=name("place")), units), "places")
    return {
        "ranked": exp.select(everything, *counted, place).from_("grouped"),
        "placed": exp.select(everything.copy(), places).from_("ranked"),
    }


def _kept(dialect: Dialect, bound: Bound) -> exp.Expr:
    """How many of n alike rows are taken."""
    before = name("upto") - name("n")
    few = exp.LTE(this=name("total"), expression=exp.convert(bound.rows))
    taken = _taken(dialect, name("upto"), bound.rows, "total") - _taken(dialect, before, bound.rows, "total")
    kept = exp.Case(ifs=[exp.If(this=few, true=name("n"))], default=taken)
    if bound.keys is None:
        return kept
    last = name("place") - exp.convert(1)
    few = exp.LTE(this=name("places"), expression=exp.convert(bound.keys))
    passed = exp.GT(
        this=_taken(dialect, name("place"), bound.keys, "places"),
        expression=_taken(dialect, last, bound.keys, "places"),
    )
    return exp.Case(ifs=[exp.If(this=exp.or_(few, passed), true=kept)], default=exp.convert(0))


def _taken(dialect: Dialect, upto: exp.Expr, most: int, total: str) -> exp.Expr:
    """How many of the first `upto` of `total` are taken, when `most` are in all."""
    scaled = exp.Mul(this=exp.paren(upto), expression=exp.convert(most))
    return dialect.divided(scaled + name("start") % name(total), name(total))


def _totals(query: Query, place: int) -> exp.Select:
    totals: list[exp.Expr] = []
    for number, measure in query.measures_of(place):
        value = name(f"v{number}")
        if measure.kind == DISTINCT:
            totals.append(exp.Count(this=exp.Distinct(expressions=[value])))
            continue
        weight: exp.Expr = name("kept")
        if query.added(number) is not None:
            weight = weight * (query.dialect.cast(value, WIDE) if measure.kind == SUM else value)
        totals.append(query.cut(exp.Sum(this=weight)))
    key = name(f"k{place}")
    select = exp.select(*query.line(place, key, totals)).from_("kept")
    met = exp.and_(is_known(key.copy()), exp.GT(this=name("kept"), expression=exp.convert(0)))
    return select.where(met).group_by(key.copy())
