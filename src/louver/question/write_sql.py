"""A question as SQL, in the one form that `from_sql` reads back to it.

What all aggregates ask of rows is in WHERE, the rest in FILTER. Functions of Louver's own say what plain SQL cannot:
`per` groups an aggregate by some of the keys only, and `slack` gives a comparison a slack of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from functools import reduce

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ErrorLevel
from sqlglot.tokenizer_core import TokenType

from louver.question import nodes
from louver.question.exact import decimal
from louver.question.nodes import (
    Against,
    Aggregate,
    All,
    Classes,
    Comparison,
    Condition,
    Flag,
    Question,
    Threshold,
    Values,
)
from louver.question.normal import comparisons, normal, shared_parts
from louver.question.sql_filters import SIGNS
from louver.question.sql_names import ASKED_TABLE
from louver.question.sql_text import dialect_named
from louver.source import filters
from louver.source.derived import DAY, HOUR, MONTH, SLOT, WEEKDAY, spelled
from louver.source.filters import Compare, Filter, Missing, OneOf, Value, conjuncts

_NODES = {sign: node for node, sign in SIGNS.items()}
_EXTRACTED = {HOUR: "HOUR", MONTH: "MONTH", WEEKDAY: "ISODOW"}
_PLAIN_WORDS = {TokenType.VAR, TokenType.DATE, TokenType.TIME}


def to_sql(question: Question, dialect: str = "duckdb") -> str:
    """The question as SQL; `dialect` is duckdb, postgres or spark."""
    asked = normal(question)
    return _Writer(asked, dialect_named(dialect)).statement().sql(dialect, unsupported_level=ErrorLevel.IGNORE)


def filter_to_sql(given: Filter, dialect: str = "duckdb") -> str:
    """A condition on rows as it stands in WHERE."""
    return _Writer(Values((), ()), dialect_named(dialect)).filter(given).sql(dialect)


@dataclass(frozen=True)
class _Writer:
    question: Question
    dialect: str

    def statement(self) -> exp.Select:
        asked = self.question
        shared = shared_parts(asked)
        keys = [self.column(key) for key in asked.keys]
        items: list[exp.Expr] = list(keys)
        if isinstance(asked, Values):
            names = asked.names or (None,) * len(asked.aggregates)
            for each, name in zip(asked.aggregates, names, strict=True):
                items.append(self.aliased(self.aggregate(each, shared), name))
        elif isinstance(asked, Classes):
            items.append(self.case(asked, shared))
        select = exp.Select(expressions=items or [exp.Literal.number(1)], from_=exp.From(this=self.table()))
        if asked.domain is not None:
            select.set("joins", [self.join(asked.domain)])
        if shared:
            select.set("where", exp.Where(this=self.filter(filters.both(shared))))
        group = [*keys, *self.thresholds()]
        if group:
            select.set("group", exp.Group(expressions=[each.copy() for each in group]))
        if isinstance(asked, Flag):
            select.set("having", exp.Having(this=self.condition(asked.condition, shared)))
        return select

    def table(self) -> exp.Table:
        if self.question.table is None:
            return exp.Table(this=exp.Identifier(this=ASKED_TABLE, quoted=False))
        return self.named_table(self.question.table)

    def named_table(self, name: str) -> exp.Table:
        parts = name.split(".")
        if len(parts) > 3 or not all(parts):
            parts = [name]
        made = [self.identifier(part, quoted=part == ASKED_TABLE) for part in parts]
        return exp.Table(**dict(zip(("this", "db", "catalog"), reversed(made), strict=False)))

    def join(self, domain: str) -> exp.Join:
        table = self.named_table(domain)
        if self.domain_called() != table.name:
            table.set("alias", exp.TableAlias(this=self.identifier(self.domain_called())))
        if not self.question.keys:
            return exp.Join(this=table, kind="CROSS")
        return exp.Join(this=table, using=[self.identifier(key) for key in self.question.keys])

    def domain_called(self) -> str:
        """What qualifies columns of the domain; another name where it is called like the table."""
        domain = self.named_table(self.question.domain or "").name
        return f"{domain}_keys" if domain.lower() == self.table().name.lower() else domain

    def thresholds(self) -> list[exp.Expr]:
        """Columns of a joined domain that are compared with: plain SQL wants them in GROUP BY."""
        asked = self.question
        if asked.domain is None or isinstance(asked, Values):
            return []
        if isinstance(asked, Classes):
            public = [cut.column for cut in asked.cuts]
        else:
            rights = [leaf.right for leaf in comparisons(asked.condition)]
            public = [right.column for right in rights if isinstance(right, Threshold)]
        return [self.public(name) for name in dict.fromkeys(public) if name is not None and name not in asked.keys]

    def public(self, name: str) -> exp.Expr:
        if self.question.domain is None or name in self.question.keys:
            return self.plain(name)
        return exp.Column(this=self.identifier(name), table=self.identifier(self.domain_called()))

    def column(self, name: str) -> exp.Expr:
        """A column of the rows; one that is derived from a time as the expression for it."""
        derived = spelled(name)
        if derived is None:
            return self.plain(name)
        column = self.plain(derived.column)
        if derived.part == DAY:
            return exp.Cast(this=column, to=exp.DataType(this=exp.DType.DATE))
        if derived.part != SLOT:
            field = _EXTRACTED[derived.part]
            if self.dialect == "spark" and derived.part == WEEKDAY:
                field = "DAYOFWEEK_ISO"
            return exp.Extract(this=exp.Var(this=field), expression=column)
        if derived.minutes == 60:
            return exp.TimestampTrunc(this=column, unit=exp.Var(this="HOUR"))
        minutes = str(derived.minutes)
        if self.dialect == "duckdb":
            interval = exp.Interval(this=exp.Literal.string(minutes), unit=exp.Var(this="MINUTES"))
            return call("TIME_BUCKET", interval, column)
        return call("SLOT", column, exp.Literal.number(minutes))

    def plain(self, name: str) -> exp.Column:
        return exp.Column(this=self.identifier(name))

    def identifier(self, name: str, *, quoted: bool = False) -> exp.Identifier:
        return exp.Identifier(this=name, quoted=quoted or not _is_word(name, self.dialect))

    def aggregate(self, given: Aggregate, shared: tuple[Filter, ...]) -> exp.Expr:
        made = self.called(given)
        own = [part for part in conjuncts(given.where) if part not in shared]
        if own:
            made = exp.Filter(this=made, expression=exp.Where(this=self.filter(filters.both(own))))
        if given.keys == self.question.keys:
            return made
        return call("PER", made, *(self.column(key) for key in given.keys))

    def called(self, given: Aggregate) -> exp.Expr:
        if given.column is None:
            return exp.Count(this=exp.Star())
        column = self.column(given.column)
        if given.kind == nodes.COUNT_DISTINCT:
            return exp.Count(this=exp.Distinct(expressions=[column]))
        if given.low is not None:
            column = call("GREATEST", column, number(given.low))
        if given.high is not None:
            column = call("LEAST", column, number(given.high))
        return call(given.kind.upper(), column)

    def condition(self, given: Condition, shared: tuple[Filter, ...]) -> exp.Expr:
        if isinstance(given, Comparison):
            return self.comparison(given, shared)
        if isinstance(given, nodes.Not):
            return negation(self.condition(given.part, shared))
        kind = exp.And if isinstance(given, All) else exp.Or
        return chain(kind, [self.condition(part, shared) for part in given.parts])

    def comparison(self, given: Comparison, shared: tuple[Filter, ...]) -> exp.Expr:
        if isinstance(given.right, Against):
            right = scaled(self.aggregate(given.right.aggregate, shared), given.right.factor, given.right.constant)
        else:
            right = self.threshold(given.right)
        made: exp.Expr = _NODES[given.sign](this=self.aggregate(given.left, shared), expression=right)
        if given.slack is None:
            return made
        return call("SLACK", made, number(given.slack))

    def threshold(self, given: Threshold) -> exp.Expr:
        if given.column is None:
            return number(given.constant)
        return scaled(self.public(given.column), given.factor, given.constant)

    def case(self, given: Classes, shared: tuple[Filter, ...]) -> exp.Expr:
        """From the highest cut down, so that the first that is passed names the class."""
        steps = zip(reversed(given.cuts), reversed(given.names[1:]), strict=True)
        ifs = [
            exp.If(
                this=exp.GT(this=self.aggregate(given.aggregate, shared), expression=self.threshold(cut)),
                true=exp.Literal.string(name),
            )
            for cut, name in steps
        ]
        made = exp.Case(ifs=ifs, default=exp.Literal.string(given.names[0]))
        return self.aliased(made, given.name)

    def aliased(self, made: exp.Expr, name: str | None) -> exp.Expr:
        return made if name is None else exp.Alias(this=made, alias=self.identifier(name))

    def filter(self, given: Filter) -> exp.Expr:
        if isinstance(given, Compare):
            return _NODES[given.sign](this=self.column(given.column), expression=value(given.value))
        if isinstance(given, OneOf):
            return exp.In(this=self.column(given.column), expressions=[value(each) for each in given.values])
        if isinstance(given, Missing):
            return exp.Is(this=self.column(given.column), expression=exp.Null())
        if isinstance(given, filters.Not):
            return negation(self.filter(given.part))
        kind = exp.And if isinstance(given, filters.Both) else exp.Or
        return chain(kind, [self.filter(part) for part in given.parts])


def call(name: str, *arguments: exp.Expr) -> exp.Expr:
    """A function by its name alone: of functions they know, some dialects write something else."""
    return exp.Anonymous(this=name, expressions=list(arguments))


def value(given: Value) -> exp.Expr:
    if isinstance(given, bool):
        return exp.Boolean(this=given)
    if isinstance(given, str):
        return exp.Literal.string(given)
    if isinstance(given, datetime):
        return exp.Cast(this=exp.Literal.string(given.isoformat(" ")), to=exp.DataType(this=exp.DType.TIMESTAMPTZ))
    if isinstance(given, date):
        return exp.Cast(this=exp.Literal.string(given.isoformat()), to=exp.DataType(this=exp.DType.DATE))
    return number(Fraction(given))


def number(given: Fraction) -> exp.Expr:
    """A decimal where there is a short one, else a quotient."""
    if given < 0:
        return exp.Neg(this=_operand(number(-given)))
    written = decimal(given)
    if written is not None:
        return exp.Literal.number(written)
    # With a decimal point, so that no engine divides whole numbers into one.
    parts = exp.Literal.number(f"{given.numerator}.0"), exp.Literal.number(str(given.denominator))
    return exp.Div(this=parts[0], expression=parts[1], typed=True, safe=False)


def scaled(term: exp.Expr, factor: Fraction, constant: Fraction) -> exp.Expr:
    made = term if factor == 1 else exp.Mul(this=_operand(number(factor)), expression=term)
    if not constant:
        return made
    kind = exp.Add if constant > 0 else exp.Sub
    return kind(this=made, expression=number(abs(constant)))


def negation(part: exp.Expr) -> exp.Expr:
    return exp.Not(this=exp.Paren(this=part) if isinstance(part, exp.And | exp.Or | exp.Not) else part)


def chain(kind: type[exp.And] | type[exp.Or], parts: Iterable[exp.Expr]) -> exp.Expr:
    wrapped = [exp.Paren(this=part) if isinstance(part, exp.And | exp.Or) else part for part in parts]
    return reduce(lambda left, right: kind(this=left, expression=right), wrapped)


def _operand(given: exp.Expr) -> exp.Expr:
    return exp.Paren(this=given) if isinstance(given, exp.Div) else given


def _is_word(name: str, dialect: str) -> bool:
    """Whether a name can stand without quotes: lower case, and no word that the dialect keeps for itself."""
    if not name.isascii() or not name.isidentifier() or name != name.lower():
        return False
    tokens = Dialect.get_or_raise(dialect).tokenize(name)
    return len(tokens) == 1 and tokens[0].token_type in _PLAIN_WORDS
