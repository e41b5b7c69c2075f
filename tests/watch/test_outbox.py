"""The outbox: at least once, in order, each with its own back-off, and never silent about what was not delivered."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from louver.errors import DataError
from louver.watch.alarms import Channel, LaterError, Notice, RefusedError
from louver.watch.alarms.digest import digest_subject
from louver.watch.alarms.sink import DAY
from louver.watch.outbox import LONGEST_SPAN, back_off
from tests.watch.alarms_made import MINUTE, NOON, SLOT, Desk, Recorder, alarm, raise_, unreachable


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path)
    yield made
    made.journal.close()


def test_a_notice_is_delivered_once(desk: Desk) -> None:
    made = raise_(desk.journal, alarm())
    desk.flush()
    desk.flush()
    assert desk.sink.got == [f"{made.id}-0 Aula firing"]
    assert desk.outcomes() == ["delivered"]
    assert desk.said == []


def test_each_channel_gets_its_own(desk: Desk) -> None:
    other = Recorder()
    desk.use(Channel("desk", desk.sink), Channel("log", other))
    raise_(desk.journal, alarm(to=("desk", "log", "desk")))
    desk.flush()
    assert len(desk.sink.got) == len(other.got) == 1


def test_what_fails_is_tried_again_later_and_with_the_same_id(desk: Desk) -> None:
    ids: list[str] = []

    def fault(notice: Notice) -> Exception | None:
        ids.append(notice.id)
        return unreachable(notice) if len(ids) < 4 else None

    desk.sink.fault = fault
    raise_(desk.journal, alarm())
    for seconds in (0, 1, 2, 4):
        desk.clock.wait(seconds)
        desk.flush()
    assert len(ids) == 4
    assert len(set(ids)) == 1
    assert desk.outcomes() == ["delivered"]
    assert desk.said == [
        "ALARMS DO NOT REACH desk: The desk cannot be reached. They are tried again.",
        "Alarms reach desk again.",
    ]


def test_nothing_is_tried_before_its_time(desk: Desk) -> None:
    desk.sink.fault = unreachable
    raise_(desk.journal, alarm())
    for _ in range(5):
        desk.flush()
    assert desk.sink.tries == 1
    desk.clock.wait(0.9)
    desk.flush()
    assert desk.sink.tries == 1


def test_the_other_side_says_how_long_to_wait(desk: Desk) -> None:
    desk.sink.fault = lambda _: LaterError("Too many.", after=90)
    raise_(desk.journal, alarm())
    desk.flush()
    desk.clock.wait(89)
    desk.flush()
    assert desk.sink.tries == 1
    desk.clock.wait(1)
    desk.flush()
    assert desk.sink.tries == 2


@pytest.mark.parametrize("after", [1e9, float("inf"), float("nan"), 10.0**300])
def test_nobody_waits_for_longer_than_an_hour_whatever_the_other_side_says(desk: Desk, after: float) -> None:
    desk.sink.fault = lambda _: LaterError("Later.", after=after) if desk.sink.tries == 1 else None
    raise_(desk.journal, alarm())
    desk.flush()
    desk.clock.wait(3599)
    desk.flush()
    assert desk.sink.got == []
    desk.clock.wait(1)
    desk.flush()
    assert desk.outcomes() == ["delivered"]


def test_waits_double_up_to_a_bound_and_are_random() -> None:
    spans = [back_off(tries, max) for tries in (0, 1, 2, 3, 50, 10_000)]
    assert spans == [1, 2, 4, 8, LONGEST_SPAN, LONGEST_SPAN]
    assert back_off(3, min) == 4


def test_notices_of_a_key_stay_in_order_while_the_first_fails(desk: Desk) -> None:
    raise_(desk.journal, alarm("firing"))
    raise_(desk.journal, alarm("undecided"))
    raise_(desk.journal, alarm("clear"))
    desk.sink.fault = lambda notice: unreachable(notice) if desk.sink.tries == 1 else None
    desk.flush()
    assert desk.sink.got == []
    desk.clock.wait(1)
    desk.flush()
    assert desk.sink.states == ["Aula firing", "Aula undecided", "Aula clear"]


def test_notices_of_all_keys_go_out_in_the_order_in_which_they_were_raised(desk: Desk) -> None:
    raise_(desk.journal, alarm())
    raise_(desk.journal, alarm("clear"))
    raise_(desk.journal, alarm(key="Cafe"))
    raise_(desk.journal, alarm())
    desk.flush()
    assert desk.sink.states == ["Aula firing", "Aula clear", "Cafe firing", "Aula firing"]


def test_a_key_that_fails_holds_up_no_other(desk: Desk) -> None:
    raise_(desk.journal, alarm(key="Aula"))
    raise_(desk.journal, alarm(key="Cafe"))
    raise_(desk.journal, alarm(key="Aula", rule="heat"))
    desk.sink.fault = lambda notice: (
        unreachable(notice) if (notice.alarm.rule, notice.alarm.key) == ("fire-limit", "Aula") else None
    )
    desk.flush()
    assert sorted(desk.sink.states) == ["Aula firing", "Cafe firing"]


class Hanging:
    """Never answers."""

    async def deliver(self, notice: Notice) -> None:  # noqa: ARG002 what it is does not matter
        await asyncio.Event().wait()

    async def close(self) -> None:
        pass


def test_a_channel_that_hangs_holds_up_no_other(desk: Desk) -> None:
    desk.use(Channel("stuck", Hanging()), Channel("desk", desk.sink))
    raise_(desk.journal, alarm(to=("stuck", "desk")))

    async def work() -> None:
        running = asyncio.create_task(desk.outbox.run())
        asyncio.get_running_loop().call_later(60, running.cancel)
        while not desk.sink.got and not running.done():
            await asyncio.sleep(0.01)
        raise_(desk.journal, alarm("clear", to=("stuck", "desk")))
        desk.outbox.wake()
        while len(desk.sink.got) < 2 and not running.done():
            await asyncio.sleep(0.01)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    asyncio.run(work())
    assert desk.journal.deliveries.waiting() == {"stuck": 2}


def test_a_last_call_ends_though_a_channel_hangs(desk: Desk) -> None:
    desk.use(Channel("stuck", Hanging()), Channel("desk", desk.sink))
    raise_(desk.journal, alarm(to=("stuck", "desk")))
    asyncio.run(desk.outbox.flush(0.2))
    assert desk.sink.states == ["Aula firing"]
    assert desk.journal.deliveries.waiting() == {"stuck": 1}


def test_a_channel_that_breaks_in_an_unforeseen_way_holds_up_no_other(desk: Desk) -> None:
    broken = Recorder(lambda _: ZeroDivisionError("a private thing"))
    desk.use(Channel("broken", broken), Channel("desk", desk.sink))
    raise_(desk.journal, alarm(to=("broken", "desk")))
    desk.flush()
    assert desk.sink.states == ["Aula firing"]
    assert "ZeroDivisionError" in desk.said[0]
    assert "private" not in desk.said[0]
    assert desk.journal.deliveries.waiting() == {"broken": 1}


def test_what_is_refused_is_given_up_at_once_and_loudly(desk: Desk) -> None:
    raise_(desk.journal, alarm("firing"))
    raise_(desk.journal, alarm("clear"))
    desk.sink.fault = lambda notice: RefusedError("The desk said no.") if notice.alarm.state == "firing" else None
    desk.flush()
    assert desk.outcomes() == ["given up", "delivered"]
    assert len(desk.said) == 1
    assert desk.said[0].startswith("GIVEN UP: alarm ")
    assert "The desk said no. It said: FIRING: region Aula" in desk.said[0]
    assert desk.journal.alarms(open_only=False)[0].sent[0].why == "The desk said no."


def test_after_its_time_a_notice_is_given_up_loudly_after_one_last_try(desk: Desk) -> None:
    desk.use(Channel("desk", desk.sink, give_up=10 * MINUTE))
    desk.sink.fault = unreachable
    raise_(desk.journal, alarm())
    desk.flush()
    for _ in range(600):
        desk.clock.wait(1)
        desk.flush()
    assert desk.clock.now == NOON + 10 * MINUTE
    assert desk.outcomes() == ["given up"]
    assert desk.said[-1].startswith("GIVEN UP")
    assert "tried for 10 minutes" in desk.said[-1]
    tries = desk.sink.tries
    desk.clock.wait(3600)
    desk.flush()
    assert desk.sink.tries == tries


def test_the_time_to_give_up_begins_with_the_first_try(desk: Desk) -> None:
    """A watcher that was down for days, or a snooze, does not cost a notice."""
    raise_(desk.journal, alarm())
    desk.clock.wait(7 * DAY / 1_000_000)
    desk.sink.fault = lambda notice: unreachable(notice) if desk.sink.tries == 1 else None
    desk.flush()
    desk.clock.wait(1)
    desk.flush()
    assert desk.outcomes() == ["delivered"]


def test_notices_for_a_channel_that_is_gone_are_told_of_and_given_up_after_a_day(desk: Desk) -> None:
    raise_(desk.journal, alarm(to=("old desk",)))
    desk.flush()
    desk.flush()
    assert len(desk.said) == 1
    assert "no table [alarm.old desk]; 1 wait for it and 0 are given up" in desk.said[0]
    desk.clock.wait(DAY / 1_000_000 + 1)
    desk.flush()
    assert desk.outcomes() == ["given up"]


def test_a_crash_between_delivery_and_mark_delivers_again_with_the_same_id(desk: Desk, tmp_path: Path) -> None:
    made = raise_(desk.journal, alarm(to=("log",)))
    code = (
        "import asyncio, os, sys\nfrom pathlib import Path\n"
        "from louver.watch.alarms import Channel, File\nfrom louver.watch.journal import Journal\n"
        "from louver.watch.outbox import Outbox\n"
        "journal = Journal.open(sys.argv[1])\n"
        "journal.deliveries.delivered = lambda *_: os._exit(9)\n"
        "asyncio.run(Outbox(journal, {'log': Channel('log', File(Path(sys.argv[2])))}).flush())\n"
    )
    log = tmp_path / "alarms.ndjson"
    assert (
        subprocess.run([sys.executable, "-c", code, str(tmp_path / "journal"), str(log)], check=False).returncode == 9
    )
    assert log.read_text().count("\n") == 1
    desk.use(Channel("log", desk.sink))
    desk.flush()
    assert desk.sink.got == [f"{made.id}-0 Aula firing"]
    assert f'"{made.id}"' in log.read_text()


def test_a_journal_that_cannot_be_written_makes_no_flood_of_copies(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise DataError("The disk is full.")

    raise_(desk.journal, alarm())
    with monkeypatch.context() as patched:
        patched.setattr(desk.journal.deliveries, "delivered", full)
        desk.flush()
        desk.flush()
    assert desk.said == ["Alarms to desk are held up: The disk is full."]
    desk.flush()
    assert len(desk.sink.got) == 1
    assert desk.outcomes() == ["delivered"]


def test_a_remark_of_a_sink_is_said_and_kept(desk: Desk) -> None:
    class Partly(Recorder):
        async def deliver(self, notice: Notice) -> str | None:
            await super().deliver(notice)
            return "Not for 1 of 2 addresses."

    desk.use(Channel("desk", Partly()))
    raise_(desk.journal, alarm())
    desk.flush()
    assert desk.outcomes() == ["delivered"]
    assert "Not for 1 of 2 addresses." in desk.said[0]


class Reader(Recorder):
    """A channel that people read."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[int] = []

    async def deliver_many(self, notices: Sequence[Notice]) -> str | None:
        self.tries += 1
        if (fault := self.fault(notices[0])) is not None:
            raise fault
        self.messages.append(len(notices))
        self.got += [f"{each.id} {each.alarm.key} {each.alarm.state}" for each in notices]
        return None


