"""What a store keeps, gives back, and forgets, in a folder and in PostgreSQL."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import psycopg
import pytest

from louver.errors import DataError, ParameterError
from louver.sense import (
    Admitted,
    Appended,
    Door,
    Event,
    Forgotten,
    Occupancy,
    Presence,
    Retention,
    Rows,
    Rule,
    Slots,
    Store,
    store_postgres,
)
from louver.sense.readings_rows import ReadingRows
from louver.sense.store import InUseError
from louver.sense.store_folder import FILE
from tests.ledger.server import Server
from tests.sense.slowly import MINUTE, REGIONS, Seen, admitted, as_set
from tests.sense.test_pseudonyms import SALT, SPELLINGS

EVENTS = admitted([Seen(1, "a1", 4 * MINUTE), Seen(2, "b1", 6 * MINUTE), Seen(1, "b1", 12 * MINUTE)])


@pytest.fixture
def store(where: str) -> Iterator[Store]:
    with Store.open(where) as opened:
        yield opened


def as_rows(events: Admitted) -> set[tuple[int, str, int, str]]:
    columns = (events.person.tolist(), events.place.tolist(), events.time.tolist(), map(str, events.value.tolist()))
    return set(zip(*columns, strict=True))


def slots(*rows: tuple[int, int, str], begin: int, end: int) -> Slots:
    persons, minutes, names = zip(*rows, strict=True) if rows else ((), (), ())
    regions = tuple(sorted(set(names)))
    found = Rows.ordered(
        np.array(persons, np.int64),
        np.array(minutes, np.int64) * MINUTE,
        np.array([regions.index(name) for name in names], np.int32),
        regions,
    )
    return Slots(begin * MINUTE, end * MINUTE, 5 * MINUTE, found)


def test_what_is_appended_is_there_after_closing(where: str) -> None:
    events = Admitted.of([1, 2], ["a1", "b1"], [MINUTE, 2 * MINUTE], [21.5, np.nan])
    with Store.open(where) as store:
        assert store.append(events) == Appended(2, 0)
    with Store.open(where) as again:
        assert as_rows(again.events()) == as_rows(events)
        assert as_rows(again.events(2 * MINUTE)) == as_rows(events[1:])


def test_rows_of_readings_keep_their_values(store: Store) -> None:
    read = ReadingRows.ordered([2, 1], [0, 0], [0, 1], ("east", "west"), [7.25, -3.0])
    store.put(Slots(0, 10 * MINUTE, 5 * MINUTE, read))
    found = store.rows(0)
    assert isinstance(found, ReadingRows)
    assert list(zip(found.person.tolist(), found.names().tolist(), found.value.tolist(), strict=True)) == [
        (1, "west", -3.0),
        (2, "east", 7.25),
    ]
    assert len(store.rows(5 * MINUTE)) == 0


def test_an_event_that_is_there_is_not_stored_again(store: Store) -> None:
    assert store.append(EVENTS) == Appended(3, 0)
    assert store.append(EVENTS[[0, 0, 1]] + admitted([Seen(1, "a2", 4 * MINUTE)])) == Appended(1, 3)
    assert store.append(Admitted.none()) == Appended(0, 0)
    assert len(store.events()) == 4


def test_slots_are_stored_once_and_in_order(store: Store) -> None:
    assert store.next_slot is None
    assert store.put(slots((1, 5, "atrium"), (2, 10, "bar"), begin=5, end=15))
    assert not store.put(slots((1, 5, "atrium"), (2, 10, "bar"), begin=5, end=15))
    assert not store.put(slots(begin=15, end=15))
    assert store.put(slots(begin=15, end=20))
    assert store.next_slot == 20 * MINUTE
    assert [as_set(store.rows(minute * MINUTE)) for minute in (5, 10, 15)] == [
        {(1, 5 * MINUTE, "atrium")},
        {(2, 10 * MINUTE, "bar")},
        set(),
    ]
    with pytest.raises(ParameterError, match="the next one is 1970-01-01 00:20:00 UTC"):
        store.put(slots((1, 30, "bar"), begin=30, end=35))


def test_a_slot_that_is_not_final_is_refused(store: Store) -> None:
    with pytest.raises(DataError, match="The slot 1970-01-01 00:00:00 UTC is not final yet; ask again"):
        store.rows(0)
    store.put(slots((1, 0, "atrium"), begin=0, end=5))
    assert len(store.rows(0)) == 1
    with pytest.raises(DataError, match="The slot 1970-01-01 00:05:00 UTC is not final yet; ask again"):
        store.rows(5 * MINUTE)


def test_a_stream_goes_on_from_its_store(store: Store) -> None:
    first = Occupancy(Rule(), REGIONS)
    store.append(EVENTS[first.add(EVENTS)])
    store.put(first.advance())
    again = Occupancy(Rule(), REGIONS)
    assert store.next_slot is not None
    again.restore(store.events(store.next_slot - Rule().validity), store.next_slot)
    assert as_set(again.finish().rows) == as_set(first.finish().rows)


def test_what_has_expired_is_gone_and_its_slots_are_refused(store: Store) -> None:
    store.append(EVENTS)
    store.put(slots((1, 5, "atrium"), (2, 10, "bar"), begin=5, end=15))
    assert store.expire(6 * MINUTE) == Forgotten(events=1, rows=1)
    assert as_rows(store.events()) == as_rows(EVENTS[1:])
    with pytest.raises(DataError, match=r"00:05:00 UTC have expired; what was released about it stands\."):
        store.rows(5 * MINUTE)
    assert as_set(store.rows(10 * MINUTE)) == {(2, 10 * MINUTE, "bar")}
    assert store.expire(6 * MINUTE) == Forgotten(0, 0)
    assert store.next_slot == 15 * MINUTE


def test_an_empty_slot_expires_too(store: Store) -> None:
    store.put(slots(begin=5, end=15))
    assert store.expire(10 * MINUTE) == Forgotten(0, 0)
    with pytest.raises(DataError, match="have expired"):
        store.rows(5 * MINUTE)
    assert len(store.rows(10 * MINUTE)) == 0


def test_one_person_is_erased_and_the_others_stay(store: Store) -> None:
    store.append(EVENTS)
    store.put(slots((1, 5, "atrium"), (2, 5, "bar"), (1, 10, "bar"), begin=5, end=15))
    assert store.erase(1) == Forgotten(events=2, rows=2)
    assert as_rows(store.events()) == as_rows(EVENTS[1:2])
    assert as_set(store.rows(5 * MINUTE)) == {(2, 5 * MINUTE, "bar")}
    assert len(store.rows(10 * MINUTE)) == 0
    assert store.erase(1) == Forgotten(0, 0)


def test_several_are_erased_and_the_files_are_written_anew_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    written, name = [], "_rewrite" if isinstance(store, store_postgres.PostgresStore) else "_connect"
    rewrite = getattr(store, name)

    def counted() -> None:
        written.append(1)
        rewrite()

    monkeypatch.setattr(store, name, counted)
    store.append(EVENTS + admitted([Seen(3, "c1", 12 * MINUTE)]))
    store.put(slots((1, 5, "atrium"), (2, 5, "bar"), (1, 10, "bar"), begin=5, end=15))
    assert store.erase(1, 2, 7) == Forgotten(events=3, rows=3)
    assert store.events().person.tolist() == [3]
    assert len(store.rows(5 * MINUTE)) == 0
    assert len(written) == 1


def test_a_device_is_erased_through_the_door_in_any_spelling(store: Store) -> None:
    door = Door(SALT)
    store.append(door.admit([Event(SPELLINGS[0], "a1", 1), Event("other", "a1", 1)]))
    assert store.erase_device(SPELLINGS[4], door) == Forgotten(events=1, rows=0)
    assert store.events().person.tolist() == [door.person("other")]


def test_retention_forgets_at_whole_hours(store: Store) -> None:
    hour = 60 * MINUTE
    store.append(admitted([Seen(1, "a1", 30 * MINUTE), Seen(1, "a1", hour), Seen(1, "a1", 3 * hour)]))
    retention = Retention(timedelta(hours=2))
    assert retention.apply(store, 2 * hour + 59 * MINUTE) == Forgotten(0, 0)
    assert retention.apply(store, 3 * hour) == Forgotten(1, 0)
    assert sorted(store.events().time.tolist()) == [hour, 3 * hour]
    with pytest.raises(ParameterError, match="must be 1:00:00 or more"):
        Retention(timedelta(minutes=5))


def contents(where: str, server: Server | None) -> dict[str, bytes]:
    """The bytes of every file of the store: its folder, or the server's data without its log of writes."""
    folder = Path(where) if server is None else server.data / "base"
    found = {}
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            try:
                found[str(file)] = file.read_bytes()
            except FileNotFoundError:  # the server removes files of its own
                continue
    return found


