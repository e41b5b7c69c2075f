"""Predicate-wise composition: what was spent is the largest total over points of the charges that cover them.

A charge is a price on a scope: whatever came out tells at most that much about one unit whose fixed columns lie in
the scope, and nothing about other units. A unit at a point is covered by some of the charges and loses at most their
sum (thesis, Theorem 5.2), so the whole history is ε-differentially private with ε the largest such sum (Theorem 5.3).
Prices are ε or ρ: each adds up point by point, one kind at a time. A δ adds up likewise, by itself.

Prices become whole numbers over a common denominator, so that nothing is rounded; `overlap` finds where they pile up.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import NamedTuple

from louver import parameters
from louver.errors import ParameterError
from louver.parameters import Number
from louver.privacy.guarantee import Approximate, Guarantee, Pure, Subspace, ZeroConcentrated
from louver.privacy.overlap import heaviest_point
from louver.privacy.scope import Point, Scope
from louver.privacy.unit import Unit

LARGEST_DENOMINATOR_BITS = 1 << 16
LARGEST_REFINEMENT = 4096


@dataclass(frozen=True, slots=True, init=False)
class Charge:
    """A price on a scope: a guarantee, or a number of 0 or more for a pure epsilon."""

    scope: Scope
    guarantee: Guarantee
    price: Fraction

    def __init__(self, scope: Scope, price: Number | Guarantee) -> None:
        if not isinstance(scope, Scope):
            raise ParameterError(f"A charge is made on a Scope, not on a {type(scope).__name__}.")
        self._fill(scope, _guarantee(price))

    def _fill(self, scope: Scope, guarantee: Guarantee) -> Charge:
        object.__setattr__(self, "scope", scope)
        object.__setattr__(self, "guarantee", guarantee)
        main = guarantee.rho if isinstance(guarantee, ZeroConcentrated) else guarantee.epsilon
        object.__setattr__(self, "price", main)
        return self

    @property
    def kind(self) -> str:
        return self.guarantee.kind

    @property
    def delta(self) -> Fraction:
        return self.guarantee.delta if isinstance(self.guarantee, Approximate | Subspace) else Fraction(0)

    @property
    def adds_up_with(self) -> str:
        """Charges with the same text here have a proved sum; others have none where they meet.

        A pure price is an approximate one with delta 0, and both add up, also when the pure one was settled below its
        reservation.
        """
        if isinstance(self.guarantee, Subspace):
            return f"subspace of {self.guarantee.invariants}"
        return ZeroConcentrated.kind if isinstance(self.guarantee, ZeroConcentrated) else Pure.kind

    def on(self, scope: Scope) -> Charge:
        """The same price on another scope."""
        return Charge.__new__(Charge)._fill(scope, self.guarantee)

    def for_unit(self, unit: Unit) -> Charge:
        """The same price on all that the unit cannot keep apart."""
        return self.on(self.scope.for_unit(unit))


class Peak(NamedTuple):
    """The largest total and a point where it is reached; None there stands for a value that no charge names."""

    price: Fraction
    point: Point


@dataclass(frozen=True, slots=True)
class ExPost:
    """What an act reserved and what it charged in the end: nowhere more than it reserved (thesis, Definition 5.3)."""

    worst: Sequence[Charge]
    charged: Sequence[Charge]

    def __post_init__(self) -> None:
        object.__setattr__(self, "worst", tuple(_charges(self.worst)))
        object.__setattr__(self, "charged", tuple(_charges(self.charged)))
        excess, point = largest_total(self.charged, less=self.worst)
        if excess > 0:
            amount = Decimal(excess.numerator) / Decimal(excess.denominator)
            raise ParameterError(
                f"An act must not charge more than it reserved, but it does so by {amount:.6g} at {_shown(point)}; "
                "reserve the worst price of every level it may reach."
            )

    @property
    def loss(self) -> Fraction:
        """The privacy loss of this outcome, the largest over all predicates (thesis, Theorem 5.3)."""
        return largest_total(self.charged).price


def total_at(charges: Iterable[Charge], point: Point) -> Fraction:
    """What the charges that cover one point add up to; the point has a value for every column they restrict."""
    return sum((charge.price for charge in _charges(charges) if charge.scope.contains(point)), Fraction(0))


def largest_total(charges: Iterable[Charge], less: Iterable[Charge] = ()) -> Peak:
    """The largest total over all points, less what `less` adds up to there, and where it is reached.

    >>> rooms = [Charge(Scope({"room": room}), Fraction(price, 10)) for room, price in (("a", 1), ("b", 5))]
    >>> largest_total(rooms)
    Peak(price=Fraction(1, 2), point={'room': 'b'})
    """
    return _peak(_charges(charges), _charges(less))


def spent(charges: Iterable[Charge], within: Scope) -> Peak:
    """The largest total over the points inside a scope, and where it is reached."""
    # A price of 1 everywhere inside keeps the witness inside when nothing was charged there.
    inside = [Charge(within, 1)]
    columns: set[str] = set()
    for charge in _charges(charges):
        columns.update(column for column, _ in charge.scope.ranges)
        part = charge.scope.intersection(within)
        if part is not None:
            inside.append(Charge(part, charge.price))
    price, point = largest_total(inside)
    return Peak(price - 1, {**dict.fromkeys(columns), **point})


def compose(first: Iterable[Charge], second: Iterable[Charge]) -> list[Charge]:
    """Two partitions of the same part of the domain as one: where they meet, prices add up (thesis, Theorem 5.2)."""
    ours, theirs = _partition(_pure(first)), _partition(_pure(second))
    covers = [Charge(charge.scope, 1) for charge in ours], [Charge(charge.scope, 1) for charge in theirs]
    # A missing number or time may be left out: whatever covers it covers a point of either partition as well.
    if any(_peak(one, other, missing=False).price > 0 for one, other in (covers, covers[::-1])):
        raise ParameterError(
            "Two partitions can be composed only if they split the same part of the domain; add charges of price 0."
        )
    if len(ours) * len(theirs) > LARGEST_REFINEMENT**2 // 16:
        raise ParameterError(f"{len(ours)} and {len(theirs)} scopes are too many to compose; use largest_total.")
    meetings = ((mine.scope.intersection(its.scope), mine.price + its.price) for mine, its in product(ours, theirs))
    return [Charge(scope, price) for scope, price in meetings if scope is not None]


def refinement(charges: Iterable[Charge], within: Scope | None = None) -> list[Charge]:
    """The charges as disjoint atoms with their totals, in order.

    Where one charge restricts a category column that another leaves open, the rest of that column is not a box: then
    `within` has to list the categories.
    """
    atoms: list[Charge] = []
    for charge in _pure(charges):
        scope = charge.scope if within is None else charge.scope.intersection(within)
        if scope is not None:
            atoms = _refined(atoms, Charge(scope, charge.price))
        _check_atoms(len(atoms))
    return sorted(atoms, key=lambda atom: atom.scope)


def _refined(atoms: list[Charge], charge: Charge) -> list[Charge]:
    refined, rest = [], [charge.scope]
    for atom in atoms:
        common = atom.scope.intersection(charge.scope)
        if common is None:
            refined.append(atom)
            continue
        refined.append(Charge(common, atom.price + charge.price))
        refined += [Charge(piece, atom.price) for piece in atom.scope.without(charge.scope)]
        rest = [piece for left in rest for piece in left.without(atom.scope)]
        _check_atoms(len(refined) + len(rest))
    return refined + [Charge(piece, charge.price) for piece in rest]


def _check_atoms(count: int) -> None:
    if count > LARGEST_REFINEMENT:
        raise ParameterError(
            f"These charges split into more than {LARGEST_REFINEMENT} atoms; use fewer, or largest_total."
        )


def _charges(charges: object) -> list[Charge]:
    if not isinstance(charges, Iterable):
        raise ParameterError(f"Charges must be given as a list, not as a {type(charges).__name__}.")
    listed = [_charge(charge) for charge in charges]
    if len({charge.adds_up_with for charge in listed}) > 1:
        raise ParameterError("Charges of different kinds have no sum here; add up those of one kind at a time.")
    return listed


def _pure(charges: object) -> list[Charge]:
    listed = _charges(charges)
    if any(charge.kind != Pure.kind for charge in listed):
        raise ParameterError("Only pure charges can be joined into atoms; largest_total adds up other kinds.")
    return listed


def _guarantee(price: object) -> Guarantee:
    if isinstance(price, Pure | Approximate | ZeroConcentrated | Subspace):
        return price
    exact = parameters.fraction("price", price)
    if exact < 0:
        raise ParameterError("A price must be 0 or more: nothing that was spent comes back.")
    return Pure(exact)


def _charge(charge: object) -> Charge:
    if not isinstance(charge, Charge):
        raise ParameterError(f"A list of charges must hold Charge objects only, not a {type(charge).__name__}.")
    return charge


def _partition(charges: Iterable[Charge]) -> list[Charge]:
    listed = _charges(charges)
    count, point = largest_total([Charge(charge.scope, 1) for charge in listed])
    if count > 1:
        raise ParameterError(f"The scopes of a partition must not overlap, but {count} do at {_shown(point)}.")
    return listed


def _shown(point: Point) -> str:
    named = (f"{column} = {'any other' if value is None else str(value)[:40]}" for column, value in point.items())
    return ", ".join(named) or "every point"


def _peak(charges: Sequence[Charge], less: Sequence[Charge], missing: bool = True) -> Peak:
    signed = [(charge.scope, charge.price) for charge in charges] + [(charge.scope, -charge.price) for charge in less]
    return heaviest(signed, missing)


def heaviest(prices: Sequence[tuple[Scope, Fraction]], missing: bool = True) -> Peak:
    """The largest total of prices on scopes, and where: what `largest_total` finds, for prices already checked."""
    denominator = _common_denominator(price for _, price in prices)
    weights: dict[Scope, int] = {}
    for scope, price in prices:
        weights[scope] = weights.get(scope, 0) + price.numerator * (denominator // price.denominator)
    total, point = heaviest_point(weights, missing)
    return Peak(Fraction(total, denominator), point)


def _common_denominator(prices: Iterable[Fraction]) -> int:
    common = 1
    for denominator in {price.denominator for price in prices}:
        common = math.lcm(common, denominator)
        if common.bit_length() > LARGEST_DENOMINATOR_BITS:
            raise ParameterError("The prices have too many different denominators; round them up to one grid first.")
    return common
