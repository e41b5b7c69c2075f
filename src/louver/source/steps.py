"""Values in whole steps of a grid, in SQL: what `Grid.quantise` does to each value, without a chance to overflow.

floor(x / step + 1/2), clamped. Below the middle of the lowest step and from the middle below the highest, the answer is
known; in between x / step is exact, because the step is a power of two. Near 0 it could be too small for a float,
at which PostgreSQL stops, and there the answer is 0. Adding 1/2 before rounding down would round some values up.
"""

from __future__ import annotations

from fractions import Fraction

from sqlglot import exp

from louver.noise.grid import Grid
from louver.source.dialects import REAL, WHOLE, Dialect

HALF = Fraction(1, 2)


def steps(value: exp.Expr, grid: Grid, dialect: Dialect) -> exp.Expr:
    """How many steps a float is; nothing where it is nothing."""

    def number(exact: Fraction) -> exp.Expr:
        return dialect.cast(exp.convert(repr(float(exact))), REAL)

    def when(sign: type[exp.Binary], limit: Fraction, then: int) -> exp.If:
        return exp.If(this=sign(this=value.copy(), expression=number(limit)), true=exp.convert(then))

    scaled = exp.Mul(this=exp.paren(value.copy()), expression=number(1 / grid.step))
    below = exp.Floor(this=scaled)
    upper_half = exp.GTE(this=exp.Sub(this=scaled.copy(), expression=below.copy()), expression=number(HALF))
    up = exp.Case(ifs=[exp.If(this=upper_half, true=exp.convert(1))], default=exp.convert(0))
    near_zero = exp.and_(
        exp.GT(this=value.copy(), expression=number(-HALF * grid.step)),
        exp.LT(this=value.copy(), expression=number(HALF * grid.step)),
    )
    return exp.Case(
        ifs=[
            when(exp.GTE, (grid.highest - HALF) * grid.step, grid.highest),
            when(exp.LT, (grid.lowest + HALF) * grid.step, grid.lowest),
            exp.If(this=near_zero, true=exp.convert(0)),
        ],
        default=exp.Add(this=dialect.cast(below, WHOLE), expression=up),
    )
