"""Taps of a card become trips."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from louver.errors import ParameterError
from louver.sense.events import Event, Rejected, Tally
from louver.sense.formats import Trip, Trips
from louver.sense.formats.fields import OFF, ON

MINUTE = 60_000_000
NINE = 1_772_442_000_000_000


def tap(minute: int, value: float, card: str = "c", stop: str = "north") -> Event:
    return Event(card, stop, NINE + minute * MINUTE, value)


def test_a_tap_on_and_a_tap_off_are_a_trip() -> None:
    trips = Trips()
    (trip,) = trips.add([tap(0, ON), tap(12, OFF, stop="south")])
    assert trip == Trip("c", "north", "south", NINE, NINE + 12 * MINUTE)
    assert trip.event() == Event("c", "north", NINE + 12 * MINUTE, 720.0)
    assert trips.tally == Tally({"accepted": 2})


def test_cards_do_not_mix() -> None:
    taps = [tap(0, ON, "a"), tap(1, ON, "b"), tap(5, OFF, "a"), tap(9, OFF, "b")]
    assert [(trip.device, trip.seconds) for trip in Trips().add(taps)] == [("a", 300.0), ("b", 480.0)]


def test_a_trip_may_begin_in_one_message_and_end_in_another() -> None:
    trips = Trips()
    assert trips.add([tap(0, ON)]) == []
    assert len(trips.add([tap(12, OFF)])) == 1


def test_unmatched_taps_are_counted_and_make_no_trip() -> None:
    trips = Trips(timedelta(hours=1))
    assert trips.add([tap(0, OFF)]) == []
    assert trips.add([tap(1, ON), tap(2, ON), tap(7, OFF)])[0].seconds == 300.0
    assert trips.add([tap(10, ON), tap(71, OFF)]) == []
    assert trips.add([tap(80, ON), tap(79, OFF)]) == []
    assert trips.tally == Tally({"unmatched": 6, "accepted": 2})


def test_a_trip_as_long_as_the_cap_counts() -> None:
    assert len(Trips(timedelta(hours=1)).add([tap(0, ON), tap(60, OFF)])) == 1


def test_trips_that_can_no_longer_end_are_forgotten() -> None:
    trips = Trips(timedelta(hours=1))
    trips.add([tap(0, ON, "a"), tap(30, ON, "b")])
    assert trips.forget(NINE + 61 * MINUTE) == 1
    assert trips.tally == Tally({"unmatched": 1})
    assert trips.add([tap(62, OFF, "a"), tap(63, OFF, "b")])[0].device == "b"


def test_what_is_no_tap_is_counted() -> None:
    trips = Trips()
    trips.add([Rejected("not JSON"), tap(0, 7.0), Event("c", "north", NINE)])
    assert trips.tally == Tally({"not JSON": 1, "no value": 2})
    with pytest.raises(ParameterError, match="longer than 0"):
        Trips(timedelta(0))


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from([ON, OFF]), st.integers(0, 90)), max_size=40))
def test_every_tap_has_one_outcome(made: list[tuple[str, float, int]]) -> None:
    trips = Trips(timedelta(hours=1))
    time, ended = 0, 0
    for card, value, wait in made:
        time += wait
        ended += len(trips.add([tap(time, value, card)]))
    trips.forget(NINE + 10**15)
    assert trips.tally.total == len(made)
    assert trips.tally["accepted"] == 2 * ended


def test_a_trip_does_not_show_its_card() -> None:
    assert "card-77" not in repr(Trip("card-77", "a", "b", 0, 1))
