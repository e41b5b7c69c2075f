"""The unit: what one person contributes, and so what is hidden.

A unit is the row itself, or all rows that agree in some columns: (person, day), (person,), (person, slot, region). In
a file whose rows hold counts it is one of those that a column counts: "one of births".
Neighbouring data sets differ in all rows of one unit, present or absent; of one that is counted, the count of one row
is one more or one less. A unit *fixes* a column when all its rows share one value there. Only along fixed columns do
costs of different keys stay apart; elsewhere they add up, because one unit may have rows under many keys.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from louver.errors import ParameterError

LONGEST_NAME = 128
MOST_COLUMNS = 64
ROW = "row"
ONE_OF = "one of "

_PLACES = "area building campus cell city district floor place region room site station zone"
_DAYS = "date day weekday"
_PERIODS = "hour minute month quarter second shift slot tick week year"
_PREPOSITIONS = {
    noun: word
    for word, nouns in (("in", _PLACES), ("on", _DAYS), ("during", _PERIODS), ("at", "time"))
    for noun in nouns.split()
}


# A column that is made of another: day(time), slot(time, 15).
_MADE = re.compile(r"([a-z]+)\([^(),]+(?:, [0-9]+)?\)")
_BETWEEN_NAMES = re.compile(r",(?![^(]*\))")


def column_name(name: object) -> str:
    """A usable column name, or a sentence about what to change."""
    if not isinstance(name, str):
        raise ParameterError(f"A column name must be a text, not a {type(name).__name__}.")
    if not name or len(name) > LONGEST_NAME:
        raise ParameterError(f"A column name must have 1 to {LONGEST_NAME} characters, not {len(name)}.")
    if not name.isprintable() or name != name.strip():
        raise ParameterError(f"Column name {name!r} must be printable and must not begin or end with a blank.")
    return str.__str__(name)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Unit:
    """What is protected: `Unit.row()`, or the rows that share their values in the named columns.

    The order in which columns are named does not matter. `Unit.one_of(column)` is one of those that the column counts.

    >>> unit = Unit("person", "day")
    >>> print(unit.sentence())
    Protected: everything recorded about one person on one day; the costs of several of these add up.
    >>> unit.fixes("day"), unit.fixes("room"), Unit.row().fixes("room")
    (True, False, True)
    """

    columns: tuple[str, ...]
    counted: str | None

    def __init__(self, *columns: str) -> None:
        if not columns:
            raise ParameterError("A unit needs at least one column; for the row itself use Unit.row().")
        if len(columns) > MOST_COLUMNS:
            raise ParameterError(f"A unit can have at most {MOST_COLUMNS} columns, not {len(columns)}.")
        names = [_unit_column(name) for name in columns]
        repeated = next((name for number, name in enumerate(names) if name in names[:number]), None)
        if repeated is not None:
            raise ParameterError(f"A unit names each column once, but {repeated!r} comes twice.")
        self._fill(tuple(sorted(names)), None)

    def _fill(self, columns: tuple[str, ...], counted: str | None) -> Unit:
        object.__setattr__(self, "columns", columns)
        object.__setattr__(self, "counted", counted)
        return self

    @classmethod
    def row(cls) -> Unit:
        """One row, which need not be one person."""
        return cls.__new__(cls)._fill((), None)

    @classmethod
    def one_of(cls, counted: str) -> Unit:
        """One of those that a column of counts counts. Neighbours have the same rows, and in one of them the count is
        one more or one less; to be counted elsewhere is both, and costs twice. Beside exact totals that both data sets
        have, only the latter can happen, and it costs the price once: see `louver.table`."""
        return cls.__new__(cls)._fill((), _unit_column(counted))

    @classmethod
    def parse(cls, text: object) -> Unit:
        """The unit behind its text form: `row`, column names in parentheses, or `one of` a column of counts."""
        if not isinstance(text, str):
            raise ParameterError(f"A unit is written as a text, not as a {type(text).__name__}.")
        written = text.strip()
        if written == ROW:
            return cls.row()
        if written.startswith(ONE_OF):
            return cls.one_of(written.removeprefix(ONE_OF).strip())
        if not (written.startswith("(") and written.endswith(")")):
            raise ParameterError("Write a unit as 'row', or as columns in parentheses: '(person, day)'.")
        return cls(*(name.strip() for name in _BETWEEN_NAMES.split(written[1:-1])))

    @property
    def is_row(self) -> bool:
        return not self.columns

    def fixes(self, column: str) -> bool:
        """Whether all rows of one unit share one value in this column."""
        name = column_name(column)
        return (self.is_row and name != self.counted) or name in self.columns

    def fixed(self, columns: Iterable[str]) -> frozenset[str]:
        """Those of the given columns along which costs stay apart."""
        return frozenset(name for name in columns if self.fixes(name))

    def protected(self) -> str:
        """What is protected, as a phrase."""
        if self.counted is not None:
            return f"one of those counted in {self.counted}"
        if self.is_row:
            return "one row, not one person"
        nouns = [_noun(column) for column in self.columns]
        subjects = [f"one {noun}" for noun in nouns if not _preposition(noun)]
        words = ["everything recorded"]
        if subjects:
            words.append("about " + " and ".join(subjects))
        for preposition in ("in", "on", "during", "at"):
            words += [f"{preposition} one {noun}" for noun in nouns if _preposition(noun) == preposition]
        return " ".join(words)

    def sentence(self) -> str:
        if self.counted is not None:
            return (
                f"Protected: {self.protected()}, one more or one less; the costs of several of these add up, so that "
                "to be counted elsewhere costs twice."
            )
        if self.is_row:
            return f"Protected: {self.protected()}; the costs of one person's rows add up."
        if len(self.columns) == 1:
            return f"Protected: {self.protected()}."
        return f"Protected: {self.protected()}; the costs of several of these add up."

    def __str__(self) -> str:
        if self.counted is not None:
            return f"{ONE_OF}{self.counted}"
        return ROW if self.is_row else f"({', '.join(self.columns)})"

    def __repr__(self) -> str:
        if self.counted is not None:
            return f"Unit.one_of({self.counted!r})"
        return "Unit.row()" if self.is_row else f"Unit({', '.join(map(repr, self.columns))})"


def _unit_column(name: object) -> str:
    checked = column_name(name)
    if any(mark in checked for mark in ",()") and not _MADE.fullmatch(checked):
        raise ParameterError(f"Column {checked!r} of a unit must not contain a comma or parentheses; rename it.")
    return checked


def _noun(column: str) -> str:
    made = _MADE.fullmatch(column)
    return (made[1] if made else column).replace("_", " ").strip().removesuffix(" id") or column


def _preposition(noun: str) -> str:
    return _PREPOSITIONS.get(noun.lower().split(" ")[-1], "")
