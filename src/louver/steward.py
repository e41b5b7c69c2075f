"""The steward: the only way from stored rows to a release.

It checks a plan, reserves its worst price, reads, runs the plan, settles, and only then hands the release out. What
fails before the reservation costs nothing and has read no row; what fails after it has paid. People sign in with a
token: an analyst asks and sees releases, promises and what remains, an owner sees everything that the ledger knows.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Protocol, runtime_checkable

from louver.errors import AccessError, DataError, LedgerError, LouverError, ParameterError
from louver.ledger import Cap, Entry, Ledger, Reservation
from louver.noise.bits import SYSTEM, Bits
from louver.privacy import Charge, ExPost, Outcome, Plan, Pure, Scope, Unit, largest_total, plan_from_dict, plan_to_dict
from louver.privacy.plan import charges_from_list
from louver.source import Reading, Table, rows
from louver.source.measures import View

__all__ = ["Analyst", "KeptRelease", "Owner", "Paid", "Parts", "Payment", "Release", "Steward", "check", "key_of_parts"]

OWNER = "owner"
RESERVED, SETTLED = "reserved", "settled"
LIVE = "live: "  # how the ledger's keys begin that belong to plans which go part by part
LONGEST_KEY = 100  # of such a plan, so that there is room for what part it is


@dataclass(frozen=True, slots=True)
class Release:
    """What leaves: the answer, what it promises and protects, and what it cost.

    `again` says that it was paid for before, under the same key, and cost nothing this time.
    """

    answer: Any
    promise: str
    protected: str
    worst: Fraction
    charged: Fraction
    number: int
    again: bool = field(default=False, compare=False)

    def to_dict(self) -> dict[str, Any]:
        return {
            "answer": self.answer,
            "promise": self.promise,
            "protected": self.protected,
            "worst": str(self.worst),
            "charged": str(self.charged),
            "number": self.number,
        }

    def __str__(self) -> str:
        charged = f"Charged: {_up(self.charged)} of the {_up(self.worst)} that were reserved as number {self.number}."
        return "\n".join([f"Answer: {_words(self.answer)}", self.promise, self.protected, charged])


@dataclass(frozen=True, slots=True)
class KeptRelease:
    """A release as the ledger keeps it: its reservation's number, when it was settled, its promise and its answer."""

    number: int
    at: str
    promise: str
    answer: Any


@dataclass(frozen=True, slots=True)
class Paid:
    """What one reservation costs, scope by scope: what was charged once it is settled, else all that is reserved."""

    number: int
    at: str
    who: str
    audience: str | None
    mechanism: str
    settled: bool
    charges: tuple[Charge, ...]


@dataclass(frozen=True, slots=True)
class Payment:
    """Under which key a plan is reserved, and in whose name."""

    key: str
    who: str = "local"
    audience: str | None = None


@runtime_checkable
class Parts(Protocol):
    """What a plan has beside all else where its rows come part by part."""

    def part(self, number: int) -> Reading:
        """What is read for one part."""

    def advance(self, state: object, view: View | None, bits: Bits) -> tuple[Any, Any]:
        """What one part releases, and the private state after it; no state is before the first."""


