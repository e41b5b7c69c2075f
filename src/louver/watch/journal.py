"""The watcher's memory: what was decided and released, how each key stands, which alarms are open, what was delivered.

A slot is written in one transaction: that it is decided, its releases, the new states, its alarms and their
deliveries. So after a crash a slot is decided with all of these, or not at all. The journal holds releases only, never
a true aggregate and never a pseudonym.
"""

from __future__ import annotations

import json
import math
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from louver.errors import DataError, ParameterError
from louver.sense.events import instant
from louver.watch.alarms.alarm import Alarm
from louver.watch.journal_deliveries import Deliveries
from louver.watch.journal_file import JournalFile
from louver.watch.journal_records import NOT_NEEDED, Raised, Released, Sent, Snooze, State
from louver.watch.journal_states import LOUD, STATES

SHORTEST_ID: Final = 4  # letters of an alarm's id that must be given
PAGE: Final = 500  # slots read at a time


def clock() -> int:
    """Now, in microseconds UTC since 1970."""
    return time.time_ns() // 1000


class Change:
    """What one slot changes, collected first and written at once."""

    def __init__(self, rule: str, slot: int) -> None:
        self.rule, self.slot = rule, slot
        self.states: dict[str, State] = {}
        self.releases: dict[str, bool | int | float | str | None] = {}
        self.alarms: list[Alarm] = []

    def set(self, key: str, state: str, since: int, streak: int, clear_streak: int) -> None:
        """How the key stands now."""
        if state not in STATES:
            raise ParameterError(f"A key's state is one of {', '.join(STATES)}, not {state[:40]!r}.")
        self.states[key] = State(state, since, streak, clear_streak, self.slot)

    def released(self, key: str, value: bool | int | float | str | None) -> None:
        """What was released about the key: whether it was flagged, or the number."""
        if isinstance(value, float) and not math.isfinite(value):
            raise ParameterError("A released number is finite.")
        self.releases[key] = value

    def alarm(self, alarm: Alarm) -> None:
        """Raise it: it goes into the outbox, once for each of its channels."""
        if alarm.rule != self.rule:
            raise ParameterError(f"An alarm of the rule {alarm.rule!r} cannot be raised by {self.rule!r}.")
        self.alarms.append(alarm)


