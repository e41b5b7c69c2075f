"""Alarms in the journal's file, inside transactions that somebody else began: raised, closed, found by an id."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable

from louver.errors import ParameterError
from louver.watch.alarms.alarm import Alarm
from louver.watch.journal_deliveries import add
from louver.watch.journal_records import NOT_NEEDED, Raised, Sent
from louver.watch.journal_states import LOUD

SHORTEST_ID = 4  # letters of an alarm's id that must be given
SHOWN = 3  # of the ids that begin alike


def raise_alarm(connection: sqlite3.Connection, alarm: Alarm, now: int) -> None:
    """A new alarm in the place of an open one of its rule and key, with a first notice for each of its channels."""
    close(connection, alarm.rule, [alarm.key], now)
    number = connection.execute(
        "INSERT INTO alarms (id, rule, key, state, record, raised, closed) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            *(alarm.id, alarm.rule, alarm.key, alarm.state, json.dumps(alarm.to_dict(), allow_nan=False), now),
            None if alarm.state in LOUD else now,
        ),
    ).lastrowid
    for channel in alarm.to:
        add(connection, number or 0, 0, channel, alarm, now)


def close(connection: sqlite3.Connection, rule: str, keys: Iterable[str], now: int) -> None:
    """What is open of these keys is over."""
    for key in keys:
        is_open = "SELECT number FROM alarms WHERE rule = ? AND key = ? AND closed IS NULL"
        for (number,) in connection.execute(is_open, (rule, key)).fetchall():
            connection.execute("UPDATE alarms SET closed = ? WHERE number = ?", (now, number))
            stop_repeats(connection, number, now)


def stop_repeats(connection: sqlite3.Connection, alarm: int, now: int) -> None:
    """Reminders that wait are no longer needed; the first notice is always delivered."""
    connection.execute(
        "UPDATE deliveries SET outcome = ?, ended = ? WHERE alarm = ? AND notice > 0 AND outcome IS NULL",
        (NOT_NEEDED, now, alarm),
    )


def listed(connection: sqlite3.Connection, which: str, *values: object) -> list[Raised]:
    """Those that meet a condition, in the order in which they were raised."""
    sql = f"SELECT number, record, raised, closed, acknowledged, who FROM alarms WHERE {which} ORDER BY number"  # noqa: S608 fixed texts
    return [
        Raised(Alarm.from_dict(json.loads(record)), raised, closed, seen, who, _sent(connection, number))
        for number, record, raised, closed, seen, who in connection.execute(sql, values).fetchall()
    ]


def numbered(connection: sqlite3.Connection, id: str) -> int:  # noqa: A002 it is the word
    """The number of the alarm whose id begins so; of several, the one that is open."""
    if len(id) < SHORTEST_ID:
        raise ParameterError(f"Give at least {SHORTEST_ID} letters of the alarm's id.")
    found = connection.execute(
        "SELECT number, id, closed IS NULL FROM alarms WHERE substr(id, 1, ?) = ? ORDER BY closed IS NULL DESC, number",
        (len(id), id.lower()),
    ).fetchall()
    among = [each for each in found if each[2]] or found
    if not among:
        raise ParameterError(f"No alarm's id begins with {id[:40]!r}; louver watch alarms --all lists them.")
    if len(among) > 1:
        more = ", ..." if len(among) > SHOWN else ""
        ids = ", ".join(each[1] for each in among[:SHOWN])
        raise ParameterError(f"The ids of several alarms begin with {id[:40]!r}: {ids}{more}; give more letters.")
    return int(among[0][0])


def _sent(connection: sqlite3.Connection, alarm: int) -> tuple[Sent, ...]:
    found = connection.execute(
        "SELECT channel, notice, tries, outcome, why FROM deliveries WHERE alarm = ? ORDER BY number", (alarm,)
    ).fetchall()
    return tuple(Sent(*each) for each in found)
