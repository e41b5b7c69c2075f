"""What the journal forgets: releases are no secret, but they would grow without end.

Slots from before the time go, and alarms that were over by then, with what became of their notices; of alarms that are
open, reminders that ended before, but for the last. What stays whatever its age: the last decided slot of each rule, so
that none is decided twice; open alarms; notices that still wait; and how each key stands.
"""

from __future__ import annotations

import sqlite3

_SLOTS = (
    "DELETE FROM slots WHERE slot < :before"
    " AND slot < (SELECT max(slot) FROM slots newer WHERE newer.rule = slots.rule)"
)
_OVER = (
    "SELECT number FROM alarms WHERE closed < :before"
    " AND NOT EXISTS (SELECT 1 FROM deliveries WHERE alarm = alarms.number AND outcome IS NULL)"
)
_REMINDERS = (
    "DELETE FROM deliveries WHERE notice > 0 AND ended < :before AND notice < (SELECT max(notice) FROM deliveries last"
    " WHERE last.alarm = deliveries.alarm AND last.channel = deliveries.channel)"
)


def forget(connection: sqlite3.Connection, before: int) -> None:
    """Inside a transaction that somebody else began."""
    given = {"before": before}
    connection.execute(_SLOTS, given)
    over = connection.execute(_OVER, given).fetchall()
    connection.executemany("DELETE FROM deliveries WHERE alarm = ?", over)
    connection.executemany("DELETE FROM alarms WHERE number = ?", over)
    connection.execute(_REMINDERS, given)
    connection.execute("DELETE FROM snoozes WHERE until < :before", given)
