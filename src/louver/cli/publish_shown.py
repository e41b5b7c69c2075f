"""What `louver publish stream` prints: what is known before anything is paid, and what was published."""

from __future__ import annotations

import argparse
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from louver.cli import ui
from louver.cli.ask_words import with_flags

if TYPE_CHECKING:
    from louver.stream.answer import Stream
    from louver.stream.plan import StreamPlan

HEAD, WIDTH = 11, 120
COMMAND = "publish stream"


def show_plan(arguments: argparse.Namespace, plan: StreamPlan, refused: str | None) -> None:
    """What is known before anything is reserved or read."""
    if arguments.json:
        ui.print_json(COMMAND, dry_run=True, **_known(plan), refused=refused)
        return
    _print(plan, sys.stdout)
    if arguments.mechanism == "sum":
        _say("why", plan.why(live=arguments.live) or "")
    _say("price", f"{_price(plan)} at most; nothing was reserved and no row was read")
    _say("meaning", _meaning(plan))
    if refused is not None:
        _say("refused", f"a run would be: {refused}")


def show_stream(arguments: argparse.Namespace, stream: Stream, written: str) -> None:
    """What was paid and where the stream is. Where the output has the stream, this goes to the error output."""
    from louver.decide.shown import down

    on_output = arguments.to == "-"
    if arguments.json:
        said = {**_known(stream.plan), **stream.to_dict()}
        kept = said if on_output else {name: value for name, value in said.items() if name != "columns"}
        ui.print_json(COMMAND, dry_run=False, **kept, to=arguments.to)
        return
    out = sys.stderr if on_output else sys.stdout
    _print(stream.plan, out)
    left = "" if stream.remaining is None else f"; {down(stream.remaining)} remains where most is used"
    entry = f"entry {stream.release.number} of {stream.ledger or 'the ledger'}"
    paid = f"{_price(stream.plan)} at most, {entry}{left}"
    if stream.release.again:
        paid = f"nothing this time: {entry} has the stream, which was paid then with {_price(stream.plan)}{left}"
    _say("price", paid, out)
    _say("meaning", _meaning(stream.plan), out)
    if written:
        _say("published", written, out)


def show_begin(arguments: argparse.Namespace, plan: StreamPlan) -> None:
    """What a live stream promises and costs as a whole; the output has its ticks."""
    if not arguments.json:
        _print(plan, sys.stderr)
        _say("price", f"{_price(plan)} at most for the whole stream, paid before its first tick", sys.stderr)
        _say("meaning", _meaning(plan), sys.stderr)


def _print(plan: StreamPlan, out: Any) -> None:
    print(plan.protected, file=out)
    _say("stream", _what(plan), out)
    _say("promise", plan.promise, out)
    for warning in plan.warnings:
        _say("warning", with_flags(warning), out)


def _what(plan: StreamPlan) -> str:
    by = f" by {' and '.join(plan.keys)}" if plan.keys else ""
    size = f"{len(plan.ticks):,} ticks of {len(plan.regions):,} {'region' if len(plan.regions) == 1 else 'regions'}"
    return f"{plan.measured.noun}{by}, every {plan.ticks}; {size}, by {plan.kernel}"


def _known(plan: StreamPlan) -> dict[str, Any]:
    return {
        "stream": _what(plan),
        "protected": plan.protected,
        "promise": plan.promise,
        "warnings": list(plan.warnings),
        "mechanism": plan.kernel,
        "ticks": len(plan.ticks),
        "regions": len(plan.regions),
        "window": plan.window,
        "worst": str(plan.worst[0].price),
        "kind": plan.price.kind,
        "delta": str(getattr(plan.price, "delta", 0)),
        "meaning": _meaning(plan),
    }


def _price(plan: StreamPlan) -> str:
    from louver.decide.shown import up

    delta = getattr(plan.price, "delta", 0)
    also = f" and delta {float(delta):.3g}" if delta else ""
    return f"{'epsilon' if plan.rho is None else 'rho'} {up(plan.worst[0].price)}{also}"


def _meaning(plan: StreamPlan) -> str:
    from louver.decide.shown import meaning
    from louver.privacy import Pure

    if isinstance(plan.price, Pure):
        return meaning(plan.unit, plan.price.epsilon)
    return plan.price.sentence()


def _say(head: str, words: str, out: Any = None) -> None:
    lines = textwrap.wrap(ui.printable(words), WIDTH - HEAD, break_on_hyphens=False) or [""]
    for number, line in enumerate(lines):
        print(f"{ui.faint(f'{head:<{HEAD}}') if number == 0 else ' ' * HEAD}{line}", file=out or sys.stdout)


@contextmanager
def at_work() -> Iterator[None]:
    """Says on the terminal behind the error output how long a long act lasts; nothing where there is none."""
    if not sys.stderr.isatty():
        yield
        return
    done, began = threading.Event(), time.monotonic()

    def tell() -> None:
        while not done.wait(ui.QUIET_SECONDS):
            print(f"\rreading and drawing noise: {time.monotonic() - began:.0f} s", end="", file=sys.stderr, flush=True)

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield
    finally:
        done.set()
        teller.join()
        print("\r\033[K", end="", file=sys.stderr, flush=True)
