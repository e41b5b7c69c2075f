"""A refusal that helps: what was asked for, what is left, where it fails, and what would fit."""

from __future__ import annotations

import math
from datetime import datetime
from fractions import Fraction
from typing import Any

from louver.errors import BudgetError
from louver.ledger.admit import Shortage
from louver.ledger.envelope import Envelope
from louver.ledger.totals import EVERYBODY, delta, peak, price
from louver.privacy.plan import Plan
from louver.privacy.ranges import Between
from louver.privacy.scope import Scope

MOST_TRIES = 64
DIGITS = 6


def to_dict(shortage: Shortage) -> dict[str, Any]:
    """What the ledger writes down about a refusal."""
    return {
        "scope": shortage.scope.to_dict(),
        "what": shortage.what,
        "requested": str(shortage.requested),
        "remaining": str(shortage.remaining),
    }


def refusal(shortage: Shortage, plan: Plan, renewal: str | None) -> BudgetError:
    left = max(shortage.remaining, Fraction(0))
    what, where = shortage.what, str(shortage.scope)
    cap = shortage.cap.delta if what == "delta" else shortage.cap.amount(shortage.family)
    whose = f" for {shortage.cap.audience}" if shortage.cap.audience else ""
    said = (
        f"The budget{whose} does not suffice on {where}: {up(shortage.requested)} of {what} is asked for and "
        f"{down(left)} of {up(cap)} is left, which is {up(shortage.requested - left)} too little. "
        "Nothing was read and nothing was spent."
    )
    ways = [*_cheaper(shortage, plan, left), *([renewal] if renewal else [])]
    said += (
        f" What would fit: {'; or '.join(ways)}."
        if ways
        else " Nothing less would fit here; an owner may raise the cap."
    )
    error = BudgetError(said)
    error.requested, error.remaining, error.scope = shortage.requested, left, shortage.scope
    error.difference = shortage.requested - left
    error.what, error.ways = what, tuple(ways)
    return error


def renewal(envelope: Envelope, shortage: Shortage) -> str | None:
    """From when on the same request would fit, along the first interval column of its scope."""
    for column, kept in shortage.scope.ranges:
        if isinstance(kept, Between) and kept.start is not None and kept.end is not None:
            return _renewal(envelope, shortage, column, kept)
    return None


def _renewal(envelope: Envelope, shortage: Shortage, column: str, kept: Between) -> str | None:
    length: Any = kept.end - kept.start  # type: ignore[operator]
    measure = delta if shortage.what == "delta" else price
    limit = shortage.cap.delta if shortage.what == "delta" else shortage.cap.amount(shortage.family)
    if shortage.requested > limit:
        return None
    start: Any = kept.end
    for _ in range(MOST_TRIES):
        try:
            moved = Scope({**dict(shortage.scope.ranges), column: Between(start, start + length)})
        except OverflowError:
            return None
        near = envelope.meeting([moved])
        used = peak(near, moved, measure, shortage.family, shortage.cap.audience or EVERYBODY)
        if used.price + shortage.requested <= limit:
            return f"the same question {_from(column, start)}"
        ends = [getattr(dict(total.scope.ranges).get(column), "end", None) for total in near]
        later = [end for end in ends if end is not None and end > start]
        if not later:
            return None
        start = min(later)
    return None


def _from(column: str, start: int | datetime) -> str:
    if isinstance(start, datetime):
        return f"about {column} from {start.isoformat(' ', 'minutes').removesuffix('+00:00')} UTC on"
    return f"about {column} from {start} on"


def _cheaper(shortage: Shortage, plan: Plan, left: Fraction) -> list[str]:
    if shortage.what == "delta" or left <= 0:
        return []
    largest = max(charge.price for charge in plan.worst)
    # Where several of the plan's charges meet, each must shrink by the same share.
    return list(plan.cheaper(largest * left / shortage.requested))


def up(number: Fraction) -> str:
    """A price as people read it, rounded up: what is shown is never less than what is paid."""
    return _shown(number, math.ceil)


def down(number: Fraction) -> str:
    """A balance as people read it, rounded down."""
    return _shown(number, math.floor)


def _shown(number: Fraction, rounded: Any) -> str:
    if number == 0:
        return "0"
    places = DIGITS - 1 - math.floor(math.log10(number.numerator) - math.log10(number.denominator))
    kept = Fraction(rounded(number * Fraction(10) ** places)) / Fraction(10) ** places
    return f"{float(kept):.{DIGITS}g}"
