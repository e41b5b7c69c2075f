"""A planned stream at work: its mechanism, the sliding window beside it, and the test of limits.

All that it gives back is released or follows from that. Its state can be saved after any tick, and another process goes
on from there as this one would have.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.errors import ParameterError
from louver.noise import Bits
from louver.stream import kernels
from louver.stream.hierarchy import children_of
from louver.stream.kernels import Ran
from louver.stream.mechanism import Mechanism, Rows
from louver.stream.recent import Anchored, Differences, Recent
from louver.stream.released import Released
from louver.stream.segment import Segment
from louver.stream.smoothed import Trace

if TYPE_CHECKING:
    from louver.stream.plan import StreamPlan

CELLS_A_BLOCK = 2**14
told: ContextVar[Callable[[int, int], None] | None] = ContextVar("told", default=None)
"""Who hears how many ticks of all have their noise, where a stream is released as a whole."""


class Running:
    """Before its first tick; `restored` makes one that goes on."""

    def __init__(self, plan: StreamPlan, bits: Bits) -> None:
        self._plan, self._bits = plan, bits
        self._mechanism = plan.made(bits)
        self._recent = None if plan.last is None else _window(plan, self._mechanism, plan.last)
        self._missed: int | None = None  # the newest tick of which nothing was known

    @classmethod
    def restored(cls, plan: StreamPlan, state: object, bits: Bits) -> Self:
        """From what `to_dict` gave, which must be of this plan; None is before the first tick."""
        made = cls(plan, bits)
        if state is not None:
            made._take(state)
        return made

    @property
    def ticks(self) -> int:
        """How many ticks it is after."""
        return self._mechanism.ticks

    def advance(self, rows: Rows, *, missing: bool = False) -> Released:
        """The next ticks, ticks by regions; of a `missing` one nothing is known, and it is one without rows."""
        plan, first = self._plan, self.ticks
        if missing:
            self._missed = first
        ran = kernels.run(self._mechanism, plan.kernel, rows)
        recent = None if self._recent is None else self._known(_sums(self._recent, ran), first)
        test, flags = plan.test, None
        if test is not None and ran.noisy is not None:
            flags = test.flags(ran.noisy, np.array(plan.limits, dtype=np.int64), self._bits)
        released = Released.of(plan.scale, plan.weight, ran.values, ran.deviations, recent, flags)
        parents = plan.places.parents
        return released if parents is None else released.added_up(children_of(parents))

    def run(self, rows: Rows) -> Released:
        """All ticks; where somebody listens, in blocks, and they hear how many are done."""
        tell = told.get()
        if tell is None:
            return self.advance(rows)
        size = max(CELLS_A_BLOCK // rows.shape[1], 1)
        blocks = []
        for start in range(0, len(rows), size):
            blocks.append(self.advance(rows[start : start + size]))
            tell(min(start + size, len(rows)), len(rows))
        return Released.joined(blocks)

    def _known(self, sums: NDArray[Any], first: int) -> NDArray[Any]:
        """Without the sums of windows that a missing tick is in: of those nothing is promised."""
        missed, last = self._missed, self._plan.last
        if missed is None or last is None or missed + last <= first:
            return sums
        known = sums.astype(np.float64)
        known[: missed + last - first] = np.nan
        return known

    def to_dict(self) -> dict[str, Any]:
        """The state as plain values. It holds private numbers."""
        beside = {} if self._recent is None else {"recent": self._recent.to_dict()}
        missed = {} if self._recent is None or self._missed is None else {"missed": self._missed}
        return {"mechanism": self._mechanism.to_dict(), **beside, **missed}

    def _take(self, state: object) -> None:
        expected = {"mechanism"} if self._recent is None else {"mechanism", "recent"}
        may_have = {"missed"} if self._recent is not None else set()
        if not isinstance(state, Mapping) or not expected <= set(state) <= expected | may_have:
            raise ParameterError("This is not the state of this stream; each goes on from its own.")
        fresh = self._mechanism
        again = type(fresh).from_dict(state["mechanism"], bits=self._bits)
        if again._parameters() != fresh._parameters():
            raise ParameterError("This state belongs to another stream; each goes on from its own.")
        self._mechanism = again
        if self._recent is not None:
            try:
                self._recent.take(state["recent"])
            except (KeyError, TypeError, ValueError, AttributeError, IndexError):
                raise ParameterError("The sliding window in this stream's state is damaged.") from None
            if "missed" in state:
                self._missed = parameters.integer("The newest missing tick", state["missed"], 0, self.ticks - 1)


def _window(plan: StreamPlan, mechanism: Mechanism, length: int) -> Recent | Differences:
    if isinstance(mechanism, Segment):
        return Anchored(mechanism, length)
    return (Differences if kernels.kernel(plan.kernel).is_sum else Recent)(len(plan.regions), length)


def _sums(recent: Recent | Differences, ran: Ran) -> Any:
    if isinstance(recent, Differences):
        return recent.sums(ran.values)
    levels: Any = ran.levels
    noisy: Any = levels if ran.noisy is None else ran.noisy
    return recent.sums(Trace(levels, noisy, levels, ran.lengths))  # type: ignore[arg-type]
