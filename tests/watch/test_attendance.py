"""Whether a feed is there, and what it missed; also over a restart."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from louver.errors import AccessError, DataError, ParameterError
from louver.sense.feeds.batch import Batch
from louver.sense.feeds.link import Link
from louver.sense.presence import Rule
from louver.sense.store import Store
from louver.watch.absence import BEGAN, Absence, Missed
from louver.watch.attendance import UNNOTICED, Attendance
from louver.watch.deciding import Decided
from louver.watch.journal import Journal
from louver.watch.pipeline import Pipeline
from louver.watch.rules import WALL, Rules
from louver.watch.watcher import Watcher
from tests.watch.made import FULL, MINUTE, NINE, STEP, Given, events, house, paid_keys, told, watched

PATIENCE = 10 * MINUTE


class Linked(Given):
    """A feed that tells how its connection stands, and has always told everything."""

    link = Link(True, connections=1, losses=0, session="broker", heard=math.inf)
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


def test_a_session_of_a_feed_that_proves_nothing_is_not_trusted() -> None:
    looks = Looks(Linked())
    looks.after(0, heard=None)
    looks.after(MINUTE, connected=False)
    assert looks.after(STEP, connected=True, connections=2) == Missed(NINE - UNNOTICED, NINE + MINUTE + STEP)
    assert not looks.made.rested(1)  # what waited comes first
    looks.after(MINUTE)
    assert looks.made.rested(1)


def test_time_is_known_up_to_what_is_proven_to_have_come() -> None:
    looks = Looks(Linked(), there_until=NINE - STEP, known=True)
    assert looks.after(0, heard=-math.inf) is None
    assert looks.made.known_until() == NINE - STEP
    looks.after(2 * MINUTE)
    assert looks.made.known_until() == looks.made.there_until == NINE - STEP
    looks.after(MINUTE, heard=(NINE + MINUTE) / 1e6)
    assert looks.made.known_until() == looks.made.there_until == NINE + MINUTE


def test_what_was_proven_before_the_clock_was_set_is_not_proven_after_it() -> None:
    looks = Looks(Linked())
    looks.after(0, heard=NINE / 1e6)
    looks.now += MINUTE
    looks.made.hold()
    looks.after(MINUTE, heard=(NINE + MINUTE - 1_000_000) / 1e6)
    assert looks.made.known_until() == NINE
    looks.after(0, heard=(NINE + 2 * MINUTE) / 1e6)
    assert looks.made.known_until() == NINE + 2 * MINUTE


def test_a_session_that_is_lost_also_lost_what_was_not_taken_yet() -> None:
    looks = Looks(Linked())
    looks.after(0, heard=NINE / 1e6)
    looks.after(9 * MINUTE)
    assert looks.after(MINUTE, connections=2, losses=1) == Missed(NINE - UNNOTICED, NINE + 10 * MINUTE)


def test_a_feed_that_is_behind_for_too_long_is_told() -> None:
    looks = Looks(Linked())
    looks.after(0, heard=NINE / 1e6)
    looks.after(PATIENCE)
    assert looks.made.silence() == ""
    looks.after(MINUTE)
    assert looks.made.silence().startswith("For more than 10 minutes not everything has come that was sent")


def test_a_connection_that_was_made_since_the_last_look_is_another_one() -> None:
    looks = Looks(Linked())
    looks.after(0)
    assert looks.made.is_current
    looks.feed.link = looks.feed.link._replace(connections=2)
    assert not looks.made.is_current


def test_every_connection_missed_something_where_something_was_once_not_kept() -> None:
    looks = Looks(Linked())
    looks.after(0)
    looks.after(MINUTE, session="")
    assert looks.after(MINUTE, session="broker", connections=2) == Missed(NINE + MINUTE - UNNOTICED, NINE + 2 * MINUTE)
    assert not looks.made.is_kept


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


class Waiting(Linked):
    """A broker that kept a crowd of an hour, and pauses while it gives it; behind that, the feed hears itself."""

    def __init__(self, begin: int) -> None:
        super().__init__(ends=False)
        self.begin, self.link = begin, self.link._replace(heard=-math.inf)

    async def __aiter__(self) -> AsyncIterator[Batch]:
        for number in range(12):
            await asyncio.sleep(0.05 if number == 2 else 0)
            yield Batch(events({"aula": FULL}, start=self.begin + number * STEP))
        self.link = self.link._replace(heard=math.inf)
        await asyncio.Event().wait()


@pytest.mark.parametrize("catching_up", [0.0, 60.0])
def test_what_a_broker_kept_counts_however_long_it_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, catching_up: float
) -> None:
    monkeypatch.setattr("louver.watch.watcher.CATCHING_UP", catching_up)
    rules = house(tmp_path)
    begin = live(rules, NINE, 3, feed=Linked(ends=False))[-1].slot + STEP
    later = begin + 12 * STEP + 2 * MINUTE
    made = live(rules, later, 12, feed=Waiting(begin), now=lambda: later, tick=0.01)
    assert [bool(each.firing) for each in made][:12] == [True] * 12


def test_a_session_counts_as_lost_until_a_look_has_found_that_it_was_not(tmp_path: Path) -> None:
    """As if the watch had died when it was connected, and the broker had just begun another session for it."""

    class Dying(Linked):
        async def __aiter__(self) -> AsyncIterator[Batch]:
            raise DataError("It died.")
            yield

        link = Linked.link._replace(connected=False)

    rules = house(tmp_path)
    later = live(rules, NINE, 3, feed=Linked(ends=False))[-1].slot + 6 * STEP
    with pytest.raises(DataError, match="It died"):
        live(rules, later, 1, feed=Dying())
    made = live(rules, later, 7, feed=Linked(ends=False))
    assert all(each.undecided and not each.paid for each in made if each.slot <= later)


def test_a_session_counts_as_lost_while_the_feed_connects_again(tmp_path: Path) -> None:
    class Again(Linked):
        connecting: Any = None
        doubted = False

        async def __aiter__(self) -> AsyncIterator[Batch]:
            yield Batch([])
            await asyncio.sleep(0.05)  # some looks
            assert knows()
            self.link = self.link._replace(connected=False)
            await self.connecting()
            self.doubted = not knows()
            yield Batch([])
            assert not knows()
            self.link = self.link._replace(connected=True, connections=2)
            yield Batch([])
            assert knows()

    def knows() -> bool:
        assert watcher._pipeline is not None
        return watcher._pipeline.absence.knows("broker")

    rules, feed = house(tmp_path), Again()
    with Journal.open(rules.journal) as journal:
        watcher = Watcher(rules, feed, journal, clock=WALL, now=lambda: NINE, tick=0.001)
        asyncio.run(watcher.run())
        assert feed.doubted


def test_a_feed_that_once_did_not_keep_everything_is_not_trusted_after_two_runs_either(tmp_path: Path) -> None:
    class Loose(Linked):
        link = Linked.link

        async def __aiter__(self) -> AsyncIterator[Batch]:
            self.link = self.link._replace(session="")  # a message with QoS 0 came
            yield Batch([])
            await asyncio.Event().wait()

    rules = house(tmp_path)
    quiet = live(rules, NINE, 3, feed=Loose(ends=False))[-1].slot + 6 * STEP
    last = live(rules, quiet, 12, feed=Linked(ends=False))[-1].slot
    assert live(rules, last + 6 * STEP, 3, feed=Linked(ends=False))[0].undecided


def test_both_ends_of_what_was_missed_are_kept_at_once(tmp_path: Path) -> None:
    with Store.open(tmp_path / "store") as store:
        kept: list[Mapping[str, int]] = []
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(store, "_mark", kept.append)
            Absence(store, Rule()).add(Missed(NINE, NINE + STEP))
        assert [sorted(each.values()) for each in kept] == [[NINE, NINE + STEP]]


def test_a_feed_that_may_not_hear_itself_is_refused_by_the_wall_clock(tmp_path: Path) -> None:
    class Deaf(Linked):
        deafness = "The broker does not let this client read and write louver/echo/hall."

    rules = house(tmp_path)
    with pytest.raises(AccessError, match="read and write louver/echo/hall"):
        live(rules, NINE, 3, feed=Deaf(ends=False))
    assert told(rules)[-1][2] == "no data"
    asyncio.run(watched(rules, Deaf(events({"aula": 1}))))
