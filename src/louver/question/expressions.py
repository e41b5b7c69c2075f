"""Questions written in Python: `count().by("room") > 0.8 * col("capacity")`.

An expression wraps a node, its `node`. Comparisons give conditions, and conditions are joined with `&`, `|` and `~`,
because Python's own `and`, `or` and `not` cannot be taught to.
"""

from __future__ import annotations

import typing
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from typing import ClassVar, Generic, NoReturn, Self, TypeVar

from louver.errors import ParameterError
from louver.privacy.unit import column_name
from louver.question import nodes
from louver.question.checks import check_bounds, check_depth, check_filter, check_keys
from louver.question.exact import number, row_value
from louver.question.linear import Linear, compared, product, quotient
from louver.question.nodes import Aggregate, All, Any, Comparison, Condition
from louver.question.normal import joined, negated, normal_filter, rebuilt_condition
from louver.source import filters
from louver.source.filters import Both, Compare, Either, Filter, Missing, OneOf
from louver.source.filters import Not as NoRow

_Node = TypeVar("_Node")
_Compared = TypeVar("_Compared")
_PARENTHESES = "Put each comparison in parentheses before it is joined with & or |: (a > 1) & (b > 2)."


class Expression:
    """What all parts of a question share: they have no truth of their own."""

    __slots__ = ()
    __hash__: ClassVar[None] = None  # type: ignore[assignment]
    __array_ufunc__: ClassVar[None] = None  # so that NumPy's numbers leave operators to us

    def __bool__(self) -> NoReturn:
        raise ParameterError(
            "A question is not true or false by itself: join conditions with &, | and ~ instead of and, or and not, "
            "and write (x > a) & (x < b) instead of a < x < b."
        )


class Side(Expression, ABC, Generic[_Compared]):
    """One side of a comparison: numbers, columns of the domain and aggregates, added up."""

    __slots__ = ("linear",)
    linear: Linear

    def __init__(self, linear: Linear) -> None:
        self.linear = linear

    def __add__(self, other: object) -> Sum:
        return Sum(self.linear.plus(linear_of(other)))

    def __radd__(self, other: object) -> Sum:
        return Sum(linear_of(other).plus(self.linear))

    def __sub__(self, other: object) -> Sum:
        return Sum(self.linear.minus(linear_of(other)))

    def __rsub__(self, other: object) -> Sum:
        return Sum(linear_of(other).minus(self.linear))

    def __mul__(self, other: object) -> Sum:
        return Sum(product(self.linear, linear_of(other)))

    def __rmul__(self, other: object) -> Sum:
        return Sum(product(linear_of(other), self.linear))

    def __truediv__(self, other: object) -> Sum:
        return Sum(quotient(self.linear, linear_of(other)))

    def __rtruediv__(self, other: object) -> Sum:
        return Sum(quotient(linear_of(other), self.linear))

    def __neg__(self) -> Sum:
        return Sum(self.linear.times(Fraction(-1)))

    def __eq__(self, other: object) -> _Compared:  # type: ignore[override]
        return self._compared("=", other)

    def __ne__(self, other: object) -> _Compared:  # type: ignore[override]
        return self._compared("<>", other)

    def __lt__(self, other: object) -> _Compared:
        return self._compared("<", other)

    def __le__(self, other: object) -> _Compared:
        return self._compared("<=", other)

    def __gt__(self, other: object) -> _Compared:
        return self._compared(">", other)

    def __ge__(self, other: object) -> _Compared:
        return self._compared(">=", other)

    @abstractmethod
    def _compared(self, sign: str, other: object) -> _Compared:
        """What a comparison with this sign means here."""

    def _unjoined(self, _other: object = None) -> NoReturn:
        raise ParameterError(_PARENTHESES)

    __and__ = __rand__ = __or__ = __ror__ = __invert__ = _unjoined


class Sum(Side["KeyCondition"]):
    """What is compared as a whole."""

    __slots__ = ()

    def _compared(self, sign: str, other: object) -> KeyCondition:
        return KeyCondition(compared(self.linear, sign, linear_of(other)))


class AggregateExpression(Sum):
    """One number per key: grouped `by` columns, over the rows that pass `where`."""

    __slots__ = ("node",)
    node: Aggregate

    def __init__(self, node: Aggregate) -> None:
        super().__init__(Linear(aggregates={node: Fraction(1)}))
        self.node = node

    def by(self, *columns: str) -> AggregateExpression:
        check_keys(columns)
        return AggregateExpression(replace(self.node, keys=columns))

    def where(self, *conditions: RowCondition) -> AggregateExpression:
        """Only rows that pass; what was asked of them before stays."""
        parts = [_filter(each) for each in conditions]
        return AggregateExpression(replace(self.node, where=filters.both([self.node.where, *parts])))

    def __repr__(self) -> str:
        from louver.question.write_python import aggregate_to_python

        return aggregate_to_python(self.node)


