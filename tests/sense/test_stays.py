"""Presence that a stream gives out with its slots, that a store keeps, and that is asked about."""

from __future__ import annotations

import random
from datetime import UTC, date, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import louver
from louver.errors import DataError, ParameterError
from louver.ledger import Cap, Ledger
from louver.privacy import Unit
from louver.question import col, count
from louver.sense import Admitted, Batch, Forgotten, Occupancy, Presence, Rotating, Rule, Slots, Store, microseconds
from louver.sense.presence import HOUR, last_hour
from louver.source import Bound, Domain, Source, Table
from tests.sense.slowly import MINUTE, REGIONS, Seen, admitted, as_list
from tests.sense.test_presence import RULES, within_lateness

Stay = tuple[int, str, int, int]


def present(*stays: Stay) -> Presence:
    regions = tuple(sorted({region for _, region, _, _ in stays}))
    person, start, end = (np.array([stay[at] for stay in stays], dtype=np.int64) for at in (0, 2, 3))
    return Presence(person, np.array([regions.index(each[1]) for each in stays], np.int32), start, end, regions)


def joined(pieces: list[Presence], end: int) -> list[Stay]:
    """Pieces as a store would give them back."""
    stays = [stay for piece in pieces for stay in as_list(piece)]
    assert all(
        before[0] != after[0] or before[3] <= after[2] for before, after in pairwise(sorted(stays, key=by_start))
    )
    return as_list(present(*stays).within(0, end))


def by_start(stay: Stay) -> tuple[int, int]:
    return stay[0], stay[2]


def clipped(stays: list[Stay], begin: int, end: int) -> list[Stay]:
    moved = [(person, region, max(start, begin), min(until, end)) for person, region, start, until in stays]
    return [stay for stay in moved if stay[2] < stay[3]]


