"""Batch and stream on as many events as the thesis had: 89 days of a building of 36,000 people, in any order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from louver.sense import Admitted, Batch, Occupancy, Presences, Rule
from louver.sense.places import Places
from louver.sense.simulate import simulate

RULE = Rule()
PIECE = 50_000  # events that arrive together


@dataclass(frozen=True)
class Campaign:
    events: Admitted
    places: Places
    arrival: NDArray[np.int64]  # in the order of time, each event delayed by less than the lateness

    def batch(self) -> Batch:
        return Batch(self.events, RULE, self.places)


@pytest.fixture(scope="module")
def campaign() -> Campaign:
    made = simulate("building", days=89, people=36_000, seed=7)
    _, people = np.unique(made.column("events", "device"), return_inverse=True)
    times = made.column("events", "time").astype("datetime64[us]").astype(np.int64)
    events = Admitted.of(people.astype(np.int64), made.column("events", "place"), times)
    assert 3_800_000 < len(events) < 4_000_000
    delay = np.random.default_rng(4).integers(0, RULE.lateness, len(events))
    names = {str(place): f"region {place}" for place in np.unique(made.column("events", "place"))}
    return Campaign(events, Places(names), np.argsort(times + delay, kind="stable"))


def test_occupancy_is_the_same_from_a_table_and_from_a_shuffled_repeated_and_late_stream(campaign: Campaign) -> None:
    events, dice = campaign.events, np.random.default_rng(5)
    old = events[dice.integers(0, len(events), len(events) // 50)]
    stream = Occupancy(RULE, campaign.places)
    rows = []
    for begin in range(0, len(events), PIECE):
        part = events[campaign.arrival[begin : begin + PIECE]]
        stream.add(part)
        stream.add(part[-100:])
        rows.append(stream.advance().rows)
        stream.add(old[old.time < stream.watermark][:100])
    rows.append(stream.finish().rows)
    expected = campaign.batch().occupancy()
    for name in ("person", "slot", "region"):
        assert np.array_equal(np.concatenate([getattr(each, name) for each in rows]), getattr(expected, name))
    counted = campaign.batch().tally()
    assert stream.tally["accepted"] == counted["accepted"]
    assert stream.tally["duplicate"] >= counted["duplicate"] + 1000
    assert stream.tally["late"] >= 1000


def test_presence_is_the_same_from_a_table_and_from_a_shuffled_stream(campaign: Campaign) -> None:
    stream, parts = Presences(RULE, campaign.places), []
    for begin in range(0, len(campaign.events), PIECE):
        stream.add(campaign.events[campaign.arrival[begin : begin + PIECE]])
        parts.append(stream.advance())
    parts.append(stream.finish())
    found = [np.concatenate([getattr(each, name) for each in parts]) for name in ("person", "region", "start", "end")]
    order = np.lexsort((found[2], found[0]))
    expected = campaign.batch().presence()
    for name, column in zip(("person", "region", "start", "end"), found, strict=True):
        assert np.array_equal(column[order], getattr(expected, name))
