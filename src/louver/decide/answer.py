"""The answer: what was released, what it promises and protects, and what it cost, for people, programs and frames."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from louver.decide import words
from louver.decide.bands import Bands
from louver.decide.decision import Decision
from louver.decide.shown import down, number_down, number_up, protected, up
from louver.decide.within import Within
from louver.errors import DataError, ParameterError
from louver.source.measures import Keys, KeyValue
from louver.source.names import instead_of
from louver.steward import Release

if TYPE_CHECKING:
    from louver.decide.charged import Charged
    from louver.decide.spread import Margins

FRAMES = ("pandas", "polars", "arrow")
ROWS_SHOWN = 50


@dataclass(frozen=True, slots=True)
class Surveyed:
    """What a survey before the answer found, its price, and whether it was paid for before."""

    margins: Margins
    price: Fraction
    again: bool = False


@dataclass(frozen=True, repr=False)
class Answer:
    """One answer. What it says beside `owner` is for everybody who may ask; `owner` is for whoever owns the data.

    `remaining` is the epsilon that every point the question touches can still pay, `frame` the library in whose frames
    the rows came, `ledger` the name of the ledger that paid.
    """

    plan: Decision | Within
    release: Release
    remaining: Fraction | None = None
    frame: str | None = None
    ledger: str | None = None
    survey: Surveyed | None = None

    @property
    def keys(self) -> Keys:
        """The keys that were asked about, in order."""
        return self.plan.reading.keys[0]

    @cached_property
    def flagged(self) -> tuple[tuple[KeyValue, ...], ...]:
        """The keys that are flagged, each as the tuple of its values; none where another kind of question was asked."""
        if "flagged" not in self.release.answer:
            return ()
        named = {_hashable(key) for key in self.release.answer["flagged"]}
        return tuple(key for key in self.keys.values if _hashable(words.plain_key(key)) in named)

    @property
    def answered(self) -> int:
        """How many keys, from the first, have an answer: all, except where a strategy stops after some alarms."""
        return int(self.release.answer.get("answered", len(self.keys)))

    @property
    def protected(self) -> str:
        return self.release.protected

    @property
    def promise(self) -> str:
        return self.release.promise

    @property
    def warnings(self) -> tuple[str, ...]:
        return self.plan.warnings

    @property
    def worst(self) -> Fraction:
        """The price that was reserved."""
        return self.release.worst

    @cached_property
    def owner(self) -> Charged:
        """What each key was charged, for whoever owns the data."""
        from louver.decide.charged import charged

        return charged(self.plan, self.release.answer, self.release.charged)

    @cached_property
    def columns(self) -> dict[str, list[Any]]:
        """One row per key: its columns, and what was released about it."""
        found: dict[str, list[Any]] = {
            column: [key[at] for key in self.keys.values] for at, column in enumerate(self.keys.columns)
        }
        answer = self.release.answer
        if isinstance(self.plan, Within):
            for number, each in enumerate(self.plan.wanted):
                values = answer["values"][number]
                at = self._positions(each.keys)
                found[_free(words.aggregate_phrase(each.aggregate), found)] = [values[place] for place in at]
        elif isinstance(self.plan, Bands):
            found[_free("class", found)] = list(answer["classes"])
        else:
            flagged = set(self.flagged)
            known = [key in flagged for key in self.keys.values[: self.answered]]
            found[_free("flagged", found)] = [*known, *[None] * (len(self.keys) - self.answered)]
        return found

    def _positions(self, number: int) -> list[int]:
        """For each key of the question where it is in another of the reading's lists."""
        columns = [self.keys.columns.index(column) for column in self.plan.reading.keys[number].columns]
        places = {key: place for place, key in enumerate(self.plan.reading.keys[number].values)}
        return [places[tuple(key[at] for at in columns)] for key in self.keys.values]

    def to_dict(self, owner: bool = False) -> dict[str, Any]:
        """Plain values for JSON. Prices are exact texts; beside each is its decimal, rounded as `up` and `down` do."""
        said: dict[str, Any] = {
            "protected": protected(self.protected),
            "answer": self._plain(),
            "promise": self.promise,
            "warnings": list(self.warnings),
            "strategy": self.plan.mechanism,
            "worst": str(self.worst),
            "worst_epsilon": number_up(self.worst),
            "survey": None if self.survey is None else str(self.survey.price),
            "survey_epsilon": None if self.survey is None else number_up(self.survey.price),
            "remaining": None if self.remaining is None else str(self.remaining),
            "remaining_epsilon": None if self.remaining is None else number_down(self.remaining),
            "number": self.release.number,
            "again": self.release.again,
        }
        if owner:
            said["charged"] = str(self.release.charged)
            said["charged_epsilon"] = number_up(self.release.charged)
            said["owner"] = self.owner.to_dict()
        return said

    def _plain(self) -> dict[str, Any]:
        answer = {name: value for name, value in self.release.answer.items() if name != "levels"}
        if isinstance(self.plan, Decision) and not isinstance(self.plan, Bands):
            return {"columns": list(self.keys.columns), **answer}
        listed = [words.plain_key(key) for key in self.keys.values]
        return {"columns": list(self.keys.columns), "listed": listed, **answer}

    def to_frame(self, kind: str | None = None) -> Any:
        """One row per key, as a frame of pandas, polars or arrow; unless named, the kind in which the rows came."""
        chosen = kind or self.frame or FRAMES[0]
        if chosen not in FRAMES:
            raise ParameterError(
                f"An answer becomes a frame of {', '.join(FRAMES)}, not {chosen!r}{instead_of(chosen, FRAMES)}."
            )
        try:
            return _framed(chosen, self.columns)
        except ImportError:
            library = "pyarrow" if chosen == "arrow" else chosen
            raise DataError(f"A frame of {chosen} needs {library}; install it with: pip install {library}.") from None

    def plot(self, path: str | Path | None = None) -> str:
        """For each key where misses are rare, the slack, and where false alarms are: an SVG picture, also as a file."""
        from louver.decide.picture import picture
        from louver.decide.zones import panels

        drawn = picture(panels(self.plan, self.release.answer), self.promise)
        if path is not None:
            try:
                Path(path).write_text(drawn, encoding="utf-8")
            except OSError as fault:
                raise DataError(f"{path} cannot be written: {fault.strerror or 'the system gave no reason'}.") from None
        return drawn

    def lines(self) -> list[tuple[str, str]]:
        """What a reader should see, as pairs of a heading and words. The first says what is protected."""
        said = [("protected", protected(self.protected))]
        said += [(self._heading(), self._words()), ("promise", self.promise)]
        said += [("warning", warning) for warning in self.warnings]
        said.append(("price", self._price()))
        return said

    def _price(self) -> str:
        """What it cost, under which entry of the ledger, and what is left."""
        price = f"epsilon {up(self.worst)} at most"
        entry = f"entry {self.release.number} of {self.ledger or 'the ledger'}"
        if self.survey is not None:
            free = " (not again this time)" if self.survey.again and not self.release.again else ""
            price += f" and {up(self.survey.price)} for the survey before it{free}"
        left = "" if self.remaining is None else f"; {down(self.remaining)} remains where most is used"
        if self.release.again:
            return f"nothing this time: {entry} has the answer, which was paid then with {price}{left}"
        return f"{price}, {entry}{left}"

    def counted(self) -> str:
        """How many keys are flagged, of how many."""
        first = "" if self.answered == len(self.keys) else f"the first {self.answered:,} of "
        return f"{len(self.flagged):,} of {first}{len(self.keys):,}"

    def _heading(self) -> str:
        return "values" if isinstance(self.plan, Within) else "classes" if isinstance(self.plan, Bands) else "flagged"

    def _words(self) -> str:
        if isinstance(self.plan, Decision) and not isinstance(self.plan, Bands):
            named = "; " if len(self.keys.columns) > 1 else ", "
            listed = named.join(_label(key) for key in self.flagged[:ROWS_SHOWN]) or "none"
            more = len(self.flagged) - ROWS_SHOWN
            cut = f" and {more:,} more" if more > 0 else ""
            return f"{listed}{cut} ({self.counted()})"
        heads = [name for name in self.columns if name not in self.keys.columns]
        shown = [
            f"{_label(key)}: {', '.join(str(self.columns[name][at]) for name in heads)}"
            for at, key in enumerate(self.keys.values[:ROWS_SHOWN])
        ]
        more = len(self.keys) - ROWS_SHOWN
        return "; ".join(shown) + (f" and {more:,} more" if more > 0 else "")

    def __str__(self) -> str:
        (_, protected), *others = self.lines()
        return "\n".join([f"Protected: {protected}.", *(f"{head.capitalize()}: {said}" for head, said in others)])

    def __repr__(self) -> str:
        what = (
            f"{len(self.flagged):,} of {len(self.keys):,} keys flagged"
            if self._heading() == "flagged"
            else (f"{self._heading()} of {len(self.keys):,} keys")
        )
        return f"Answer({what}, number {self.release.number})"

    def _repr_html_(self) -> str:
        """For notebooks: the words as a table, and the picture."""
        rows = "".join(
            f'<tr><th style="text-align:left;vertical-align:top">{escape(head)}</th>'
            f'<td style="text-align:left">{escape(said)}</td></tr>'
            for head, said in self.lines()
        )
        return f"<table>{rows}</table>\n{self.plot()}"


def _framed(kind: str, columns: dict[str, list[Any]]) -> Any:
    if kind == "pandas":
        import pandas

        return pandas.DataFrame(columns)
    if kind == "polars":
        import polars

        return polars.DataFrame(columns)
    import pyarrow

    return pyarrow.table(columns)


def _free(name: str, taken: dict[str, list[Any]]) -> str:
    """The name, or with a number where a column has it already."""
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name} {number}"
    return free


def _label(key: tuple[KeyValue, ...]) -> str:
    return ", ".join(map(words.value, key)) or "all rows"


def _hashable(key: Any) -> Any:
    return tuple(key) if isinstance(key, list) else key
