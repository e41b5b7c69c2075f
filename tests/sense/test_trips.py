"""Taps become trips, in batch and as a stream, whatever the order."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from louver.errors import ParameterError
from louver.sense import Admitted, Door, Event, Rule, Tally
from louver.sense.formats import Trips
from louver.sense.formats.fields import OFF, ON
from louver.sense.trips import Journeys, TripRows
from louver.sense.trips_batch import TripsBatch

MINUTE = 60_000_000
DOOR = Door(b"a salt of sixteen")
STOPS = {"north": "north", "south": "south", "quay 1": "quay", "quay 2": "quay"}
LATENESS, LONGEST = 5 * MINUTE, 30 * MINUTE
RULE = Rule(lateness=LATENESS)
Row = tuple[int, str, str, int, int]


class Tap(NamedTuple):
    person: int
    stop: str
    time: int
    value: float


def admitted(taps: list[Tap]) -> Admitted:
    return Admitted.of(*(list(column) for column in zip(*taps, strict=True))) if taps else Admitted.none()


def listed(trips: TripRows) -> list[Row]:
    names = ([trips.regions[number] for number in column] for column in (trips.origin, trips.destination))
    columns = (trips.person.tolist(), *names, trips.start.tolist(), trips.end.tolist())
    return list(zip(*columns, strict=True))


taps_lists = st.lists(
    st.builds(
        Tap,
        st.integers(1, 2),
        st.sampled_from([*STOPS, "nowhere"]),
        st.integers(0, 60).map(lambda number: number * 2 * MINUTE),
        st.sampled_from([ON, OFF]),
    ),
    max_size=30,
    unique=True,
)


@settings(max_examples=40)
@given(taps_lists, st.data())
def test_the_stream_equals_the_batch_in_any_order_within_the_lateness(taps: list[Tap], data: st.DataObject) -> None:
    delays = data.draw(st.lists(st.integers(0, LATENESS), min_size=len(taps), max_size=len(taps)))
    arrived = [tap for _, tap in sorted(zip(delays, taps, strict=True), key=lambda pair: pair[0] + pair[1].time)]
    stream = Journeys(RULE, STOPS, LONGEST)
    found: list[Row] = []
    for number in range(0, len(arrived), 3):
        stream.add(admitted(arrived[number : number + 3]))
        found += listed(stream.advance())
    found += listed(stream.finish())
    batch = TripsBatch(admitted(taps), STOPS, longest=LONGEST)
    assert sorted(found) == sorted(listed(batch.trips()))
    assert stream.tally == batch.tally()
    assert stream.tally.total == len(taps)


@settings(max_examples=40)
@given(taps_lists)
def test_both_equal_the_pairing_of_one_tap_after_the_other(taps: list[Tap]) -> None:
    """`formats.Trips` pairs taps that come in the order of their times, one by one."""
    known = sorted({tap for tap in taps if tap.stop in STOPS}, key=lambda tap: (tap.time, tap.value, STOPS[tap.stop]))
    slowly = Trips()
    slowly._longest = LONGEST
    made = slowly.add(Event(str(tap.person), tap.stop, tap.time, tap.value) for tap in known)
    expected = [(int(each.device), STOPS[each.start], STOPS[each.end], each.began, each.ended) for each in made]
    assert sorted(expected) == sorted(listed(TripsBatch(admitted(taps), STOPS, longest=LONGEST).trips()))


def test_a_change_at_one_instant_ends_one_trip_and_begins_the_next() -> None:
    taps = [Tap(1, "north", 0, ON), Tap(1, "quay 1", 9, ON), Tap(1, "quay 1", 9, OFF), Tap(1, "south", 12, OFF)]
    expected = [(1, "north", "quay", 0, 9), (1, "quay", "south", 9, 12)]
    stream = Journeys(RULE, STOPS)
    stream.add(admitted(taps))
    assert listed(stream.finish()) == listed(TripsBatch(admitted(taps), STOPS).trips()) == expected


def test_unmatched_taps_are_counted_and_make_no_trip() -> None:
    taps = [Tap(1, "north", 0, OFF), Tap(1, "north", 1, ON), Tap(1, "north", 2, ON), Tap(1, "south", 3 + LONGEST, OFF)]
    batch = TripsBatch(admitted([*taps, Tap(2, "north", 0, 7.0)]), STOPS, longest=LONGEST)
    stream = Journeys(RULE, STOPS, LONGEST)
    stream.add(admitted([*taps, Tap(2, "north", 0, 7.0)]))
    assert len(batch.trips()) == len(stream.finish()) == 0
    assert batch.tally() == stream.tally == Tally({"unmatched": 4, "no value": 1})


def test_a_trip_that_may_still_end_is_neither_yet() -> None:
    stream = Journeys(RULE, STOPS, LONGEST, by_clock=True)
    stream.add(admitted([Tap(1, "north", 0, ON)]))
    stream.advance(LONGEST + LATENESS)
    assert stream.tally == Tally()
    stream.advance(LONGEST + LATENESS + 1)
    assert stream.tally == Tally({"unmatched": 1})


def test_forgetting_a_person_drops_a_trip_that_is_open() -> None:
    stream = Journeys(Rule(lateness=0), STOPS)
    stream.add(admitted([Tap(1, "north", 0, ON), Tap(2, "north", 1, ON)]))
    stream.advance()
    stream.forget(1)
    stream.add(admitted([Tap(1, "south", 9, OFF), Tap(2, "south", 9, OFF)]))
    assert [row[0] for row in listed(stream.finish())] == [2]


def test_words_of_a_file_are_read_in_the_engine(tmp_path: Path) -> None:
    path = tmp_path / "taps.csv"
    path.write_text(
        "card,stop,time,tap\nc,north,2026-03-02T09:00:00Z,ON\nc,south,2026-03-02T09:12:00Z, exit\n"
        "c,south,2026-03-02T09:13:00Z,hop\n"
    )
    columns = {"device": "card", "place": "stop", "value": "tap"}
    batch = TripsBatch(path, STOPS, DOOR, columns=columns)
    (trip,) = listed(batch.trips())
    assert trip[:3] == (DOOR.person("c"), "north", "south")
    assert batch.tally() == Tally({"accepted": 2, "no value": 1})
    with pytest.raises(ParameterError, match="The longest trip must be above 0"):
        TripsBatch(path, STOPS, DOOR, longest=0)
