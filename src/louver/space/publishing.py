"""One line from a source to a published map: plan, pay, read, release."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from louver.errors import ParameterError
from louver.ledger import Ledger
from louver.publishing.paying import paid
from louver.source.description import Source
from louver.source.table import Table
from louver.space.plan import MapPlan
from louver.space.planning import map_plan
from louver.space.released import Map
from louver.steward import Release


@dataclass(frozen=True, slots=True)
class PublishedMap:
    """A released `map`, with its plan, what it cost, and what every point that paid has left."""

    map: Map
    plan: MapPlan
    release: Release
    remaining: Fraction
    ledger: str


def publish_map(
    source: Source | Table,
    plan: MapPlan | None = None,
    *,
    ledger: Ledger | str | Path | None = None,
    who: str = "local",
    token: str | None = None,
    audience: str | None = None,
    key: str | None = None,
    **asked: Any,
) -> PublishedMap:
    """A map of the rows that are there, paid for by a ledger: the one given, else the source's.

    `asked` are the parameters of `map_plan`, where no plan is given. The same `key` again gives the same map for
    nothing.
    """
    if plan is None:
        plan = map_plan(source, **asked)
    elif asked or not isinstance(plan, MapPlan):
        raise ParameterError("Give the plan of a map, or what it is made of, not both.")
    receipt = paid(source, plan, "A map", ledger=ledger, who=who, token=token, audience=audience, key=key)
    made = Map.from_dict(receipt.release.answer)
    return PublishedMap(made, plan, receipt.release, receipt.remaining, receipt.ledger)
