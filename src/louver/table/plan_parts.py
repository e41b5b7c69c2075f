"""What the plan of a table is made of: checked, and as plain values that JSON can carry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from fractions import Fraction
from typing import Any

from louver.errors import ParameterError
from louver.privacy import Among, Between, Unit
from louver.privacy.ranges import Range
from louver.privacy.unit import column_name
from louver.source.domain import Domain
from louver.source.filters import point_range
from louver.source.measures import Bound
from louver.source.names import instead_of

NUMBERS = ("epsilon", "rho", "delta")
PARTS = ("domain", "unit", "exact", "of", *NUMBERS, "bound", "totals")
PLACES = 10_000
COUNT, LOW, HIGH, LEVEL = "count", "low", "high", "level"  # columns of a published table; the last beside totals only


def columns_of(what: str, given: object, domain: Domain, *, whole: str | None = None) -> tuple[str, ...] | None:
    """Columns of the domain that have a value for each key; `whole` stands for none of them, which is the whole."""
    if given is None:
        return None
    if isinstance(given, str):
        given = [given]
    if not isinstance(given, list | tuple):
        raise ParameterError(f"{what} names columns of the domain, not a {type(given).__name__}.")
    if whole is not None and list(given) == [whole]:
        return ()
    names = tuple(column_name(name) for name in given)
    if len(set(names)) < len(names):
        raise ParameterError(f"{what} names each column once.")
    for name in names:
        if name not in domain.columns:
            also = f"; the grand total is {whole!r}" if whole is not None else ""
            raise ParameterError(
                f"The domain has no column {name[:40]!r} for {what}{instead_of(name, domain.columns)}{also}."
            )
        if any(value is None for value in domain.column(name)):
            raise ParameterError(f"Column {name!r} of the domain must have a value for each key, for {what}.")
    return names


def only(domain: Domain, others: Sequence[str]) -> Domain:
    """The keys and these columns: what else is known of the keys is nothing to the table."""
    names = dict.fromkeys((*domain.keys, *others))
    if set(names) == set(domain.columns):
        return domain
    return Domain({name: domain.column(name) for name in names}, keys=domain.keys)


def check_columns(domain: Domain, has_totals: bool) -> None:
    """Whether a published table can have the columns of the domain beside its own."""
    own = (COUNT, LOW, HIGH, *((LEVEL,) if has_totals else ()))
    taken = next((name for name in domain.columns if name in own), None)
    if taken is not None:
        raise ParameterError(f"A published table has a column {taken!r} of its own; rename that of the domain.")


def check_price(epsilon: Fraction | None, rho: Fraction | None, delta: Fraction | None, is_exact: bool) -> None:
    if (epsilon is None) == (rho is None):
        raise ParameterError("Say the price in one way: epsilon, or rho for Gaussian noise.")
    if is_exact and rho is not None and delta is None:
        raise ParameterError(
            "A price in rho beside exact totals is kept as epsilon and delta; say how small delta is, such as 1e-6."
        )
    if delta is not None and (rho is None or not is_exact):
        raise ParameterError("delta belongs to a price in rho beside exact totals; leave it out.")


def cheaper(epsilon: Fraction | None, rho: Fraction | None, is_exact: bool, price: Fraction) -> tuple[str, ...]:
    """Ways to ask that cost at most this price; of a rho that is paid in epsilon and delta none is known at once."""
    less = Fraction((price * PLACES).__floor__(), PLACES)
    if less <= 0 or (rho is not None and is_exact):
        return ()
    return (f"an epsilon of {float(less):g}" if epsilon is not None else f"a rho of {float(less):g}",)


def around(values: Sequence[Any]) -> Range:
    """The smallest range that holds all the values."""
    points = [point_range(value) for value in dict.fromkeys(values)]
    if isinstance(points[0], Among):
        return Among([value for each in points for value in each.values])  # type: ignore[union-attr]
    edges = [each for each in points if isinstance(each, Between)]
    return Between(min(each.start for each in edges), max(each.end for each in edges))  # type: ignore[type-var]


def written(key: Sequence[object]) -> list[str]:
    """A key as texts that no other key shares: 1, "1" and true are three."""
    return [f"{type(value).__name__} {plain_value(value)}" for value in key]


def plain_value(value: object) -> object:
    """A key's value as JSON carries it."""
    if isinstance(value, date | datetime):
        return value.isoformat()
    if isinstance(value, Fraction):
        return int(value) if value.denominator == 1 else float(value)
    return value


def to_plain(parts: Mapping[str, Any]) -> dict[str, Any]:
    bound, exact = parts["bound"], parts["exact"]
    return {
        **{name: None if parts[name] is None else str(parts[name]) for name in NUMBERS},
        "domain": parts["domain"].to_dict(),
        "unit": str(parts["unit"]),
        "exact": None if exact is None else list(exact),
        "of": parts["of"],
        "bound": None if bound is None else [bound.rows, bound.keys],
        "totals": list(parts["totals"]),
    }


def from_plain(plain: Mapping[str, Any]) -> dict[str, Any]:
    if set(plain) != set(PARTS):
        raise ParameterError("A stored table does not have the parameters of one; make it again.")
    try:
        exact = plain["exact"]
        return {
            **{name: None if plain[name] is None else Fraction(_digits(plain[name])) for name in NUMBERS},
            "domain": Domain.from_dict(plain["domain"]),
            "unit": Unit.parse(plain["unit"]),
            "exact": "all" if exact == [] else exact,
            "of": plain["of"],
            "bound": None if plain["bound"] is None else Bound(*plain["bound"]),
            "totals": plain["totals"],
        }
    except (TypeError, ValueError, ZeroDivisionError):
        raise ParameterError("The numbers of a stored table cannot be read; make it again.") from None


def _digits(given: object) -> str:
    """The text of a stored fraction; an exponent would make a number that fills the memory."""
    if not isinstance(given, str) or not set(given) <= set("/0123456789"):
        raise ValueError
    return given