def storm(desk: Desk, keys: int, state: str = "firing", slot: int = NOON, to: Sequence[str] = ("people",)) -> None:
    with desk.journal.slot("fire-limit", slot) as change:
        for number in range(keys):
            change.set(f"room {number}", state, slot, 1, 0)
            change.alarm(alarm(state, key=f"room {number}", to=tuple(to)))


def test_many_alarms_at_once_are_one_message_for_people_and_a_record_each_for_machines(desk: Desk) -> None:
    people, machine = Reader(), Recorder()
    desk.use(Channel("people", people), Channel("machine", machine))
    storm(desk, 1000)
    storm(desk, 120, "clear", NOON + SLOT, to=("people", "machine"))
    desk.flush()
    assert people.messages == [1000, 120]
    assert len(machine.got) == 120
    assert len(set(people.got)) == 1120
    assert set(desk.outcomes()) == {"delivered"}


def test_alarms_in_fewer_places_than_there_are_alarms_say_in_how_many() -> None:
    keys = [f"hall {number}" for number in range(8)]
    made = [alarm(key=key) for key in keys] + [alarm(key=key, rule="other") for key in keys[:3]]
    assert digest_subject([Notice(each) for each in made]) == (
        "11 FIRING in 8 places: region hall 0, region hall 1, region hall 2 and 5 more"
    )
    assert digest_subject([Notice(each) for each in made[:4]]).startswith("4 FIRING: region hall 0")


