"""The book: entries in one open transaction, and everything that is made from them.

Whoever reserves, settles, changes a cap or recovers appends an entry here; `apply` then brings the derived tables up to
date. Making them again from all entries is the same `apply`, one entry after the other.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from louver.errors import LedgerError
from louver.ledger import chain
from louver.ledger.envelope import Envelope
from louver.ledger.index import scope_of
from louver.ledger.model import Cap, Entry, Head, Person, Reservation
from louver.ledger.schema import DERIVED_TABLES
from louver.ledger.store import Connection
from louver.ledger.totals import EVERYBODY, Total, totals_of
from louver.privacy.plan import charges_from_list
from louver.privacy.predicatewise import Charge

OPENED, RESERVED, SETTLED, DENIED, CAP, PERSON, RECOVERED = (
    "opened",
    "reserved",
    "settled",
    "denied",
    "cap set",
    "person added",
    "recovered",
)
PAGE = 500


class Book:
    def __init__(self, connection: Connection, key: bytes) -> None:
        self.connection = connection
        self._key = key

    # Entries

    def last(self) -> Entry:
        found = self.connection.rows(f"SELECT {_COLUMNS} FROM entries ORDER BY number DESC LIMIT 1")  # noqa: S608
        if not found:
            raise LedgerError("The ledger has no entries; it is damaged.")
        return _entry(found[0])

    def entry(self, number: int) -> Entry | None:
        found = self.connection.rows(f"SELECT {_COLUMNS} FROM entries WHERE number = ?", number)  # noqa: S608
        return _entry(found[0]) if found else None

    def entries(self, since: int = 0) -> Iterator[Entry]:
        """Entries after the one of this number, in order of their numbers."""
        while page := self.page(since):
            yield from page
            since = page[-1].number

    def page(self, since: int) -> list[Entry]:
        sql = f"SELECT {_COLUMNS} FROM entries WHERE number > ? ORDER BY number LIMIT {PAGE}"  # noqa: S608
        return [_entry(row) for row in self.connection.rows(sql, since)]

    def opening(self) -> Entry:
        first = self.entry(1)
        if first is None or first.act != OPENED:
            raise LedgerError("The ledger does not begin with its opening; it is damaged.")
        return first

    def head(self) -> Head:
        last = self.last()
        return Head(self.opening().body["dataset"], last.epoch, last.number, last.link)

    def append(self, act: str, who: str, body: Mapping[str, Any], epoch: int | None = None) -> Entry:
        """Write the next entry, and what follows from it."""
        found = self.connection.rows("SELECT number, epoch, link FROM entries ORDER BY number DESC LIMIT 1")
        number, before, previous = found[0] if found else (0, 1, chain.START)
        text = chain.written(body)
        values = (int(number) + 1, int(before) if epoch is None else epoch, chain.now(), who, act, text)
        link = chain.link(self._key, previous, *values)
        self.connection.run(
            "INSERT INTO entries (number, epoch, at, who, act, body, link) VALUES (?, ?, ?, ?, ?, ?, ?)", *values, link
        )
        return Entry(*values[:-1], json.loads(text), link)

    def copy(self, entry: Entry) -> None:
        """Write an entry that was made elsewhere, whose link was checked."""
        self.connection.run(
            "INSERT INTO entries (number, epoch, at, who, act, body, link) VALUES (?, ?, ?, ?, ?, ?, ?)",
            *(entry.number, entry.epoch, entry.at, entry.who, entry.act, chain.written(entry.body), entry.link),
        )

    # What is made from them

    def apply(self, entry: Entry) -> None:
        """Bring the derived tables up to date with one entry; bounds are left to `renew_all_bounds`."""
        if entry.act == OPENED:
            for cap in entry.body["caps"]:
                self.set_cap(Cap.from_dict(cap))
            for person in entry.body["people"]:
                self.add_person(person)
        elif entry.act == RESERVED:
            self.add_reservation(entry)
            Envelope(self.connection).add(totals_of(charges_from_list(entry.body["charges"]), audience_of(entry)))
        elif entry.act == SETTLED:
            self.mark_settled(entry)
            changes = self.settled_changes(entry)
            if changes is not None:
                Envelope(self.connection).add(changes)
        elif entry.act == CAP:
            self.set_cap(Cap.from_dict(entry.body["cap"]))
        elif entry.act == PERSON:
            self.add_person(entry.body["person"])

    def rebuild(self) -> None:
        """Make the derived tables again from all entries."""
        for table in DERIVED_TABLES:
            self.connection.run(f"DELETE FROM {table}")  # noqa: S608
        for entry in self.entries():
            self.apply(entry)
        self.renew_all_bounds()

    def renew_all_bounds(self) -> None:
        envelope = Envelope(self.connection)
        self.connection.run("DELETE FROM blocks")
        scopes = [scope_of(text) for (text,) in self.connection.rows("SELECT DISTINCT scope FROM totals")]
        envelope.renew_bounds(scopes, envelope.families(), self.audiences())

    def caps(self) -> list[Cap]:
        return [Cap.from_dict(json.loads(text)) for (text,) in self.connection.rows("SELECT cap FROM caps ORDER BY id")]

    def set_cap(self, cap: Cap) -> None:
        scope, audience = cap.place()
        self.connection.run(
            "INSERT INTO caps (id, cap) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET cap = excluded.cap",
            *(chain.digest([scope.to_dict(), audience]), chain.written(cap.to_dict())),
        )

    def audiences(self) -> list[str]:
        return sorted({cap.audience for cap in self.caps() if cap.audience is not None})

    def people(self) -> list[tuple[Person, str]]:
        """Everybody with a token, and the token's hash."""
        found = self.connection.rows("SELECT name, role, token FROM people ORDER BY name")
        return [(Person(name, role), token) for name, role, token in found]

    def add_person(self, plain: Mapping[str, Any]) -> None:
        self.connection.run(
            "INSERT INTO people (name, role, token) VALUES (?, ?, ?)"
            " ON CONFLICT (name) DO UPDATE SET role = excluded.role, token = excluded.token",
            *(plain["name"], plain["role"], plain["token"]),
        )

    # Reservations

    def add_reservation(self, entry: Entry) -> None:
        self.connection.run(
            "INSERT INTO reservations (number, idempotency, settled) VALUES (?, ?, NULL)",
            *(entry.number, idempotency(entry.body)),
        )

    def mark_settled(self, entry: Entry) -> None:
        self.connection.run(
            "UPDATE reservations SET settled = ? WHERE number = ?", entry.number, entry.body["reservation"]
        )

    def reservation(self, number: int) -> tuple[Reservation, Entry]:
        """A reservation as it is stored, and its entry."""
        found = self.connection.rows("SELECT settled FROM reservations WHERE number = ?", number)
        entry = self.entry(number) if found else None
        if entry is None or entry.act != RESERVED:
            raise LedgerError(f"The ledger has no reservation {number}.")
        settled = found[0][0]
        settlement = None if settled is None else self.entry(int(settled))
        return reservation_of(entry, settlement), entry

    def known(self, key: str) -> int | None:
        found = self.connection.rows("SELECT number FROM reservations WHERE idempotency = ?", key)
        return int(found[0][0]) if found else None

    def unsettled(self) -> list[Reservation]:
        numbers = self.connection.rows("SELECT number FROM reservations WHERE settled IS NULL ORDER BY number")
        return [self.reservation(int(number))[0] for (number,) in numbers]

    def settled_changes(self, entry: Entry) -> list[Total] | None:
        """How a settlement changes the totals; None where it charged what was reserved."""
        if entry.body["charges"] is None:
            return None
        reserved = self.entry(int(entry.body["reservation"]))
        if reserved is None:
            raise LedgerError(f"Entry {entry.number} settles a reservation that is not there.")
        return changes(
            charges_from_list(reserved.body["charges"]), charges_from_list(entry.body["charges"]), audience_of(reserved)
        )


