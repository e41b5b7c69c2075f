"""`louver publish stream --live`: each tick is read and published when it is over, until the end of the stream."""

from __future__ import annotations

import argparse
import os
import sys
from datetime import timedelta
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

from louver.cli.publish_shown import show_begin
from louver.errors import ParameterError
from louver.watch.targets import Target

if TYPE_CHECKING:
    from louver.ledger import Ledger
    from louver.source.description import Source
    from louver.stream.plan import StreamPlan
    from louver.stream.session import Session

AT_ONCE: Final = 500  # ticks that are published together


def check_live(arguments: argparse.Namespace) -> None:
    """What a live stream needs, and what only it takes."""
    if not arguments.live:
        odd = next((name for name in ("state", "late", "ticks") if getattr(arguments, name) is not None), None)
        if odd is not None:
            raise ParameterError(f"--{odd} is for a live stream; add --live.")
        return
    if arguments.key is None or arguments.state is None:
        raise ParameterError("A live stream needs --key, under which it is paid for and goes on, and --state, a file.")
    if arguments.plot is not None:
        raise ParameterError("--plot draws a stream that is whole; leave it out of a live one.")
    if arguments.ticks is not None and arguments.ticks < 1:
        raise ParameterError("--ticks is a number of 1 or more.")
    _late(arguments)


def _late(arguments: argparse.Namespace) -> timedelta:
    from louver.stream.ticks import minutes_of

    return timedelta(minutes=0 if arguments.late is None else minutes_of(arguments.late, "--late"))


def run_live(arguments: argparse.Namespace, source: Source, plan: StreamPlan, ledger: Ledger, place: Target) -> None:
    """Goes through the ticks that are over, and then waits for each; so many of them where --ticks says so.

    A stream whose last tick was released is published again as a whole, from what the ledger keeps.
    """
    from louver.stream.session import Session, payment_for

    paid = payment_for(plan, ledger, arguments.key, arguments.audience)
    if paid is not None and paid.settled:
        show_begin(arguments, plan, paid, ledger)
        count, _ = publish_again(plan, ledger, arguments.key, place)
        _say(f"The stream is over; its {count:,} ticks are published again.")
        return
    token = os.environ.get("LOUVER_TOKEN") or None
    names = {"key": arguments.key, "token": token, "audience": arguments.audience}
    with Session.open(plan, ledger, Path(arguments.state), place.tick, **names) as session:
        show_begin(arguments, plan, session.reservation, ledger)
        try:
            _go_on(arguments, source, session)
        finally:
            done = f"{session.ticks:,} of {plan.parts:,} ticks are published"
            _say("The stream is over." if session.is_over else f"{done}; with the same words the stream goes on.")


def _go_on(arguments: argparse.Namespace, source: Source, session: Session) -> None:
    from louver.cli.publish_clock import LiveClock

    plan, late, clock = session.plan, _late(arguments), LiveClock(_say)
    left = plan.parts - session.ticks
    wanted = left if arguments.ticks is None else min(arguments.ticks, left)
    now = clock.now()
    over = min(left, (now - late - session.next_tick) // plan.ticks.length)
    if over > 1:
        first = "they come first" if wanted >= over else f"the first {wanted:,} of them come now"
        _say(f"By the clock of this machine, {now:%Y-%m-%d %H:%M} UTC, {over:,} ticks are over; {first}.")
    for number in range(wanted):
        ready = session.next_tick + plan.ticks.length + late
        if number == max(over, 0):
            _say(f"Tick {session.ticks + 1:,} of {plan.parts:,} is published at {ready:%Y-%m-%d %H:%M} UTC.")
        clock.wait_until(ready)
        tick = session.advance(source.table)
        if number >= over and arguments.to != "-":
            _say(f"Published tick {session.ticks:,} of {plan.parts:,}, {tick.start:%Y-%m-%d %H:%M} UTC.")


def publish_again(plan: StreamPlan, ledger: Ledger, key: str, place: Target) -> tuple[int, int]:
    """Publishes what was released before; how many ticks that is, and how many of them are missing."""
    from louver.stream.session import released_ticks

    place.check_again(released_ticks(plan, ledger, key))
    count = missing = 0
    ticks = released_ticks(plan, ledger, key)
    while some := list(islice(ticks, AT_ONCE)):
        place.ticks(some)
        count, missing = count + len(some), missing + sum(tick.missing for tick in some)
    return count, missing


def _say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)
