"""Small helpers on the parser's tree. What is not listed as known is refused, so that nothing is ignored in silence."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from louver.question.refusal import SHAPE
from louver.question.sql_text import Text

# Marks that the parser sets by itself and that change nothing for a question.
_HARMLESS = {"big_int", "ignore_nulls", "typed", "safe", "nested", "coalesce", "_type"}


def only(text: Text, node: exp.Expr, *known: str) -> None:
    """Refuses a node with parts other than these."""
    for name, value in node.args.items():
        if name in known or name in _HARMLESS or value is None or value is False or value == []:
            continue
        first = value[0] if isinstance(value, list) else value
        sentence, word = _UNKNOWN.get(name, (f"This is not supported here; {SHAPE}.", ""))
        raise text.refusal(sentence, word or None, first if isinstance(first, exp.Expr) else None, node)


def unwrapped(node: exp.Expr) -> exp.Expr:
    """A node without the parentheses around it."""
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def bare(text: Text, node: exp.Expr) -> str:
    """The name that is written alone."""
    if isinstance(node, exp.Column):
        only(text, node, "this")
        node = node.this
    if not isinstance(node, exp.Identifier):
        raise text.refusal("Here must be the name of a column.", node)
    return node.name


def operands(node: exp.Expr, kind: type[exp.Expr]) -> list[exp.Expr]:
    """The parts of a chain of AND or OR, from left to right, parentheses of the same kind taken off. Not recursive."""
    found: list[exp.Expr] = []
    waiting = [node]
    while waiting:
        part = unwrapped(waiting.pop())
        if isinstance(part, kind):
            waiting += [part.args["expression"], part.this]
        else:
            found.append(part)
    return found


def outside_aggregates(node: exp.Expr) -> Iterator[exp.Column]:
    """Columns that are used by themselves and not inside an aggregate."""

    def inside(part: exp.Expr) -> bool:
        return isinstance(part, exp.AggFunc | exp.Filter) or (
            isinstance(part, exp.Anonymous) and is_called(part, "per")
        )

    for part in node.walk(prune=inside):
        if isinstance(part, exp.Column):
            yield part


def is_called(node: exp.Expr, name: str) -> bool:
    """Whether a node is a call of one of the functions that only Louver knows."""
    return isinstance(node, exp.Anonymous) and isinstance(node.this, str) and node.this.lower() == name


_WINDOW = "Window functions are not supported; an aggregate over fewer keys is per(count(*), building)."
_UNKNOWN = {
    "with_": ("A question is asked of a table itself; name it in FROM instead of a WITH query.", "WITH"),
    "distinct": ("Each key comes once anyway; leave DISTINCT out.", "DISTINCT"),
    "order": ("The answer is a set of keys; leave ORDER BY out and sort the answer.", "ORDER"),
    "sort": ("The answer is a set of keys; leave SORT BY out and sort the answer.", "SORT"),
    "limit": ("Every key of the domain is answered; leave LIMIT out.", "LIMIT"),
    "offset": ("Every key of the domain is answered; leave OFFSET out.", "OFFSET"),
    "windows": (_WINDOW, "WINDOW"),
    "qualify": (_WINDOW, "QUALIFY"),
    "into": ("A question writes nothing; leave INTO out.", "INTO"),
    "locks": ("A question locks nothing; leave FOR out.", "FOR"),
    "sample": ("Sampling is not supported; a question is about all rows that pass WHERE.", ""),
    "all": ("Name the keys in GROUP BY.", "ALL"),
    "rollup": ("Name the keys in GROUP BY; an aggregate over fewer keys is per(count(*), building).", "ROLLUP"),
    "cube": ("Name the keys in GROUP BY; an aggregate over fewer keys is per(count(*), building).", "CUBE"),
    "grouping_sets": (
        "Name the keys in GROUP BY; an aggregate over fewer keys is per(count(*), building).",
        "GROUPING",
    ),
    "side": ("A domain is joined by a plain JOIN; a key without rows counts 0 in any case.", ""),
    "method": ("A domain is joined by JOIN domain USING (keys), with the keys named.", "NATURAL"),
    "by_name": ("Questions are joined by plain UNION or INTERSECT.", "NAME"),
}
