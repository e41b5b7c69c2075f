"""One line from a source to a published table: plan, pay, read, release."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from louver.errors import DataError, ParameterError
from louver.ledger import Ledger
from louver.parameters import Number
from louver.publishing.paying import paid
from louver.source.asked_bound import asked_bound
from louver.source.description import Source
from louver.source.domain import Domain
from louver.source.public_list import check_place
from louver.source.table import Table
from louver.table.plan import COUNTS, TablePlan
from louver.table.published import PublishedTable


def table(
    source: Source | Table,
    *,
    by: str | Sequence[str] = (),
    exact: str | Sequence[str] | None = None,
    of: str | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    delta: Number | None = None,
    totals: str | Sequence[str] = (),
    rows_per_unit: int | None = None,
    keys_per_unit: int | None = None,
    domain: Domain | str | None = None,
) -> TablePlan:
    """The plan of a table of counts by columns of a public domain, its keys unless others are named.

    Nothing is exact unless `exact` says so: "all", or columns of the domain; those that are keys there are keys of the
    table too, so that counties by state need not be told apart by their names alone.
    """
    described = source if isinstance(source, Source) else Source(source)
    names = dict(described.table.columns)
    listed = domain if isinstance(domain, Domain) else described.domain(domain)
    check_place(described.table, listed.place)
    declared = listed.renamed(names)
    asked, levels = _names(by, names), _names(totals, names)
    known = [] if exact in (None, "all") else _names(exact or (), names)
    return TablePlan(
        _keyed(declared, _keys(declared, asked, known), [*known, *levels]),
        unit=described.table.unit,
        exact=exact if exact in (None, "all") else known,
        of=of,
        epsilon=epsilon,
        rho=rho,
        delta=delta,
        bound=asked_bound(described, rows_per_unit, keys_per_unit),
        totals=levels,
    )


def publish_table(
    source: Source | Table,
    plan: TablePlan | None = None,
    *,
    ledger: Ledger | str | Path | None = None,
    who: str = "local",
    token: str | None = None,
    audience: str | None = None,
    key: str | None = None,
    **asked: Any,
) -> PublishedTable:
    """A table over all rows that are there, paid for by a ledger: the one given, else the source's.

    `asked` are the parameters of `table`, where no plan is given. The same `key` again gives the same table for
    nothing. Where something is exact, a cap of the ledger must allow it, by the plan's `invariants`.
    """
    if plan is None:
        plan = table(source, **asked)
    elif asked or not isinstance(plan, TablePlan):
        raise ParameterError("Give the plan of a table, or what it is made of, not both.")
    receipt = paid(source, plan, "A table", ledger=ledger, who=who, token=token, audience=audience, key=key)
    if receipt.release.answer[COUNTS] is None:
        raise DataError(
            f"Column {plan.of!r} must hold a whole number of 0 or more in every row that is counted, and in some "
            "row it does not; nothing was published, and the price stays spent."
        )
    return PublishedTable(plan, receipt.release, receipt.remaining, receipt.ledger)


def _keys(declared: Domain, by: Sequence[str], exact: Sequence[str]) -> list[str]:
    return [*(name for name in exact if name in declared.keys and name not in by), *by] if by else []


def _keyed(declared: Domain, by: Sequence[str], others: Sequence[str]) -> Domain:
    """The domain by the columns that are asked for: each of its keys once, with what is asked beside it."""
    if not by or set(by) == set(declared.keys):
        return declared
    wanted = dict.fromkeys([*by, *(name for name in others if name in declared.columns)])
    rows = dict.fromkeys(zip(*(declared.column(name) for name in wanted), strict=True))
    return Domain(dict(zip(wanted, zip(*rows, strict=True), strict=True)), keys=list(by))


def _names(given: str | Sequence[str], names: dict[str, str]) -> list[str]:
    listed = [given] if isinstance(given, str) else list(given)
    return [names.get(name, name) for name in listed]
