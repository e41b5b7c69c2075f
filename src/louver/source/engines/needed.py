"""Libraries that only some places need."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from louver.errors import DataError


def needed(module: str, what: str, package: str) -> Any:
    """The module, or a sentence on how to install it."""
    try:
        return import_module(module)
    except ImportError:
        raise DataError(f"{what} needs {module.partition('.')[0]}; install it with: pip install '{package}'.") from None
