"""What `louver watch alarms`, `ack` and `snooze` show: rows for a table, plain values for JSON, and sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from louver.errors import ParameterError
from louver.sense.events import instant
from louver.watch.alarms.alarm import Notice
from louver.watch.alarms.sink import DAY
from louver.watch.alarms.words import WHOLE, local, moment, printable, subject
from louver.watch.durations import duration, written
from louver.watch.journal import Journal, clock
from louver.watch.journal_records import GIVEN_UP, Failing, Raised, Snooze
from louver.watch.journal_states import LOUD
from louver.watch.rules import Rules

WEEK: Final = 7 * DAY
HEADS: Final = ("id", "state", "rule", "key", "since", "seen by", "delivery")


def rows(raised: Sequence[Raised]) -> list[list[str]]:
    """One row an alarm, under `HEADS`."""
    return [
        [
            each.alarm.id,
            f"{each.alarm.state} (over)" if each.alarm.state in LOUD and not each.open else each.alarm.state,
            printable(each.alarm.rule),
            printable(f"{WHOLE} {each.alarm.key}" if each.alarm.level == WHOLE else each.alarm.key),
            f"{local(each.alarm.since, each.alarm.zone):%Y-%m-%d %H:%M %Z}",
            "" if each.acknowledged is None else printable(each.who or "somebody"),
            printable(_delivery(each)),
        ]
        for each in raised
    ]


def plain(raised: Sequence[Raised]) -> list[dict[str, Any]]:
    """The same with all that is known, for JSON."""
    return [
        {
            **each.alarm.to_dict(),
            "open": each.open,
            "raised": _moment(each.raised),
            "closed": None if each.closed is None else _moment(each.closed),
            "acknowledged": None if each.acknowledged is None else _moment(each.acknowledged),
            "who": each.who,
            "sent": [
                {"channel": sent.channel, "notice": sent.notice, "tries": sent.tries, "outcome": sent.outcome}
                | ({} if sent.why is None else {"why": sent.why})
                for sent in each.sent
            ],
        }
        for each in raised
    ]


def resting(raised: Sequence[Raised], rules: Rules) -> list[str]:
    """Which rules with an open alarm do not ask now, outside of their hours, and when they do again."""
    now, step, zone = clock(), rules.timing.slot, rules.building.timezone
    named = {each.alarm.rule for each in raised if each.open}
    said = []
    for rule in (rule for rule in rules.rules if rule.name in named & rules.resting(now)):
        following = rule.hours.next_at(now, rules.zone, step)
        again = "" if following is None else f"; it asks again at {moment(following, zone)}"
        said.append(
            f"The rule {rule.name} does not ask now, outside of its hours ({rule.hours}){again}. Until then its alarms "
            "stay as they were last found, and nobody is reminded of them."
        )
    return [printable(each) for each in said]


def notes(journal: Journal, zone: str = "UTC") -> list[str]:
    """What a list of alarms does not show: what is snoozed, which channels fail, what never reached somebody."""
    said = [f"Snoozed until {moment(each.until, zone)}{_by(each)}: {_what(each)}." for each in journal.snoozes()]
    said += [_waits(each) for each in journal.deliveries.failing()]
    if lost := journal.deliveries.lost():
        said.append(f"Of the alarms that are over, {lost:,} did not reach all of their channels.")
    return [printable(each) for each in said]


def plain_notes(journal: Journal) -> dict[str, Any]:
    """The same for JSON."""
    return {
        "snoozes": [
            {"rule": each.rule, "key": each.key, "until": _moment(each.until), "who": each.who}
            for each in journal.snoozes()
        ],
        "waiting": [each._asdict() for each in journal.deliveries.failing()],
        "lost": journal.deliveries.lost(),
    }


def acknowledge(journal: Journal, id: str, who: str) -> str:  # noqa: A002 it is the word
    """What was done, in sentences: who saw it first and when, and what follows."""
    raised = journal.acknowledge(id, who)
    zone, seen = raised.alarm.zone, raised.who or "somebody"
    at = "" if raised.acknowledged is None else f" at {moment(raised.acknowledged, zone)}"
    first = "" if seen == who else f" It was {seen} who saw it first."
    then = (
        "It is not repeated any more, and stays open until it is found clear."
        if raised.closed is None
        else f"It is over since {moment(_over_since(journal, raised), zone)}, so that nothing of it is repeated."
    )
    return printable(f"Seen by {seen}{at}: {subject(Notice(raised.alarm))}. {then}{first}")


def _over_since(journal: Journal, over: Raised) -> int:
    """The slot of the alarm that took its place; where that is forgotten, when it was closed."""
    same = [each for each in journal.alarms(open_only=False) if _lane(each) == _lane(over)]
    later = [each.alarm.slot for each in same[[each.alarm.id for each in same].index(over.alarm.id) + 1 :]]
    return later[0] if later else over.closed or over.raised


def _lane(raised: Raised) -> tuple[str, str]:
    return raised.alarm.rule, raised.alarm.key


def snooze(journal: Journal, rule: str, key: str | None, length: str, who: str, zone: str = "UTC") -> str:
    """Hold notices back for so long, like `30m`; `0m` ends a snooze."""
    microseconds = duration("The time of a snooze", length)
    if microseconds > WEEK:
        raise ParameterError("A snooze is a week long at most.")
    until = clock() + microseconds
    journal.snooze(rule, key, until, who)
    what = f"the rule {rule}" if key is None else f"{key} in the rule {rule}"
    if microseconds:
        return printable(
            f"Notices of {what} are held back for {written(microseconds)}, until {moment(until, zone)}, and told then. "
            "States go on, and undecided and no data are told at once."
        )
    whole = [each for each in journal.snoozes() if each.rule == rule and each.key is None]
    if key is not None and whole:
        return printable(
            f"Notices of {what} are not snoozed by themselves any more, but the whole rule is until "
            f"{moment(whole[0].until, zone)}{_by(whole[0])}; louver watch snooze {rule!r} --for 0m ends that."
        )
    return printable(f"Notices of {what} are told again.")


def _by(snoozed: Snooze) -> str:
    return f" by {snoozed.who}" if snoozed.who else ""


def _what(snoozed: Snooze) -> str:
    return f"rule {snoozed.rule}" if snoozed.key is None else f"{snoozed.key} in rule {snoozed.rule}"


def _waits(failing: Failing) -> str:
    count, channel, why = failing.notices, failing.channel, failing.why
    waits = f"{count:,} notice waits" if count == 1 else f"{count:,} notices wait"
    if why is None:
        sends = (
            "it while it runs and no snooze holds it" if count == 1 else "them while it runs and no snooze holds them"
        )
        return f"{waits} for {channel}, not tried yet; louver watch sends {sends} back."
    return f"{waits} for {channel}: {why}"


def _delivery(raised: Raised) -> str:
    """What matters most: who was not reached, who waits, else that all have it."""
    lost = [sent.channel for sent in raised.sent if sent.outcome == GIVEN_UP]
    waits = [sent.channel for sent in raised.sent if sent.outcome is None]
    said = [f"NOT DELIVERED to {', '.join(dict.fromkeys(lost))}"] if lost else []
    said += [f"waits for {', '.join(dict.fromkeys(waits))}"] if waits else []
    return "; ".join(said) or "delivered"


def _moment(time: int) -> str:
    return instant(time).replace(microsecond=0).isoformat().replace("+00:00", "Z")
