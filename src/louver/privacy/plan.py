"""The plan: everything about one act on the data that can be known without the data.

Each mechanism has a frozen dataclass of its parameters that is its plan. Price, promise and sensitivity are computed
from the parameters, never stored beside them: a plan that comes in as JSON is made anew from its parameters, and is
refused when it states something else than they give. So nobody can hand in a plan that costs more than it says.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from typing import Any, Protocol, TypeVar, runtime_checkable

from louver.errors import ParameterError
from louver.noise.bits import Bits
from louver.privacy.guarantee import Approximate, Guarantee, Pure, Subspace, ZeroConcentrated
from louver.privacy.predicatewise import Charge
from louver.privacy.ranges import Among
from louver.privacy.scope import Scope
from louver.privacy.unit import Unit

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a mechanism gives back: the answer, in plain values that JSON can carry, and what it charged.

    `charges` is None where the worst price is charged, as every plan that is not gradual must.
    """

    answer: Any
    charges: Sequence[Charge] | None = None


@runtime_checkable
class Plan(Protocol):
    """What the ledger reserves and the steward runs."""

    @property
    def mechanism(self) -> str:
        """The name under which the mechanism is registered."""

    @property
    def unit(self) -> Unit:
        """Who is protected."""

    @property
    def sensitivity(self) -> Fraction:
        """How much one unit can change what is read, in all."""

    @property
    def worst(self) -> tuple[Charge, ...]:
        """The most that a run can charge, scope by scope; a price beyond it is impossible."""

    @property
    def gradual(self) -> bool:
        """Whether a run takes noise away step by step and may charge less than the worst; pure prices only."""

    @property
    def promise(self) -> str:
        """What the answer promises, in words."""

    @property
    def reading(self) -> Any:
        """What the steward has to read: a bounded aggregate per key."""

    def run(self, view: Any, bits: Bits) -> Outcome:
        """The only function that is given private numbers, and the randomness to hide them."""

    def cheaper(self, price: Fraction) -> tuple[str, ...]:
        """Ways to ask that would cost at most this price, as phrases like "a slack of 14"; none if there is none."""

    def parameters(self) -> dict[str, Any]:
        """Plain values from which `from_parameters` makes an equal plan."""


_Made = TypeVar("_Made", bound=type)
_MECHANISMS: dict[str, Callable[[Mapping[str, Any]], Plan]] = {}
_HOMES: dict[str, str] = {}


def registered(name: str) -> Callable[[_Made], _Made]:
    """Makes plans of a class readable from JSON; the class has a classmethod `from_parameters(plain)`."""

    def register(made: _Made) -> _Made:
        _MECHANISMS[name] = made.from_parameters  # type: ignore[attr-defined]
        return made

    return register


def found_in(modules: Mapping[str, str]) -> None:
    """Says which modules register mechanisms, so that they are loaded when a plan of theirs is first read."""
    _HOMES.update(modules)


def plan_to_dict(plan: Plan) -> dict[str, Any]:
    """A plan as plain values: its parameters, and what follows from them for whoever reads it."""
    return {
        "format": FORMAT,
        "mechanism": plan.mechanism,
        "parameters": plan.parameters(),
        "unit": str(plan.unit),
        "sensitivity": str(plan.sensitivity),
        "gradual": plan.gradual,
        "promise": plan.promise,
        "worst": charges_to_list(plan.worst),
    }


def plan_from_dict(plain: object) -> Plan:
    """The plan made anew from its parameters; refused when it states something else than they give."""
    if not isinstance(plain, Mapping) or type(plain.get("format")) is not int or plain["format"] != FORMAT:
        raise ParameterError(f"A stored plan must be an object with format {FORMAT}; make it again.")
    name = str(plain.get("mechanism"))
    if name not in _MECHANISMS and name in _HOMES:
        import_module(_HOMES[name])
    make = _MECHANISMS.get(name)
    if make is None:
        raise ParameterError(f"Louver has no mechanism {str(plain.get('mechanism'))[:40]!r}.")
    if not isinstance(plain.get("parameters"), Mapping):
        raise ParameterError("A stored plan needs an object with its parameters.")
    plan = make(plain["parameters"])
    again = json.loads(json.dumps(plan_to_dict(plan)))
    wrong = next((name for name, value in again.items() if plain.get(name) != value), None)
    if wrong is not None:
        raise ParameterError(f"The plan's {wrong} is not what its parameters give; it was changed, so make it again.")
    return plan


