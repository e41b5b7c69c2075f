"""Batch and stream against the rule written slowly, on any order within the lateness, duplicates and late events."""

from __future__ import annotations

import random
from datetime import timedelta
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from louver.errors import ParameterError
from louver.sense import Admitted, Batch, Occupancy, Presences, Rule
from tests.sense import slowly
from tests.sense.slowly import MINUTE, REGIONS, Seen, admitted, as_list, as_set

# Times on a coarse grid meet slots, ends of validity and each other often; on a fine one seldom.
TIMES = st.one_of(
    st.integers(0, 90).map(lambda minute: minute * MINUTE),
    st.integers(0, 180).map(lambda half: half * MINUTE // 2),
    st.integers(0, 90 * MINUTE),
)
EVENTS = st.lists(st.builds(Seen, st.integers(0, 3), st.sampled_from([*REGIONS, "unknown"]), TIMES), max_size=40)
RULES = st.sampled_from(
    [
        Rule(),
        Rule(lateness=20 * MINUTE),
        Rule(validity=7 * MINUTE, slot=MINUTE, lateness=0),
        Rule(validity=MINUTE, slot=15 * MINUTE, lateness=MINUTE),
    ]
)
DURING = st.sampled_from([None, 1, 2, 3])


def streamed(
    events: list[Seen], rule: Rule, cuts: list[int], during: int | None = None
) -> tuple[set[tuple[int, int, str]], list[Seen], Occupancy]:
    """What a stream gives that gets the events in pieces, which of them it accepted, and the stream."""
    stream = Occupancy(rule, REGIONS, during=during)
    rows, accepted, given_out = set(), [], []
    places = sorted({min(cut, len(events)) for cut in cuts} | {0, len(events)})
    for begin, end in pairwise(places):
        taken = stream.add(admitted(events[begin:end]))
        accepted += [each for each, is_taken in zip(events[begin:end], taken, strict=True) if is_taken]
        for slot, each in stream.advance():
            given_out.append(slot)
            rows |= as_set(each)
    for slot, each in stream.finish():
        given_out.append(slot)
        rows |= as_set(each)
    steps = {after - before for before, after in pairwise(given_out)}
    assert steps <= {rule.slot}  # each slot once, in order
    return rows, accepted, stream


def within_lateness(events: list[Seen], rule: Rule, seed: int) -> list[Seen]:
    """Out of order by no more than the lateness."""
    dice = random.Random(seed)
    return sorted(events, key=lambda event: event.time + dice.randint(0, rule.lateness))


@given(EVENTS, RULES)
@settings(max_examples=60)
def test_presence_of_a_batch_is_what_the_rule_says(events: list[Seen], rule: Rule) -> None:
    assert as_list(Batch(admitted(events), rule, REGIONS).presence()) == slowly.presence(events, rule)


@given(EVENTS, RULES, DURING)
@settings(max_examples=80)
def test_occupancy_of_a_batch_is_what_the_rule_says(events: list[Seen], rule: Rule, during: int | None) -> None:
    rows = Batch(admitted(events), rule, REGIONS).occupancy(during)
    assert as_set(rows) == slowly.occupancy(events, rule, during)


@given(EVENTS, RULES, DURING, st.integers(0, 1000), st.lists(st.integers(0, 40), max_size=5))
@settings(max_examples=300)
def test_a_stream_in_any_order_within_the_lateness_equals_the_rule(
    events: list[Seen], rule: Rule, during: int | None, seed: int, cuts: list[int]
) -> None:
    shuffled = within_lateness(events, rule, seed)
    rows, _, stream = streamed(shuffled, rule, cuts, during)
    assert rows == slowly.occupancy(events, rule, during)
    assert stream.tally["late"] == 0


@given(EVENTS, RULES, DURING, st.integers(0, 1000), st.lists(st.integers(0, 40), max_size=5))
@settings(max_examples=60)
def test_duplicates_change_nothing_and_are_counted(
    events: list[Seen], rule: Rule, during: int | None, seed: int, cuts: list[int]
) -> None:
    repeated = within_lateness(events + events[::2], rule, seed)
    rows, _, stream = streamed(repeated, rule, cuts, during)
    assert rows == slowly.occupancy(events, rule, during)
    known = {each for each in events if each.place in REGIONS}
    assert stream.tally["accepted"] == len(known)
    assert stream.tally["unknown place"] == sum(each.place not in REGIONS for each in repeated)
    assert stream.tally.total == len(repeated)
    assert Batch(admitted(repeated), rule, REGIONS).tally() == stream.tally


@given(EVENTS, RULES, DURING, st.lists(st.integers(0, 40), max_size=5))
@settings(max_examples=300)
def test_late_events_are_as_if_they_had_never_come(
    events: list[Seen], rule: Rule, during: int | None, cuts: list[int]
) -> None:
    rows, accepted, stream = streamed(events, rule, cuts, during)
    newest, punctual = -1, []
    for each in events:
        if each.place in REGIONS:
            if each.time >= newest - rule.lateness:
                punctual.append(each)
            newest = max(newest, each.time)
    assert set(accepted) == set(punctual)
    assert rows == slowly.occupancy(punctual, rule, during)
    assert stream.tally["late"] == sum(each.place in REGIONS for each in events) - len(punctual)


@given(EVENTS, RULES, st.lists(st.integers(0, 40), max_size=5), st.integers(0, 1000))
@settings(max_examples=200)
def test_presence_of_a_stream_equals_the_rule(events: list[Seen], rule: Rule, cuts: list[int], seed: int) -> None:
    shuffled = within_lateness(events, rule, seed)
    stream, found = Presences(rule, REGIONS), []
    places = sorted({min(cut, len(events)) for cut in cuts} | {0, len(events)})
    for begin, end in pairwise(places):
        stream.add(admitted(shuffled[begin:end]))
        found += as_list(stream.advance())
    found += as_list(stream.finish())
    assert sorted(found, key=lambda row: (row[0], row[2])) == slowly.presence(events, rule)


@given(EVENTS, RULES, DURING, st.integers(0, 40))
@settings(max_examples=150)
def test_a_stream_that_is_restored_from_a_store_goes_on_as_if_it_had_not_stopped(
    events: list[Seen], rule: Rule, during: int | None, cut: int
) -> None:
    whole, _, _ = streamed(events, rule, [cut], during)
    first = Occupancy(rule, REGIONS, during=during)
    taken = first.add(admitted(events[:cut]))
    done = first.advance()
    rows = as_set(done.rows)
    again = Occupancy(rule, REGIONS, during=during)
    stored = admitted(events[:cut])[taken]
    if first.next_slot is None:
        again.add(stored)
    else:
        recent = stored[stored.time > first.next_slot - rule.validity - rule.slot]
        again.restore(recent, first.next_slot)
    again.add(admitted(events[cut:]))
    for slots in (again.advance(), again.finish()):
        assert not {slot for _, slot, _ in as_set(slots.rows)} & {slot for _, slot, _ in rows} or not len(slots)
        rows |= as_set(slots.rows)
    assert rows == whole


def test_a_stream_that_is_restored_gives_no_slot_out_again() -> None:
    first = Occupancy(Rule(), REGIONS)
    first.add(admitted([Seen(1, "a1", 4 * MINUTE)]))
    assert [slot for slot, _ in first.advance(12 * MINUTE)] == [5 * MINUTE, 10 * MINUTE]
    assert first.next_slot == 15 * MINUTE
    again = Occupancy(Rule(), REGIONS)
    again.restore(admitted([Seen(1, "a1", 4 * MINUTE)]), first.next_slot)
    assert again.add(admitted([Seen(2, "a1", 10 * MINUTE), Seen(2, "a1", 10 * MINUTE + 1)])).tolist() == [False, True]
    assert as_set(again.finish().rows) == {(2, 15 * MINUTE, "atrium"), (2, 20 * MINUTE, "atrium")}


def test_an_event_at_the_very_end_of_a_presence_goes_on_with_it() -> None:
    stream = Presences(Rule(lateness=0), REGIONS)
    stream.add(admitted([Seen(1, "a1", 0)]))
    assert len(stream.advance(10 * MINUTE)) == 0
    stream.add(admitted([Seen(1, "a2", 10 * MINUTE)]))
    assert as_list(stream.finish()) == [(1, "atrium", 0, 20 * MINUTE)]


def test_somebody_whose_event_falls_on_the_instant_of_a_slot_is_there() -> None:
    events = [Seen(1, "a1", 5 * MINUTE), Seen(1, "b1", 10 * MINUTE)]
    assert as_set(Batch(admitted(events), Rule(), REGIONS).occupancy()) == {
        (1, 5 * MINUTE, "atrium"),
        (1, 10 * MINUTE, "bar"),
        (1, 15 * MINUTE, "bar"),
    }


def test_a_slot_is_given_out_when_the_watermark_has_passed_it_and_not_before() -> None:
    stream = Occupancy(Rule(lateness=MINUTE), REGIONS)
    stream.add(admitted([Seen(1, "a1", 4 * MINUTE), Seen(2, "a1", 6 * MINUTE)]))
    assert len(stream.advance()) == 0  # an event at 5:00 would still be in time
    stream.add(admitted([Seen(2, "b1", 5 * MINUTE)]))
    assert [slot for slot, _ in stream.advance(6 * MINUTE + 1)] == [5 * MINUTE]
    assert stream.add(admitted([Seen(3, "a1", 5 * MINUTE)])).tolist() == [False]
    assert stream.tally.to_dict() == {"accepted": 3, "late": 1}


def test_slots_without_a_row_are_given_out_too() -> None:
    stream = Occupancy(Rule(), REGIONS)
    stream.add(admitted([Seen(1, "a1", 0), Seen(1, "a1", 60 * MINUTE)]))
    counts = [len(rows) for _, rows in stream.advance()]
    assert counts == [1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]


def test_an_event_from_the_future_has_no_effect_and_moves_no_watermark() -> None:
    stream = Occupancy(Rule(skew=MINUTE), REGIONS)
    clock = 10 * MINUTE
    taken = stream.add(admitted([Seen(1, "a1", 11 * MINUTE), Seen(1, "b1", 11 * MINUTE + 1)]), now=clock)
    assert taken.tolist() == [True, False]
    assert stream.watermark == 10 * MINUTE
    assert stream.tally.to_dict() == {"accepted": 1, "from the future": 1}


def test_times_out_of_range_are_counted_and_nothing_stops() -> None:
    stream = Occupancy(Rule(), REGIONS)
    times = [-1, 2**63 - 1, -(2**63), MINUTE]
    assert stream.add(Admitted.of([1] * 4, ["a1"] * 4, times)).tolist() == [False, False, False, True]
    assert stream.tally.to_dict() == {"accepted": 1, "time out of range": 3}
    assert Batch(Admitted.of([1] * 4, ["a1"] * 4, times), Rule(), REGIONS).tally() == stream.tally


def test_somebody_who_is_forgotten_is_in_no_slot_that_comes() -> None:
    stream = Occupancy(Rule(), REGIONS)
    stream.add(admitted([Seen(1, "a1", 0), Seen(2, "a1", 0), Seen(2, "a1", 7 * MINUTE), Seen(1, "b1", 8 * MINUTE)]))
    stream.advance()
    stream.forget(1)
    assert {person for person, *_ in as_set(stream.finish().rows)} == {2}


def test_many_events_in_one_call_and_one_by_one_are_the_same() -> None:
    dice = np.random.default_rng(5)
    many = 200_000
    times = np.sort(dice.integers(0, 600 * MINUTE, many))
    places = np.array(list(REGIONS), dtype=object)[dice.integers(0, 4, many)]
    events = Admitted.of(dice.integers(0, 3000, many), places, times)
    whole = Occupancy(Rule(), REGIONS)
    whole.add(events)
    whole.add(events[-5:])
    pieces, rows = Occupancy(Rule(), REGIONS), set()
    for begin in range(0, many, 1000):
        pieces.add(events[begin : begin + 1000])
        rows |= as_set(pieces.advance().rows)
    pieces.add(events[-5:])
    rows |= as_set(pieces.finish().rows)
    assert as_set(whole.finish().rows) == rows == as_set(Batch(events, Rule(), REGIONS).occupancy())
    assert whole.tally == pieces.tally
    assert whole.tally["duplicate"] >= 5


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"validity": 0}, "The validity of an event must be above 0, and ten years at most."),
        ({"slot": timedelta(minutes=7)}, "A slot must divide a day, as 5 minutes do, so that each day has the same"),
        ({"lateness": -1}, "The lateness must be 0 or more, and ten years at most."),
        ({"skew": 1.5}, "The skew is a timedelta, or a whole number of microseconds."),
    ],
)
def test_a_rule_that_cannot_be_kept_is_refused(given: dict[str, int], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        Rule(**given)


def test_private_columns_show_nothing_of_themselves() -> None:
    events = admitted([Seen(4711, "a1", MINUTE)])
    batch = Batch(events, Rule(), REGIONS)
    assert (
        "4711" not in f"{events!r} {batch.presence()!r} {batch.occupancy()!r} {Occupancy(Rule(), REGIONS).finish()!r}"
    )


@given(EVENTS, RULES, DURING, st.lists(st.integers(0, 40), max_size=8), st.data())
def test_by_the_clock_a_person_changes_that_persons_rows_only(
    events: list[Seen], rule: Rule, during: int | None, cuts: list[int], data: st.DataObject
) -> None:
    """Neighbours: the same feed with and without all events of one person. Nothing else may differ."""
    clocks = sorted(data.draw(st.lists(st.integers(0, 60 * MINUTE), min_size=len(cuts) + 1, max_size=len(cuts) + 1)))
    gone = data.draw(st.sampled_from(sorted({each.person for each in events}) or [0]))
    bounds = [0, *sorted(min(cut, len(events)) for cut in cuts), len(events)]

    def seen(leaves: bool) -> tuple[list[int], set[tuple[int, int, str]]]:
        stream = Occupancy(rule, REGIONS, during=during, by_clock=True)
        stream.restore(admitted([]), 0)
        slots, rows = [], set()
        for (begin, end), now in zip(pairwise(bounds), clocks, strict=True):
            batch = [each for each in events[begin:end] if not (leaves and each.person == gone)]
            stream.add(admitted(batch), now)
            for slot, found in stream.advance(now):
                slots.append(slot)
                rows |= set(zip(found.person.tolist(), found.slot.tolist(), found.names().tolist(), strict=True))
        return slots, rows

    (slots, rows), (slots_without, rows_without) = seen(False), seen(True)
    assert slots == slots_without
    assert {row for row in rows if row[0] != gone} == rows_without