def changes(reserved: Sequence[Charge], charged: Sequence[Charge], audience: str) -> list[Total]:
    """What has to be added to the totals when a reservation is replaced by what was charged."""
    sums: dict[tuple[Any, str], list[Fraction]] = {}
    for sign, charges in ((-1, reserved), (1, charged)):
        for total in totals_of(charges, audience):
            numbers = sums.setdefault((total.scope, total.family), [Fraction(0), Fraction(0)])
            numbers[0] += sign * total.price
            numbers[1] += sign * total.delta
    return [
        Total(scope, audience, family, more, more_delta)
        for (scope, family), (more, more_delta) in sums.items()
        if more or more_delta
    ]


def audience_of(entry: Entry) -> str:
    return entry.body["audience"] or EVERYBODY


def idempotency(body: Mapping[str, Any]) -> str:
    return f"key {body['key']}" if body["key"] is not None else f"call {body['call']}"


def reservation_of(
    entry: Entry, settlement: Entry | None, fresh: bool = False, charges: Sequence[Charge] | None = None
) -> Reservation:
    plan = entry.body["plan"]
    return Reservation(
        number=entry.number,
        at=entry.at,
        who=entry.who,
        audience=entry.body["audience"],
        mechanism=plan["mechanism"],
        promise=plan["promise"],
        charges=tuple(charges_from_list(entry.body["charges"]) if charges is None else charges),
        gradual=plan["gradual"],
        settled=settlement is not None,
        release=None if settlement is None else settlement.body["release"],
        fresh=fresh,
        key=entry.body["key"],
    )


_COLUMNS = "number, epoch, at, who, act, body, link"


def _entry(row: Iterable[Any]) -> Entry:
    number, epoch, at, who, act, body, link = row
    return Entry(int(number), int(epoch), at, who, act, _said(int(number), body), link)


def _said(number: int, text: str) -> _Body:
    """A body written in any other way than the ledger writes it is not taken apart, so that its link does not fit."""
    try:
        said = json.loads(text)
        if isinstance(said, dict) and chain.written(said) == text:
            return _Body(number, said)
    except (ValueError, RecursionError):
        pass
    return _Body(number, {"unreadable": text})


class _Body(dict[str, Any]):
    """What an entry says; to ask for something it should say and does not is a fault of the ledger."""

    def __init__(self, number: int, said: dict[str, Any]) -> None:
        super().__init__(said)
        self._number = number

    def __missing__(self, key: str) -> Any:
        raise LedgerError(f"Entry {self._number} of the ledger is damaged; look with: louver ledger verify.")
