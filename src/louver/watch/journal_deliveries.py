"""The outbox's part of the journal: which notices wait for which channel, and what became of them.

Notices of one rule and key go to one channel in order: one is due when all that wait before it are.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Mapping
from typing import Final

from louver.watch.alarms.alarm import Alarm, Notice
from louver.watch.journal_file import JournalFile
from louver.watch.journal_records import DELIVERED, GIVEN_UP, Failing, Waiting
from louver.watch.journal_states import WITHOUT_ANSWER

_SNOOZED: Final = (
    "EXISTS (SELECT 1 FROM snoozes WHERE snoozes.rule = alarms.rule AND snoozes.key IN ('', '=' || alarms.key)"
    " AND snoozes.until > :now)"
)
# Whoever snoozed knew of a crowd, not that nobody can tell any more. So the first notice of that goes out, and before
# it, to keep the order, what it stands behind; what comes after it is held back.
_BREAKING: Final = (
    "EXISTS (SELECT 1 FROM deliveries behind JOIN alarms breaks ON breaks.number = behind.alarm"  # noqa: S608 fixed texts
    " WHERE behind.channel = deliveries.channel AND behind.lane = deliveries.lane AND behind.outcome IS NULL"
    " AND behind.number >= deliveries.number"
    f" AND behind.notice = 0 AND breaks.state IN {WITHOUT_ANSWER})"
)
_DUE: Final = (
    "SELECT deliveries.number, record, notice, tries, tried, lane"  # noqa: S608 fixed texts
    " FROM deliveries JOIN alarms ON alarms.number = deliveries.alarm"
    " WHERE channel = :channel AND outcome IS NULL AND NOT EXISTS"
    " (SELECT 1 FROM deliveries first WHERE first.channel = deliveries.channel AND first.lane = deliveries.lane"
    "  AND first.outcome IS NULL AND first.number <= deliveries.number AND first.next > :now)"
    f" AND (NOT :snoozes OR NOT {_SNOOZED} OR {_BREAKING}) ORDER BY deliveries.number LIMIT :most"
)
_TO_REPEAT: Final = (
    "SELECT alarms.number, record, max(notice)"  # noqa: S608 fixed texts
    " FROM alarms JOIN deliveries ON alarms.number = deliveries.alarm"
    " WHERE closed IS NULL AND acknowledged IS NULL AND channel = :channel"
    f" AND (NOT :snoozes OR NOT {_SNOOZED}) AND alarms.rule NOT IN (SELECT value FROM json_each(:resting))"
    " GROUP BY alarms.number HAVING count(*) = count(outcome) AND max(ended) <= :now - :every"
)


def add(connection: sqlite3.Connection, number: int, notice: int, channel: str, alarm: Alarm, now: int) -> None:
    """A notice of the alarm with this number, inside a transaction that somebody else began."""
    lane = json.dumps([alarm.rule, alarm.key])
    connection.execute(
        "INSERT INTO deliveries (alarm, notice, channel, lane, made, next) VALUES (?, ?, ?, ?, ?, ?)",
        (number, notice, channel, lane, now, now),
    )


class Deliveries:
    """What waits, tried and ended, each act in a transaction of its own."""

    def __init__(self, file: JournalFile) -> None:
        self._file = file

    def due(self, channel: str, now: int, *, snoozes: bool = True, most: int = 100) -> list[Waiting]:
        """Those whose turn it is, in the order in which they were made. Where one fails, so do those behind it."""
        values = {"channel": channel, "now": now, "snoozes": snoozes, "most": most}
        with self._file.read() as connection:
            found = connection.execute(_DUE, values).fetchall()
        return [
            Waiting(number, Notice(Alarm.from_dict(json.loads(record)), notice), tries, tried, lane)
            for number, record, notice, tries, tried, lane in found
        ]

    def delivered(self, numbers: Iterable[int], now: int, remark: str | None = None) -> None:
        self._end(numbers, DELIVERED, now, remark)

    def give_up(self, numbers: Iterable[int], now: int, why: str) -> None:
        self._end(numbers, GIVEN_UP, now, why)

    def _end(self, numbers: Iterable[int], outcome: str, now: int, why: str | None) -> None:
        with self._file.write() as connection:
            connection.executemany(
                "UPDATE deliveries SET outcome = ?, ended = ?, why = ?, tries = tries + 1,"
                " tried = coalesce(tried, ?) WHERE number = ?",
                [(outcome, now, why, now, number) for number in numbers],
            )

    def later(self, again: Mapping[int, int], now: int, why: str) -> None:
        """They failed, and each is tried again at its time."""
        with self._file.write() as connection:
            connection.executemany(
                "UPDATE deliveries SET tries = tries + 1, tried = coalesce(tried, ?), next = ?, why = ?"
                " WHERE number = ? AND outcome IS NULL",
                [(now, then, why, number) for number, then in again.items()],
            )

    def repeat(self, channel: str, every: int, now: int, *, snoozes: bool = True, resting: Collection[str] = ()) -> int:
        """Tell again what is open, not acknowledged, and was last told so long ago; how many that are.

        Rules that are `resting`, outside of their hours, find nothing new, and are not told again.
        """
        values = {"channel": channel, "now": now, "snoozes": snoozes, "every": every, "resting": json.dumps([*resting])}
        with self._file.read() as connection:
            if not connection.execute(_TO_REPEAT, values).fetchone():
                return 0  # the common case takes no lock
        with self._file.write() as connection:
            found = connection.execute(_TO_REPEAT, values).fetchall()
            for number, record, notice in found:
                alarm = Alarm.from_dict(json.loads(record))
                add(connection, number, notice + 1, channel, alarm, now)
        return len(found)

    def lost(self) -> int:
        """How many alarms that are over did not reach all of their channels."""
        sql = (
            "SELECT count(DISTINCT alarm) FROM deliveries JOIN alarms ON alarms.number = alarm"
            " WHERE outcome = ? AND closed IS NOT NULL"
        )
        with self._file.read() as connection:
            return int(connection.execute(sql, (GIVEN_UP,)).fetchone()[0])

    def failing(self) -> list[Failing]:
        """The channels for which notices wait, and why the last try failed."""
        sql = (
            "SELECT channel, count(*), coalesce(max(tries), 0), (SELECT why FROM deliveries last"
            " WHERE last.channel = deliveries.channel AND last.outcome IS NULL AND last.why IS NOT NULL"
            " ORDER BY next DESC LIMIT 1)"
            " FROM deliveries WHERE outcome IS NULL GROUP BY channel ORDER BY channel"
        )
        with self._file.read() as connection:
            return [Failing(*each) for each in connection.execute(sql).fetchall()]

    def waiting(self) -> dict[str, int]:
        """How many wait for each channel."""
        with self._file.read() as connection:
            sql = "SELECT channel, count(*) FROM deliveries WHERE outcome IS NULL GROUP BY channel"
            return dict(connection.execute(sql).fetchall())

    def give_up_channel(self, channel: str, before: int, now: int, why: str) -> int:
        """What was made before then for a channel that there is no more; how many that were."""
        with self._file.write() as connection:
            return connection.execute(
                "UPDATE deliveries SET outcome = ?, ended = ?, why = ?"
                " WHERE channel = ? AND made < ? AND outcome IS NULL",
                (GIVEN_UP, now, why, channel, before),
            ).rowcount
