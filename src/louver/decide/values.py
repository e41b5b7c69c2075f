"""Declared bounds of value columns, and the grid on which an aggregate adds them up."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from louver import parameters
from louver.errors import ParameterError
from louver.noise.grid import Grid
from louver.question.nodes import Aggregate

# A sum is cut at 2**62, which takes more than 2**41 rows of one key at this reach; see `margins`.
MOST_STEPS = 2**21


@dataclass(frozen=True, slots=True)
class ValueBounds:
    """For some columns the least and the largest value that counts, and the step of their grid, if declared."""

    declared: tuple[tuple[str, Fraction, Fraction, Fraction | None], ...] = ()

    @classmethod
    def of(cls, given: Mapping[str, Any] | None) -> ValueBounds:
        made = []
        for column, bounds in (given or {}).items():
            try:
                low, high, *step = bounds
            except (TypeError, ValueError):
                raise ParameterError(f"Bounds of column {column!r} are (low, high) or (low, high, step).") from None
            if len(step) > 1:
                raise ParameterError(f"Bounds of column {column!r} are (low, high) or (low, high, step).")
            exact = [
                written(f"A bound of column {column!r}", each)
                for each in (low, high, *(s for s in step if s is not None))
            ]
            made.append((column, exact[0], exact[1], exact[2] if len(exact) > 2 else None))
        return cls(tuple(made))

    def grid(self, aggregate: Aggregate) -> Grid:
        """The grid of the aggregate's column: with the declared step, or the finest there can be.

        Each row is rounded by up to half a step, and all rows of a key may be rounded the same way: a step that is fine
        beside the slack is not fine beside a thousand rows. A finer one costs nothing.
        """
        column = aggregate.column
        low, high, step = next(
            ((low, high, step) for name, low, high, step in self.declared if name == column), (None, None, None)
        )
        low = aggregate.low if aggregate.low is not None else low
        high = aggregate.high if aggregate.high is not None else high
        if low is None or high is None:
            raise ParameterError(
                f"{aggregate.kind} of {column!r} needs bounds, for one row must not weigh without end; declare them in "
                f"the source's values, or write {aggregate.kind}(least(greatest({column}, low), high))."
            )
        if low > high:
            raise ParameterError(
                f"The bounds of column {column!r} must rise: {parameters.short(low)} is above {parameters.short(high)}."
            )
        return Grid(low, high, step if step is not None else _finest(low, high))

    def to_list(self) -> list[list[str | None]]:
        return [
            [name, str(low), str(high), None if step is None else str(step)] for name, low, high, step in self.declared
        ]

    @classmethod
    def from_list(cls, plain: Any) -> ValueBounds:
        return cls(
            tuple(
                (name, Fraction(low), Fraction(high), None if step is None else Fraction(step))
                for name, low, high, step in plain
            )
        )


def written(name: str, given: Any) -> Fraction:
    """The exact number; a float means what it is written as: 0.1 is one tenth."""
    exact = parameters.fraction(name, given)
    return Fraction(repr(float(given))) if isinstance(given, float) else exact


def _finest(low: Fraction, high: Fraction) -> Fraction:
    """The least power of two of which no more than `MOST_STEPS` reach to the bounds, or near it."""
    reach = max(abs(low), abs(high), Fraction(1, 2**256))
    step = Fraction(2) ** _exponent(reach / MOST_STEPS)
    while reach > step * MOST_STEPS:
        step *= 2
    return step


def _exponent(value: Fraction) -> int:
    """Of the largest power of two up to about the value; it may be one off, for no promise hangs on it."""
    return math.floor(math.log2(value.numerator) - math.log2(value.denominator))
