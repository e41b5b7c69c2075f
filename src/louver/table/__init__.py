"""Tables with exact invariants: counts whose totals are published as they are, and whose make-up is protected.

`table` makes a plan from a source and `publish_table` also runs it. Each mechanism is a file and says why it is
private. Each is loaded when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from louver.lazy import lazily
from louver.privacy.plan import found_in

if TYPE_CHECKING:
    from louver.table.agents import Agent
    from louver.table.ambient import Gaussian, Laplace
    from louver.table.crossed import CrossedTable
    from louver.table.hierarchy import Hierarchy
    from louver.table.invariants import Invariants
    from louver.table.plan import TablePlan
    from louver.table.published import PublishedTable
    from louver.table.publishing import publish_table, table
    from louver.table.queries import Queries
    from louver.table.released import Released
    from louver.table.whole import WholeTable

__all__ = [
    "Agent",
    "CrossedTable",
    "Gaussian",
    "Hierarchy",
    "Invariants",
    "Laplace",
    "PublishedTable",
    "Queries",
    "Released",
    "TablePlan",
    "WholeTable",
    "publish_table",
    "table",
]
_HOMES = {
    "Agent": "agents",
    "CrossedTable": "crossed",
    "Gaussian": "ambient",
    "Hierarchy": "hierarchy",
    "Invariants": "invariants",
    "Laplace": "ambient",
    "PublishedTable": "published",
    "Queries": "queries",
    "Released": "released",
    "TablePlan": "plan",
    "WholeTable": "whole",
    "publish_table": "publishing",
    "table": "publishing",
}
__getattr__ = lazily("louver.table", _HOMES)
found_in({"table": "louver.table.plan"})


def __dir__() -> list[str]:
    return __all__
