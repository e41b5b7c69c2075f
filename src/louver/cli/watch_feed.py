"""`louver watch [FEED] --rules rules.toml`: from a feed to alarms, until it ends or is stopped."""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TextIO

from louver.cli import ui
from louver.errors import ParameterError

if TYPE_CHECKING:
    from louver.stream.tick import Tick
    from louver.watch.deciding import Decided
    from louver.watch.forecast import Forecast
    from louver.watch.rules import Rules
    from louver.watch.watcher import Watched

REPLAYED = (
    "Slots end by the events' own times, as in a replay: which slots there are, and which events come late, depends on "
    "single events and is not protected. A file that is replayed with --from and --to avoids that."
)
JUMPED = (
    "Events that are far ahead of all others were left out; where the recording has long gaps, replay it with --from "
    "and --to."
)
BROKERS = ("mqtt://", "mqtts://")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "feed", metavar="FEED", nargs="?", help="mqtt://host/topic, a file, or - for the input; else what the rules say"
    )
    add_rules(parser)
    parser.add_argument("--speed", metavar="X", help="replays a file so many times as fast as it happened")
    parser.add_argument(
        "--format", metavar="FORMAT", help="how messages are written; by the file's ending unless given"
    )
    parser.add_argument(
        "--fields", metavar="FIELDS", help="wifi, generic, meters, sensors; or own names: device=mac,place=ap,clock=s"
    )
    parser.add_argument(
        "--clock", metavar="CLOCK", help="wall: slots end by the clock; events: by the events' times, as in a replay"
    )
    parser.add_argument(
        "--from", metavar="TIME", dest="begin", help="with --to: slots of a recording are those of this range"
    )
    parser.add_argument("--to", metavar="TIME", dest="end", help="where the range ends; it is not part of it")
    parser.add_argument("--once", action="store_true", help="stops after the first slot that is decided")
    parser.add_argument("--for", metavar="SECONDS", dest="seconds", help="stops after so many seconds")
    parser.add_argument("--dry-run", action="store_true", help="says what it would cost, and reads nothing")
    parser.add_argument("--json", action="store_true", help="prints a line of JSON for each decided slot")


