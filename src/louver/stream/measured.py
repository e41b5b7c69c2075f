"""What a stream measures in each tick and region: rows, different values, or a sum of values on a grid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

from louver import parameters
from louver.errors import ParameterError
from louver.noise.grid import Grid
from louver.privacy import Unit
from louver.privacy.unit import column_name
from louver.source.measures import COUNT, DISTINCT, SUM, Bound, Measure

MOST_STEPS = 2**16  # of one row: fine beside any noise, and sums of 2^18 rows fit every mechanism
LARGEST_STEP = 2**40


@dataclass(frozen=True, slots=True)
class Measured:
    """A number per tick and region; a sum has a grid, which says how much one row weighs at most.

    >>> Measured.sum_of("watts", 0, 5000).step
    Fraction(1, 8)
    """

    kind: str = COUNT
    column: str | None = None
    grid: Grid | None = None

    def __post_init__(self) -> None:
        if self.kind not in (COUNT, DISTINCT, SUM):
            raise ParameterError(f"A stream measures rows, different values or a sum, not {str(self.kind)[:40]!r}.")
        if (self.column is None) != (self.kind == COUNT) or (self.grid is None) == (self.kind == SUM):
            raise ParameterError("Different values and sums need a column, and a sum needs its bounds.")
        if self.column is not None:
            column_name(self.column)
        if self.kind == SUM and not self.weight:
            raise ParameterError(f"The bounds of column {self.column!r} leave nothing to add up.")

    @classmethod
    def sum_of(
        cls, column: str, low: parameters.Number, high: parameters.Number, step: parameters.Number | None = None
    ) -> Self:
        """The sum of a column, each value clamped to its bounds; unless given, the step is a fine power of two."""
        least, most = parameters.fraction("The lower bound", low), parameters.fraction("The upper bound", high)
        return cls(SUM, column, Grid(least, most, _fine(least, most) if step is None else step))

    @property
    def measure(self) -> Measure:
        return Measure(self.kind, column=self.column, grid=self.grid)

    @property
    def presence(self) -> tuple[Measure, ...]:
        """What tells a tick without values from one whose sum is 0; other numbers are 0 only where nothing is there."""
        return (Measure(COUNT, column=self.column),) if self.kind == SUM else ()

    @property
    def weight(self) -> int:
        """How much one row moves the number, in steps."""
        return 1 if self.grid is None else self.grid.sensitivity

    @property
    def step(self) -> Fraction:
        return Fraction(1) if self.grid is None else self.grid.step

    @property
    def is_signed(self) -> bool:
        return self.grid is not None and self.grid.lowest < 0

    @property
    def noun(self) -> str:
        if self.kind == COUNT:
            return "count"
        return f"number of different values of {self.column}" if self.kind == DISTINCT else f"sum of {self.column}"

    def to_dict(self) -> dict[str, Any]:
        grid = None if self.grid is None else [str(each) for each in (self.grid.low, self.grid.high, self.grid.step)]
        return {"kind": self.kind, "column": self.column, "grid": grid}

    @classmethod
    def from_dict(cls, plain: object) -> Self:
        try:
            given: Any = plain
            if set(given) != {"kind", "column", "grid"}:
                raise ValueError
            grid = None if given["grid"] is None else Grid(*map(Fraction, given["grid"]))
            return cls(given["kind"], given["column"], grid)
        except (KeyError, TypeError, ValueError, ZeroDivisionError):
            raise ParameterError("What a stored stream measures needs 'kind', 'column' and 'grid'.") from None


@dataclass(frozen=True, slots=True)
class Touch:
    """One unit is at most `times` changes, each of one cell (a tick of a region) by at most `step`.

    `apart` says that no two of them are of one cell.
    """

    step: int
    times: int
    apart: bool = False


def touch(measured: Measured, unit: Unit, bound: Bound | None, in_one_cell: bool) -> tuple[Touch, Bound | None]:
    """How one unit touches the cells, and the bound that has to be kept for that; None where none is needed.

    - All rows of a unit are in one cell: once, by what all its rows that count weigh.
    - Bound(rows=m): at most m rows in all, in whatever cells. m times, by what one row weighs.
    - Bound(rows=r, keys=q): at most q cells with r rows each. q times, by what r rows weigh.
    - Different values of a column that the unit fixes: one unit adds one value to a cell, however many rows it has.
    """
    one_value = measured.kind == DISTINCT and unit.fixes(measured.column or "")
    if unit.is_row:
        return Touch(measured.weight, 1), None
    if in_one_cell and one_value:
        return Touch(1, 1), None
    kept = bound or Bound()
    if in_one_cell:
        rows, times = kept.rows, 1
    elif kept.keys is None:
        rows, times = 1, kept.rows
    else:
        rows, times = kept.rows, kept.keys
    step = 1 if one_value else rows * measured.weight
    if step > LARGEST_STEP:
        raise ParameterError("One unit can move this sum by too many steps; declare tighter bounds or a larger step.")
    return Touch(step, times, kept.keys is not None), kept


def measured_by(values: Mapping[str, Sequence[Fraction]], *, sum_of: str | None, distinct: str | None) -> Measured:
    """Rows, unless a column is named; `values` are the declared bounds of columns."""
    if sum_of is not None and distinct is not None:
        raise ParameterError("A stream measures one thing: a sum, or different values.")
    if distinct is not None:
        return Measured(DISTINCT, distinct)
    if sum_of is None:
        return Measured()
    if sum_of not in values:
        raise ParameterError(
            f"A sum of {sum_of!r} needs bounds, for one row must not weigh without end; describe the source in "
            f"louver.toml, and declare them under [source.NAME.values] with a line like {sum_of} = {{ low = 0, high = "
            "100 }."
        )
    return Measured.sum_of(sum_of, *values[sum_of])


def _fine(low: Fraction, high: Fraction) -> Fraction:
    """The least power of two of which no more than `MOST_STEPS` reach to the bounds."""
    reach = max(abs(low), abs(high), Fraction(1, 2**256)) / MOST_STEPS
    exponent = reach.numerator.bit_length() - reach.denominator.bit_length() - 1
    while Fraction(2) ** exponent < reach:
        exponent += 1
    return Fraction(2) ** exponent