class Steward:
    """Holds a table, its ledger and the randomness, and runs plans on them."""

    def __init__(self, table: Table, ledger: Ledger) -> None:
        if not isinstance(table, Table):
            raise ParameterError(f"A steward needs a Table, not a {type(table).__name__}.")
        if not isinstance(ledger, Ledger):
            raise ParameterError(f"A steward needs a Ledger, not a {type(ledger).__name__}.")
        if table.dataset != ledger.dataset:
            raise ParameterError(f"The table is {table.dataset!r}, but the ledger belongs to {ledger.dataset!r}.")
        if table.unit != ledger.unit:
            raise ParameterError(f"The table's unit is {table.unit}, but the ledger's is {ledger.unit}.")
        self._table = table
        self._ledger = ledger
        self._bits = SYSTEM

    @classmethod
    def _with_bits(cls, table: Table, ledger: Ledger, bits: Bits) -> Steward:
        """The private door for tests. Releases made through it are not private."""
        steward = cls(table, ledger)
        steward._bits = bits
        return steward

    def sign_in(self, token: str) -> Analyst:
        """Whoever the token belongs to: an `Owner` or an `Analyst`."""
        person = self._ledger.person(token)
        return Owner(self, person.name, token) if person.role == OWNER else Analyst(self, person.name)

    def run(self, plan: Plan, *, who: str = "local", audience: str | None = None, key: str | None = None) -> Release:
        """Pay for a plan, run it, and release its answer. The same key again gives the same release for nothing.

        `who` is whatever the program that calls says, so it cannot be the name of somebody with a token.
        """
        check_name(self._ledger, who)
        return self._run(plan, who, audience, key)

    def _run(self, plan: Plan, who: str, audience: str | None, key: str | None) -> Release:
        plan = _checked(plan, self._ledger.unit, "ledger")
        if key is not None:
            self._check_key(plan, key)
        with rows.checked(self._table, plan.reading) as held:
            reservation = self._ledger.reserve(plan, who=who, audience=audience, key=key)
            if not reservation.fresh:
                return _again(plan, reservation)
            outcome = self._outcome(plan, held)
        # Raised here and not where it happened, so that no private value hangs on the error.
        if isinstance(outcome, LouverError):
            raise outcome
        charged = _largest(plan.worst if outcome.charges is None else outcome.charges)
        kept = {"answer": outcome.answer, "charged": str(charged)}
        self._settle(plan, reservation, outcome.charges, kept)
        return _release(plan, reservation.number, outcome.answer, charged)

    def _check_key(self, plan: Plan, key: str) -> None:
        """A plan is paid for as a whole or part by part: with one key for both, one price would be released twice."""
        if str(key).startswith(LIVE):
            raise ParameterError(f"Keys that begin with {LIVE!r} are those of live streams; take another one.")
        can_be_live = isinstance(plan, Parts) and 0 < len(str(key)) <= LONGEST_KEY
        if can_be_live and self._ledger.reserved(key_of_parts(key)) is not None:
            raise ParameterError(
                f"The key {key!r} is that of a live stream, which was published part by part; as a whole it is another "
                "stream, which needs another key and pays anew."
            )

    def advance(
        self, plan: Plan, number: int, state: object, *, paid: Payment, missing: bool = False
    ) -> tuple[Any, Any]:
        """One part of a plan that is paid for as a whole and whose rows come part by part: its release, and the
        private state after it.

        Reserves the plan, unless its key did so before. Where the rows of a part are missing, none are read. That no
        part is released twice is for whoever calls to see to, as `louver.stream.session` does. As in `run`, nobody can
        be paid for in the name of somebody with a token.
        """
        check_name(self._ledger, paid.who)
        return self._advance(plan, number, state, paid, missing)

    def _advance(self, plan: Plan, number: int, state: object, paid: Payment, missing: bool) -> tuple[Any, Any]:
        """The same in a name that a token proved, or that was looked at before."""
        plan = _checked(plan, self._ledger.unit, "ledger", by_part=True)
        if not isinstance(plan, Parts):
            raise ParameterError(f"The mechanism {plan.mechanism!r} does not go part by part; run it.")
        reading, secret = plan.part(number), self._ledger.secret("contribution bounds")
        if not missing:
            rows.check(self._table, reading)
        if self._ledger.reserve(plan, who=paid.who, audience=paid.audience, key=key_of_parts(paid.key)).settled:
            raise LouverError("This plan is over: its last part was released.")
        with suppress(Exception):  # whatever it says may quote a row, or tell a count
            view = None if missing else rows.read(self._table, reading, secret)
            released, after = plan.advance(state, view, self._bits)
            return json.loads(json.dumps(released, allow_nan=False)), json.loads(json.dumps(after, allow_nan=False))
        raise LouverError(f"Part {number} of the mechanism {plan.mechanism!r} failed, and nothing of it was released.")

    def _outcome(self, plan: Plan, held: rows.Held) -> Outcome | LouverError:
        """What the mechanism gives back, or the sentence about what failed; nothing else about the rows comes out."""
        try:
            view = rows.read(self._table, plan.reading, self._ledger.secret("contribution bounds"), held)
        except (DataError, LedgerError) as fault:
            return type(fault)(f"{str(fault).removesuffix('.')}; its price stays reserved.")
        except Exception:  # whatever it says may quote a row
            return DataError("The rows could not be read; the plan's price stays reserved.")
        try:
            outcome = plan.run(view, self._bits)
            answer = json.loads(json.dumps(outcome.answer, allow_nan=False))
            return Outcome(answer, None if outcome.charges is None else ExPost(plan.worst, outcome.charges).charged)
        except Exception:  # whatever it says may tell a count
            return _failed(plan)

    def _settle(self, plan: Plan, reservation: Reservation, charges: Sequence[Charge] | None, kept: object) -> None:
        try:
            self._ledger.settle(reservation, charges=charges, release=kept)
            return
        except ParameterError:  # it may not settle at these charges; what they are is not for an error to say
            pass
        raise _failed(plan)


