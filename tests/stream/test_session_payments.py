"""What a live stream needs of its ledger and its state: a payment of its own, and a last tick that both know."""

from __future__ import annotations

import json
import shutil
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from louver.errors import AccessError, BudgetError, DataError, LedgerError, ParameterError
from louver.ledger import Cap, Ledger
from louver.source import Bound, rows
from louver.steward import Payment, Steward
from louver.stream import session
from louver.stream.session import Session, released_ticks
from louver.stream.tick import Tick
from tests.stream.living import KEY, LIVE, lived, made_ledger, table
from tests.stream.published import SLOTTED, TICKS, house, planned


def alter(path: Path, **changed: Any) -> None:
    """Writes over what a state says."""
    path.write_text(json.dumps({**json.loads(path.read_text()), **changed}))


def test_a_tick_that_the_ledger_does_not_know_is_refused_as_often_as_it_is_tried(tmp_path: Path) -> None:
    """As after `louver ledger recover` of an older copy: the state is newer than the ledger."""
    plan = planned(SLOTTED, Bound(1), mechanism="kary")
    published: list[Tick] = []
    with made_ledger(tmp_path) as ledger:
        lived(plan, ledger, tmp_path, 1)
        (tmp_path / "copy").mkdir()
        with made_ledger(tmp_path / "copy") as copy:
            lived(plan, copy, tmp_path / "copy", 3)
        shutil.copy(tmp_path / "copy" / "state", tmp_path / "state")
        entries = len(list(ledger.entries()))
        for _ in range(2):
            with pytest.raises(LedgerError, match="knows nothing of tick 2"):
                Session.open(plan, ledger, tmp_path / "state", published.append, key=KEY)
        assert len(list(ledger.entries())) == entries
    assert published == []


@pytest.mark.parametrize("name", LIVE)
def test_what_a_mechanism_remembers_must_be_of_the_same_tick(tmp_path: Path, name: str) -> None:
    plan = planned(SLOTTED, Bound(1), mechanism=name, **LIVE[name])
    published: list[Tick] = []
    with made_ledger(tmp_path) as ledger:
        lived(plan, ledger, tmp_path, 1)
        early = json.loads((tmp_path / "state").read_text())["private"]
        lived(plan, ledger, tmp_path, 3)
        alter(tmp_path / "state", private=early)
        with pytest.raises(DataError, match="is not one after 3 ticks"):
            Session.open(plan, ledger, tmp_path / "state", published.append, key=KEY)
        alter(tmp_path / "state", private=None)
        with pytest.raises(DataError, match="no state of a stream"):
            Session.open(plan, ledger, tmp_path / "state", published.append, key=KEY)
    assert published == []


