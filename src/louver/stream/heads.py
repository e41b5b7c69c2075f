"""What the columns of published regions are called: by the names that the source declares, unlike all others."""

from __future__ import annotations

from louver.source.table import Table
from louver.stream.plan import StreamPlan
from louver.stream.plan_checks import check_heads


def heads(plan: StreamPlan, table: Table) -> tuple[str, ...]:
    """A column that is made of a time has the first of its declared names."""
    names = {made: name for name, made in reversed(table.columns)}
    found = tuple(names.get(column, column) for column in plan.keys)
    check_heads(found)
    return found
