"""An alarm in words, for whoever is on duty: what happened and what to do first, what it rests on after that."""

from __future__ import annotations

from datetime import datetime
from fractions import Fraction
from textwrap import fill
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from louver.sense.events import instant
from louver.watch.alarms.alarm import Alarm, Notice, rounded_up
from louver.watch.alarms.findings import wording
from louver.watch.journal_states import (
    CLEAR,
    FIRING,
    FIRING_UNDECIDED,
    LOUD,
    NO_DATA,
    PENDING,
    UNDECIDED,
    UNWATCHED,
    WITHOUT_ANSWER,
)

WIDTH = 100
WHOLE = "any"  # the level of an alarm that speaks of every key at once: any region
_ADVICE = {
    FIRING: "Go and look, and act if it is so. {firing} Nobody has to ask again: the rule asks in {asks}.",
    UNDECIDED: (
        "Undecided is not clear: go and look, as if {as_if}, until the rule decides again. Whoever runs Louver removes "
        "the reason."
    ),
    FIRING_UNDECIDED: (
        "Undecided is not clear: it was found to be so, and nobody can tell whether it still is. Go and look. Whoever "
        "runs Louver removes the reason."
    ),
    NO_DATA: ("No data is not clear: go and look, as if {as_if}, and have the sensors and their connection checked."),
    PENDING: "Be ready to go and look: one more slot like this, or a few, and the rule fires.",
    CLEAR: "Nothing. {clear}; what you see yourself counts more.",
    UNWATCHED: (
        "It is not known whether it is so, and nobody will tell. If that is not meant, put the rule or the place back "
        "into the files and start the watch again."
    ),
}
_COUNTED = {
    "devices": "devices, not people: somebody may carry several or none",
    "people": "people, worked out from devices with the building's own ratio; the promise below counts devices",
}


def subject(notice: Notice) -> str:
    """One line: the state in capitals, where, and what about it."""
    alarm = notice.alarm
    if alarm.state == CLEAR and alarm.level == WHOLE:  # others may fire, so that all is clear would be false
        return printable(f"DECIDED AGAIN: what the rule {alarm.rule} finds about each {alarm.key} is told again")
    said = wording(alarm).said[alarm.state].format(where=_where(alarm), what=_what(alarm))
    again = f" (reminder {notice.number})" if notice.number else ""
    return printable(f"{alarm.state.upper()}: {said}{again}")


def text(notice: Notice) -> str:
    """All of it, a paragraph a fact."""
    return "\n".join(fill(printable(line), WIDTH, break_long_words=False) for line in _lines(notice))


def _lines(notice: Notice) -> list[str]:
    alarm = notice.alarm
    asked = f", which asks {alarm.question}" if alarm.question else ""
    lines = [
        f"{subject(notice)}.",
        f"Since: {moment(alarm.since, alarm.zone)}; {_how_often(alarm)}.",
        f"To do: {to_do(alarm)}",
    ]
    if alarm.reason:
        lines.append(f"Reason: {_sentence(alarm.reason)}")
    if alarm.value is not None:
        lines.append(f"Released number: {alarm.value:,}, which has noise in it.{_from(alarm)}")
    if alarm.closer is not None:
        lines.append(f"Closer question: {_closer(alarm)}")
    lines.append(f"Counted: {counted(alarm)}{_in_devices(alarm)}.")
    lines.append(f"Promise: {promise(alarm)}")
    lines.append(f"Paid in this slot: {_paid(alarm)}.")
    lines.append(f"Rule: {alarm.rule}{asked}.")
    seen = f" To say that you have seen it: louver watch ack {alarm.id}" if alarm.state in LOUD else ""
    lines.append(f"Alarm: {alarm.id}.{seen}")
    return lines


