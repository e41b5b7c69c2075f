"""A refusal that helps: what was asked for, what is left, where it fails, and what would fit."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from fractions import Fraction
from typing import Any

from louver.errors import BudgetError, ParameterError
from louver.ledger.admit import Shortage, admit
from louver.ledger.envelope import Envelope
from louver.ledger.model import Cap
from louver.ledger.totals import Total
from louver.privacy.plan import Plan
from louver.privacy.predicatewise import largest_total
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
        else f" Nothing less would fit here; an owner may raise the cap{_command(shortage)}."
    )
    error = BudgetError(said)
    error.requested, error.remaining, error.scope = shortage.requested, left, shortage.scope
    error.difference = shortage.requested - left
    error.what, error.ways = what, tuple(ways)
    return error


def _command(shortage: Shortage) -> str:
    """How, where that is not a larger epsilon."""
    if shortage.what != "delta":
        return ""
    where = f" where {shortage.cap.scope}" if shortage.cap.scope.ranges else ""
    needed = shortage.cap.delta + shortage.requested - max(shortage.remaining, Fraction(0))
    return f" with: louver ledger cap LEDGER 'delta {up(needed)}{where}'"


def renewal(
    envelope: Envelope, caps: Sequence[Cap], shortage: Shortage, new: Sequence[Total], plan: Plan
) -> str | None:
    """From when on the whole request would fit, moved along the first interval column of the scope where it fails.

    A plan with a domain says where that has keys, by `has_keys_in`.
    """
    for column, kept in shortage.scope.ranges:
        if isinstance(kept, Between) and kept.start is not None and kept.end is not None:
            return _renewal(envelope, caps, shortage, new, column, kept, getattr(plan, "has_keys_in", None))
    return None


def _renewal(
    envelope: Envelope,
    caps: Sequence[Cap],
    shortage: Shortage,
    new: Sequence[Total],
    column: str,
    kept: Between,
    has_keys: Callable[[str, Between], bool] | None,
) -> str | None:
    first: Any = kept.start
    start: Any = kept.end
    length = start - first
    for _ in range(MOST_TRIES):
        try:
            if has_keys is not None and not has_keys(column, Between(start, start + length)):
                return None
            moved = [replace(total, scope=_moved(total.scope, column, start - first)) for total in new]
        except (OverflowError, TypeError, ParameterError):
            return None
        if admit(envelope, caps, moved, shortage.audience).shortage is None:
            return f"the same question {_from(column, start)}"
        ends = [getattr(dict(total.scope.ranges).get(column), "end", None) for total in _near(envelope, moved)]
        later = [end for end in ends if end is not None and end > start]
        if not later:
            return None
        start = min(later)
    return None


def _near(envelope: Envelope, moved: Sequence[Total]) -> list[Total]:
    return envelope.meeting([total.scope for total in moved])


def _moved(scope: Scope, column: str, by: Any) -> Scope:
    """The same scope later; only if it is an interval with two ends there can it be moved."""
    ranges: dict[str, Any] = dict(scope.ranges)
    kept = ranges.get(column)
    if not isinstance(kept, Between):
        raise ParameterError("This scope cannot be moved.")
    return Scope({**ranges, column: Between(kept.start + by, kept.end + by)})


def _from(column: str, start: int | datetime) -> str:
    if isinstance(start, datetime):
        return f"about {column} from {start.isoformat(' ', 'minutes').removesuffix('+00:00')} UTC on"
    return f"about {column} from {start} on"


def _cheaper(shortage: Shortage, plan: Plan, left: Fraction) -> list[str]:
    if shortage.what == "delta" or left <= 0:
        return []
    # Where several of the plan's charges meet, each must shrink by the same share.
    return list(plan.cheaper(largest_total(plan.worst).price * left / shortage.requested))


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
