"""What `louver watch alarms`, `ack` and `snooze` show: rows for a table, plain values for JSON, and sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from louver.errors import ParameterError
from louver.sense.events import instant
from louver.watch.alarms.alarm import Notice
from louver.watch.alarms.words import printable, subject
from louver.watch.durations import duration, written
from louver.watch.journal import Journal, clock
from louver.watch.journal_records import GIVEN_UP, Raised

HEADS: Final = ("id", "state", "rule", "key", "since", "seen by", "delivery")


def rows(raised: Sequence[Raised]) -> list[list[str]]:
    """One row an alarm, under `HEADS`."""
    return [
        [
            each.alarm.id,
            each.alarm.state if each.open else f"{each.alarm.state} (over)",
            printable(each.alarm.rule),
            printable(each.alarm.key),
            _moment(each.alarm.since),
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


def notes(journal: Journal) -> list[str]:
    """What a list of open alarms does not show: what is snoozed, and what is over and never reached somebody."""
    said = []
    for each in journal.snoozes():
        what = f"rule {each.rule}" if each.key is None else f"{each.key} in rule {each.rule}"
        by = f" by {each.who}" if each.who else ""
        said.append(printable(f"Snoozed until {_moment(each.until)}{by}: {what}."))
    over = [each for each in journal.alarms(open_only=False) if not each.open]
    lost = sum(any(sent.outcome == GIVEN_UP for sent in each.sent) for each in over)
    if lost:
        said.append(f"Of the alarms that are over, {lost:,} did not reach all of their channels.")
    return said


def acknowledge(journal: Journal, id: str, who: str) -> str:  # noqa: A002 it is the word
    """What was done, in a sentence."""
    raised = journal.acknowledge(id, who)
    said = subject(Notice(raised.alarm))
    first = "" if raised.who == who else f" It was {printable(raised.who or 'somebody')} who saw it first."
    return f"Seen: {said}. It is not repeated any more; its state does not change by this.{first}"


def snooze(journal: Journal, rule: str, key: str | None, length: str, who: str) -> str:
    """Hold notices back for so long, like `30m`; `0m` ends a snooze."""
    microseconds = duration("The time of a snooze", length)
    if microseconds > 7 * duration("a day", "1 day"):
        raise ParameterError("A snooze is a week long at most.")
    until = clock() + microseconds
    journal.snooze(rule, key, until, who)
    what = f"the rule {printable(rule)}" if key is None else f"{printable(key)} in the rule {printable(rule)}"
    if microseconds == 0:
        return f"Notices of {what} are told again."
    return (
        f"Notices of {what} are held back for {written(microseconds)}, until {_moment(until)}, and told then. "
        "States go on, and undecided and no data are told at once."
    )


def _delivery(raised: Raised) -> str:
    """What matters most: who was not reached, who waits, else that all have it."""
    lost = [sent.channel for sent in raised.sent if sent.outcome == GIVEN_UP]
    waits = [sent.channel for sent in raised.sent if sent.outcome is None]
    said = [f"NOT DELIVERED to {', '.join(dict.fromkeys(lost))}"] if lost else []
    said += [f"waits for {', '.join(dict.fromkeys(waits))}"] if waits else []
    return "; ".join(said) or "delivered"


def _moment(time: int) -> str:
    return instant(time).replace(microsecond=0).isoformat().replace("+00:00", "Z")
