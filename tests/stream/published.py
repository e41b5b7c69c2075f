"""A house of two rooms with invented rows by five minutes, its true counts, and a ledger; for tests of stream plans."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from louver.ledger import Cap, Ledger
from louver.noise import Bits
from louver.privacy import Unit
from louver.source import Bound, Domain, Source, Table
from louver.steward import Steward
from louver.stream.plan import StreamPlan
from louver.stream.planning import stream
from tests.stream.smoothing import seeded

NINE = datetime(2018, 2, 1, 9, tzinfo=UTC)
FIVE = timedelta(minutes=5)
TICKS = 12
ROOMS = ("hall", "lab")
SLOTTED = Unit("person", "slot(time, 5)")
HOUR: dict[str, Any] = {"every": "5m", "begin": "2018-02-01T09:00", "end": "2018-02-01T10:00", "by": "room"}

# Ticks by rooms; everybody has one row in a tick.
TRUTH = np.array([[30 + tick, tick % 3] for tick in range(TICKS)])


def rows(only: int | None = None) -> str:
    """CSV with the rows of the whole hour, or of one tick; some at the edges of a tick, and some outside the hour."""
    lines = ["person,room,time,watts", "p0,hall,2018-02-01T08:59:59,5", "p0,hall,2018-02-01T10:00:00,5"]
    for tick in range(TICKS) if only is None else [only]:
        for room, count in zip(ROOMS, TRUTH[tick], strict=True):
            for person in range(count):
                time = NINE + tick * FIVE + (person % 300) * timedelta(seconds=1)
                lines.append(f"{room}{person},{room},{time:%Y-%m-%dT%H:%M:%S},{person % 7}")
    return "\n".join(lines) + "\n"


def source(folder: Path, unit: Unit = SLOTTED, bound: Bound | None = None, text: str | None = None) -> Source:
    path = folder / "presence.csv"
    path.write_text(rows() if text is None else text)
    table = Table(path, dataset="house", unit=unit, values={"watts": (0, 8, 1)})
    return Source(table, domains=Domain({"room": list(ROOMS)}, keys=["room"]), bound=bound)


def planned(unit: Unit = SLOTTED, bound: Bound | None = None, **asked: Any) -> StreamPlan:
    """The plan for the hour, without any file."""
    table = Table("presence.csv", dataset="house", unit=unit, values={"watts": (0, 8, 1)})
    described = Source(table, domains=Domain({"room": list(ROOMS)}, keys=["room"]), bound=bound)
    price = {} if {"epsilon", "rho", "within"} & set(asked) else {"epsilon": 1}
    return stream(described, **{**HOUR, **price, **asked})


@dataclass(frozen=True)
class House:
    source: Source
    ledger: Ledger
    steward: Steward


@contextmanager
def house(
    folder: Path, unit: Unit = SLOTTED, *, cap: float | Fraction = 2, seed: int | None = None, **named: Any
) -> Iterator[House]:
    made = source(folder, unit, **named)
    caps = [Cap(epsilon=cap, rho=cap)]
    ledger, _ = Ledger.create(folder / "house.ledger", dataset="house", unit=unit, caps=caps, key=folder / "key")
    with ledger:
        bits: Bits | None = None if seed is None else seeded(seed)
        steward = Steward(made.table, ledger) if bits is None else Steward._with_bits(made.table, ledger, bits)
        yield House(made, ledger, steward)


def values_of(answer: dict[str, Any]) -> NDArray[Any]:
    """What was released, ticks by rooms."""
    return np.array(answer["values"]).T


def assert_goes_on(plan: StreamPlan, counts: NDArray[np.int64]) -> None:
    """One process for all ticks, and one for each that goes on from a saved state, release the same with the same bits.

    A session restores its state at every tick, so it does not tell them apart.
    """
    steady, bits = plan.restored(None, seeded(4)), seeded(4)
    state: Any = None
    for row in counts:
        again = plan.restored(state, bits)
        assert again.advance(row[None]).to_dict() == steady.advance(row[None]).to_dict()
        state = json.loads(json.dumps(again.to_dict()))
