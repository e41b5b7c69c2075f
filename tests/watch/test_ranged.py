"""A recording with a public range: the slots are those of the range, and no event moves another."""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from louver.errors import ParameterError
from louver.sense.events import Event
from louver.sense.pseudonyms import Door
from louver.sense.store import Store
from louver.watch.deciding import Decider
from louver.watch.journal import Journal
from louver.watch.ranged import PART
from louver.watch.rules import WALL, Rules
from tests.watch.made import FIRE_LIMIT, FULL, MINUTE, NINE, STEP, Given, events, house, paid_keys, told, watched

DAY = 288 * STEP
ASLEEP = f'{FIRE_LIMIT}hours = "03:00-03:05"\n'  # asks nothing: tests of rows alone need no answers


def ranged(folder: Path, slots: int, begin: int = NINE, **options: str) -> Rules:
    return replace(house(folder, **options), begin=begin, end=begin + slots * STEP)  # type: ignore[arg-type]


def run(rules: Rules, *batches: list[Event], **options: Any) -> dict[str, int]:
    return asyncio.run(watched(rules, Given(*batches), **options)).tally.to_dict()


def rows(rules: Rules, slots: int) -> list[list[tuple[int, str]]]:
    """Who was where in each slot of the range."""
    found = []
    with Store.open(rules.store) as store:
        for slot in range(NINE, NINE + slots * STEP, STEP):
            made = store.rows(slot)
            found.append(sorted(zip(made.person.tolist(), made.names().tolist(), strict=True)))
    return found


def test_slots_are_those_of_the_range_whatever_the_events_say(tmp_path: Path) -> None:
    rules = ranged(tmp_path, 4)
    run(rules, events({"aula": 1}, start=NINE + STEP))
    assert [key[-14:-9] for key in paid_keys(rules)] == ["09:00", "09:05", "09:10", "09:15"]


def test_a_range_without_any_event_has_its_slots_too(tmp_path: Path) -> None:
    rules = ranged(tmp_path, 3)
    assert run(rules) == {}
    assert len(paid_keys(rules)) == 3


def test_a_device_that_is_far_ahead_makes_nobody_late(tmp_path: Path) -> None:
    rules = ranged(tmp_path, 3)
    far = events({"lab": 1}, start=NINE + 40 * DAY)
    tally = run(rules, far, events({"aula": FULL}, {"aula": FULL}))
    assert tally == {"accepted": 2 * FULL, "from the future": 1}
    assert told(rules) == [("fire-limit", "aula", "firing", 0), ("fire-limit", "aula", "clear", 2)]


def test_events_count_in_any_order(tmp_path: Path) -> None:
    slots = 2 * PART + 3
    made = events(*[{"aula": 2, "lab": 1}] * slots)
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    sorted_, shuffled = (ranged(tmp_path / name, slots, rules=ASLEEP) for name in ("one", "two"))
    (tmp_path / "two" / "salt").write_bytes(salt(sorted_))
    (tmp_path / "two" / "salt").chmod(0o600)
    run(sorted_, made)
    random.Random(5).shuffle(made)
    run(shuffled, made[:40], made[40:])
    assert rows(sorted_, slots) == rows(shuffled, slots)
    assert all(len(each) == 3 for each in rows(sorted_, slots))


def salt(rules: Rules) -> bytes:
    Door.open(rules.salt)
    return rules.salt.read_bytes()


@settings(max_examples=6, deadline=None)
@given(st.lists(st.tuples(st.integers(-5 * STEP, 9 * STEP), st.sampled_from(["aula", "lab", "attic"])), max_size=8))
def test_one_more_person_changes_that_persons_rows_only(
    tmp_path_factory: pytest.TempPathFactory, moves: list[tuple[int, str]]
) -> None:
    folder = tmp_path_factory.mktemp("range")
    others = events({"aula": 2}, {"lab": 1}, {"lab": 2})
    more = [Event("one more", f"ap-{at}", NINE + time) for time, at in moves]
    rules = ranged(folder, 4, rules=ASLEEP)
    run(rules, [*more, *others])
    door = Door.open(rules.salt)
    person, names = door.person("one more"), [(door.person(each.device), each.place[3:], each.time) for each in others]
    expected = [sorted(each[:2] for each in names if each[2] == slot) for slot in range(NINE, NINE + 4 * STEP, STEP)]
    assert [[row for row in slot if row[0] != person] for slot in rows(rules, 4)] == expected
    with Store.open(rules.store) as store:
        assert store.next_slot == NINE + 4 * STEP


