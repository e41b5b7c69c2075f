"""Aggregates in SQL: count, count distinct, sum, avg, min, max and median, with FILTER, clamps and counted cases."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from sqlglot import exp

from louver.question import nodes
from louver.question.checks import check_bounds
from louver.question.linear import Linear
from louver.question.nodes import Aggregate
from louver.question.refusal import QuestionError
from louver.question.sql_filters import row_filter
from louver.question.sql_names import Names
from louver.question.sql_numbers import reckoned
from louver.question.sql_tree import is_called, only, unwrapped
from louver.source.filters import EVERY_ROW, Filter, Missing, Not, both
from louver.source.names import instead_of

_OF_VALUES: dict[type[exp.Expr], str] = {
    exp.Sum: nodes.SUM,
    exp.Avg: nodes.AVG,
    exp.Min: nodes.MIN,
    exp.Max: nodes.MAX,
    exp.Median: nodes.MEDIAN,
}
_SUPPORTED = "the aggregates are count, count(DISTINCT column), sum, avg, min, max and median of a column"
_PUBLIC = (exp.AnyValue, exp.First, exp.Max, exp.Min)


@dataclass(frozen=True, eq=False)
class Grouped:
    """What aggregates need to know of their query: names, the filter of all rows, and the keys."""

    names: Names
    where: Filter = EVERY_ROW
    keys: tuple[str, ...] = ()

    def aggregate(self, given: exp.Expr) -> Aggregate | None:
        """The aggregate that an expression is; None where it is none."""
        node = unwrapped(given)
        if is_called(node, "per"):
            return self._per(node)
        conditions = [self.where]
        if isinstance(node, exp.Filter):
            only(self.names.text, node, "this", "expression")
            conditions.append(row_filter(self.names, node.expression.this))
            node = unwrapped(node.this)
        if isinstance(node, exp.Window | exp.WithinGroup | exp.IgnoreNulls | exp.RespectNulls):
            raise self._modified(node)
        if not isinstance(node, exp.AggFunc):
            return None
        nested = node.this.find(exp.AggFunc) if isinstance(node.this, exp.Expr) else None
        if nested is not None:
            raise self.names.text.refusal(f"An aggregate of an aggregate is not supported; {_SUPPORTED}.", nested)
        with self.names.text.at(node):
            made, *cases = self._counted(node) if isinstance(node, exp.Count | exp.CountIf) else self._of_values(node)
        return replace(made, where=both([*conditions, *cases]), keys=self.keys)

    def public_column(self, given: exp.Expr) -> str | None:
        """The column of the domain that plain SQL has to wrap into max(r.capacity) or any_value(r.capacity)."""
        node = given.this if isinstance(given, exp.IgnoreNulls) else given
        if isinstance(node, _PUBLIC):
            column = unwrapped(node.this) if isinstance(node.this, exp.Expr) else None
            if isinstance(column, exp.Column) and self.names.of_domain(column):
                only(self.names.text, node, "this")
                return column.name
        return None

    def _per(self, node: exp.Expr) -> Aggregate:
        first, *columns = node.expressions or [node]
        made = None if first is node else self.aggregate(first)
        if made is None:
            raise self.names.text.refusal(
                "per() takes an aggregate and the keys it is grouped by, as in per(count(*), building).", node
            )
        keys = []
        for column in columns:
            keys.append(self.names.row_column(self.names.unaliased(column)))
            if keys[-1] not in self.keys:
                known = instead_of(keys[-1], self.keys)
                raise self.names.text.refusal(f"per() names keys of GROUP BY, and {keys[-1]!r} is none{known}.", column)
        return replace(made, keys=tuple(keys))

    def _counted(self, node: exp.Expr) -> tuple[Aggregate, *tuple[Filter, ...]]:
        """count(*), count(1), count(column), count(DISTINCT column), count_if(condition), count(CASE ...)."""
        only(self.names.text, node, "this")
        rows, given = Aggregate(nodes.COUNT), node.this
        if isinstance(node, exp.CountIf):
            return rows, row_filter(self.names, given)
        if isinstance(given, exp.Distinct):
            only(self.names.text, given, "expressions")
            if len(given.expressions) != 1:
                raise self.names.text.refusal("Different values are counted of one column.", given)
            return (Aggregate(nodes.COUNT_DISTINCT, self.names.row_column(given.expressions[0])),)
        given = unwrapped(given) if given is not None else None
        if given is None or isinstance(given, exp.Star):
            if given is not None:
                only(self.names.text, given)
            return (rows,)
        if isinstance(given, exp.Literal):
            return (rows,)
        if isinstance(given, exp.Case | exp.If):
            condition, then, otherwise = self._case(given)
            if isinstance(then, exp.Literal) and (otherwise is None or isinstance(otherwise, exp.Null)):
                return rows, condition
            raise self.names.text.refusal("A counted CASE gives 1 for rows that count and nothing for others.", given)
        return rows, Not(Missing(self.names.row_column(given)))

    def _of_values(self, node: exp.Expr) -> tuple[Aggregate, *tuple[Filter, ...]]:
        kind = _OF_VALUES.get(type(node))
        if kind is None:
            raise self.names.text.refusal(f"This is not supported; {_SUPPORTED}.", node)
        only(self.names.text, node, "this")
        given = unwrapped(node.this)
        if isinstance(given, exp.Distinct):
            raise self.names.text.refusal(f"DISTINCT goes with count only; {_SUPPORTED}.", given, node)
        if not isinstance(given, exp.Case | exp.If):
            return (self._clamped(kind, given),)
        condition, then, otherwise = self._case(given)
        nothing = otherwise is None or isinstance(otherwise, exp.Null)
        zero = isinstance(otherwise, exp.Literal) and otherwise.name == "0"
        if kind == nodes.SUM and isinstance(then, exp.Literal) and then.name == "1" and (zero or nothing):
            return Aggregate(nodes.COUNT), condition
        if nothing or (zero and kind == nodes.SUM):
            return self._clamped(kind, then), condition
        raise self.names.text.refusal(
            "In an aggregate, CASE has one WHEN, and ELSE gives 0 in a sum and nothing elsewhere.", given
        )

    def _case(self, node: exp.Expr) -> tuple[Filter, exp.Expr, exp.Expr | None]:
        """Condition, THEN and ELSE of a CASE with one WHEN, or of an IF."""
        if isinstance(node, exp.Case):
            only(self.names.text, node, "ifs", "default")
            if len(node.args["ifs"]) == 1:
                (branch,) = node.args["ifs"]
                otherwise = node.args.get("default")
                return row_filter(self.names, branch.this), unwrapped(branch.args["true"]), otherwise
            raise self.names.text.refusal("In an aggregate, CASE has one WHEN.", node)
        only(self.names.text, node, "this", "true", "false")
        return row_filter(self.names, node.this), unwrapped(node.args["true"]), node.args.get("false")

    def _clamped(self, kind: str, given: exp.Expr) -> Aggregate:
        """The column and its bounds; sum(least(greatest(x, 0), 100)) clamps x to [0, 100]."""
        bounds: dict[type[exp.Expr], Fraction] = {}
        node = unwrapped(given)
        while isinstance(node, exp.Least | exp.Greatest) and type(node) not in bounds:
            only(self.names.text, node, "this", "expressions")
            sides = [unwrapped(side) for side in (node.this, *node.expressions)]
            numbers = [side for side in sides if side.find(exp.Column) is None]
            if len(sides) != 2 or len(numbers) != 1:
                raise self.names.text.refusal(
                    "Values are clamped between two numbers: sum(least(greatest(x, 0), 100)).", node
                )
            bounds[type(node)] = reckoned(self.names.text, numbers[0], self._no_bound).constant
            node = next(side for side in sides if side is not numbers[0])
        low, high = bounds.get(exp.Greatest), bounds.get(exp.Least)
        with self.names.text.at(given):
            check_bounds(kind, low, high)
        return Aggregate(kind, self.names.row_column(node), low, high)

    def _no_bound(self, node: exp.Expr) -> Linear:
        raise self.names.text.refusal("A bound must be a number.", node)

    def _modified(self, node: exp.Expr) -> QuestionError:
        if isinstance(node, exp.Window):
            sentence = "Window functions are not supported; an aggregate over fewer keys is per(count(*), building)."
            return self.names.text.refusal(sentence, node)
        return self.names.text.refusal(f"This is not supported; {_SUPPORTED}.", node)