def spelled(person: int) -> list[bytes]:
    return [person.to_bytes(8, "little"), person.to_bytes(8, "big"), str(person).encode(), f"{person:x}".encode()]


def checkpointed(store: Store, server: Server | None) -> None:
    """Whatever is in memory or in a log goes to the files."""
    if server is None:
        store._connected().execute("CHECKPOINT")  # type: ignore[attr-defined]
    else:
        server.run("CHECKPOINT")


@pytest.mark.parametrize("act", ["erase", "expire"])
def test_what_is_forgotten_is_gone_from_the_bytes_of_the_files(
    act: str, where: str, request: pytest.FixtureRequest
) -> None:
    server = None if "://" not in where else request.getfixturevalue("server")
    dice = np.random.default_rng(7)
    person, many = 0x0123_4567_89AB_CDE1, 5000
    others = Admitted.of(dice.integers(2**40, 2**62, many), ["a1"] * many, dice.integers(10**9, 10**10, many))
    own = Admitted.of([person] * 2, ["only here", "only here"], [MINUTE, 2 * MINUTE])
    with Store.open(where) as store:
        store.append(others + own)
        made = slots((person, 5, "seldom seen"), (5, 5, "bar"), (7, 25, "bar"), begin=5, end=30)
        stay = Presence(
            np.array([person]), np.zeros(1, np.int32), np.array([MINUTE]), np.array([12 * MINUTE]), ("stayed",)
        )
        store.put(replace(made, presence=stay))
        marks = [spelled(person)[0], b"only here", b"seldom seen", b"stayed"]
        checkpointed(store, server)
        before = b"\0".join(contents(where, server).values())
        assert all(mark in before for mark in marks)  # so that what follows can fail
        gone = store.erase(person) if act == "erase" else store.expire(15 * MINUTE)
        assert (gone.rows, gone.presence) == (1 if act == "erase" else 2, 1)
        for _ in range(2):
            for name, content in contents(where, server).items():
                assert not [mark for mark in [*spelled(person), *marks] if mark in content], name
            checkpointed(store, server)
    for name, content in contents(where, server).items():
        assert not [mark for mark in [*spelled(person), *marks] if mark in content], name
    with Store.open(where) as again:
        assert (again.events().time < 10**9).sum() == 0
        assert len(again.events()) == (many if act == "erase" else int((others.time >= 15 * MINUTE).sum()))


