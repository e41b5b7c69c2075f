"""Kill -9 at random moments: whatever was released is paid for, and the ledger still verifies.

Seconds until a kill and steps until a kill are drawn from a fixed seed; when the former strike depends on the machine,
and every assertion holds whenever they do.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from louver.decide import Progressive, Shift
from louver.privacy import Unit, total_at
from louver.privacy.plan import charges_from_list
from louver.source import Table
from louver.steward import Steward
from tests.counting import counting
from tests.crash import rounds
from tests.crash.rounds import KILLED, Child, Rounds, Tally
from tests.ledger.forks import REFUSED
from tests.ledger.server import Server
from tests.often import often

ROUNDS = often(150, 1000)
KILLS = often(60, 300)
KILLS_PER_LEDGER = 50  # verifying is linear in the history, so it is kept short

Places = Callable[[], str]


class Moments(NamedTuple):
    """How long after the last whole round a kill may strike: about as long as one more round takes."""

    seconds: float
    steps: int


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A server of one's own, which is stopped in the middle."""
    server = Server()
    yield server
    server.remove()


@pytest.fixture(params=["sqlite", "postgres"])
def places(request: pytest.FixtureRequest, tmp_path: Path) -> Places:
    """Gives a new place for a ledger each time."""
    if request.param == "postgres":
        return request.getfixturevalue("server").new_database  # type: ignore[no-any-return]
    numbers = iter(range(10**6))
    return lambda: str(tmp_path / f"ledger-{next(numbers)}.db")


def kill_often(
    places: Places, folder: Path, work: Callable[[str, Path], Rounds], kills: int, most_rounds: int, moments: Moments
) -> Tally:
    """Children work some rounds; then half are killed after a time, and half after a number of steps of Python."""
    dice, tally = random.Random(7), Tally()
    while tally.kills < kills:
        where, key, log = places(), folder / f"key-{tally.kills}", folder / f"released-{tally.kills}"
        rounds.created(where, key)
        for _ in range(KILLS_PER_LEDGER):
            seconds = dice.uniform(0, moments.seconds) if dice.random() < 0.5 else None
            steps = dice.randint(1, moments.steps) if seconds is None else None
            child = rounds.start(work(where, key), log, dice.getrandbits(32), dice.randint(0, most_rounds), steps)
            assert rounds.ended(child, seconds, tally) == KILLED
            rounds.check(where, key, log)
        rounds.count(where, key, log, tally)
    return tally


def test_many_rounds_and_kills_lose_nothing(places: Places, tmp_path: Path) -> None:
    tally = kill_often(places, tmp_path, rounds.ledger_rounds, KILLS, most_rounds=7, moments=Moments(0.01, 8_000))
    assert tally.kills >= KILLS
    assert tally.rounds >= ROUNDS
    # Kills strike in the middle of rounds, before and after what was released.
    assert 0 < tally.unsettled < tally.rounds
    assert 0 < tally.releases <= tally.rounds


def steward_rounds(table: Table) -> Callable[[str, Path], Rounds]:
    """Real plans on real rows: what the steward hands out is what counts as released."""
    limits = {"hall": 20, "lab": 10, "attic": 200}
    plans = (
        counting(Progressive, "room", limits, unit=Unit.row(), miss_rate=0.05, slack=10),
        counting(Shift, "room", limits, unit=Unit.row(), miss_rate=0.05, slack=10),
    )

    def work(where: str, key: Path) -> Rounds:
        def run(child: Child) -> None:
            with rounds.opened(where, key) as ledger:
                steward = Steward(table, ledger)
                while True:
                    child.begin_round()
                    made = steward.run(child.dice.choice(plans))
                    (settled,) = (
                        entry for entry in ledger.entries(made.number) if entry.body["reservation"] == made.number
                    )
                    charges = settled.body["charges"]
                    child.release(
                        {room: str(made.charged) for room in limits} if charges is None else _by_room(charges, limits)
                    )

        return run

    return work


def _by_room(stored: object, rooms: Iterable[str]) -> dict[str, str]:
    charges = charges_from_list(stored)
    return {room: str(total_at(charges, {"room": room})) for room in rooms}


def test_a_steward_that_is_killed_has_paid_for_what_it_released(places: Places, tmp_path: Path) -> None:
    rows = tmp_path / "presence.csv"
    rows.write_text("device,room\n" + "".join(f"d{number},hall\n" for number in range(40)))
    table = Table(rows, dataset="house", unit=Unit.row())
    tally = kill_often(
        places, tmp_path, steward_rounds(table), often(20, 50), most_rounds=1, moments=Moments(0.1, 40_000)
    )
    assert tally.releases > 0
    assert tally.unsettled > 0


def test_a_server_that_crashes_in_the_middle_loses_nothing(server: Server, tmp_path: Path) -> None:
    where, key, log = server.new_database(), tmp_path / "key", tmp_path / "released"
    rounds.created(where, key)
    dice, tally = random.Random(8), Tally()
    for _ in range(4):
        children = [rounds.start(rounds.ledger_rounds(where, key), log, dice.getrandbits(32)) for _ in range(3)]
        assert rounds.ended(children.pop(), dice.uniform(0.1, 0.3), tally) == KILLED
        server.stop("immediate")
        try:
            assert {rounds.ended(child, None, tally) for child in children} == {REFUSED}
        finally:
            server.start()
        rounds.check(where, key, log)
    rounds.count(where, key, log, tally)
    assert 0 < tally.releases <= tally.rounds
