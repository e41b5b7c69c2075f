"""Rows that sense makes, asked about through the steward: slots of one person are paid for side by side."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import louver
from louver.errors import BudgetError, DataError
from louver.ledger import Cap, Ledger
from louver.privacy import Unit
from louver.question import col, count
from louver.sense import Admitted, Batch, Door, Event, Occupancy, Rows, Rule, Store, instant, microseconds
from louver.source import Bound, Domain, Source

NINE = microseconds(datetime(2018, 2, 1, 9, tzinfo=UTC))
MINUTE = 60_000_000
REGIONS = {"ap-1": "hall", "ap-2": "lab", "ap-3": "hall"}
CAPACITIES = Domain({"region": ["hall", "lab"], "capacity": [100, 100]}, keys=["region"])
# hall has 300 people and lab 4: a wrong answer has probability below 1e-15.
PROMISE: dict[str, Any] = {"miss_rate": 0.05, "slack": 10}


def crowd() -> Admitted:
    """300 people in the hall and 4 in the lab, whose devices report every four minutes for half an hour."""
    devices = [(f"02:00:00:00:{number // 256:02x}:{number % 256:02x}", number) for number in range(304)]
    door = Door(b"a salt of sixteen")
    return door.admit(
        [
            Event(device, "ap-2" if number >= 300 else "ap-1" if number % 2 else "ap-3", NINE + minute * MINUTE)
            for minute in range(0, 30, 4)
            for device, number in devices
        ]
    )


def crowded_at(slot: int) -> Any:
    return count().where(col("slot") == instant(slot)).by("region") > col("capacity")


def asked(rows: Rows, slot: int, ledger: Ledger, unit: Unit) -> louver.decide.Answer:
    source = Source(rows.table(dataset="house", unit=unit), domains=CAPACITIES, bound=Bound(1))
    return louver.ask(source, crowded_at(slot), ledger=ledger, **PROMISE)


def made(folder: Path, unit: Unit, epsilon: float) -> Ledger:
    return Ledger.create(folder / "ledger", dataset="house", unit=unit, caps=[Cap(epsilon=epsilon)])[0]


@pytest.mark.parametrize("slot", [NINE + 5 * MINUTE, NINE + 25 * MINUTE])
def test_a_slot_of_a_store_is_asked_about(tmp_path: Path, slot: int) -> None:
    with Store.open(tmp_path / "store") as store, made(tmp_path, Unit("person", "slot"), 1) as ledger:
        stream = Occupancy(Rule(), REGIONS)
        events = crowd()
        store.append(events[stream.add(events)])
        store.put(stream.advance())
        assert asked(store.rows(slot), slot, ledger, Unit("person", "slot")).flagged == (("hall",),)


def test_rows_are_asked_about_without_pyarrow_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    rows, unit = Batch(crowd(), Rule(), REGIONS).occupancy(), Unit("person", "slot")
    with made(tmp_path, unit, 1) as ledger:
        assert asked(rows, NINE + 5 * MINUTE, ledger, unit).flagged == (("hall",),)


def test_two_slots_of_one_person_are_paid_for_side_by_side(tmp_path: Path) -> None:
    rows = Batch(crowd(), Rule(), REGIONS).occupancy()
    unit = Unit("person", "slot")
    with made(tmp_path, unit, 1) as ledger:
        first = asked(rows.at(NINE), NINE, ledger, unit)
        second = asked(rows.at(NINE + 5 * MINUTE), NINE + 5 * MINUTE, ledger, unit)
        assert first.flagged == second.flagged == (("hall",),)
        assert ledger.spent() == max(first.release.charged, second.release.charged)
        again = asked(rows.at(NINE), NINE, ledger, unit)
        assert ledger.spent() == first.release.charged + again.release.charged


def test_for_persons_slots_add_up(tmp_path: Path) -> None:
    rows = Batch(crowd(), Rule(), REGIONS).occupancy()
    unit = Unit("person")
    with made(tmp_path, unit, 1) as ledger:
        charged = [asked(rows.at(slot), slot, ledger, unit).release.charged for slot in (NINE, NINE + 5 * MINUTE)]
        assert ledger.spent() == sum(charged)
        with pytest.raises(BudgetError, match="The budget does not suffice"):
            asked(rows.at(NINE + 10 * MINUTE), NINE + 10 * MINUTE, ledger, unit)


def test_what_was_released_stays_when_rows_are_forgotten(tmp_path: Path) -> None:
    unit, slot = Unit("person", "slot"), NINE + 5 * MINUTE
    with Store.open(tmp_path / "store") as store, made(tmp_path, unit, 10) as ledger:
        events, stream = crowd(), Occupancy(Rule(), REGIONS)
        store.append(events[stream.add(events)])
        store.put(stream.advance())
        source = Source(store.rows(slot).table(dataset="house"), domains=CAPACITIES, bound=Bound(1))
        first = louver.ask(source, crowded_at(slot), ledger=ledger, key="nine", **PROMISE)
        entries, spent = list(ledger.entries()), ledger.spent()

        store.erase(int(events.person[0]))
        source = Source(store.rows(slot).table(dataset="house"), domains=CAPACITIES, bound=Bound(1))
        assert louver.ask(source, crowded_at(slot), ledger=ledger, key="nine", **PROMISE).release == first.release
        assert louver.ask(source, crowded_at(slot), ledger=ledger, **PROMISE).flagged == (("hall",),)

        store.expire(slot + 1)
        with pytest.raises(DataError, match=r"09:05:00 UTC have expired; what was released about it stands\."):
            store.rows(slot)
        assert list(ledger.entries())[: len(entries)] == entries
        assert ledger.spent() > spent
        assert ledger.verify().ok
