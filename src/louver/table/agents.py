"""Tables that nobody holds: each agent publishes its own cell, and the noise still cancels in the invariants.

Agents (rooms, sensors, sites) share a secret key that whoever reads the releases must not have. For each round every
agent derives the same noise vector from key and round number, by a keyed stream, and adds its own entry to its own
count. The released cells are those of `WholeTable`, and nobody had to see two counts. Price: that of `WholeTable` for
each round, against whoever does not know the key and cannot tell the stream from random bits; an agent who has the key
can take the noise off all others. Rounds about the same people add up, ten rounds cost ten times as much, and no
ledger counts them here.

The stream is SHAKE-256 of key, table, place, round and block number: a sponge, for which a key in front is a sound
keying. A round number must never serve two tables, and a cell has one agent: the difference of two releases with the
same noise is the difference of the counts. So an `Agent` takes rising rounds only. Which was the last one it knows
while it runs, and after a restart only from the file `kept`, which is written before a cell is given out: AN AGENT
WITHOUT SUCH A FILE FORGETS, and one that may be restarted must have one, or a `first` that is later than all rounds
before.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from louver import parameters
from louver.errors import DataError, ParameterError
from louver.noise import Bits
from louver.table.whole import WholeTable

SHORTEST_KEY = 32
LONGEST_KEY = 1024
LAST_ROUND = 2**62
_PURPOSE = b"louver.table.agents 1"


class KeyedBits(Bits):
    """The same bits for whoever has the key: one stream for each purpose and round."""

    __slots__ = ()

    def __init__(self, key: bytes, purpose: bytes, round_number: int) -> None:
        super().__init__()
        self._source = _stream(key, purpose, round_number)


class Agent:
    """The keeper of one cell of a shared table.

    `place` names the table: agents of one table give the same, of another table another. Two agents must not have the
    same `cell`. `kept` is a file of this agent alone that has its last round, and is made with the first one.

    >>> from louver.table import Invariants, WholeTable
    >>> key = bytes(range(32))  # secrets.token_bytes(32), and kept secret
    >>> rooms = [Agent(key, WholeTable(Invariants.total(3), epsilon=1), cell, place="hall") for cell in range(3)]
    >>> sum(room.publish(count, round_number=1) for room, count in zip(rooms, [7, 0, 5]))
    12
    """

    def __init__(
        self, key: bytes, table: WholeTable, cell: int, *, place: str, first: int = 1, kept: str | Path | None = None
    ) -> None:
        given: object = key
        if not isinstance(given, bytes) or not SHORTEST_KEY <= len(given) <= LONGEST_KEY:
            raise ParameterError(f"A key is {SHORTEST_KEY} to {LONGEST_KEY} secret random bytes.")
        shared: object = table
        if not isinstance(shared, WholeTable) or shared.queries.matrix is not None:
            raise ParameterError("Agents publish the cells of a WholeTable without queries.")
        named: object = place
        if not isinstance(named, str) or not named:
            raise ParameterError("Name the table that the agents share by a text, such as 'building 4'.")
        self._key, self._table, self._purpose = given, table, _described(table, place)
        self._cell = parameters.integer("The cell", cell, 0, table.invariants.cells - 1)
        self._kept = None if kept is None else Path(kept)
        last = 0 if self._kept is None else _last_round(self._kept)
        self._next = max(parameters.integer("first", first, 1, LAST_ROUND), last + 1)

    def publish(self, count: int, *, round_number: int) -> int:
        """This agent's cell with its share of the round's noise."""
        taken = parameters.integer("The round", round_number, 1, LAST_ROUND)
        if taken < self._next:
            raise ParameterError(
                "Each round is published once, in rising order: noise that is used twice hides nothing."
            )
        value = int(parameters.integers("The counts", [count])[0])
        self._next = taken + 1
        if self._kept is not None:
            _keep(self._kept, taken)
        noise = self._table.draw(1, bits=KeyedBits(self._key, self._purpose, taken))
        return value + int(noise[0, self._cell])


def _last_round(path: Path) -> int:
    try:
        text = path.read_text(encoding="ascii").strip()
        if not 1 <= len(text) <= 20 or not text.isdecimal():
            raise ValueError
        return int(text)
    except FileNotFoundError:
        return 0
    except (OSError, ValueError):
        raise DataError(
            f"{path} cannot be read as an agent's last round; start with a later one and a new file."
        ) from None


def _keep(path: Path, last: int) -> None:
    """On disk before anything is said: a round that was not said is lost, and one said twice hides nothing."""
    try:
        handle, name = tempfile.mkstemp(prefix=".round-", dir=path.parent)
        try:
            with os.fdopen(handle, "w", encoding="ascii") as file:
                file.write(f"{last}\n")
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(path)
            folder = os.open(path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
        finally:
            with suppress(FileNotFoundError):
                Path(name).unlink()
    except OSError as fault:
        raise DataError(
            f"{path} cannot be written, so the round is not published: {fault.strerror or 'the system gave no reason'}."
        ) from None


def _described(table: WholeTable, place: str) -> bytes:
    """The table and all that shapes its noise: two tables never share a stream, even under one name."""
    kept = table.invariants.group_of if table.invariants.apart else table.invariants.matrix
    shape = f"{kept.shape} {table.noise} {table.parameter} ".encode()
    return shape + hashlib.sha256(kept.astype("<i8").tobytes()).digest() + place.encode()


def _stream(key: bytes, purpose: bytes, round_number: int) -> Callable[[int], bytes]:
    lengths = b"".join(len(part).to_bytes(8, "big") for part in (_PURPOSE, key, purpose))
    seed = hashlib.shake_256(lengths + _PURPOSE + key + purpose + round_number.to_bytes(8, "big"))
    blocks = 0

    def source(number: int) -> bytes:
        nonlocal blocks
        block = seed.copy()
        block.update(blocks.to_bytes(8, "big"))
        blocks += 1
        return block.digest(number)

    return source
