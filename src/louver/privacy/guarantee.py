"""The guarantee: what is promised about one unit, as a sentence and as a formula.

Each guarantee compares the outcomes M(D) and M(D') on any two data sets that differ in one unit. Numbers are exact
fractions; whatever has to be rounded is rounded towards promising less. Guarantees of one kind add up. Different
kinds are never added silently: convert the stronger one first. A conversion speaks about a worst price fixed in
advance; charges that were settled below their reservation stay pure, and their only sum is the plain one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar, TypeAlias, TypeVar

from louver import parameters
from louver.errors import LouverError, ParameterError
from louver.noise import enclosure
from louver.parameters import Number
from louver.privacy.rates import percent

WORKING_BITS = 256
KEPT_BITS = 64
# Beyond this exponent exp(-x) is 0 for every purpose here, and its digits would only cost time.
LARGEST_EXPONENT = 4096
SMALLEST_DELTA = Fraction(1, 10**100)
LARGEST_RHO = 10**100
LONGEST_NAME = 128

_STILL_LEARNED = "It does not hide what many units show together, and later releases add to it."

Guarantee: TypeAlias = "Pure | Approximate | ZeroConcentrated | Subspace"
Kind = TypeVar("Kind", "Pure", "Approximate", "ZeroConcentrated", "Subspace")


@dataclass(frozen=True, slots=True, init=False)
class Pure:
    """No outcome becomes more than exp(ε) times as likely by one unit: ε-differential privacy.

    >>> print(Pure(Fraction(1, 2)).sentence())
    An even-odds guess whether one unit is in the data can go from 50% to at most 62.3%, whatever comes out. \
