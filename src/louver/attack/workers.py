"""The same function on many tasks, in this process or in several. Each worker uses one core."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Any, TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")
Shown = Callable[[int, int], None]
_ONE_CORE = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
_shared: Any = None


def on_all(
    function: Callable[[Any, Task], Result],
    shared: Any,
    tasks: Sequence[Task],
    jobs: int,
    progress: Shown | None = None,
) -> list[Result]:
    """`function(shared, task)` of each task, in their order; what is shared goes to each worker once."""
    done: list[Result] = []
    for result in _results(function, shared, tasks, min(jobs, len(tasks))):
        done.append(result)
        if progress is not None:
            progress(len(done), len(tasks))
    return done


def _results(
    function: Callable[[Any, Task], Result], shared: Any, tasks: Sequence[Task], jobs: int
) -> Iterator[Result]:
    if jobs <= 1:
        yield from (function(shared, task) for task in tasks)
        return
    # Spawned and not forked: a fork of a process with threads can stand still.
    with _one_core_each(), ProcessPoolExecutor(jobs, get_context("spawn"), _take, (shared,)) as pool:
        yield from pool.map(_called, [(function, task) for task in tasks])


def _take(shared: Any) -> None:
    global _shared
    _shared = shared


def _called(work: tuple[Callable[[Any, Task], Result], Task]) -> Result:
    function, task = work
    return function(_shared, task)


@contextmanager
def _one_core_each() -> Iterator[None]:
    """Workers read these when they load NumPy."""
    before = {name: os.environ.get(name) for name in _ONE_CORE}
    os.environ.update(dict.fromkeys(_ONE_CORE, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
