"""What an audit found, as one value: a verdict in a sentence, the evidence for it, and what was not tried.

Attackers fill in pieces of evidence; `html` is one page for people and `json` the same for programs. A report may hold
numbers that only the truth can tell, such as how many guesses were right: it is for the owner of the data. Both say so,
because they travel without this.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from louver.attack.figures import Figure, short
from louver.errors import ParameterError

FORMAT = 1
FOR_OWNER = "Not private: made with the truth, for the owner of the data. Do not publish it."
Cell: TypeAlias = "str | int | float | None"


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under heads; a cell is a text or a number, and None where there is nothing to say.

    >>> Table(("attacker", "found"), (("outsider", 0.25),)).shown()
    [['outsider', '0.25']]
    """

    heads: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def __post_init__(self) -> None:
        if not self.heads or any(len(row) != len(self.heads) for row in self.rows):
            raise ParameterError("A table has heads, and each of its rows a cell for each of them.")

    def shown(self) -> list[list[str]]:
        """The cells as people read them."""
        return [[_shown(cell) for cell in row] for row in self.rows]

    def numeric(self) -> list[bool]:
        """Whether a column holds numbers only."""
        columns = zip(*self.rows, strict=True) if self.rows else ([] for _ in self.heads)
        return [bool(cells) and all(not isinstance(cell, str) for cell in cells) for cells in map(list, columns)]


@dataclass(frozen=True, slots=True)
class Evidence:
    """One thing that was tried: what it shows in a sentence, its numbers, and a figure of them.

    `holds` says whether a promise was kept, where one was tested.
    """

    title: str
    sentence: str
    table: Table | None = None
    figure: Figure | None = None
    holds: bool | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """`verdict` is one sentence; `about` are facts such as the data set and the day, and `not_tried` sentences.

    >>> report = Report("Audit of a house", "No promise was broken.", (Evidence("Membership", "It held.", holds=True),))
    >>> report.holds, report.json().splitlines()[1]
    (True, '  "louver": "audit",')
    """

    title: str
    verdict: str
    evidence: tuple[Evidence, ...] = ()
    not_tried: tuple[str, ...] = ()
    about: tuple[tuple[str, str], ...] = ()

    @property
    def holds(self) -> bool | None:
        """Whether every promise that was tested held; None where none was."""
        tested = [each.holds for each in self.evidence if each.holds is not None]
        return all(tested) if tested else None

    def with_evidence(self, *more: Evidence) -> Report:
        return Report(self.title, self.verdict, (*self.evidence, *more), self.not_tried, self.about)

    def html(self) -> str:
        """One page with everything in it: it loads nothing and runs no script."""
        from louver.attack.report_page import page

        return page(self)

    def data(self) -> dict[str, Any]:
        """Plain values; a number that is not finite is None."""
        found: dict[str, Any] = _plain(
            {
                "louver": "audit",
                "format": FORMAT,
                "private": False,
                "for": FOR_OWNER,
                "title": self.title,
                "verdict": self.verdict,
                "holds": self.holds,
                "about": dict(self.about),
                "evidence": [_evidence(each) for each in self.evidence],
                "not_tried": self.not_tried,
            }
        )
        return found

    def json(self) -> str:
        return json.dumps(self.data(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def save(path: str | Path, text: str) -> None:
    """Writes what only the owner may read: no other account can, also where the file was there before."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(file, "w", encoding="utf-8") as opened:
        os.fchmod(file, 0o600)
        opened.write(text)


def _evidence(each: Evidence) -> dict[str, Any]:
    return {
        "title": each.title,
        "sentence": each.sentence,
        "holds": each.holds,
        "table": None if each.table is None else {"heads": each.table.heads, "rows": each.table.rows},
        "figure": None if each.figure is None else each.figure.data(),
    }


def _plain(value: Any) -> Any:
    """As JSON has it: lists, texts, finite numbers."""
    if isinstance(value, dict):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(each) for each in value]
    if hasattr(value, "item"):  # a number of NumPy's
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _shown(cell: Cell) -> str:
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return "\N{EN DASH}"
    if isinstance(cell, str):
        return cell
    return f"{cell:,}" if isinstance(cell, int) else short(float(cell))
