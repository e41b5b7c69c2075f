"""Where rows are: the public description of a table, what is read of it, and the bounded counts that come back."""

from louver.source.reading import Counts, View
from louver.source.table import Table

__all__ = ["Counts", "Table", "View"]
