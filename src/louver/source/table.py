"""A table: the public description of one data set. It names where rows are and reads nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from louver import parameters
from louver.errors import ParameterError
from louver.privacy import Unit
from louver.privacy.unit import column_name
from louver.source import derived
from louver.source.locations import Location, locate

LONGEST_NAME = 128


@dataclass(frozen=True, slots=True, init=False)
class Table:
    """Where rows are, the name of the data set, and the unit that is protected.

    The name is declared, because it is the ledger's: another file with the same rows must not get another budget.
    `columns` are names for columns made of a time; plans, units and ledgers keep what they are made of, not the name.
    `values` are the declared bounds of value columns, `(low, high)` or `(low, high, step)`, for the planner.

    >>> table = Table(
    ...     "presence.csv", dataset="building 7", unit=Unit("device", "day"), columns={"day": "day(time)"}
    ... )
    >>> table.dataset, table.unit.protected(), table.describe()
    ('building 7', 'everything recorded about one device on one day', 'presence.csv')
    """

    location: Location
    dataset: str
    unit: Unit
    columns: tuple[tuple[str, str], ...]
    values: tuple[tuple[str, tuple[Fraction, ...]], ...]
    name: str | None

    def __init__(
        self,
        location: object,
        *,
        dataset: str,
        unit: Unit,
        columns: Mapping[str, str] | None = None,
        values: Mapping[str, Sequence[parameters.Number]] | None = None,
        name: str | None = None,
    ) -> None:
        if not isinstance(unit, Unit):
            raise ParameterError(f"A table needs a Unit, not a {type(unit).__name__}; Unit.row() is one row.")
        place = locate(location)
        made = [(column_name(each), str(derived.definition(each, text))) for each, text in _pairs("columns", columns)]
        bounds = [(column_name(each), _bounds(each, given)) for each, given in _pairs("values", values)]
        for field, value in (
            ("location", place),
            ("dataset", _dataset(dataset)),
            ("unit", _made_plain(unit, dict(made))),
            ("columns", tuple(made)),
            ("values", tuple(bounds)),
            ("name", place.name if name is None else column_name(name)),
        ):
            object.__setattr__(self, field, value)

    def describe(self) -> str:
        """How sentences name it; never a password."""
        return self.location.describe()


def _made_plain(unit: Unit, made: Mapping[str, str]) -> Unit:
    """The unit with what its columns are made of: declaring a name anew must not change what a ledger protects."""
    return unit if unit.is_row else Unit(*(made.get(column, column) for column in unit.columns))


def _dataset(name: object) -> str:
    if not isinstance(name, str) or not 1 <= len(name) <= LONGEST_NAME or not name.isprintable():
        raise ParameterError(f"A data set is named by a text of 1 to {LONGEST_NAME} printable characters.")
    if name != name.strip():
        raise ParameterError(f"The name of the data set {name!r} must not begin or end with a blank.")
    return str.__str__(name)


def _pairs(what: str, given: object) -> list[tuple[str, Any]]:
    if given is None:
        return []
    if not isinstance(given, Mapping):
        raise ParameterError(f"The {what} of a table are given by name, not as a {type(given).__name__}.")
    return list(given.items())


def _bounds(column: str, given: object) -> tuple[Fraction, ...]:
    if not isinstance(given, Sequence) or isinstance(given, str | bytes) or len(given) not in (2, 3):
        raise ParameterError(f"The bounds of column {column!r} are (low, high) or (low, high, step).")
    exact = tuple(parameters.fraction(f"Each bound of column {column!r}", each) for each in given)
    if exact[0] > exact[1]:
        raise ParameterError(f"The lower bound of column {column!r} must not be above the upper bound.")
    if len(exact) == 3 and exact[2] <= 0:
        raise ParameterError(f"The step of column {column!r} must be greater than 0.")
    return exact
