"""The watcher's memory: what was decided and released, how each key stands, which alarms are open, what was delivered.

A slot is written in one transaction: that it is decided, its releases, the new states, its alarms and their
deliveries. So after a crash a slot is decided with all of these, or not at all. The journal holds releases only, never
a true aggregate, and a pseudonym only of somebody who waits to be erased.
"""

from __future__ import annotations

import json
import math
import sqlite3
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import astuple
from pathlib import Path
from types import TracebackType
from typing import Final

from louver.errors import DataError, ParameterError
from louver.sense.events import instant
from louver.watch.alarms.alarm import Alarm
from louver.watch.journal_alarms import close, listed, numbered, raise_alarm, stop_repeats
from louver.watch.journal_deliveries import Deliveries
from louver.watch.journal_erasures import Erasures
from louver.watch.journal_file import JournalFile
from louver.watch.journal_forgetting import forget
from louver.watch.journal_records import Raised, Released, Snooze, State
from louver.watch.journal_states import LOUD, STATES

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

    def set(self, key: str, state: str, since: int, streak: int, clear_streak: int, first: int | None = None) -> None:
        """How the key stands now."""
        if state not in STATES:
            raise ParameterError(f"A key's state is one of {', '.join(STATES)}, not {state[:40]!r}.")
        self.states[key] = State(state, since, streak, clear_streak, self.slot, first)

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
        self.erasures = Erasures(file)

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
            "INSERT OR REPLACE INTO states (rule, key, state, since, streak, clear_streak, slot, first)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [(change.rule, key, *astuple(state)) for key, state in change.states.items()],
        )
        close(connection, change.rule, [key for key, state in change.states.items() if state.state not in LOUD], now)
        for alarm in change.alarms:
            raise_alarm(connection, alarm, now)

    def state(self, rule: str, key: str) -> State | None:
        return self.states(rule).get(key)

    def states(self, rule: str) -> dict[str, State]:
        """How every key of a rule stands."""
        with self._file.read() as connection:
            found = connection.execute(
                "SELECT key, state, since, streak, clear_streak, slot, first FROM states WHERE rule = ?", (rule,)
            ).fetchall()
        return {key: State(*rest) for key, *rest in found}

    def decided(self, rule: str) -> int | None:
        """The last slot that was decided."""
        with self._file.read() as connection:
            return _last(connection, rule)

    def slots(self, rule: str) -> frozenset[int]:
        """The slots of a rule that were decided and are not forgotten, also those without an answer."""
        with self._file.read() as connection:
            found = connection.execute("SELECT slot FROM slots WHERE rule = ?", (rule,)).fetchall()
        return frozenset(slot for (slot,) in found)

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
        with self._file.read() as connection:
            return listed(connection, "closed IS NULL" if open_only else "TRUE")

    def acknowledge(self, id: str, who: str) -> Raised:  # noqa: A002 it is the word
        """Somebody has seen the alarm whose id begins so: it is not repeated any more. Of several, the open one.

        Whoever saw it first stays the one who saw it.
        """
        with self._file.write() as connection:
            number = numbered(connection, id)
            connection.execute(
                "UPDATE alarms SET acknowledged = ?, who = ? WHERE number = ? AND acknowledged IS NULL",
                (self._now(), who, number),
            )
            stop_repeats(connection, number, self._now())
            return listed(connection, "number = ?", number)[0]

    def snooze(self, rule: str, key: str | None, until: int, who: str = "") -> None:
        """Hold back notices of a rule, or of one of its keys, until then; a time that has passed ends a snooze.

        What ends the snooze of a rule ends those of its keys.
        """
        now = self._now()
        with self._file.write() as connection:
            if key is None and until <= now:
                connection.execute("DELETE FROM snoozes WHERE rule = ?", (rule,))
            connection.execute(
                "INSERT OR REPLACE INTO snoozes VALUES (?, ?, ?, ?)",
                (rule, "" if key is None else f"={key}", until, who),
            )
            connection.execute("DELETE FROM snoozes WHERE until <= ?", (now,))

    def snoozes(self) -> list[Snooze]:
        """Those that still hold."""
        with self._file.read() as connection:
            found = connection.execute(
                "SELECT rule, key, until, who FROM snoozes WHERE until > ? ORDER BY rule, key", (self._now(),)
            ).fetchall()
        return [Snooze(rule, key[1:] if key else None, until, who) for rule, key, until, who in found]

    def forget(self, before: int) -> None:
        """Drop what is older, but for what is open, waits, or says which slots were decided."""
        with self._file.write() as connection:
            forget(connection, before)

    def bind(self, facts: Mapping[str, str]) -> dict[str, tuple[str, str]]:
        """Keep to these facts for good; those that were others before, as (then, now), and then nothing is kept."""
        with self._file.write() as connection:
            known = dict(connection.execute("SELECT name, value FROM bound").fetchall())
            others = {name: (known[name], value) for name, value in facts.items() if known.get(name, value) != value}
            if not others:
                connection.executemany("INSERT OR REPLACE INTO bound VALUES (?, ?)", facts.items())
        return others

    def leave(self, watched: Mapping[str, Collection[str]], told: Callable[[Alarm, int], Alarm]) -> list[Alarm]:
        """Rules and keys that are no longer watched: their states go, and what is open of them is over.

        `told` makes the notice that says so, of the open alarm and the time. Which slots were decided stays known.
        """
        with self._file.write() as connection:
            now = self._now()
            for rule, key in connection.execute("SELECT rule, key FROM states").fetchall():
                if key not in watched.get(rule, ()):
                    connection.execute("DELETE FROM states WHERE rule = ? AND key = ?", (rule, key))
            is_open = [each.alarm for each in listed(connection, "closed IS NULL")]
            left = [told(alarm, now) for alarm in is_open if alarm.key not in watched.get(alarm.rule, ())]
            for alarm in left:
                raise_alarm(connection, alarm, now)
        return left

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
