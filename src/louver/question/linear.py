"""Sides of a comparison: sums of aggregates, columns of the domain and numbers, each with an exact factor.

SQL and Python both make these, and `compared` turns two of them into the one form that comparisons have: an aggregate
against a threshold, or against a multiple of one other aggregate.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeVar

from louver.errors import ParameterError
from louver.question.exact import limited
from louver.question.nodes import Against, Aggregate, Comparison, Threshold

FLIPPED = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_Term = TypeVar("_Term", str, Aggregate)


@dataclass(frozen=True, slots=True)
class Linear:
    """Factors of columns and aggregates, in order of appearance, and a constant."""

    constant: Fraction = Fraction(0)
    columns: dict[str, Fraction] = field(default_factory=dict)
    aggregates: dict[Aggregate, Fraction] = field(default_factory=dict)

    @property
    def is_number(self) -> bool:
        return not self.columns and not self.aggregates

    def plus(self, other: Linear) -> Linear:
        return Linear(
            limited("A threshold", self.constant + other.constant),
            _added(self.columns, other.columns),
            _added(self.aggregates, other.aggregates),
        )

    def times(self, factor: Fraction) -> Linear:
        def scaled(factors: dict[_Term, Fraction]) -> dict[_Term, Fraction]:
            return {term: limited("A factor", each * factor) for term, each in factors.items() if factor}

        constant = limited("A threshold", self.constant * factor)
        return Linear(constant, scaled(self.columns), scaled(self.aggregates))

    def minus(self, other: Linear) -> Linear:
        return self.plus(other.times(Fraction(-1)))


def product(left: Linear, right: Linear) -> Linear:
    if left.is_number:
        return right.times(left.constant)
    if right.is_number:
        return left.times(right.constant)
    raise ParameterError("Only a number can be a factor; columns and aggregates cannot be multiplied with each other.")


def quotient(left: Linear, right: Linear) -> Linear:
    if not right.is_number:
        raise ParameterError(
            "Only a number can divide; instead of count(*) / capacity > 0.8 write count(*) > 0.8 * capacity."
        )
    if not right.constant:
        raise ParameterError("Nothing can be divided by 0.")
    return left.times(1 / right.constant)


def threshold(side: Linear) -> Threshold:
    """A side that is public: a number, or a multiple of one column of the domain and a number."""
    if side.aggregates:
        raise ParameterError("A threshold is public: a number, or a multiple of a column of the domain and a number.")
    if len(side.columns) > 1:
        named = " and ".join(map(repr, side.columns))
        raise ParameterError(f"A threshold uses one column of the domain, not {named}; put their sum into the domain.")
    for column, factor in side.columns.items():
        return Threshold(side.constant, column, factor)
    return Threshold(side.constant)


def compared(left: Linear, sign: str, right: Linear) -> Comparison:
    """One comparison: everything on one side, then solved for the aggregate that was named first."""
    whole = left.minus(right)
    if not whole.aggregates:
        raise ParameterError(
            "A comparison needs an aggregate that depends on the rows, such as a count; conditions on single rows go "
            "to WHERE, or .where() in Python."
        )
    (first, factor), *others = whole.aggregates.items()
    rest = Linear(whole.constant, whole.columns).times(-1 / factor)
    sign = sign if factor > 0 else FLIPPED[sign]
    if not others:
        return Comparison(first, sign, threshold(rest))
    if len(others) > 1:
        raise ParameterError("A comparison has at most two aggregates, one on each side.")
    if rest.columns:
        raise ParameterError("Two aggregates are compared with a factor and a number only, not with a column as well.")
    ((second, weight),) = others
    return Comparison(first, sign, Against(second, limited("A factor", -weight / factor), rest.constant))


def _added(first: dict[_Term, Fraction], second: dict[_Term, Fraction]) -> dict[_Term, Fraction]:
    total = dict(first)
    for term, factor in second.items():
        total[term] = limited("A factor", total.get(term, Fraction(0)) + factor)
    return {term: factor for term, factor in total.items() if factor}
