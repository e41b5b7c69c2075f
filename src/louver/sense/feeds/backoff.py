"""How long to wait before the next try."""

from __future__ import annotations

from collections.abc import Callable
from secrets import SystemRandom
from typing import Final

_RANDOM: Final = SystemRandom()


class Backoff:
    """A random part of a span that doubles with each failure, so that many clients do not come back at one instant."""

    def __init__(
        self,
        first: float = 0.5,
        longest: float = 60.0,
        uniform: Callable[[float, float], float] = _RANDOM.uniform,
    ) -> None:
        self._first, self._longest, self._uniform = first, longest, uniform
        self._failures = 0

    def next(self) -> float:
        """Seconds to wait: at least a quarter of the span, so that a broker is never hammered."""
        span = min(self._first * 2.0**self._failures, self._longest)
        self._failures = min(self._failures + 1, 64)
        return self._uniform(span / 4, span)

    def reset(self) -> None:
        self._failures = 0
