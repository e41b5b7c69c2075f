"""What a stream costs: from the price that was asked for to that of one change, and back.

Neighbours differ in all rows of one unit. One unit is at most `touch.times` changes, each of one cell, a tick of a
region, by at most `touch.step` (see `measured`), and a mechanism's price is that of one such change. So one unit pays
`price.for_group(touch.times)`: there is a chain of that many streams from one neighbour to the other, each a
mechanism's neighbour of the next. With a window, any w units together pay, and are charged, `for_group(w *
touch.times)`. Gaussian noise takes less for changes of different cells, `Mechanism.price_of`: for q cells of one unit,
and for units of a window that are in different ticks.
"""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction

from louver.privacy import Approximate, Pure, Unit, ZeroConcentrated
from louver.privacy.calibrate.distance import least_rate
from louver.stream import kernels
from louver.stream.above import rate_for
from louver.stream.kernels import Price, Shape
from louver.stream.measured import Measured, Touch
from louver.stream.plan_parts import one_of
from louver.stream.ticks import Ticks
from louver.stream.truncated import SMOOTH


class Priced:
    """The part of a plan that speaks about its price."""

    __slots__ = ()
    measured: Measured
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
    window: int
    touch: Touch

    @property
    @abstractmethod
    def shape(self) -> Shape: ...

    @property
    def units_together(self) -> int:
        """How many changes of one cell the price is for."""
        return self.touch.times * self.window

    @property
    def ticks_apart(self) -> bool:
        """Whether the price of a window is for units in different ticks, which somebody's units are that are ticks.

        Where they are not, where somebody may have several in a tick, or where noise is Laplace's and nothing is gained
        by it, it is for any units.
        """
        is_tick = self.ticks.slot_of(self.unit) == self.ticks.minutes and self.ticks.is_somebodys(self.unit)
        return self.rho is not None and self.window > 1 and is_tick

    @property
    def _apart(self) -> tuple[int, int]:
        """In how many different cells the changes are that the price is for, and how many of them in each."""
        cells = (self.touch.times if self.touch.apart else 1) * (self.window if self.ticks_apart else 1)
        return cells, self.units_together // cells

    @property
    def cell_price(self) -> Price:
        """What the mechanism is made with: the price of changing one tick of one region."""
        together = self.units_together
        if self.within is not None and self.miss_rate is not None:
            steps = int(self.within / self.measured.step)
            return Pure(least_rate(steps, self.miss_rate) * self.touch.step)
        if self.slack is not None and self.miss_rate is not None:
            needed = rate_for(int(self.slack / self.measured.step), self.miss_rate)
            return kernels.price_of_noise(self.kernel, needed, self.shape, dict(self.options))
        if self.rho is not None:
            return ZeroConcentrated(kernels.rho_of_one(self.kernel, self.rho, self.shape, self.options, *self._apart))
        if dict(self.options).get("threshold") == SMOOTH:
            given = Fraction(1, len(self.ticks) ** 2) if self.delta is None else self.delta
            return one_of(Approximate(self.epsilon or 0, given), together)
        return Pure((self.epsilon or Fraction(0)) / together)

    @property
    def price(self) -> Price:
        """What one unit pays, or the units of one window together."""
        if self.rho is not None:
            return ZeroConcentrated(self.rho)
        return self.cell_price.for_group(self.units_together)
