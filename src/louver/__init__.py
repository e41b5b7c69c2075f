"""Louver: which places crossed the line, on data about people, at the least privacy loss.

`louver.ask` answers a question, and `louver.plan` says beforehand what it would promise and cost. `louver.question`
says what can be asked, `louver.decide` makes plans, `louver.steward` runs them on the rows of a `louver.source`, and
`louver.ledger` keeps the budget. `louver.table` publishes counts with exact totals, and `louver.local` is for
surveys. `louver.sense` makes rows of what sensors say, and `louver.watch` asks about them slot by slot. Below them
`louver.noise` draws randomness, and `louver.privacy` says what is promised and what it costs. Each is imported when
first used, so that `import louver` alone loads nothing heavy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from louver.errors import (
    AccessError,
    BudgetError,
    DataError,
    LedgerError,
    LouverError,
    ParameterError,
    PromiseError,
)

if TYPE_CHECKING:
    from louver.decide.asking import ask
    from louver.decide.planning import plan

__version__ = "0.1.0"
_ROOMS = (
    "attack",
    "decide",
    "ledger",
    "local",
    "noise",
    "privacy",
    "question",
    "sense",
    "source",
    "space",
    "steward",
    "stream",
    "table",
    "watch",
)
_CALLS = {"ask": "louver.decide.asking", "plan": "louver.decide.planning"}
__all__ = [
    "AccessError",
    "BudgetError",
    "DataError",
    "LedgerError",
    "LouverError",
    "ParameterError",
    "PromiseError",
    "__version__",
    "ask",
    "attack",
    "decide",
    "ledger",
    "local",
    "noise",
    "plan",
    "privacy",
    "question",
    "sense",
    "source",
    "space",
    "steward",
    "stream",
    "table",
    "watch",
]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"louver.{name}")
    if name in _CALLS:
        return getattr(import_module(_CALLS[name]), name)
    raise AttributeError(f"module 'louver' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
