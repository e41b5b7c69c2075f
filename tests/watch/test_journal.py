"""The journal: a slot is written whole and once, alarms open and close, people acknowledge and snooze."""

from __future__ import annotations

import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from louver.errors import DataError, ParameterError
from louver.watch import journal_file
from louver.watch.journal import Journal
from louver.watch.journal_records import Released, Snooze, State
from tests.watch.alarms_made import NOON, SLOT, Clock, alarm, raise_


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def journal(tmp_path: Path, clock: Clock) -> Iterator[Journal]:
    with Journal.open(tmp_path / "journal", now=clock) as made:
        yield made


def test_a_slot_writes_states_releases_and_alarms_at_once(journal: Journal) -> None:
    made = alarm()
    with journal.slot("fire-limit", NOON) as change:
        change.set("Aula", "firing", NOON - SLOT, 2, 0)
        change.released("Aula", True)
        change.released("Cafe", False)
        change.alarm(made)
    assert journal.state("fire-limit", "Aula") == State("firing", NOON - SLOT, 2, 0, NOON)
    assert journal.state("fire-limit", "Cafe") is None
    assert journal.decided("fire-limit") == NOON
    assert list(journal.released("fire-limit")) == [Released(NOON, "Aula", True), Released(NOON, "Cafe", False)]
    assert [each.alarm for each in journal.alarms()] == [made]
    assert journal.deliveries.waiting() == {"desk": 1}


def test_a_slot_that_fails_leaves_nothing(journal: Journal) -> None:
    def fails() -> None:
        with journal.slot("fire-limit", NOON) as change:
            change.set("Aula", "firing", NOON, 1, 0)
            change.alarm(alarm())
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fails()
    assert journal.decided("fire-limit") is None
    assert journal.states("fire-limit") == {}
    assert journal.alarms(open_only=False) == []


def test_a_slot_whose_writing_fails_in_the_middle_leaves_nothing(journal: Journal) -> None:
    made = alarm()
    raise_(journal, made)
    with pytest.raises(DataError, match="SQLITE_CONSTRAINT"):
        raise_(journal, replace(alarm(key="Cafe"), id=made.id))
    assert journal.decided("fire-limit") == NOON
    assert journal.state("fire-limit", "Cafe") is None


@pytest.mark.parametrize("again", [NOON, NOON - SLOT])
def test_a_slot_is_decided_once_and_in_order(journal: Journal, again: int) -> None:
    raise_(journal, alarm())
    entered = False
    with pytest.raises(DataError, match="a slot is decided once"), journal.slot("fire-limit", again):
        entered = True
    assert not entered


def test_of_two_that_decide_a_slot_at_the_same_time_one_is_refused(journal: Journal, tmp_path: Path) -> None:
    def decide_twice(other: Journal) -> None:
        with journal.slot("fire-limit", NOON) as change:
            with other.slot("fire-limit", NOON) as first:
                first.set("Aula", "clear", NOON, 0, 1)
            change.set("Aula", "firing", NOON, 1, 0)

    with Journal.open(tmp_path / "journal") as other, pytest.raises(DataError, match="decided already"):
        decide_twice(other)
    state = journal.state("fire-limit", "Aula")
    assert state is not None
    assert state.state == "clear"


def test_rules_do_not_share_slots(journal: Journal) -> None:
    raise_(journal, alarm())
    raise_(journal, alarm(rule="heat"))
    assert journal.decided("heat") == journal.decided("fire-limit") == NOON


def test_a_change_between_slots_decides_none(journal: Journal) -> None:
    with journal.between("fire-limit", NOON + 7) as change:
        change.set("Aula", "no data", NOON + 7, 0, 0)
        change.alarm(alarm("no data"))
    assert journal.decided("fire-limit") is None
    assert [each.alarm.state for each in journal.alarms()] == ["no data"]
    with pytest.raises(ParameterError, match="Only a slot"), journal.between("fire-limit", NOON) as change:
        change.released("Aula", True)


def test_what_is_no_state_no_release_or_another_rules_alarm_is_refused(journal: Journal) -> None:
    with pytest.raises(ParameterError, match="one of clear, pending"), journal.slot("fire-limit", NOON) as change:
        change.set("Aula", "fine", NOON, 0, 0)
    with pytest.raises(ParameterError, match="finite"), journal.slot("fire-limit", NOON) as change:
        change.released("Aula", float("nan"))
    with pytest.raises(ParameterError, match="cannot be raised by"), journal.slot("heat", NOON) as change:
        change.alarm(alarm())


