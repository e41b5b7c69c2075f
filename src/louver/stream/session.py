"""A live stream: ticks come one by one, are released at once, and none is ever released twice with other noise.

The whole stream is reserved in the ledger before the first tick. Each tick is then marked there at no price: first that
it begins, and, when the state after it is on disk, that it is over, together with what it released. Only then is it
published. In this order a process may die anywhere:

- before the state is saved: nothing of the tick has left, and it is drawn again from the state before;
- before the mark is closed: the state has the release, which closes the mark and is published;
- before it is published: it is published again, as it was drawn.

Why an old state is harmless. Noise that is drawn twice for one tick and published twice would show more than was paid
for. A state that is older than what was published meets a mark that is closed, and a state of another draw meets one
with another release; both are refused. So is a state whose last tick the ledger does not know, and one whose mechanism
is after another number of ticks. The marks are entries of the ledger, which notices by itself when it is put back to an
older one. Payment and marks have keys that nothing else takes, so that no price is released from twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Self

import numpy as np

from louver.errors import DataError, LedgerError, ParameterError
from louver.ledger import Ledger, Reservation
from louver.privacy import Charge, Outcome, Pure, Scope, Unit, ZeroConcentrated
from louver.source import Table
from louver.steward import LIVE, LONGEST_KEY, Payment, Steward, check_name, key_of_parts
from louver.stream import kernels
from louver.stream.plan import StreamPlan
from louver.stream.state_file import State, alone
from louver.stream.tick import Tick, tick_of


class Session:
    """A stream that goes on tick by tick. Open it with `Session.open`, in one process at a time."""

    def __init__(
        self, plan: StreamPlan, ledger: Ledger, reservation: Reservation, state: State, path: Path, publish: Publish
    ) -> None:
        self.plan, self.reservation = plan, reservation
        self._ledger, self._state, self._path, self._publish = ledger, state, path, publish
        self._held = ExitStack()
        self._told = 0

    @classmethod
    def open(
        cls,
        plan: StreamPlan,
        ledger: Ledger,
        path: str | Path,
        publish: Publish,
        *,
        key: str,
        who: str = "local",
        token: str | None = None,
        audience: str | None = None,
    ) -> Self:
        """Begins the stream that the key names, or goes on with it; what was released last is published again.

        With a `token` somebody does so in their own name.
        """
        check_live(plan, key)
        place = Path(path)
        with ExitStack() as stack:
            stack.enter_context(alone(place))
            state = State.load(place)
            if state is not None and state.key != key:
                raise ParameterError(f"The state {place} is that of the stream {state.key!r}, not of {key!r}.")
            if token is None:
                check_name(ledger, who)
            asker = who if token is None else ledger.person(token).name
            _check_payment(ledger, key, state, place)
            reservation = _reserved(plan, ledger, key, asker, audience)
            if state is None:
                state = State(key, reservation.number, 0, None, None)
            made = cls(plan, ledger, reservation, state, place, publish)
            made._check_newest()
            made._held = stack.pop_all()
            return made
        raise AssertionError  # nothing in the stack swallows what is raised

    @property
    def ticks(self) -> int:
        """How many ticks are over, and so the number of the next one."""
        return self._state.ticks

    @property
    def is_over(self) -> bool:
        return self.ticks == self.plan.parts

    @property
    def next_tick(self) -> datetime:
        """When the next tick begins; the end of the stream after the last one."""
        return self.plan.ticks.start(self.ticks)

    def advance(self, table: Table | None) -> Tick:
        """Releases and publishes the next tick from the rows of a table; None, where the feed had nothing to say.

        A tick without a table is released as one without rows, so that the stream goes on; what is published of it
        is that it is missing.
        """
        if self._told < self.ticks:
            self._check_newest()  # where its mark or its publishing failed before, and whoever calls goes on
        if self.is_over:
            raise ParameterError("This stream is over: its last tick was released.")
        number = self.ticks
        steward = Steward(_empty(self._ledger) if table is None else table, self._ledger)
        mark = self._begun(number)
        if mark.settled:
            raise LedgerError(
                f"Tick {number} of this stream was published before, from a newer state than {self._path}; put the "
                "newest state back, or begin another stream, which pays anew."
            )
        paid = Payment(self._state.key, self.reservation.who, self.reservation.audience)
        released, private = steward._advance(self.plan, number, self._state.private, paid, missing=table is None)
        state = State(self._state.key, self.reservation.number, number + 1, released, private, table is None)
        state.save(self._path)
        self._state = state  # as it is on disk, whatever becomes of its mark
        self._over(mark, state)
        return self._published()

    def close(self) -> None:
        self._held.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _check_newest(self) -> None:
        """The last tick of the state must be the one that the ledger knows; it is then published once more."""
        if not self.ticks:
            return
        if self.plan.restored(self._state.private).ticks != self.ticks:
            raise DataError(f"The state {self._path} is not one after {self.ticks:,} ticks; restore the newest one.")
        if self._ledger.reserved(self._key_of_mark(self.ticks - 1)) is None:  # only looks: `_begun` would write it down
            raise LedgerError(
                f"The ledger knows nothing of tick {self.ticks - 1}, which the state {self._path} is after; begin "
                "another stream, which pays anew."
            )
        mark = self._begun(self.ticks - 1)
        if not mark.settled:
            self._over(mark, self._state)
        elif mark.release != _kept(self._state):
            raise LedgerError(f"The state {self._path} is not the one that tick {self.ticks - 1} was published from.")
        self._published()

    def _begun(self, number: int) -> Reservation:
        mark = _Mark(self.plan, self.reservation.number, number)
        who, audience = self.reservation.who, self.reservation.audience
        return self._ledger.reserve(mark, who=who, audience=audience, key=self._key_of_mark(number))

    def _key_of_mark(self, number: int) -> str:
        return _key_of_mark(self._state.key, number)

    def _over(self, mark: Reservation, state: State) -> None:
        self._ledger.settle(mark, release=_kept(state))

    def _published(self) -> Tick:
        tick = tick_of(self.plan, self.ticks - 1, self._state.released, self._state.missing)
        self._publish(tick)
        self._told = self.ticks
        if self.is_over and not self.reservation.settled:
            kept = {"answer": {"ticks": self.ticks}, "charged": str(self.plan.worst[0].price)}
            self._ledger.settle(self.reservation, release=kept)
        return tick


Publish = Callable[[Tick], None]


@dataclass(frozen=True, slots=True)
class _Mark:
    """What the ledger writes down about one tick. It reads nothing and costs nothing: the stream was paid before."""

    plan: StreamPlan
    reservation: int
    number: int
    mechanism: ClassVar[str] = "stream tick"
    gradual: ClassVar[bool] = False
    reading: ClassVar[None] = None

    @property
    def unit(self) -> Unit:
        return self.plan.unit

    @property
    def sensitivity(self) -> Fraction:
        return self.plan.sensitivity

    @property
    def worst(self) -> tuple[Charge, ...]:
        """Nothing, of the kind that the stream costs, and in one place: marks must not fill the ledger's index."""
        scope: Scope = self.plan.scope
        return (Charge(scope, ZeroConcentrated(0) if isinstance(self.plan.price, ZeroConcentrated) else Pure(0)),)

    @property
    def promise(self) -> str:
        """The same for all ticks, so that a report has one line for them."""
        return f"A tick of the stream that was reserved as number {self.reservation}."

    def run(self, view: Any, bits: Any) -> Outcome:  # noqa: ARG002
        raise LedgerError("A mark of a tick has nothing to run: its stream runs.")

    def cheaper(self, price: Fraction) -> tuple[str, ...]:  # noqa: ARG002
        return ()

    def parameters(self) -> dict[str, Any]:
        return {"reservation": self.reservation, "tick": self.number}


