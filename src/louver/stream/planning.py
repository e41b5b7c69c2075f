"""From a source and a public range of time to the plan of a stream, known before anything is read.

`stream(source, every="5m", begin=..., end=..., by="room", epsilon=1)` returns a plan for `Steward.run` and `Session`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any

from louver.errors import ParameterError
from louver.parameters import Number
from louver.source import derived
from louver.source.derived import SLOT
from louver.source.description import Source
from louver.source.domain import Domain
from louver.source.measures import Bound
from louver.source.table import Table
from louver.stream import kernels
from louver.stream.measured import measured_by
from louver.stream.plan import StreamPlan
from louver.stream.ticks import Ticks, ticks_in

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
    rho: Number | None = None,
    within: Number | None = None,
    miss_rate: Number | None = None,
    window: int | timedelta | str = 1,
    rows_per_unit: int | None = None,
    keys_per_unit: int | None = None,
    tick_bound: Number | None = None,
    domain: Domain | str | None = None,
) -> StreamPlan:
    """The plan of a stream of counts, or of different values or sums of a column, by keys of a public domain.

    The price, for one unit or the units of one window: `epsilon`, `rho`, or `within` with `miss_rate`.
    """
    described = source if isinstance(source, Source) else Source(source)
    names = dict(described.table.columns)
    ticks = Ticks(_time(described, time, names), begin, end, every)
    if within is not None and miss_rate is None:
        usual: Any = described.defaults.get("miss_rate")
        miss_rate = usual
    return StreamPlan(
        measured_by(dict(described.table.values), sum_of=sum_of, distinct=names.get(distinct or "", distinct)),
        _regions(described, by, domain, names),
        ticks,
        unit=described.table.unit,
        kernel=mechanism,
        options=options,
        epsilon=epsilon,
        rho=rho,
        within=within,
        miss_rate=miss_rate,
        bound=_bound(described, rows_per_unit, keys_per_unit),
        window=ticks_in(window, ticks),
        tick_bound=tick_bound,
    )


def _time(source: Source, given: str | None, names: Mapping[str, str]) -> str:
    """The column of times: as given, as the source says, a slot that the unit names, or `time`."""
    units = source.table.unit.columns
    chosen = given or source.time or next((name for name in USUAL_TIMES if name in units), "time")
    made = names.get(chosen, chosen)
    part = derived.parse(made)
    return part.column if part is not None and part.part == SLOT else made


def _regions(
    source: Source, by: str | Sequence[str], given: Domain | str | None, names: Mapping[str, str]
) -> Domain | None:
    """The different keys over the columns that are asked for; none where all rows are one region."""
    listed = [by] if isinstance(by, str) else list(by)
    if not listed:
        if given is not None:
            raise ParameterError(
                "A stream of all rows together has no regions; name the columns of the domain with by."
            )
        return None
    found = given if isinstance(given, Domain) else source.domain(given)
    columns = [names.get(name, name) for name in listed]
    keys, _ = found.renamed(names).listed(columns)
    return Domain({column: [key[at] for key in keys.values] for at, column in enumerate(keys.columns)}, keys=columns)


def _bound(source: Source, rows: int | None, keys: int | None) -> Bound | None:
    if source.table.unit.is_row:
        if rows not in (None, 1) or keys is not None:
            raise ParameterError("Bounds per unit are for units of several rows; here the unit is the row itself.")
        return None
    if (rows, keys, source.bound) == (None, None, None):
        return None  # one row counts, and a warning says that nobody said so
    declared = source.bound or Bound()
    return Bound(rows if rows is not None else declared.rows, keys if keys is not None else declared.keys)