def test_numbers_and_texts_that_were_released_come_back_as_they_were(journal: Journal) -> None:
    for step, value in enumerate([187, -3, 26.5, "1/3", None, True]):
        with journal.slot("load", NOON + step * SLOT) as change:
            change.released("Ä\n", value)
    assert [each.value for each in journal.released("load")] == [187, -3, 26.5, "1/3", None, True]
    assert [each.value for each in journal.released("load", since=NOON + 4 * SLOT)] == [None, True]
    assert {each.key for each in journal.released("load")} == {"Ä\n"}


def test_many_slots_are_read_page_by_page_without_loss(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("louver.watch.journal.PAGE", 3)
    for step in range(10):
        with journal.slot("load", NOON + step * SLOT) as change:
            change.released("Aula", step)
    assert [each.value for each in journal.released("load")] == list(range(10))


@pytest.mark.parametrize("quiet", ["clear", "pending"])
def test_an_alarm_is_closed_when_its_key_is_quiet(journal: Journal, quiet: str) -> None:
    raise_(journal, alarm("undecided"))
    with journal.slot("fire-limit", NOON + SLOT) as change:
        change.set("Aula", quiet, NOON + SLOT, 0, 1)
    assert journal.alarms() == []
    assert len(journal.alarms(open_only=False)) == 1


@pytest.mark.parametrize("loud", ["firing", "firing and undecided", "undecided", "no data"])
def test_nothing_but_quiet_closes_an_alarm_by_itself(journal: Journal, loud: str) -> None:
    raise_(journal, alarm("firing"))
    with journal.slot("fire-limit", NOON + SLOT) as change:
        change.set("Aula", loud, NOON, 0, 0)
        change.set("Cafe", "clear", NOON, 0, 1)
    assert len(journal.alarms()) == 1


def test_a_newer_alarm_of_a_key_takes_the_place_of_the_older_one(journal: Journal) -> None:
    raise_(journal, alarm("firing"))
    raise_(journal, alarm("undecided"))
    raise_(journal, alarm("firing", key="Cafe"))
    assert [(each.alarm.key, each.alarm.state) for each in journal.alarms()] == [
        ("Aula", "undecided"),
        ("Cafe", "firing"),
    ]


def test_a_clear_notice_is_never_open(journal: Journal) -> None:
    raise_(journal, alarm("firing"))
    raise_(journal, alarm("clear"))
    assert journal.alarms() == []
    assert journal.deliveries.waiting() == {"desk": 2}


def test_an_alarm_is_acknowledged_by_the_beginning_of_its_id(journal: Journal, clock: Clock) -> None:
    made = raise_(journal, alarm())
    clock.wait(60)
    raised = journal.acknowledge(made.id[:6].upper(), "porter")
    assert (raised.who, raised.acknowledged) == ("porter", clock.now)
    assert journal.acknowledge(made.id, "somebody else").who == "porter"
    assert journal.alarms()[0].open


def test_an_id_that_is_unknown_short_or_of_several_is_refused(journal: Journal) -> None:
    raise_(journal, replace(alarm(), id="abcd1"))
    raise_(journal, replace(alarm(key="Cafe"), id="abcd2"))
    for given, said in [
        ("ffff", "No alarm's id begins"),
        ("abcd", "several alarms begin with 'abcd': abcd1, abcd2; give more"),
        ("abc", "at least 4"),
    ]:
        with pytest.raises(ParameterError, match=said):
            journal.acknowledge(given, "porter")
    assert all(each.acknowledged is None for each in journal.alarms())


def test_a_snooze_is_kept_until_its_time(journal: Journal, clock: Clock) -> None:
    journal.snooze("fire-limit", "Aula", NOON + SLOT, "porter")
    journal.snooze("fire-limit", None, NOON + 2 * SLOT, "porter")
    assert journal.snoozes() == [
        Snooze("fire-limit", None, NOON + 2 * SLOT, "porter"),
        Snooze("fire-limit", "Aula", NOON + SLOT, "porter"),
    ]
    clock.now = NOON + SLOT
    assert [each.key for each in journal.snoozes()] == [None]
    journal.snooze("fire-limit", None, clock.now)
    assert journal.snoozes() == []


def test_another_process_acknowledges_and_snoozes_while_the_journal_is_open(journal: Journal, tmp_path: Path) -> None:
    made = raise_(journal, alarm())
    code = (
        "import sys; from louver.watch.journal import Journal\n"
        "with Journal.open(sys.argv[1], create=False) as journal:\n"
        "    journal.acknowledge(sys.argv[2], 'porter'); journal.snooze('fire-limit', 'Aula', 2**60)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "journal"), made.id], check=True)
    assert journal.alarms()[0].who == "porter"
    assert [each.key for each in journal.snoozes()] == ["Aula"]


def test_what_is_forgotten_is_old_and_over(journal: Journal, clock: Clock) -> None:
    raise_(journal, alarm())
    raise_(journal, alarm("clear"))
    raise_(journal, alarm("undecided"))
    journal.deliveries.delivered([1, 2, 3], clock.now)
    clock.wait(3600)
    journal.forget(clock.now)
    assert [each.alarm.state for each in journal.alarms(open_only=False)] == ["undecided"]
    assert journal.decided("fire-limit") == NOON + 2 * SLOT
    assert list(journal.released("fire-limit")) == []


def test_an_alarm_that_nobody_has_got_yet_is_not_forgotten(journal: Journal, clock: Clock) -> None:
    raise_(journal, alarm())
    raise_(journal, alarm("clear"))
    clock.wait(3600)
    journal.forget(clock.now)
    assert journal.deliveries.waiting() == {"desk": 2}


def test_reminders_of_an_open_alarm_are_forgotten_but_for_the_last(journal: Journal, clock: Clock) -> None:
    raise_(journal, alarm())
    journal.deliveries.delivered([1], clock.now)
    for number in (2, 3, 4):
        clock.wait(60)
        assert journal.deliveries.repeat("desk", 60_000_000, clock.now) == 1
        journal.deliveries.delivered([number], clock.now)
    clock.wait(60)
    journal.forget(clock.now)
    assert [sent.notice for sent in journal.alarms()[0].sent] == [0, 3]
    assert journal.deliveries.repeat("desk", 60_000_000, clock.now) == 1
    assert journal.alarms()[0].sent[-1].notice == 4


def test_what_is_forgotten_takes_no_state_and_no_slot_twice(journal: Journal, clock: Clock) -> None:
    raise_(journal, alarm("clear"))
    before = journal.states("fire-limit")
    journal.forget(clock.now + 10**12)
    assert journal.states("fire-limit") == before
    with pytest.raises(DataError, match="decided once"), journal.slot("fire-limit", NOON):
        pass


def test_a_journal_of_the_first_version_is_taken_over(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    old = sqlite3.connect(path)
    for statement in journal_file.TABLES:
        old.execute(statement)
    old.execute("INSERT INTO states VALUES ('fire-limit', 'Aula', 'pending', 300, 2, 0, 600)")
    old.execute("INSERT INTO states VALUES ('fire-limit', 'Cafe', 'clear', 300, 0, 2, 600)")
    old.execute(f"PRAGMA application_id={journal_file.APPLICATION}")
    old.execute("PRAGMA user_version=1")
    old.commit()
    old.close()
    path.chmod(0o600)
    for _ in range(2):
        with Journal.open(path) as journal:
            assert journal.states("fire-limit") == {
                "Aula": State("pending", 300, 2, 0, 600, 300),
                "Cafe": State("clear", 300, 0, 2, 600, None),
            }
            assert journal.bind({"slot": "300"}) == {}


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o666])
@pytest.mark.parametrize("ending", ["", "-wal"])
def test_a_journal_that_others_can_use_is_refused(tmp_path: Path, mode: int, ending: str) -> None:
    kept = Journal.open(tmp_path / "journal")
    raise_(kept, alarm())
    (tmp_path / f"journal{ending}").chmod(mode)
    with pytest.raises(DataError, match=f"make it yours alone: chmod 600 .*journal{ending}"):
        Journal.open(tmp_path / "journal", create=False)
    kept.close()


def test_the_journal_is_its_owners_alone(tmp_path: Path) -> None:
    with Journal.open(tmp_path / "new" / "journal") as journal:
        raise_(journal, alarm())
        modes = {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "new").iterdir()}
    assert modes == {0o600}


def test_every_commit_is_durable(journal: Journal) -> None:
    with journal._file.read() as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA synchronous").fetchone() == (2,)


def test_what_is_no_journal_is_refused_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="There is no journal"):
        Journal.open(tmp_path / "missing", create=False)
    assert not (tmp_path / "missing").exists()
    (tmp_path / "text").write_text("This is a letter to the landlord, and no journal at all.\n" * 20)
    (tmp_path / "text").chmod(0o600)
    with pytest.raises(DataError, match="damaged or no journal"):
        Journal.open(tmp_path / "text")
    other = sqlite3.connect(tmp_path / "other")
    other.execute("CREATE TABLE things (name)")
    other.close()
    (tmp_path / "other").chmod(0o600)
    with pytest.raises(DataError, match="a database but no journal"):
        Journal.open(tmp_path / "other")


def test_a_newer_journal_and_a_closed_one_are_refused(tmp_path: Path) -> None:
    journal = Journal.open(tmp_path / "journal")
    with journal._file.write() as connection:
        connection.execute("PRAGMA user_version=99")
    journal.close()
    with pytest.raises(DataError, match="closed"):
        journal.alarms()
    with pytest.raises(DataError, match="newer Louver"):
        Journal.open(tmp_path / "journal")
