"""Rounds of reserve, run and settle in a child process that is killed, and what must be true afterwards."""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import FrameType

from louver.ledger import Cap, Ledger
from louver.noise import discrete_laplace
from louver.privacy import Charge, Scope, Unit
from tests.ledger.forks import ending, forked
from tests.ledger.plans import rooms

ROOMS = ("hall", "lab", "attic")
KILLED = -signal.SIGKILL


class Child:
    """What a child does beside its rounds: it says when each begins, and writes down what is released.

    After so many rounds it says that it may be killed, or, with `steps`, kills itself after so many steps of Python.
    """

    def __init__(self, seed: int, log: Path, ready: int, rounds: int, steps: int | None) -> None:
        self.dice = random.Random(seed)
        self._log = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._ready, self._rounds, self._steps = ready, rounds, steps

    def begin_round(self) -> None:
        if self._rounds == 0 and self._steps is not None:
            sys.setprofile(_killing_after(self._steps))
        elif self._rounds == 0:
            os.write(self._ready, b"!")
        self._rounds -= 1

    def release(self, charged: dict[str, str]) -> None:
        os.write(self._log, f"{json.dumps(charged)}\n".encode())


Rounds = Callable[[Child], None]


@dataclass
class Tally:
    """What happened in all."""

    kills: int = 0
    rounds: int = 0
    unsettled: int = 0
    releases: int = 0


def opened(where: str, key: Path) -> Ledger:
    return Ledger.open(where, key=key)


def created(where: str, key: Path) -> None:
    made, _ = Ledger.create(where, key=key, dataset="house", unit=Unit.row(), caps=[Cap(epsilon=10**6)])
    made.close()


def ledger_rounds(where: str, key: Path) -> Rounds:
    """Gradual plans release when they have settled, as the steward does; others as soon as they have reserved."""

    def run(child: Child) -> None:
        with opened(where, key) as ledger:
            while True:
                child.begin_round()
                room, worst = child.dice.choice(ROOMS), Fraction(child.dice.randint(1, 12), 12)
                gradual = child.dice.random() < 0.5
                reservation = ledger.reserve(rooms([room], worst, gradual=gradual))
                answer = int(discrete_laplace(worst, 1)[0])
                if gradual:
                    charged = worst * child.dice.randint(0, 4) / 4
                    ledger.settle(reservation, [Charge(Scope({"room": room}), charged)], release=answer)
                    child.release({room: str(charged)})
                else:
                    child.release({room: str(worst)})
                    ledger.settle(reservation, release=answer)

    return run


def start(work: Rounds, log: Path, seed: int, rounds: int = 0, steps: int | None = None) -> tuple[int, int]:
    """Run the rounds in a process of their own; gives its number, and a pipe that tells when it may be killed."""
    wait, ready = os.pipe()

    def run() -> None:
        os.close(wait)
        work(Child(seed, log, ready, rounds, steps))

    process = forked(run)
    os.close(ready)
    return process, wait


def _killing_after(events: int) -> Callable[[FrameType, str, object], None]:
    left = events

    def count(_: FrameType, __: str, ___: object) -> None:
        nonlocal left
        left -= 1
        if left <= 0:
            os.kill(os.getpid(), signal.SIGKILL)

    return count


def ended(child: tuple[int, int], after: float | None, tally: Tally) -> int:
    """Kill the child so many seconds after it said that it is ready, or wait for its end."""
    process, wait = child
    if after is not None:
        os.read(wait, 1)
        time.sleep(after)
        os.kill(process, signal.SIGKILL)
    status = ending(process)
    os.close(wait)
    tally.kills += status == KILLED
    return status


def check(where: str, key: Path, log: Path) -> None:
    """The ledger verifies, and what it holds on every room covers all that was released about it."""
    released: dict[str, Fraction] = {}
    for line in log.read_text().splitlines() if log.exists() else ():
        for room, price in json.loads(line).items():
            released[room] = released.get(room, Fraction(0)) + Fraction(price)
    with opened(where, key) as ledger:
        verdict = ledger.verify()
        assert verdict.ok, verdict.sentence
        for room, price in released.items():
            assert ledger.spent(Scope({"room": room})) >= price


def count(where: str, key: Path, log: Path, tally: Tally) -> None:
    """Add a ledger that is no longer used to the tally."""
    with opened(where, key) as ledger:
        tally.rounds += sum(entry.act == "reserved" for entry in ledger.entries())
        tally.unsettled += len(ledger.reservations())
    tally.releases += len(log.read_text().splitlines()) if log.exists() else 0
