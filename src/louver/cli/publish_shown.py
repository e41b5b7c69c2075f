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
from louver.cli.publish_words import with_options

if TYPE_CHECKING:
    from louver.ledger import Ledger, Reservation
    from louver.source.description import Source
    from louver.stream.answer import Stream
    from louver.stream.looking import Tails
    from louver.stream.plan import StreamPlan

HEAD, WIDTH = 11, 120
COMMAND = "publish stream"


def show_plan(
    arguments: argparse.Namespace, plan: StreamPlan, refused: str | None, cautions: tuple[str, ...] = ()
) -> None:
    """What is known before anything is reserved or read; `cautions` are about the source."""
    if arguments.json:
        known = _known(plan)
        ui.print_json(COMMAND, dry_run=True, **{**known, "warnings": [*known["warnings"], *cautions]}, refused=refused)
        return
    _print(plan, sys.stdout)
    for caution in cautions:
        say("warning", caution)
    if arguments.mechanism == "sum":
        say("why", plan.why(live=arguments.live) or "")
    say_price(plan, refused)


def say_price(plan: StreamPlan, refused: str | None) -> None:
    """What it would cost, what that means, and why it would be refused."""
    say("price", f"{_price(plan)} at most{_together(plan)}; nothing was reserved and no row was read")
    say("meaning", _meaning(plan))
    if refused is not None:
        say("refused", f"a run would be: {refused}")


def times_as_texts(source: Source, plan: StreamPlan) -> tuple[str, ...]:
    """A caution where texts are read as times: whether they are any, only rows could say, and nobody may ask those."""
    from louver.steward import holds_texts

    if not holds_texts(source.table, plan.ticks.time):
        return ()
    untold = "is in no tick, is paid for all the same, and no message tells of it; look at some rows before you pay"
    return (f"Column {plan.ticks.time!r} holds texts. What is no time like 2026-03-02T08:00 {untold}.",)


def show_stream(arguments: argparse.Namespace, stream: Stream, written: str, key: str) -> None:
    """What was paid, where the stream is, and how it is had again. Where the output has the stream, this goes to the
    error output."""
    on_output = arguments.to == "-"
    if arguments.json:
        said = {**_known(stream.plan), **stream.to_dict()}
        kept = said if on_output else {name: value for name, value in said.items() if name != "columns"}
        ui.print_json(COMMAND, dry_run=False, **kept, to=arguments.to)
        return
    out = sys.stderr if on_output else sys.stdout
    _print(stream.plan, out)
    if arguments.mechanism == "sum":
        say("why", stream.plan.why() or "", out)
    say_paid(stream, stream.plan, "stream", out)
    files = [each for each in (written, arguments.plot) if each]
    if files:
        say("published", " and ".join(files), out)
    say("again", f"with --key {key!r} and the same words, this stream is had again for nothing", out)


def say_paid(found: Stream | Tails, plan: StreamPlan, what: str, out: Any = None) -> None:
    """What was paid for a release, at the price of a stream's plan, and what that means."""
    left = _left(found)
    entry = f"entry {found.release.number} of {found.ledger or 'the ledger'}"
    paid = f"{_price(plan)} at most{_together(plan)}, {entry}{left}"
    if found.release.again:
        paid = f"nothing this time: {entry} has the {what}, which was paid then with {_price(plan)}{left}"
    say("price", paid, out)
    say("meaning", _meaning(plan), out)


def _left(found: Stream | Tails) -> str:
    """What remains, and how often that pays for as much again."""
    from louver.decide.shown import down

    if found.remaining is None:
        return ""
    left = f"; {down(found.remaining)} remains where most is used"
    more = found.remaining // found.plan.worst[0].price
    if getattr(found.plan.price, "delta", 0):
        return left  # of which less may remain
    return f"{left}, enough for {more:,} more like it" if more else f"{left}, too little for another like it"


def show_begin(arguments: argparse.Namespace, plan: StreamPlan, paid: Reservation | None, ledger: Ledger) -> None:
    """What a live stream promises and costs as a whole; the output has its ticks."""
    from louver.decide.shown import down
    from louver.stream.publishing import family

    if arguments.json:
        return
    whole = f"{_price(plan)} at most for the whole stream{_together(plan)}"
    if paid is None:
        price = f"{whole}, which is paid before its first tick"
    else:
        left = f"; {down(ledger.remaining(plan.scope, arguments.audience, family(plan)))} remains where most is used"
        entry = f"entry {paid.number} of the ledger"
        price = f"{whole}, {entry}{left}" if paid.fresh else f"nothing this time: {entry} paid for it, {whole}{left}"
    _print(plan, sys.stderr)
    say("price", price, sys.stderr)
    say("meaning", _meaning(plan), sys.stderr)


def _print(plan: StreamPlan, out: Any) -> None:
    print(plan.protected, file=out)
    say("stream", plan.what, out)
    say("promise", plan.promise, out)
    for warning in plan.warnings:
        say("warning", with_options(warning), out)


def _known(plan: StreamPlan) -> dict[str, Any]:
    return {
        "stream": plan.what,
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


def _together(plan: StreamPlan) -> str:
    """Whose price it is, with a window."""
    return "" if plan.window == 1 else f" for any {_several(plan)} together"


def _several(plan: StreamPlan) -> str:
    return f"{plan.window:,} {'rows' if plan.unit.is_row else 'of these units'}"


def _price(plan: StreamPlan) -> str:
    from louver.decide.shown import up

    delta = getattr(plan.price, "delta", 0)
    also = f" and delta {float(delta):.3g}" if delta else ""
    return f"{'epsilon' if plan.rho is None else 'rho'} {up(plan.worst[0].price)}{also}"


def _meaning(plan: StreamPlan) -> str:
    from louver.decide.shown import meaning, sure
    from louver.privacy import Pure

    if not isinstance(plan.price, Pure):
        return plan.price.sentence()
    if plan.window == 1:
        return meaning(plan.unit, plan.price.epsilon)
    sureness = f"can be at most {sure(plan.price.epsilon)} sure afterwards"
    return f"whoever gave even odds that any {_several(plan)} are in the data, or none of them, {sureness}"


def say(head: str, words: str, out: Any = None) -> None:
    lines = textwrap.wrap(ui.printable(words), WIDTH - HEAD, break_on_hyphens=False) or [""]
    for number, line in enumerate(lines):
        print(f"{ui.faint(f'{head:<{HEAD}}') if number == 0 else ' ' * HEAD}{line}", file=out or sys.stdout)


@contextmanager
def at_work() -> Iterator[None]:
    """Says on the terminal behind the error output how far a long act has come; nothing where there is none.

    How long the rows take to read is not known before, so that is told in seconds; noise is told in ticks.
    """
    from louver.stream.running import told

    if not sys.stderr.isatty():
        yield
        return
    done, began, drawn = threading.Event(), time.monotonic(), [0, 0]

    def hear(ticks: int, all_of: int) -> None:
        drawn[:] = ticks, all_of

    def tell() -> None:
        while not done.wait(ui.QUIET_SECONDS):
            ticks, all_of = drawn
            noise = f"noise for {ticks:,} of {all_of:,} ticks"
            now = noise if all_of else f"reading rows: {time.monotonic() - began:.0f} s"
            print(f"\r\033[K{now}", end="", file=sys.stderr, flush=True)

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    listening = told.set(hear)
    try:
        yield
    finally:
        told.reset(listening)
        done.set()
        teller.join()
        print("\r\033[K", end="", file=sys.stderr, flush=True)
