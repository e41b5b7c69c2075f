"""From a plan to its release: the ledger that pays for it, in whose name, and what that leaves."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from louver.errors import ParameterError
from louver.ledger import Ledger
from louver.privacy import Plan, Pure, Scope
from louver.source.description import Source
from louver.source.table import Table
from louver.steward import Release, Steward


@dataclass(frozen=True, slots=True)
class Receipt:
    """A release, what every point that it touches has left, what was spent there, and the short name of its ledger."""

    release: Release
    remaining: Fraction
    spent: Fraction | None
    ledger: str


def paid(
    source: Source | Table,
    plan: Plan,
    what: str,
    *,
    ledger: Ledger | str | Path | None,
    who: str,
    token: str | None,
    audience: str | None,
    key: str | None,
) -> Receipt:
    """The release of a plan, paid for by the ledger that is given, else by the source's.

    With a `token` somebody pays in their own name. `what` is published, such as "A map", begins the refusal where there
    is no ledger.
    """
    table = source.table if isinstance(source, Source) else source
    with opened(ledger if ledger is not None else getattr(source, "ledger", None), what) as account:
        steward = Steward(table, account)
        if token is None:
            release = steward.run(plan, who=who, audience=audience, key=key)
        else:
            release = steward.sign_in(token).run(plan, audience=audience, key=key)
        charges = plan.worst
        where = Scope.covering([charge.scope for charge in charges])
        left = account.remaining(where, audience, charges[0].adds_up_with)
        return Receipt(release, left, spent_together(account, where), short_name(account))


def opened(ledger: Ledger | str | Path | None, what: str) -> AbstractContextManager[Ledger]:
    """The ledger, opened where it is given by its address; whoever opened it before also closes it."""
    if ledger is None:
        raise ParameterError(f"{what} is paid for by a ledger; name one, and make it with: louver ledger init.")
    return nullcontext(ledger) if isinstance(ledger, Ledger) else Ledger.open(ledger)


def spent_together(ledger: Ledger, where: Scope) -> Fraction | None:
    """What all releases cost together where most was spent; None where not all prices are pure, so have no sum."""
    pure = set(ledger.kinds()) <= {Pure.kind} and not ledger.spent_delta(where)
    return ledger.spent(where) if pure else None


def short_name(ledger: Ledger) -> str:
    """A file's name without its folders, or the address of a server."""
    return ledger.address if "://" in ledger.address else Path(ledger.address).name
