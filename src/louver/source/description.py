"""The source: a table with everything public about it, described once for the command line, Python and servers.

`louver.toml` names the table and its unit, the bounds of what one unit may contribute, the ledger that pays, the
domains that may be asked about, and what is promised where a question does not say. Paths in it are relative to it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from louver import parameters
from louver.errors import ParameterError
from louver.privacy.unit import column_name
from louver.source.domain import Domain
from louver.source.measures import Bound
from louver.source.names import instead_of
from louver.source.public_list import check_place
from louver.source.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable

MISS_RATE, SLACK, FALSE_ALARM_RATE, OBJECTIVE, BUDGET = "miss_rate", "slack", "false_alarm_rate", "objective", "budget"
DEFAULTS = (MISS_RATE, SLACK, FALSE_ALARM_RATE, OBJECTIVE, BUDGET)
OBJECTIVES = ("worst", "mean", "entropy")
UNNAMED = "domain"  # what the only domain of a source is called where nobody named it


class Domains(Mapping[str, Domain]):
    """Domains by name, each made when it is first asked for: a file that no question needs is not read."""

    def __init__(self, makers: Mapping[str, Domain | Callable[[], Domain]]) -> None:
        self._makers = dict(makers)

    def __getitem__(self, name: str) -> Domain:
        found = self._makers[name]
        if not isinstance(found, Domain):
            found = self._makers[name] = found()
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def made(self) -> list[Domain]:
        """Those that are there already."""
        return [each for each in self._makers.values() if isinstance(each, Domain)]

    def __len__(self) -> int:
        return len(self._makers)

    def __repr__(self) -> str:
        return f"Domains({', '.join(self)})"


@dataclass(frozen=True, slots=True, init=False)
class Source:
    """A table, the domains it may be asked about, what counts of one unit, where its ledger is, and usual promises.

    `defaults` may hold miss_rate, slack, false_alarm_rate, objective and budget.

    >>> from louver.privacy import Unit
    >>> rooms = Domain({"room": ["hall", "lab"], "capacity": [180, 24]}, keys=["room"])
    >>> presence = Source(Table("presence.csv", dataset="house", unit=Unit("device")), domains=rooms, bound=Bound(4))
    >>> presence.domain()
    Domain(2 keys of room, with capacity)
    """

    table: Table
    domains: Mapping[str, Domain]
    bound: Bound | None
    ledger: str | Path | None
    defaults: Mapping[str, Fraction | str]
    name: str | None
    default_domain: str | None
    place: str | None
    time: str | None

    def __init__(
        self,
        table: Table,
        *,
        domains: Domain | Mapping[str, Domain] | None = None,
        bound: Bound | None = None,
        ledger: str | Path | None = None,
        defaults: Mapping[str, Any] | None = None,
        name: str | None = None,
        default_domain: str | None = None,
        place: str | None = None,
        time: str | None = None,
    ) -> None:
        if not isinstance(table, Table):
            raise ParameterError(f"A source needs a Table, not a {type(table).__name__}.")
        if bound is not None and not isinstance(bound, Bound):
            raise ParameterError(f"A source needs a Bound or none, not a {type(bound).__name__}.")
        known = _domains(domains)
        for each in known.made():
            check_place(table, each.place)
        if default_domain is not None and default_domain not in known:
            raise ParameterError(f"There is no domain {default_domain!r}{instead_of(default_domain, known)}.")
        for role in (place, time):
            if role is not None:
                column_name(role)
        address: object = ledger
        if address is not None and not (isinstance(address, str | Path) and str(address)):
            raise ParameterError("A ledger's address is the path of a file or a postgresql:// address.")
        object.__setattr__(self, "table", table)
        object.__setattr__(self, "domains", known)
        object.__setattr__(self, "bound", bound)
        object.__setattr__(self, "ledger", ledger)
        object.__setattr__(self, "defaults", MappingProxyType(checked_defaults(defaults or {})))
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "default_domain", default_domain)
        object.__setattr__(self, "place", place)
        object.__setattr__(self, "time", time)

    @classmethod
    def read(cls, path: str | Path = "louver.toml", name: str | None = None) -> Source:
        """A source described in a file; its name may be left out where there is one only."""
        from louver.source.toml import read

        return read(Path(path), name)

    def domain(self, name: str | None = None) -> Domain:
        """The domain of this name, or the one that is asked about where none is named."""
        chosen = name or self.default_domain or (next(iter(self.domains)) if len(self.domains) == 1 else None)
        if chosen is None and not self.domains:
            raise ParameterError(
                "The question needs a domain, because keys are never read from the data: list them in a file."
            )
        if chosen is None:
            raise ParameterError(
                f"Say which domain is asked about, {' or '.join(self.domains)}: name it with JOIN in the question, or "
                "give it with domain=."
            )
        if chosen not in self.domains:
            raise ParameterError(f"There is no domain {chosen!r}{instead_of(chosen, self.domains)}.")
        return self.domains[chosen]


def checked_defaults(given: Mapping[str, object]) -> dict[str, Fraction | str]:
    """Usual promises, exact, or one sentence about what is wrong with them."""
    checked: dict[str, Fraction | str] = {}
    for name, value in given.items():
        if name in (MISS_RATE, FALSE_ALARM_RATE):
            checked[name] = min(parameters.error_rate(name, value), parameters.error_rate(name, _written(value)))
        elif name == SLACK:
            checked[name] = parameters.within(name, _written(value), 0, parameters.LARGEST_PRIVATE)
        elif name == BUDGET:
            checked[name] = parameters.positive(name, _written(value))
        elif name != OBJECTIVE:
            raise ParameterError(f"There is no default {name!r}{instead_of(name, DEFAULTS)}.")
        elif not isinstance(value, str) or value not in OBJECTIVES:
            raise ParameterError(f"The objective must be one of {', '.join(OBJECTIVES)}.")
        else:
            checked[name] = value
    return checked


def _written(value: object) -> object:
    """A float means the decimal that it is written as."""
    return Fraction(repr(value)) if isinstance(value, float) and math.isfinite(value) else value


def _domains(given: object) -> Domains:
    if given is None:
        return Domains({})
    if isinstance(given, Domain):
        return Domains({given.name or UNNAMED: given})
    if isinstance(given, Domains):
        return given
    if not isinstance(given, Mapping) or any(not isinstance(each, Domain) for each in given.values()):
        raise ParameterError("The domains of a source are Domains by their names.")
    return Domains(given)
