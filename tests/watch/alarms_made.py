"""Alarms, a clock and a sink for tests."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

from louver.watch.alarms import Alarm, Channel, LaterError, Notice
from louver.watch.journal import Journal
from louver.watch.outbox import Outbox

SLOT = 300_000_000
MINUTE = 60_000_000
NOON = 1_520_251_200_000_000  # 12:00 on 5 March 2018, UTC
PROMISE = "A region whose count is above its capacity for 2 slots in a row is missed in at most 1 of 20 cases."


def alarm(state: str = "firing", key: str = "Aula", **given: Any) -> Alarm:
    facts: dict[str, Any] = {
        "rule": "fire-limit",
        "since": NOON,
        "slot": NOON + SLOT,
        "to": ("desk",),
        "counted": "devices",
        "promise": PROMISE,
        "level": "region",
        "limit": 180,
        "question": "count(*) > capacity",
        "slots": 2,
        "price": Fraction(41477, 100_000),
        "unit": "person and slot",
        "zone": "Europe/Vienna",
    }
    return Alarm(**{**facts, **given, "state": state, "key": key})


def raise_(journal: Journal, made: Alarm, *, slot: int | None = None) -> Alarm:
    """In the next slot of its rule, with its state."""
    last = journal.decided(made.rule)
    chosen = slot if slot is not None else NOON if last is None else last + SLOT
    with journal.slot(made.rule, chosen) as change:
        change.set(made.key, made.state, made.since, 1, 0)
        change.alarm(made)
    return made


class Clock:
    """Time that passes when it is told to."""

    def __init__(self, now: int = NOON) -> None:
        self.now = now

    def __call__(self) -> int:
        return self.now

    def wait(self, seconds: float) -> None:
        self.now += int(seconds * 1_000_000)


class Recorder:
    """Keeps what it is given; `fault`, where there is one, is asked first what to raise."""

    def __init__(self, fault: Callable[[Notice], Exception | None] = lambda _: None) -> None:
        self.got: list[str] = []
        self.tries = 0
        self.fault = fault

    @property
    def states(self) -> list[str]:
        return [each.split(" ", 1)[1] for each in self.got]

    async def deliver(self, notice: Notice) -> str | None:
        self.tries += 1
        fault = self.fault(notice)
        if fault is not None:
            raise fault
        self.got.append(f"{notice.id} {notice.alarm.key} {notice.alarm.state}")
        return None

    async def close(self) -> None:
        pass


class Desk:
    """A journal with one channel, a recorder called desk, and what the outbox said."""

    def __init__(self, folder: Path) -> None:
        self.clock, self.sink, self.said = Clock(), Recorder(), list[str]()
        self.journal = Journal.open(folder / "journal", now=self.clock)
        self.use(Channel("desk", self.sink))

    def use(self, *channels: Channel, **options: Any) -> None:
        self.outbox = Outbox(
            self.journal,
            {channel.name: channel for channel in channels},
            say=self.said.append,
            now=self.clock,
            uniform=max,
            **options,
        )

    def flush(self) -> None:
        asyncio.run(self.outbox.flush())

    def outcomes(self) -> list[str | None]:
        return [sent.outcome for each in self.journal.alarms(open_only=False) for sent in each.sent]


def unreachable(_: Notice) -> Exception:
    return LaterError("The desk cannot be reached.")
