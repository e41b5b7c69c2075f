"""Whether a ledger still says what it said: links, numbers, heads, and everything made from the entries."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from louver.errors import LedgerError, LouverError, ParameterError
from louver.ledger import chain
from louver.ledger.book import (
    CAP,
    OPENED,
    PERSON,
    RECOVERED,
    RESERVED,
    SETTLED,
    Book,
    audience_of,
    changes,
    idempotency,
)
from louver.ledger.envelope import Envelope
from louver.ledger.index import ENDLESS, filed, scope_of
from louver.ledger.model import OWNER, Cap, Entry, Head
from louver.ledger.totals import EVERYBODY, delta, price, totals_of
from louver.privacy.plan import charges_from_list
from louver.privacy.scope import Scope

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What verifying found: whether all is well, in one sentence, and the first entry that is not."""

    ok: bool
    sentence: str
    entries: int
    entry: int | None = None
    compared: bool = False

    def to_dict(self) -> dict[str, Any]:
        return {
            "ok": self.ok,
            "sentence": self.sentence,
            "entries": self.entries,
            "entry": self.entry,
            "compared_with_head": self.compared,
        }


class _Wrong(Exception):  # noqa: N818 not for callers
    def __init__(self, sentence: str, entry: int | None = None) -> None:
        super().__init__(sentence)
        self.entry = entry


def verify(
    book: Book, key: bytes, heads: Iterable[Head], doubt: str | None, progress: Progress | None = None
) -> Verdict:
    """Check the whole ledger against its key, the exported heads, and itself."""
    wanted: dict[int, set[str]] = {}
    for head in heads:
        wanted.setdefault(head.number, set()).add(head.link)
    count = 0
    made = _Made()
    previous = chain.START
    try:
        (number,) = book.connection.rows("SELECT count(*) FROM entries")[0]
        for entry in book.entries(-(2**62)):
            _check_link(key, previous, entry, count + 1)
            if wanted.get(entry.number, set()) - {entry.link}:
                raise _Wrong(f"Entry {entry.number} is not the one whose head was exported.", entry.number)
            count, previous = entry.number, entry.link
            made.add(entry)
            if progress is not None:
                progress(count, int(number))
        missing = max((number for number in wanted if number > count), default=None)
        if missing is not None:
            raise _Wrong(f"Entries {count + 1} to {missing} are cut off: a head of {missing} was exported.", count + 1)
    except _Wrong as wrong:
        return Verdict(False, str(wrong), count, wrong.entry, bool(wanted))
    except (AttributeError, TypeError, ValueError):
        return Verdict(False, f"What comes after entry {count} cannot be read.", count, count + 1, bool(wanted))
    try:
        made.compare(book)
    except _Wrong as wrong:
        return Verdict(False, str(wrong), count, None, bool(wanted))
    except (KeyError, TypeError, ValueError, ZeroDivisionError, ParameterError):
        said = "The tables that are made from the entries hold something that cannot be read."
        return Verdict(False, said, count, None, bool(wanted))
    if doubt is not None:
        return Verdict(
            False, f"{_all(count)} in order, but the ledger is in doubt: {doubt}.", count, None, bool(wanted)
        )
    if wanted:
        return Verdict(True, f"{_all(count)} in order, and lead to every exported head.", count, None, True)
    return Verdict(
        True,
        f"{_all(count)} in order. Without an exported head this does not show whether somebody with the key "
        "rewrote them, or cut off the end.",
        count,
    )


def _all(count: int) -> str:
    return f"All {count:,} entries are" if count > 1 else "The one entry is"


def _check_link(key: bytes, previous: str, entry: Entry, expected: int) -> None:
    if entry.number != expected:
        raise _Wrong(f"Entry {expected} is missing.", expected)
    if not chain.same(entry.link, chain.link_of(key, previous, entry)):
        raise _Wrong(f"Entry {entry.number} was changed, or put in another's place.", entry.number)


