"""Many processes at one ledger: together they are granted what the cap allows, to within one price, and never more."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import pytest

from louver.errors import BudgetError, LouverError
from louver.ledger import Cap, Ledger
from louver.privacy import Unit
from tests.ledger.forks import FINISHED, ending, forked
from tests.ledger.plans import flat

PROCESSES = 32
REQUESTS = 10_000
PART = Fraction(1, 1000)


def create(where: str, key: Path, cap: Fraction) -> None:
    Ledger.create(where, key=key, dataset="house", unit=Unit.row(), caps=[Cap(epsilon=cap)])[0].close()


def ask(where: str, key: Path, prices: Sequence[Fraction], start: int, said: Path) -> None:
    """Ask for each price when everybody is ready, and write down what was granted."""
    with Ledger.open(where, key=key) as ledger:
        os.read(start, 1)
        granted = Fraction(0)
        for price in prices:
            try:
                granted += ledger.reserve(flat(price)).price
            except BudgetError:
                continue
    said.write_text(str(granted))


@pytest.mark.slow
def test_10000_requests_at_one_price_reach_the_cap_exactly(where: str, tmp_path: Path) -> None:
    ask_at_once(where, tmp_path, (1,), REQUESTS)


def test_32_processes_reach_the_cap_within_one_price_and_never_exceed_it(where: str, tmp_path: Path) -> None:
    ask_at_once(where, tmp_path, (1, 2, 3, 7), REQUESTS)


def ask_at_once(where: str, tmp_path: Path, sizes: tuple[int, ...], requests: int) -> None:
    prices = [PART * sizes[number % len(sizes)] for number in range(requests)]
    cap, key = sum(prices, Fraction(0)) * 7 // 10 + PART / 2, tmp_path / "key"
    create(where, key, cap)
    start, ready = os.pipe()
    files = [tmp_path / f"granted-{number}" for number in range(PROCESSES)]

    def work(number: int) -> None:
        os.close(ready)
        ask(where, key, prices[number::PROCESSES], start, files[number])

    processes = [forked(lambda number=number: work(number)) for number in range(PROCESSES)]  # type: ignore[misc]
    os.close(start)
    os.close(ready)  # everybody begins
    assert {ending(process) for process in processes} == {FINISHED}
    granted = sum((Fraction(file.read_text()) for file in files), Fraction(0))
    assert cap - max(prices) < granted <= cap
    with Ledger.open(where, key=key) as ledger:
        assert ledger.spent() == granted
        acts = [entry.act for entry in ledger.entries()]
        assert acts.count("reserved") + acts.count("denied") == requests
        verdict = ledger.verify()
        assert verdict.ok, verdict.sentence


def test_one_key_from_many_processes_is_reserved_once(where: str, tmp_path: Path) -> None:
    key = tmp_path / "key"
    create(where, key, Fraction(10))

    def work() -> None:
        with Ledger.open(where, key=key) as ledger:
            for number in range(20):
                ledger.reserve(flat(PART), key=f"request {number}")

    assert {ending(process) for process in [forked(work) for _ in range(8)]} == {FINISHED}
    with Ledger.open(where, key=key) as ledger:
        assert ledger.spent() == 20 * PART


def test_a_reader_sees_no_doubt_while_others_write(where: str, tmp_path: Path) -> None:
    """The witness may be newer than the picture that a reader has, if it is looked at too late."""
    key = tmp_path / "key"
    create(where, key, Fraction(10))

    def write() -> None:
        with Ledger.open(where, key=key) as ledger:
            for _ in range(100):
                ledger.reserve(flat(PART))

    writers = [forked(write) for _ in range(2)]
    with Ledger.open(where, key=key) as ledger:
        while ledger.head().number < 201:
            assert ledger.doubt() is None
            assert ledger.remaining() > 9
    assert {ending(process) for process in writers} == {FINISHED}


def test_a_forked_process_and_its_parent_lose_none_of_their_reservations(where: str, tmp_path: Path) -> None:
    """Locks of SQLite do not survive a fork: a child must not share the file that its parent has open."""
    key = tmp_path / "key"
    create(where, key, Fraction(10))
    with Ledger.open(where, key=key) as ledger:
        ledger.reserve(flat(PART))

        def work() -> None:
            for _ in range(30):
                ledger.reserve(flat(PART))

        children = [forked(work) for _ in range(3)]
        for _ in range(30):
            ledger.reserve(flat(PART))
            ledger.close()
        assert {ending(process) for process in children} == {FINISHED}
        assert ledger.spent() == 121 * PART
        assert ledger.verify().ok


def test_threads_take_turns(where: str, tmp_path: Path) -> None:
    key = tmp_path / "key"
    create(where, key, Fraction(10))
    faults: list[LouverError] = []
    with Ledger.open(where, key=key) as ledger:

        def work() -> None:
            try:
                for _ in range(20):
                    ledger.settle(ledger.reserve(flat(PART)))
                    ledger.remaining()
            except LouverError as fault:
                faults.append(fault)

        threads = [threading.Thread(target=work) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert faults == []
        assert ledger.spent() == 120 * PART
        assert ledger.verify().ok
