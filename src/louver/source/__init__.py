"""Where rows are: the public description of a table, what is read of it, and the bounded aggregates that come back."""

from louver.source.description import Source
from louver.source.domain import Domain
from louver.source.domain_ranges import days, hours, slots
from louver.source.locations import DuckDBTable
from louver.source.measures import Bound, Keys, Measure, Reading, View
from louver.source.table import Table

__all__ = [
    "Bound",
    "Domain",
    "DuckDBTable",
    "Keys",
    "Measure",
    "Reading",
    "Source",
    "Table",
    "View",
    "days",
    "hours",
    "slots",
]