def test_a_live_stream_and_one_as_a_whole_never_share_a_payment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither by the same words, nor where one begins while the other reads."""
    plan = planned(SLOTTED, Bound(1))
    heard: list[Tick] = []
    with house(tmp_path, cap=1) as made:
        opened = partial(Session.open, plan, made.ledger, tmp_path / "state", heard.append, key=KEY)
        read = rows.read

        def meanwhile(*given: Any) -> Any:
            with pytest.raises(ParameterError, match="used for something else than a live stream"):
                opened()
            return read(*given)

        monkeypatch.setattr(rows, "read", meanwhile)
        made.steward.run(plan, key=KEY)
        monkeypatch.undo()
        with pytest.raises(ParameterError, match="used for something else than a live stream"):
            opened()
        assert made.steward.run(plan, key=KEY).again
        monkeypatch.setattr(session, "_check_payment", lambda *_: None)
        with pytest.raises(BudgetError):  # also where both look at once and see nothing of each other
            opened()
        assert made.ledger.spent() == 1
    assert heard == []


def test_the_key_of_a_live_stream_is_refused_for_one_as_a_whole(tmp_path: Path) -> None:
    plan = planned(SLOTTED, Bound(1))
    with house(tmp_path, cap=2) as made:
        for until in (2, TICKS):  # while it goes on, and when it is over
            lived(plan, made.ledger, tmp_path, until)
            with pytest.raises(ParameterError, match="The key 'rooms' is that of a live stream"):
                made.steward.run(plan, key=KEY)
        for key in (entry.body["key"] for entry in made.ledger.entries() if entry.act == "reserved"):
            with pytest.raises(ParameterError, match="are those of live streams"):
                made.steward.run(plan, key=key)
        assert made.ledger.reserved(KEY) is None
        assert made.ledger.spent() == 1


@pytest.mark.parametrize("other", ["rooms tick 1", "tick 1 of rooms", "live: tick 1 of rooms", "all of rooms"])
def test_a_key_that_reads_like_a_part_of_another_stream_is_none_of_it(tmp_path: Path, other: str) -> None:
    plan = planned(SLOTTED, Bound(1), epsilon=Fraction(1, 2))
    with made_ledger(tmp_path) as ledger:
        with Session.open(plan, ledger, tmp_path / "other", lambda _: None, key=other):
            pass
        assert [tick.number for tick in lived(plan, ledger, tmp_path, 3)] == [0, 1, 2]
        assert ledger.spent() == 1


def test_a_stream_that_is_paid_goes_on_where_a_cap_is_lowered(tmp_path: Path) -> None:
    plan = planned(SLOTTED, Bound(1))
    ledger, tokens = Ledger.create(tmp_path / "l", dataset="house", unit=SLOTTED, caps=[Cap(epsilon=1)])
    with ledger:
        lived(plan, ledger, tmp_path, 1)
        ledger.set_cap(Cap(epsilon=Fraction(1, 2)), list(tokens.values()))
        assert [tick.number for tick in lived(plan, ledger, tmp_path, 3)] == [0, 1, 2]
        assert not [entry for entry in ledger.entries() if entry.act == "denied"]
        assert ledger.verify().ok


def test_a_part_is_paid_for_in_nobodys_name_without_a_token(tmp_path: Path) -> None:
    plan = planned(SLOTTED, Bound(1))
    ledger, tokens = Ledger.create(
        tmp_path / "l", dataset="house", unit=SLOTTED, caps=[Cap(epsilon=1)], owners=["ada"], analysts=["bob"]
    )
    with ledger:
        steward = Steward(table(0), ledger)
        with pytest.raises(AccessError, match="'bob' has a token"):
            steward.advance(plan, 0, None, paid=Payment(KEY, who="bob"))
        assert ledger.spent() == 0
        with Session.open(plan, ledger, tmp_path / "state", lambda _: None, key=KEY, token=tokens["bob"]) as session:
            session.advance(table(0))
        assert {entry.who for entry in ledger.entries() if entry.act == "reserved"} == {"bob"}


@pytest.mark.parametrize("was_committed", [True, False])
@pytest.mark.parametrize("number", [0, 4, TICKS - 1])
def test_a_stream_goes_on_where_its_ledger_was_away_when_a_tick_was_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, was_committed: bool, number: int
) -> None:
    """In the same process, with each tick told once, and the noise that is on disk."""
    plan, told = planned(SLOTTED, Bound(1)), list[Tick]()
    with made_ledger(tmp_path) as ledger:
        with Session.open(plan, ledger, tmp_path / "state", told.append, key=KEY) as session:
            while session.ticks < number:
                session.advance(table(session.ticks))
            settle = Ledger.settle

            def away(*given: Any, **named: Any) -> None:
                if was_committed:
                    settle(*given, **named)
                raise LedgerError("The connection went away.")

            monkeypatch.setattr(Ledger, "settle", away)
            with pytest.raises(LedgerError, match="went away"):
                session.advance(table(number))
            assert len(told) == number
            monkeypatch.undo()
            while not session.is_over:
                session.advance(table(session.ticks))
            with pytest.raises(ParameterError, match="is over"):
                session.advance(None)
        assert [tick.number for tick in told] == list(range(TICKS))
        assert list(released_ticks(plan, ledger, KEY)) == told
        assert ledger.spent() == 1
