"""A call that fails within a tick. Whatever of the tick is in the stream by then, it cannot come in again."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from louver.errors import ParameterError
from louver.noise import Bits
from louver.stream.gaussian import Gaussian
from louver.stream.hierarchy import Hierarchy
from louver.stream.histogram import Histogram
from louver.stream.laplace import Laplace
from louver.stream.means import PresentMean, RunningMean, WindowMean
from louver.stream.mechanism import Mechanism
from louver.stream.pegasus import Pegasus
from louver.stream.segment import Segment
from louver.stream.truncated import TruncatedSum
from tests.stream.counting import KINDS, Make


def mean_of(kind: Callable[..., Mechanism], **named: Any) -> Callable[[Bits], Mechanism]:
    return lambda bits: kind(1, high=100, horizon=20, lag=3, bits=bits, **named)


def sum_of(make: Make) -> Callable[[Bits], Mechanism]:
    return lambda bits: make(40, price=1, bits=bits)


STREAMS: dict[str, Callable[[Bits], Mechanism]] = {
    **{name: sum_of(make) for name, make in KINDS.items()},
    "laplace": lambda bits: Laplace(1, bits=bits),
    "gaussian": lambda bits: Gaussian(1, bits=bits),
    "segment": lambda bits: Segment(1, bits=bits),
    "pegasus": lambda bits: Pegasus(1, bits=bits),
    "hierarchy": lambda bits: Hierarchy(1, [None, 0], bits=bits),
    "histogram": lambda bits: Histogram(1, [50], 20, bits=bits),
    "truncated": mean_of(TruncatedSum),
    "running mean": mean_of(RunningMean),
    "window mean": mean_of(WindowMean, window=2),
    "present mean": mean_of(PresentMean),
}
TICK = {"hierarchy": [60]}


class Dice:
    """Random bytes until there are none any more."""

    def __init__(self) -> None:
        self.bits = Bits._from(self._bytes)
        self.are_there = True
        self._random = random.Random(4)

    def _bytes(self, count: int) -> bytes:
        if not self.are_there:
            raise MemoryError
        return self._random.randbytes(count)


@pytest.mark.parametrize("batched", [False, True])
@pytest.mark.parametrize("name", STREAMS)
def test_a_tick_that_was_interrupted_can_come_in_only_from_a_state_before_it(name: str, batched: bool) -> None:
    """At tick 3, when the lags that there are come to an end, or at 4 where a signed tree needs nothing new at 3."""
    dice = Dice()
    stream, tick = STREAMS[name](dice.bits), TICK.get(name, 60)
    begun = 3 if name == "signed 3" else 2

    def again(one: Mechanism) -> None:
        one.run([tick]) if batched else one.update(tick)

    stream.run([tick] * begun)
    stored = json.dumps(stream.to_dict())
    dice.are_there = False
    with pytest.raises(MemoryError):
        again(stream)
    dice.are_there = True
    for attempt in (lambda: again(stream), stream.to_dict):
        with pytest.raises(ParameterError, match=r"interrupted.*\.$"):
            attempt()
    restored = type(stream).from_dict(json.loads(stored), bits=dice.bits)
    again(restored)
    assert restored.ticks == begun + 1


def test_a_batch_that_ends_in_the_second_of_two_streams_is_not_taken_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """The count of what is there has drawn its noise and gone on; the sum has not."""

    def stop() -> None:
        raise KeyboardInterrupt

    stream = PresentMean(1, high=100, horizon=20, lag=3, bits=Dice().bits)
    monkeypatch.setattr(stream, "_settle", stop)
    with pytest.raises(KeyboardInterrupt):
        stream.run(np.full(10, 60))
    assert stream._counts.ticks == 10
    monkeypatch.undo()
    with pytest.raises(ParameterError, match="interrupted"):
        stream.run(np.full(10, 60))


@pytest.mark.parametrize("name", STREAMS)
def test_what_is_refused_before_a_tick_begins_interrupts_nothing(name: str) -> None:
    stream = STREAMS[name](Dice().bits)
    with pytest.raises(ParameterError, match="must be"):
        stream.update([[1], [2]])
    stream.update(TICK.get(name, 60))
    assert stream.ticks == 1
