"""The columns of a table by name: what kind of values each has, and how a value of each kind is taken from it.

Every column has one number, one day and one time in each row, or none, whoever asks: two questions about one column
must put a row at the same place, or their costs would not add up where they should.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from sqlglot import exp

from louver.errors import DataError, ParameterError
from louver.source import bands, derived, spelling
from louver.source.derived import Derived
from louver.source.dialects import DAY, REAL, TEXT, TIME, TRUTH, WHOLE, Dialect

# A text that may be anything, because the place keeps no types: a CSV file, or Python objects in a frame.
LOOSE = "loose"
_HOLDS = {
    TEXT: "texts",
    LOOSE: "texts",
    WHOLE: "whole numbers",
    REAL: "numbers with fractions",
    TRUTH: "true and false",
    DAY: "days",
    TIME: "times",
}
_WORDS = {WHOLE: spelling.NUMBER, REAL: spelling.NUMBER, TRUTH: spelling.TRUTH, DAY: spelling.DAY, TIME: spelling.TIME}
_TRUE, _FALSE = ("true", "True", "TRUE", "t"), ("false", "False", "FALSE", "f")


@dataclass(frozen=True)
class Column:
    """One column: its name, its kind, and its value in a row."""

    name: str
    kind: str
    made: exp.Expr
    dialect: Dialect

    @property
    def is_text(self) -> bool:
        return self.kind in (TEXT, LOOSE)

    def value(self) -> exp.Expr:
        return self.made.copy()

    def known(self) -> exp.Expr:
        """The value, or nothing where there is none: a float that is no number is none."""
        return self.dialect.number_or_missing(self.value()) if self.kind == REAL else self.value()

    def distinguished(self) -> exp.Expr:
        """The value as it is told apart from others."""
        return self.dialect.by_bytes(self.known()) if self.is_text else self.known()

    def number(self) -> exp.Expr:
        if self.is_text:
            return self.dialect.number_in(self.value())
        if self.kind in (WHOLE, REAL):
            return self.known()
        raise self.refused("a number")

    def float(self) -> exp.Expr:
        return self.dialect.cast(self.number(), REAL) if self.kind == WHOLE else self.number()

    def truth(self) -> exp.Expr:
        if self.kind == TRUTH:
            return self.value()
        if not self.is_text:
            raise self.refused("true or false")
        ifs = [
            exp.If(
                this=exp.In(this=self.value(), expressions=[exp.convert(text) for text in texts]),
                true=exp.convert(is_true),
            )
            for texts, is_true in ((_TRUE, True), (_FALSE, False))
        ]
        return exp.Case(ifs=ifs)

    def time(self, wanted: str = "a time") -> exp.Expr:
        if self.kind == TIME:
            return self.value()
        if self.is_text and self.dialect.reads_times_in_texts:
            return self.dialect.time_in(self.value())
        raise self.refused(wanted)

    def written(self) -> exp.Expr:
        """A text for the value, the same on every engine; two values may share one."""
        if self.is_text:
            return self.value()
        if self.kind != REAL:
            return self.dialect.cast(self.value(), TEXT)
        near = exp.Case(ifs=[exp.If(this=_within(self.value(), 2**52), true=exp.Floor(this=self.value()))])
        return self.dialect.cast(self.dialect.cast(exp.func("COALESCE", near, exp.convert(0)), WHOLE), TEXT)

    def refused(self, wanted: str, instead: str = "") -> ParameterError:
        return ParameterError(
            f"Column {self.name!r} holds {_HOLDS[self.kind]}, so it cannot be compared with {wanted}{instead}."
        )

    def must_be_text(self, wanted: str, text: str) -> None:
        """Refuses a text in a filter where the schema says that there is none, and says what to write for it."""
        if not self.is_text:
            raise self.refused(wanted, f"; write {spelling.to_write(text, _WORDS[self.kind])}")

    def must_be_added_up(self) -> None:
        """Refuses what a schema says is no number; whether a text of an untyped file is one, its rows say."""
        if self.kind not in (WHOLE, REAL, LOOSE):
            raise ParameterError(
                f"Column {self.name!r} holds {_HOLDS[self.kind]}, so it has no values to add up or compare."
            )


class Columns:
    """Finds columns by name: stored ones, and those whose name says what they are made of.

    A mistyped name of a CSV file is met with a near one only where some other wanted name is there: the first line of a
    file without a header is a row, and must not be guessed at.
    """

    def __init__(self, stored: Mapping[str, Column], wanted: Iterable[str], described: Callable[[], str]) -> None:
        self._stored, self._described = stored, described
        typed = any(column.kind != LOOSE for column in stored.values())
        self._has_names = typed or any(name in stored for name in wanted)

    def find(self, name: str) -> Column:
        band = bands.parse(name)
        if band is not None:
            column = self._found(band.column)
            column.must_be_added_up()
            return Column(name, WHOLE, band.tree(column.float(), column.dialect), column.dialect)
        part = derived.parse(name)
        return self._found(name) if part is None else _part(name, part, self._found(part.column))

    def _found(self, name: str) -> Column:
        if name not in self._stored:
            raise DataError(f"{self._described()} has no column {name!r}{self._instead_of(name)}.")
        return self._stored[name]

    def _instead_of(self, name: str) -> str:
        longer = [each for each in self._stored if each.startswith(name)]
        near = (get_close_matches(name, self._stored, n=1, cutoff=0.7) or longer) if self._has_names else []
        if near:
            return f" (did you mean {near[0]!r}?)"
        if len(self._stored) == 1 and any(mark in next(iter(self._stored)) for mark in ";\t|"):
            return "; its values must be separated by commas, and in its first line they are not"
        return "; check its header and the unit"


def _part(name: str, part: Derived, column: Column) -> Column:
    dialect = column.dialect
    kind = {derived.DAY: DAY, derived.SLOT: TIME}.get(part.part, WHOLE)
    if column.kind == DAY and part.part in (derived.HOUR, derived.SLOT):
        raise ParameterError(f"Column {column.name!r} holds days, which have no hours; {name!r} needs a time.")
    taken = column.value() if column.kind == DAY else column.time(f"a time, as {name} needs")
    return Column(name, kind, dialect.part(part, taken), dialect)


def _within(value: exp.Expr, limit: int) -> exp.Expr:
    return exp.Between(this=value, low=exp.Neg(this=exp.Literal.number(limit)), high=exp.Literal.number(limit))