class ColumnExpression(Side[typing.Any]):
    """A column: of the domain when it is a threshold, of the rows when it is compared with a value."""

    __slots__ = ("name",)
    name: str

    def __init__(self, name: str) -> None:
        self.name = column_name(name)
        super().__init__(Linear(columns={self.name: Fraction(1)}))

    def _compared(self, sign: str, other: object) -> KeyCondition | RowCondition:
        if isinstance(other, Side):
            return KeyCondition(compared(self.linear, sign, other.linear))
        return RowCondition(Compare(self.name, sign, row_value(self.name, other)))

    def isin(self, values: Iterable[object]) -> RowCondition:
        if isinstance(values, str) or not isinstance(values, Iterable):
            raise ParameterError(f"The values that column {self.name!r} may have are given as a list.")
        return RowCondition(OneOf(self.name, tuple(row_value(self.name, value) for value in values)))

    def between(self, low: object, high: object) -> RowCondition:
        """From low to high, both included, as in SQL."""
        edges = (
            Compare(self.name, ">=", row_value(self.name, low)),
            Compare(self.name, "<=", row_value(self.name, high)),
        )
        return RowCondition(Both(edges))

    def is_missing(self) -> RowCondition:
        return RowCondition(Missing(self.name))

    def __repr__(self) -> str:
        from louver.question.write_python import quoted

        return f"col({quoted(self.name)})"


class Joinable(Expression, ABC, Generic[_Node]):
    """Conditions of one kind, joined by `&`, `|` and `~`."""

    __slots__ = ("node",)
    node: _Node

    def __and__(self, other: object) -> Self:
        return self._joined(other, "all")

    def __or__(self, other: object) -> Self:
        return self._joined(other, "any")

    def __rand__(self, _other: object) -> NoReturn:
        raise ParameterError(_PARENTHESES)

    __ror__ = __rand__

    def _joined(self, other: object, how: str) -> Self:
        if isinstance(other, Side):
            raise ParameterError(_PARENTHESES)
        if not isinstance(other, type(self)):
            raise ParameterError(
                "Conditions on keys are joined with conditions on keys; conditions on rows go into .where()."
            )
        return self._with(other.node, how)

    @abstractmethod
    def _with(self, other: _Node, how: str) -> Self:
        """This condition and another, joined."""


class RowCondition(Joinable[Filter]):
    """Which rows count."""

    __slots__ = ()

    def __init__(self, node: Filter) -> None:
        check_filter(node)
        self.node = normal_filter(node)

    def _with(self, other: Filter, how: str) -> Self:
        parts = (self.node, other)
        return type(self)(Both(parts) if how == "all" else Either(parts))

    def __invert__(self) -> RowCondition:
        return RowCondition(NoRow(self.node))

    def __repr__(self) -> str:
        from louver.question.write_python import filter_to_python

        return filter_to_python(self.node)


class KeyCondition(Joinable[Condition]):
    """Which keys are flagged."""

    __slots__ = ()

    def __init__(self, node: Condition) -> None:
        check_depth(node)
        self.node = node

    def by(self, *columns: str) -> KeyCondition:
        """The same, with aggregates that have no keys yet grouped by these columns."""
        check_keys(columns)

        def keyed(given: Aggregate) -> Aggregate:
            return given if given.keys else replace(given, keys=columns)

        return KeyCondition(rebuilt_condition(self.node, keyed))

    def slack(self, slack: object) -> KeyCondition:
        """The same comparison with a slack of its own, in the unit of the aggregate on its left."""
        if not isinstance(self.node, Comparison):
            raise ParameterError("A slack belongs to one comparison: (count() > 5).slack(2) & (sum_('watts') > 10).")
        exact = number("The slack of a comparison", slack)
        if exact < 0:
            raise ParameterError("The slack of a comparison must be at least 0.")
        return KeyCondition(replace(self.node, slack=exact))

    def _with(self, other: Condition, how: str) -> Self:
        return type(self)(joined(All if how == "all" else Any, [self.node, other]))

    def __invert__(self) -> KeyCondition:
        return KeyCondition(negated(self.node))

    def __repr__(self) -> str:
        from louver.question.write_python import condition_to_python

        return condition_to_python(self.node)


def count() -> AggregateExpression:
    """How many rows."""
    return AggregateExpression(Aggregate(nodes.COUNT))


def count_distinct(column: str) -> AggregateExpression:
    """How many different values of a column."""
    return AggregateExpression(Aggregate(nodes.COUNT_DISTINCT, column_name(column)))


def _of_values(kind: str) -> Callable[..., AggregateExpression]:
    def made(column: str, low: object = None, high: object = None) -> AggregateExpression:
        least, most = (None if bound is None else number("A bound", bound) for bound in (low, high))
        check_bounds(kind, least, most)
        return AggregateExpression(Aggregate(kind, column_name(column), least, most))

    made.__name__ = made.__qualname__ = kind if kind in (nodes.AVG, nodes.MEDIAN) else f"{kind}_"
    bounds = (
        "its values clamped to [low, high] where given" if kind in (nodes.SUM, nodes.AVG) else "which takes no bounds"
    )
    made.__doc__ = f"The {kind} of a column, {bounds}."
    return made


sum_ = _of_values(nodes.SUM)
avg = _of_values(nodes.AVG)
min_ = _of_values(nodes.MIN)
max_ = _of_values(nodes.MAX)
median = _of_values(nodes.MEDIAN)


def col(name: str) -> ColumnExpression:
    """A column of the rows, in filters, or of the domain, in thresholds."""
    return ColumnExpression(name)


def _filter(given: object) -> Filter:
    if not isinstance(given, RowCondition):
        raise ParameterError("Rows are chosen by conditions on their columns, such as col('floor') == 3.")
    return given.node


def linear_of(given: object) -> Linear:
    if isinstance(given, Side):
        return given.linear
    if isinstance(given, Joinable):
        raise ParameterError("A condition cannot be compared or reckoned with; join conditions with &, | and ~.")
    return Linear(number("What an aggregate is compared with", given))
