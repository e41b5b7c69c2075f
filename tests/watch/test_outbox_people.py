"""What people do to notices: they acknowledge, and they snooze."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from louver.watch.alarms import Channel
from tests.watch.alarms_made import MINUTE, NOON, Desk, alarm, raise_, unreachable


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path)
    yield made
    made.journal.close()


def test_an_open_alarm_is_repeated_until_somebody_acknowledges_it(desk: Desk) -> None:
    desk.use(Channel("desk", desk.sink, repeat=30 * MINUTE))
    made = raise_(desk.journal, alarm())
    for _ in range(70):
        desk.flush()
        desk.clock.wait(60)
    assert desk.sink.got == [f"{made.id}-{number} Aula firing" for number in range(3)]
    desk.journal.acknowledge(made.id, "porter")
    desk.clock.wait(7200)
    desk.flush()
    assert len(desk.sink.got) == 3


def test_a_reminder_that_waits_is_dropped_when_the_alarm_is_seen_or_over(desk: Desk) -> None:
    desk.use(Channel("desk", desk.sink, repeat=30 * MINUTE))
    seen, over = raise_(desk.journal, alarm()), raise_(desk.journal, alarm(key="Cafe"))
    desk.flush()
    desk.sink.fault = unreachable
    desk.clock.wait(1800)
    desk.flush()
    assert desk.journal.deliveries.waiting() == {"desk": 2}
    desk.journal.acknowledge(seen.id, "porter")
    raise_(desk.journal, alarm("clear", key="Cafe"))
    assert desk.journal.deliveries.waiting() == {"desk": 1}
    desk.sink.fault = lambda _: None
    desk.clock.wait(1800)
    desk.flush()
    assert desk.sink.states == ["Aula firing", "Cafe firing", "Cafe clear"]
    assert over.id != seen.id


def test_nobody_is_reminded_of_a_rule_outside_of_its_hours(desk: Desk) -> None:
    desk.use(Channel("desk", desk.sink, repeat=30 * MINUTE), resting=lambda at: {"fire-limit"} if at > NOON else ())
    raise_(desk.journal, alarm())
    raise_(desk.journal, alarm(rule="always"))
    desk.flush()
    desk.clock.wait(1800)
    desk.flush()
    assert desk.sink.states == ["Aula firing", "Aula firing", "Aula firing"]
    assert [each.alarm.rule for each in desk.journal.alarms() for _ in each.sent] == ["fire-limit", "always", "always"]


def test_the_first_notice_is_delivered_even_if_somebody_has_seen_the_alarm(desk: Desk) -> None:
    made = raise_(desk.journal, alarm())
    desk.journal.acknowledge(made.id, "porter")
    desk.flush()
    assert len(desk.sink.got) == 1


def test_a_snooze_holds_back_notices_and_not_states(desk: Desk) -> None:
    desk.journal.snooze("fire-limit", "Aula", NOON + 30 * MINUTE)
    raise_(desk.journal, alarm("firing"))
    raise_(desk.journal, alarm("firing", key="Cafe"))
    desk.flush()
    assert desk.sink.states == ["Cafe firing"]
    state = desk.journal.state("fire-limit", "Aula")
    assert state is not None
    assert state.state == "firing"
    assert {each.alarm.key for each in desk.journal.alarms()} == {"Aula", "Cafe"}


def test_what_a_snooze_held_back_is_told_in_order_when_it_ends(desk: Desk) -> None:
    desk.journal.snooze("fire-limit", None, NOON + 30 * MINUTE)
    raise_(desk.journal, alarm("firing"))
    raise_(desk.journal, alarm("clear"))
    desk.clock.wait(1799)
    desk.flush()
    assert desk.sink.got == []
    desk.clock.wait(1)
    desk.flush()
    assert desk.sink.states == ["Aula firing", "Aula clear"]


@pytest.mark.parametrize("state", ["undecided", "firing and undecided", "no data"])
def test_no_answer_breaks_a_snooze_after_what_it_stands_behind(desk: Desk, state: str) -> None:
    desk.journal.snooze("fire-limit", None, NOON + 600 * MINUTE)
    raise_(desk.journal, alarm("firing"))
    raise_(desk.journal, alarm("firing", key="Cafe"))
    desk.flush()
    assert desk.sink.got == []
    raise_(desk.journal, alarm(state))
    raise_(desk.journal, alarm("firing"))
    desk.flush()
    assert desk.sink.states == ["Aula firing", f"Aula {state}"]


def test_what_comes_after_the_notice_that_broke_a_snooze_is_held_back(desk: Desk) -> None:
    desk.journal.snooze("fire-limit", "Aula", NOON + 30 * MINUTE)
    for state in ("firing", "firing and undecided", "clear"):
        raise_(desk.journal, alarm(state))
    desk.flush()
    assert desk.sink.states == ["Aula firing", "Aula firing and undecided"]


def test_a_snooze_holds_back_reminders_of_everything(desk: Desk) -> None:
    desk.use(Channel("desk", desk.sink, repeat=30 * MINUTE))
    raise_(desk.journal, alarm("undecided"))
    desk.flush()
    desk.journal.snooze("fire-limit", "Aula", NOON + 120 * MINUTE)
    desk.clock.wait(3600)
    desk.flush()
    assert len(desk.sink.got) == 1
    desk.clock.wait(3600)
    desk.flush()
    assert len(desk.sink.got) == 2


def test_a_snooze_holds_back_a_reminder_that_waits_already(desk: Desk) -> None:
    desk.use(Channel("desk", desk.sink, repeat=30 * MINUTE))
    raise_(desk.journal, alarm("undecided"))
    desk.flush()
    desk.clock.wait(1800)
    desk.sink.fault = unreachable
    desk.flush()
    assert desk.journal.deliveries.waiting() == {"desk": 1}
    desk.journal.snooze("fire-limit", "Aula", NOON + 120 * MINUTE)
    desk.sink.fault = lambda _: None
    desk.clock.wait(1800)
    desk.flush()
    assert len(desk.sink.got) == 1


def test_a_channel_that_shows_states_is_not_snoozed(desk: Desk) -> None:
    desk.use(Channel("desk", desk.sink, snoozes=False))
    desk.journal.snooze("fire-limit", None, NOON + 30 * MINUTE)
    raise_(desk.journal, alarm("firing"))
    desk.flush()
    assert desk.sink.states == ["Aula firing"]


def test_a_running_outbox_sees_what_another_process_does(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A snooze from another terminal holds while the outbox runs, and its end lets go."""
    monkeypatch.setattr("louver.watch.outbox.POLL", 0.02)
    path = str(tmp_path / "journal")
    code = "import sys; from louver.watch.journal import Journal\nwith Journal.open(sys.argv[1]) as journal:\n    "

    def elsewhere(what: str) -> None:
        subprocess.run([sys.executable, "-c", code + what, path], check=True)

    async def work() -> None:
        running = asyncio.create_task(desk.outbox.run())
        asyncio.get_running_loop().call_later(60, running.cancel)
        await asyncio.to_thread(elsewhere, f"journal.snooze('fire-limit', None, {2**60})")
        raise_(desk.journal, alarm())
        desk.outbox.wake()
        await asyncio.sleep(0.2)
        assert desk.sink.got == []
        await asyncio.to_thread(elsewhere, "journal.snooze('fire-limit', None, 0)")
        while not desk.sink.got and not running.done():
            await asyncio.sleep(0.01)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    asyncio.run(work())
    assert desk.sink.states == ["Aula firing"]