class Analyst:
    """Somebody who may ask, and see releases, promises and what remains."""

    def __init__(self, steward: Steward, name: str) -> None:
        self._steward = steward
        self.name = name

    def run(self, plan: Plan, *, audience: str | None = None, key: str | None = None) -> Release:
        return self._steward._run(plan, self.name, audience, key)

    def releases(self) -> list[KeptRelease]:
        """Everything that was released, in order."""
        promises: dict[int, str] = {}
        releases = []
        for entry in self._steward._ledger.entries():
            if entry.act == RESERVED:
                promises[entry.number] = entry.body["plan"]["promise"]
            elif entry.act == SETTLED and _is_kept(entry.body["release"]):
                number = entry.body["reservation"]
                answer = entry.body["release"]["answer"]
                releases.append(KeptRelease(number, entry.at, promises[number], answer))
        return releases

    def remaining(self, scope: Scope | None = None, audience: str | None = None) -> Fraction:
        """The epsilon that every point of the scope can still pay."""
        return self._steward._ledger.remaining(Scope.everything() if scope is None else scope, audience)


class Owner(Analyst):
    """Somebody who answers for the data, and sees every access and every charge."""

    def __init__(self, steward: Steward, name: str, token: str) -> None:
        super().__init__(steward, name)
        self._token = token

    def entries(self) -> list[Entry]:
        """Every entry of the ledger, also what was denied."""
        return list(self._steward._ledger.entries())

    def reservations(self) -> list[Reservation]:
        """Reservations that never settled, and stay spent."""
        return list(self._steward._ledger.reservations())

    def charges(self) -> list[Paid]:
        """What every reservation costs, scope by scope."""
        settled: dict[int, Entry] = {}
        reserved: list[Entry] = []
        for entry in self._steward._ledger.entries():
            if entry.act == RESERVED:
                reserved.append(entry)
            elif entry.act == SETTLED:
                settled[entry.body["reservation"]] = entry
        return [_paid(entry, settled.get(entry.number)) for entry in reserved]

    def raise_cap(self, cap: Cap, *other_tokens: str) -> None:
        """Set a cap; where there are two owners, it takes the token of another one as well."""
        self._steward._ledger.set_cap(cap, tokens=[self._token, *other_tokens])


def key_of_parts(key: str) -> str:
    """Under which of the ledger's keys a plan is paid for that goes part by part; `Steward.run` takes none of them."""
    return f"{LIVE}all of {key}"


def check_name(ledger: Ledger, who: str) -> None:
    """Refuses the name of somebody with a token where no token is shown."""
    if any(person.name == who for person in ledger.people()):
        raise AccessError(f"{who!r} has a token; sign in with it to ask in this name.")


def check(table: Table, plan: Plan, *, by_part: bool = False) -> None:
    """Whether a plan could run on a table: all that a run checks before it reserves. Needs no ledger, reads no row.

    `by_part` is for a plan whose rows come part by part.
    """
    if not isinstance(table, Table):
        raise ParameterError(f"A plan is checked against a Table, not a {type(table).__name__}.")
    made = _checked(plan, table.unit, "table", by_part=by_part)
    rows.check(table, made.part(0) if by_part and isinstance(made, Parts) else made.reading)


