"""What the plan of a stream is made of, checked: the exact value, or one sentence about what to change."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any

from louver import parameters
from louver.errors import ParameterError
from louver.parameters import Number
from louver.privacy import Among, Between, Unit
from louver.privacy.ranges import Range
from louver.source.domain import Domain
from louver.source.filters import Compare, Filter, both, point_range
from louver.source.measures import MOST_KEYS, Bound, Keys, KeyValue
from louver.stream.measured import Measured
from louver.stream.ticks import Ticks

NUMBERS = ("epsilon", "rho", "within", "miss_rate", "tick_bound")
PARTS = ("measured", "domain", "ticks", "unit", "kernel", "options", *NUMBERS, "bound", "window")


def check(measured: object, domain: object, ticks: object, unit: object, bound: object) -> None:
    for given, kind, word in ((measured, Measured, "a Measured"), (ticks, Ticks, "Ticks"), (unit, Unit, "a Unit")):
        if not isinstance(given, kind):
            raise ParameterError(f"A stream needs {word}, not a {type(given).__name__}.")
    if domain is not None and not isinstance(domain, Domain):
        raise ParameterError(f"A stream needs a Domain of public regions or none, not a {type(domain).__name__}.")
    if bound is not None and not isinstance(bound, Bound):
        raise ParameterError(f"A stream needs a Bound on what one unit contributes, not a {type(bound).__name__}.")
    if bound is not None and unit == Unit.row():
        raise ParameterError("Where the unit is the row itself there is nothing to bound per unit.")


def check_cells(domain: Domain | None, ticks: Ticks) -> None:
    """Whether a stream can have so many ticks and regions, and tell their columns apart."""
    columns, count = ((), 1) if domain is None else (domain.keys, len(domain))
    if ticks.column in columns or ticks.time in columns:
        raise ParameterError(
            f"The regions of a stream have a column {ticks.time!r}, which its ticks have; leave it out."
        )
    if count * len(ticks) > MOST_KEYS:
        raise ParameterError(
            f"{count:,} regions at {len(ticks):,} ticks are more than the {MOST_KEYS:,} numbers that one stream can "
            "have; take a shorter range or longer ticks."
        )


@lru_cache(maxsize=4)
def keys_of(domain: Domain | None, ticks: Ticks) -> Keys:
    """Every region at every tick, ticks changing fastest. Kept, because a steward makes each plan anew."""
    regions = ((),) if domain is None else domain.listed(domain.keys)[0].values
    columns = () if domain is None else domain.keys
    starts = ticks.starts()
    return Keys((*columns, ticks.column), tuple((*region, tick) for region in regions for tick in starts))


def rows_between(ticks: Ticks, first: int, last: int) -> Filter:
    """The rows of these ticks, `last` not included, by their time: all others need not be looked at."""
    return both([Compare(ticks.time, ">=", ticks.start(first)), Compare(ticks.time, "<", ticks.start(last))])


def around(values: list[KeyValue]) -> Range:
    """The smallest range that holds all the values."""
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


def distance(given: Number) -> Fraction:
    exact = parameters.fraction("within", given)
    return parameters.within("within", Fraction(repr(given)) if isinstance(given, float) else exact, 0, 2**40)


def rate(given: Number) -> Fraction:
    """A float means what it is written as or what it is, whichever promises more: 0.05 means 1/20."""
    exact = parameters.error_rate("miss_rate", given)
    return min(exact, Fraction(repr(given))) if isinstance(given, float) else exact


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
        "window": parts["window"],
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
            "window": plain["window"],
        }
    except (TypeError, ValueError, ZeroDivisionError):
        raise ParameterError("The numbers of a stored stream cannot be read; make it again.") from None
