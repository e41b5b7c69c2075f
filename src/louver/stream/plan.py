"""The plan of a stream: a number for each tick and region, by one mechanism, paid for as a whole before the first tick.

Neighbours differ in all rows of one unit. One unit is at most `touch.times` changes, each of one cell, a tick of a
region, by at most `touch.step` (see `measured`), and a mechanism's price is that of one such change. So one unit pays
`price.for_group(touch.times)`: there is a chain of that many streams from one neighbour to the other, each a
mechanism's neighbour of the next. With a window, any w units together pay, and are charged, `for_group(w *
touch.times)`.

Who pays where. All rows that are read lie in the ticks' range and under the listed keys, so the charge is made on the
box of these, over the columns that the unit fixes. A window is charged at each of its points as if all of it were
there. So w units, each in one tick, lose together at most the mean over their points of what is charged there, and caps
hold for windows too, across streams and their ends.

Why this is private. `run` hands the true numbers to the mechanism and gives back what it released; bands and rounding
follow from that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from louver import parameters
from louver.errors import ParameterError
from louver.noise import Bits
from louver.noise.bits import SYSTEM
from louver.parameters import Number
from louver.privacy import Charge, Outcome, Pure, Scope, Unit, ZeroConcentrated
from louver.privacy.plan import registered
from louver.source.domain import Domain
from louver.source.measures import Bound, Keys, KeyValue, Reading, View
from louver.stream import kernels, words
from louver.stream.accuracy import checked_level, least_rate
from louver.stream.cheaper import cheaper
from louver.stream.kernels import Floats, Price, Shape
from louver.stream.measured import Measured, Touch, touch
from louver.stream.mechanism import Mechanism
from louver.stream.plan_parts import (
    PARTS,
    around,
    check,
    check_cells,
    distance,
    from_plain,
    keys_of,
    options_of,
    positive,
    rate,
    rows_between,
    to_plain,
)
from louver.stream.released import Released
from louver.stream.ticks import Ticks

LARGEST_WINDOW = 2**20


class Spread(NamedTuple):
    """The largest and the root mean square of the noise's standard deviation, in the measured unit."""

    largest: float
    mean: float


