"""How much of one unit counts: what is asked for, else what the source declares."""

from __future__ import annotations

from louver.errors import ParameterError
from louver.source.description import Source
from louver.source.measures import Bound


def asked_bound(source: Source, rows: int | None, keys: int | None) -> Bound | None:
    """The bound of rows and of keys per unit; None where the unit is the row, or where nobody said any."""
    if source.table.unit.is_row:
        if rows not in (None, 1) or keys is not None:
            raise ParameterError("Bounds per unit are for units of several rows; here the unit is the row itself.")
        return None
    if (rows, keys, source.bound) == (None, None, None):
        return None  # one row counts, and a warning says that nobody said so
    declared = source.bound or Bound()
    return Bound(rows if rows is not None else declared.rows, keys if keys is not None else declared.keys)