@pytest.mark.parametrize("is_old", [False, True])
def test_what_is_forgotten_is_not_in_the_statistics_of_the_server(server: Server, is_old: bool) -> None:
    """Of a store that was made with them, as ever, they are dropped when it is opened."""
    database, person = server.new_database(), 0x0123_4567_89AB_CDE1
    kept = {"person", "time", "start", "until", "value"}
    looked = "SELECT attname FROM pg_stats WHERE schemaname = %s AND tablename <> 'marks'"
    stay = Presence(np.array([person]), np.zeros(1, np.int32), np.array([MINUTE]), np.array([9 * MINUTE]), ("bar",))
    with Store.open(database) as store, psycopg.connect(database, autocommit=True) as other:
        if is_old:
            for table, column in (("events", "person"), ("events", "time"), ("presence", "until")):
                other.execute(f"ALTER TABLE louver_sense.{table} ALTER {column} SET STATISTICS 100".encode())
        store.append(Admitted.of([person] * 900 + [7] * 900, ["a1"] * 1800, np.arange(1800) + MINUTE, [1.5] * 1800))
        store.put(replace(slots((person, 5, "bar"), (7, 5, "bar"), begin=5, end=10), presence=stay))
        other.execute("ANALYZE")  # as the server does by itself
        found = {name for (name,) in other.execute(looked, ("louver_sense",))}
        assert found >= {"place", "region"}
        assert found & kept == ({"person", "time", "until"} if is_old else set())
    with Store.open(database) as store, psycopg.connect(database, autocommit=True) as other:
        assert len(store.events()) == 1800
        store.erase(person)
        other.execute("ANALYZE")
        assert not {name for (name,) in other.execute(looked, ("louver_sense",))} & kept
        other.execute("VACUUM FULL pg_statistic")  # a new store has nothing of it there
        other.execute("CHECKPOINT")
        assert not [name for name, content in contents(database, server).items() if spelled(person)[0] in content]
    server.drop_database(database)


