"""What the engines' dialects write differently: one class each, over sqlglot's trees.

Everything here must give the same value on every engine and must never fail on a row: where an engine would stop at a
value that it cannot convert, the expression looks first.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import ClassVar

from sqlglot import exp

from louver.source import derived
from louver.source.derived import Derived

TEXT, WHOLE, REAL, TRUTH, DAY, TIME, WIDE = "text", "whole", "real", "truth", "day", "time", "wide"
MOST_TEXTS = 4096  # among which a text is looked for before rows are grouped
LONGEST_PLAIN_NUMBER = 64  # no such text is too large or too small for a float
PLAIN_NUMBER = "[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)"
HASH_DIGITS = 15  # of a hexadecimal hash: what fits a signed 64-bit number


def call(name: str, *arguments: exp.Expr | str | int) -> exp.Expr:
    """A function by its own name, which sqlglot must not translate."""
    return exp.Anonymous(this=name, expressions=[exp.convert(each) for each in arguments])


@cache
def _type(name: str, dialect: str) -> exp.DataType:
    """Kept, because each is read by a parser."""
    return exp.DataType.build(name, dialect=dialect)


class Dialect:
    """What all have in common, and DuckDB's way of the rest."""

    name: ClassVar[str] = "duckdb"
    reads_times_in_texts: ClassVar[bool] = True
    groups_first: ClassVar[bool] = True  # rows are grouped by few values before their keys are looked up
    types: ClassVar[dict[str, str]] = {
        TEXT: "TEXT",
        WHOLE: "BIGINT",
        REAL: "DOUBLE",
        TRUTH: "BOOLEAN",
        DAY: "DATE",
        TIME: "TIMESTAMP",
        WIDE: "HUGEINT",
    }

    def sql(self, tree: exp.Expr) -> str:
        return tree.sql(dialect=self.name)

    def type_of(self, kind: str) -> exp.DataType:
        return _type(self.types[kind], self.name).copy()

    def cast(self, value: exp.Expr, kind: str) -> exp.Expr:
        return exp.Cast(this=value, to=self.type_of(kind))

    def attempted(self, value: exp.Expr, kind: str) -> exp.Expr:
        """A cast that gives nothing where it cannot be made."""
        return exp.TryCast(this=value, to=self.type_of(kind), safe=True)

    def among_texts(self, value: exp.Expr, texts: Sequence[str]) -> exp.Expr | None:
        """A text where it is one of these, and nothing where not: a small number inside, by which grouping is quick."""
        if not self.groups_first or not 0 < len(texts) <= MOST_TEXTS:
            return None
        kind = exp.DataType(this=exp.DataType.Type.ENUM, expressions=[exp.convert(text) for text in texts])
        return exp.TryCast(this=value.copy(), to=kind, safe=True)

    def number_in(self, text: exp.Expr) -> exp.Expr:
        """The number that a text is in plain decimals; nothing where it is something else."""
        short = exp.LTE(this=exp.Length(this=text.copy()), expression=exp.convert(LONGEST_PLAIN_NUMBER))
        plain = exp.and_(short, self.is_plain(text.copy()))
        return exp.Case(ifs=[exp.If(this=plain, true=self.attempted(text, REAL))])

    def is_plain(self, text: exp.Expr) -> exp.Expr:
        return call("regexp_full_match", text, PLAIN_NUMBER)

    def time_in(self, text: exp.Expr) -> exp.Expr:
        """The time, in UTC, that a text is; nothing where it is something else."""
        instant = exp.TryCast(this=text, to=exp.DataType.build("TIMESTAMPTZ", dialect="duckdb"), safe=True)
        return self.utc(instant)

    def utc(self, instant: exp.Expr) -> exp.Expr:
        """A time with a zone as one without, in UTC."""
        return exp.AtTimeZone(this=instant, zone=exp.convert("UTC"))

    def number_or_missing(self, value: exp.Expr) -> exp.Expr:
        # Not by comparing: a Parquet file's largest value leaves NaN out, and DuckDB takes it for the largest of all.
        return exp.Case(ifs=[exp.If(this=exp.Not(this=call("isnan", value.copy())), true=value)])

    def part(self, part: Derived, time: exp.Expr) -> exp.Expr:
        """A part of a time or a day."""
        if part.part == derived.DAY:
            return self.cast(time, DAY)
        if part.part == derived.SLOT:
            return self.slot(time, part.minutes or 1)
        return self.cast(self.field(part.part, time), WHOLE)

    def field(self, part: str, time: exp.Expr) -> exp.Expr:
        return call("isodow" if part == derived.WEEKDAY else part, time)

    def slot(self, time: exp.Expr, minutes: int) -> exp.Expr:
        begin = self.cast(exp.convert("1970-01-01 00:00:00"), TIME)
        return call("try", call("time_bucket", call("to_minutes", minutes), time, begin))

    def divided(self, number: exp.Expr, by: exp.Expr) -> exp.Expr:
        """The whole part of a quotient of whole numbers, neither of them negative."""
        return exp.IntDiv(this=exp.paren(number), expression=by)

    def hashed(self, text: exp.Expr) -> exp.Expr:
        """A number from 0 to 2^60 - 1 for a text."""
        digits = call("substr", call("sha256", text), 1, HASH_DIGITS)
        return self.cast(exp.DPipe(this=exp.convert("0x"), expression=digits), WHOLE)

    def by_bytes(self, text: exp.Expr) -> exp.Expr:
        """A text that is compared and put in order byte by byte."""
        return text


