"""What is spent, reserved and left under each cap."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from louver.ledger import Cap, Ledger, Reservation
from louver.ledger.model import amount
from louver.privacy import Charge, Scope, ZeroConcentrated

EPSILON, DELTA, RHO = "epsilon", "delta", "rho"
MOST_LOOKED_AT = 1000  # scopes with reservations that never settled; more would take long, and change little


@dataclass(frozen=True)
class Balance:
    """One number of one cap: its limit, the largest total, how much of that is only reserved, and what is left."""

    scope: Scope
    audience: str | None
    measure: str
    limit: Fraction
    spent: Fraction
    reserved: Fraction
    left: Fraction

    def __str__(self) -> str:
        where = f" where {self.scope}" if self.scope.ranges else ""
        return f"{self.measure} {amount(self.limit)}{where}" + (f" for {self.audience}" if self.audience else "")

    def to_dict(self) -> dict[str, Any]:
        numbers = {"limit": self.limit, "spent": self.spent, "reserved": self.reserved, "left": self.left}
        place = {"scope": self.scope.to_dict(), "audience": self.audience, "measure": self.measure}
        return {**place, **{name: str(number) for name, number in numbers.items()}}


def in_order(caps: Iterable[Cap]) -> list[Cap]:
    """What holds everywhere first, then places, then audiences."""
    return sorted(caps, key=lambda cap: (cap.audience or "", len(cap.scope.ranges), str(cap.scope)))


def balances(
    ledger: Ledger, caps: Iterable[Cap], region: Scope, reservations: Sequence[Reservation]
) -> Iterator[Balance]:
    """Of every cap that holds somewhere in a region."""
    kinds, doubtful = ledger.kinds(), ledger.doubt() is not None
    for cap in in_order(caps):
        part = cap.scope.intersection(region)
        charges = [charge for each in reservations if cap.audience in (None, each.audience) for charge in each.charges]
        for measure, limit in ((EPSILON, cap.epsilon), (DELTA, cap.delta or None), (RHO, cap.rho)):
            if part is not None and limit is not None:
                both = [_used(ledger, cap, part, charges, measure, kind) for kind in _counted(kinds, measure)]
                spent, reserved = max(both, default=(Fraction(0), Fraction(0)))
                left = Fraction(0) if doubtful else max(limit - spent, Fraction(0))
                yield Balance(cap.scope, cap.audience, measure, limit, spent, reserved, left)


def _counted(kinds: Iterable[str], measure: str) -> list[str]:
    if measure == DELTA:
        return [kind for kind in kinds if kind != ZeroConcentrated.kind]
    return [kind for kind in kinds if (kind == ZeroConcentrated.kind) == (measure == RHO)]


def _used(
    ledger: Ledger, cap: Cap, part: Scope, charges: Iterable[Charge], measure: str, kind: str
) -> tuple[Fraction, Fraction]:
    """The largest total, and what of it is only reserved, at a point where it is reached."""

    def spent(scope: Scope) -> Fraction:
        of = ledger.spent_delta if measure == DELTA else ledger.spent
        return of(scope, cap.audience, kind)

    sums: dict[Scope, Fraction] = {}
    for charge in charges:
        if charge.adds_up_with == kind:
            more = charge.delta if measure == DELTA else charge.price
            sums[charge.scope] = sums.get(charge.scope, Fraction(0)) + more
    total, reserved = spent(part), Fraction(0)
    for scope, more in sorted(sums.items(), key=lambda each: -each[1])[:MOST_LOOKED_AT]:
        inside = part.intersection(scope)
        if more and inside is not None and spent(inside) == total:
            part, reserved = inside, reserved + more
    return total, reserved
