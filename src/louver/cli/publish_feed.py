"""`louver publish stream rules.toml`: from the feed of a watch to a stream, without its rules.

A recording is read as fast as it goes, over the stream's range; a broker or the input is published slot by slot, as its
slots end by the clock, until the stream is over. Either goes on where it ended.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from louver.cli import ui
from louver.errors import ParameterError

if TYPE_CHECKING:
    from louver.stream.plan import StreamPlan
    from louver.stream.tick import Tick
    from louver.watch.rules import Rules
    from louver.watch.stream_rules import StreamRule
    from louver.watch.watcher import Watched

TOML = ".toml"
# What the rules say for a feed, or what only a table has.
OF_TABLES = (
    *("time", "unit", "domain", "rows_per_unit", "keys_per_unit", "dataset", "ledger", "budget"),
    *("live", "state", "late", "ticks", "plot", "look_at_tail"),
)


def is_feed(given: str) -> bool:
    """Whether a file holds the rules of a watch, and so describes a feed."""
    from louver.errors import LouverError
    from louver.source.toml_file import parsed

    path = Path(given)
    if path.suffix.lower() != TOML or not path.is_file():
        return False
    try:
        return "watch" in parsed(path)
    except LouverError:
        return False  # whoever reads it as a source says what is wrong


def run(arguments: argparse.Namespace, asked: dict[str, Any]) -> None:
    import asyncio

    from louver.cli.watch_begin import check_ledger
    from louver.cli.watch_feed import BROKERS
    from louver.watch.rules import Rules

    _check_options(arguments)
    rule = _stream(arguments, asked)
    rules = Rules.read(arguments.source, (rule,))
    _check_slot(asked["every"], rules)
    if rules.rules or len(rules.streams) > 1:
        raise ParameterError(
            f"{rules.path} has rules or streams of its own, which louver watch decides and publishes from the same "
            "store; write this stream beside them as [stream.NAME], or name a file with another store."
        )
    check_ledger(rules)
    source: str | None = arguments.feed or rules.feed
    if source is None:
        raise ParameterError(f"Say which feed is published: --feed FEED, or a line feed = ... in {rules.path}.")
    is_recording = source != "-" and not source.startswith(BROKERS)
    if is_recording and rules.clock is None:
        rules = _over_the_range(rules, rule)
    plan = _checked(arguments, rules, rule)
    if plan is None:
        return
    if _is_over(rules, rule):
        watched = _published_again(rules, rule, plan)
    else:
        if not is_recording:
            _check_not_past(rules, rule)
        watched = asyncio.run(_published(rules, source, plan))
    _show_end(arguments, _is_over(rules, rule), watched)


def _check_options(arguments: argparse.Namespace) -> None:
    for name in OF_TABLES:
        if getattr(arguments, name) not in (None, False):
            raise ParameterError(
                f"--{name.replace('_', '-')} is for tables; a feed has none, or {Path(arguments.source).name} says it."
            )
    if arguments.key is None:
        raise ParameterError("The stream of a feed needs --key, under which it is paid for and goes on after a stop.")


def _stream(arguments: argparse.Namespace, asked: dict[str, Any]) -> StreamRule:
    from louver.sense.events import microseconds
    from louver.stream.ticks import Ticks
    from louver.watch.stream_rules import StreamRule
    from louver.watch.targets_growing import live_target

    ticks = Ticks("slot", asked["begin"], asked["end"], asked["every"])
    live_target(arguments.to)
    further = {name: value for name, value in asked.items() if name not in ("every", "begin", "end", "by")}
    return StreamRule(
        name=hashlib.sha256(arguments.key.encode()).hexdigest()[:16],
        by=tuple(asked["by"]),
        asked=further,
        begin=microseconds(ticks.begin),
        end=microseconds(ticks.end),
        to=arguments.to,
        key=arguments.key,
        audience=arguments.audience,
    )


def _check_slot(every: Any, rules: Rules) -> None:
    from louver.stream.ticks import minutes_of
    from louver.watch.durations import MICROSECONDS, written

    if minutes_of(every, "A tick") * MICROSECONDS["minute"] != rules.timing.slot:
        raise ParameterError(
            f"The ticks of a feed's stream are its slots, which last {written(rules.timing.slot)} in {rules.path}; "
            "give --every the same, or change slot there."
        )


def _over_the_range(rules: Rules, rule: StreamRule) -> Rules:
    """A recording's slots are those of the stream, whatever its events say."""
    from dataclasses import replace

    return replace(rules, begin=rule.begin, end=rule.end)


