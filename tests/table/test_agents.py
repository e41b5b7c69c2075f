"""Laws are compared with the false-alarm probability `laws.FALSE_ALARM`, 1e-9."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from louver.errors import LouverError
from louver.table import Agent, Invariants, WholeTable
from louver.table.agents import KeyedBits
from tests.noise.laws import assert_follows, assert_rejects
from tests.table.tools import lattice_law

KEY = bytes(range(32))


def agents(key: bytes = KEY, place: str = "hall", cells: int = 4) -> list[Agent]:
    """Each with a table of its own, as on machines of their own."""
    return [Agent(key, WholeTable(Invariants.total(cells), epsilon=1), cell, place=place) for cell in range(cells)]


def published(rooms: list[Agent], round_number: int) -> list[int]:
    return [room.publish(0, round_number=round_number) for room in rooms]


def test_noise_of_agents_that_never_meet_cancels_in_the_total() -> None:
    rooms = agents()
    for round_number in range(1, 200):
        counts = [round_number % 5, 3, 0, 7]
        said = [room.publish(n, round_number=round_number) for room, n in zip(rooms, counts, strict=True)]
        assert sum(said) == sum(counts)


def test_each_round_place_and_key_has_noise_of_its_own() -> None:
    """Eight cells at rate 1/2: two independent vectors are equal with a chance below 1 in 10,000."""
    first = published(agents(cells=8), 1)
    assert first == published(agents(cells=8), 1)
    others = [
        published(agents(cells=8), 2),
        published(agents(cells=8, place="hall 2"), 1),
        published(agents(cells=8, key=KEY[::-1]), 1),
    ]
    assert all(first != other for other in others)


def test_derived_noise_follows_the_exact_law_and_not_one_15_percent_off() -> None:
    table = WholeTable(Invariants.total(3), epsilon=2)
    draws = np.concatenate([table.draw(50, bits=KeyedBits(KEY, b"hall", number)) for number in range(1, 1001)])
    for factor, check in ((1.0, assert_follows), (1.15, assert_rejects), (0.85, assert_rejects)):
        check(draws, lattice_law([[1, 1, 1]], lambda entry, factor=factor: math.exp(-factor * abs(entry)), 30))  # type: ignore[misc]


def test_bits_are_fresh_within_a_stream_and_do_not_run_into_other_names() -> None:
    bits = KeyedBits(KEY, b"hall", 1)
    assert bits.integer(256) != bits.integer(256)
    assert KeyedBits(KEY + b"h", b"all", 1).integer(256) != KeyedBits(KEY, b"hall", 1).integer(256)


def test_two_tables_under_one_name_share_no_stream() -> None:
    """With the same bits, two tables of the same cells at two prices would have noise that goes together."""
    tables = [
        WholeTable(Invariants.total(8), epsilon=1),
        WholeTable(Invariants.total(8), epsilon=2),
        WholeTable(Invariants.groups([0] * 4 + [1] * 4), epsilon=1),
        WholeTable(Invariants.total(8), rho=1, noise="gaussian"),
    ]
    seeds = {Agent(KEY, table, 0, place="hall")._purpose for table in tables}
    assert len(seeds) == len(tables)


def test_a_round_is_never_published_twice() -> None:
    room = agents()[0]
    room.publish(5, round_number=3)
    for used in (3, 2):
        with pytest.raises(LouverError, match=r"^Each round is published once, in rising order"):
            room.publish(6, round_number=used)
    later = Agent(KEY, WholeTable(Invariants.total(4), epsilon=1), 0, place="hall", first=4)
    with pytest.raises(LouverError, match="rising order"):
        later.publish(6, round_number=3)


def test_bad_agents_are_refused() -> None:
    table = WholeTable(Invariants.total(3), epsilon=1)
    with pytest.raises(LouverError, match=r"^A key is 32 to 1024 secret random bytes\.$"):
        Agent(b"short", table, 0, place="hall")
    with pytest.raises(LouverError, match=r"^The cell must be between 0 and 2"):
        Agent(KEY, table, 3, place="hall")
    with pytest.raises(LouverError, match=r"^Name the table"):
        Agent(KEY, table, 0, place="")
    with pytest.raises(LouverError, match=r"^Name the table"):
        Agent(KEY, table, 0, place=7)  # type: ignore[arg-type]
    with pytest.raises(LouverError, match=r"^Agents publish the cells of a WholeTable"):
        Agent(KEY, "no", 0, place="hall")  # type: ignore[arg-type]
    with pytest.raises(LouverError, match=r"without queries"):
        Agent(KEY, WholeTable(Invariants.total(2), epsilon=1, queries=[[1, 0], [0, 1]]), 0, place="hall")
    with pytest.raises(LouverError, match="signed whole numbers"):
        agents()[0].publish(1.5, round_number=1)  # type: ignore[arg-type]


def kept(path: Path, first: int = 1) -> Agent:
    return Agent(KEY, WholeTable(Invariants.total(4), epsilon=1), 0, place="hall", first=first, kept=path)


def test_an_agent_that_keeps_its_last_round_does_not_use_noise_twice_after_a_restart(tmp_path: Path) -> None:
    kept(tmp_path / "round").publish(7, round_number=5)
    again = kept(tmp_path / "round")
    for before in (1, 5):
        with pytest.raises(LouverError, match="published once"):
            again.publish(8, round_number=before)
    again.publish(8, round_number=6)
    assert (tmp_path / "round").read_text() == "6\n"
    with pytest.raises(LouverError, match="published once"):
        kept(tmp_path / "round", first=3).publish(8, round_number=6)


def test_an_agent_that_cannot_keep_its_round_publishes_nothing(tmp_path: Path) -> None:
    with pytest.raises(LouverError, match="the round is not published"):
        kept(tmp_path / "none" / "round").publish(7, round_number=1)
    (tmp_path / "round").write_text("seven\n")
    with pytest.raises(LouverError, match="cannot be read as an agent's last round"):
        kept(tmp_path / "round")
