"""The rows of one slot as a table for the steward: who, when, and where on every level of the building."""

from __future__ import annotations

from typing import Any

import numpy as np

from louver.errors import DataError
from louver.sense.events import instant
from louver.sense.readings_rows import ReadingRows
from louver.sense.rows import Rows
from louver.source import Table
from louver.watch.rules import DAY, LEVELS, PERSON, REGION, SLOT, Rules

OCCUPANCY, READINGS = "occupancy", "readings"
VALUE = "value"


def name_of(rules: Rules) -> str:
    """What questions call the rows of a slot."""
    return OCCUPANCY if rules.combining is None else READINGS


class Tables:
    """Makes the table of a slot. A unit has one row in it, so one unit of a slot moves one count by one.

    Rows of readings have a value as well, within its bounds. Where a region is the unit, there is no person.
    """

    def __init__(self, rules: Rules) -> None:
        try:
            import pyarrow
        except ImportError:
            raise DataError("Watching needs pyarrow; install it with: pip install 'louver[watch]'.") from None
        self._arrow: Any = pyarrow
        self._dataset, self._unit, self._zone = rules.dataset, rules.unit, rules.zone
        self._combining = rules.combining
        self.name = name_of(rules)
        building = rules.building
        self._above = {
            region.id: {"region": region.id, **building.above("region", region.id)} for region in building.regions
        }

    def of(self, slot: int, rows: Rows) -> Table:
        """The rows of one slot. The day is that of the building's time zone."""
        arrow, count = self._arrow, len(rows)
        local = instant(slot).astimezone(self._zone).date()
        columns: dict[str, Any] = {
            **({} if self._unit.fixes(REGION) else {PERSON: rows.person}),
            SLOT: arrow.array(np.full(count, slot, dtype=np.int64)).cast(arrow.timestamp("us")),
            DAY: arrow.array(np.full(count, np.datetime64(local, "D"))),
        }
        for level in LEVELS:
            names = arrow.array([self._above[region][level] for region in rows.regions], arrow.string())
            columns[level] = arrow.DictionaryArray.from_arrays(rows.region, names).cast(arrow.string())
        values = None
        if self._combining is not None:
            columns[VALUE] = rows.value if isinstance(rows, ReadingRows) else np.empty(0, dtype=np.float64)
            values = {VALUE: (self._combining.lower, self._combining.upper)}
        return Table(arrow.table(columns), dataset=self._dataset, unit=self._unit, values=values, name=self.name)

    def empty(self) -> Table:
        """The table without rows, to check questions against."""
        return self.of(0, Rows.none(tuple(self._above)))
