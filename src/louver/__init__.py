"""Louver: which places crossed the line, on data about people, at the least privacy loss.

`louver.decide` makes plans, `louver.steward` runs them on the rows of a `louver.source`, and `louver.ledger` keeps the
budget. Below them `louver.noise` draws randomness, and `louver.privacy` says what is promised and what it costs. Each
is imported when first used, so that `import louver` alone loads nothing heavy.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from louver.errors import (
    AccessError,
    BudgetError,
    DataError,
    LedgerError,
    LouverError,
    ParameterError,
    PromiseError,
)

__version__ = "0.1.0"
_ROOMS = ("decide", "ledger", "noise", "privacy", "source", "steward")
__all__ = [
    "AccessError",
    "BudgetError",
    "DataError",
    "LedgerError",
    "LouverError",
    "ParameterError",
    "PromiseError",
    "__version__",
    "decide",
    "ledger",
    "noise",
    "privacy",
    "source",
    "steward",
]


def __getattr__(name: str) -> ModuleType:
    if name in _ROOMS:
        return import_module(f"louver.{name}")
    raise AttributeError(f"module 'louver' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
