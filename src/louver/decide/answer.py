"""The answer: what was released, what it promises and protects, and what it cost, for people, programs and frames."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from louver.decide import words
from louver.decide.bands import Bands
from louver.decide.decision import Decision
from louver.decide.shown import (
    down,
    lines_as_html,
    lines_shown,
    meaning,
    number_down,
    number_up,
    protected,
    up,
)
from louver.decide.within import Within
from louver.errors import DataError, ParameterError
from louver.question.nodes import Aggregate
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

    `remaining` is the epsilon that every point the question touches can still pay, `spent` what all answers so far cost
    together where most was spent, `frame` the library in whose frames the rows came, `ledger` the name of the ledger
    that paid, `names` what the source calls columns made of a time.
    """

    plan: Decision | Within
    release: Release
    remaining: Fraction | None = None
    frame: str | None = None
    ledger: str | None = None
    survey: Surveyed | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    spent: Fraction | None = None

    @property
    def keys(self) -> Keys:
        """The keys that were asked about, in order."""
        return self.plan.reading.keys[0]

    @property
    def heads(self) -> tuple[str, ...]:
        """The key columns by the names that the source declares: hour for hour(time)."""
        return tuple(self.names.get(column, column) for column in self.keys.columns)

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

    @property
    def meaning(self) -> str:
        """How sure anybody can be about one unit, after this answer and after all so far."""
        return meaning(self.plan.unit, self.release.charged, self.spent)

    @cached_property
    def owner(self) -> Charged:
        """What each key was charged, for whoever owns the data."""
        from louver.decide.charged import charged

        return charged(self.plan, self.release.answer, self.release.charged)

    @cached_property
    def columns(self) -> dict[str, list[Any]]:
        """One row per key: its columns, and what was released about it."""
        found: dict[str, list[Any]] = {
            head: [key[at] for key in self.keys.values] for at, head in enumerate(self.heads)
        }
        answer = self.release.answer
        if isinstance(self.plan, Within):
            called = self.plan.question.names or (None,) * len(self.plan.wanted)
            for number, each in enumerate(self.plan.wanted):
                values = answer["values"][number]
                at = self._positions(each.keys)
                found[_free(called[number] or self._named(each.aggregate), found)] = [values[place] for place in at]
        elif isinstance(self.plan, Bands):
            found[_free(self.plan.classes.name or "class", found)] = list(answer["classes"])
        else:
            flagged = set(self.flagged)
            known = [key in flagged for key in self.keys.values[: self.answered]]
            found[_free("flagged", found)] = [*known, *[None] * (len(self.keys) - self.answered)]
        return found

    def _named(self, aggregate: Aggregate) -> str:
        """What a released number is called: the aggregate, and by which keys where that is not all of them."""
        column = self.names.get(aggregate.column or "", aggregate.column)
        noun = words.aggregate_phrase(replace(aggregate, column=column))
        if set(aggregate.keys) == set(self.keys.columns) or not self.keys.columns:
            return noun
        keys = [self.names.get(key, key) for key in aggregate.keys]
        return f"{noun} per {' and '.join(keys)}" if keys else f"{noun} in all"

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
            "charged": str(self.release.charged),
            "charged_epsilon": number_up(self.release.charged),
            "spent": None if self.spent is None else str(self.spent),
            "spent_epsilon": None if self.spent is None else number_up(self.spent),
            "meaning": self.meaning,
            "survey": None if self.survey is None else str(self.survey.price),
            "survey_epsilon": None if self.survey is None else number_up(self.survey.price),
            "remaining": None if self.remaining is None else str(self.remaining),
            "remaining_epsilon": None if self.remaining is None else number_down(self.remaining),
            "number": self.release.number,
            "again": self.release.again,
        }
        if owner:
            said["owner"] = self.owner.to_dict()
        return said

    def _plain(self) -> dict[str, Any]:
        answer = {name: value for name, value in self.release.answer.items() if name != "levels"}
        if isinstance(self.plan, Decision) and not isinstance(self.plan, Bands):
            return {"columns": list(self.heads), **answer}
        listed = [words.plain_key(key) for key in self.keys.values]
        names = list(self.columns)[len(self.heads) :]
        if isinstance(self.plan, Bands):
            return {"columns": list(self.heads), "listed": listed, "name": names[0], **answer}
        # Numbers of coarser keys are repeated, so that each list has one for each key.
        values = [self.columns[name] for name in names]
        return {"columns": list(self.heads), "listed": listed, "names": names, **answer, "values": values}

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

        if path is not None and Path(path).suffix.lower() != ".svg":
            raise ParameterError(f"A picture is written as SVG, so its file must end in .svg, not {Path(path).name!r}.")
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
        return [*said, ("price", self._price()), ("meaning", self.meaning)]

    def _price(self) -> str:
        """What it cost, under which entry of the ledger, and what is left."""
        paid = self.release.charged
        worst = up(self.worst)
        price = f"epsilon {worst} at most" if paid == self.worst else f"epsilon {up(paid)} of {worst} that was reserved"
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
        heads = list(self.columns)[len(self.heads) :]
        what = f"{', '.join(heads)} by {', '.join(self.heads) or 'nothing'}: " if isinstance(self.plan, Within) else ""
        shown = [
            f"{_label(key)}: {', '.join(str(self.columns[name][at]) for name in heads)}"
            for at, key in enumerate(self.keys.values[:ROWS_SHOWN])
        ]
        more = len(self.keys) - ROWS_SHOWN
        return what + "; ".join(shown) + (f" and {more:,} more" if more > 0 else "")

    def __str__(self) -> str:
        return lines_shown(self.lines())

    def __repr__(self) -> str:
        what = (
            f"{len(self.flagged):,} of {len(self.keys):,} keys flagged"
            if self._heading() == "flagged"
            else (f"{self._heading()} of {len(self.keys):,} keys")
        )
        return f"Answer({what}, number {self.release.number})"

    def _repr_html_(self) -> str:
        """For notebooks: the words as a table, and the picture."""
        return f"{lines_as_html(self.lines())}\n{self.plot()}"


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
