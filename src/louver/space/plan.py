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

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
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
from louver.source.measures import Bound, Reading, View
from louver.space import plan_words
from louver.space.borders import tells_rounds_apart
from louver.space.decomposition import Splitting
from louver.space.expected import Expected
from louver.space.field import Field
from louver.space.located import LARGEST_ATOMS, Located
from louver.space.structure import HALF, Structure, counted
from louver.space.ways import (
    ATOMS,
    CUT,
    MOST_ROUNDS,
    TREE,
    UNIFORM,
    WAYS,
    check_parts,
    check_way,
    sized_for_rounds,
)
from louver.space.written import exact

_PLACES = 10_000
_PARTS = (
    "located",
    "unit",
    "way",
    "epsilon",
    "readings",
    "count_share",
    "atoms",
    "bound",
    "where",
    "rounds",
    "splitting",
)


@registered("map")
@dataclass(frozen=True, slots=True, init=False)
class MapPlan:
    """The plan of releasing a map, for `epsilon` of one unit. `readings` is a public number of them that sizes the
    grid; without it a twentieth of epsilon buys one. `count_share` of the price goes to counts, the rest to sums; all
    of it where readings are positions alone. Where the map is one of several `rounds`, epsilon and readings are those
    of this one, and the grid is sized for what all of them tell together.
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
    rounds: int
    splitting: Splitting | None
    mechanism: ClassVar[str] = "map"
    gradual: ClassVar[bool] = False

    def __init__(
        self,
        located: Located,
        *,
        unit: Unit,
        epsilon: parameters.Number,
        way: str | None = None,
        readings: int | None = None,
        count_share: parameters.Number | None = None,
        atoms: int = ATOMS,
        bound: Bound | None = None,
        where: Filter = EVERY_ROW,
        rounds: int = 1,
        splitting: Splitting | None = None,
    ) -> None:
        check_parts(located, unit, bound)
        if way is None:
            way = CUT if located.value is not None else UNIFORM
        if count_share is None:
            count_share = HALF if located.value is not None else 1
        check_way(located, way, readings, count_share, rounds, splitting)
        for name, value in (
            ("located", located),
            ("unit", unit),
            ("way", way),
            ("epsilon", parameters.positive("epsilon", epsilon)),
            ("readings", None if readings is None else parameters.integer("readings", readings, 1, 2**40)),
            ("count_share", counted("count_share", count_share)),
            ("atoms", parameters.integer("atoms", atoms, 2, LARGEST_ATOMS)),
            ("bound", bound),
            ("where", where),
            ("rounds", parameters.integer("rounds", rounds, 1, MOST_ROUNDS)),
            ("splitting", (splitting or Splitting()) if way == TREE else None),
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
        if self.splitting is not None:
            sized = asdict(self.splitting)
        else:
            sized = {"readings": None if self.readings is None else sized_for_rounds(self.readings, self.rounds)}
        centred = {} if self.way == CUT else {"centred": True}
        return WAYS[self.way](self.epsilon / self.times, count_share=self.count_share, **sized, **centred)

    @property
    def price(self) -> Pure:
        return self.structure.price.for_group(self.times)

    @property
    def together(self) -> Fraction:
        """What somebody pays who is in all rounds."""
        return self.price.epsilon * self.rounds

    @property
    def apart(self) -> bool:
        """Whether other rounds are charged elsewhere, because the unit tells them apart."""
        return tells_rounds_apart(self._box or Scope.everything(), self.scope)

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
        counts, *sums = (each.reshape(self.atoms, self.atoms) for each in view.values)
        values = self.located.values
        above = sums[0] - values.lowest * counts if sums else counts
        field = Field(counts, above, self.located.bounds, values)
        released = self.structure.release(field, bits=bits)
        return Outcome(replace(released, price=self.price, about=self.about).to_dict())

    @property
    def about(self) -> Mapping[str, str]:
        """What a recipient should know: names of the columns, who is protected, and which window this is a round of."""
        located = self.located
        return {
            "x": located.x,
            "y": located.y,
            "protected": self.protected,
            **({} if located.value is None else {"value": located.value}),
            **({} if located.outside == "drop" else {"outside": "counted at the nearest edge"}),
            **({} if self.rounds == 1 else {"window": plan_words.rounds(self)}),
        }

    def expected(self, *, combined: bool = False) -> Expected:
        """What the map would be like with the public number of readings, or with 10,000, spread evenly.

        With `combined`, the errors are those of all rounds together.
        """
        nothing = np.zeros((self.atoms, self.atoms), dtype=np.int64)
        field = Field(nothing, nothing, self.located.bounds, self.located.values)
        readings = plan_words.USUAL if self.readings is None else self.readings
        return Expected.of(self.structure, field, readings, self.rounds if combined else 1)

    @property
    def promise(self) -> str:
        return plan_words.promise(self)

    @property
    def protected(self) -> str:
        if self.unit.is_row:
            return self.unit.sentence()
        rows = "one row of each counts" if self.times == 1 else f"at most {self.times:,} rows of each count"
        return f"{self.unit.sentence().removesuffix('.')}; {rows}."

    @property
    def warnings(self) -> tuple[str, ...]:
        return tuple(plan_words.warnings(self))

    def cheaper(self, price: Fraction) -> tuple[str, ...]:
        less = Fraction((price * _PLACES).__floor__(), _PLACES)
        try:
            self.with_(epsilon=less)
        except ParameterError:
            return ()
        return (f"epsilon {float(less * self.rounds):.12g}",)

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
            "rounds": self.rounds,
            "splitting": None if self.splitting is None else self.splitting.to_dict(),
        }

    @classmethod
    def from_parameters(cls, plain: Mapping[str, Any]) -> Self:
        if set(plain) != set(_PARTS):
            raise ParameterError(f"The parameters of a map are {', '.join(_PARTS)}, and nothing else.")
        try:
            bound = None if plain["bound"] is None else Bound(**plain["bound"])
            splitting = None if plain["splitting"] is None else Splitting.from_dict(plain["splitting"])
            numbers = {name: exact(plain[name]) for name in ("epsilon", "count_share")}
        except (KeyError, TypeError, ValueError, ZeroDivisionError):
            raise ParameterError(
                "A stored map's plan needs exact numbers as texts, a bound with rows and keys, and how a tree is split."
            ) from None
        if not isinstance(plain["way"], str):
            raise ParameterError("A stored map's plan names the way in which the map is built.")
        return cls(
            Located.from_dict(plain["located"]),
            unit=Unit.parse(plain["unit"]),
            way=plain["way"],
            readings=plain["readings"],
            atoms=plain["atoms"],
            bound=bound,
            where=filter_from_dict(plain["where"]),
            rounds=plain["rounds"],
            splitting=splitting,
            **numbers,
        )

    @property
    def _empty(self) -> Field:
        """A field of one atom without readings, with the values of this map."""
        nothing = np.zeros((1, 1), dtype=np.int64)
        return Field(nothing, nothing, self.located.bounds, self.located.values)