def payment_of(ledger: Ledger, key: str) -> Reservation | None:
    """What pays for the live stream of a key; None where nothing does yet."""
    return ledger.reserved(key_of_parts(key))


def payment_for(plan: StreamPlan, ledger: Ledger, key: str, audience: str | None = None) -> Reservation | None:
    """What pays for this very stream; None where nothing does yet. A key that pays for another one is refused."""
    paid = payment_of(ledger, key)
    return None if paid is None else _reserved(plan, ledger, key, paid.who, audience)


def released_ticks(plan: StreamPlan, ledger: Ledger, key: str) -> Iterator[Tick]:
    """What a live stream published so far, as the ledger keeps it: needs no state, and costs nothing."""
    for number in range(plan.parts):
        mark = ledger.reserved(_key_of_mark(key, number))
        if mark is None or not mark.settled:
            return
        yield tick_of(plan, number, mark.release["answer"], mark.release.get("missing", False))


def _reserved(plan: StreamPlan, ledger: Ledger, key: str, who: str, audience: str | None) -> Reservation:
    """Refusals name the key that was given."""
    try:
        return ledger.reserve(plan, who=who, audience=audience, key=key_of_parts(key))
    except ParameterError as refusal:
        refusal.args = (str(refusal).replace(repr(key_of_parts(key)), repr(key)),)
        raise


def _key_of_mark(key: str, number: int) -> str:
    return f"{LIVE}tick {number} of {key}"


def _check_payment(ledger: Ledger, key: str, state: State | None, path: Path) -> None:
    """Before anything is paid: the key is free or that of this stream, and its state is of the stream that was paid."""
    paid = payment_of(ledger, key)
    if state is not None and (paid is None or paid.number != state.reservation):
        raise LedgerError(
            f"The ledger knows nothing of the stream that {path} is the state of; open the one that paid."
        )
    if paid is None and ledger.reserved(key) is not None:
        raise ParameterError(f"The key {key!r} was used for something else than a live stream; take another one.")


def check_live(plan: object, key: object) -> None:
    """Whether a plan can go tick by tick, under a key."""
    if not isinstance(plan, StreamPlan):
        raise ParameterError(f"A session needs the plan of a stream, not a {type(plan).__name__}.")
    if not isinstance(key, str) or not 1 <= len(key) <= LONGEST_KEY:
        raise ParameterError(f"The key of a stream is a text of 1 to {LONGEST_KEY} characters.")
    if not plan.ticks.in_one(plan.unit):
        raise ParameterError(
            "A live stream needs units that are in one tick each, because what one unit contributes is bounded tick by "
            f"tick; one unit here is {plan.unit}."
        )
    if not kernels.kernel(plan.kernel).is_live:
        raise ParameterError(
            f"The mechanism {plan.kernel!r} is private only where rows do not react to what is released; a live stream "
            "may, so take 'kary'."
        )


def _kept(state: State) -> dict[str, Any]:
    """As a steward keeps releases; what a missing tick drew is none."""
    return {"answer": state.released, "charged": "0", **({"missing": True} if state.missing else {})}


def _empty(ledger: Ledger) -> Table:
    """A table of nobody, for a tick that is not read."""
    return Table({"nothing": np.empty(0)}, dataset=ledger.dataset, unit=ledger.unit)
