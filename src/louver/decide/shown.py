"""How prices and plans are shown to people."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING

from louver.privacy import Pure, largest_total
from louver.privacy.rates import percent

if TYPE_CHECKING:
    from louver.decide.decision import Decision
    from louver.decide.within import Within
    from louver.privacy import Unit

EVEN = Fraction(1, 2)
PLACES = 10_000
_PROTECTED = "Protected: "


def up(price: Fraction) -> str:
    """A price to four places, rounded up: what is shown is never less than what is paid."""
    return f"{number_up(price):.4f}"


def down(left: Fraction) -> str:
    """What remains, to four places, rounded down: what is shown is never more than what is there."""
    return f"{number_down(left):.4f}"


def number_up(price: Fraction) -> float:
    return float(Fraction((price * PLACES).__ceil__(), PLACES))


def number_down(left: Fraction) -> float:
    return float(Fraction((left * PLACES).__floor__(), PLACES))


def protected(sentence: str) -> str:
    """What is protected, without the word for it and the full stop."""
    return sentence.removeprefix(_PROTECTED).rstrip(".")


def meaning(unit: Unit, price: Fraction, together: Fraction | None = None) -> str:
    """What a price means for one unit, and what all prices so far mean together where that is more."""
    said = f"whoever gave even odds that {one(unit)} is in the data can be at most {sure(price)} sure afterwards"
    if together is None or together <= price:
        return said
    return f"{said}, and {sure(together)} after everything that was asked here so far (epsilon {up(together)} together)"


def sure(price: Fraction) -> str:
    """How sure whoever gave even odds can be at most, after an answer at this price."""
    return percent(Pure(price).posterior(EVEN))


def one(unit: Unit) -> str:
    """One of what is protected, as a noun."""
    return "one row" if unit.is_row else unit.protected().replace("everything", "something", 1)


def plan_lines(plan: Decision | Within) -> list[tuple[str, str]]:
    """What matters of a plan before it runs, as pairs of a heading and words. The first says what is protected."""
    price = largest_total(plan.worst).price
    return [
        ("protected", protected(plan.unit.sentence())),
        ("promise", plan.promise),
        ("price", f"epsilon {up(price)} at most"),
        ("meaning", meaning(plan.unit, price)),
        *(("warning", each) for each in plan.warnings),
    ]


def plan_shown(plan: Decision | Within) -> str:
    """A plan in the lines that matter before it runs."""
    return lines_shown(plan_lines(plan))


def lines_shown(lines: Sequence[tuple[str, str]]) -> str:
    """Headings and words as text; the first line ends in a full stop."""
    (_, first), *others = lines
    return "\n".join([f"{_PROTECTED}{first}.", *(f"{head.capitalize()}: {said}" for head, said in others)])


def lines_as_html(lines: Sequence[tuple[str, str]]) -> str:
    """The same as a table for notebooks."""
    rows = "".join(
        f'<tr><th style="text-align:left;vertical-align:top">{escape(head)}</th>'
        f'<td style="text-align:left">{escape(said)}</td></tr>'
        for head, said in lines
    )
    return f"<table>{rows}</table>"