def test_few_alarms_at_once_come_one_by_one(desk: Desk) -> None:
    people = Reader()
    desk.use(Channel("people", people))
    storm(desk, 10)
    desk.flush()
    assert people.messages == []
    assert len(people.got) == 10


def test_many_alarms_that_fail_together_are_told_together_later_and_given_up_in_one_sentence(desk: Desk) -> None:
    people = Reader()
    desk.use(Channel("people", people))
    storm(desk, 50)
    people.fault = lambda notice: unreachable(notice) if people.tries == 1 else None
    desk.flush()
    assert people.got == []
    desk.clock.wait(1)
    desk.flush()
    assert people.messages == [50]
    storm(desk, 50, "clear", NOON + SLOT)
    people.fault = lambda _: RefusedError("They said no.")
    desk.flush()
    assert desk.said[-1].startswith("GIVEN UP: 50 alarms were not delivered to people. They said no. The first said:")
    assert len(desk.said) == 3


def test_many_alarms_whose_mark_failed_are_not_sent_again(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise DataError("The disk is full.")

    people = Reader()
    desk.use(Channel("people", people))
    storm(desk, 50)
    with monkeypatch.context() as patched:
        patched.setattr(desk.journal.deliveries, "delivered", full)
        desk.flush()
    desk.flush()
    assert people.messages == [50]
    assert desk.journal.deliveries.waiting() == {}


def test_hundreds_of_lanes_are_all_delivered(desk: Desk) -> None:
    with desk.journal.slot("fire-limit", NOON) as change:
        for number in range(250):
            change.alarm(alarm(key=f"room {number}"))
    with desk.journal.slot("fire-limit", NOON + SLOT) as change:
        for number in range(250):
            change.alarm(alarm("clear", key=f"room {number}"))
    desk.flush()
    assert len(desk.sink.got) == 500
    for number in (0, 137, 249):
        assert [each.rsplit(" ", 1)[1] for each in desk.sink.got if f"room {number} " in each] == ["firing", "clear"]
