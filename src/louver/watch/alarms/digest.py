"""Many alarms in one message, for whoever would drown in them: what happened where, and once what to do about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from textwrap import fill

from louver.watch.alarms.alarm import Alarm, Notice
from louver.watch.alarms.words import WIDTH, counted, moment, printable, promise, subject, to_do

NAMED = 3  # places in the subject


def digest_subject(notices: Sequence[Notice]) -> str:
    """One line: how many are in which state, and the first places."""
    states = Counter(each.alarm.state for each in notices)
    said = ", ".join(f"{count:,} {state.upper()}" for state, count in states.items())
    places = list(dict.fromkeys(f"{each.alarm.level} {each.alarm.key}" for each in notices))
    among = f" in {len(places):,} places" if 1 < len(places) < len(notices) else ""
    more = f" and {len(places) - NAMED:,} more" if len(places) > NAMED else ""
    return printable(f"{said}{among}: {', '.join(places[:NAMED])}{more}")


def digest(notices: Sequence[Notice]) -> str:
    """Everything that differs a line each, and what they share once."""
    lines = [f"{len(notices):,} alarms at once. {digest_subject(notices)}.", ""]
    for shared, together in _by_what_they_share(notices).items():
        lines += [fill(printable(line), WIDTH, break_long_words=False) for line in shared]
        lines += [printable(f"- {each.alarm.id}: {subject(each)}, {_since(each.alarm)}.") for each in together]
        lines.append("")
    lines.append("What each rests on: louver watch alarms --json. To say that you have seen one: louver watch ack ID")
    return "\n".join(lines)


def _by_what_they_share(notices: Sequence[Notice]) -> dict[tuple[str, ...], list[Notice]]:
    found: dict[tuple[str, ...], list[Notice]] = {}
    for each in notices:
        found.setdefault(tuple(_shared(each.alarm)), []).append(each)
    return found


def _shared(alarm: Alarm) -> Iterator[str]:
    yield f"Rule {alarm.rule}, {alarm.state}."
    yield f"To do: {to_do(alarm)}"
    if alarm.reason:
        yield f"Reason: {alarm.reason}"
    yield f"Counted: {counted(alarm)}."
    yield f"Promise: {promise(alarm)}"


def _since(alarm: Alarm) -> str:
    return f"since {moment(alarm.since, alarm.zone)}"
