"""`louver publish stream --live`: each tick is read and published when it is over, until the end of the stream."""

from __future__ import annotations

import argparse
import os
import sys
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from louver.cli.publish_shown import show_begin
from louver.errors import ParameterError
from louver.watch.targets import Target

if TYPE_CHECKING:
    from louver.ledger import Ledger
    from louver.source.description import Source
    from louver.stream.plan import StreamPlan


def check_live(arguments: argparse.Namespace, place: Target) -> None:
    """What a live stream needs, and what only it takes."""
    if not arguments.live:
        odd = next((name for name in ("state", "late", "ticks") if getattr(arguments, name) is not None), None)
        if odd is not None:
            raise ParameterError(f"--{odd} is for a live stream; add --live.")
        return
    if arguments.key is None or arguments.state is None:
        raise ParameterError("A live stream needs --key, under which it is paid for and goes on, and --state, a file.")
    if not place.is_live:
        raise ParameterError("A live stream goes to -, a broker or a table; a file is written as a whole.")
    if arguments.plot is not None:
        raise ParameterError("--plot draws a stream that is whole; leave it out of a live one.")


def run_live(arguments: argparse.Namespace, source: Source, plan: StreamPlan, ledger: Ledger, place: Target) -> None:
    """Goes through the ticks that are over, and then waits for each; so many of them where --ticks says so."""
    from louver.cli.publish_clock import LiveClock
    from louver.stream.session import Session
    from louver.stream.ticks import minutes_of

    clock = LiveClock(_say)
    late = timedelta(minutes=0 if arguments.late is None else minutes_of(arguments.late, "--late"))
    left = plan.parts if arguments.ticks is None else arguments.ticks
    if left < 1:
        raise ParameterError("--ticks is a number of 1 or more.")
    token = os.environ.get("LOUVER_TOKEN") or None
    names = {"key": arguments.key, "token": token, "audience": arguments.audience}
    show_begin(arguments, plan)
    with Session.open(plan, ledger, Path(arguments.state), place.tick, **names) as session:
        left = min(left, plan.parts - session.ticks)
        now = clock.now()
        over = min(left, (now - late - session.next_tick) // plan.ticks.length)
        if over > 1:
            _say(f"By the clock of this machine, {now:%Y-%m-%d %H:%M} UTC, {over:,} ticks are over; they come first.")
        for _ in range(left):
            clock.wait_until(session.next_tick + plan.ticks.length + late)
            session.advance(source.table)
        if session.is_over:
            _say("The stream is over.")


def _say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)
