"""What a data-protection officer asks for: what is protected, promised and spent, who asked, and whether it is proved.

Everything is read from the entries. What was charged belongs to the year in which it was reserved; a reservation that
never settled counts in full.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from louver.errors import LedgerError, LouverError
from louver.ledger import chain
from louver.ledger.book import CAP, DENIED, OPENED, PERSON, RECOVERED, RESERVED, SETTLED
from louver.ledger.ledger import Ledger
from louver.ledger.model import Cap, Entry, Head, Person, Reservation
from louver.ledger.report_page import markdown, text
from louver.ledger.verify import Progress, Verdict
from louver.privacy.guarantee import Approximate, Pure, Subspace, ZeroConcentrated
from louver.privacy.plan import charges_from_list
from louver.privacy.predicatewise import Charge, heaviest
from louver.privacy.scope import Scope

MOST_SCOPES = 10
ZERO = Fraction(0)


@dataclass(frozen=True, slots=True)
class Spent:
    """The largest totals of prices of one kind; rho where the kind is zero-concentrated, else epsilon."""

    kind: str
    price: Fraction
    delta: Fraction

    @property
    def measure(self) -> str:
        return "rho" if self.kind == ZeroConcentrated.kind else "epsilon"

    def sentence(self) -> str:
        """What it means for one unit."""
        if self.kind == ZeroConcentrated.kind:
            return ZeroConcentrated(self.price).sentence()
        if self.kind.startswith(Subspace.kind):
            return Subspace(self.price, self.delta, self.kind.removeprefix(f"{Subspace.kind} of ")).sentence()
        return Approximate(self.price, self.delta).sentence()

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, self.measure: str(self.price), "delta": str(self.delta), "means": self.sentence()}


@dataclass(frozen=True, slots=True)
class Asker:
    """How often one person asked, and what was spent on it."""

    name: str
    granted: int
    denied: int
    spent: tuple[Spent, ...]

    @property
    def asked(self) -> int:
        return self.granted + self.denied


@dataclass(frozen=True, slots=True)
class Change:
    """Something that owners did: set a cap, add a person, recover."""

    at: str
    by: str
    what: str


@dataclass(frozen=True, slots=True)
class Paid:
    """One charge on one scope."""

    number: int
    at: str
    who: str
    mechanism: str
    settled: bool
    charge: Charge


@dataclass(frozen=True, slots=True)
class Report:
    dataset: str
    address: str
    at: str
    year: int | None
    protected: str
    unit: str
    caps: tuple[Cap, ...]
    overall: tuple[Spent, ...]
    by_year: Mapping[int, tuple[Spent, ...]]
    by_audience: Mapping[str, tuple[Spent, ...]]
    scopes: tuple[tuple[str, Scope, Fraction], ...]
    promises: tuple[tuple[str, int], ...]
    askers: tuple[Asker, ...]
    people: tuple[Person, ...]
    unsettled: tuple[Reservation, ...]
    changes: tuple[Change, ...]
    epoch: int
    verdict: Verdict
    head: Head
    charges: tuple[Paid, ...] | None = None

    def at_the_cap(self) -> tuple[Spent, ...]:
        """What would be spent at most: the cap that holds everywhere, for everybody."""
        cap = next(cap for cap in self.caps if cap.audience is None and not cap.scope.ranges)
        epsilon = () if cap.epsilon is None else (Spent(Pure.kind, cap.epsilon, cap.delta),)
        return epsilon + (() if cap.rho is None else (Spent(ZeroConcentrated.kind, cap.rho, ZERO),))

    def to_text(self) -> str:
        return text(self)

    def to_markdown(self) -> str:
        return markdown(self)

    def to_dict(self) -> dict[str, Any]:
        return {
            "dataset": self.dataset,
            "address": self.address,
            "at": self.at,
            "year": self.year,
            "unit": self.unit,
            "protected": self.protected,
            "caps": [cap.to_dict() for cap in self.caps],
            "spent": [each.to_dict() for each in self.overall],
            "spent_by_year": {str(year): [each.to_dict() for each in spent] for year, spent in self.by_year.items()},
            "spent_by_audience": {name: [each.to_dict() for each in spent] for name, spent in self.by_audience.items()},
            "most_used": [
                {"kind": kind, "scope": scope.to_dict(), "spent": str(spent)} for kind, scope, spent in self.scopes
            ],
            "promises": [{"promise": promise, "times": times} for promise, times in self.promises],
            "who_asked": [
                {
                    "name": asker.name,
                    "asked": asker.asked,
                    "granted": asker.granted,
                    "denied": asker.denied,
                    "spent": [each.to_dict() for each in asker.spent],
                }
                for asker in self.askers
            ],
            "people": [{"name": person.name, "role": person.role} for person in self.people],
            "never_settled": [
                {"number": each.number, "at": each.at, "who": each.who, "mechanism": each.mechanism}
                | {"audience": each.audience, "price": str(each.price)}
                for each in self.unsettled
            ],
            "changes": [{"at": change.at, "by": change.by, "what": change.what} for change in self.changes],
            "epoch": self.epoch,
            "verified": self.verdict.to_dict(),
            "head": self.head.to_dict(),
        } | ({} if self.charges is None else {"charges": [_paid_to_dict(paid) for paid in self.charges]})


def report(
    ledger: Ledger,
    *,
    year: int | None = None,
    heads: Iterable[Head] = (),
    keys: bool = False,
    progress: Progress | None = None,
) -> Report:
    """Everything about a ledger, or what happened in one calendar year (UTC); `keys` adds every single charge."""
    verdict = ledger.verify(heads, progress)
    walk = _Walk(year, keys)
    try:
        for entry in ledger.entries():
            walk.add(entry)
            if progress is not None:
                progress(entry.number, max(entry.number, verdict.entries))
        walk.finish()
    except (KeyError, TypeError, ValueError, LouverError):
        raise LedgerError(f"There is no report on a damaged ledger: {verdict.sentence}") from None
    if walk.last is None:
        raise LedgerError(f"The ledger {ledger.address} has no entries; it is damaged.")
    kinds = ledger.kinds()
    scopes = [(kind, *used) for kind in kinds for used in ledger.most_used(MOST_SCOPES, kind=kind)]
    return Report(
        dataset=ledger.dataset,
        address=ledger.address,
        at=chain.now(),
        year=year,
        protected=ledger.unit.sentence(),
        unit=str(ledger.unit),
        caps=tuple(sorted(ledger.caps, key=lambda cap: (cap.audience or "", cap.scope))),
        overall=walk.everything.largest(),
        by_year={number: sums.largest() for number, sums in sorted(walk.years.items())},
        by_audience={name: walk.audiences.get(name, _Sums()).largest() for name in ledger.audiences},
        scopes=tuple(scopes),
        promises=tuple(walk.promises.most_common()),
        askers=walk.askers(),
        people=tuple(ledger.people()),
        unsettled=tuple(ledger.reservations()),
        changes=tuple(walk.changes),
        epoch=walk.last.epoch,
        verdict=verdict,
        head=Head(ledger.dataset, walk.last.epoch, walk.last.number, walk.last.link),
        charges=tuple(walk.paid) if keys else None,
    )


class _Sums:
    """Charges added up by kind and scope."""

    def __init__(self) -> None:
        self._prices: dict[str, dict[Scope, Fraction]] = {}
        self._deltas: dict[str, dict[Scope, Fraction]] = {}

    def add(self, charges: Iterable[Charge]) -> None:
        for charge in charges:
            prices = self._prices.setdefault(charge.adds_up_with, {})
            prices[charge.scope] = prices.get(charge.scope, ZERO) + charge.price
            if charge.delta:
                deltas = self._deltas.setdefault(charge.adds_up_with, {})
                deltas[charge.scope] = deltas.get(charge.scope, ZERO) + charge.delta

    def largest(self) -> tuple[Spent, ...]:
        kinds = sorted(self._prices.items())
        return tuple(Spent(kind, _peak(prices), _peak(self._deltas.get(kind, {}))) for kind, prices in kinds)


def _peak(sums: Mapping[Scope, Fraction]) -> Fraction:
    return heaviest(list(sums.items())).price if sums else ZERO


class _Walk:
    """What one pass over the entries finds; what people did is kept for one year only, if one is given."""

    def __init__(self, year: int | None, keys: bool) -> None:
        self._year, self._keys = year, keys
        self._open: dict[int, Entry] = {}
        self.last: Entry | None = None
        self.everything = _Sums()
        self.years: dict[int, _Sums] = {}
        self.audiences: dict[str, _Sums] = {}
        self.promises: Counter[str] = Counter()
        self.changes: list[Change] = []
        self.paid: list[Paid] = []
        self._spent_by: dict[str, _Sums] = {}
        self._granted: Counter[str] = Counter()
        self._denied: Counter[str] = Counter()

    def add(self, entry: Entry) -> None:
        self.last = entry
        if entry.act == RESERVED:
            self._open[entry.number] = entry
        elif entry.act == SETTLED:
            reserved = self._open.pop(entry.body["reservation"])
            charged = entry.body["charges"]
            self._pay(reserved, reserved.body["charges"] if charged is None else charged, settled=True)
        elif self._counts(entry):
            if entry.act == DENIED:
                self._denied[entry.who] += 1
            else:
                self.changes.append(Change(entry.at, entry.who, _said(entry)))

    def finish(self) -> None:
        """What never settled is spent in full."""
        for entry in self._open.values():
            self._pay(entry, entry.body["charges"], settled=False)
        self.paid.sort(key=lambda paid: paid.number)

    def askers(self) -> tuple[Asker, ...]:
        names = sorted(self._granted.keys() | self._denied.keys())
        return tuple(
            Asker(name, self._granted[name], self._denied[name], self._spent_by.get(name, _Sums()).largest())
            for name in names
        )

    def _counts(self, entry: Entry) -> bool:
        return self._year is None or _year(entry) == self._year

    def _pay(self, entry: Entry, plain: object, settled: bool) -> None:
        charges = charges_from_list(plain)
        self.everything.add(charges)
        if entry.body["audience"] is not None:
            self.audiences.setdefault(entry.body["audience"], _Sums()).add(charges)
        if not self._counts(entry):
            return
        self.years.setdefault(_year(entry), _Sums()).add(charges)
        self._spent_by.setdefault(entry.who, _Sums()).add(charges)
        self._granted[entry.who] += 1
        self.promises[entry.body["plan"]["promise"]] += 1
        if self._keys:
            mechanism = entry.body["plan"]["mechanism"]
            self.paid += [Paid(entry.number, entry.at, entry.who, mechanism, settled, charge) for charge in charges]


def _year(entry: Entry) -> int:
    return int(entry.at[:4])


def _said(entry: Entry) -> str:
    if entry.act == OPENED:
        caps = "; ".join(str(Cap.from_dict(cap)) for cap in entry.body["caps"])
        return f"made the ledger with the caps: {caps}"
    if entry.act == CAP:
        return f"set a cap: {Cap.from_dict(entry.body['cap'])}"
    if entry.act == PERSON:
        return f"gave {entry.body['person']['name']} a token as {entry.body['person']['role']}"
    if entry.act == RECOVERED:
        return f"began epoch {entry.epoch} after a copy or a restore, with {entry.body['added']} entries supplied"
    return entry.act


def _paid_to_dict(paid: Paid) -> dict[str, Any]:
    return {
        "number": paid.number,
        "at": paid.at,
        "who": paid.who,
        "mechanism": paid.mechanism,
        "settled": paid.settled,
        "scope": paid.charge.scope.to_dict(),
        "kind": paid.charge.kind,
        "price": str(paid.charge.price),
        "delta": str(paid.charge.delta),
    }
