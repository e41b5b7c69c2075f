"""From a source and a public area to the plan of a map, known before anything is read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from fractions import Fraction
from typing import Any

from louver import parameters
from louver.errors import ParameterError
from louver.privacy.guarantee import KEPT_BITS
from louver.source import derived
from louver.source.asked_bound import asked_bound
from louver.source.derived import DAY, SLOT
from louver.source.description import Source
from louver.source.filters import EVERY_ROW, Compare, Filter, both
from louver.source.moments import instant, slot_start
from louver.source.table import Table
from louver.space.bounds import Bounds
from louver.space.cut import count_share_for
from louver.space.decomposition import Splitting
from louver.space.located import Located
from louver.space.plan import MapPlan
from louver.space.ways import ATOMS, MOST_ROUNDS

LONGITUDES, LATITUDES = ("lon", "long", "lng", "longitude"), ("lat", "latitude")
INSTANT = timedelta(microseconds=1)


def map_plan(
    source: Source | Table,
    *,
    x: str,
    y: str,
    value: str | None = None,
    bounds: Bounds | Sequence[parameters.Number],
    epsilon: parameters.Number,
    low: parameters.Number | None = None,
    high: parameters.Number | None = None,
    step: parameters.Number | None = None,
    way: str | None = None,
    threshold: parameters.Number | None = None,
    readings: int | None = None,
    rounds: int = 1,
    atoms: int = ATOMS,
    rows_per_unit: int | None = None,
    time: str | None = None,
    begin: datetime | date | str | None = None,
    end: datetime | date | str | None = None,
    crs: str | None = None,
    outside: str = "drop",
    depth: int | None = None,
    level_share: parameters.Number | None = None,
    stop: str | None = None,
    least: parameters.Number | None = None,
) -> MapPlan:
    """The plan of a map of `value` over `bounds` (west, south, east, north); without a value, of counts alone.

    The range of values is `low` to `high`, or what the source declares of the column. Columns named lon and lat are
    degrees; `crs` names another system, like EPSG:25833. With `outside="clamp"` rows outside the bounds count at the
    nearest edge. `threshold` splits the price so that a map for it is best; any other can be asked for later. `begin`
    and `end` take the rows of one round only, by their `time`; where this is one of several `rounds`, epsilon is for
    all of them together, each pays the same part of it, and the grid is sized for what they tell when combined.
    `depth`, `level_share`, `stop` and `least` say how a decomposition is split.
    """
    several = parameters.integer("rounds", rounds, 1, MOST_ROUNDS)
    described = source if isinstance(source, Source) else Source(source)
    area = _bounds(bounds, x, y, crs)
    located, share = _located(described, (x, y, value), area, (low, high, step), threshold, outside)
    asked = {"depth": depth, "level_share": level_share, "stop": stop, "least": least}
    given: dict[str, Any] = {name: number for name, number in asked.items() if number is not None}
    return MapPlan(
        located,
        unit=described.table.unit,
        epsilon=_of_a_round(parameters.positive("epsilon", epsilon), several),
        way=way,
        readings=readings,
        count_share=share,
        atoms=atoms,
        bound=asked_bound(described, rows_per_unit, None),
        where=_round(described, time, begin, end),
        rounds=several,
        splitting=Splitting(**given) if given else None,
    )


def _of_a_round(epsilon: Fraction, rounds: int) -> Fraction:
    """Its part of the price of all rounds, rounded down to what ledgers add up exactly."""
    return epsilon if rounds == 1 else Fraction(math.floor(epsilon / rounds * 2**KEPT_BITS), 2**KEPT_BITS)


def _located(
    source: Source,
    columns: tuple[str, str, str | None],
    area: Bounds,
    values: tuple[parameters.Number | None, parameters.Number | None, parameters.Number | None],
    threshold: parameters.Number | None,
    outside: str,
) -> tuple[Located, Fraction | None]:
    """What the map is made of, and the counts' share of the price where a threshold says what is best."""
    x, y, value = columns
    if value is None:
        if (*values, threshold) != (None, None, None, None):
            raise ParameterError(
                "A map of counts alone has no values: name their column, or leave range and threshold out."
            )
        return Located.alone(x, y, area, outside=outside), None
    bottom, top, fine = _range(source, value, *values)
    located = Located.of(x, y, value, area, low=bottom, high=top, step=fine, outside=outside)
    return located, None if threshold is None else count_share_for(threshold, low=bottom, high=top)


def _bounds(given: Bounds | Sequence[parameters.Number], x: str, y: str, crs: str | None) -> Bounds:
    sides = Bounds.of(given)
    if isinstance(given, Bounds) and crs is None:
        return sides
    named = str(x).lower() in LONGITUDES and str(y).lower() in LATITUDES
    degrees = sides.degrees or (named and not isinstance(given, Bounds))
    return Bounds(sides.west, sides.south, sides.east, sides.north, degrees=degrees, crs=crs or sides.crs)


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
    first, past = instant("The begin of a round", begin), instant("The end of a round", end)
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
    return moment.date() if own.part == DAY else slot_start(moment, own.minutes or 1)