def charges_to_list(charges: Sequence[Charge]) -> list[dict[str, Any]]:
    """Charges as plain values. Those that differ in one category only share a line, with their categories listed."""
    lines: list[dict[str, Any]] = []
    shared: dict[tuple[object, ...], list[object]] = {}
    for charge in charges:
        ranges = dict(charge.scope.ranges)
        column = next(
            (name for name, kept in ranges.items() if isinstance(kept, Among) and len(kept.values) == 1), None
        )
        if column is None:
            lines.append({"price": _guarantee_to_dict(charge.guarantee), "scope": charge.scope.to_dict()})
            continue
        named = ranges.pop(column)
        (value,) = named.values  # type: ignore[union-attr]
        alike = column, named.kind, charge.guarantee, tuple(ranges.items())
        if alike not in shared:
            rest = {name: kept.to_dict() for name, kept in ranges.items()}
            shared[alike] = []
            each = {column: shared[alike]}
            lines.append({"price": _guarantee_to_dict(charge.guarantee), "scope": rest, "each": each})
        shared[alike].append(value)
    return lines


def charges_from_list(plain: object) -> list[Charge]:
    if not isinstance(plain, list):
        raise ParameterError(f"Stored charges must be a list, not a {type(plain).__name__}.")
    return [charge for line in plain for charge in _charges_of_line(line)]


def _charges_of_line(line: object) -> Iterator[Charge]:
    if not isinstance(line, Mapping) or not {"price", "scope"} <= set(line) <= {"price", "scope", "each"}:
        raise ParameterError("A stored charge needs a price and a scope, and may list its categories.")
    shared = Charge(Scope.from_dict(line["scope"]), _guarantee_from_dict(line["price"]))
    if "each" not in line:
        yield shared
        return
    each = line["each"]
    if not isinstance(each, Mapping) or len(each) != 1 or not isinstance(next(iter(each.values())), list):
        raise ParameterError("A stored charge lists the categories of one column.")
    ((column, values),) = each.items()
    for value in values:
        yield shared.on(Scope({**dict(shared.scope.ranges), column: Among(value)}))


def _guarantee_to_dict(guarantee: Guarantee) -> dict[str, str]:
    if isinstance(guarantee, ZeroConcentrated):
        return {"kind": guarantee.kind, "rho": str(guarantee.rho)}
    plain = {"kind": guarantee.kind, "epsilon": str(guarantee.epsilon)}
    if isinstance(guarantee, Approximate | Subspace):
        plain["delta"] = str(guarantee.delta)
    if isinstance(guarantee, Subspace):
        plain["invariants"] = guarantee.invariants
    return plain


def _guarantee_from_dict(plain: object) -> Guarantee:
    try:
        given: dict[str, Any] = dict(plain)  # type: ignore[call-overload]
        kind = given.pop("kind")
        invariants = given.pop("invariants", None)
        numbers = {name: Fraction(value) for name, value in given.items() if isinstance(value, str)}
        if len(numbers) != len(given):
            raise ValueError
        if kind == Subspace.kind:
            return Subspace(**numbers, invariants=invariants)
        made: dict[str, type[Pure] | type[Approximate] | type[ZeroConcentrated]]
        made = {each.kind: each for each in (Pure, Approximate, ZeroConcentrated)}
        return made[kind](**numbers)
    except (KeyError, TypeError, ValueError, ZeroDivisionError):
        raise ParameterError(
            "A stored price needs a kind and its numbers as texts, like {'kind': 'pure', 'epsilon': '1/2'}."
        ) from None