def to_do(alarm: Alarm) -> str:
    """What the rule says is to be done; that no answer is not clear is always said."""
    if alarm.todo and alarm.state not in WITHOUT_ANSWER:
        return alarm.todo
    words = wording(alarm)
    hours = f"every slot of its hours ({alarm.hours}), and outside of them this stays as it is"
    asks = hours if alarm.hours else "every slot"
    advice = _ADVICE[alarm.state].format(as_if=words.as_if, firing=words.firing, clear=words.clear, asks=asks)
    return f"{_sentence(alarm.todo)} {advice}" if alarm.todo else advice


def promise(alarm: Alarm) -> str:
    """What holds of an alarm; where nothing is decided, nothing does."""
    if alarm.state == UNWATCHED:
        return "none any more."
    none = "none while nothing is decided; otherwise: " if alarm.state in WITHOUT_ANSWER else ""
    return f"{none}{_sentence(alarm.promise)}"


def counted(alarm: Alarm) -> str:
    """What is compared with the limit, and what it is not."""
    return _COUNTED.get(alarm.counted, alarm.counted)


def _where(alarm: Alarm) -> str:
    return f"any of {alarm.part} {alarm.key}s" if alarm.part else f"{alarm.level} {alarm.key}"


def _what(alarm: Alarm) -> str:
    """The limit; where another condition is asked, the condition, if it stands by itself."""
    if not alarm.over:
        is_short = alarm.question and not alarm.question.lower().startswith("select")
        return f"its condition {alarm.question}" if is_short else "its condition"
    if alarm.limit is None:
        return "its limit"
    of_what = alarm.counted if alarm.counted in _COUNTED else f"({alarm.counted})"
    return f"its limit of {alarm.limit:,} {of_what}"


def _from(alarm: Alarm) -> str:
    """From which number on a rule fires, where that is not the limit."""
    if alarm.within is None or alarm.limit is None:
        return ""
    return f" It may be off by {alarm.within:,}, so the rule flags what is above {alarm.limit - alarm.within:,}."


def _in_devices(alarm: Alarm) -> str:
    if alarm.devices is None:
        return ""
    return f", of which the limit is {alarm.devices:,}"


def _how_often(alarm: Alarm) -> str:
    since, slot = local(alarm.since, alarm.zone), local(alarm.slot, alarm.zone)
    at = f"{slot:%H:%M}" if slot.date() == since.date() else moment(alarm.slot, alarm.zone)
    if alarm.state in (*WITHOUT_ANSWER, UNWATCHED) or alarm.level == WHOLE:
        return f"as of {at}"
    found = "not flagged" if alarm.state == CLEAR else "flagged"
    return f"{found} at {at}" if alarm.slots == 1 else f"{found} in {alarm.slots} slots in a row, last at {at}"


def _closer(alarm: Alarm) -> str:
    closer = alarm.closer
    if closer is None or closer.flagged is None:
        return "it could not be decided, so what the rule found stands."
    found = "also flags it" if closer.flagged else "does not flag it"
    return f"a closer look {found}. {_sentence(closer.promise)}"


def _paid(alarm: Alarm) -> str:
    each = f" for each {alarm.unit}" if alarm.unit else ""
    paid = "nothing" if alarm.price is None else f"epsilon {_epsilon(alarm.price)}{each}"
    if alarm.closer is not None and alarm.closer.price is not None:
        paid += f", and epsilon {_epsilon(alarm.closer.price)} for the closer question"
    return paid


def _epsilon(price: Fraction) -> str:
    return f"{rounded_up(price):.4f}"


def local(time: int, zone: str) -> datetime:
    """A time in a zone; in UTC where this machine does not know the zone."""
    try:
        return instant(time).astimezone(ZoneInfo(zone))
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return instant(time)


def moment(time: int, zone: str) -> str:
    """The same in words."""
    shown = local(time, zone)
    return f"{shown:%H:%M} on {shown:%Y-%m-%d} ({shown.tzinfo})"


def _sentence(said: str) -> str:
    return said if said.endswith((".", "!", "?")) else f"{said}."


def printable(said: str) -> str:
    """A text from elsewhere, without signs that could move the cursor or begin a line of their own."""
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in said)
