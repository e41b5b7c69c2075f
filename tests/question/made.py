"""Random questions, of every shape that nodes can have."""

from __future__ import annotations

from datetime import UTC, date, datetime
from fractions import Fraction

from hypothesis import strategies as st

from louver.question import nodes
from louver.question.nodes import Against, Aggregate, Classes, Comparison, Condition, Flag, Question, Threshold, Values
from louver.source import filters
from louver.source.filters import EVERY_ROW, Compare, Filter, Missing, OneOf, Value

WORDS = ["room", "floor", "building", "capacity", "time", "date", "order", "select", "group", "Watts", "räum", "a b"]
WORDS += ['quo"te', "back`tick", "it's", "back\\slash", "1st", "per", "slack", "count", "null", "true", "interval", "_"]
DERIVED = ["day(time)", "hour(time)", "weekday(time)", "month(time)", "slot(time, 15)", "slot(time, 60)", "slot(at,5)"]
names = st.one_of(
    st.sampled_from([*WORDS, *DERIVED]),
    st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=6).filter(
        str.isprintable
    ),
)
columns = names.filter(lambda name: not name.startswith(("day", "hour", "weekday", "month", "slot")))
keys = st.lists(names, max_size=4, unique=True).map(tuple)
whole = st.integers(-(10**6), 10**6).map(Fraction)
decimals = st.decimals(-(10**6), 10**6, places=3).map(Fraction)
numbers = st.one_of(whole, decimals, st.fractions(-1000, 1000, max_denominator=99))
factors = st.one_of(st.just(Fraction(1)), numbers.filter(bool))
texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)
named_tables = st.one_of(
    st.none(), st.sampled_from(["presence", "rooms", "main.rooms", "_", "rows.csv", "a..b", "Order"])
)


def exact(number: Fraction) -> Value:
    return int(number) if number.denominator == 1 else number


kinds: list[st.SearchStrategy[Value]] = [
    texts,
    numbers.map(exact),
    st.dates(date(1800, 1, 1), date(2200, 1, 1)),
    st.datetimes(datetime(1800, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001
]
values = st.one_of(*kinds)
signs = st.sampled_from(nodes.SIGNS)
leaves: st.SearchStrategy[Filter] = st.one_of(
    st.builds(Compare, columns, st.sampled_from(filters.SIGNS), values),
    st.builds(Compare, columns, st.sampled_from(["=", "<>"]), st.booleans()),
    st.builds(OneOf, columns, st.one_of(*(st.lists(kind, min_size=1, max_size=3).map(tuple) for kind in kinds))),
    st.builds(Missing, names),
    st.builds(Compare, st.just("day(time)"), st.sampled_from(filters.SIGNS), kinds[2]),
    st.builds(OneOf, st.just("weekday(time)"), st.lists(st.integers(1, 7), min_size=1, max_size=3).map(tuple)),
)


def joined_filters(parts: st.SearchStrategy[Filter]) -> st.SearchStrategy[Filter]:
    several = st.lists(parts, min_size=1, max_size=3).map(tuple)
    return st.one_of(
        st.builds(filters.Both, several), st.builds(filters.Either, several), st.builds(filters.Not, parts)
    )


row_filters = st.recursive(leaves, joined_filters, max_leaves=4)


@st.composite
def aggregates(draw: st.DrawFn, among: tuple[str, ...]) -> Aggregate:
    kind = draw(st.sampled_from(nodes.KINDS))
    low, high = None, None
    if kind in (nodes.SUM, nodes.AVG):
        low, high = sorted(draw(st.lists(numbers, min_size=2, max_size=2, unique=True)))
        low, high = draw(st.sampled_from([(low, high), (low, None), (None, high), (None, None)]))
    where = draw(st.one_of(st.just(EVERY_ROW), row_filters))
    kept = draw(st.one_of(st.just(among), st.permutations(among).map(tuple), st.just(among[1:]), st.just(())))
    return Aggregate(kind, None if kind == nodes.COUNT else draw(names), low, high, where, kept)


thresholds = st.one_of(st.builds(Threshold, numbers), st.builds(Threshold, numbers, names, factors))


@st.composite
def comparisons(draw: st.DrawFn, among: tuple[str, ...]) -> Comparison:
    left = draw(aggregates(among))
    right: Threshold | Against = draw(thresholds)
    other = draw(aggregates(among))
    if draw(st.booleans()) and set(other.keys) != set(left.keys):
        right = Against(other, draw(factors), draw(numbers))
    return Comparison(left, draw(signs), right, draw(st.one_of(st.none(), numbers.map(abs))))


def joined_conditions(parts: st.SearchStrategy[Condition]) -> st.SearchStrategy[Condition]:
    several = st.lists(parts, min_size=1, max_size=3).map(tuple)
    return st.one_of(st.builds(nodes.All, several), st.builds(nodes.Any, several), st.builds(nodes.Not, parts))


@st.composite
def questions(draw: st.DrawFn) -> Question:
    among = draw(keys)
    table, domain = draw(named_tables), draw(named_tables)
    kind = draw(st.sampled_from(["flag", "flag", "values", "classes"]))
    if kind == "flag":
        return Flag(draw(st.recursive(comparisons(among), joined_conditions, max_leaves=5)), among, table, domain)
    if kind == "values":
        listed = draw(st.lists(aggregates(among), min_size=1, max_size=3))
        return Values(tuple(listed), among, table, domain)
    constants = sorted(draw(st.lists(numbers, min_size=1, max_size=4, unique=True)))
    column = draw(st.one_of(st.none(), names))
    cuts = tuple(Threshold(each, column, Fraction(2) if column else Fraction(1)) for each in constants)
    named = draw(st.lists(names, min_size=len(cuts) + 1, max_size=len(cuts) + 1, unique=True))
    return Classes(draw(aggregates(among)), cuts, tuple(named), among, table, domain, draw(st.one_of(st.none(), names)))