@registered("stream")
@dataclass(frozen=True, slots=True, init=False)
class StreamPlan:
    """The plan of releasing a stream. Its price is given in one of three ways, always for one unit (or window):

    `epsilon`; `rho`, for Gaussian noise; or `within` and `miss_rate`, for fresh Laplace noise.
    """

    measured: Measured
    domain: Domain | None
    ticks: Ticks
    unit: Unit
    kernel: str
    options: tuple[tuple[str, str | int], ...]
    epsilon: Fraction | None
    rho: Fraction | None
    within: Fraction | None
    miss_rate: Fraction | None
    bound: Bound | None
    window: int
    tick_bound: Fraction | None
    touch: Touch = field(compare=False, repr=False)
    kept: Bound | None = field(compare=False, repr=False)
    mechanism: ClassVar[str] = "stream"
    gradual: ClassVar[bool] = False

    def __init__(
        self,
        measured: Measured,
        domain: Domain | None,
        ticks: Ticks,
        *,
        unit: Unit,
        kernel: str = kernels.DEFAULT,
        options: Mapping[str, str | int] | None = None,
        epsilon: Number | None = None,
        rho: Number | None = None,
        within: Number | None = None,
        miss_rate: Number | None = None,
        bound: Bound | None = None,
        window: int = 1,
        tick_bound: Number | None = None,
    ) -> None:
        check(measured, domain, ticks, unit, bound)
        for name, value in (
            ("measured", measured),
            ("domain", domain),
            ("ticks", ticks),
            ("unit", unit),
            ("kernel", kernel),
            ("options", options_of(options)),
            ("epsilon", positive("epsilon", epsilon)),
            ("rho", positive("rho", rho)),
            ("within", None if within is None else distance(within)),
            ("miss_rate", None if miss_rate is None else rate(miss_rate)),
            ("bound", bound),
            ("window", parameters.integer("window", window, 1, LARGEST_WINDOW)),
            ("tick_bound", positive("tick_bound", tick_bound)),
        ):
            object.__setattr__(self, name, value)
        self._compile()
        self.made(SYSTEM)  # says what is wrong with the mechanism

    def _compile(self) -> None:
        kernels.kernel(self.kernel)
        in_one = self.ticks.in_one(self.unit)
        if self.window > 1 and not in_one:
            raise ParameterError(
                f"A window is for units that are in one tick each, and one unit here is {self.unit}, whose rows of all "
                f"ticks are protected together; protect (person, {self.ticks.column}), or leave the window out."
            )
        in_one_cell = in_one and all(self.unit.fixes(key) for key in self.keys)
        moved, bound = touch(self.measured, self.unit, self.bound, in_one_cell)
        check_cells(self.domain, self.ticks)
        object.__setattr__(self, "touch", moved)
        object.__setattr__(self, "kept", bound)
        self._check_price()

    def _check_price(self) -> None:
        ways = [self.epsilon is not None, self.rho is not None, self.within is not None or self.miss_rate is not None]
        if sum(ways) != 1 or (self.within is None) != (self.miss_rate is None):
            raise ParameterError("Say the price in one way: epsilon, or rho, or within together with miss_rate.")
        if self.within is not None and self.kernel != "laplace":
            raise ParameterError(
                f"The mechanism {self.kernel!r} promises no distance; within and miss_rate are for mechanism 'laplace'."
            )
        if (self.tick_bound is not None) != (self.kernel == "truncated"):
            raise ParameterError(
                "tick_bound, the largest value that one tick of a region can have, is for the mechanism 'truncated', "
                "which needs it."
            )

    @property
    def reading(self) -> Reading:
        """All ticks of all regions. Made when it is asked for: a live stream reads its ticks one by one."""
        keys, where = keys_of(self.domain, self.ticks), rows_between(self.ticks, 0, len(self.ticks))
        return Reading((keys,), (self.measured.measure,), where, self.kept)

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns of the regions."""
        return () if self.domain is None else self.domain.keys

    @property
    def regions(self) -> tuple[tuple[KeyValue, ...], ...]:
        return ((),) if self.domain is None else self.domain.listed(self.domain.keys)[0].values

    @property
    def units_together(self) -> int:
        """How many changes of one cell the price is for."""
        return self.touch.times * self.window

    @property
    def cell_price(self) -> Price:
        """What the mechanism is made with: the price of changing one tick of one region."""
        together = self.units_together
        if self.within is not None and self.miss_rate is not None:
            steps = int(self.within / self.measured.step)
            return Pure(least_rate(steps, self.miss_rate) * self.touch.step)
        if self.rho is not None:
            return ZeroConcentrated(self.rho / together**2)
        return Pure((self.epsilon or Fraction(0)) / together)

    @property
    def price(self) -> Price:
        """What one unit pays, or the units of one window together."""
        return self.cell_price.for_group(self.units_together)

    @property
    def shape(self) -> Shape:
        return Shape(len(self.regions), len(self.ticks), self.touch.step, self._largest, self.measured.is_signed)

    @property
    def _largest(self) -> int:
        """Of one tick, in steps: what is beyond is cut off."""
        if self.tick_bound is not None:
            return max(int(self.tick_bound / self.measured.step), 1)
        if self.measured.grid is None:
            return kernels.LARGEST_COUNT
        return min(max(self.touch.step << 10, kernels.LARGEST_COUNT), kernels.LARGEST_SUM)

    @property
    def largest(self) -> Fraction:
        return self._largest * self.measured.step

    def made(self, bits: Bits) -> Mechanism:
        """The mechanism before its first tick."""
        return kernels.made(self.kernel, self.cell_price, self.shape, dict(self.options), bits)

    @property
    def sensitivity(self) -> Fraction:
        return Fraction(self.touch.step * self.touch.times)

    @property
    def worst(self) -> tuple[Charge, ...]:
        return (Charge(self.scope, self.price),)

    @property
    def scope(self) -> Scope:
        """The box that all rows which are read are in, over columns that the unit fixes."""
        ranges = self.ticks.ranges(self.unit)
        for at, column in enumerate(self.keys):
            if self.unit.fixes(column):
                ranges[column] = around([region[at] for region in self.regions])
        return Scope(ranges)

    def run(self, view: View, bits: Bits) -> Outcome:
        rows = view.values[0].reshape(len(self.regions), len(self.ticks)).T
        values, deviations = kernels.run(self.made(bits), self.kernel, rows)
        return Outcome(Released.of(self.measured, self.touch, values, deviations).to_dict())

    @property
    def parts(self) -> int:
        """How many parts a live stream has: one for each tick."""
        return len(self.ticks)

    def part(self, number: int) -> Reading:
        """What is read for one tick, where ticks come one by one."""
        tick = self.ticks.start(parameters.integer("The number of a tick", number, 0, self.parts - 1))
        keys = Keys((*self.keys, self.ticks.column), tuple((*region, tick) for region in self.regions))
        return Reading((keys,), (self.measured.measure,), rows_between(self.ticks, number, number + 1), self.kept)

    def advance(self, state: object, view: View | None, bits: Bits) -> tuple[Any, dict[str, Any]]:
        """One tick: what is released, and the private state after it. No state is before the first tick."""
        mechanism = self.restored(state, bits)
        rows = np.zeros((1, len(self.regions)), dtype=np.int64) if view is None else view.values[0].reshape(1, -1)
        values, deviations = kernels.run(mechanism, self.kernel, rows)
        return Released.of(self.measured, self.touch, values, deviations).to_dict(), mechanism.to_dict()

    def restored(self, state: object, bits: Bits = SYSTEM) -> Mechanism:
        """The mechanism of this plan with a stored state, which must be one of its own."""
        fresh = self.made(bits)
        if state is None:
            return fresh
        again = type(fresh).from_dict(state, bits=bits)
        if again.to_dict()["parameters"] != fresh.to_dict()["parameters"]:
            raise ParameterError("This state belongs to another stream; each goes on from its own.")
        return again

    def noise_reach(self, level: Fraction) -> Fraction:
        """How far the fresh noise of one tick reaches at this level, in the measured unit."""
        return kernels.noise_reach(self.made(SYSTEM), level) * self.measured.step

    @property
    def spread(self) -> Spread:
        """The noise of a running sum, known beforehand."""
        mechanism: Any = self.made(SYSTEM)
        step = float(self.measured.step)
        return Spread(mechanism.largest_error(self.parts) * step, mechanism.rms_error(self.parts) * step)

    def band(self, level: Number, deviations: Floats | None = None) -> Floats | None:
        """Half the width of the error band at each tick and region, in the measured unit; from what is released."""
        inside = None if deviations is None else deviations / float(self.measured.step)
        found = kernels.band(self.made(SYSTEM), self.kernel, self.shape, checked_level(level), inside)
        return None if found is None else found * float(self.measured.step)

    def band_at(self, number: int, level: Number, deviations: Floats | None = None) -> Floats | None:
        """The same for one tick, whose deviations are given as one row."""
        inside = None if deviations is None else deviations / float(self.measured.step)
        found = kernels.band(self.made(SYSTEM), self.kernel, self.shape, checked_level(level), inside, number)
        return None if found is None else found[0] * float(self.measured.step)

    @property
    def promise(self) -> str:
        return words.promise(self)

    @property
    def protected(self) -> str:
        return words.protected(self)

    @property
    def warnings(self) -> tuple[str, ...]:
        if self.kept is not None and self.bound is None:
            return (
                "Nobody said how many rows of one unit count, so one does; give rows_per_unit if a unit may have more.",
            )
        return ()

    def cheaper(self, price: Fraction) -> tuple[str, ...]:
        return cheaper(self, price)

    def with_(self, **changed: Any) -> Self:
        return type(self)(**{**self._given(), **changed})

    def _given(self) -> dict[str, Any]:
        return {**{name: getattr(self, name) for name in PARTS}, "options": dict(self.options)}

    def parameters(self) -> dict[str, Any]:
        return to_plain({name: getattr(self, name) for name in PARTS})

    @classmethod
    def from_parameters(cls, plain: Mapping[str, Any]) -> Self:
        return cls(**from_plain(plain))