def test_a_raw_id_is_in_no_file_no_log_no_error_and_no_tally(
    where: str, request: pytest.FixtureRequest, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    server = None if "://" not in where else request.getfixturevalue("server")
    caplog.set_level(logging.DEBUG)
    door = Door.open(tmp_path / "salt")
    said = []
    stream = Occupancy(Rule(), REGIONS)
    with Store.open(where) as store:
        for minute, spelling in enumerate(SPELLINGS):
            found = door.admit([Event(spelling, "a1", minute * MINUTE), Event(spelling, spelling, minute * MINUTE)])
            store.append(found[stream.add(found)])
        store.put(stream.finish())
        for wrong in (lambda: store.erase(SPELLINGS[0]), lambda: store.rows(-5)):  # type: ignore[arg-type]
            try:
                wrong()
            except (DataError, ParameterError) as fault:
                said.append(str(fault))
        files = {f"{name} before": content for name, content in contents(where, server).items()}
        checkpointed(store, server)
        said += [repr(store), repr(stream.tally), str(stream.tally.to_dict()), repr(store.events()), caplog.text]
        files |= contents(where, server)
        if server is not None:
            files["log"] = (server.folder / "log").read_bytes()
    octets = bytes.fromhex("a45e60c10f9b")
    texts = [spelling.strip().encode() for spelling in SPELLINGS]
    looked_for = [octets, octets[::-1], *texts, *(text.upper() for text in texts), *(text.lower() for text in texts)]
    for name, content in {**files, "what was said": "\n".join(said).encode()}.items():
        assert not [raw for raw in looked_for if raw in content], name
    assert door.person(SPELLINGS[0]).to_bytes(8, "little") in b"".join(files.values())


def test_a_store_that_is_open_is_refused_in_the_same_process_and_in_another(
    where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_postgres, "PATIENCE", 0.1)
    program = (
        "import sys; from louver.errors import DataError; from louver.sense import Store, store_postgres\n"
        "store_postgres.PATIENCE = 0.1\n"
        "try: Store.open(sys.argv[1])\nexcept DataError as fault: print(fault)"
    )
    with Store.open(where) as store:
        with pytest.raises(InUseError, match="is in use by another process, such as a watch; end that one first"):
            Store.open(where)
        ran = subprocess.run([sys.executable, "-c", program, where], capture_output=True, text=True, check=True)
        assert (
            ran.stdout
            == f"The store {store.address} is in use by another process, such as a watch; end that one first.\n"
        )
        assert store.append(EVENTS) == Appended(3, 0)
        store.erase(1)
        with pytest.raises(InUseError):  # the files changed places, and it is still held
            Store.open(where)
    with Store.open(where) as again:
        assert len(again.events()) == 1


def test_two_stores_of_one_server_do_not_keep_each_other_out(server: Server) -> None:
    database = server.new_database()
    with Store.open(f"{database}#east") as east, Store.open(f"{database}#west") as west:
        east.append(EVENTS)
        assert len(west.events()) == 0
    server.drop_database(database)


def test_a_number_is_remembered_under_its_name_and_is_no_mark_of_the_stores_own(where: str) -> None:
    with Store.open(where) as store:
        assert store.remembered("next") is None
        for value in (5, -7):
            store.remember("next", value)
        assert store.next_slot is None
    with Store.open(where) as again:
        again.erase(1)
        assert (again.remembered("next"), again.remembered("first")) == (-7, None)


def test_a_slot_that_cannot_be_stored_whole_is_not_stored_at_all(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither its rows nor its presence, nor that it was stored."""

    def dies(_: object) -> None:
        raise DataError("The disk is full.")

    with monkeypatch.context() as broken:
        broken.setattr(store, "_mark", dies)
        with pytest.raises(DataError, match="disk is full"):
            store.put(slots((1, 5, "atrium"), begin=5, end=15))
    assert store.next_slot is None
    assert store.put(slots((1, 5, "atrium"), begin=5, end=15))
    assert as_set(store.rows(5 * MINUTE)) == {(1, 5 * MINUTE, "atrium")}


def test_a_folder_that_others_can_see_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    with pytest.raises(DataError, match=f"can be seen by others; make it yours alone: chmod 700 {tmp_path}"):
        Store.open(tmp_path)


def test_the_file_is_its_owners_alone(tmp_path: Path) -> None:
    with Store.open(tmp_path / "store"):
        pass
    assert (tmp_path / "store").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "store" / FILE).stat().st_mode & 0o777 == 0o600
    with Store.open(tmp_path / "store") as store:
        store.append(EVENTS)
        store.erase(1)  # writes it anew
    assert (tmp_path / "store" / FILE).stat().st_mode & 0o777 == 0o600
    assert [each.name for each in (tmp_path / "store").iterdir()] == [FILE]


def test_a_folder_that_holds_something_else_is_refused_in_one_sentence(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    (tmp_path / FILE).write_text("this is no database")
    with pytest.raises(DataError, match=r"cannot be read or written; is store\.duckdb there a store"):
        Store.open(tmp_path)


def test_a_store_that_is_closed_says_so(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "store")
    store.close()
    with pytest.raises(DataError, match=r"is closed\."):
        store.events()


@pytest.mark.parametrize("wrong", ["", None, 5])
def test_what_is_no_store_is_refused(wrong: str) -> None:
    with pytest.raises(ParameterError, match="A store is a folder or a postgresql:// address"):
        Store.open(wrong)


def test_a_password_is_never_shown() -> None:
    with pytest.raises(DataError, match="cannot be reached") as refused:
        Store.open("postgresql://ann:secret@127.0.0.1:1/plant?connect_timeout=1")
    assert "secret" not in str(refused.value)
    with pytest.raises(ParameterError, match="small letters, digits and _ only"):
        Store.open("postgresql://ann@127.0.0.1:1/plant#Name")
