"""From a source and a public range of time to the plan of a stream, known before anything is read.

`stream(source, every="5m", begin=..., end=..., by="room", epsilon=1)` returns a plan for `Steward.run` and `Session`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any

from louver.parameters import Number
from louver.source import derived
from louver.source.asked_bound import asked_bound
from louver.source.derived import SLOT
from louver.source.description import Source
from louver.source.domain import Domain
from louver.source.table import Table
from louver.stream import kernels
from louver.stream.asked_regions import asked_regions
from louver.stream.best_sum import SUM, any_sum, best_sum
from louver.stream.heads import heads
from louver.stream.measured import measured_by
from louver.stream.plan import StreamPlan
from louver.stream.plan_checks import check_whole
from louver.stream.ticks import Ticks
from louver.stream.window_units import ticks_in, units_in

USUAL_TIMES = ("slot", "time")


def stream(
    source: Source | Table,
    *,
    every: timedelta | str,
    begin: datetime | date | str,
    end: datetime | date | str,
    by: str | Sequence[str] = (),
    time: str | None = None,
    sum_of: str | None = None,
    distinct: str | None = None,
    mechanism: str = kernels.DEFAULT,
    options: Mapping[str, str | int] | None = None,
    epsilon: Number | None = None,
    delta: Number | None = None,
    rho: Number | None = None,
    within: Number | None = None,
    miss_rate: Number | None = None,
    slack: Number | None = None,
    above: Number | str | None = None,
    last: int | timedelta | str | None = None,
    totals: bool = False,
    window: int | timedelta | str = 1,
    rows_per_unit: int | None = None,
    keys_per_unit: int | None = None,
    tick_bound: Number | None = None,
    domain: Domain | str | None = None,
    live: bool = False,
) -> StreamPlan:
    """The plan of a stream of counts, or of different values or sums of a column, by keys of a public domain.

    The price, for one unit or the units of one window: `epsilon`, `rho`, `within` with `miss_rate`, or `above` (a
    number or a column of the domain) with `miss_rate` and `slack`. The mechanism "sum" is the best running sum; `live`
    says that rows may react to what is released, as in a `Session`, which leaves it less to choose from.
    """
    described = source if isinstance(source, Source) else Source(source)
    names = dict(described.table.columns)
    ticks = Ticks(_time(described, time, names), begin, end, every)
    if miss_rate is None and (within is not None or above is not None):
        usual: Any = described.defaults.get("miss_rate")
        miss_rate = usual
    regions = asked_regions(described, by, domain, names, totals)
    measured = measured_by(dict(described.table.values), sum_of=sum_of, distinct=names.get(distinct or "", distinct))
    unit, keys = described.table.unit, () if regions.domain is None else regions.domain.keys
    plan = StreamPlan(
        measured,
        regions.domain,
        ticks,
        unit=unit,
        kernel=any_sum(rho) if mechanism == SUM else mechanism,
        options=options,
        epsilon=epsilon,
        delta=delta,
        rho=rho,
        within=within,
        miss_rate=miss_rate,
        slack=slack,
        above=regions.limits(above),
        last=None if last is None else ticks_in(last, ticks, "last"),
        totals=regions.totals,
        bound=asked_bound(described, rows_per_unit, keys_per_unit),
        window=units_in(window, ticks, unit, measured, keys),
        tick_bound=tick_bound,
    )
    heads(plan, described.table)  # says which of them cannot be published
    if not live:
        check_whole(plan)
    return best_sum(plan, live=live) if mechanism == SUM else plan


def _time(source: Source, given: str | None, names: Mapping[str, str]) -> str:
    """The column of times: as given, as the source says, what the unit names or is made of, or `time`."""
    units = source.table.unit.columns
    within = {part.column for name in units if (part := derived.parse(names.get(name, name))) is not None}
    usual = [*(name for name in USUAL_TIMES if name in units), *(within if len(within) == 1 else ()), "time"]
    chosen = given or source.time or usual[0]
    made = names.get(chosen, chosen)
    part = derived.parse(made)
    return part.column if part is not None and part.part == SLOT else made