def holds_texts(table: Table, column: str) -> bool:
    """Whether a column of a table holds texts, by its header or schema. Needs no ledger, reads no row."""
    return rows.holds_texts(table, column)


def _checked(plan: Plan, unit: Unit, whose: str, *, by_part: bool = False) -> Plan:
    """The plan made anew by its registered mechanism: whatever else was handed in never gets to run."""
    if isinstance(plan, type) or not isinstance(plan, Plan):
        raise ParameterError(f"A steward runs plans, not a {type(plan).__name__}; make one with louver.decide.")
    made = plan_from_dict(json.loads(json.dumps(plan_to_dict(plan))))
    if type(made) is not type(plan):
        raise ParameterError(f"{type(plan).__name__} is not the plan of the mechanism {made.mechanism!r}.")
    if made.unit != unit:
        raise ParameterError(f"The plan's unit is {made.unit}, but the {whose}'s is {unit}.")
    if made.gradual and not all(isinstance(charge.guarantee, Pure) for charge in made.worst):
        raise ParameterError("A gradual plan must have pure prices: nothing else is proved to settle below.")
    if unit.counted is not None and unit.counted != getattr(made, "of", None):
        raise ParameterError(
            f"One unit here is one of those counted in {unit.counted}, which only a table of them protects; "
            f"publish one with: louver publish table --of {unit.counted}."
        )
    reading = made.part(0) if by_part and isinstance(made, Parts) else made.reading
    if reading is None and isinstance(made, Parts):
        raise ParameterError("This plan is too large to be read at once; it can only go part by part.")
    if not isinstance(reading, Reading):
        raise ParameterError(f"A steward reads a Reading, not a {type(reading).__name__}.")
    return made


def _failed(plan: Plan) -> LouverError:
    return LouverError(f"The mechanism {plan.mechanism!r} failed and nothing was released; its price stays reserved.")


def _again(plan: Plan, reservation: Reservation) -> Release:
    """What a key that was used before gives: the release it paid for, without reading anything."""
    if not reservation.settled or reservation.release is None:
        raise LouverError(
            f"Reservation {reservation.number} was made with this key and is still running, or never finished; its "
            "price stays spent. If nothing runs any more, ask with a new key."
        )
    kept = reservation.release
    if not _is_kept(kept):
        raise LouverError(f"Reservation {reservation.number} was settled by another program; its key is taken.")
    return replace(_release(plan, reservation.number, kept["answer"], Fraction(kept["charged"])), again=True)


def _is_kept(release: Any) -> bool:
    """Whether a stored release is one of a steward's: others may settle in the same ledger."""
    return isinstance(release, dict) and set(release) == {"answer", "charged"}


def _release(plan: Plan, number: int, answer: Any, charged: Fraction) -> Release:
    protected = getattr(plan, "protected", plan.unit.sentence())
    return Release(answer, plan.promise, protected, _largest(plan.worst), charged, number)


def _paid(reserved: Entry, settled: Entry | None) -> Paid:
    body = reserved.body
    charged = body["charges"] if settled is None or settled.body["charges"] is None else settled.body["charges"]
    return Paid(
        reserved.number,
        reserved.at,
        reserved.who,
        body["audience"],
        body["plan"]["mechanism"],
        settled is not None,
        tuple(charges_from_list(charged)),
    )


def _largest(charges: Iterable[Charge]) -> Fraction:
    """The price at the point that pays most."""
    return largest_total(charges).price


def _words(answer: Any) -> str:
    if not isinstance(answer, dict):
        return str(answer)
    listed = {name: ", ".join(map(str, value)) if isinstance(value, list) else value for name, value in answer.items()}
    return "; ".join(f"{name}: {'none' if value == '' else value}" for name, value in listed.items())


def _up(price: Fraction) -> str:
    """A price to four places, rounded up: what is shown is never less than what is paid."""
    return f"{float(Fraction((price * 10_000).__ceil__(), 10_000)):.4f}"
