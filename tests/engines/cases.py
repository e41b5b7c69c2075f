"""Small random tables with everything odd in them, and readings that ask everything of them."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from louver.noise.grid import Grid
from louver.source.filters import Both, Compare, Either, Filter, Missing, Not, OneOf
from louver.source.measures import Bound, Keys, Measure, Reading
from tests.engines.reference import DAY, REAL, TEXT, TIME, TRUTH, WHOLE, Data

KINDS = {"person": TEXT, "room": TEXT, "floor": WHOLE, "watts": REAL, "guest": TRUTH, "on": DAY, "at": TIME}
ROOMS = [
    "hall",
    "Hall",
    "hall ",
    "h\u00e4ll",
    "ha\u0308ll",
    'it\'s "x"\\',
    "{0}",
    "5",
    "05",
    "-7.5",
    "1e3",
    "\U0001f600",
]
NUMBERS = [-3, -1, 0, 1, 2, 3, 7, 2**40, 2**62]
FLOATS = [
    *(0.0, -0.0, 0.5, 1.5, -0.5, 0.1, 2.75, 3.0, 99.9, 0.49999999999999994, 5e-324, -1e300, 1e300),
    *(float("nan"), float("inf"), -float("inf")),
]
DAYS = [date(2024, 2, 29), date(2024, 3, 1), date(1969, 12, 31)]
TIMES = [
    datetime.fromisoformat(text)
    for text in ("2024-02-29 23:59:59.999999", "2024-03-01", "2024-03-01 10:07:30", "1969-12-31 23:52")
]
VALUES: dict[str, list[Any]] = {
    "person": ["ann", "bob", "Bob", "z\u00fc"],
    "room": ROOMS,
    "floor": NUMBERS,
    "watts": FLOATS,
    "guest": [True, False],
    "on": DAYS,
    "at": TIMES,
}
SIGNS = ["=", "<>", "<", "<=", ">", ">="]
COMPARED: dict[str, list[Any]] = {
    "room": ["hall", "h\u00e4ll", "5", "", "zz", 5, -7, Fraction(-15, 2), Fraction(1, 3), True],
    "floor": [-1, 0, 2, Fraction(5, 2), 2**62, 10**30, -(10**30)],
    "watts": [0, 1, Fraction(1, 10), Fraction(11, 4), Fraction(3) - Fraction(1, 10**30), 10**15],
    "on": [*DAYS, datetime(2024, 3, 1, tzinfo=UTC), datetime(2024, 2, 29, 12, tzinfo=UTC)],
    "at": [*DAYS, *TIMES, datetime(2024, 3, 1, 11, 7, 30, tzinfo=UTC)],
    "day(at)": DAYS,
    "hour(at)": [0, 10, 23],
    "weekday(on)": [3, 4, 5],
    "month(at)": [2, 3, 12],
    "slot(at, 15)": [datetime.fromisoformat("2024-03-01 10:00"), datetime(1969, 12, 31, 23, 45, tzinfo=UTC)],
}
POINTS: dict[str, list[Any]] = {
    **COMPARED,
    "room": [*ROOMS, 5, Fraction(-15, 2)],
    "floor": [2, 3, Fraction(1, 2)],
    "guest": [True, False],
}
KEY_LISTS: list[tuple[tuple[str, ...], list[tuple[Any, ...]]]] = [
    ((), [()]),
    (("room",), [(room,) for room in ROOMS[:8]]),
    (("room",), [(5,), (1000,), (-7,)]),
    (("floor",), [(2,), (-1,), (2**62,), (9,)]),
    (("floor",), [("2",), ("02",), ("x",), ("-1",)]),
    (("watts",), [(0,), (1,)]),
    (("guest",), [(True,), (False,)]),
    (("on",), [(day,) for day in DAYS]),
    (("on",), [("2024-03-01",), ("2024-2-29",), ("1969-12-31",)]),
    (("at",), [(datetime(2024, 3, 1, 10, 7, 30, tzinfo=UTC),), (TIMES[1],)]),
    (("at",), [(day,) for day in DAYS]),
    (("day(at)", "room"), [(day, room) for day in DAYS for room in ("hall", "Hall")]),
    (("hour(at)", "guest"), [(hour, guest) for hour in (0, 10, 23) for guest in (True, False)]),
    (("slot(at, 15)",), [(TIMES[2] - timedelta(minutes=7, seconds=30),), (TIMES[3] - timedelta(minutes=7),)]),
    (("weekday(at)",), [(3,), (4,), (5,)]),
    (("person", "month(on)"), [("ann", 3), ("bob", 2), ("bob", 12)]),
    (("band(watts, 0.0, 3.0, 4)",), [(number,) for number in range(4)]),
    (("band(watts, -1e+300, 1e+300, 8)", "guest"), [(number, True) for number in range(8)]),
    (("band(floor, -2.5, 2.5, 5)",), [(number,) for number in range(5)]),
    (("band(watts, 0.5, 2.0, 3, clamped)",), [(number,) for number in range(3)]),
    (("band(room, -10.0, 10.0, 4)",), [(number,) for number in range(4)]),
]
GRIDS = [
    Grid(0, 100, Fraction(1, 2)),
    Grid(-1, 3, 2),
    Grid(5, 9, 1),
    Grid(-9, 9, 1),
    Grid(-(2**40), 2**40, Fraction(1, 8)),
    Grid(0, 2**52, 1),
]
UNITS: list[tuple[str, ...]] = [(), ("person",), ("person", "on"), ("floor",), ("watts",), ("guest", "at")]


def optional(values: list[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(st.none(), st.sampled_from(values), st.sampled_from(values), st.sampled_from(values))


ROWS = st.fixed_dictionaries({column: optional(VALUES[column]) for column in KINDS})


def compares(column: str) -> st.SearchStrategy[Filter]:
    def made(value: Any, sign: str) -> Filter:
        ordered = sign if not isinstance(value, bool) else ("=" if sign in "<=>=" else "<>")
        return Compare(column, ordered, value)

    return st.builds(made, st.sampled_from(COMPARED[column]), st.sampled_from(SIGNS))


def one_of(column: str) -> st.SearchStrategy[Filter]:
    def made(values: list[Any]) -> Filter:
        kind = _kind(values[0])
        return OneOf(column, tuple(dict.fromkeys(value for value in values if _kind(value) == kind)))

    return st.lists(st.sampled_from(POINTS[column]), min_size=1, max_size=4).map(made)


def _kind(value: Any) -> type:
    return Fraction if isinstance(value, int | Fraction) and not isinstance(value, bool) else type(value)


SIMPLE: st.SearchStrategy[Filter] = st.one_of(
    st.sampled_from(sorted(COMPARED)).flatmap(compares),
    st.sampled_from(sorted(POINTS)).flatmap(one_of),
    st.sampled_from(["room", "watts", "day(at)", "at"]).map(Missing),
)
FILTERS: st.SearchStrategy[Filter] = st.recursive(
    SIMPLE,
    lambda parts: st.one_of(
        st.lists(parts, min_size=1, max_size=3).map(lambda listed: Both(tuple(listed))),
        st.lists(parts, min_size=1, max_size=3).map(lambda listed: Either(tuple(listed))),
        parts.map(Not),
    ),
    max_leaves=4,
)
MAYBE_FILTERS: st.SearchStrategy[Filter] = st.one_of(st.just(Both()), FILTERS)
LIMITS = [Fraction(0), Fraction(1), Fraction(1, 10), Fraction(5, 2), Fraction(-3), Fraction(10) ** 30]


@st.composite
def measures(draw: st.DrawFn, keys: list[Keys]) -> Measure:
    kind = draw(st.sampled_from(["count", "count", "number", "distinct", "sum", "beyond", "odd"]))
    place = draw(st.integers(0, len(keys) - 1))
    where = draw(MAYBE_FILTERS)
    if kind == "count":
        return Measure("count", place, where)
    if kind == "distinct":
        return Measure("distinct", place, where, draw(st.sampled_from([*KINDS, "day(at)", "slot(at, 15)"])))
    column = draw(st.sampled_from(["floor", "watts"]))
    if kind == "sum":
        return Measure("sum", place, where, column, draw(st.sampled_from(GRIDS)))
    if kind == "number":
        return Measure("count", place, where, column)
    if kind == "odd":
        return Measure("odd", place, where, column)
    limits = draw(st.lists(st.sampled_from(LIMITS), min_size=len(keys[place]), max_size=len(keys[place])))
    sign = draw(st.sampled_from(["<", "<=", ">", ">="]))
    return Measure("beyond", place, where, column, sign=sign, limits=tuple(limits))


BOUNDS = st.one_of(
    st.none(),
    st.builds(Bound, st.integers(1, 4)),
    st.builds(Bound, st.integers(1, 3), st.integers(1, 3)),
)


@st.composite
def readings(draw: st.DrawFn, bounds: st.SearchStrategy[Bound | None] = BOUNDS) -> Reading:
    lists = draw(st.lists(st.sampled_from(KEY_LISTS), min_size=1, max_size=3))
    keys = [Keys(columns, tuple(values)) for columns, values in lists]
    listed = draw(st.lists(measures(keys), min_size=1, max_size=4))
    return Reading(tuple(keys), tuple(listed), draw(MAYBE_FILTERS), draw(bounds))


@st.composite
def asked(draw: st.DrawFn, rows: int = 25, bounds: st.SearchStrategy[Bound | None] = BOUNDS) -> tuple[Data, Reading]:
    listed = draw(st.lists(ROWS, max_size=rows))
    doubled = listed + draw(st.lists(st.sampled_from(listed), max_size=10)) if listed else listed
    return Data(KINDS, doubled, draw(st.sampled_from(UNITS))), draw(readings(bounds))
