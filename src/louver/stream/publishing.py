"""One line from a source to a published stream: plan, pay, read, release."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from louver.errors import ParameterError
from louver.ledger import Ledger
from louver.privacy import Pure, ZeroConcentrated
from louver.publishing.paying import paid
from louver.source.description import Source
from louver.source.table import Table
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
    receipt = paid(source, plan, "A stream", ledger=ledger, who=who, token=token, audience=audience, key=key)
    return Stream(plan, receipt.release, named, receipt.remaining, receipt.ledger, receipt.spent)


def family(plan: StreamPlan) -> str:
    """Under which kind the ledger adds up what the plan costs."""
    return ZeroConcentrated.kind if isinstance(plan.price, ZeroConcentrated) else Pure.kind
