"""Arithmetic in SQL, reckoned exactly: 5 / 2 is 2.5 in every dialect."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from sqlglot import exp

from louver.question.exact import number_written
from louver.question.linear import Linear, product, quotient
from louver.question.sql_text import Text
from louver.question.sql_tree import only, unwrapped

_OPERATIONS: dict[type[exp.Expr], Callable[[Linear, Linear], Linear]] = {
    exp.Add: Linear.plus,
    exp.Sub: Linear.minus,
    exp.Mul: product,
    exp.Div: quotient,
}


def reckoned(text: Text, given: exp.Expr, other: Callable[[exp.Expr], Linear]) -> Linear:
    """The sum behind an expression; `other` reads what is no number and no operation."""
    node = unwrapped(given)
    if isinstance(node, exp.Literal) and not node.is_string:
        with text.at(node):
            return Linear(number_written("A number", node.name))
    if isinstance(node, exp.Neg):
        return reckoned(text, node.this, other).times(Fraction(-1))
    operation = _OPERATIONS.get(type(node))
    if operation is None:
        return other(node)
    only(text, node, "this", "expression")
    left, right = reckoned(text, node.this, other), reckoned(text, node.args["expression"], other)
    with text.at(node):
        return operation(left, right)
