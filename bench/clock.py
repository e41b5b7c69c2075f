"""The clock that every bench uses."""

from __future__ import annotations

import time
from collections.abc import Callable


def seconds(work: Callable[[], object], repeats: int = 5, *, clock: Callable[[], float] = time.perf_counter) -> float:
    """The shortest of several runs, after one that does not count: other programs only ever add time."""
    work()
    best = float("inf")
    for _ in range(repeats):
        start = clock()
        work()
        best = min(best, clock() - start)
    return best
