"""The plan of a stream: a number for each tick and region, by one mechanism, paid for as a whole before the first tick.

Who pays where. What one unit pays is in `plan_price`. All rows that are read lie in the ticks' range and under the
listed keys, so the charge is made on the box of these, over the columns that the unit fixes. A window is charged at
each of its points as if all of it were there, and fewer changes never cost more than their share of that (see
`together`). So w units, each in one tick, lose together at most the mean over their points of what is charged there,
and a cap holds for windows of w too, across streams and their ends, as long as all that the ledger pays for has windows
of w or more. Where a window is one of units in different ticks (`ticks_apart`), all this is said of such units only. A
stream without a window adds up to w times what it charges.

Why this is private. `run` hands the true numbers to the mechanism and gives back what it released; bands and rounding
follow from that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.noise import Bits
from louver.noise.bits import SYSTEM
from louver.parameters import Number
from louver.privacy import Charge, Outcome, Scope, Unit
from louver.privacy.plan import registered
from louver.source.domain import Domain
from louver.source.measures import MOST_KEYS, Bound, Keys, Measure, Reading, View
from louver.stream import cut_off, kernels, words
from louver.stream.best_sum import why
from louver.stream.cheaper import cheaper
from louver.stream.kernels import Shape
from louver.stream.measured import Measured, Touch, touch
from louver.stream.mechanism import Mechanism
from louver.stream.places import Places, Region, in_steps, places_of
from louver.stream.plan_checks import (
    check,
    check_columns,
    check_price,
    check_views,
    check_window,
)
from louver.stream.plan_parts import (
    PARTS,
    around,
    columns_of,
    distance,
    from_plain,
    keys_of,
    limits,
    options_of,
    positive,
    rate,
    rows_between,
    to_plain,
)
from louver.stream.plan_price import Priced
from louver.stream.plan_seen import Seen
from louver.stream.running import Running
from louver.stream.ticks import Ticks

LARGEST_WINDOW = 2**20


@registered("stream")
@dataclass(frozen=True, slots=True, init=False)
class StreamPlan(Priced, Seen):
    """The plan of releasing a stream. Its price is given in one of four ways, always for one unit (or window):

    `epsilon`, with a `delta` where the mechanism has one; `rho`, for Gaussian noise; `within` and `miss_rate`, for
    fresh Laplace noise; or `above`, `miss_rate` and `slack`, for limits. `last` and `above` ask for what follows from
    released numbers, at no further cost; `totals` for numbers of each level of some columns.
    """

    measured: Measured
    domain: Domain | None
    ticks: Ticks
    unit: Unit
    kernel: str
    options: tuple[tuple[str, str | int], ...]
    epsilon: Fraction | None
    delta: Fraction | None
    rho: Fraction | None
    within: Fraction | None
    miss_rate: Fraction | None
    slack: Fraction | None
    bound: Bound | None
    window: int
    tick_bound: Fraction | None
    above: tuple[Fraction, ...] | None
    last: int | None
    totals: tuple[str, ...] | None
    places: Places = field(compare=False, repr=False)
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
        delta: Number | None = None,
        rho: Number | None = None,
        within: Number | None = None,
        miss_rate: Number | None = None,
        slack: Number | None = None,
        bound: Bound | None = None,
        window: int = 1,
        tick_bound: Number | None = None,
        above: Sequence[Number] | Number | None = None,
        last: int | None = None,
        totals: Sequence[str] | None = None,
    ) -> None:
        check(measured, domain, ticks, unit, bound)
        chosen, edges = options_of(options), kernels.edges(kernel, options)
        levels = columns_of(totals)
        places = places_of(domain, levels, edges)
        for name, value in (
            ("measured", measured),
            ("domain", domain),
            ("ticks", ticks),
            ("unit", unit),
            ("kernel", kernel),
            ("options", chosen),
            ("epsilon", positive("epsilon", epsilon)),
            ("delta", positive("delta", delta)),
            ("rho", positive("rho", rho)),
            ("within", distance("within", within)),
            ("miss_rate", rate(miss_rate)),
            ("slack", distance("slack", slack)),
            ("bound", bound),
            ("window", parameters.integer("window", window, 1, LARGEST_WINDOW)),
            ("tick_bound", positive("tick_bound", tick_bound)),
            ("above", limits(above, len(places.released))),
            ("last", None if last is None else parameters.integer("last", last, 1, LARGEST_WINDOW)),
            ("totals", levels),
            ("places", places),
        ):
            object.__setattr__(self, name, value)
        self._compile()
        self.made(SYSTEM)  # says what is wrong with the mechanism

    def _compile(self) -> None:
        check_window(self)
        in_one_cell = self.ticks.in_one(self.unit) and all(self.unit.fixes(key) for key in self._read_keys)
        moved, bound = touch(self.measured, self.unit, self.bound, in_one_cell)
        check_columns(self)
        object.__setattr__(self, "touch", moved)
        object.__setattr__(self, "kept", bound)
        check_price(self)
        check_views(self)

    @property
    def reading(self) -> Reading | None:
        """All ticks of all regions; None where they are too many to be read at once, as those of a live stream may be.

        Made when it is asked for: a live stream reads its ticks one by one.
        """
        if len(self.regions) * len(self.ticks) > MOST_KEYS:
            return None
        keys, where = keys_of(self.domain, self.ticks), rows_between(self.ticks, 0, len(self.ticks))
        return Reading((keys,), self._measures, where, self.kept)

    @property
    def _measures(self) -> tuple[Measure, ...]:
        beside = self.measured.presence if kernels.kernel(self.kernel).tells_missing else ()
        return (self.measured.measure, *beside)

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns of the regions."""
        return self.places.keys

    @property
    def regions(self) -> tuple[Region, ...]:
        """All that a number is released for; in a total, None stands for all values of a column."""
        return self.places.released

    @property
    def _read_keys(self) -> tuple[str, ...]:
        return () if self.domain is None else self.domain.keys

    @property
    def shape(self) -> Shape:
        edges = None if self.places.edges is None else in_steps(self.places.edges, self.measured.step)
        return Shape(
            len(self.places.read),
            len(self.ticks),
            self.touch.step,
            self._largest,
            self.measured.is_signed,
            self.places.parents,
            edges,
        )

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
        for at, column in enumerate(self._read_keys):
            if self.unit.fixes(column):
                ranges[column] = around(tuple(region[at] for region in self.places.read))
        return Scope(ranges)

    def run(self, view: View, bits: Bits) -> Outcome:
        return Outcome(Running(self, bits).run(self._rows(view, len(self.ticks))).to_dict())

    def _rows(self, view: View, ticks: int) -> NDArray[Any]:
        """What was read, ticks by regions; NaN where nothing is there and the mechanism tells that from 0."""
        numbers: NDArray[Any] = view.values[0]
        if kernels.kernel(self.kernel).tells_missing:
            numbers = np.where(view.values[-1] > 0, numbers, np.nan)
        return numbers.reshape(len(self.places.read), ticks).T

    @property
    def parts(self) -> int:
        """How many parts a live stream has: one for each tick."""
        return len(self.ticks)

    def part(self, number: int) -> Reading:
        """What is read for one tick, where ticks come one by one."""
        tick = self.ticks.start(parameters.integer("The number of a tick", number, 0, self.parts - 1))
        keys = Keys((*self._read_keys, self.ticks.column), tuple((*region, tick) for region in self.places.read))
        return Reading((keys,), self._measures, rows_between(self.ticks, number, number + 1), self.kept)

    def advance(self, state: object, view: View | None, bits: Bits) -> tuple[Any, dict[str, Any]]:
        """One tick: what is released, and the private state after it. No state is before the first tick."""
        running = self.restored(state, bits)
        seen = View((np.zeros(len(self.places.read), dtype=np.int64),)) if view is None else view
        return running.advance(self._rows(seen, 1), missing=view is None).to_dict(), running.to_dict()

    def restored(self, state: object, bits: Bits = SYSTEM) -> Running:
        """The stream at work with a stored state, which must be one of its own."""
        return Running.restored(self, state, bits)

    def __str__(self) -> str:
        return words.overview(self)

    @property
    def what(self) -> str:
        """What is released, when, of how many regions, and how, as a phrase."""
        return words.what(self)

    @property
    def promise(self) -> str:
        return words.promise(self)

    def why(self, *, live: bool = False) -> str | None:
        """Why this running sum is the best one for the price, of those that a live stream may take or of all."""
        return why(self, live=live)

    @property
    def protected(self) -> str:
        return words.protected(self)

    @property
    def warnings(self) -> tuple[str, ...]:
        said = []
        if self.kept is not None and self.bound is None:
            said.append(
                "Nobody said how many rows of one unit count, so one does; give rows_per_unit if a unit may have more."
            )
        said += [each for each in (words.moment(self), words.rounding(self), words.levels(self)) if each is not None]
        return (*said, *cut_off.warned(self))

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
