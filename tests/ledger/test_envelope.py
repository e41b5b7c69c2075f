"""The index never misses a scope, and the envelope finds the largest total, whatever was charged before."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from louver.ledger import schema
from louver.ledger.envelope import Envelope
from louver.ledger.index import meeting, scope_of
from louver.ledger.sqlite import _SQLiteConnection
from louver.ledger.store import Connection
from louver.ledger.totals import EVERYBODY, price, totals_of
from louver.privacy import Between, Charge, Scope, spent

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
EDGES = (
    -(2**128),
    -(2**62) - 1,
    -(2**62),
    -65,
    -1,
    0,
    1,
    2,
    3,
    63,
    64,
    65,
    4095,
    4096,
    2**40,
    2**62,
    2**62 + 1,
    2**128,
)
TIMES = (
    datetime.min.replace(tzinfo=UTC),
    *(NOON + timedelta(microseconds=step) for step in (0, 1, 64, 10**6, 10**9, 10**12)),
    datetime.max.replace(tzinfo=UTC),
)


@contextmanager
def tables() -> Iterator[Connection]:
    """The tables of a ledger in memory."""
    connection = sqlite3.connect(":memory:")
    for statement in (*schema.FOUNDATION, *schema.DERIVED):
        connection.execute(statement)
    yield _SQLiteConnection(connection)
    connection.close()


def intervals(edges: Sequence[int] | Sequence[datetime]) -> st.SearchStrategy[Between]:
    pairs = st.tuples(st.none() | st.sampled_from(edges), st.none() | st.sampled_from(edges))
    return pairs.filter(lambda pair: None in pair or pair[0] < pair[1]).map(lambda pair: Between(*pair))  # type: ignore[arg-type]


scopes = st.fixed_dictionaries(
    {},
    optional={
        "floor": st.sampled_from([1, 2]),
        "room": st.sampled_from("abc") | st.frozensets(st.sampled_from("abc"), min_size=1),
        "slot": intervals(EDGES),
        "time": intervals(TIMES),
    },
).map(Scope)
charges = st.builds(Charge, scopes, st.integers(1, 9).map(lambda tenths: Fraction(tenths, 10)))


def charged(connection: Connection, history: Sequence[Charge]) -> Envelope:
    envelope = Envelope(connection)
    for charge in history:
        new = totals_of([charge], EVERYBODY)
        envelope.add(new)
        peak = envelope.peak(charge.scope, price, "pure", EVERYBODY).price
        envelope.raise_bounds([charge.scope], "pure", EVERYBODY, (peak, Fraction(0)))
    return envelope


slots = st.tuples(scopes, intervals([*range(12), *EDGES])).map(
    lambda pair: Scope({**dict(pair[0].ranges), "slot": pair[1]})
)


@given(st.lists(st.builds(Charge, slots | scopes, st.just(1)), max_size=8), slots | scopes)
def test_the_index_finds_every_scope_that_meets_a_region(history: list[Charge], region: Scope) -> None:
    with tables() as connection:
        Envelope(connection).add(totals_of(history, EVERYBODY))
        classes = connection.rows("SELECT axis, reach FROM classes")
        found = {scope for scope, *_ in meeting(connection, region, classes)}
        every = connection.rows("SELECT scope FROM totals")
        for (text,) in every:
            assert text in found or scope_of(text).disjoint(region)


@given(st.lists(charges, max_size=12), scopes)
def test_the_largest_total_is_found_in_every_region(history: list[Charge], region: Scope) -> None:
    with tables() as connection:
        envelope = charged(connection, history)
        assert envelope.peak(region, price, "pure", EVERYBODY).price == spent(history, region).price


@given(st.lists(charges, max_size=12), scopes)
def test_renewed_bounds_still_hold(history: list[Charge], region: Scope) -> None:
    with tables() as connection:
        envelope = charged(connection, history)
        every = [charge.scope for charge in history]
        envelope.renew_bounds(every, ["pure"], [])
        assert envelope.block_above_its_bound(every, [EVERYBODY]) is None
        assert envelope.peak(region, price, "pure", EVERYBODY).price == spent(history, region).price


@pytest.mark.parametrize("first", [2**20, 2**9, 64, 16])
def test_blocks_that_were_cut_finer_keep_what_was_spent(first: int) -> None:
    """Long scopes come first, then short ones inside them: the blocks change their length in between."""
    long = [Charge(Scope({"slot": Between(start * first, (start + 1) * first)}), 1 + start) for start in range(3)]
    short = [Charge(Scope({"slot": Between(start, start + 1)}), 1) for start in (0, first - 1, first)]
    with tables() as connection:
        envelope = charged(connection, [*long, *short])
        assert connection.rows("SELECT exponent FROM axes") == [(0,)]
        assert envelope.is_long(Scope.everything())
        assert envelope.peak(Scope.everything(), price, "pure", EVERYBODY).price == 3
        assert envelope.block_above_its_bound([charge.scope for charge in long], [EVERYBODY]) is None


def test_a_year_of_slots_is_added_up_right() -> None:
    """Many blocks, of which only a few are looked at."""
    history = [
        Charge(Scope({"slot": Between(slot, slot + 1), "room": room}), 1) for slot in range(500) for room in "ab"
    ]
    history += [Charge(Scope({"slot": Between(250, 260)}), 1), Charge(Scope({"room": "b"}), 1)]
    with tables() as connection:
        envelope = charged(connection, history)
        assert envelope.is_long(Scope({"slot": Between(0, 500)}))
        assert envelope.peak(Scope.everything(), price, "pure", EVERYBODY).price == 3
        assert envelope.peak(Scope({"slot": Between(260, 500)}), price, "pure", EVERYBODY).price == 2
        assert envelope.peak(Scope({"room": "a", "slot": Between(0, 255)}), price, "pure", EVERYBODY).price == 2
