"""What the plan of a stream is made of, checked: the exact value, or one sentence about what to change."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any

from louver import parameters
from louver.errors import ParameterError
from louver.noise.enclosure import exp
from louver.parameters import Number
from louver.privacy import Among, Approximate, Between, Unit
from louver.privacy.guarantee import LARGEST_EXPONENT, WORKING_BITS
from louver.privacy.ranges import Range
from louver.privacy.unit import column_name
from louver.source.crossed import Crossed
from louver.source.domain import Domain
from louver.source.filters import Compare, Filter, both, point_range
from louver.source.measures import Bound, Keys, KeyValue
from louver.stream.measured import Measured
from louver.stream.ticks import Ticks

NUMBERS = ("epsilon", "delta", "rho", "within", "miss_rate", "slack", "tick_bound")
PLAIN = ("window", "last")
PARTS = ("measured", "domain", "ticks", "unit", "kernel", "options", *NUMBERS, "bound", "above", "totals", *PLAIN)


@lru_cache(maxsize=4)
def keys_of(domain: Domain | None, ticks: Ticks) -> Keys:
    """Every region at every tick, ticks changing fastest. Kept, because a steward makes each plan anew."""
    regions = ((),) if domain is None else domain.listed(domain.keys)[0].values
    columns = () if domain is None else domain.keys
    return Keys((*columns, ticks.column), Crossed(tuple(regions), ticks.starts()))


def rows_between(ticks: Ticks, first: int, last: int) -> Filter:
    """The rows of these ticks, `last` not included, by their time: all others need not be looked at."""
    return both([Compare(ticks.time, ">=", ticks.start(first)), Compare(ticks.time, "<", ticks.start(last))])


def around(values: tuple[KeyValue, ...]) -> Range:
    """The smallest range that holds all the values. Kept, because a live stream asks at every tick."""
    return _around(values, tuple(map(type, values)))  # 1 is another value than true


@lru_cache(maxsize=64)
def _around(values: tuple[KeyValue, ...], _: tuple[type, ...]) -> Range:
    points = [point_range(value) for value in dict.fromkeys(values)]
    if isinstance(points[0], Among):
        return Among([value for each in points for value in each.values])  # type: ignore[union-attr]
    edges = [each for each in points if isinstance(each, Between)]
    return Between(min(each.start for each in edges), max(each.end for each in edges))  # type: ignore[type-var]


def options_of(given: object) -> tuple[tuple[str, str | int], ...]:
    if given is None:
        return ()
    if not isinstance(given, Mapping) or any(type(value) not in (str, int) for value in given.values()):
        raise ParameterError("The options of a mechanism are texts and whole numbers by name.")
    return tuple(sorted((str(name), value) for name, value in given.items()))


def positive(name: str, given: Number | None) -> Fraction | None:
    return None if given is None else parameters.positive(name, given)


def distance(name: str, given: Number | None) -> Fraction | None:
    if given is None:
        return None
    exact = parameters.fraction(name, given)
    return parameters.within(name, Fraction(repr(given)) if isinstance(given, float) else exact, 0, 2**40)


def columns_of(given: object) -> tuple[str, ...] | None:
    if given is None:
        return None
    if not isinstance(given, list | tuple) or not given or len({*map(str, given)}) < len(given):
        raise ParameterError("totals are the columns of the levels, the widest first, each of them once.")
    return tuple(column_name(name) for name in given)


def limits(given: object, regions: int) -> tuple[Fraction, ...] | None:
    """One limit for each region; a single number is that of all."""
    if given is None:
        return None
    many = given if isinstance(given, list | tuple) else [given] * regions
    return tuple(_limit(each) for each in many)


def _limit(given: Any) -> Fraction:
    exact = parameters.fraction("above", given)
    return parameters.within("above", Fraction(repr(given)) if isinstance(given, float) else exact, -(2**40), 2**40)


def rate(given: Number | None) -> Fraction | None:
    """A float means what it is written as or what it is, whichever promises more: 0.05 means 1/20."""
    if given is None:
        return None
    exact = parameters.error_rate("miss_rate", given)
    return min(exact, Fraction(repr(given))) if isinstance(given, float) else exact


def one_of(price: Approximate, together: int) -> Approximate:
    """What one may cost of so many that pay this price together: (e/k, d / (k exp((k-1) e/k))), rounded down."""
    each = price.epsilon / together
    growth = (together - 1) * each
    if together == 1 or growth > LARGEST_EXPONENT:  # beyond that, no group has a price
        return Approximate(each, price.delta)
    grown = together * exp(growth, WORKING_BITS).upper
    return Approximate(each, price.delta / grown * (1 - Fraction(1, 2**32)))


def digits(given: object) -> str:
    """The text of a stored fraction; an exponent would make a number that fills the memory."""
    if not isinstance(given, str) or not set(given) <= set("-/0123456789"):
        raise ValueError
    return given


def to_plain(parts: Mapping[str, Any]) -> dict[str, Any]:
    """What a plan is made of, as JSON carries it, exactly."""
    domain, bound = parts["domain"], parts["bound"]
    return {
        **{name: None if parts[name] is None else str(parts[name]) for name in NUMBERS},
        "measured": parts["measured"].to_dict(),
        "domain": None if domain is None else domain.to_dict(),
        "ticks": parts["ticks"].to_dict(),
        "unit": str(parts["unit"]),
        "kernel": parts["kernel"],
        "options": dict(parts["options"]),
        "bound": None if bound is None else [bound.rows, bound.keys],
        "above": None if parts["above"] is None else [str(limit) for limit in parts["above"]],
        "totals": None if parts["totals"] is None else list(parts["totals"]),
        **{name: parts[name] for name in PLAIN},
    }


def from_plain(plain: Mapping[str, Any]) -> dict[str, Any]:
    """The same back."""
    if set(plain) != set(PARTS):
        raise ParameterError("A stored stream does not have the parameters of one; make it again.")
    try:
        return {
            **{name: None if plain[name] is None else Fraction(digits(plain[name])) for name in NUMBERS},
            "measured": Measured.from_dict(plain["measured"]),
            "domain": None if plain["domain"] is None else Domain.from_dict(plain["domain"]),
            "ticks": Ticks.from_dict(plain["ticks"]),
            "unit": Unit.parse(plain["unit"]),
            "kernel": plain["kernel"],
            "options": dict(plain["options"]),
            "bound": None if plain["bound"] is None else Bound(*plain["bound"]),
            "above": None if plain["above"] is None else [Fraction(digits(limit)) for limit in plain["above"]],
            "totals": plain["totals"],
            **{name: plain[name] for name in PLAIN},
        }
    except (TypeError, ValueError, ZeroDivisionError):
        raise ParameterError("The numbers of a stored stream cannot be read; make it again.") from None