class Journal:
    """Opened with `Journal.open(path)`; several processes may have it open."""

    def __init__(self, file: JournalFile, now: Callable[[], int]) -> None:
        self._file = file
        self._now = now
        self.deliveries = Deliveries(file)

    @classmethod
    def open(cls, path: str | Path, *, create: bool = True, now: Callable[[], int] = clock) -> Journal:
        """The journal in this file, which is made where it is missing, unless `create` is false."""
        return cls(JournalFile.open(Path(path), create=create), now)

    @contextmanager
    def slot(self, rule: str, slot: int) -> Iterator[Change]:
        """Decide a slot: all that the change collects is written when the block ends, nothing if it raises.

        Slots of a rule are decided in order and once; another one is refused.
        """
        with self._file.read() as connection:
            _check_order(connection, rule, slot)
        change = Change(rule, slot)
        yield change
        with self._file.write() as connection:
            _check_order(connection, rule, slot)
            released = json.dumps(change.releases, ensure_ascii=False)
            connection.execute("INSERT INTO slots VALUES (?, ?, ?)", (rule, slot, released))
            self._write(connection, change)

    @contextmanager
    def between(self, rule: str, at: int) -> Iterator[Change]:
        """A change that no slot brings, such as no data: written at once like a slot's, and decides none."""
        change = Change(rule, at)
        yield change
        if change.releases:
            raise ParameterError("Only a slot releases something.")
        with self._file.write() as connection:
            self._write(connection, change)

    def _write(self, connection: sqlite3.Connection, change: Change) -> None:
        now = self._now()
        connection.executemany(
            "INSERT OR REPLACE INTO states VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
                (change.rule, key, state.state, state.since, state.streak, state.clear_streak, state.slot)
                for key, state in change.states.items()
            ],
        )
        quiet = {key for key, state in change.states.items() if state.state not in LOUD}
        _close(connection, change.rule, quiet, now)
        for alarm in change.alarms:
            _close(connection, alarm.rule, {alarm.key}, now)  # the newer one takes its place
            self._raise(connection, alarm, now)

    def _raise(self, connection: sqlite3.Connection, alarm: Alarm, now: int) -> None:
        record = json.dumps(alarm.to_dict(), allow_nan=False)
        closed = None if alarm.state in LOUD else now
        number = connection.execute(
            "INSERT INTO alarms (id, rule, key, state, record, raised, closed) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (alarm.id, alarm.rule, alarm.key, alarm.state, record, now, closed),
        ).lastrowid
        for channel in alarm.to:
            self.deliveries.add(connection, number or 0, 0, channel, alarm, now)

    def state(self, rule: str, key: str) -> State | None:
        return self.states(rule).get(key)

    def states(self, rule: str) -> dict[str, State]:
        """How every key of a rule stands."""
        with self._file.read() as connection:
            found = connection.execute(
                "SELECT key, state, since, streak, clear_streak, slot FROM states WHERE rule = ?", (rule,)
            ).fetchall()
        return {key: State(*rest) for key, *rest in found}

    def decided(self, rule: str) -> int | None:
        """The last slot that was decided."""
        with self._file.read() as connection:
            return _last(connection, rule)

    def released(self, rule: str, since: int | None = None) -> Iterator[Released]:
        """Everything that was released for a rule, in order of slots."""
        after = -(2**63) if since is None else since - 1
        while True:
            with self._file.read() as connection:
                found = connection.execute(
                    "SELECT slot, released FROM slots WHERE rule = ? AND slot > ? ORDER BY slot LIMIT ?",
                    (rule, after, PAGE),
                ).fetchall()
            for slot, released in found:
                for key, value in json.loads(released).items():
                    yield Released(slot, key, value)
            if len(found) < PAGE:
                return
            after = found[-1][0]

    def alarms(self, open_only: bool = True) -> list[Raised]:
        """Alarms in the order in which they were raised."""
        return self._alarms("closed IS NULL" if open_only else "TRUE")

    def _alarms(self, which: str, *values: object) -> list[Raised]:
        with self._file.read() as connection:
            sql = f"SELECT number, record, raised, closed, acknowledged, who FROM alarms WHERE {which} ORDER BY number"  # noqa: S608 fixed texts
            found = connection.execute(sql, values).fetchall()
            return [
                Raised(Alarm.from_dict(json.loads(record)), raised, closed, seen, who, _sent(connection, number))
                for number, record, raised, closed, seen, who in found
            ]

    def acknowledge(self, id: str, who: str) -> Raised:  # noqa: A002 it is the word
        """Somebody has seen the alarm with this id, or the only one whose id begins so: it is not repeated any more."""
        if len(id) < SHORTEST_ID:
            raise ParameterError(f"Give at least {SHORTEST_ID} letters of the alarm's id.")
        with self._file.write() as connection:
            found = connection.execute(
                "SELECT number FROM alarms WHERE substr(id, 1, ?) = ? LIMIT 2", (len(id), id.lower())
            ).fetchall()
            if len(found) != 1:
                which = "No alarm's id begins" if not found else "The ids of several alarms begin"
                raise ParameterError(f"{which} with {id[:40]!r}; louver watch alarms lists them.")
            [(number,)] = found
            connection.execute(
                "UPDATE alarms SET acknowledged = ?, who = ? WHERE number = ? AND acknowledged IS NULL",
                (self._now(), who, number),
            )
            _stop_repeats(connection, number, self._now())
        return self._alarms("number = ?", number)[0]

    def snooze(self, rule: str, key: str | None, until: int, who: str = "") -> None:
        """Hold back notices of a rule, or of one of its keys, until then; a time that has passed ends a snooze."""
        with self._file.write() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO snoozes VALUES (?, ?, ?, ?)",
                (rule, "" if key is None else f"={key}", until, who),
            )
            connection.execute("DELETE FROM snoozes WHERE until <= ?", (self._now(),))

    def snoozes(self) -> list[Snooze]:
        """Those that still hold."""
        with self._file.read() as connection:
            found = connection.execute(
                "SELECT rule, key, until, who FROM snoozes WHERE until > ? ORDER BY rule, key", (self._now(),)
            ).fetchall()
        return [Snooze(rule, key[1:] if key else None, until, who) for rule, key, until, who in found]

    def forget(self, before: int) -> None:
        """Drop slots, and alarms that were closed and delivered, from before then; the last slot of a rule stays."""
        with self._file.write() as connection:
            connection.execute(
                "DELETE FROM slots WHERE slot < ? AND slot < (SELECT max(slot) FROM slots newer WHERE"
                " newer.rule = slots.rule)",
                (before,),
            )
            over = (
                "SELECT number FROM alarms WHERE closed < ? AND NOT EXISTS (SELECT 1 FROM deliveries WHERE"
                " alarm = alarms.number AND outcome IS NULL)"
            )
            numbers = [(number,) for (number,) in connection.execute(over, (before,)).fetchall()]
            connection.executemany("DELETE FROM deliveries WHERE alarm = ?", numbers)
            connection.executemany("DELETE FROM alarms WHERE number = ?", numbers)

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _last(connection: sqlite3.Connection, rule: str) -> int | None:
    found: int | None = connection.execute("SELECT max(slot) FROM slots WHERE rule = ?", (rule,)).fetchone()[0]
    return found


def _check_order(connection: sqlite3.Connection, rule: str, slot: int) -> None:
    last = _last(connection, rule)
    if last is not None and slot <= last:
        what = "was decided already" if slot == last else f"comes after {instant(last).isoformat()} was decided"
        raise DataError(f"The slot {instant(slot).isoformat()} of the rule {rule!r} {what}; a slot is decided once.")


def _close(connection: sqlite3.Connection, rule: str, keys: set[str], now: int) -> None:
    is_open = "SELECT number, key FROM alarms WHERE rule = ? AND closed IS NULL"
    for number, key in connection.execute(is_open, (rule,)).fetchall():
        if key in keys:
            connection.execute("UPDATE alarms SET closed = ? WHERE number = ?", (now, number))
            _stop_repeats(connection, number, now)


def _stop_repeats(connection: sqlite3.Connection, alarm: int, now: int) -> None:
    """Reminders that wait are no longer needed; the first notice is always delivered."""
    connection.execute(
        "UPDATE deliveries SET outcome = ?, ended = ? WHERE alarm = ? AND notice > 0 AND outcome IS NULL",
        (NOT_NEEDED, now, alarm),
    )


def _sent(connection: sqlite3.Connection, alarm: Any) -> tuple[Sent, ...]:
    found = connection.execute(
        "SELECT channel, notice, tries, outcome, why FROM deliveries WHERE alarm = ? ORDER BY number", (alarm,)
    ).fetchall()
    return tuple(Sent(*each) for each in found)