class _Made:
    """Everything that follows from the entries, added up in memory."""

    def __init__(self) -> None:
        self.totals: dict[tuple[str, str, str], tuple[Fraction, Fraction]] = {}
        self.reserved: dict[int, Entry] = {}
        self.reservations: dict[int, tuple[str, int | None]] = {}
        self.caps: dict[str, str] = {}
        self.highest: dict[tuple[Scope, str | None], list[Cap]] = {}  # caps since the opening, with all they ever were
        self.people: dict[str, tuple[str, str]] = {}

    def add(self, entry: Entry) -> None:
        try:
            self._add(entry)
        except (KeyError, TypeError, ValueError, LouverError):
            raise _Wrong(f"Entry {entry.number} does not say what an entry of its kind says.", entry.number) from None

    def _add(self, entry: Entry) -> None:
        if entry.act == OPENED:
            for cap in entry.body["caps"]:
                self.highest[Cap.from_dict(cap).place()] = []
                self._cap(cap)
            for person in entry.body["people"]:
                self.people[person["name"]] = person["role"], person["token"]
        elif entry.act == RESERVED:
            self.reserved[entry.number] = entry
            self.reservations[entry.number] = idempotency(entry.body), None
            self._sum(totals_of(charges_from_list(entry.body["charges"]), audience_of(entry)))
        elif entry.act == SETTLED:
            number = int(entry.body["reservation"])
            reserved = self.reserved.pop(number)
            self.reservations[number] = self.reservations[number][0], entry.number
            if entry.body["charges"] is not None:
                worst, charged = (charges_from_list(each.body["charges"]) for each in (reserved, entry))
                self._sum(changes(worst, charged, audience_of(reserved)))
        elif entry.act == CAP:
            self._check_owners(entry)
            self._cap(entry.body["cap"])
        elif entry.act == RECOVERED:
            self._check_owners(entry)
        elif entry.act == PERSON:
            self._check_owners(entry)
            person = entry.body["person"]
            self.people[person["name"]] = person["role"], person["token"]

    def _check_owners(self, entry: Entry) -> None:
        """Whoever allowed it was an owner then, by the entries themselves."""
        owners = {who for who, (role, _) in self.people.items() if role == OWNER}
        if not entry.body["by"] or not set(entry.body["by"]) <= owners:
            raise _Wrong(f"Entry {entry.number} was allowed by somebody who was no owner.", entry.number)

    def _cap(self, plain: dict[str, Any]) -> None:
        cap = Cap.from_dict(plain)
        scope, audience = cap.place()
        if (scope, audience) in self.highest:
            self.highest[scope, audience].append(cap)
        self.caps[chain.digest([scope.to_dict(), audience])] = chain.written(plain)

    def _sum(self, totals: Iterable[Any]) -> None:
        for total in totals:
            place = filed(total.scope).text, total.audience, total.family
            before = self.totals.get(place, (Fraction(0), Fraction(0)))
            self.totals[place] = before[0] + total.price, before[1] + total.delta

    def compare(self, book: Book) -> None:
        """Whether the tables say the same."""
        rows = book.connection.rows
        stored = {
            (scope, audience, family): (Fraction(price), Fraction(delta))
            for scope, audience, family, price, delta in rows(
                "SELECT scope, audience, family, price, delta FROM totals"
            )
        }
        ours = {place: numbers for place, numbers in self.totals.items() if any(numbers)}
        if stored != ours:
            text = min(place[0] for place in stored.keys() | ours.keys() if stored.get(place) != ours.get(place))
            raise _Wrong(f"The totals on {scope_of(text)} are not what the entries add up to.")
        for text, *place in rows("SELECT scope, axis, reach, low, high, id, keyed, category FROM totals"):
            own = filed(scope_of(text))
            if place != [own.axis, own.reach, own.low, own.high, own.id, own.keyed, own.category]:
                raise _Wrong(f"The totals on {scope_of(text)} are filed in the wrong place.")
        kept = {
            int(number): (key, settled)
            for number, key, settled in rows("SELECT number, idempotency, settled FROM reservations")
        }
        for what, here, there in (
            ("reservations", self.reservations, kept),
            ("caps", self.caps, dict(rows("SELECT id, cap FROM caps"))),
            (
                "people",
                self.people,
                {who: (role, token) for who, role, token in rows("SELECT name, role, token FROM people")},
            ),
        ):
            if here != there:
                raise _Wrong(f"The table of {what} is not what the entries say.")
        _compare_bounds(book)
        self._compare_spending(book)

    def _compare_spending(self, book: Book) -> None:
        """Nothing above the largest cap that ever held there, for caps that were there from the beginning."""
        envelope = Envelope(book.connection)
        for (scope, audience), caps in self.highest.items():
            for family in envelope.families():
                spent = envelope.peak(scope, price, family, audience or EVERYBODY).price
                deltas = envelope.peak(scope, delta, family, audience or EVERYBODY).price
                if spent > max(cap.amount(family) for cap in caps) or deltas > max(cap.delta for cap in caps):
                    whose = f" for {audience}" if audience else ""
                    raise _Wrong(f"More was spent on {scope}{whose} than its caps ever allowed.")


def _compare_bounds(book: Book) -> None:
    """No block may hold a point above its bound, and every kind of scope must be listed."""
    rows = book.connection.rows
    used = set(rows("SELECT DISTINCT axis, reach, family FROM totals"))
    if not used <= set(rows("SELECT axis, reach, family FROM classes")):
        raise _Wrong("The list of kinds of scopes lacks one that is in use.")
    measured = {axis for axis, reach, _ in used if 0 <= reach < ENDLESS}
    if not measured <= {axis for (axis,) in rows("SELECT axis FROM axes")}:
        raise _Wrong("The list of axes lacks one that is in use.")
    envelope = Envelope(book.connection)
    scopes = [scope_of(text) for (text,) in rows("SELECT DISTINCT scope FROM totals")]
    columns = {(column, kept.kind) for scope in scopes for column, kept in scope.ranges}
    if not columns <= set(rows("SELECT name, kind FROM columns")):
        raise _Wrong("The list of columns is not what the entries say.")
    wrong = envelope.block_above_its_bound(scopes, [EVERYBODY, *book.audiences()])
    if wrong is not None:
        raise _Wrong(f"The bound of a block of {wrong} is below what was spent there.")


def read_entries(lines: Iterable[str]) -> list[Entry]:
    """Entries from JSON lines, as `louver ledger entries --json` writes them."""
    entries = []
    for line in lines:
        if line.strip():
            try:
                plain = json.loads(line)
                given = [plain[name] for name in Entry.__dataclass_fields__]
                if [type(value) for value in given] != [int, int, str, str, str, dict, str]:
                    raise ValueError
                entries.append(Entry(*given))
            except (ValueError, KeyError, TypeError, RecursionError):
                raise LedgerError(f"Line {len(entries) + 1} of the entries is no entry of a ledger.") from None
    return entries
