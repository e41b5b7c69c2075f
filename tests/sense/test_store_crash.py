"""Kill -9 at any time: what append and put returned for is there afterwards, once, and what was forgotten stays so.

A child appends, puts and forgets, and writes down each act when it has returned. Half of the kills come after a time,
half after a number of steps of Python; every assertion holds whenever they strike.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from louver.sense import Admitted, Occupancy, Rule, Store
from louver.sense.presence import last_hour
from louver.sense.store_folder import FolderStore
from tests.crash.rounds import KILLED, Child, Rounds, Tally, ended, start
from tests.sense import slowly
from tests.sense.slowly import MINUTE, REGIONS, Seen, as_list, as_set

KILLS = 24
KILLS_PER_STORE = 8
SEVERAL = 20
LENGTH = 10 * MINUTE


def events_of(number: int) -> Admitted:
    """The events of one round: the same whenever it is tried again."""
    dice = np.random.default_rng(number)
    places = np.array(list(REGIONS), dtype=object)[dice.integers(0, 4, SEVERAL)]
    times = np.sort(dice.integers(0, LENGTH, SEVERAL)) + number * LENGTH
    return Admitted.of(dice.integers(0, 30, SEVERAL), places, times)


def storing(where: str, log: Path) -> Rounds:
    """Goes on where the store is, as a watcher does: append, then put what became final, then sometimes forget."""

    def run(child: Child) -> None:
        with Store.open(where) as store:
            stream, following = Occupancy(Rule(), REGIONS), store.next_slot or 0
            stream.restore(store.events(Rule().needed_from(following)), following)
            number = 1 + max((each["appended"] for each in _told(log) if "appended" in each), default=-1)
            while True:
                child.begin_round()
                stream.add(events_of(number))
                store.append(events_of(number))
                child.release({"appended": number})  # type: ignore[dict-item]
                if store.put(stream.advance()):
                    child.release({"put": store.next_slot})  # type: ignore[dict-item]
                if child.dice.random() < 0.4:
                    person = child.dice.randrange(30)
                    child.release({"erasing": person, "until": number})  # type: ignore[dict-item]
                    store.erase(person)
                    stream.forget(person)
                    child.release({"erased": person, "until": number})  # type: ignore[dict-item]
                number += 1

    return run


def _told(log: Path) -> list[dict[str, int]]:
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


def check(where: str, log: Path) -> None:
    told = _told(log)
    appended = {each["appended"] for each in told if "appended" in each}
    # Until which round each person was erased, and until which one perhaps: the kill came before that was told.
    erased, perhaps = ({each[act]: each["until"] for each in told if act in each} for act in ("erased", "erasing"))
    with Store.open(where) as store:
        stored = store.events()
        listed = list(zip(stored.person.tolist(), stored.place.tolist(), stored.time.tolist(), strict=True))
        assert len(set(listed)) == len(listed)
        at_hand = set(listed)
        for number in appended:
            events = events_of(number)
            for key in zip(events.person.tolist(), events.place.tolist(), events.time.tolist(), strict=True):
                if number <= erased.get(key[0], -1):
                    assert key not in at_hand
                elif number > perhaps.get(key[0], -1):
                    assert key in at_hand
        newest = max((each["put"] for each in told if "put" in each), default=None)
        if newest is not None:
            assert store.next_slot is not None
            assert store.next_slot >= newest
            for slot in range(5 * MINUTE, store.next_slot, 5 * MINUTE):
                assert len({(person, at) for person, at, _ in as_set(store.rows(slot))}) == len(store.rows(slot))
            check_presence(store, last_hour(store.next_slot - Rule().slot), set(perhaps))


def check_presence(store: Store, until: int, erased: set[int]) -> None:
    """It is what the rule makes of the stored events, each stay once, for all who were never erased."""
    stored = store.events()
    seen = map(Seen, stored.person.tolist(), stored.place.tolist(), stored.time.tolist())
    stays = slowly.presence([each for each in seen if each.person not in erased], Rule())
    expected = [(person, region, start, min(end, until)) for person, region, start, end in stays if start < until]
    assert [stay for stay in as_list(store.presence(0, until)) if stay[0] not in erased] == expected
    pieces = as_list(store._presence(0, 2**62))
    assert all(before[0] != after[0] or before[3] <= after[2] for before, after in pairwise(pieces))


@pytest.fixture
def places(where: str, tmp_path: Path, request: pytest.FixtureRequest) -> Callable[[], str]:
    if "://" in where:
        return lambda: str(request.getfixturevalue("server").new_database())
    numbers = iter(range(1000))
    return lambda: str(tmp_path / f"store-{next(numbers)}")


def test_what_a_store_returned_for_survives_kills(places: Callable[[], str], tmp_path: Path) -> None:
    dice, tally = random.Random(11), Tally()
    while tally.kills < KILLS:
        where, log = places(), tmp_path / f"told-{tally.kills}"
        for _ in range(KILLS_PER_STORE):
            seconds = dice.uniform(0, 0.1) if dice.random() < 0.5 else None
            steps = dice.randint(1, 3000) if seconds is None else None
            child = start(storing(where, log), log, dice.getrandbits(32), dice.randint(0, 4), steps)
            assert ended(child, seconds, tally) == KILLED
            check(where, log)
    told = [each for log in tmp_path.glob("told-*") for each in _told(log)]
    assert {name for each in told for name in each} == {"appended", "put", "erasing", "erased", "until"}


def test_an_erasure_that_is_killed_while_files_change_places_is_done_or_not_begun(tmp_path: Path) -> None:
    where, done = str(tmp_path / "store"), 0
    everybody = Admitted.of(np.repeat([1, 2], SEVERAL), ["a1"] * 2 * SEVERAL, np.arange(2 * SEVERAL))
    with Store.open(where) as store:
        store.append(everybody)

    def erasing(child: Child) -> None:
        with Store.open(where) as store:
            assert isinstance(store, FolderStore)
            close = store._disconnect

            def closing() -> None:
                child.begin_round()  # from here on steps are counted
                close()

            store._disconnect = closing  # type: ignore[method-assign]
            store.erase(1)

    for steps in range(1, 1000, 5):
        assert ended(start(erasing, tmp_path / "told", 0, 0, steps), None, Tally()) == KILLED
        with Store.open(where) as store:
            people = store.events().person.tolist()
            assert people.count(2) == SEVERAL
            assert people.count(1) in (0, SEVERAL)
            done += people.count(1) == 0
            store.append(everybody)
        if done == 2:
            break
    assert done == 2  # two kills came after the step that counts
    assert steps > 10
