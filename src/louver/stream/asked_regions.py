"""From the columns that a stream is asked by to its public regions, the levels above them, and their limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from louver.errors import ParameterError
from louver.parameters import Number
from louver.source.description import Source
from louver.source.domain import Domain
from louver.source.public_list import check_place


@dataclass(frozen=True)
class AskedRegions:
    """`domain` has the regions that are read, none where all rows are one; `totals` the columns of their levels."""

    domain: Domain | None
    totals: tuple[str, ...] | None = None
    declared: Domain | None = None

    def limits(self, given: Number | str | None) -> Any:
        """One number for all regions, or that of a column of the declared domain for each."""
        if not isinstance(given, str):
            return given
        if self.domain is None or self.declared is None:
            raise ParameterError("Limits by a column need regions; name their columns with by, or give one number.")
        return _by_region(self.declared, self.domain.keys, given, self.declared.numbers(given))


def asked_regions(
    source: Source,
    by: str | Sequence[str],
    given: Domain | str | None,
    names: Mapping[str, str],
    totals: bool,
) -> AskedRegions:
    """The different keys over the columns that are asked for.

    With totals, columns of the domain that are no keys may be levels too; only keys are looked for in the rows.
    """
    listed = [by] if isinstance(by, str) else list(by)
    if not listed:
        if given is not None or totals:
            raise ParameterError(
                "A stream of all rows together has no regions; name the columns of the domain with by."
            )
        return AskedRegions(None)
    if isinstance(given, Domain):
        check_place(source.table, given.place)
    declared = (given if isinstance(given, Domain) else source.domain(given)).renamed(names)
    columns = [names.get(name, name) for name in listed]
    levels = {name for name in columns if totals and name in declared.columns and name not in declared.keys}
    if levels == {*columns}:
        raise ParameterError(f"Totals are over keys of the domain; name them with by too: {', '.join(declared.keys)}.")
    keys = declared.listed([name for name in columns if name not in levels])[0]
    made: dict[str, list[Any]] = {name: [key[at] for key in keys.values] for at, name in enumerate(keys.columns)}
    for name in levels:
        made[name] = _by_region(declared, keys.columns, name, declared.column(name))
    return AskedRegions(Domain(made, keys=keys.columns), tuple(columns) if totals else None, declared)


def _by_region(declared: Domain, keys: Sequence[str], name: str, column: Sequence[Any]) -> list[Any]:
    """A column's value for each region, which must be the same for all keys of the domain that are in it."""
    found: dict[int, Any] = {}
    for region, value in zip(declared.listed(keys)[1].tolist(), column, strict=True):
        if found.setdefault(region, value) != value:
            raise ParameterError(
                f"Column {name!r} has several values for one region by {' and '.join(keys)}; name more columns with by."
            )
    return [found[region] for region in range(len(found))]
