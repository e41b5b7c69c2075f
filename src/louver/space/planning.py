"""From a source and a public area to the plan of a map, known before anything is read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction

from louver import parameters
from louver.errors import ParameterError
from louver.source import derived
from louver.source.derived import DAY, SLOT
from louver.source.description import Source
from louver.source.filters import EVERY_ROW, Compare, Filter, both
from louver.source.measures import Bound
from louver.source.table import Table
from louver.space.bounds import Bounds
from louver.space.cut import count_share_for
from louver.space.located import Located
from louver.space.plan import ATOMS, CUT, MapPlan
from louver.space.structure import HALF

LONGITUDES, LATITUDES = ("lon", "long", "lng", "longitude"), ("lat", "latitude")
MOST_ROUNDS = 10_000
INSTANT = timedelta(microseconds=1)


def map_plan(
    source: Source | Table,
    *,
    x: str,
    y: str,
    value: str,
    bounds: Bounds | Sequence[parameters.Number],
    epsilon: parameters.Number,
    low: parameters.Number | None = None,
    high: parameters.Number | None = None,
    step: parameters.Number | None = None,
    way: str = CUT,
    threshold: parameters.Number | None = None,
    readings: int | None = None,
    rounds: int = 1,
    atoms: int = ATOMS,
    rows_per_unit: int | None = None,
    time: str | None = None,
    begin: datetime | date | str | None = None,
    end: datetime | date | str | None = None,
) -> MapPlan:
    """The plan of a map of `value` over `bounds` (west, south, east, north).

    The range of values is `low` to `high`, or what the source declares of the column. Columns named lon and lat are
    degrees. `threshold` splits the price so that a map for it is best; any other can be asked for later. `begin` and
    `end` take the rows of one round only, by their `time`; where this is one of several `rounds`, epsilon is for all of
    them together, each pays the same part of it, and the grid is sized for what they tell when they are combined.
    """
    several = parameters.integer("rounds", rounds, 1, MOST_ROUNDS)
    if several > 1 and readings is None:
        raise ParameterError("Rounds share one grid, so its size must be public: give readings, about, of one round.")
    described = source if isinstance(source, Source) else Source(source)
    area = _bounds(bounds, x, y)
    bottom, top, fine = _range(described, value, low, high, step)
    share = HALF if threshold is None else count_share_for(threshold, low=bottom, high=top)
    return MapPlan(
        Located.of(x, y, value, area, low=bottom, high=top, step=fine),
        unit=described.table.unit,
        epsilon=parameters.positive("epsilon", epsilon) / several,
        way=way,
        readings=readings if several == 1 or readings is None else sized_for_rounds(readings, several),
        count_share=share,
        atoms=atoms,
        bound=_bound(described, rows_per_unit),
        where=_round(described, time, begin, end),
    )


def sized_for_rounds(readings: int, rounds: int) -> int:
    """How many readings size the grid of one round of several: its noise is that of one map, less their root."""
    return round(parameters.integer("readings", readings, 1, 2**40) * math.sqrt(rounds))


def _bounds(given: Bounds | Sequence[parameters.Number], x: str, y: str) -> Bounds:
    sides = Bounds.of(given)
    if isinstance(given, Bounds) or not (str(x).lower() in LONGITUDES and str(y).lower() in LATITUDES):
        return sides
    return Bounds(sides.west, sides.south, sides.east, sides.north, degrees=True)


def _range(
    source: Source,
    value: str,
    low: parameters.Number | None,
    high: parameters.Number | None,
    step: parameters.Number | None,
) -> tuple[parameters.Number, parameters.Number, parameters.Number | None]:
    """The range of the values as given, or as declared; unless given, values begin at 0."""
    declared: Sequence[Fraction] = dict(source.table.values).get(value, ())
    if high is not None:
        return 0 if low is None else low, high, step
    if not declared or low is not None:
        raise ParameterError(
            f"A map of {str(value)[:40]!r} needs the range of its values, for one reading must not weigh without end: "
            "give low and high, or declare it in the source's values."
        )
    return declared[0], declared[1], step if step is not None else declared[2] if len(declared) == 3 else None


def _bound(source: Source, rows: int | None) -> Bound | None:
    if source.table.unit.is_row:
        if rows not in (None, 1):
            raise ParameterError("rows_per_unit is for units of several rows; here the unit is the row itself.")
        return None
    return source.bound if rows is None else Bound(rows)


def _round(
    source: Source, time: str | None, begin: datetime | date | str | None, end: datetime | date | str | None
) -> Filter:
    """The rows from the begin to before the end, by their time.

    Said once more of the unit's own days and slots, if it names any: so rounds of different days are charged apart.
    """
    if begin is None and end is None:
        if time is not None:
            raise ParameterError("A column of times is for one round of readings: say where it begins and ends.")
        return EVERY_ROW
    if begin is None or end is None:
        raise ParameterError("A round of readings has a begin and an end; give both.")
    names = dict(source.table.columns)
    chosen = time or source.time or "time"
    column = names.get(chosen, chosen)
    part = derived.parse(column)
    column = column if part is None else part.column
    first, past = _instant("The begin of a round", begin), _instant("The end of a round", end)
    if first >= past:
        raise ParameterError("A round of readings must end after it begins.")
    conditions = [Compare(column, ">=", first), Compare(column, "<", past)]
    for name in source.table.unit.columns:
        own = derived.parse(name)
        if own is not None and own.column == column and own.part in (DAY, SLOT):
            within = [_part(own, moment) for moment in (first, past - INSTANT)]
            conditions += [Compare(name, sign, edge) for sign, edge in zip((">=", "<="), within, strict=True)]
    return both(conditions)


def _part(own: derived.Derived, moment: datetime) -> datetime | date:
    if own.part == DAY:
        return moment.date()
    midnight = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    length = timedelta(minutes=own.minutes or 1)
    return midnight + (moment - midnight) // length * length


def _instant(what: str, given: object) -> datetime:
    try:
        if isinstance(given, str):
            given = datetime.fromisoformat(given.strip())
        elif isinstance(given, date) and not isinstance(given, datetime):
            given = datetime(given.year, given.month, given.day, tzinfo=UTC)
        if isinstance(given, datetime):
            return given.replace(tzinfo=UTC) if given.tzinfo is None else given.astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise ParameterError(f"{what} is a time like 2018-02-01T09:00, or a day like 2018-02-01.")