def add_rules(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rules", metavar="FILE", default="rules.toml", help="the rules; rules.toml unless given")


def run(arguments: argparse.Namespace) -> None:
    import asyncio

    from louver.cli.watch_begin import check_ledger, forecast
    from louver.cli.watch_end import how_to_check, why_none
    from louver.sense.events import FUTURE
    from louver.watch.rules import Rules

    rules = _with_fields(_ranged(Rules.read(arguments.rules), arguments), arguments.fields)
    seconds, speed = (_positive(arguments, name) for name in ("seconds", "speed"))
    check_ledger(rules)
    if arguments.dry_run:
        _show_forecast(forecast(rules), arguments.json)
        return
    source: str | None = arguments.feed or rules.feed
    if source is None:
        raise ParameterError(f"Say which feed is watched: louver watch FEED, or a line feed = ... in {rules.path}.")
    options = feed_options(rules, source, speed, arguments.format)
    clock = feed_clock(rules, source)
    watched = asyncio.run(_watched(rules, source, clock, options, arguments, seconds))
    _show_end(watched, arguments.json)
    if not arguments.json:
        if rules.rules and not watched.slots and (why := why_none(rules, source, clock)):
            print(why)
        print(ui.printable(how_to_check(rules, source, options)))
    if _is_by_events(rules, clock) and watched.tally[FUTURE] and not arguments.json:
        print(JUMPED)


async def _watched(
    rules: Rules,
    source: str,
    clock: str,
    options: dict[str, Any],
    arguments: argparse.Namespace,
    seconds: float | None,
) -> Watched:
    import asyncio

    from louver.cli.watch_begin import say_when_connected, show_wait
    from louver.sense.feeds import open_feed
    from louver.watch.rules import WALL
    from louver.watch.watching import watch

    loop = asyncio.get_running_loop()

    def on_signals(stop: Callable[[], None]) -> None:
        for name in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(name, stop)

    if _is_by_events(rules, clock) and not arguments.json:
        print(f"{REPLAYED}\n", flush=True)
    stream: TextIO | None = sys.stderr if arguments.json else None
    feed = open_feed(source, **options)
    is_waiting, is_broker = clock == WALL and not arguments.json, source.startswith(BROKERS)

    def started(forecast: Forecast) -> None:
        _show_forecast(forecast, arguments.json)
        if is_waiting:
            show_wait(rules, forecast.first)

    connecting = asyncio.create_task(say_when_connected(feed, source)) if is_waiting and is_broker else None
    try:
        return await watch(
            rules,
            feed,
            clock=clock,
            seconds=seconds,
            once=arguments.once,
            told=_print_decided if arguments.json else lambda _: None,
            started=started,
            ticked=_print_tick if arguments.json else lambda *_: None,
            stopping=on_signals,
            stream=stream,
        )
    finally:
        if connecting is not None:
            connecting.cancel()


def feed_clock(rules: Rules, source: str) -> str:
    """By which time slots end: a live feed's by the wall, those of a file or a range not."""
    from louver.watch.rules import EVENTS, WALL

    is_live = rules.begin is None and (source == "-" or source.startswith(BROKERS))
    return rules.clock or (WALL if is_live else EVENTS)


def _is_by_events(rules: Rules, clock: str) -> bool:
    """Whether single events decide which slots there are."""
    from louver.watch.rules import EVENTS

    return clock == EVENTS and rules.begin is None


def feed_options(rules: Rules, source: str, speed: float | None, written: str | None) -> dict[str, Any]:
    """What the feed is opened with: the file's options, and those of the command line."""
    options = dict(rules.options)
    if written is not None:
        options["format"] = written
    if source.startswith(BROKERS):
        if speed is not None:
            raise ParameterError("--speed is for files; a broker sends events when they happen.")
        if rules.begin is not None:
            raise ParameterError("A range is for recordings, which end; a broker's feed does not.")
        return options if rules.heartbeat is None else {**options, "heartbeat": rules.heartbeat}
    if rules.heartbeat is not None:
        raise ParameterError(f"{rules.path}, [watch]: heartbeat is for brokers; files and the input have none.")
    if speed is not None and rules.begin is not None:
        raise ParameterError("A range is decided when all of it is read, so that it takes no --speed.")
    options.pop("client", None)
    return options if speed is None else {**options, "speed": speed}


def _ranged(rules: Rules, arguments: argparse.Namespace) -> Rules:
    """The rules with the range and the clock that the command line names, if it does."""
    from dataclasses import replace

    from louver.watch.moments import moment

    begin, end = (
        before if text is None else moment(flag, text, rules.zone)
        for flag, text, before in (("--from", arguments.begin, rules.begin), ("--to", arguments.end, rules.end))
    )
    clock = rules.clock if arguments.clock is None else arguments.clock
    return replace(rules, begin=begin, end=end, clock=clock)


def _with_fields(rules: Rules, written: str | None) -> Rules:
    """The rules with the fields that the command line names, if it does."""
    if written is None:
        return rules
    from dataclasses import replace

    from louver.sense.formats.fields import GENERIC, WIFI, Fields
    from louver.sense.formats.written import written_fields

    before = rules.options.get("fields")
    only = before.only if isinstance(before, Fields) else None
    fields = replace(written_fields(written, WIFI if rules.combining is None else GENERIC), only=only)
    return replace(rules, options={**rules.options, "fields": fields})


def _show_forecast(forecast: Forecast, as_json: bool) -> None:
    from louver.cli.watch_begin import show_forecast

    if not as_json:
        show_forecast(forecast)
        return
    ends = None if forecast.ends is None else forecast.ends.isoformat()
    said = {"protected": forecast.protected, "meaning": forecast.meaning}
    _print_line("forecast", rules=list(forecast.rules), budget=forecast.budget, ends=ends, **said)


def _print_decided(decided: list[Decided]) -> None:
    from louver.decide.shown import number_up
    from louver.sense.events import instant

    for each in decided:
        _print_line(
            "slot" if each.of_a_slot else "no data",
            rule=each.rule,
            slot=instant(each.slot).isoformat(),
            firing=list(each.firing),
            pending=list(each.pending),
            undecided=each.undecided,
            paid=number_up(each.paid),
            reason=each.reason or None,
            alarms=[alarm.id for alarm in each.alarms],
        )


def _print_tick(name: str, tick: Tick, _: bool) -> None:
    _print_line("tick", stream=name, tick=tick.start.isoformat(), number=tick.number, missing=tick.missing)


def _show_end(watched: Watched, as_json: bool) -> None:
    from louver.decide.shown import number_up, up

    if as_json:
        _print_line(
            "end",
            slots=watched.slots,
            undecided=watched.undecided,
            alarms=watched.alarms,
            told=dict(watched.told),
            largest=number_up(watched.paid),
            ticks=watched.ticks,
            missing=watched.missing,
            malformed=_malformed(watched),
        )
        return
    slots = f"{watched.slots:,} slots of rules were decided, {watched.undecided:,} of them not for every key"
    told = ", ".join(f"{count:,} {state}" for state, count in watched.told.items()) or "nothing"
    print(f"{slots}; told: {told}; at most {up(watched.paid)} paid for one.")
    if watched.ticks:
        print(f"{watched.ticks:,} ticks of streams were published, {watched.missing:,} of them missing.")
    print(f"Malformed messages: {', '.join(_malformed(watched)) or 'none'}.")


def _malformed(watched: Watched) -> list[str]:
    """What was wrong with messages that nobody could read.

    How many there were is not shown, nor what became of the others: each message is of somebody who was there.
    """
    from louver.sense.events import MALFORMED

    return [outcome for outcome in watched.tally.to_dict() if outcome in MALFORMED]


def _print_line(what: str, **said: Any) -> None:
    """One object a line, as it happens."""
    print(json.dumps({"louver": "watch", "format": ui.FORMAT, "what": what, **said}), flush=True)


def _positive(arguments: argparse.Namespace, name: str) -> float | None:
    from louver.cli.ledger.written import number
    from louver.parameters import positive

    text = getattr(arguments, name)
    flag = "--for" if name == "seconds" else f"--{name}"
    return None if text is None else float(positive(flag, number(flag, text)))