def _checked(arguments: argparse.Namespace, rules: Rules, rule: StreamRule) -> StreamPlan | None:
    """The plan, shown; None after a dry run. Nothing is reserved or read."""
    from louver.cli.publish_shown import show_begin, show_plan
    from louver.cli.publish_words import unspent
    from louver.ledger import Ledger
    from louver.steward import Steward
    from louver.stream.session import check_live, payment_for
    from louver.watch.stream_rules import Part
    from louver.watch.tables import Tables
    from louver.watch.targets_growing import live_target

    part = Part(rule.begin or 0, rule.end or 0)
    with Ledger.open(rules.ledger) as ledger:
        table = Tables(rules).empty()
        plan = rule.plan(part, table, rules.building, rules.timing.slot)
        Steward(table, ledger)  # says what does not fit together
        check_live(plan, rule.key_of(part))
        paid = payment_for(plan, ledger, rule.key_of(part), rule.audience)
        if arguments.dry_run:
            refusal = None if paid else ledger.refusal(plan, audience=rule.audience)
            show_plan(arguments, plan, None if refusal is None else str(refusal))
            return None
        with unspent():
            live_target(arguments.to, begun=paid is not None, force=arguments.force).check(plan)
        show_begin(arguments, plan, paid, ledger)
    return plan


async def _published(rules: Rules, source: str, plan: StreamPlan) -> Watched:
    import asyncio

    from louver.cli.watch_feed import feed_clock, feed_options
    from louver.sense.feeds import open_feed
    from louver.watch.watching import watch

    loop = asyncio.get_running_loop()
    stops: list[Callable[[], None]] = []

    def on_signals(stop: Callable[[], None]) -> None:
        stops.append(stop)
        for name in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(name, stop)

    with ui.Progress("ticks") as progress:

        def ticked(_: str, tick: Tick, is_last: bool) -> None:
            progress(tick.number + 1, plan.parts)
            if is_last:
                stops[0]()

        return await watch(
            rules,
            open_feed(source, **feed_options(rules, source, None, None)),
            clock=feed_clock(rules, source),
            ticked=ticked,
            token=os.environ.get("LOUVER_TOKEN") or None,
            started=lambda forecast: _check_first(rules, forecast.first),
            stopping=on_signals,
            stream=sys.stderr,
        )


def _check_first(rules: Rules, first: int | None) -> None:
    """Which tick is the first of which anything is known; a recording must have all of them."""
    from louver.watch.moments import shown
    from louver.watch.streams import folder_of

    (rule,) = rules.streams
    is_begun = bool(list(folder_of(rules).glob(f"{rule.name}@*")))
    if first is None or is_begun or rule.begin is None or first <= rule.begin:
        return
    if rules.begin is not None:
        raise ParameterError(
            f"The store of {rules.path} was read before, up to {shown(first)}; another stream of the same time needs a "
            "store and a journal of its own."
        )
    print(f"Nothing is known of the time before {shown(first)}, so its ticks are missing.", file=sys.stderr)


def _is_over(rules: Rules, rule: StreamRule) -> bool:
    """Whether the last tick was released, by this process or one before."""
    from louver.ledger import Ledger
    from louver.stream.session import payment_of

    with Ledger.open(rules.ledger) as ledger:
        paid = payment_of(ledger, rule.key or "")
    return paid is not None and paid.settled


def _check_not_past(rules: Rules, rule: StreamRule) -> None:
    """A live feed brings nothing of a range that is over, unless it was begun in time."""
    from louver.watch.clock import wall_clock
    from louver.watch.moments import shown
    from louver.watch.streams import folder_of

    if rule.end is not None and rule.end <= wall_clock() and not list(folder_of(rules).glob(f"{rule.name}@*")):
        raise ParameterError(f"The range ended at {shown(rule.end)}, and a live feed brings what happens now.")


def _published_again(rules: Rules, rule: StreamRule, plan: StreamPlan) -> Watched:
    """All of a stream that is over, wherever it is wanted now, and so also what was not sent yet.

    A process that still sends its last ticks has the journal.
    """
    from louver.cli.publish_live import publish_again
    from louver.ledger import Ledger
    from louver.watch.alone import alone
    from louver.watch.streams import forget_left
    from louver.watch.targets_growing import live_target
    from louver.watch.watcher import Watched

    with alone(rules.journal), Ledger.open(rules.ledger) as ledger:
        ticks, missing = publish_again(plan, ledger, rule.key or "", live_target(rule.to))
        forget_left(rules)
    print("The stream was over before, and is published again for nothing.", file=sys.stderr)
    return Watched(ticks=ticks, missing=missing)


def _show_end(arguments: argparse.Namespace, is_over: bool, watched: Watched) -> None:
    if arguments.json:
        said = {"ticks": watched.ticks, "missing": watched.missing, "over": is_over, "to": arguments.to}
        ui.print_json("publish stream", dry_run=False, **said)
        return
    print(f"Published {watched.ticks:,} ticks, {watched.missing:,} of them missing.", file=sys.stderr)
    print("The stream is over." if is_over else "It goes on with the same words.", file=sys.stderr)