class Postgres(Dialect):
    name = "postgres"
    reads_times_in_texts = False  # it stops at a text that is no time
    groups_first = False
    types: ClassVar[dict[str, str]] = {**Dialect.types, WIDE: "NUMERIC"}

    def is_plain(self, text: exp.Expr) -> exp.Expr:
        return exp.RegexpLike(this=self.by_bytes(text), expression=exp.convert(f"^{PLAIN_NUMBER}$"))

    def number_or_missing(self, value: exp.Expr) -> exp.Expr:
        return exp.Nullif(this=value, expression=self.cast(exp.convert("NaN"), REAL))

    def field(self, part: str, time: exp.Expr) -> exp.Expr:
        return exp.Extract(this=exp.var("ISODOW" if part == derived.WEEKDAY else part.upper()), expression=time)

    def slot(self, time: exp.Expr, minutes: int) -> exp.Expr:
        length = exp.Cast(this=exp.convert(f"{minutes} minutes"), to=exp.DataType.build("INTERVAL", dialect="postgres"))
        return call("date_bin", length, time, self.cast(exp.convert("2000-01-01 00:00:00"), TIME))

    def divided(self, number: exp.Expr, by: exp.Expr) -> exp.Expr:
        return exp.Div(this=exp.paren(number), expression=by, typed=True)

    def hashed(self, text: exp.Expr) -> exp.Expr:
        digest = call("encode", call("sha256", call("convert_to", text, "UTF8")), "hex")
        bits = exp.DPipe(this=exp.convert("x"), expression=call("substr", digest, 1, HASH_DIGITS))
        return self.cast(exp.Cast(this=exp.paren(bits), to=exp.DataType.build("BIT(60)", dialect="postgres")), WHOLE)

    def by_bytes(self, text: exp.Expr) -> exp.Expr:
        return exp.Collate(this=text, expression=exp.to_identifier("C", quoted=True))

    def real_of_numeric(self, value: exp.Expr) -> exp.Expr:
        """A float for a numeric, which may be too large or too small for one, and then would stop the reading."""
        beyond, least = exp.Literal.number("1e300"), exp.Literal.number("1e-300")
        special = [
            (exp.EQ(this=value.copy(), expression=exp.convert("NaN")), "NaN"),
            (exp.GT(this=value.copy(), expression=beyond), "Infinity"),
            (exp.LT(this=value.copy(), expression=exp.Neg(this=beyond)), "-Infinity"),
            (exp.Between(this=value.copy(), low=exp.Neg(this=least), high=least), "0"),
        ]
        ifs = [exp.If(this=condition, true=self.cast(exp.convert(text), REAL)) for condition, text in special]
        return exp.Case(ifs=ifs, default=self.cast(value, REAL))


class Spark(Dialect):
    name = "spark"
    reads_times_in_texts = False
    groups_first = False
    types: ClassVar[dict[str, str]] = {
        **Dialect.types,
        TEXT: "STRING",
        TIME: "TIMESTAMP_NTZ",
        WIDE: "DECIMAL(38, 0)",
    }

    def is_plain(self, text: exp.Expr) -> exp.Expr:
        # Java's $ also matches before a line's end, and its numbers may have blanks around them.
        return exp.RegexpLike(this=text, expression=exp.convert(rf"^{PLAIN_NUMBER}\z"))

    def utc(self, instant: exp.Expr) -> exp.Expr:
        return self._after_epoch(call("unix_micros", instant))

    def field(self, part: str, time: exp.Expr) -> exp.Expr:
        if part == derived.WEEKDAY:
            return exp.Add(this=call("weekday", time), expression=exp.convert(1))
        return call(part, time)

    def slot(self, time: exp.Expr, minutes: int) -> exp.Expr:
        since = call("timestampdiff", exp.var("MICROSECOND"), self._epoch(), time)
        length = exp.Literal.number(minutes * 60_000_000)
        return self._after_epoch(exp.Sub(this=since, expression=call("pmod", since.copy(), length)))

    def hashed(self, text: exp.Expr) -> exp.Expr:
        digits = call("substr", call("sha2", text, 256), 1, HASH_DIGITS)
        return self.cast(call("conv", digits, 16, 10), WHOLE)

    def _epoch(self) -> exp.Expr:
        return self.cast(exp.convert("1970-01-01 00:00:00"), TIME)

    def _after_epoch(self, micros: exp.Expr) -> exp.Expr:
        return call("timestampadd", exp.var("MICROSECOND"), micros, self._epoch())


DUCKDB, POSTGRES, SPARK = Dialect(), Postgres(), Spark()
