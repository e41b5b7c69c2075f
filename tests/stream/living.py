"""Live streams of the house of `published`, tick by tick, for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from louver.ledger import Cap, Ledger
from louver.source import Table
from louver.stream.plan import StreamPlan
from louver.stream.session import Session
from louver.stream.tick import Tick
from tests.stream.published import FIVE, NINE, ROOMS, SLOTTED, TICKS, TRUTH

KEY = "rooms"
LIVE: dict[str, dict[str, Any]] = {
    "segment": {"epsilon": 1},
    "laplace": {"epsilon": 1},
    "pegasus": {"epsilon": 1},
    "kary": {"epsilon": 1},
    "tree": {"epsilon": 1},
    "toeplitz": {"rho": 1},
    "buffered": {"rho": 1},
    "truncated": {"epsilon": 1, "tick_bound": 64, "options": {"lag": 3}},
}


def table(tick: int) -> Table:
    """The rows of one tick, as a frame."""
    who = [(room, person) for room, count in zip(ROOMS, TRUTH[tick], strict=True) for person in range(count)]
    columns = {
        "person": np.array([f"{room}{person}" for room, person in who], dtype=object),
        "room": np.array([room for room, _ in who], dtype=object),
        "time": np.full(len(who), np.datetime64((NINE + tick * FIVE).replace(tzinfo=None), "us")),
    }
    return Table(columns, dataset="house", unit=SLOTTED)


def made_ledger(folder: Path) -> Ledger:
    ledger, _ = Ledger.create(
        folder / "house.ledger", dataset="house", unit=SLOTTED, caps=[Cap(epsilon=1, rho=1)], key=folder / "key"
    )
    return ledger


def lived(
    plan: StreamPlan, ledger: Ledger, folder: Path, until: int = TICKS, *, restarting: bool = False
) -> list[Tick]:
    """What is published up to a tick, by one process or by one for each tick."""
    published: list[Tick] = []
    while True:
        with Session.open(plan, ledger, folder / "state", published.append, key=KEY) as session:
            while session.ticks < until:
                session.advance(table(session.ticks))
                if restarting:
                    break
            if session.ticks >= until:
                return published
