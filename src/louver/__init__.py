"""Louver: which places crossed the line, on data about people, at the least privacy loss.

`louver.noise` draws randomness; `louver.privacy` says what is promised and what it costs. Both are imported when first
used, so that `import louver` alone loads nothing heavy.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from louver.errors import LouverError, ParameterError, PromiseError

__version__ = "0.1.0"
__all__ = ["LouverError", "ParameterError", "PromiseError", "__version__", "noise", "privacy"]


def __getattr__(name: str) -> ModuleType:
    if name in ("noise", "privacy"):
        return import_module(f"louver.{name}")
    raise AttributeError(f"module 'louver' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
