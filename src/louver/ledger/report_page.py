"""The report as a page for people: sections of paragraphs, lists and tables, in Markdown or in plain text."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from louver.ledger.denial import up

if TYPE_CHECKING:
    from louver.ledger.report import Report, Spent

WIDTH = 100
MOST_PROMISES = 20
_MARKS = re.compile(r"([\\`*_\[\]<>|#])")

_NOT_COVERED = (
    "What reaches people by another way than Louver: exports, screens, whoever may read the rows themselves.",
    "What many units show together; that is what the answers are for.",
    "More than one unit: a person who is in the data as several units has paid for each of them.",
    "The answers themselves, how they were used, and whether asking was lawful.",
    "Whoever has the ledger's key could have written another history; heads that are kept elsewhere would show it.",
)
_HOW_IT_IS_COUNTED = (
    "The largest total at any one point of the data, each line from its own charges alone; a year is that in which was "
    "asked, in UTC. What is reserved and never settled counts as spent."
)


@dataclass(frozen=True, slots=True)
class _Table:
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]


_Block: TypeAlias = "str | list[str] | _Table"


def markdown(report: Report) -> str:
    parts = [f"# {_escaped(_title(report))}"]
    for title, blocks in _sections(report):
        parts.append(f"## {_escaped(title)}")
        parts += [_markdown(block) for block in blocks]
    return "\n\n".join(parts) + "\n"


def text(report: Report) -> str:
    parts = [_printable(_title(report)).upper()]
    for title, blocks in _sections(report):
        parts.append(title + "\n" + "-" * len(title))
        parts += [_text(block) for block in blocks]
    return "\n\n".join(parts) + "\n"


def _title(report: Report) -> str:
    return f"Privacy report on {report.dataset}" + (f" in {report.year}" if report.year else "")


def _sections(report: Report) -> Iterable[tuple[str, list[_Block]]]:
    yield (
        "What is protected",
        [
            report.protected,
            f"This is from the ledger {report.address} as it was on {_minute(report.at)}.",
        ],
    )
    yield (
        "What may be spent",
        [
            "At any point of the data, in all:",
            [str(cap) for cap in report.caps],
            *_meanings(report.at_the_cap(), "If the cap that holds everywhere were spent to the end"),
        ],
    )
    yield "What was spent", _spent(report)
    yield _since("What was promised", report), _promises(report)
    yield _since("Who asked", report), _askers(report)
    yield "Reservations that never settled", _unsettled(report)
    did = [(_minute(each.at), each.by, each.what) for each in report.changes]
    yield _since("What owners did", report), [_Table(("when", "who", "what"), did) if did else "Nothing."]
    yield (
        "Is it true?",
        [
            report.verdict.sentence,
            f"The ledger is in epoch {report.epoch} and ends with entry {report.head.number}: {report.head.link}.",
        ],
    )
    if report.charges is not None:
        yield _since("Every charge", report), _charges(report)
    yield "What this does not cover", [list(_NOT_COVERED)]


def _since(title: str, report: Report) -> str:
    return f"{title} in {report.year}" if report.year else title


def _spent(report: Report) -> list[_Block]:
    if not report.overall:
        return ["Nothing was spent yet."]
    every = [("in all", report.overall), *((str(year), spent) for year, spent in report.by_year.items())]
    every += [(f"for {name}, in all", spent) for name, spent in report.by_audience.items()]
    rows = [(when, _amount(each), _delta(each)) for when, spent in every for each in spent]
    used = [(str(scope), up(spent), kind) for kind, scope, spent in report.scopes]
    return [
        _HOW_IT_IS_COUNTED,
        _Table(("", "spent", "delta"), rows),
        *_meanings(report.overall, "What was spent in all means"),
        "The parts of the data on which most was spent:",
        _Table(("scope", "spent", "kind"), used),
    ]


def _promises(report: Report) -> list[_Block]:
    if not report.promises:
        return ["Nothing was asked."]
    rows = [(f"{times:,}", promise) for promise, times in report.promises[:MOST_PROMISES]]
    more = len(report.promises) - MOST_PROMISES
    return [_Table(("times", "promise"), rows), *([f"And {more:,} further promises."] if more > 0 else [])]


def _askers(report: Report) -> list[_Block]:
    asked = [
        (
            each.name,
            *(f"{count:,}" for count in (each.asked, each.granted, each.denied)),
            ", ".join(map(_amount, each.spent)),
        )
        for each in report.askers
    ]
    held = [f"{person.name} ({person.role})" for person in report.people]
    table = _Table(("who", "asked", "granted", "denied", "spent"), asked)
    return [table if asked else "Nobody asked.", f"Tokens are held by: {', '.join(held)}."]


def _unsettled(report: Report) -> list[_Block]:
    if not report.unsettled:
        return ["None."]
    rows = [(str(each.number), _minute(each.at), each.who, each.mechanism, up(each.price)) for each in report.unsettled]
    return [
        "An act is running, or its process died. The price stays spent, because it may have been read.",
        _Table(("number", "since", "who", "mechanism", "price"), rows),
    ]


def _charges(report: Report) -> list[_Block]:
    rows = [
        (str(paid.number), _minute(paid.at), paid.who, paid.mechanism, str(paid.charge.scope), up(paid.charge.price))
        for paid in report.charges or ()
    ]
    return [_Table(("number", "when", "who", "mechanism", "scope", "price"), rows)]


def _meanings(spent: Iterable[Spent], before: str) -> list[_Block]:
    return [f"{before} ({_amount(each)}): {each.sentence()}" for each in spent]


def _amount(spent: Spent) -> str:
    return f"{spent.measure} {up(spent.price)}"


def _delta(spent: Spent) -> str:
    return up(spent.delta) if spent.delta else ""


def _minute(at: str) -> str:
    return f"{at[:10]} {at[11:16]} UTC"


def _markdown(block: _Block) -> str:
    if isinstance(block, str):
        return _escaped(block)
    if isinstance(block, list):
        return "\n".join(f"- {_escaped(item)}" for item in block)
    rows = [block.heads, ["---"] * len(block.heads), *(map(_escaped, row) for row in block.rows)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _text(block: _Block) -> str:
    if isinstance(block, str):
        return _wrapped(_printable(block))
    if isinstance(block, list):
        return "\n".join(_wrapped(f"- {_printable(item)}", "  ") for item in block)
    rows = [list(map(_printable, row)) for row in (block.heads, *block.rows)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(block.heads))]
    indent = " " * (sum(widths[:-1]) + 2 * (len(widths) - 1))
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)
    return "\n".join(_wrapped(line, indent) if len(indent) < WIDTH // 2 else line for line in lines)


def _wrapped(line: str, indent: str = "") -> str:
    """Long lines are cut between words; the blanks that make columns stay."""
    return textwrap.fill(
        line, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False, replace_whitespace=False
    )


def _escaped(line: str) -> str:
    """A text in which nothing means anything to Markdown, or is HTML."""
    return _MARKS.sub(r"\\\1", _printable(line))


def _printable(line: str) -> str:
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in line)
