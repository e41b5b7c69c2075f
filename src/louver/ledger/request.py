"""What may be asked of a ledger: plans, caps and audiences that make sense, or one sentence about what to change."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

from louver.errors import ParameterError
from louver.ledger import chain
from louver.ledger.model import Cap, name
from louver.parameters import short
from louver.privacy.guarantee import Pure
from louver.privacy.plan import Plan, charges_to_list
from louver.privacy.predicatewise import Charge
from louver.privacy.unit import Unit

MOST_CHARGES = 1 << 20
# Every price is a multiple of 1 over this, so that sums stay exact and short: binary, decimal, or a small share.
DENOMINATOR = 2**512 * 5**64 * math.lcm(*range(1, 101))


def requested(plan: Plan, unit: Unit, audience: str | None, key: str | None) -> dict[str, Any]:
    """What an entry says about a plan, after checking that the plan can be reserved; "worst" holds its charges."""
    if not isinstance(plan, Plan):
        raise ParameterError(f"A ledger reserves a plan, not a {type(plan).__name__}.")
    if plan.unit != unit:
        raise ParameterError(
            f"The plan protects {plan.unit} and the ledger {unit}; make the plan for the ledger's unit."
        )
    worst = [charge.for_unit(unit) for charge in plan.worst]
    if not worst or len(worst) > MOST_CHARGES:
        raise ParameterError(f"A plan states 1 to {MOST_CHARGES:,} worst prices, not {len(worst):,}.")
    if plan.gradual and any(charge.kind != Pure.kind for charge in worst):
        raise ParameterError("Only pure prices may settle below their reservation; make the plan without steps.")
    for charge in worst:
        check_denominators(charge)
    listed = charges_to_list(worst)
    described = {
        "mechanism": name("A mechanism", plan.mechanism),
        "promise": plan.promise,
        "sensitivity": str(plan.sensitivity),
        "gradual": plan.gradual,
        "digest": chain.digest([plan.mechanism, plan.parameters(), listed]),
    }
    return {
        "worst": worst,
        "plan": described,
        "audience": None if audience is None else name("An audience", audience),
        "key": None if key is None else name("An idempotency key", key),
        "charges": listed,
    }


def check_denominators(charge: Charge) -> None:
    for number in (charge.price, charge.delta):
        if DENOMINATOR % number.denominator:
            raise ParameterError(
                f"The price {short(number)} is a fraction that does not add up with others exactly; round it up to a "
                "multiple of 2^-64."
            )


def plain(release: object) -> Any:
    """A release as JSON gives it back."""
    try:
        return json.loads(json.dumps(release, allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        raise ParameterError("A release must be made of plain values that JSON can carry.") from None


def checked_unit(unit: object) -> Unit:
    if not isinstance(unit, Unit):
        raise ParameterError(f"A ledger protects a Unit, not a {type(unit).__name__}.")
    return unit


def checked_caps(caps: Iterable[Cap], audiences: Mapping[str, Any], unit: Unit) -> list[Cap]:
    listed = list(caps)
    for who, limit in audiences.items():
        numbers = limit if isinstance(limit, Cap) else Cap(epsilon=limit)
        listed.append(Cap(numbers.epsilon, numbers.delta, numbers.rho, numbers.scope, who, numbers.exact))
    for cap in listed:
        check_cap(cap, unit)
    if not any(cap.audience is None and not cap.scope.ranges for cap in listed):
        raise ParameterError("A ledger needs a cap that holds everywhere; further caps may then lower it in places.")
    if len({cap.place() for cap in listed}) < len(listed):
        raise ParameterError("Two caps are set at the same place; keep one.")
    return listed


def check_cap(cap: object, unit: Unit) -> None:
    if not isinstance(cap, Cap):
        raise ParameterError(f"A cap is a Cap, like Cap(epsilon=1), not a {type(cap).__name__}.")
    loose = [column for column, _ in cap.scope.ranges if not unit.fixes(column)]
    if loose:
        raise ParameterError(
            f"A cap cannot be set by {loose[0]!r}: one unit, {unit}, may have several values there; leave it out."
        )


def check_audience(audience: str | None, known: list[str], needed: bool = True) -> None:
    if audience is None and known and needed:
        raise ParameterError(f"This budget is split among audiences; name one of: {', '.join(known)}.")
    if audience is not None and audience not in known:
        there = f"it knows {', '.join(known)}" if known else "its budget is not split"
        raise ParameterError(f"The ledger has no audience {audience[:40]!r}; {there}.")
