"""Whole days of the demo building through a real broker: what is missed, against the promise and the noise's law."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom, poisson_binom

from louver.ledger import Ledger
from louver.sense.feeds import MQTT, Publisher
from louver.sense.feeds.publishing import as_json
from louver.watch.deciding import Decided
from louver.watch.journal import Journal
from tests.often import often
from tests.sense.feeds.broker import Mosquitto
from tests.watch.days import MISS_RATE, PENDING, RULE, Cell, Day, demo_day
from tests.watch.made import watched

FALSE_ALARM = 1e-6  # of each comparison below: how often it fails though all is well
LONGEST = 600.0  # seconds until a day that hangs fails
RUNS = often(3, 30)
EVENTS_A_MESSAGE = 20


@pytest.fixture
def broker() -> Iterator[Mosquitto]:
    made = Mosquitto()
    yield made
    made.remove()


def messages(day: Day) -> list[bytes]:
    """As NDJSON, some events a message."""
    lines = as_json(day.events)
    return [b"\n".join(lines[at : at + EVENTS_A_MESSAGE]) for at in range(0, len(lines), EVENTS_A_MESSAGE)]


async def through(broker: Mosquitto, day: Day, number: int) -> None:
    """The day as messages of a controller, as fast as they are taken, until the last breach is decided."""
    address = broker.address(f"day/{number}")
    feed = MQTT(address, client=f"watch-{number}")
    await feed.ready()

    def is_over(decided: list[Decided]) -> bool:
        return bool(decided) and decided[-1].slot >= day.last

    watching = asyncio.create_task(watched(day.rules, feed, is_over))
    async with Publisher(address) as publisher:
        await publisher.send(messages(day))
    made = await asyncio.wait_for(watching, LONGEST)
    assert made.undecided == 0


def flags(day: Day) -> dict[Cell, bool]:
    """What was released of every slot and region, once."""
    with Journal.open(day.rules.journal) as journal:
        rows = [row for row in journal.released(RULE) if row.slot <= day.last]
    found = {(row.slot, row.key): bool(row.value) for row in rows}
    assert len(found) == len(rows)
    return found


def agrees(found: int, rates: NDArray[np.float64], runs: int) -> bool:
    """Whether so many of these coins, each thrown so often, is neither too few nor too many."""
    law = poisson_binom(np.repeat(rates, runs))
    return bool(law.cdf(found) > FALSE_ALARM and law.sf(found - 1) > FALSE_ALARM)


def check(day: Day, broker: Mosquitto, runs: int) -> None:
    cells = [cell for cell in day.margins if cell[0] <= day.last]
    breaches = [cell for cell in cells if day.margins[cell] > 0]
    # A breach that lasts as long as a rule waits has to fire at its last slot; windows of one key do not overlap.
    windows = [
        (slot, key)
        for slot, key in breaches
        if (slot // day.rules.timing.slot) % PENDING == 1
        and day.margins.get((slot - day.rules.timing.slot, key), 0) > 0
    ]
    assert len(breaches) > 50
    assert len(windows) > 20
    missed = silent = flagged = 0
    for run in range(runs):
        day.begin()
        asyncio.run(through(broker, day, run))
        found = flags(day)
        assert set(found) == set(cells)
        missed += sum(not found[cell] for cell in breaches)
        silent += sum(not (found[slot, key] and found[slot - day.rules.timing.slot, key]) for slot, key in windows)
        flagged += sum(found.values())
        with Ledger.open(day.rules.ledger) as ledger:
            assert ledger.spent() <= 1
            assert all(spent <= 1 for _, spent in ledger.most_used(1000))
    rates = day.flagged(cells)
    assert agrees(flagged, rates, runs)
    assert agrees(missed, 1 - day.flagged(breaches), runs)
    assert missed <= binom.isf(FALSE_ALARM, runs * len(breaches), MISS_RATE / PENDING)
    assert silent <= binom.isf(FALSE_ALARM, runs * len(windows), MISS_RATE)


def test_breaches_of_whole_days_through_a_broker_are_missed_as_often_as_promised(
    tmp_path: Path, broker: Mosquitto
) -> None:
    check(demo_day(tmp_path), broker, RUNS)


def test_a_watch_that_forgets_one_flag_in_four_is_found_out(
    tmp_path: Path, broker: Mosquitto, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test must be able to fail."""
    from louver.watch import answers

    read = answers._read

    def forgetful(asked: object, release: object) -> object:
        outcomes, released = read(asked, release)  # type: ignore[arg-type]
        dice = np.random.default_rng(release.number)  # type: ignore[attr-defined]
        kept = {key: each and dice.random() > 0.25 for key, each in released.items()}
        return {key: outcomes[key] if kept[key] else "not flagged" for key in outcomes}, kept

    monkeypatch.setattr(answers, "_read", forgetful)
    with pytest.raises(AssertionError, match="agrees"):
        check(demo_day(tmp_path), broker, 1)
