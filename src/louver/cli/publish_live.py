"""`louver publish stream --live`: each tick is read and published when it is over, until the end of the stream."""

from __future__ import annotations

import argparse
import os
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from louver.cli.publish_shown import show_begin
from louver.cli.publish_targets import Target
from louver.errors import ParameterError

if TYPE_CHECKING:
    from louver.ledger import Ledger
    from louver.source.description import Source
    from louver.stream.plan import StreamPlan

LONGEST_NAP = 30.0  # seconds: a clock that was set is noticed after that


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
    from louver.stream.session import Session
    from louver.stream.ticks import minutes_of

    late = timedelta(minutes=0 if arguments.late is None else minutes_of(arguments.late, "--late"))
    left = plan.parts if arguments.ticks is None else arguments.ticks
    if left < 1:
        raise ParameterError("--ticks is a number of 1 or more.")
    token = os.environ.get("LOUVER_TOKEN") or None
    names = {"key": arguments.key, "token": token, "audience": arguments.audience}
    show_begin(arguments, plan)
    with Session.open(plan, ledger, Path(arguments.state), place.tick, **names) as session:
        for _ in range(min(left, plan.parts - session.ticks)):
            _wait_until(session.next_tick + plan.ticks.length + late)
            session.advance(source.table)
        if session.is_over:
            print("The stream is over.", file=sys.stderr)


def _wait_until(moment: datetime) -> None:
    while (left := (moment - datetime.now(UTC)).total_seconds()) > 0:
        time.sleep(min(left, LONGEST_NAP))
