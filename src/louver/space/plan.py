"""The plan of a map: counts and sums of values on a grid of atoms, read once, and one structure built of them.

Who pays what. Neighbours differ in all rows of one unit, which are at most `times` readings: 1 where the unit is the
row, m under Bound(rows=m), q r under Bound(rows=r, keys=q). A structure's price is that of one reading, and there is a
chain of `times` neighbours of that kind, so the structure is built for epsilon / times and the unit pays epsilon.

Where it is charged. All rows that are read pass `where`, so the charge is made on the box around these, over the
columns that the unit fixes. Two maps of different days are apart there if the unit names its day; else they add up.

Why this is private. What is read of a row depends on that row alone (`louver.source.bands`, `Grid.quantise`), so one
reading changes one atom as `louver.space.field.Field` says; everything else is the structure's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np

from louver import parameters
from louver.errors import ParameterError
from louver.noise import Bits
from louver.privacy import Charge, Outcome, Pure, Scope, Unit
from louver.privacy.plan import registered
from louver.source import filters
from louver.source.filters import EVERY_ROW, Filter, filter_from_dict, filter_to_dict
from louver.source.measures import MOST_PER_UNIT, Bound, Reading, View
from louver.space.adaptive import Adaptive
from louver.space.cut import Cut
from louver.space.decomposition import Decomposition
from louver.space.field import Field
from louver.space.located import LARGEST_ATOMS, Located
from louver.space.measure import rates, variance
from louver.space.structure import HALF, Structure, share
from louver.space.two_level import TwoLevel
from louver.space.uniform import Uniform

CUT, TREE = "cut", "decomposition"
ATOMS = 256
WAYS: dict[str, Callable[..., Structure]] = {
    CUT: Cut,
    "uniform": Uniform,
    "two-level": TwoLevel,
    "adaptive": Adaptive,
    TREE: Decomposition,
}
_PLACES = 10_000
_PARTS = ("located", "unit", "way", "epsilon", "readings", "count_share", "atoms", "bound", "where")


@registered("map")
@dataclass(frozen=True, slots=True, init=False)
class MapPlan:
    """The plan of releasing a map, for `epsilon` of one unit. `readings` is a public number of them that sizes the
    grid; without it a twentieth of epsilon buys one. `count_share` of the price goes to counts, the rest to sums.
    """

    located: Located
    unit: Unit
    way: str
    epsilon: Fraction
    readings: int | None
    count_share: Fraction
    atoms: int
    bound: Bound | None
    where: Filter
    mechanism: ClassVar[str] = "map"
    gradual: ClassVar[bool] = False

    def __init__(
        self,
        located: Located,
        *,
        unit: Unit,
        epsilon: parameters.Number,
        way: str = CUT,
        readings: int | None = None,
        count_share: parameters.Number = HALF,
        atoms: int = ATOMS,
        bound: Bound | None = None,
        where: Filter = EVERY_ROW,
    ) -> None:
        _check(located, unit, bound, way)
        if way == TREE and readings is not None:
            raise ParameterError("A decomposition is not sized by a number of readings; leave readings out.")
        for name, value in (
            ("located", located),
            ("unit", unit),
            ("way", way),
            ("epsilon", parameters.positive("epsilon", epsilon)),
            ("readings", None if readings is None else parameters.integer("readings", readings, 1, 2**40)),
            ("count_share", share("count_share", count_share)),
            ("atoms", parameters.integer("atoms", atoms, 2, LARGEST_ATOMS)),
            ("bound", bound),
            ("where", where),
        ):
            object.__setattr__(self, name, value)
        located.bands(self.atoms)  # says where the bounds are too near
        if self._box is None:
            raise ParameterError("No row can be in this range of time; take a later end.")
        self.structure.check(self._empty)

    @property
    def times(self) -> int:
        """How many readings one unit is at most."""
        kept = self.kept
        return 1 if kept is None else kept.rows * (kept.keys or 1)

    @property
    def kept(self) -> Bound | None:
        """What is read of one unit; None where the unit is the row."""
        return None if self.unit.is_row else self.bound or Bound()

    @property
    def structure(self) -> Structure:
        """What is built, at the price of one reading."""
        sized = {} if self.way == TREE else {"readings": self.readings}
        centred = {} if self.way == CUT else {"centred": True}
        return WAYS[self.way](self.epsilon / self.times, count_share=self.count_share, **sized, **centred)

    @property
    def price(self) -> Pure:
        return self.structure.price.for_group(self.times)

    @property
    def sensitivity(self) -> Fraction:
        return Fraction(self.times * self.located.span)

    @property
    def worst(self) -> tuple[Charge, ...]:
        return (Charge(self.scope, self.price),)

    @property
    def scope(self) -> Scope:
        return (self._box or Scope.everything()).for_unit(self.unit)

    @property
    def _box(self) -> Scope | None:
        return filters.scope(self.where)

    @property
    def reading(self) -> Reading:
        return Reading((self.located.keys(self.atoms),), self.located.measures, self.where, self.kept)

    def run(self, view: View, bits: Bits) -> Outcome:
        counts, sums = (each.reshape(self.atoms, self.atoms) for each in view.values)
        values = self.located.values
        field = Field(counts, sums - values.lowest * counts, self.located.bounds, values)
        released = self.structure.release(field, bits=bits)
        return Outcome(replace(released, price=self.price, about=self.about).to_dict())

    @property
    def about(self) -> Mapping[str, str]:
        """What a recipient should know: names of the columns, and who is protected."""
        located = self.located
        return {"x": located.x, "y": located.y, "value": located.value, "protected": self.protected}

    @property
    def errors(self) -> tuple[float, float]:
        """The standard deviations of the noise on the count and on the sum of each of the finest cells."""
        structure = self.structure
        count_rate, sum_rate = rates(self._empty, structure.levels[-1], structure.centre(self._empty))
        return math.sqrt(variance(count_rate)), math.sqrt(variance(sum_rate)) * float(self.located.values.step)

    @property
    def promise(self) -> str:
        count, total = self.errors
        located = self.located
        low, high = (parameters.short(edge) for edge in (located.values.low, located.values.high))
        middle = parameters.short((located.values.low + located.values.high) / 2)
        return (
            f"In each of the finest cells the count of readings has noise with a standard deviation of {count:.3g} and "
            f"the sum of {located.value} above {middle} one of {total:.3g}; readings outside the bounds are left out, "
            f"and values are clamped to between {low} and {high}."
        )

    @property
    def protected(self) -> str:
        if self.unit.is_row:
            return self.unit.sentence()
        rows = "one row of each counts" if self.times == 1 else f"at most {self.times:,} rows of each count"
        return f"{self.unit.sentence().removesuffix('.')}; {rows}."

    @property
    def warnings(self) -> tuple[str, ...]:
        if self.kept is not None and self.bound is None:
            return (
                "Nobody said how many rows of one unit count, so one does; give rows_per_unit if a unit may have more.",
            )
        return ()

    def cheaper(self, price: Fraction) -> tuple[str, ...]:
        less = Fraction((price * _PLACES).__floor__(), _PLACES)
        try:
            self.with_(epsilon=less)
        except ParameterError:
            return ()
        return (f"epsilon {float(less):.12g}",)

    def with_(self, **changed: Any) -> Self:
        return type(self)(**{**{name: getattr(self, name) for name in _PARTS}, **changed})

    def parameters(self) -> dict[str, Any]:
        bound = None if self.bound is None else {"rows": self.bound.rows, "keys": self.bound.keys}
        return {
            "located": self.located.to_dict(),
            "unit": str(self.unit),
            "way": self.way,
            "epsilon": str(self.epsilon),
            "readings": self.readings,
            "count_share": str(self.count_share),
            "atoms": self.atoms,
            "bound": bound,
            "where": filter_to_dict(self.where),
        }

    @classmethod
    def from_parameters(cls, plain: Mapping[str, Any]) -> Self:
        if set(plain) != set(_PARTS):
            raise ParameterError(f"The parameters of a map are {', '.join(_PARTS)}, and nothing else.")
        try:
            bound = None if plain["bound"] is None else Bound(**plain["bound"])
            exact = {name: Fraction(plain[name]) for name in ("epsilon", "count_share") if type(plain[name]) is str}
        except (TypeError, ValueError, ZeroDivisionError):
            raise ParameterError(
                "A stored map's plan needs numbers as texts, and a bound with rows and keys."
            ) from None
        if len(exact) != 2:
            raise ParameterError("A stored map's plan needs epsilon and count_share as texts.")
        return cls(
            Located.from_dict(plain["located"]),
            unit=Unit.parse(plain["unit"]),
            way=plain["way"],
            readings=plain["readings"],
            atoms=plain["atoms"],
            bound=bound,
            where=filter_from_dict(plain["where"]),
            **exact,
        )

    @property
    def _empty(self) -> Field:
        """A field of one atom without readings, with the values of this map."""
        nothing = np.zeros((1, 1), dtype=np.int64)
        return Field(nothing, nothing, self.located.bounds, self.located.values)


def _check(located: object, unit: object, bound: object, way: object) -> None:
    if not isinstance(located, Located):
        raise ParameterError(f"The plan of a map needs a Located, not a {type(located).__name__}.")
    if not isinstance(unit, Unit):
        raise ParameterError(f"The plan of a map needs a Unit, not a {type(unit).__name__}.")
    if bound is not None and not isinstance(bound, Bound):
        raise ParameterError(f"A map needs a Bound on what one unit contributes, not a {type(bound).__name__}.")
    if bound is not None and unit.is_row:
        raise ParameterError("Where the unit is the row itself there is nothing to bound per unit.")
    if bound is not None and bound.rows * (bound.keys or 1) > MOST_PER_UNIT:
        raise ParameterError(f"One unit can be at most {MOST_PER_UNIT:,} readings of a map; bound it more tightly.")
    if not isinstance(way, str) or way not in WAYS:
        raise ParameterError(f"A map is built in one of these ways: {', '.join(WAYS)}.")
