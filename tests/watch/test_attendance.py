"""Whether a feed is there, and what it missed; also over a restart."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from louver.errors import ParameterError
from louver.sense.feeds.link import Link
from louver.sense.store import Store
from louver.watch.absence import BEGAN, Missed
from louver.watch.attendance import UNNOTICED, Attendance
from louver.watch.deciding import Decided
from louver.watch.journal import Journal
from louver.watch.pipeline import Pipeline
from louver.watch.rules import WALL, Rules
from tests.watch.made import FULL, MINUTE, NINE, STEP, Given, events, house, paid_keys, told, watched

PATIENCE = 10 * MINUTE


class Linked(Given):
    """A feed that tells how its connection stands."""

    link = Link(True, connections=1, losses=0, session="broker")
    heartbeat: str | None = None


class Looks:
    """An attendance whose clocks are set by hand."""

    def __init__(self, feed: Any, **given: Any) -> None:
        self.now, self.feed = NINE, feed
        self.made = Attendance(feed, lambda: self.now, patience=PATIENCE, steady=lambda: self.now / 1e6, **given)

    def after(self, span: int, **link: Any) -> Missed | None:
        self.now += span
        self.feed.link = self.feed.link._replace(**link)
        return self.made.look()


def test_the_very_first_connection_missed_nothing() -> None:
    assert Looks(Linked()).after(0, losses=1) is None


def test_a_session_that_was_kept_over_a_restart_missed_nothing() -> None:
    assert Looks(Linked(), there_until=NINE - STEP, known=True).after(0) is None


def test_a_session_that_was_lost_over_a_restart_missed_the_time_between() -> None:
    found = Looks(Linked(), there_until=NINE - STEP, known=True).after(0, losses=1)
    assert found is not None
    assert found[:2] == (NINE - STEP - UNNOTICED, NINE)


def test_a_session_that_is_not_the_one_of_before_missed_the_time_between() -> None:
    looks = Looks(Linked(), there_until=NINE - STEP, known=False)
    assert looks.after(0) is not None
    assert looks.after(MINUTE) is None


def test_a_session_that_is_lost_between_two_looks_is_noticed() -> None:
    looks = Looks(Linked())
    looks.after(0)
    assert looks.after(MINUTE, connections=3, losses=1) == Missed(NINE - UNNOTICED, NINE + MINUTE)


def test_a_connection_that_was_lost_and_kept_its_session_missed_nothing() -> None:
    looks = Looks(Linked())
    looks.after(0)
    assert looks.after(MINUTE, connected=False) is None
    assert looks.after(STEP, connected=True, connections=2) is None
    assert not looks.made.rested(1)  # what waited comes first
    looks.after(MINUTE)
    assert looks.made.rested(1)


def test_a_feed_that_tells_nothing_of_its_connection_keeps_nothing() -> None:
    feed = Given()
    looks = Looks(feed, there_until=NINE - STEP)
    assert looks.made.look() == Missed(NINE - STEP - UNNOTICED, NINE)
    feed.connected = False
    assert looks.made.look() is None
    looks.now += STEP
    feed.connected = True
    assert looks.made.look() == Missed(NINE - UNNOTICED, NINE + STEP)


def test_a_feed_is_silent_when_it_is_not_connected_for_too_long() -> None:
    looks = Looks(Linked())
    looks.after(0)
    looks.after(PATIENCE, connected=False)
    assert looks.made.silence() == ""
    looks.now += PATIENCE + MINUTE
    assert looks.made.silence() == "The feed is not connected for more than 10 minutes."


def test_where_sensors_give_heartbeats_time_is_known_up_to_the_last_one() -> None:
    looks = Looks(Linked(), heartbeats=True)
    looks.after(0)
    looks.after(MINUTE, heartbeats=1)
    looks.after(MINUTE)
    assert looks.made.known_until() == NINE + MINUTE
    looks.after(0, heartbeats=2)
    assert looks.made.known_until() == NINE + 2 * MINUTE
    assert looks.made.silence() == ""


def test_heartbeats_that_are_too_far_apart_missed_the_time_between() -> None:
    looks = Looks(Linked(), heartbeats=True)
    looks.after(0)
    looks.after(MINUTE, heartbeats=1)
    assert looks.after(PATIENCE + MINUTE) is None
    assert looks.made.silence().startswith("No heartbeat came for more than 10 minutes")
    missed = looks.after(0, heartbeats=2)
    assert missed is not None
    assert missed[:2] == (NINE + MINUTE, looks.now)
    assert looks.made.silence() == ""


def live(rules: Rules, begin: int, slots: int, *batches: Any, feed: Any = None, **options: Any) -> list[Decided]:
    """What a live watch decides from this time on, a minute a look, until so many slots are decided."""
    found: list[Decided] = []
    times = iter(range(begin, begin + 10_000 * STEP, MINUTE))

    def enough(decided: list[Decided]) -> bool:
        found[:] = decided
        return len(decided) >= slots

    feed = feed or Given(*batches, ends=False)
    given = {"clock": WALL, "now": lambda: next(times), "tick": 0.001} | options
    asyncio.run(asyncio.wait_for(watched(rules, feed, enough, **given), 60))
    return found


def test_the_time_between_two_runs_is_undecided_where_nobody_kept_what_came(tmp_path: Path) -> None:
    rules = house(tmp_path)
    first = live(rules, NINE, 3)
    later = first[-1].slot + 6 * STEP
    second = live(rules, later, 12)
    assert all(each.undecided and not each.paid for each in second if each.slot <= later)
    assert "The feed was not there" in second[0].reason
    assert not second[-1].undecided
    assert [each.slot for each in second] == sorted({each.slot for each in second})


def test_the_time_between_two_runs_is_decided_where_the_session_was_kept(tmp_path: Path) -> None:
    rules = house(tmp_path)
    first = live(rules, NINE, 3, feed=Linked(ends=False))
    second = live(rules, first[-1].slot + 6 * STEP, 7, feed=Linked(ends=False))
    assert not any(each.undecided for each in second)
    assert len(paid_keys(rules)) == len(first) + len(second)


def test_what_was_missed_is_not_forgotten_when_the_watch_is_killed_before_it_decides(tmp_path: Path) -> None:
    rules = house(tmp_path)
    live(rules, NINE, 3, feed=Linked(ends=False))
    with Journal.open(rules.journal) as journal, Pipeline.open(rules, journal, now=lambda: NINE + 9 * STEP) as pipeline:
        following = pipeline.next_slot or 0
        pipeline.away(following, following + MINUTE)
        pipeline.absence.saw(NINE + 9 * STEP, "broker")
    again = live(rules, NINE + 10 * STEP, 4, feed=Linked(ends=False))
    assert [bool(each.undecided) for each in again][:4] == [True, True, False, False]


def test_a_watch_after_a_replay_into_the_same_store_does_not_take_the_time_between_for_empty(tmp_path: Path) -> None:
    rules = house(tmp_path)
    asyncio.run(watched(rules, Given(events({"aula": FULL}))))
    assert live(rules, NINE + 4 * STEP, 3)[0].undecided == 3


def test_slots_begin_when_the_watch_began_and_not_with_the_first_event(tmp_path: Path) -> None:
    """As if it was killed before the first slot was final, and somebody had come meanwhile."""
    rules, now = house(tmp_path), [NINE + MINUTE]

    def opened(journal: Journal) -> Pipeline:
        return Pipeline.open(rules, journal, now=lambda: now[0])

    with Journal.open(rules.journal) as journal, opened(journal) as pipeline:
        now[0] = NINE + STEP + 2 * MINUTE
        pipeline.take(events({"aula": 1}, start=NINE + STEP + MINUTE))
    now[0] = NINE + 3 * STEP + 2 * MINUTE
    with Journal.open(rules.journal) as journal, opened(journal) as pipeline:
        assert pipeline.next_slot == NINE + STEP
        pipeline.advance(by_clock=True)
    with Store.open(rules.store) as store:
        assert store.remembered(BEGAN) == NINE + MINUTE
    assert paid_keys(rules)[0] == "fire-limit/2026-03-02T09:10:00+00:00"


class Beating(Linked):
    """Sends heartbeats at every look, but for some of them."""

    heartbeat = "house/status"
    looks = 0

    @property
    def link(self) -> Link:  # type: ignore[override]
        self.looks += 1
        silent = 10 < self.looks < 17
        beats = 10 if silent else self.looks
        return Link(True, connections=1, losses=0, session="broker", heartbeats=beats)


def test_sensors_that_fall_silent_are_told_as_no_data_and_slots_meanwhile_are_undecided(tmp_path: Path) -> None:
    rules = house(tmp_path, watch='heartbeat = "house/status"\nno_data_after = "10 minutes"')
    made = live(rules, NINE, 25, feed=Beating(ends=False))
    unknown = [each for each in made if each.of_a_slot and each.undecided]
    assert unknown
    assert all(each.paid == 0 and each.reason.startswith("No heartbeat came") for each in unknown)
    asked = [each for each in made if each.of_a_slot and not each.undecided]
    assert asked[0].slot < unknown[0].slot < unknown[-1].slot < asked[-1].slot
    assert [each[2] for each in told(rules)] == ["undecided", "clear"]


def test_no_data_is_told_while_sensors_are_silent(tmp_path: Path) -> None:
    class Dead(Linked):
        heartbeat = "house/status"

    rules = house(tmp_path, watch='heartbeat = "house/status"\nno_data_after = "0 seconds"')
    made = live(rules, NINE, 1, feed=Dead(ends=False))
    assert [(each.of_a_slot, each.reason.split(",")[0]) for each in made] == [
        (False, "No heartbeat came for more than 0 days")
    ]


def test_a_feed_without_heartbeats_is_refused_where_the_rules_want_them(tmp_path: Path) -> None:
    rules = house(tmp_path, watch='heartbeat = "house/status"')
    with pytest.raises(ParameterError, match="does not listen to 'house/status'"):
        asyncio.run(watched(rules, Given()))


def test_time_does_not_go_on_right_after_a_connection(tmp_path: Path) -> None:
    """What waited at the broker comes first: a slot that it belongs to must not be final before."""
    rules = house(tmp_path)
    live(rules, NINE, 2, feed=Linked(ends=False))

    class Flapping(Linked):
        looks = 0

        @property
        def link(self) -> Link:  # type: ignore[override]
            self.looks += 1
            if self.looks > 12:
                watching.cancel()
            return Link(True, connections=self.looks, losses=0, session="broker")

    watching: asyncio.Future[Any]

    async def run() -> None:
        nonlocal watching
        times = iter(range(NINE + 9 * STEP, NINE + 10_000 * STEP, MINUTE))
        feed = Flapping(ends=False)
        watching = asyncio.ensure_future(watched(rules, feed, clock=WALL, now=lambda: next(times), tick=0.05))
        with pytest.raises(asyncio.CancelledError):
            await watching

    before = paid_keys(rules)
    asyncio.run(run())
    assert paid_keys(rules) == before
