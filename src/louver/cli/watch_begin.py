"""What `louver watch` checks and says before the first slot: the ledger, the price, and how long to wait."""

from __future__ import annotations

import asyncio
import shlex
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from louver.cli import ui
from louver.errors import LedgerError

if TYPE_CHECKING:
    from louver.sense.feeds.batch import Feed
    from louver.watch.forecast import Forecast
    from louver.watch.rules import Rules

FORTNIGHT = 14 * 86_400_000_000
LOOK = 0.1  # seconds between two looks whether a broker is there


def check_ledger(rules: Rules) -> None:
    """One that is not there is made with the rules' own data set and unit."""
    from louver.watch.rules import unit_shown

    if isinstance(rules.ledger, Path) and not rules.ledger.exists():
        words = ["louver", "ledger", "init", str(rules.ledger), "--dataset", rules.dataset]
        made = shlex.join([*words, "--unit", unit_shown(rules.unit), "--cap", "1"])
        raise LedgerError(f"There is no ledger at {rules.ledger}; make one, with a cap of your own: {made}")


def forecast(rules: Rules) -> Forecast:
    """What it would cost. What a start refuses is refused here too."""
    from louver.ledger import Ledger
    from louver.watch.alarms.settings import channels
    from louver.watch.pipeline import prepared

    channels(rules.channels)
    with Ledger.open(rules.ledger) as ledger:
        return prepared(rules, ledger, rules.begin).forecast


def show_forecast(said: Forecast) -> None:
    for sentence in str(said).splitlines():
        print(ui.printable(sentence))
    print(flush=True)


def show_wait(rules: Rules, first: int | None) -> None:
    """When a live feed has its first answer: until then there is nothing to print."""
    from louver.sense.events import instant
    from louver.watch.clock import wall_clock

    # A slot of presence is an instant; one of readings goes on until the next.
    later = rules.timing.lateness + (0 if rules.combining is None else rules.timing.slot)
    step, now = rules.timing.slot, wall_clock()
    begin = max(-(-(now - later) // step) * step, 0 if first is None else first)
    slot = next((at for at in range(begin, begin + FORTNIGHT, step) if rules.due(at)), None)
    if slot is None:
        return
    today, at, decided = (instant(each).astimezone(rules.zone) for each in (now, slot, slot + later))
    on = "" if at.date() == today.date() else f" on {at:%Y-%m-%d}"
    print(
        f"The first slot to be decided is {at:%H:%M}{on}, soon after {decided:%H:%M} ({rules.building.timezone}).\n",
        flush=True,
    )


async def say_when_connected(feed: Feed, source: str) -> None:
    """A watch that waits for its broker otherwise looks like one that waits for a slot."""
    while not getattr(feed, "connected", True):
        await asyncio.sleep(LOOK)
    print(f"Connected to {ui.printable(urlsplit(source).hostname or 'the broker')}.\n", flush=True)
