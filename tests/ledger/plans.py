"""Plans for tests of the ledger: prices on scopes, and nothing behind them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from louver.noise.bits import Bits
from louver.parameters import Number
from louver.privacy import Charge, Outcome, Scope, Unit


@dataclass(frozen=True)
class Priced:
    """A plan that only states prices."""

    worst: tuple[Charge, ...]
    unit: Unit = field(default_factory=Unit.row)
    gradual: bool = False
    mechanism: str = "priced"
    promise: str = "Nothing."
    sensitivity: Fraction = Fraction(1)
    reading: Any = None

    def run(self, view: Any, bits: Bits) -> Outcome:  # noqa: ARG002 nothing to run
        return Outcome(None)

    def cheaper(self, price: Fraction) -> tuple[str, ...]:
        return (f"a price of {float(price):g}",)

    def parameters(self) -> dict[str, Any]:
        return {}


def priced(*charges: tuple[Scope, Any] | Charge, unit: Unit | None = None, gradual: bool = False) -> Priced:
    listed = tuple(charge if isinstance(charge, Charge) else Charge(*charge) for charge in charges)
    return Priced(listed, unit or Unit.row(), gradual)


def flat(price: Number, unit: Unit | None = None, gradual: bool = False) -> Priced:
    """One price on everything."""
    return priced((Scope.everything(), price), unit=unit, gradual=gradual)


def rooms(names: Iterable[str], price: Number, gradual: bool = False, **ranges: Any) -> Priced:
    """One price on each room, with further ranges the same for all."""
    return priced(*((Scope({"room": room, **ranges}), price) for room in names), gradual=gradual)
