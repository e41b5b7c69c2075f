"""Live streams: the same law after any restart, nothing paid or drawn twice, and death at any moment."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from louver.errors import DataError, LedgerError, LouverError, ParameterError
from louver.ledger import Cap, Ledger
from louver.privacy import Unit
from louver.sense.rows import Rows
from louver.source import Bound, Source, Table
from louver.source.measures import View
from louver.stream import state_file
from louver.stream.plan import StreamPlan
from louver.stream.planning import stream
from louver.stream.session import Session, payment_for, payment_of, released_ticks
from louver.stream.tick import Tick
from louver.watch.tables import Tables
from tests.ledger.forks import ending, forked
from tests.stream.living import KEY, LIVE, lived, made_ledger, table
from tests.stream.published import NINE, SLOTTED, TICKS, TRUTH, planned, values_of
from tests.stream.smoothing import script_noise, seeded
from tests.watch import made as watch


@pytest.mark.parametrize("name", LIVE)
def test_a_restart_before_every_tick_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    plan = planned(SLOTTED, Bound(1), mechanism=name, **LIVE[name])
    told = []
    for restarting in (False, True):
        folder = tmp_path / str(restarting)
        folder.mkdir()
        monkeypatch.setattr("louver.steward.SYSTEM", seeded(4))
        with made_ledger(folder) as ledger:
            told.append(lived(plan, ledger, folder, restarting=restarting))
            assert ledger.spent(kind="pure" if plan.rho is None else "zero-concentrated") == 1
            assert ledger.verify().ok
    steady, restarted = told
    assert [tick.number for tick in steady] == list(range(TICKS))
    assert list(dict.fromkeys(restarted)) == steady


def test_ticks_one_by_one_are_the_stream_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = planned(SLOTTED, Bound(1))
    script_noise(monkeypatch, 9)
    with made_ledger(tmp_path) as ledger:
        ticks = lived(plan, ledger, tmp_path)
    script_noise(monkeypatch, 9)
    whole = plan.run(View((TRUTH.T.reshape(-1),)), seeded(9)).answer
    assert [list(tick.values) for tick in ticks] == values_of(whole).tolist()
    half = plan.band(0.95, np.array(whole["deviations"]).T)
    assert half is not None
    np.testing.assert_allclose(np.array([tick.bands for tick in ticks], dtype=np.float64), half, atol=1e-6)


def test_what_was_published_is_had_again_from_the_ledger_alone(tmp_path: Path) -> None:
    plan, told = planned(SLOTTED, Bound(1)), list[Tick]()
    with made_ledger(tmp_path) as ledger:
        with Session.open(plan, ledger, tmp_path / "state", told.append, key=KEY) as session:
            for number in range(4):
                session.advance(None if number == 2 else table(number))
        (tmp_path / "state").unlink()
        assert list(released_ticks(plan, ledger, KEY)) == told
        assert [tick.missing for tick in told] == [False, False, True, False]
        assert ledger.spent() == 1


def test_a_key_pays_for_one_stream(tmp_path: Path) -> None:
    plan, other = planned(SLOTTED, Bound(1)), planned(SLOTTED, Bound(1), mechanism="laplace")
    with made_ledger(tmp_path) as ledger:
        assert payment_for(plan, ledger, KEY) is None
        lived(plan, ledger, tmp_path, until=1)
        assert payment_for(plan, ledger, KEY) == payment_of(ledger, KEY)
        with pytest.raises(ParameterError, match=r"key 'rooms' was used for another plan"):
            payment_for(other, ledger, KEY)


def test_a_tick_that_is_missing_is_released_as_one_without_rows(tmp_path: Path) -> None:
    plan = planned(SLOTTED, Bound(1), mechanism="laplace", epsilon=500)
    ledger, _ = Ledger.create(
        tmp_path / "l", dataset="house", unit=SLOTTED, caps=[Cap(epsilon=500)], key=tmp_path / "key"
    )
    with ledger, Session.open(plan, ledger, tmp_path / "state", lambda _: None, key=KEY) as session:
        assert session.next_tick == NINE
        assert session.advance(table(0)).values == tuple(TRUTH[0])
        missing = session.advance(None)
        assert (missing.values, missing.bands, missing.missing) == ((None, None), (None, None), True)
        assert missing.to_dict()["missing"] is True
        assert Tick.from_dict(missing.to_dict()) == missing
        assert session.advance(table(2)).values == tuple(TRUTH[2])
        assert session.advance(table(0)).values == (0, 0)  # rows of another tick
        assert session.advance(table(4)).to_dict()["regions"][0]["value"] == TRUTH[4][0]


def test_an_older_state_is_refused_and_draws_nothing(tmp_path: Path) -> None:
    plan = planned(SLOTTED, Bound(1))
    with made_ledger(tmp_path) as ledger:
        lived(plan, ledger, tmp_path, 2)
        shutil.copy(tmp_path / "state", tmp_path / "old")
        lived(plan, ledger, tmp_path, 4)
        (tmp_path / "old").replace(tmp_path / "state")
        again: list[Tick] = []
        session = Session.open(plan, ledger, tmp_path / "state", again.append, key=KEY)
        with session, pytest.raises(LedgerError, match="Tick 2 of this stream was published before"):
            session.advance(table(2))
        assert [tick.number for tick in again] == [1]


def test_a_lost_state_is_not_begun_anew(tmp_path: Path) -> None:
    plan = planned(SLOTTED, Bound(1))
    with made_ledger(tmp_path) as ledger:
        lived(plan, ledger, tmp_path, 2)
        (tmp_path / "state").unlink()
        session = Session.open(plan, ledger, tmp_path / "state", lambda _: None, key=KEY)
        with session, pytest.raises(LedgerError, match="Tick 0 of this stream was published before"):
            session.advance(table(0))
        assert not (tmp_path / "state").exists()


def test_a_copy_that_went_on_by_itself_is_refused(tmp_path: Path) -> None:
    plan = planned(SLOTTED, Bound(1))
    with made_ledger(tmp_path) as ledger:
        lived(plan, ledger, tmp_path, 1)
        one = Session.open(plan, ledger, tmp_path / "state", lambda _: None, key=KEY)
        (tmp_path / "other").mkdir()
        shutil.copy(tmp_path / "state", tmp_path / "other")
        published: list[Tick] = []
        with one, Session.open(plan, ledger, tmp_path / "other" / "state", published.append, key=KEY) as other:
            mark = one._begun(1)  # both have begun the tick, and the first one is over sooner
            one.advance(table(1))
            assert mark.number
            with pytest.raises(LedgerError, match="published before"):
                other.advance(table(1))
        state = json.loads((tmp_path / "state").read_text())
        state["released"]["values"][0][0] += 1
        (tmp_path / "state").write_text(json.dumps(state))
        with pytest.raises(LedgerError, match="not the one that tick 1 was published from"):
            Session.open(plan, ledger, tmp_path / "state", published.append, key=KEY)
        assert [tick.number for tick in published] == [0]


def test_a_stream_that_is_over_stays_over_and_settles(tmp_path: Path) -> None:
    plan = planned(SLOTTED, Bound(1))
    with made_ledger(tmp_path) as ledger:
        last = lived(plan, ledger, tmp_path)[-1]
        assert ledger.reservations() == []
        again: list[Tick] = []
        with Session.open(plan, ledger, tmp_path / "state", again.append, key=KEY) as session:
            assert session.is_over
            with pytest.raises(ParameterError, match="is over"):
                session.advance(table(0))
        assert again == [last]


@pytest.mark.parametrize(
    ("unit", "asked", "said"),
    [
        (Unit("person", "day(time)"), {}, "units that are in one tick each"),
        (Unit("person"), {}, "units that are in one tick each"),
        (SLOTTED, {"mechanism": "signed"}, "take 'kary'"),
    ],
)
def test_what_cannot_be_live_is_refused_before_anything_is_paid(
    tmp_path: Path, unit: Unit, asked: dict[str, Any], said: str
) -> None:
    with made_ledger(tmp_path) as ledger:
        with pytest.raises(ParameterError, match=said):
            Session.open(planned(unit, Bound(1), **asked), ledger, tmp_path / "state", lambda _: None, key=KEY)
        assert ledger.spent() == 0


def test_a_state_belongs_to_one_stream(tmp_path: Path) -> None:
    plan = planned(SLOTTED, Bound(1))
    with made_ledger(tmp_path) as ledger:
        lived(plan, ledger, tmp_path, 1)
        opened = partial(Session.open, ledger=ledger, path=tmp_path / "state", publish=lambda _: None)
        with pytest.raises(ParameterError, match="that of the stream 'rooms'"):
            opened(plan, key="other")
        with pytest.raises(ParameterError, match="used for another plan"):
            opened(planned(SLOTTED, Bound(1), mechanism="laplace"), key=KEY)
        with pytest.raises(ParameterError, match="plan of a stream"):
            opened("plan", key=KEY)  # type: ignore[arg-type]
        for wrong in ("", "x" * 101, None):
            with pytest.raises(ParameterError, match="1 to 100"):
                opened(plan, key=wrong)  # type: ignore[arg-type]
        with opened(plan, key=KEY), pytest.raises(DataError, match="Another process"):
            opened(plan, key=KEY)
        (tmp_path / "state").chmod(0o644)
        with pytest.raises(DataError, match="chmod 600"):
            opened(plan, key=KEY)
        (tmp_path / "state").chmod(0o600)
        for broken in ("", "{}", "[]", '{"format": 2}', '{"format": 1, "key": "rooms"}'):
            (tmp_path / "state").write_text(broken)
            with pytest.raises(DataError, match="no state"):
                opened(plan, key=KEY)


def test_the_state_is_for_its_owner_alone_and_shows_nothing(tmp_path: Path) -> None:
    with made_ledger(tmp_path) as ledger:
        lived(planned(SLOTTED, Bound(1), mechanism="pegasus"), ledger, tmp_path, 2)
    assert (tmp_path / "state").stat().st_mode & 0o777 == 0o600
    assert "not shown" in repr(state_file.State.load(tmp_path / "state"))


class Killer:
    """Ends the process, as kill -9 does, before or after the act of this number."""

    def __init__(self, at: int) -> None:
        self._left = at

    def __call__(self) -> None:
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        self._left -= 1

    def around(self, owner: Any, name: str) -> None:
        act: Callable[..., Any] = getattr(owner, name)

        def watched(*given: Any, **named: Any) -> Any:
            self()
            done = act(*given, **named)
            self()
            return done

        setattr(owner, name, watched)


def live_until_killed(folder: Path, plan: StreamPlan, at: int) -> None:
    killer = Killer(at)
    for owner, name in ((Ledger, "reserve"), (Ledger, "settle"), (state_file.State, "save"), (os, "fsync")):
        killer.around(owner, name)
    out = os.open(folder / "published", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def publish(tick: Tick) -> None:
        killer()
        os.write(out, f"{json.dumps([tick.number, tick.values])}\n".encode())
        killer()

    ledger = Ledger.open(folder / "house.ledger", key=folder / "key")
    with ledger, Session.open(plan, ledger, folder / "state", publish, key=KEY) as session:
        while not session.is_over:
            session.advance(None)  # no engine: its threads do not survive a fork


def test_killed_at_any_moment_no_tick_is_drawn_twice_or_left_out(tmp_path: Path) -> None:
    plan = planned(SLOTTED, Bound(1), begin="2018-02-01T09:00", end="2018-02-01T09:15", epsilon=1)
    kills = 0
    for at in range(200):
        folder = tmp_path / str(at)
        folder.mkdir()
        made_ledger(folder).close()
        killed = ending(forked(partial(live_until_killed, folder, plan, at))) == -signal.SIGKILL
        kills += killed
        if killed:
            assert ending(forked(partial(live_until_killed, folder, plan, 10**6))) == 0
        told = [json.loads(line) for line in (folder / "published").read_text().splitlines()]
        assert [number for number, _ in dict.fromkeys((number, tuple(values)) for number, values in told)] == [0, 1, 2]
        with Ledger.open(folder / "house.ledger", key=folder / "key") as ledger:
            assert ledger.spent() == 1
            assert ledger.verify().ok
            assert ledger.reservations() == []
        if not killed:
            break
    assert kills >= 40


def test_a_tick_that_cannot_be_read_releases_nothing_and_is_drawn_later(tmp_path: Path) -> None:
    plan = planned(SLOTTED, Bound(1))
    broken = Table({"person": np.array(["a"], dtype=object)}, dataset="house", unit=SLOTTED)
    published: list[Tick] = []
    with made_ledger(tmp_path) as ledger:
        with Session.open(plan, ledger, tmp_path / "state", published.append, key=KEY) as session:
            with suppress(LouverError):
                session.advance(broken)
            assert (session.ticks, published) == (0, [])
            session.advance(table(0))
        assert [tick.number for tick in published] == [0]
        assert ledger.spent() == 1


def test_the_rows_of_a_watch_can_be_a_stream(tmp_path: Path) -> None:
    """Tables as a watch makes them, slot by slot: the stream is of the same slots, people and regions."""
    rules = watch.house(tmp_path, cap=500)
    tables = Tables(rules)
    described = Source(tables.empty(), domains=rules.building.domain("region"))
    hour: dict[str, Any] = {"every": "5m", "begin": "2026-03-02T09:00", "end": "2026-03-02T10:00", "by": "region"}
    plan = stream(described, mechanism="laplace", epsilon=500, rows_per_unit=1, **hour)
    counts = [(5, 0, 2), (0, 9, 0)]
    with Ledger.open(rules.ledger) as ledger:
        with Session.open(plan, ledger, tmp_path / "state", lambda _: None, key=KEY) as session:
            for number, there in enumerate(counts):
                slot = watch.NINE + number * watch.STEP
                region = np.repeat(np.arange(3), there)
                rows = Rows.ordered(np.arange(len(region)), np.full(len(region), slot), region, watch.REGIONS)
                assert session.advance(tables.of(slot, rows)).values == there
        assert ledger.spent() == 500


def test_a_tick_that_could_not_be_published_is_published_before_the_next_one(tmp_path: Path) -> None:
    plan = planned(SLOTTED, Bound(1))
    heard: list[int] = []
    fails = iter([True, True, False, False])

    def publish(tick: Tick) -> None:
        if next(fails):
            raise DataError("The broker is not there.")
        heard.append(tick.number)

    ledger = made_ledger(tmp_path)
    with ledger, Session.open(plan, ledger, tmp_path / "state", publish, key=KEY) as session:
        for _ in range(2):
            with pytest.raises(DataError, match="not there"):
                session.advance(table(0))
            assert session.ticks == 1
        session.advance(table(1))
    assert heard == [0, 1]


def test_a_state_of_which_the_ledger_knows_nothing_is_refused(tmp_path: Path) -> None:
    plan = planned(SLOTTED, Bound(1))
    (tmp_path / "old").mkdir()
    with made_ledger(tmp_path / "old") as ledger:
        lived(plan, ledger, tmp_path / "old", 2)
    with made_ledger(tmp_path) as other:
        for _ in range(2):  # as often as somebody tries
            with pytest.raises(LedgerError, match="knows nothing of the stream"):
                Session.open(plan, other, tmp_path / "old" / "state", lambda _: None, key=KEY)
        assert other.spent() == 0