It does not hide what many units show together, and later releases add to it.
    """

    epsilon: Fraction
    kind: ClassVar[str] = "pure"

    def __init__(self, epsilon: Number) -> None:
        object.__setattr__(self, "epsilon", _not_negative("epsilon", epsilon))

    def posterior(self, prior: Number) -> Fraction:
        """The largest belief that one unit is in the data, after any outcome, for whoever believed `prior` before.

        1 / (1 + exp(-ε) (1 - p) / p), rounded up.
        """
        before = parameters.probability("prior", prior)
        if before in (0, 1):
            return before
        odds_against = _exp_below(self.epsilon) * (1 - before) / before
        return min(_rounded_up(1 / (1 + odds_against)), Fraction(1))

    def for_group(self, size: int) -> Pure:
        """The guarantee for that many units together."""
        return Pure(self.epsilon * parameters.count("size", size, smallest=1))

    def as_approximate(self) -> Approximate:
        return Approximate(self.epsilon, 0)

    def as_zero_concentrated(self) -> ZeroConcentrated:
        """ρ = ε²/2 (Bun and Steinke 2016, Proposition 1.4)."""
        return ZeroConcentrated(self.epsilon**2 / 2)

    def sentence(self) -> str:
        if self.epsilon == 0:
            return "Nothing about any unit changes what comes out."
        return (
            "An even-odds guess whether one unit is in the data can go from 50% to at most "
            f"{percent(self.posterior(Fraction(1, 2)))}, whatever comes out. {_STILL_LEARNED}"
        )

    def formula(self) -> str:
        return f"P[M(D) in O] <= exp({_shown(self.epsilon)}) * P[M(D') in O]"


@dataclass(frozen=True, slots=True, init=False)
class Approximate:
    """No set of outcomes becomes more likely by one unit than exp(ε) times plus δ: (ε, δ)-differential privacy."""

    epsilon: Fraction
    delta: Fraction
    kind: ClassVar[str] = "approximate"

    def __init__(self, epsilon: Number, delta: Number) -> None:
        object.__setattr__(self, "epsilon", _not_negative("epsilon", epsilon))
        object.__setattr__(self, "delta", _below_one("delta", delta))

    def right_guesses(self) -> Fraction:
        """How often an even-odds guess can be right: (exp(ε) + δ) / (exp(ε) + 1), rounded up."""
        inverse = _exp_below(self.epsilon)
        return min(_rounded_up((1 + self.delta * inverse) / (1 + inverse)), Fraction(1))

    def for_group(self, size: int) -> Approximate:
        """(k ε, k exp((k-1) ε) δ) for k units together; refused where that promises nothing."""
        units = parameters.count("size", size, smallest=1)
        growth = (units - 1) * self.epsilon
        if self.delta == 0 or units == 1:
            return Approximate(self.epsilon * units, self.delta)
        delta = units * self.delta
        if growth <= LARGEST_EXPONENT:
            delta = _rounded_up(delta * enclosure.exp(growth, WORKING_BITS).upper)
        if growth > LARGEST_EXPONENT or delta >= 1:
            raise ParameterError(f"This guarantee promises nothing for {units} units together; ask about fewer.")
        return Approximate(self.epsilon * units, delta)

    def sentence(self) -> str:
        if self.delta == 0:
            return Pure(self.epsilon).sentence()
        return (
            "An even-odds guess whether one unit is in the data is right in at most "
            f"{percent(self.right_guesses())} of cases. An outcome that only this unit's data can cause has "
            f"probability at most {_chance(self.delta)}. {_STILL_LEARNED}"
        )

    def formula(self) -> str:
        return f"P[M(D) in O] <= exp({_shown(self.epsilon)}) * P[M(D') in O] + {_shown(self.delta)}"


@dataclass(frozen=True, slots=True, init=False)
class ZeroConcentrated:
    """Rényi divergence at most ρ a at every order a > 1: ρ-zCDP (Bun and Steinke 2016)."""

    rho: Fraction
    kind: ClassVar[str] = "zero-concentrated"

    def __init__(self, rho: Number) -> None:
        object.__setattr__(self, "rho", _not_negative("rho", rho))

    def _distance_squared(self) -> Fraction:
        """A bound on the squared total variation distance of the two outcomes' laws.

        The divergence of order 1 is at most ρ, so it is at most ρ/2 (Pinsker) and 1 - exp(-ρ) (Bretagnolle and Huber).
        """
        return min(self.rho / 2, 1 - _exp_below(self.rho))

    def right_guesses(self) -> Fraction:
        """How often an even-odds guess can be right: half of 1 plus the distance, rounded up."""
        return min(_rounded_up((1 + _root_above(self._distance_squared())) / 2), Fraction(1))

    def for_group(self, size: int) -> ZeroConcentrated:
        return ZeroConcentrated(self.rho * parameters.count("size", size, smallest=1) ** 2)

    def as_approximate(self, delta: Number) -> Approximate:
        """(ε, δ) for a chosen δ: dp-accounting finds the best order, and ε is evaluated there, rounded up.

        ε = ρ a + ln(1 - 1/a) - ln(δ a)/(a - 1) for any order a > 1 (Canonne, Kamath and Steinke 2020, Proposition 12),
        and never above ρ + 2 sqrt(ρ ln(1/δ)).
        """
        exact = _below_one("delta", delta)
        parameters.within("delta", exact, SMALLEST_DELTA, 1)
        parameters.within("rho", self.rho, 0, LARGEST_RHO)
        if self._distance_squared() <= exact**2:
            return Approximate(0, exact)
        order = _best_order(self.rho, exact)
        log_delta = -enclosure.ln(exact, WORKING_BITS).lower
        candidates = [self.rho + 2 * _root_above(self.rho * log_delta)]
        if order is not None:
            gain = enclosure.ln(1 - 1 / order, WORKING_BITS).upper
            log_order = enclosure.ln(order, WORKING_BITS).lower
            candidates.append(self.rho * order + gain + (log_delta - log_order) / (order - 1))
        return Approximate(_rounded_up(max(min(candidates), Fraction(0))), exact)

    def sentence(self) -> str:
        return (
            "An even-odds guess whether one unit is in the data is right in at most "
            f"{percent(self.right_guesses())} of cases; single outcomes can tell more, the less likely the more "
            f"they tell. {_STILL_LEARNED}"
        )

    def formula(self) -> str:
        return f"D_a(M(D) || M(D')) <= {_shown(self.rho)} * a for every order a > 1"


@dataclass(frozen=True, slots=True, init=False)
class Subspace:
    """(ε, δ)-differential privacy for all but what the named invariants show exactly (Gao, Gong and Yu 2022).

    Sums about the same invariants add up. With any other guarantee there is no sum: what the invariants show is public
    here and protected there.
    """

    epsilon: Fraction
    delta: Fraction
    invariants: str
    kind: ClassVar[str] = "subspace"

    def __init__(self, epsilon: Number, delta: Number, invariants: str) -> None:
        object.__setattr__(self, "epsilon", _not_negative("epsilon", epsilon))
        object.__setattr__(self, "delta", _below_one("delta", delta))
        object.__setattr__(self, "invariants", _name("invariants", invariants))

    def sentence(self) -> str:
        return f"Exact, and so not protected: {self.invariants}. {self._protected()}"

    def _protected(self) -> str:
        between = "Between data sets that agree there and differ in one unit, an even-odds guess which of them it is"
        if self.delta == 0:
            sure = percent(Pure(self.epsilon).posterior(Fraction(1, 2)))
            return f"{between} can go from 50% to at most {sure}, whatever comes out. {_STILL_LEARNED}"
        sure = percent(Approximate(self.epsilon, self.delta).right_guesses())
        return (
            f"{between} is right in at most {sure} of cases. An outcome that only one of them can cause has "
            f"probability at most {_chance(self.delta)}. {_STILL_LEARNED}"
        )

    def formula(self) -> str:
        return f"{Approximate(self.epsilon, self.delta).formula()} where {self.invariants} of D and D' agree"


def compose(first: Kind, *others: Kind) -> Kind:
    """The guarantee of several releases together, each of which may depend on the ones before; one kind only."""
    every = (first, *others)
    for guarantee in every:
        if not isinstance(guarantee, Pure | Approximate | ZeroConcentrated | Subspace):
            raise ParameterError(f"Only guarantees can be composed, not a {type(guarantee).__name__}.")
        if type(guarantee) is not type(first):
            raise ParameterError(
                f"A guarantee that is {first.kind} and one that is {guarantee.kind} have no sum as they are; "
                "convert one with as_approximate() or as_zero_concentrated() first."
            )
        if getattr(guarantee, "invariants", None) != getattr(first, "invariants", None):
            raise ParameterError(
                "Guarantees about different invariants have no sum: what one protects the other shows."
            )
    totals: dict[str, Any] = {}
    for field in fields(first):
        values = [getattr(each, field.name) for each in every]
        totals[field.name] = values[0] if field.name == "invariants" else sum(values, Fraction(0))
    return type(first)(**totals)


def _name(what: str, given: object) -> str:
    if not isinstance(given, str) or not given.strip() or len(given) > LONGEST_NAME:
        raise ParameterError(f"{what} must be named by a text of 1 to {LONGEST_NAME} characters.")
    return str.__str__(given)


def _not_negative(name: str, value: object) -> Fraction:
    exact = parameters.fraction(name, value)
    if exact < 0:
        raise ParameterError(f"{name} must be 0 or more, because privacy that is lost does not come back.")
    return exact


def _below_one(name: str, value: object) -> Fraction:
    exact = _not_negative(name, value)
    if exact >= 1:
        raise ParameterError(f"{name} must be less than 1, because with 1 or more nothing is promised.")
    return exact


def _best_order(rho: Fraction, delta: Fraction) -> Fraction | None:
    """The order at which dp-accounting finds the least epsilon; None where its orders give none."""
    try:
        from dp_accounting import ZCDpEvent
        from dp_accounting.rdp import RdpAccountant
    except ImportError:
        raise LouverError(
            "Turning a zero-concentrated guarantee into an approximate one needs dp-accounting; "
            "install it with: pip install 'louver[accounting]'."
        ) from None
    middle = math.sqrt(-math.log(delta) / rho)
    # The best order lies near 1 + middle; dp-accounting gives no bound at orders up to 1.01.
    orders = [order for step in range(-96, 97) if (order := 1 + middle * 2 ** (step / 32)) > 1.01]
    if not orders:
        return None
    accountant = RdpAccountant(orders)
    accountant.compose(ZCDpEvent(float(rho)))
    return Fraction(float(accountant.get_epsilon_and_optimal_order(float(delta))[1]))


def _exp_below(exponent: Fraction) -> Fraction:
    """exp(-exponent), rounded down."""
    if exponent > LARGEST_EXPONENT:
        return Fraction(0)
    return enclosure.exp(-exponent, WORKING_BITS + math.ceil(exponent * 3 / 2)).lower


def _root_above(square: Fraction) -> Fraction:
    """The square root, rounded up."""
    if square == 0:
        return square
    scale = Fraction(2) ** (WORKING_BITS - (square.numerator.bit_length() - square.denominator.bit_length()) // 2)
    return (math.isqrt(math.ceil(square * scale**2)) + 1) / scale


def _rounded_up(value: Fraction) -> Fraction:
    """The next fraction of few digits, at or above the value."""
    scale = Fraction(2) ** (KEPT_BITS - value.numerator.bit_length() + value.denominator.bit_length())
    return math.ceil(value * scale) / scale


def _chance(probability: Fraction) -> str:
    """A probability above 0 in words, rounded up."""
    cases = math.floor(1 / probability)
    return f"1 in {cases:,}" if cases < 10**12 else f"1 in 10^{len(str(cases)) - 1}"


def _shown(value: Fraction) -> str:
    """A number as a formula shows it: exactly, or as the float that it is, where that is short, else rounded up."""
    if 10**-9 < value < 10**9 and value in (Fraction(float(value)), Fraction(repr(float(value)))):
        return f"{float(value)!r}".removesuffix(".0")
    if len(str(value)) <= 12:
        return str(value)
    digits = 6 - math.floor(math.log10(value.numerator) - math.log10(value.denominator))
    up = math.ceil(value * Fraction(10) ** digits) / Fraction(10) ** digits
    return f"{Decimal(up.numerator) / Decimal(up.denominator):.7g}"
