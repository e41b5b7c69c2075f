"""The plan of a table: a count for each key of a public domain, some totals of them exact, paid for as a whole.

Who pays what. `counting` says how many entries of the table one unit is, `whole` why noise on the lattice of the exact
totals hides as many that move, and `noisy` what is done where nothing is exact. Exact totals are in no epsilon: they
are published as they are, for everybody. So the price is a `Subspace` of theirs: the ledger adds it up with prices
about the same totals only, and takes it only where a cap allows these totals to be exact, by their name. The name has
a digest of all that the totals depend on beside the rows: two tables share one only if their exact totals are the same
sums.

Why this is private. `run` gives the counts to the noise and gives back what comes out, all totals follow from that,
and the exact ones are what the noise leaves as it is.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, Self

from louver import parameters
from louver.errors import ParameterError
from louver.noise import Bits
from louver.noise.bits import SYSTEM
from louver.parameters import Number
from louver.privacy import Charge, Outcome, Pure, Scope, Subspace, Unit, ZeroConcentrated
from louver.privacy.guarantee import LONGEST_NAME
from louver.privacy.plan import registered
from louver.privacy.unit import column_name
from louver.source.domain import Domain
from louver.source.measures import Bound, Reading, View
from louver.table import counting, plan_parts, words
from louver.table.noisy import Noisy

ALL = "all"
COUNTS = "counts"
_DIGITS = 32


@registered("table")
@dataclass(frozen=True, slots=True, init=False)
class TablePlan:
    """The plan of a table of counts by the keys of `domain`.

    `exact` says which totals are published as they are: "all" is the grand total, and columns of the domain are the
    totals by their values; None, the default, is nothing. `of` names a column of counts where rows hold counts; it is
    that of the unit, `Unit.one_of`, and need not be said. The price for one unit is `epsilon`, or `rho`, with a
    `delta` where something is exact. `totals` are columns of the domain by which totals are published too; they follow
    from the counts.
    """

    domain: Domain
    unit: Unit
    exact: tuple[str, ...] | None
    of: str | None
    epsilon: Fraction | None
    rho: Fraction | None
    delta: Fraction | None
    bound: Bound | None
    totals: tuple[str, ...]
    moved: int = field(compare=False, repr=False)
    kept: Bound | None = field(compare=False, repr=False)
    price: Pure | ZeroConcentrated | Subspace = field(compare=False, repr=False)
    mechanism: ClassVar[str] = "table"
    gradual: ClassVar[bool] = False

    def __init__(
        self,
        domain: Domain,
        *,
        unit: Unit,
        exact: str | Sequence[str] | None = None,
        of: str | None = None,
        epsilon: Number | None = None,
        rho: Number | None = None,
        delta: Number | None = None,
        bound: Bound | None = None,
        totals: Sequence[str] = (),
    ) -> None:
        given: object = domain
        if not isinstance(given, Domain):
            raise ParameterError(f"A table needs a Domain of public keys, not a {type(given).__name__}.")
        counted = getattr(unit, "counted", None) if of is None else column_name(of)
        by = plan_parts.columns_of("exact", exact, domain, whole=ALL)
        levels = plan_parts.columns_of("totals", totals, domain) or ()
        published = plan_parts.only(domain, (*(by or ()), *levels))
        counting.checked(unit, counted, bound, published.columns)
        plan_parts.check_columns(published, bool(levels))
        moved, kept = counting.moved(unit, bound, domain.keys)
        if by is not None:
            counting.check_exact(unit, kept, by, domain.keys, len(domain))
        for name, value in (
            ("domain", published),
            ("unit", unit),
            ("exact", by),
            ("of", counted),
            ("epsilon", None if epsilon is None else parameters.positive("epsilon", epsilon)),
            ("rho", None if rho is None else parameters.positive("rho", rho)),
            ("delta", None if delta is None else parameters.positive("delta", delta)),
            ("bound", bound),
            ("totals", levels),
            ("moved", moved),
            ("kept", kept),
        ):
            object.__setattr__(self, name, value)
        plan_parts.check_price(self.epsilon, self.rho, self.delta, by is not None)
        self.made(SYSTEM)  # says what is wrong with the noise
        object.__setattr__(self, "price", self._price())

    def _price(self) -> Pure | ZeroConcentrated | Subspace:
        if self.exact is None:
            return Pure(self.epsilon) if self.epsilon is not None else ZeroConcentrated(self.rho or 0)
        if self.epsilon is not None:
            return Subspace(self.epsilon, 0, self.invariants)
        found = ZeroConcentrated(self.rho or 0).as_approximate(self.delta or 0)
        return Subspace(found.epsilon, found.delta, self.invariants)

    @property
    def invariants(self) -> str:
        """The name of what is exact, which the ledger keeps; the same for the same sums only."""
        keys = self.domain.listed(self.domain.keys)[0]
        told = [self.of, self.kept and [self.kept.rows, self.kept.keys], keys.columns, self.groups]
        text = json.dumps([told, [plan_parts.written(key) for key in keys.values]])
        digest = f", list {hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]}"
        return words.short(words.exact(self), LONGEST_NAME - len(digest)) + digest

    @property
    def groups(self) -> list[int] | None:
        """Which exact total each key is in, by number; None where nothing is exact."""
        return None if self.exact is None else self.grouped(self.exact)[1]

    def grouped(self, columns: Sequence[str]) -> tuple[list[tuple[Any, ...]], list[int]]:
        """The different values of some columns, in order, and for each key the number of its own."""
        rows = list(zip(*(self.domain.column(name) for name in columns), strict=True)) or [()] * len(self.domain)
        numbers: dict[tuple[Any, ...], int] = {}
        found = [numbers.setdefault(row, len(numbers)) for row in rows]
        return list(numbers), found

    def made(self, bits: Bits) -> Noisy:
        return Noisy(self.groups, self.epsilon, self.rho, self.moved, bits)

    @property
    def reading(self) -> Reading:
        return Reading((self.domain.listed(self.domain.keys)[0],), counting.measures(self.of), bound=self.kept)

    @property
    def sensitivity(self) -> Fraction:
        return Fraction(self.moved if self.exact is None else 2 * self.moved)

    @property
    def worst(self) -> tuple[Charge, ...]:
        return (Charge(self.scope, self.price),)

    @property
    def scope(self) -> Scope:
        """The box that all rows which are read are in, over columns that the unit fixes."""
        fixed = [name for name in self.domain.keys if self.unit.fixes(name)]
        return Scope({name: plan_parts.around(self.domain.column(name)) for name in fixed})

    def run(self, view: View, bits: Bits) -> Outcome:
        """The counts with noise; none where a row's count is none."""
        if any(odd.any() for odd in view.values[1:]):
            return Outcome({COUNTS: None})
        return Outcome({COUNTS: self.made(bits).release(view.values[0]).tolist()})

    @property
    def promise(self) -> str:
        return words.promise(self)

    @property
    def protected(self) -> str:
        return words.protected(self)

    @property
    def warnings(self) -> tuple[str, ...]:
        return words.warnings(self)

    def cheaper(self, price: Fraction) -> tuple[str, ...]:
        return plan_parts.cheaper(self.epsilon, self.rho, self.exact is not None, price)

    def parameters(self) -> dict[str, Any]:
        return plan_parts.to_plain({name: getattr(self, name) for name in plan_parts.PARTS})

    @classmethod
    def from_parameters(cls, plain: Mapping[str, Any]) -> Self:
        return cls(**plan_parts.from_plain(plain))