# Few people, heard every other minute on a grid that meets slots, hours and ends: what comes late changes a stay.
BUSY = st.lists(
    st.builds(
        Seen, st.integers(0, 1), st.sampled_from([*REGIONS]), st.integers(0, 390).map(lambda at: at * MINUTE // 3)
    ),
    max_size=60,
)


@given(
    BUSY,
    st.one_of(RULES, st.just(Rule(lateness=3 * MINUTE))),
    st.sampled_from([None, None, 2]),
    st.integers(0, 999),
    st.integers(1, 7),
    st.sets(st.integers(0, 60), max_size=20),
)
@settings(max_examples=70)
def test_pieces_of_a_stream_that_is_restarted_are_the_presence_of_a_batch(
    events: list[Seen], rule: Rule, during: int | None, seed: int, size: int, restarts: set[int]
) -> None:
    """Out of order within the lateness, in pieces of any size, and with a stop after any of them."""
    whole = as_list(Batch(admitted(events), rule, REGIONS).presence())
    arriving = admitted(within_lateness(events, rule, seed))
    stream, stored, pieces = Occupancy(rule, REGIONS, during=during), admitted([]), []
    for number, begin in enumerate(range(0, len(arriving), size)):
        batch = arriving[begin : begin + size]
        stored += batch[stream.add(batch)]
        slots = stream.advance()
        if slots.presence is not None:
            pieces.append(slots.presence)
            known = last_hour(slots.end - rule.slot)
            assert joined(pieces, known) == clipped(whole, 0, known)
        if number in restarts and stream.next_slot is not None:
            following = stream.next_slot
            stream = Occupancy(rule, REGIONS, during=during)
            stream.restore(stored[stored.time >= rule.needed_from(following)], following)
    last = stream.finish().presence
    assert joined([*pieces, *([] if last is None else [last])], 2**62) == whole


def test_an_event_that_comes_late_ends_the_stay_that_a_newer_one_seemed_to_end() -> None:
    stream, found = Occupancy(Rule(lateness=3 * MINUTE), REGIONS), []
    for place, half_minutes in (("a1", 1196), ("b1", 1207), ("c1", 1202), ("c1", 1280)):
        stream.add(admitted([Seen(7, place, half_minutes * MINUTE // 2)]))
        presence = stream.advance().presence
        found += [] if presence is None else [presence]
    assert [(region, start * 2 / MINUTE, end * 2 / MINUTE) for _, region, start, end in joined(found, 2**62)] == [
        ("atrium", 1196, 1202),
        ("cellar", 1202, 1207),
        ("bar", 1207, 1227),
    ]


def test_what_a_store_has_is_the_presence_of_a_batch_whenever_it_was_closed(where: str) -> None:
    rule, dice, stored = Rule(lateness=4 * MINUTE), random.Random(8), admitted([])
    seen = [Seen(dice.randrange(3), dice.choice([*REGIONS]), dice.randrange(4 * HOUR)) for _ in range(240)]
    arriving = within_lateness(seen, rule, 8)
    for begin in range(0, len(arriving), 20):
        with Store.open(where) as store:
            stream, following = Occupancy(rule, REGIONS), store.next_slot or 0
            stream.restore(store.events(rule.needed_from(following)), following)
            for first in range(begin, begin + 20, 4):
                events = admitted(arriving[first : first + 4])
                events = events[stream.add(events)]
                store.append(events)
                stored += events
                store.put(stream.advance())
    with Store.open(where) as store:
        found = store.presence(0, 3 * HOUR)
    assert as_list(found) == as_list(Batch(stored, rule, REGIONS).presence().within(0, 3 * HOUR))


def kept(store: Store, *seen: Seen, until: int) -> None:
    """Events and all that became final by a time, slot by slot as a watch stores them."""
    stream = Occupancy(Rule(), REGIONS)
    stream.restore(Admitted.none(), 0)
    for slot in range(0, until + 1, 5 * MINUTE):
        events = admitted(each for each in seen if slot <= each.time < min(slot + 5 * MINUTE, until))
        store.append(events[stream.add(events)])
        store.put(stream.advance(slot))


DAY_OF_TWO = [
    *(Seen(1, "a1", minute * MINUTE) for minute in range(5, 200, 5)),
    *(Seen(2, "b1", minute * MINUTE) for minute in (50, 65)),
]


@pytest.fixture
def store(where: str) -> Any:
    with Store.open(where) as opened:
        yield opened


def test_a_stay_over_hours_is_one_again_and_lies_in_the_time_that_is_asked_about(store: Store) -> None:
    kept(store, *DAY_OF_TWO, until=5 * HOUR)
    stays = [
        (1, "atrium", 5 * MINUTE, 205 * MINUTE),
        (2, "bar", 50 * MINUTE, 60 * MINUTE),
        (2, "bar", 65 * MINUTE, 75 * MINUTE),
    ]
    assert as_list(store.presence(0, 4 * HOUR)) == stays
    assert as_list(store.presence(HOUR, 2 * HOUR)) == [
        (1, "atrium", HOUR, 2 * HOUR),
        (2, "bar", 65 * MINUTE, 75 * MINUTE),
    ]
    assert len(store.presence(4 * HOUR, 4 * HOUR)) == 0


def test_a_stay_that_goes_on_is_known_up_to_the_last_whole_hour(store: Store) -> None:
    kept(store, *DAY_OF_TWO, until=130 * MINUTE)
    assert as_list(store.presence(HOUR, 2 * HOUR))[0] == (1, "atrium", HOUR, 2 * HOUR)
    with pytest.raises(DataError, match="Presence is final up to 1970-01-01 02:00:00 UTC; ask again when more is"):
        store.presence(HOUR, 2 * HOUR + 1)


def test_presence_expires_and_what_began_before_begins_there(store: Store) -> None:
    kept(store, *DAY_OF_TWO, until=5 * HOUR)
    assert store.expire(90 * MINUTE).presence == 3  # both stays of 2, and the first hour of 1
    assert as_list(store.presence(90 * MINUTE, 4 * HOUR)) == [(1, "atrium", 90 * MINUTE, 205 * MINUTE)]
    with pytest.raises(DataError, match=r"Presence from before 1970-01-01 01:30:00 UTC has expired; what was released"):
        store.presence(90 * MINUTE - 1, 4 * HOUR)


def test_what_began_before_the_expiry_is_cut_where_nothing_else_expires(where: str) -> None:
    with Store.open(where) as store:
        rows = Occupancy(Rule(), REGIONS).finish().rows
        store.put(Slots(HOUR, 3 * HOUR, 5 * MINUTE, rows, present((1, "atrium", 5, 2 * HOUR))))
        assert store.expire(HOUR) == Forgotten(0, 0, 0)
        assert store._presence(0, 3 * HOUR).start.tolist() == [HOUR]


def test_presence_of_one_person_is_erased_and_that_of_others_stays(store: Store) -> None:
    kept(store, *DAY_OF_TWO, until=5 * HOUR)
    others = as_list(store.presence(0, 4 * HOUR))[1:]
    assert store.erase(1).presence == 4
    assert as_list(store.presence(0, 4 * HOUR)) == others


def test_presence_that_was_never_kept_is_not_answered_as_if_nobody_had_been_there(store: Store) -> None:
    with pytest.raises(DataError, match="Presence was not kept so far"):
        store.presence(0, HOUR)
    rows = Occupancy(Rule(), REGIONS).finish().rows
    store.put(Slots(0, HOUR, 5 * MINUTE, rows))  # as stores of before did
    store.put(Slots(HOUR, 3 * HOUR, 5 * MINUTE, rows, present((1, "atrium", HOUR + 5, 2 * HOUR))))
    assert as_list(store.presence(HOUR, 2 * HOUR)) == [(1, "atrium", HOUR + 5, 2 * HOUR)]
    with pytest.raises(
        DataError, match="Presence is kept from 1970-01-01 01:00:00 UTC on; ask about a time after that"
    ):
        store.presence(0, 2 * HOUR)


def test_presence_is_known_from_when_on_everybody_can_have_been_heard(store: Store) -> None:
    rows = Occupancy(Rule(), REGIONS).finish().rows
    store.begin(HOUR + 10 * MINUTE)
    store.put(Slots(HOUR, 4 * HOUR, 5 * MINUTE, rows, present((1, "atrium", HOUR + 5, 3 * HOUR))))
    since = HOUR + 10 * MINUTE
    assert as_list(store.presence(since, 3 * HOUR)) == [(1, "atrium", since, 3 * HOUR)]
    for before in (0, since - 1):
        with pytest.raises(DataError, match="Presence is kept from 1970-01-01 01:10:00 UTC on; ask about a time after"):
            store.presence(before, 3 * HOUR)


def test_before_the_first_slot_nothing_is_known(store: Store) -> None:
    rows = Occupancy(Rule(), REGIONS).finish().rows
    store.put(Slots(HOUR, 4 * HOUR, 5 * MINUTE, rows, present()))
    with pytest.raises(DataError, match="Presence is kept from 1970-01-01 01:00:00 UTC on"):
        store.presence(0, HOUR)
    assert len(store.presence(HOUR, 3 * HOUR)) == 0


def test_a_time_of_which_nothing_is_known_is_not_answered_as_if_nobody_had_been_there(where: str) -> None:
    with Store.open(where) as store:
        kept(store, *DAY_OF_TWO, until=5 * HOUR)
        for begin, end in ((65, 70), (70, 80), (68, 72), (150, 160)):  # those that touch or lie within are one
            store.unknown(begin * MINUTE, end * MINUTE)
        store.erase(2)
    with Store.open(where) as store:
        for begin, end in ((0, 240), (0, 66), (79, 90), (70, 71)):
            with pytest.raises(
                DataError, match=r"Presence is not known from 1970-01-01 01:05:00 UTC to .* 01:20:00 UTC"
            ):
                store.presence(begin * MINUTE, end * MINUTE)
        assert len(store.presence(0, 65 * MINUTE)) == len(store.presence(80 * MINUTE, 150 * MINUTE)) == 1
        with pytest.raises(DataError, match=r"02:30:00 UTC to .* 02:40:00 UTC, because the feed was not there or the"):
            store.presence(80 * MINUTE, 4 * HOUR)


def test_where_pseudonyms_change_presence_is_neither_kept_nor_answered(where: str) -> None:
    rows = Occupancy(Rule(), REGIONS).finish().rows
    with Store.open(where) as store:
        store.bind(Rotating(HOUR))
        store.put(Slots(0, 4 * HOUR, 5 * MINUTE, rows, present((1, "atrium", 5, 2 * HOUR))))
    with Store.open(where) as store:
        assert len(store._presence(0, 4 * HOUR)) == 0
        with pytest.raises(DataError, match="Presence is not kept where pseudonyms change"):
            store.presence(0, 2 * HOUR)


def columns_of(table: Table) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = table.location.frame.to_pydict()  # type: ignore[union-attr]
    return found


def test_a_stay_over_midnight_is_a_row_for_each_day_of_the_zone() -> None:
    ten = microseconds(datetime(2026, 3, 28, 22, tzinfo=UTC))  # 23:00 in Berlin, where the next day has 23 hours
    rows = columns_of(present((7, "hall", ten, ten + 26 * HOUR)).table(dataset="house", timezone="Europe/Berlin"))
    assert rows["day"] == [date(2026, 3, 28), date(2026, 3, 29), date(2026, 3, 30)]
    assert rows["minutes"] == [60, 23 * 60, 120]
    assert rows["end"][:-1] == rows["start"][1:]
    assert (rows["person"], rows["region"]) == ([7] * 3, ["hall"] * 3)


def test_a_zone_that_is_none_is_refused() -> None:
    with pytest.raises(ParameterError, match="There is no time zone 'Mars/Base'; take a name such as Europe/Berlin"):
        present().table(dataset="house", timezone="Mars/Base")


@pytest.mark.parametrize("unit", [Unit("person", "day"), Unit("person")])
def test_long_stays_are_asked_about_through_the_steward(tmp_path: Path, unit: Unit) -> None:
    """250 people stay in the atrium for over two hours, 300 in the bar for a quarter of one.

    200 beyond a limit with a slack of 10 at a miss rate of 1 in 20: wrong with a probability below 1e-6.
    """
    minutes, many = range(0, 130, 5), 250
    long = Admitted.of(
        np.tile(np.arange(many), len(minutes)), ["a1"] * many * len(minutes), np.repeat(list(minutes), many) * MINUTE
    )
    short = Admitted.of(np.repeat(np.arange(1000, 1300), 2), ["b1"] * 600, np.tile([70 * MINUTE, 75 * MINUTE], 300))
    stream, events = Occupancy(Rule(), REGIONS, by_clock=True), long + short
    stream.restore(Admitted.none(), 0)
    with Store.open(tmp_path / "store") as store:
        store.append(events[stream.add(events)])
        store.put(stream.advance(8 * HOUR))
        table = store.presence(0, 5 * HOUR).table(dataset="house", unit=unit)
    limits = Domain({"region": ["atrium", "bar"], "limit": [50, 50]}, keys=["region"])
    source = Source(table, domains=limits, bound=Bound(2))  # of each unit two stays count
    dwelling = count().where(col("minutes") >= 120).by("region") > col("limit")
    with Ledger.create(tmp_path / "ledger", dataset="house", unit=unit, caps=[Cap(epsilon=2)])[0] as ledger:
        answer = louver.ask(source, dwelling, ledger=ledger, miss_rate=0.05, slack=10)
        assert answer.flagged == (("atrium",),)
        assert ledger.spent() == answer.release.charged
