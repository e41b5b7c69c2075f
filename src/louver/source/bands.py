"""Columns that say in which of some equal bands of a public range a number lies: `band(lon, 8.4, 8.6, 256)`.

A map is read by two of them. The rule is here once, for arrays and for SQL, with the same operations on floats in the
same order, so that both put every number into the same band: trunc((x - start) * (count / (end - start))), and the
end itself into the last band. A number outside the range is in none, or with `clamped` as the last word in the nearest.
No value can stop an engine: far ones are never reckoned with, and near the start, where a product could be too small
for PostgreSQL, the answer is known to be 0.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from louver.errors import ParameterError

if TYPE_CHECKING:
    from sqlglot import exp

    from louver.source.dialects import Dialect

MOST_BANDS = 1 << 12
_FORM = re.compile(r"band\((.+), ([^,()]+), ([^,()]+), ([0-9]{1,5})(, clamped)?\)")


@dataclass(frozen=True, slots=True)
class Band:
    """So many equal bands of a column, from 0 at the start.

    >>> print(Band("lon", 0.0, 8.0, 4))
    band(lon, 0.0, 8.0, 4)
    >>> Band("lon", 0.0, 8.0, 4).positions(np.array([0.0, 2.0, 7.9, 8.0])).tolist()
    [0, 1, 3, 3]
    """

    column: str
    start: float
    end: float
    count: int
    clamped: bool = False

    def __post_init__(self) -> None:
        if not (self.start < self.end and 1 <= self.count <= MOST_BANDS and math.isfinite(self.factor)):
            raise ParameterError("Bands need a start, an end above it that is not too near, and 1 to 4,096 of them.")

    @property
    def factor(self) -> float:
        """How many bands one unit of the column is."""
        width = self.end - self.start
        return self.count / width if 0 < width < math.inf else math.inf

    def positions(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        """The band of each number; one outside the range goes to the nearest. NaN must not come here."""
        place = (np.clip(values, self.start, self.end) - self.start) * self.factor
        return np.minimum(place.astype(np.int64), self.count - 1)

    def tree(self, value: exp.Expr, dialect: Dialect) -> exp.Expr:
        """The same in SQL, of a float; nothing for one outside the range, unless that is clamped."""
        from sqlglot import exp  # here, because whoever reads a map has no need of it

        from louver.source.dialects import REAL, WHOLE

        def number(given: float) -> exp.Expr:
            return dialect.cast(exp.convert(repr(float(given))), REAL)

        above = exp.Sub(this=value.copy(), expression=number(self.start))
        scaled = exp.Mul(this=exp.paren(above), expression=number(self.factor))
        place = dialect.cast(exp.Floor(this=scaled), WHOLE)
        last = exp.convert(self.count - 1)
        near = self.start + (self.end - self.start) / (2 * self.count)
        first = exp.If(this=exp.LT(this=value.copy(), expression=number(near)), true=exp.convert(0))
        within = exp.Least(this=place, expressions=[last])
        upto = exp.LTE(this=value.copy(), expression=number(self.end))
        if self.clamped:
            beyond = exp.If(this=exp.GT(this=value.copy(), expression=number(self.end)), true=last.copy())
            return exp.Case(ifs=[first, exp.If(this=upto, true=within), beyond])
        inside = exp.and_(exp.GTE(this=value.copy(), expression=number(self.start)), upto)
        return exp.Case(ifs=[exp.If(this=inside, true=exp.Case(ifs=[first], default=within))])

    def __str__(self) -> str:
        clamped = ", clamped" if self.clamped else ""
        return f"band({self.column}, {self.start!r}, {self.end!r}, {self.count}{clamped})"


def parse(name: str) -> Band | None:
    """The bands that a column's name means; None where it is a plain name."""
    found = _FORM.fullmatch(name)
    if found is None:
        return None
    try:
        return Band(found[1], float(found[2]), float(found[3]), int(found[4]), found[5] is not None)
    except ValueError:
        return None
