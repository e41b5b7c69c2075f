"""Names in one SELECT: which table holds the rows, which one is the domain, and whose column a name is."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from louver.question.sql_text import Text
from louver.question.sql_times import derived_time
from louver.question.sql_tree import bare, only, operands, unwrapped
from louver.source.derived import Derived
from louver.source.names import instead_of

ASKED_TABLE = "_"  # what FROM names where the question leaves its table open


@dataclass(frozen=True, eq=False)
class Names:
    """What the FROM and the SELECT of one query define. Names are looked up without regard to case."""

    text: Text
    table: str | None = None
    domain: str | None = None
    table_called: str = ""
    domain_called: str = ""
    joined_by: dict[str, exp.Expr] = field(default_factory=dict)  # each with its place
    aliases: dict[str, exp.Expr] = field(default_factory=dict)

    def unaliased(self, node: exp.Expr) -> exp.Expr:
        """What an alias of the SELECT stands for; anything else stays as it is."""
        node = unwrapped(node)
        if isinstance(node, exp.Column) and not node.args.get("table"):
            found = self.aliases.get(node.name.lower())
            return node if found is None else unwrapped(found)
        return node

    def of_domain(self, column: exp.Column) -> bool:
        """Whether a column is marked as one of the domain; a bare name is not."""
        only(self.text, column, "this", "table")
        qualifier = column.text("table").lower()
        known = [called for called in (self.table_called, self.domain_called) if called]
        if qualifier and qualifier not in known:
            raise self.text.refusal(
                f"There is no table {column.text('table')!r} in FROM{instead_of(qualifier, known)}.", column
            )
        return bool(qualifier) and qualifier == self.domain_called

    def row_column(self, node: exp.Expr) -> str:
        """The name of a column of the rows, or of one that is derived from a time."""
        node = unwrapped(node)
        if isinstance(node, exp.Column):
            return self._of_rows(node)
        derived = derived_time(self.text, node)
        if derived is None:
            raise self.text.refusal(
                "Here must be a column, or a day, hour, weekday, month or slot of a time; reckon with rows before they "
                "are stored.",
                node,
            )
        part, column, minutes = derived
        return str(Derived(part, self._of_rows(column), minutes))

    def _of_rows(self, column: exp.Column) -> str:
        if isinstance(column.this, exp.Star):
            raise self.text.refusal("Name the columns instead of *.", column)
        if self.of_domain(column) and column.name not in self.joined_by:
            raise self.text.refusal(
                f"{column.name!r} is a column of the domain, which has no rows to choose or to count; use it as a "
                "threshold in HAVING.",
                column,
            )
        return column.name


def names_of(text: Text, select: exp.Select) -> Names:
    """The names that a SELECT defines."""
    aliases = {
        item.alias.lower(): item.this
        for item in select.expressions
        if isinstance(item, exp.Alias) and not _names_itself(item) and not _names_classes(item)
    }
    source = select.args.get("from_")
    if source is None:
        return Names(text, aliases=aliases)
    only(text, source, "this")
    named, called = _table(text, source.this)
    table = None if named == ASKED_TABLE and not source.this.this.quoted else named
    joins = select.args.get("joins") or []
    if not joins:
        return Names(text, table, None, called, aliases=aliases)
    if len(joins) > 1:
        raise text.refusal("A question joins its table with one domain, and with nothing else.", joins[1].this)
    domain, domain_called = _table(text, joins[0].this)
    if called == domain_called:
        raise text.refusal(
            "The table and the domain need different names here; give the domain another one with AS.", joins[0].this
        )
    joined = _joined_by(text, joins[0], called, domain_called)
    return Names(text, table, domain, called, domain_called, joined, aliases)


def _names_itself(item: exp.Alias) -> bool:
    return isinstance(item.this, exp.Column) and item.this.name == item.alias


def _names_classes(item: exp.Alias) -> bool:
    """Whether it is the name of classes, which only the answer uses: the same name elsewhere is a column."""
    return isinstance(item.this, exp.Case) and item.this.find(exp.AggFunc) is not None


def _table(text: Text, table: exp.Expr) -> tuple[str, str]:
    """The whole name of a table, and what its columns are qualified with."""
    if not isinstance(table, exp.Table) or not isinstance(table.this, exp.Identifier):
        raise text.refusal("A question is asked of a table by its name; table functions are not supported.", table)
    only(text, table, "this", "db", "catalog", "alias")
    alias = table.args.get("alias")
    if alias is not None:
        only(text, alias, "this")
    parts = [part.name for part in table.parts]
    return ".".join(parts), (table.alias or parts[-1]).lower()


def _joined_by(text: Text, join: exp.Join, table: str, domain: str) -> dict[str, exp.Expr]:
    """The key columns that join rows and domain, which have the same name in both, and where they are named."""
    only(text, join, "this", "using", "on", "kind")
    using, on, kind = join.args.get("using"), join.args.get("on"), join.args.get("kind")
    if kind == "CROSS" and not using and on is None:
        return {}
    if kind not in (None, "", "INNER") or not (using or on):
        raise text.refusal("A domain is joined by JOIN domain USING (keys), or ON with equal keys.", join.this)
    if using:
        return {bare(text, each): each for each in using}
    keys: dict[str, exp.Expr] = {}
    for part in operands(join.args["on"], exp.And):
        sides = [unwrapped(part.left), unwrapped(part.right)] if isinstance(part, exp.EQ) else []
        if [type(side) for side in sides] != [exp.Column, exp.Column] or {
            side.text("table").lower() for side in sides
        } != {table, domain}:
            raise text.refusal("A domain is joined ON table.key = domain.key, with AND between several keys.", part)
        if sides[0].name != sides[1].name:
            raise text.refusal(
                "A key must have the same name in the table and in the domain; rename it in the domain.", part
            )
        keys[sides[0].name] = part
    return keys
