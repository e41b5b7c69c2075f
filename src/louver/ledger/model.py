"""What a ledger is made of: caps, entries, reservations, people, and the head of the chain."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from louver import parameters
from louver.errors import ParameterError
from louver.parameters import Number
from louver.privacy.guarantee import Pure, ZeroConcentrated
from louver.privacy.predicatewise import Charge
from louver.privacy.scope import Scope

OWNER, ANALYST = "owner", "analyst"
LONGEST_NAME = 128


def name(what: str, given: object) -> str:
    """A name that people and logs can show: one line of printable text."""
    if not isinstance(given, str) or not 1 <= len(given) <= LONGEST_NAME or not given.isprintable():
        raise ParameterError(f"{what} must be a text of 1 to {LONGEST_NAME} printable characters.")
    if given != given.strip():
        raise ParameterError(f"{what} {given!r} must not begin or end with a blank.")
    return str.__str__(given)


@dataclass(frozen=True, slots=True, init=False)
class Cap:
    """The most that may be spent at any point of a scope: epsilon with an optional delta, rho, or both.

    Where several caps cover a point, each of them holds. Without a delta only pure prices fit; without an epsilon no
    pure or approximate price does, and without a rho no zero-concentrated one. A cap for an audience limits what is
    spent in that audience's name. Sums that are published exactly are in no epsilon: `exact` names those that may be.

    >>> print(Cap(epsilon=1))
    epsilon 1
    >>> print(Cap(epsilon=Fraction(1, 2), delta=Fraction(1, 10**6), scope=Scope({"room": "clinic"})))
    epsilon 0.5, delta 1e-06 where room = clinic
    """

    epsilon: Fraction | None
    delta: Fraction
    rho: Fraction | None
    scope: Scope
    audience: str | None
    exact: tuple[str, ...]

    def __init__(
        self,
        epsilon: Number | None = None,
        delta: Number = 0,
        rho: Number | None = None,
        scope: Scope | None = None,
        audience: str | None = None,
        exact: Iterable[str] = (),
    ) -> None:
        if epsilon is None and rho is None:
            raise ParameterError("A cap needs an epsilon, a rho, or both.")
        if scope is not None and not isinstance(scope, Scope):
            raise ParameterError(f"A cap is set on a Scope, not on a {type(scope).__name__}.")
        exact_delta = parameters.fraction("The delta of a cap", delta)
        if not 0 <= exact_delta < 1 or (exact_delta and epsilon is None):
            raise ParameterError("The delta of a cap must be 0 or more and less than 1, and belongs to an epsilon.")
        object.__setattr__(self, "epsilon", None if epsilon is None else _amount("epsilon", epsilon))
        object.__setattr__(self, "delta", exact_delta)
        object.__setattr__(self, "rho", None if rho is None else _amount("rho", rho))
        object.__setattr__(self, "scope", Scope.everything() if scope is None else scope)
        object.__setattr__(self, "audience", None if audience is None else name("An audience", audience))
        object.__setattr__(self, "exact", _names(exact))

    def amount(self, family: str) -> Fraction:
        """What may be spent in total by prices that add up with this kind; 0 where the cap names none."""
        return (self.rho if family == ZeroConcentrated.kind else self.epsilon) or Fraction(0)

    def place(self) -> tuple[Scope, str | None]:
        """Two caps at the same place are one cap that was changed."""
        return self.scope, self.audience

    def exceeds(self, other: Cap) -> bool:
        """Whether this cap lets more be spent than the other in any way, or more be exact."""
        return not {*self.exact} <= {*other.exact} or any(
            mine > its
            for mine, its in (
                (self.amount(Pure.kind), other.amount(Pure.kind)),
                (self.delta, other.delta),
                (self.amount(ZeroConcentrated.kind), other.amount(ZeroConcentrated.kind)),
            )
        )

    def to_dict(self) -> dict[str, Any]:
        numbers = {"epsilon": self.epsilon, "delta": self.delta or None, "rho": self.rho}
        plain: dict[str, Any] = {what: str(number) for what, number in numbers.items() if number is not None}
        exact = {"exact": list(self.exact)} if self.exact else {}
        return {**plain, "scope": self.scope.to_dict(), "audience": self.audience, **exact}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Cap:
        numbers = {what: Fraction(plain[what]) for what in ("epsilon", "delta", "rho") if what in plain}
        scope = Scope.from_dict(plain["scope"])
        return cls(**numbers, scope=scope, audience=plain["audience"], exact=plain.get("exact", ()))

    def __str__(self) -> str:
        numbers = {"epsilon": self.epsilon, "delta": self.delta or None, "rho": self.rho}
        shown = ", ".join(f"{what} {amount(number)}" for what, number in numbers.items() if number is not None)
        where = f" where {self.scope}" if self.scope.ranges else ""
        exact = f" with exact: {'; '.join(self.exact)}" if self.exact else ""
        return shown + where + (f" for {self.audience}" if self.audience else "") + exact


def _names(exact: object) -> tuple[str, ...]:
    if isinstance(exact, str) or not isinstance(exact, Iterable):
        raise ParameterError("What a cap lets be exact is a list of names, as plans with exact totals state them.")
    return tuple(sorted({name("What may be exact", each) for each in exact}))


def _amount(what: str, given: Number) -> Fraction:
    exact = parameters.fraction(f"The {what} of a cap", given)
    if exact < 0:
        raise ParameterError(f"The {what} of a cap must be 0 or more.")
    return exact


def amount(number: Fraction) -> str:
    """A price or cap as people read it: six digits at most, exact where they suffice."""
    return f"{float(number):.6g}"


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody with a token."""

    name: str
    role: str


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the ledger. `link` binds it to all entries before it."""

    number: int
    epoch: int
    at: str
    who: str
    act: str
    body: Mapping[str, Any]
    link: str

    def to_dict(self) -> dict[str, Any]:
        return {
            "number": self.number,
            "epoch": self.epoch,
            "at": self.at,
            "who": self.who,
            "act": self.act,
            "body": dict(self.body),
            "link": self.link,
        }


@dataclass(frozen=True, slots=True)
class Head:
    """How far a ledger has come: enough to prove later that nothing before it was cut off or rewritten."""

    dataset: str
    epoch: int
    number: int
    link: str

    def to_dict(self) -> dict[str, Any]:
        return {
            "louver": "ledger head",
            "dataset": self.dataset,
            "epoch": self.epoch,
            "number": self.number,
            "link": self.link,
        }

    @classmethod
    def from_dict(cls, plain: object) -> Head:
        if not isinstance(plain, Mapping) or plain.get("louver") != "ledger head":
            raise ParameterError("This is no exported head of a ledger; make one with: louver ledger export.")
        number, epoch = plain.get("number"), plain.get("epoch")
        if not isinstance(number, int) or not isinstance(epoch, int) or number < 1:
            raise ParameterError("The exported head has no entry number; export it again.")
        return cls(str(plain.get("dataset")), epoch, number, str(plain.get("link")))


@dataclass(frozen=True, slots=True)
class Reservation:
    """The worst price of one act, set aside before anything is read.

    `fresh` says whether this call made it; it is False when an idempotency key was used before.
    """

    number: int
    at: str
    who: str
    audience: str | None
    mechanism: str
    promise: str
    charges: tuple[Charge, ...]
    gradual: bool
    settled: bool = False
    release: Any = None
    fresh: bool = True
    key: str | None = None

    @property
    def price(self) -> Fraction:
        """The largest single price in it."""
        return max((charge.price for charge in self.charges), default=Fraction(0))
