"""Who asked to be erased and still waits for it: pseudonyms, each only until it is done.

A running watch has the store to itself, so whoever erases somebody leaves a request here, and the watch takes it. When
it is done nothing of it is left in the journal's files: deleted content is overwritten, and the log of writes emptied.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from louver.watch.journal_file import JournalFile

_SALT: Final = "salt"


class Erasure(NamedTuple):
    """Everything about one person up to a time, when it was asked for."""

    person: int
    asked: int


class Erasures:
    """Requests that are kept until they are done, whoever dies meanwhile."""

    def __init__(self, file: JournalFile) -> None:
        self._file = file

    def bind(self, salt: int | None) -> None:
        """Whoever takes requests says by which salt it knows people, so that none is made by another."""
        if salt is not None and salt != self.salt():
            with self._file.write() as connection:
                connection.execute("INSERT OR REPLACE INTO bound VALUES (?, ?)", (_SALT, str(salt)))

    def salt(self) -> int | None:
        """The fingerprint of the salt of whoever took requests last; none where nobody did."""
        with self._file.read() as connection:
            found = connection.execute("SELECT value FROM bound WHERE name = ?", (_SALT,)).fetchone()
        return None if found is None else int(found[0])

    def ask(self, people: Iterable[int], now: int) -> None:
        """Erase these people, all of them or nobody; asked twice, the later time counts."""
        with self._file.write() as connection:
            asked = [(person, now) for person in people]
            connection.executemany("INSERT OR REPLACE INTO erasures VALUES (?, ?)", asked)

    def waiting(self) -> list[Erasure]:
        """What is asked for and not done yet."""
        with self._file.read() as connection:
            found = connection.execute("SELECT person, asked FROM erasures ORDER BY asked, person").fetchall()
        return [Erasure(*each) for each in found]

    def done(self, erasure: Erasure) -> None:
        """Nothing is left of it, here included; a request that came meanwhile stays."""
        with self._file.write() as connection:
            connection.execute("DELETE FROM erasures WHERE person = ? AND asked = ?", erasure)
        self._file.empty_log()
