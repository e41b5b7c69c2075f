"""Counts of rotating pseudonyms: equal to those of the door, event by event; and nothing publishes them."""

from __future__ import annotations

import random
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from louver import cli
from louver.errors import LouverError
from louver.sense import Door, Event, Occupancy, Rotating, Rule, ttl
from louver.sense.ttl import Sightings
from louver.stream.kernels import KERNELS
from tests.misuse import anything, assert_made_or_refused

SECOND, MINUTE = 10**6, 60 * 10**6
REGIONS = ("atrium", "bar", "cellar")
BEGIN, TICKS = 20 * MINUTE, 12
RULE = Rule(lateness=0)

# Device, region (3 is a place that nobody knows) and time: often at one instant, and at the edges of ticks and epochs.
sightings = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 40).map(lambda step: step * 150 * SECOND // 2)),
    max_size=60,
)


def by_the_door(seen: list[tuple[int, int, int]], door: Rotating | Door) -> NDArray[np.int64]:
    """Each event goes through the door and into the occupancy by itself, in the order of time."""
    occupancy = Occupancy(RULE, {name: name for name in REGIONS})
    counts: Counter[tuple[int, str]] = Counter()
    for device, region, time in sorted(seen, key=lambda each: each[2]):
        place = REGIONS[region] if region < len(REGIONS) else "roof"
        occupancy.add(door.admit([Event(f"device {device}", place, time)]))
        for slot, rows in occupancy.advance():
            counts.update((slot, str(name)) for name in rows.names())
    for slot, rows in occupancy.finish():
        counts.update((slot, str(name)) for name in rows.names())
    ticks = [BEGIN + tick * RULE.slot for tick in range(TICKS)]
    return np.array([[counts[tick, name] for name in REGIONS] for tick in ticks])


def counted(seen: list[tuple[int, int, int]], **given: Any) -> NDArray[np.int64]:
    columns = np.array(seen, dtype=np.int64).reshape(-1, 3).T
    place = np.where(columns[1] < len(REGIONS), columns[1], -1)
    return Sightings(columns[0], place, columns[2], regions=len(REGIONS), rule=RULE).counts(BEGIN, TICKS, **given)


@pytest.mark.parametrize("per_device", [False, True])
@pytest.mark.parametrize("lives", [SECOND, MINUTE, 7 * MINUTE, 60 * MINUTE])
@given(seen=sightings)
def test_counts_are_those_of_the_door_event_by_event(
    per_device: bool, lives: int, seen: list[tuple[int, int, int]]
) -> None:
    expected = by_the_door(seen, Rotating(lives, per_device))
    np.testing.assert_array_equal(counted(seen, ttl=lives, per_device=per_device), expected)


@given(seen=sightings)
def test_without_a_time_to_live_they_are_the_true_counts(seen: list[tuple[int, int, int]]) -> None:
    np.testing.assert_array_equal(counted(seen), by_the_door(seen, Door(bytes(32))))
    np.testing.assert_array_equal(counted(seen, ttl=10**14), counted(seen))


@given(seen=sightings)
def test_no_region_is_counted_lower_together_than_in_truth(seen: list[tuple[int, int, int]]) -> None:
    assert (counted(seen, ttl=SECOND).sum(axis=1) >= counted(seen).sum(axis=1)).all()


def test_at_one_second_every_event_within_the_validity_is_a_person() -> None:
    seen = [(0, 0, BEGIN - second * SECOND) for second in range(0, 600, 60)]
    assert counted(seen)[0].tolist() == [1, 0, 0]
    assert counted(seen, ttl=timedelta(seconds=1))[0].tolist() == [10, 0, 0]
    assert counted(seen, ttl=timedelta(seconds=1))[1].tolist() == [5, 0, 0]


@pytest.mark.parametrize("block", [1, 2, 7])
def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    dice = random.Random(3)
    seen = [(dice.randrange(4), dice.randrange(4), dice.randrange(0, 80 * MINUTE)) for _ in range(300)]
    whole = [counted(seen, ttl=lives) for lives in (None, SECOND, 5 * MINUTE)]
    monkeypatch.setattr(ttl, "BLOCK", block)
    for before, lives in zip(whole, (None, SECOND, 5 * MINUTE), strict=True):
        np.testing.assert_array_equal(counted(seen, ttl=lives), before)


def test_devices_with_any_numbers_are_told_apart() -> None:
    seen = [(-(2**60), 0, BEGIN), (2**60, 0, BEGIN), (2**60, 1, BEGIN), (5, 2, BEGIN), (5, 2, -1)]
    assert counted(seen)[0].tolist() == [1, 1, 1]


@given(anything, anything, anything, anything)
def test_nonsense_is_refused_in_a_sentence(device: Any, region: Any, time: Any, regions: Any) -> None:
    assert_made_or_refused(lambda: Sightings(device, region, time, regions=regions))
    assert_made_or_refused(lambda: Sightings([1], [0], [1], regions=1).counts(device, 5, time))


def test_a_region_that_there_is_not_and_columns_of_other_lengths_are_refused() -> None:
    with pytest.raises(LouverError, match="below 2"):
        Sightings([1], [2], [0], regions=2)
    with pytest.raises(LouverError, match="equally many"):
        Sightings([1, 2], [0], [0], regions=2)


def test_its_representation_shows_nothing() -> None:
    assert repr(Sightings([7], [0], [1], regions=1)) == "<sightings>"


def test_no_plan_and_no_command_takes_them(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The layers say that no other module imports them; here, that nothing is called so either."""
    assert not [name for name in KERNELS if "ttl" in name or "rotat" in name]
    (tmp_path / "events.csv").write_text("device,time\n")
    words = ["publish", "stream", str(tmp_path / "events.csv"), "--every", "5m", "--from", "2018-02-01"]
    words += ["--until", "2018-02-02", "--epsilon", "1", "--unit", "row", "--mechanism", "ttl"]
    try:
        code = cli.main(words)
    except SystemExit as left:
        code = int(left.code or 0)
    assert code == 2
    assert "There is no stream mechanism 'ttl'" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        cli.main(["publish", "stream", "--help"])
    assert "ttl" not in capsys.readouterr().out.lower()
    assert [name for name in dir(Sightings) if not name.startswith("_")] == ["counts"]
