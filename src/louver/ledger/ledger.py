"""The ledger: a budget for one data set that nobody can overspend.

The worst price is set aside in one serialisable transaction before anything is read. What is charged in the end may be
less, for plans that take noise away step by step, and never more. Nothing else gives a reservation back: a process that
dies keeps it.

Why the caps hold. Every act charges the scopes it touches, so that a unit at a point has lost at most the sum of the
charges that cover the point (`louver.privacy.predicatewise`), whatever was asked and in whatever order: what
is asked next may depend on earlier answers, because the sum holds along every sequence of them. Prices that are pure
and approximate add up (an approximate one is pure except with probability delta, and deltas add up likewise); others
add up with their own kind only, and are refused where two kinds meet.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

from louver import parameters
from louver.errors import BudgetError, LedgerError, ParameterError
from louver.ledger import denial, schema
from louver.ledger.admit import Shortage, admit
from louver.ledger.book import (
    CAP,
    DENIED,
    OPENED,
    PERSON,
    RESERVED,
    SETTLED,
    Book,
    changes,
    idempotency,
    reservation_of,
)
from louver.ledger.envelope import Envelope
from louver.ledger.keys import Keys
from louver.ledger.model import ANALYST, OWNER, Cap, Entry, Head, Person, Reservation, name
from louver.ledger.people import check_has_owner, introduced, owners_with, person_with
from louver.ledger.place import key_path, store_at
from louver.ledger.recover import append_newer, begin_epoch, check_reaches
from louver.ledger.request import (
    check_audience,
    check_cap,
    check_denominators,
    checked_caps,
    checked_unit,
    plain,
    requested,
)
from louver.ledger.standing import Witnessed, check_standing, standing
from louver.ledger.store import Connection, Store, UncertainCommit
from louver.ledger.totals import EVERYBODY, delta, price, totals_of
from louver.ledger.used import Usage
from louver.ledger.verify import Progress, Verdict, verify
from louver.privacy.guarantee import Pure
from louver.privacy.plan import Plan, charges_to_list
from louver.privacy.predicatewise import Charge, ExPost
from louver.privacy.scope import Scope
from louver.privacy.unit import Unit


class Ledger:
    """One data set's account. Open it with `Ledger.open`, make one with `Ledger.create`."""

    def __init__(self, store: Store, keys: Keys) -> None:
        self._store = store
        self._keys = keys
        self._key = keys.key
        try:
            opening = self._opening()
        except BaseException:
            store.close()
            raise
        self.dataset: str = opening.body["dataset"]
        self.unit = Unit.parse(opening.body["unit"])

    @classmethod
    def create(
        cls,
        where: str | Path,
        *,
        dataset: str,
        unit: Unit,
        caps: Iterable[Cap],
        audiences: Mapping[str, Cap | float | Fraction] | None = None,
        owners: Iterable[str] = ("owner",),
        analysts: Iterable[str] = (),
        key: str | Path | None = None,
    ) -> tuple[Ledger, dict[str, str]]:
        """A new ledger and the token of each person, which is shown only now."""
        people, tokens = introduced(owners, analysts)
        check_has_owner(person["role"] for person in people)
        body = {
            "dataset": name("A data set's id", dataset),
            "unit": str(checked_unit(unit)),
            "caps": [cap.to_dict() for cap in checked_caps(caps, audiences or {}, unit)],
            "people": people,
        }
        store = store_at(where)
        keys = Keys(key_path(where, key))
        if store.exists():
            raise LedgerError(f"{store.address} is there already; a ledger is never made over something else.")
        keys.make()
        try:
            with store.create([*schema.FOUNDATION, *schema.DERIVED]) as connection:
                connection.run("INSERT INTO ledger (version) VALUES (?)", schema.VERSION)
                book = Book(connection, keys.key)
                body |= {"key": keys.fingerprint(), "store": store.identity(connection)}
                first = book.append(OPENED, "louver", body)
                book.apply(first)
                keys.see(first.number, first.link, durable=True)
        except UncertainCommit:
            raise  # the ledger may be there, and is worth nothing without its key
        except BaseException:
            keys.remove()
            raise
        return cls(store, keys), tokens

    @classmethod
    def open(cls, where: str | Path, key: str | Path | None = None) -> Ledger:
        store = store_at(where)
        if not store.exists():
            raise LedgerError(f"There is no ledger at {store.address}; make one with: louver ledger init.")
        return cls(store, Keys(key_path(where, key)))

    def close(self) -> None:
        self._store.close()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<ledger of {self.dataset!r} at {self.address}>"

    @property
    def address(self) -> str:
        return self._store.address

    # Spending

    def reserve(
        self, plan: Plan, *, who: str = "local", audience: str | None = None, key: str | None = None
    ) -> Reservation:
        """Set the worst price of a plan aside, or raise BudgetError and change nothing but the list of denials.

        The same idempotency key gives the first reservation again, and never spends twice.
        """
        request = requested(plan, self.unit, audience, key)
        asker = name("Who asks", who)
        call = secrets.token_hex(16)
        try:
            return self._reserve(plan, request, asker, call)
        except UncertainCommit as lost:
            # The connection went away while the reservation was written; look whether it is there.
            with self._reading() as connection:
                book = Book(connection, self._key)
                number = book.known(idempotency({**request, "call": call}))
                entry = None if number is None else book.entry(number)
                if entry is None or entry.body["call"] != call:
                    raise LedgerError(f"{str(lost)[:-1]}, and nothing was reserved; try again.") from None
                return reservation_of(entry, None, fresh=True)

    def _reserve(self, plan: Plan, request: dict[str, Any], who: str, call: str) -> Reservation:
        charges = request.pop("worst")
        shortage = None
        with self._writing() as connection:
            book = self._book(connection)
            before = book.known(idempotency({**request, "call": call}))
            if before is not None:
                return self._again(book, before, request)
            caps = book.caps()
            check_audience(request["audience"], book.audiences())
            audience = request["audience"] or EVERYBODY
            new = totals_of(charges, audience)
            envelope = Envelope(connection)
            admission = admit(envelope, caps, new, audience)
            shortage = admission.shortage
            if shortage is None:
                entry = book.append(RESERVED, who, {**request, "call": call})
                book.add_reservation(entry)
                envelope.add(new, admission.stored)
                for (each, family), peaks in admission.peaks.items():
                    envelope.raise_bounds([total.scope for total in new], family, each, peaks)
            else:
                body = {"plan": request["plan"], "audience": request["audience"], **denial.to_dict(shortage)}
                entry = book.append(DENIED, who, body)
        self._keys.see(entry.number, entry.link)
        if shortage is not None:
            raise denial.refusal(shortage, plan, self._renewal(shortage, charges, plan))
        return reservation_of(entry, None, fresh=True, charges=charges)

    def refusal(self, plan: Plan, *, audience: str | None = None) -> BudgetError | None:
        """What `reserve` would raise for want of budget, or None. Nothing is written down."""
        charges = requested(plan, self.unit, audience, None)["worst"]
        whose = audience or EVERYBODY
        with self._reading() as connection:
            book = Book(connection, self._key)
            check_audience(audience, book.audiences())
            shortage = admit(Envelope(connection), book.caps(), totals_of(charges, whose), whose).shortage
        return None if shortage is None else denial.refusal(shortage, plan, self._renewal(shortage, charges, plan))

    def settle(
        self, reservation: Reservation | int, charges: Iterable[Charge] | None = None, release: Any = None
    ) -> None:
        """Replace a reservation by what was charged: less where a gradual plan stopped early, never more.

        `release` is kept with it, so that a repeated request can be answered without spending again.
        """
        number = reservation.number if isinstance(reservation, Reservation) else reservation
        given = None if charges is None else [charge.for_unit(self.unit) for charge in charges]
        for charge in given or ():
            check_denominators(charge)
        body = {
            "reservation": number,
            "charges": None if given is None else charges_to_list(given),
            "release": plain(release),
        }
        call = secrets.token_hex(8)
        try:
            with self._writing() as connection:
                book = self._book(connection)
                stored, reserved = book.reservation(number)
                if stored.settled:
                    raise LedgerError(f"Reservation {number} was settled before; it is settled once.")
                altered = [] if given is None else _lowered(stored, given)
                entry = book.append(SETTLED, reserved.who, {**body, "call": call})
                book.mark_settled(entry)
                if altered:
                    envelope = Envelope(connection)
                    envelope.add(altered)
                    touched = {charge.scope for charge in (*stored.charges, *(given or ()))}
                    envelope.renew_bounds(touched, {Pure.kind}, [stored.audience] if stored.audience else [])
        except UncertainCommit as lost:
            with self._reading() as connection:
                book = Book(connection, self._key)
                settled = connection.rows("SELECT settled FROM reservations WHERE number = ?", number)
                found = book.entry(int(settled[0][0])) if settled and settled[0][0] is not None else None
                if found is None or found.body.get("call") != call:
                    raise LedgerError(f"{str(lost)[:-1]}, and reservation {number} stays as it was.") from None
                entry = found
        self._keys.see(entry.number, entry.link)

    # What was spent

    def spent(self, scope: Scope | None = None, audience: str | None = None, kind: str = Pure.kind) -> Fraction:
        """The largest total over the points of a scope: epsilon, or rho for kind "zero-concentrated"."""
        region = self._region(scope)
        with self._reading() as connection:
            check_audience(audience, Book(connection, self._key).audiences(), needed=False)
            envelope = Envelope(connection)
            envelope.check_columns([region])
            return envelope.peak(region, price, kind, audience or EVERYBODY).price

    def remaining(self, scope: Scope | None = None, audience: str | None = None, kind: str = Pure.kind) -> Fraction:
        """What every point of a scope could still pay; 0 while the ledger's standing is in doubt."""
        region, witnessed = self._region(scope), Witnessed.now(self._keys)
        with self._reading() as connection:
            book = Book(connection, self._key)
            if standing(book, self._store, witnessed) is not None:
                return Fraction(0)
            check_audience(audience, book.audiences(), needed=False)
            envelope = Envelope(connection)
            envelope.check_columns([region])
            if envelope.families() - {kind} and any(
                total.family != kind and total.scope.overlaps(region) for total in envelope.meeting([region])
            ):
                return Fraction(0)
            left = []
            for cap in book.caps():
                part = cap.scope.intersection(region)
                if part is not None and cap.audience in (None, audience):
                    used = envelope.peak(part, price, kind, cap.audience or EVERYBODY).price
                    left.append(cap.amount(kind) - used)
            return max(min(left, default=Fraction(0)), Fraction(0))

    def spent_delta(self, scope: Scope | None = None, audience: str | None = None, kind: str = Pure.kind) -> Fraction:
        """The largest total of deltas over the points of a scope."""
        with self._reading() as connection:
            return Envelope(connection).peak(self._region(scope), delta, kind, audience or EVERYBODY).price

    def most_used(
        self, limit: int = 10, audience: str | None = None, kind: str = Pure.kind
    ) -> list[tuple[Scope, Fraction]]:
        """The charged scopes on which most was spent, and how much, the largest first."""
        count = parameters.count("limit", limit, smallest=1)
        with self._reading() as connection:
            return Usage(connection).most_used(count, kind, audience or EVERYBODY)

    def kinds(self) -> list[str]:
        """Every kind of prices that was ever charged; "pure" stands for approximate ones too."""
        with self._reading() as connection:
            return sorted(Envelope(connection).families())

    def columns(self) -> dict[str, str]:
        """The columns that charges and caps speak of, each with its kind of values."""
        with self._reading() as connection:
            return Envelope(connection).columns()

    @property
    def caps(self) -> list[Cap]:
        with self._reading() as connection:
            return Book(connection, self._key).caps()

    @property
    def audiences(self) -> list[str]:
        with self._reading() as connection:
            return Book(connection, self._key).audiences()

    def entries(self, since: int = 0) -> Iterator[Entry]:
        """Entries after the one of this number, oldest first. They never change, so they are read in pages."""
        while True:
            with self._reading() as connection:
                page = Book(connection, self._key).page(since)
            yield from page
            if not page:
                return
            since = page[-1].number

    def reservations(self) -> list[Reservation]:
        """Those that were never settled: an act is running, or its process died."""
        with self._reading() as connection:
            return Book(connection, self._key).unsettled()

    def reserved(self, key: str) -> Reservation | None:
        """What was reserved with this idempotency key; None where nothing was."""
        with self._reading() as connection:
            book = Book(connection, self._key)
            number = book.known(idempotency({"key": name("An idempotency key", key)}))
            return None if number is None else book.reservation(number)[0]

    def head(self) -> Head:
        """The newest entry's number and link; refused while the ledger is in doubt, since it would vouch for that."""
        witnessed = Witnessed.now(self._keys)
        with self._reading() as connection:
            book = Book(connection, self._key)
            check_standing(book, self._store, witnessed)
            return book.head()

    def doubt(self) -> str | None:
        """Why the ledger must not be used as it is, in one sentence; None when all is well."""
        witnessed = Witnessed.now(self._keys)
        with self._reading() as connection:
            return standing(Book(connection, self._key), self._store, witnessed)

    # People and caps

    def person(self, token: str) -> Person:
        """Whose token this is."""
        with self._reading() as connection:
            return person_with(Book(connection, self._key), token)

    def people(self) -> list[Person]:
        with self._reading() as connection:
            return [person for person, _ in Book(connection, self._key).people()]

    def set_cap(self, cap: Cap, tokens: Sequence[str]) -> None:
        """Set a cap; to raise one takes the tokens of two owners, where there are two."""
        check_cap(cap, self.unit)
        with self._writing() as connection:
            book = self._book(connection)
            caps = book.caps()
            Envelope(connection).check_columns([*(each.scope for each in caps), cap.scope])
            before = next((each for each in caps if each.place() == cap.place()), None)
            # A cap at a new place only narrows what the others allow, unless it opens a new audience.
            raises = before is not None and cap.exceeds(before)
            opens = before is None and cap.audience is not None
            owners = owners_with(book, tokens, together=raises or opens)
            entry = book.append(CAP, " and ".join(owners), {"cap": cap.to_dict(), "by": owners})
            book.apply(entry)
        self._keys.see(entry.number, entry.link)

    def add_person(self, who: str, role: str, tokens: Sequence[str]) -> str:
        """Give somebody a token, or a new one; it takes two owners, where there are two."""
        if role not in (OWNER, ANALYST):
            raise ParameterError(f"A role is {OWNER} or {ANALYST}, not {str(role)[:40]!r}.")
        people, made = introduced([who], []) if role == OWNER else introduced([], [who])
        with self._writing() as connection:
            book = self._book(connection)
            owners = owners_with(book, tokens, together=True)
            check_has_owner([role, *(person.role for person, _ in book.people() if person.name != who)])
            entry = book.append(PERSON, " and ".join(owners), {"person": people[0], "by": owners})
            book.apply(entry)
        self._keys.see(entry.number, entry.link)
        return made[who]

    def secret(self, purpose: str) -> bytes:
        """32 secret bytes for one purpose, the same each time, from the ledger's key."""
        return self._keys.secret(name("A purpose", purpose))

    # Proof

    def verify(self, heads: Iterable[Head] = (), progress: Progress | None = None) -> Verdict:
        """Whether every entry, the tables made from them and the exported heads agree."""
        witnessed = Witnessed.now(self._keys)
        with self._reading() as connection:
            book = Book(connection, self._key)
            doubt = standing(book, self._store, witnessed)
            return verify(book, self._key, heads, doubt, progress)

    def recover(self, tokens: Sequence[str], newer: Iterable[Entry] = (), heads: Iterable[Head] = ()) -> int:
        """Bring a copied or restored ledger up to date with the entries written after it, and use it from now on.

        It takes two owners, where there are two. Returns how many entries were added.
        """
        witnessed, known = Witnessed.now(self._keys), list(heads)
        with self._writing() as connection:
            book = Book(connection, self._key)
            owners_with(book, tokens, together=True)
            if standing(book, self._store, witnessed) is None:
                raise LedgerError(f"The ledger {self.address} is in use as it is; there is nothing to recover.")
            added = append_newer(book, self._key, newer)
            if added:
                book.rebuild()
            check_reaches(book, known, witnessed.newest)
            owners = owners_with(book, tokens, together=True)
            proof = {"heads": [head.number for head in known], "witness": witnessed.newest is not None}
            entry = begin_epoch(book, owners, self._store.identity(connection), added, proof)
        self._keys.see(entry.number, entry.link, durable=True)
        return added

    # Inside

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with self._store.read() as connection:
            yield connection

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        with self._store.write() as connection:
            yield connection

    def _book(self, connection: Connection) -> Book:
        """The book for writing: refused while the ledger's standing is in doubt."""
        book = Book(connection, self._key)
        check_standing(book, self._store, Witnessed.now(self._keys))
        return book

    def _opening(self) -> Entry:
        """The first entry, after bringing an older ledger up to date and checking that the key belongs to it."""
        with self._store.read() as connection:
            old = schema.version(connection, self._store.address) < schema.VERSION
        if old:
            self._migrate()
        with self._store.read() as connection:
            opening = Book(connection, self._key).opening()
        if opening.body["key"] != self._keys.fingerprint():
            raise LedgerError(f"The key {self._keys.path} belongs to another ledger than {self._store.address}.")
        return opening

    def _migrate(self) -> None:
        with self._writing() as connection:
            if schema.version(connection, self._store.address) < schema.VERSION:
                schema.migrate(connection, Book(connection, self._key))

    def _region(self, scope: Scope | None) -> Scope:
        if scope is not None and not isinstance(scope, Scope):
            raise ParameterError(f"What was spent is asked about a Scope, not about a {type(scope).__name__}.")
        return (scope or Scope.everything()).for_unit(self.unit)

    def _again(self, book: Book, number: int, request: Mapping[str, Any]) -> Reservation:
        stored, entry = book.reservation(number)
        same = (
            entry.body["plan"]["digest"] == request["plan"]["digest"] and entry.body["audience"] == request["audience"]
        )
        if not same:
            raise ParameterError(
                f"The idempotency key {request['key']!r} was used for another plan; a key belongs to one request."
            )
        return stored

    def _renewal(self, shortage: Shortage, charges: Sequence[Charge], plan: Plan) -> str | None:
        audience = shortage.audience
        with self._reading() as connection:
            caps = Book(connection, self._key).caps()
            return denial.renewal(Envelope(connection), caps, shortage, totals_of(charges, audience), plan)


def _lowered(stored: Reservation, given: list[Charge]) -> list[Any]:
    """The changes to the totals, after checking that the charges may replace the reservation."""
    altered = changes(stored.charges, given, stored.audience or EVERYBODY)
    if altered and not stored.gradual:
        raise ParameterError(
            f"Reservation {stored.number} is of a plan that is not gradual, so it settles at what was reserved."
        )
    if altered:
        if any(charge.kind != Pure.kind for charge in given):
            raise ParameterError("Only pure prices may settle below their reservation; charge pure ones.")
        ExPost(stored.charges, given)
    return altered
