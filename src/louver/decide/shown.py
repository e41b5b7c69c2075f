"""How prices and plans are shown to people."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from louver.privacy import largest_total

if TYPE_CHECKING:
    from louver.decide.decision import Decision
    from louver.decide.within import Within

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


def plan_shown(plan: Decision | Within) -> str:
    """A plan in the lines that matter before it runs."""
    price = f"Price: epsilon {up(largest_total(plan.worst).price)} at most"
    return "\n".join(
        [plan.unit.sentence(), f"Promise: {plan.promise}", price, *(f"Warning: {each}" for each in plan.warnings)]
    )