def test_whoever_was_heard_within_the_validity_before_the_range_is_there_at_its_beginning(tmp_path: Path) -> None:
    rules = ranged(tmp_path, 2)
    tally = run(rules, events({"aula": FULL}, start=NINE - 4 * MINUTE), events({"lab": 1}, start=NINE - 90 * MINUTE))
    assert tally == {"accepted": FULL, "late": 1}
    assert told(rules) == [("fire-limit", "aula", "firing", 0), ("fire-limit", "aula", "clear", 1)]


def test_a_range_that_is_cut_short_goes_on_where_it_ended_and_pays_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slots = PART + 5
    rules, made = ranged(tmp_path, slots), events(*[{"aula": 1}] * slots)
    decide = Decider.decide

    def dies(self: Decider, slot: int, *rest: object) -> object:
        if slot == NINE + (PART + 1) * STEP:
            raise KeyboardInterrupt
        return decide(self, slot, *rest)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(Decider, "decide", dies)
        with pytest.raises(KeyboardInterrupt):
            run(rules, made)
    run(rules, made)
    paid = paid_keys(rules)
    assert len(paid) == len(set(paid)) == slots
    assert all(len(each) == 1 for each in rows(rules, slots))
    assert run(rules, made) == {"late": slots}


def test_a_range_is_stopped_between_its_parts(tmp_path: Path) -> None:
    slots = 3 * PART
    rules = ranged(tmp_path, slots)
    made = events(*[{"aula": 1}] * slots)
    first = asyncio.run(watched(rules, Given(made), bool))
    assert 0 < first.slots < slots
    run(rules, made)
    assert len(paid_keys(rules)) == slots


def test_who_is_erased_while_a_range_is_decided_is_not_in_what_follows(tmp_path: Path) -> None:
    slots = 2 * PART
    rules = ranged(tmp_path, slots, rules=FIRE_LIMIT)
    gone = Door.open(rules.salt).person("aula 0")

    def asked(_: object) -> bool:
        with Journal.open(rules.journal) as journal:
            journal.erasures.ask([gone], NINE)
        return False

    asyncio.run(watched(rules, Given(events(*[{"aula": 2}] * slots)), asked))
    assert {len(each) for each in rows(rules, slots)} == {1}
    with Journal.open(rules.journal) as journal:
        assert journal.erasures.waiting() == []


def test_the_same_events_again_are_duplicates(tmp_path: Path) -> None:
    rules, made = ranged(tmp_path, 2), events({"aula": 2})
    assert run(rules, made, made) == {"accepted": 2, "duplicate": 2}


def test_rows_of_a_range_are_forgotten_by_the_range_and_not_by_todays_clock(tmp_path: Path) -> None:
    rules = ranged(tmp_path, 30, watch='keep = "1 hour"')
    run(rules, events({"aula": 1}, *[{}] * 28, {"aula": 1}))
    with Store.open(rules.store) as store:
        assert len(store.events()) == 1


def test_an_earlier_range_needs_a_store_of_its_own(tmp_path: Path) -> None:
    rules = ranged(tmp_path, 2)
    run(rules, events({"aula": 1}))
    with pytest.raises(ParameterError, match="needs a store and a journal of its own"):
        run(replace(rules, begin=NINE - DAY), events({"aula": 1}))
    run(replace(rules, begin=NINE + 4 * STEP, end=NINE + 6 * STEP))
    assert [key[-14:-9] for key in paid_keys(rules)] == ["09:00", "09:05", "09:20", "09:25"]


def test_a_range_is_not_for_a_live_feed(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="A range is for recordings"):
        run(ranged(tmp_path, 2), clock=WALL)


@pytest.mark.parametrize(
    ("words", "begin", "end"),
    [
        ("from = 2026-03-02\nto = 2026-03-03", NINE - 108 * STEP, NINE + 180 * STEP),
        ("from = '2026-03-02T09:00'\nto = '2026-03-02T10:10+01:00'", NINE, NINE + 2 * STEP),
        ("from = 2026-03-02T09:00:00Z\nto = 2026-03-02T10:00:00", NINE, NINE + 12 * STEP),
    ],
)
def test_a_range_is_written_as_people_and_toml_write_times(tmp_path: Path, words: str, begin: int, end: int) -> None:
    rules = house(tmp_path, watch=words)
    assert (rules.begin, rules.end) == (begin, end)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("from = 2026-03-02", "both ends"),
        ("from = 2026-03-02\nto = 2026-03-02", "ends after it begins"),
        ("from = 'noon'\nto = 2026-03-02", "from.* is a time like 2018-02-01T09:00"),
        ("from = 7\nto = 2026-03-02", "is a time like"),
        ("fron = 2026-03-02", "did you mean 'from'"),
    ],
)
def test_a_range_that_is_none_is_refused(tmp_path: Path, words: str, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        house(tmp_path, watch=words)
