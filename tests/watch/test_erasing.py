"""Who is erased is gone from the store and from a watch that is running, whoever dies on the way."""

from __future__ import annotations

import asyncio
import os
import random
import sqlite3
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from louver.errors import DataError, ParameterError
from louver.sense import Admitted, Door, Event, Store
from louver.watch.erasing import Erasing
from louver.watch.journal import Journal
from louver.watch.journal_erasures import Erasure
from louver.watch.pipeline import Pipeline
from louver.watch.rules import EVENTS, WALL, Rules
from tests.crash.rounds import Child, Tally, ended, start
from tests.watch.made import MINUTE, NINE, STEP, Given, events, house, watched

SOMEBODY = 0x0123_4567_89AB_CDE1


def people(rules: Rules) -> set[int]:
    with Store.open(rules.store) as store:
        return set(store.events().person.tolist())


def in_files(journal: Path, person: int) -> bool:
    """Whether a large number is in a journal, as SQLite writes it: seven bits a byte, and eight in the last."""
    high = person >> 8
    written = bytes([*(0x80 | (high >> 7 * place) & 0x7F for place in range(7, -1, -1)), person & 0xFF])
    return any(written in file.read_bytes() for file in journal.parent.glob(f"{journal.name}*"))


def test_a_request_stays_until_it_is_done_and_then_leaves_nothing_in_the_files(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    with Journal.open(path) as journal:
        journal.erasures.ask([SOMEBODY], 5)
    with Journal.open(path) as journal, Journal.open(path) as other:
        assert other.erasures.waiting() == [Erasure(SOMEBODY, 5)]
        assert in_files(path, SOMEBODY)  # so that what follows can fail
        journal.erasures.done(Erasure(SOMEBODY, 5))
        assert not in_files(path, SOMEBODY)
        assert other.erasures.waiting() == []


def test_somebody_who_asks_again_meanwhile_is_not_taken_for_done(tmp_path: Path) -> None:
    with Journal.open(tmp_path / "journal") as journal:
        journal.erasures.ask([SOMEBODY], 5)
        (first,) = journal.erasures.waiting()
        journal.erasures.ask([SOMEBODY], 7)
        journal.erasures.done(first)
        assert journal.erasures.waiting() == [Erasure(SOMEBODY, 7)]


def test_a_journal_of_before_has_room_for_requests(tmp_path: Path) -> None:
    Journal.open(tmp_path / "journal").close()
    with sqlite3.connect(tmp_path / "journal") as before:
        for statement in ("DROP TABLE erasures", "DROP TABLE bound", "ALTER TABLE states DROP COLUMN first"):
            before.execute(statement)
        before.execute("PRAGMA user_version=1")
    before.close()
    with Journal.open(tmp_path / "journal") as journal:
        journal.erasures.ask([1], 2)
        assert journal.erasures.waiting() == [Erasure(1, 2)]


def test_a_watch_that_starts_first_does_what_is_asked_for(tmp_path: Path) -> None:
    rules = house(tmp_path)
    asyncio.run(watched(rules, Given(events({"aula": 2}, {"aula": 2}))))
    gone = Door.open(rules.salt).person("aula 0")
    assert gone in people(rules)
    with Journal.open(rules.journal) as journal:
        journal.erasures.ask([gone], NINE + STEP)
    asyncio.run(watched(rules, Given()))
    assert people(rules) == {Door.open(rules.salt).person("aula 1")}
    with Store.open(rules.store) as store:
        assert gone not in store.rows(NINE).person
    with Journal.open(rules.journal) as journal:
        assert journal.erasures.waiting() == []


def test_a_running_watch_forgets_who_is_erased_in_slots_that_are_not_decided_yet(tmp_path: Path) -> None:
    rules = house(tmp_path)
    gone = Door.open(rules.salt).person("aula 0")
    with Journal.open(rules.journal) as journal, Pipeline.open(rules, journal, clock=EVENTS) as pipeline:
        pipeline.take(events({"aula": 2}))
        journal.erasures.ask([gone], NINE + 2 * STEP)
        pipeline.erase()
        # What was under way when it was asked for is not taken in, what happens later is new.
        pipeline.take(events({"aula": 2}, start=NINE + STEP))
        pipeline.take(events({"aula": 2}, start=NINE + 3 * STEP))
        list(pipeline.finish())
    with Store.open(rules.store) as store:
        there = [gone in store.rows(NINE + slot * STEP).person for slot in range(4)]
        assert [len(store.rows(NINE + slot * STEP)) for slot in range(4)] == [1, 1, 0, 2]
    assert there == [False, False, False, True]


def test_a_watch_takes_a_request_also_while_its_feed_is_not_connected(tmp_path: Path) -> None:
    rules, feed = house(tmp_path), Given(events({"aula": 1}), ends=False)
    feed.connected = False
    gone = Door.open(rules.salt).person("aula 0")

    async def asked() -> None:
        watching = asyncio.create_task(watched(rules, feed, clock=WALL, tick=0.01, now=lambda: NINE + MINUTE))
        while not feed.acknowledged:
            await asyncio.sleep(0.01)
        with Journal.open(rules.journal) as journal:
            journal.erasures.ask([gone], NINE + MINUTE)
            while journal.erasures.waiting():
                await asyncio.sleep(0.01)
        watching.cancel()
        with pytest.raises(asyncio.CancelledError):
            await watching

    asyncio.run(asyncio.wait_for(asked(), 30))
    assert people(rules) == set()


def test_a_request_is_not_taken_back_where_the_store_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rules = house(tmp_path)
    with Journal.open(rules.journal) as journal, Pipeline.open(rules, journal, clock=EVENTS) as pipeline:
        journal.erasures.ask([1], NINE)

        def full(*_: Any) -> Any:
            raise DataError("The disk is full.")

        with monkeypatch.context() as broken:
            broken.setattr(Store, "erase", full)
            with pytest.raises(DataError, match="disk is full"):
                pipeline.erase()
        assert journal.erasures.waiting() == [Erasure(1, NINE)]


def test_all_who_wait_are_erased_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The store is written anew for it, however many they are."""
    with Journal.open(tmp_path / "journal") as journal, Store.open(tmp_path / "store") as store:
        store.append(Admitted.of([1, 2, 3], ["a"] * 3, [NINE] * 3))
        journal.erasures.ask([1, 2], NINE)
        erase, times = store.erase, []

        def counted(*people: int) -> None:
            times.append(people)
            erase(*people)

        monkeypatch.setattr(store, "erase", counted)
        Erasing(journal.erasures, store).run()
        assert times == [(1, 2)]
        assert store.events().person.tolist() == [3]
        assert journal.erasures.waiting() == []


def test_whoever_dies_on_the_way_a_request_is_done_in_the_end(tmp_path: Path) -> None:
    """Kill -9 after any number of steps of Python between taking a request and taking it back."""
    dice, where, path = random.Random(3), tmp_path / "store", tmp_path / "journal"

    def erasing(child: Child, *, is_erased: bool) -> None:
        with Journal.open(path) as journal, Store.open(where) as store:
            store.append(Admitted.of([1, 2], ["a", "a"], [NINE, NINE]))
            journal.erasures.ask([1], NINE)
            if not is_erased:
                child.begin_round()  # from here on steps are counted
            done = journal.erasures.done

            def counted(erasure: Erasure) -> None:
                child.begin_round()
                done(erasure)

            journal.erasures.done = counted  # type: ignore[method-assign]
            Erasing(journal.erasures, store).run()
            os._exit(0)

    outcomes = set()
    for number in range(12):
        work, steps = partial(erasing, is_erased=number % 2 == 1), dice.randint(1, 20 if number % 2 else 250)
        ended(start(work, tmp_path / "told", 0, 0, steps), None, Tally())
        with Journal.open(path) as journal, Store.open(where) as store:
            is_there, waits = 1 in store.events().person, bool(journal.erasures.waiting())
            assert waits or not is_there
            outcomes.add((is_there, waits))
            Erasing(journal.erasures, store).run()
            assert store.events().person.tolist() == [2]
            assert journal.erasures.waiting() == []
    assert outcomes >= {(True, True), (False, True)}  # before it was done, and between that and taking it back


def test_pseudonyms_that_change_leave_slots_after_a_change_undecided_and_unpaid(tmp_path: Path) -> None:
    rules = house(tmp_path, watch='rotate = "30 minutes"')  # and a validity of 5 minutes
    slots = [{"aula": 1, "lab": 1}] * 8
    made = asyncio.run(watched(rules, Given(*([each] for each in events(*slots)))))
    assert (made.slots, made.undecided) == (8, 2)  # those at nine and half past nine
    with Store.open(rules.store) as store:
        found = [set(store.rows(NINE + slot * STEP).person.tolist()) for slot in range(8)]
    assert found[0] == found[5] != found[6] == found[7]
    assert (tmp_path / "salt").read_text().count("\n") == 2  # what it is, and the salt of the epoch that is not over


def test_a_restart_changes_no_pseudonym_before_its_time(tmp_path: Path) -> None:
    rules = house(tmp_path, watch='rotate = "30 minutes"')
    for slot in range(2):
        asyncio.run(watched(rules, Given([Event("a", "ap-aula", NINE + (slot + 1) * STEP)])))
    assert len(people(rules)) == 1


@pytest.mark.parametrize("unit", ["(person, day)", "(person)"])
def test_pseudonyms_that_change_protect_no_day_and_no_person(tmp_path: Path, unit: str) -> None:
    with pytest.raises(ParameterError, match=r"rotate goes with the unit \(person, slot\) only"):
        house(tmp_path, unit=unit, watch='rotate = "1 hour"')


@pytest.mark.parametrize("length", ["7 minutes", "5 minutes"])
def test_pseudonyms_change_at_slots_and_after_the_validity(tmp_path: Path, length: str) -> None:
    with pytest.raises(ParameterError, match="rotate must be a whole number of slots, and longer than the validity"):
        house(tmp_path, watch=f'rotate = "{length}"')


def test_a_store_keeps_to_how_often_pseudonyms_change(tmp_path: Path) -> None:
    rules = house(tmp_path, watch='rotate = "30 minutes"')
    asyncio.run(watched(rules, Given(events({"aula": 1}))))
    text = (tmp_path / "rules.toml").read_text()
    (tmp_path / "rules.toml").write_text(
        text.replace('rotate = "30 minutes"', 'salt2 = ""').replace('salt2 = ""\n', "")
    )
    (tmp_path / "salt").unlink()
    with pytest.raises(DataError, match="The salt is not the one with which the events in"):
        asyncio.run(watched(Rules.read(tmp_path / "rules.toml"), Given()))
