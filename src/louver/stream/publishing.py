"""One line from a source to a published stream: plan, pay, read, release."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

from louver.errors import ParameterError
from louver.ledger import Ledger
from louver.privacy import Pure, Scope, ZeroConcentrated
from louver.source.description import Source
from louver.source.table import Table
from louver.steward import Steward
from louver.stream.answer import Stream
from louver.stream.heads import heads
from louver.stream.plan import StreamPlan
from louver.stream.planning import stream


def publish(
    source: Source | Table,
    plan: StreamPlan | None = None,
    *,
    ledger: Ledger | str | Path | None = None,
    who: str = "local",
    token: str | None = None,
    audience: str | None = None,
    key: str | None = None,
    **asked: Any,
) -> Stream:
    """A stream over all rows that are there, paid for by a ledger: the one given, else the source's.

    `asked` are the parameters of `stream`, where no plan is given. The same `key` again gives the same stream for
    nothing.
    """
    if plan is None:
        plan = stream(source, **asked)
    elif asked or not isinstance(plan, StreamPlan):
        raise ParameterError("Give the plan of a stream, or what it is made of, not both.")
    table = source.table if isinstance(source, Source) else source
    named = heads(plan, table)
    with opened(ledger if ledger is not None else getattr(source, "ledger", None)) as account:
        steward = Steward(table, account)
        if token is None:
            release = steward.run(plan, who=who, audience=audience, key=key)
        else:
            release = steward.sign_in(token).run(plan, audience=audience, key=key)
        address = account.address
        return Stream(
            plan,
            release,
            named,
            account.remaining(plan.scope, audience, family(plan)),
            address if "://" in address else Path(address).name,
            spent_so_far(account, plan.scope),
        )


def family(plan: StreamPlan) -> str:
    """Under which kind the ledger adds up what the plan costs."""
    return ZeroConcentrated.kind if isinstance(plan.price, ZeroConcentrated) else Pure.kind


def spent_so_far(ledger: Ledger, where: Scope) -> Fraction | None:
    """What was spent where most was; None where not all prices are pure, and so do not add up."""
    pure = set(ledger.kinds()) <= {Pure.kind} and not ledger.spent_delta(where)
    return ledger.spent(where) if pure else None


@contextmanager
def opened(ledger: Ledger | str | Path | None) -> Iterator[Ledger]:
    if ledger is None:
        raise ParameterError("A stream is paid for by a ledger; name one, and make it with: louver ledger init.")
    if isinstance(ledger, Ledger):
        yield ledger
        return
    with Ledger.open(ledger) as account:
        yield account
