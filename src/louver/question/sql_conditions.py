"""HAVING: conditions on the aggregates of a key."""

from __future__ import annotations

from fractions import Fraction

from sqlglot import exp

from louver.question import nodes
from louver.question.linear import Linear, compared
from louver.question.nodes import All, Any, Comparison, Condition
from louver.question.sql_aggregates import Grouped
from louver.question.sql_filters import SIGNS
from louver.question.sql_numbers import reckoned
from louver.question.sql_tree import is_called, only, operands, unwrapped
from louver.source.names import instead_of

_LEAVES = "Aggregates are compared with thresholds: =, <>, <, <=, >, >=, BETWEEN, IN, joined by AND, OR, NOT."


def condition(grouped: Grouped, given: exp.Expr) -> Condition:
    """The condition behind a HAVING."""
    text = grouped.names.text
    node = unwrapped(given)
    if isinstance(node, exp.And):
        return All(tuple(condition(grouped, part) for part in operands(node, exp.And)))
    if isinstance(node, exp.Or):
        return Any(tuple(condition(grouped, part) for part in operands(node, exp.Or)))
    if isinstance(node, exp.Not):
        return nodes.Not(condition(grouped, node.this))
    if type(node) in SIGNS:
        only(text, node, "this", "expression")
        return comparison(grouped, node, node.this, SIGNS[type(node)], node.args["expression"])
    if isinstance(node, exp.Between):
        only(text, node, "this", "low", "high")
        edges = zip((">=", "<="), ("low", "high"), strict=True)
        return All(tuple(comparison(grouped, node, node.this, sign, node.args[edge]) for sign, edge in edges))
    if isinstance(node, exp.In) and node.expressions:
        only(text, node, "this", "expressions")
        return Any(tuple(comparison(grouped, node, node.this, "=", each) for each in node.expressions))
    if is_called(node, "slack"):
        return _with_slack(grouped, node)
    raise text.refusal(_LEAVES, node)


def comparison(grouped: Grouped, place: exp.Expr, left: exp.Expr, sign: str, right: exp.Expr) -> Comparison:
    with grouped.names.text.at(place):
        return compared(side(grouped, left), sign, side(grouped, right))


def side(grouped: Grouped, given: exp.Expr) -> Linear:
    """One side of a comparison."""
    return reckoned(grouped.names.text, given, lambda node: _term(grouped, node))


def _term(grouped: Grouped, given: exp.Expr) -> Linear:
    names = grouped.names
    node = names.unaliased(given)
    if isinstance(node, exp.Column):
        _check_qualified(grouped, node)
        if isinstance(node.this, exp.Identifier):
            return Linear(columns={node.name: Fraction(1)})
    elif node is not given:
        return side(grouped, node)
    public = grouped.public_column(node)
    if public is not None:
        return Linear(columns={public: Fraction(1)})
    aggregate = grouped.aggregate(node)
    if aggregate is not None:
        return Linear(aggregates={aggregate: Fraction(1)})
    if isinstance(node, exp.Placeholder | exp.Parameter):
        raise names.text.refusal("Parameters are not supported; write the value itself.", "?", node)
    if isinstance(node, exp.Literal):
        raise names.text.refusal(
            "Aggregates are compared with numbers; conditions on single rows, and on keys, go to WHERE.", node
        )
    raise names.text.refusal(
        "A comparison is made of aggregates, columns of the domain and numbers, with +, -, and * or / by a number.",
        node,
    )


def _check_qualified(grouped: Grouped, column: exp.Column) -> None:
    """Refuses a column of a table that is not in FROM: beside an aggregate it is most likely the domain's."""
    names, table = grouped.names, column.text("table")
    if names.domain is None and table and table.lower() != names.table_called and grouped.keys:
        raise names.text.refusal(
            f"There is no table {table!r} in FROM{instead_of(table, [names.table_called])}; for a column of the domain "
            f"write JOIN {table} USING ({', '.join(grouped.keys)}), or {column.name} alone.",
            column,
        )
    names.of_domain(column)


def _with_slack(grouped: Grouped, node: exp.Expr) -> Comparison:
    """slack(count(*) > capacity, 5): a comparison with a slack of its own."""
    text = grouped.names.text
    if len(node.expressions) == 2:
        made = condition(grouped, node.expressions[0])
        slack = side(grouped, node.expressions[1])
        if isinstance(made, Comparison) and slack.is_number and slack.constant >= 0:
            return Comparison(made.left, made.sign, made.right, slack.constant)
    raise text.refusal(
        "slack() takes one comparison and a number of at least 0, as in slack(count(*) > capacity, 5).", node
    )
