"""Plans about counted rows, made short: one column of keys with a threshold each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from louver.decide import Shift
from louver.decide.decision import Decision
from louver.privacy import Unit
from louver.question import col, count, question
from louver.source.domain import Domain
from louver.source.measures import Bound

Made = TypeVar("Made", bound=Decision)


def counting(strategy: type[Made], by: str, thresholds: Mapping[str, int], **named: Any) -> Made:
    """The plan of asking which keys have more rows than their threshold."""
    domain = Domain({by: list(thresholds), "threshold": list(thresholds.values())}, keys=[by])
    return strategy(question(count().by(by) > col("threshold")), domain, **named)


def one_look(thresholds: Mapping[str, int], unit: Unit | None = None, bound: Bound | None = None) -> Shift:
    return counting(Shift, "room", thresholds, unit=unit or Unit.row(), miss_rate=0.05, slack=10, bound=bound)
