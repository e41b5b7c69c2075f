"""How useful a release is: functions of released and true values that give a number from 0 to 1.

The first task is that of Ghayyur's thesis, section 4.2.1: a map of ten colours, by how far a count is from the mean of
its region's past at that time of day. The thesis measures "a percentage difference" of colours and does not say how;
`heat-colours` is the share of colours that are the same, and `heat-steps` takes one step of nine off for each colour
between the two.

Whoever uses a release knows that counts are whole and not below 0. So it is rounded, and what is below 0 is taken as 0,
before it is judged.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from louver.errors import ParameterError
from louver.sense.heat import CLASSES, MIDDLE
from louver.source.names import instead_of

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
Utility: TypeAlias = Callable[[Floats, Whole], float]
"""Released and true values, (days, ticks, regions), to a number from 0 to 1."""
BUSY = 0.9  # a region is busy above what it has in nine of ten past ticks


@dataclass(frozen=True, eq=False)
class Colours:
    """The colour of each count, from 1 to 10, by the mean and the deviation of its region and tick in the past.

    The same classes as `louver.sense.heat.heat_class` has, for many values at once and in floats.

    >>> past = np.array([40, 44, 48, 52, 56]).reshape(5, 1, 1)
    >>> Colours.of(past)(np.array([30, 40, 48, 56, 60]).reshape(5, 1, 1)).ravel().tolist()
    [1, 3, 6, 8, 10]
    """

    mean: Floats
    deviation: Floats

    @classmethod
    def of(cls, past: Whole) -> Colours:
        """From past counts, (days, ticks, regions)."""
        return cls(past.mean(axis=0), past.std(axis=0))

    def __call__(self, values: NDArray[np.number]) -> Whole:
        away = values - self.mean
        flat = self.deviation == 0
        steps = np.floor(2 * away / np.where(flat, 1.0, self.deviation))
        inside = np.clip(MIDDLE + steps, 2, CLASSES - 1)
        wide = 2 * self.deviation
        found = np.where(away > wide, CLASSES, np.where(away < -wide, 1, np.where(flat, MIDDLE, inside)))
        return found.astype(np.int64)


def as_counts(released: Floats) -> Floats:
    """The whole numbers from 0 on that are nearest."""
    return np.maximum(np.rint(released), 0.0)


def heat_colours(past: Whole) -> Utility:
    """The share of regions and ticks that keep their colour."""
    colours = Colours.of(past)
    return lambda released, true: float((colours(as_counts(released)) == colours(true)).mean())


def heat_steps(past: Whole) -> Utility:
    """One less the mean number of colours between the two, of nine that are possible."""
    colours = Colours.of(past)
    return lambda released, true: 1 - float(np.abs(colours(as_counts(released)) - colours(true)).mean()) / (CLASSES - 1)


def flags(past: Whole) -> Utility:
    """The share of regions and ticks rightly said to be busy or not: above nine of ten past ticks of the region."""
    limit = np.maximum(np.quantile(past, BUSY, axis=(0, 1)), 0.5)
    return lambda released, true: float(((as_counts(released) > limit) == (true > limit)).mean())


def mean_error(past: Whole) -> Utility:
    """One less the mean error, as a share of the mean count of the past; 0 where it is larger."""
    usual = max(float(past.mean()), 1e-9)
    return lambda released, true: max(0.0, 1 - float(np.abs(as_counts(released) - true).mean()) / usual)


TASKS: dict[str, Callable[[Whole], Utility]] = {
    "heat-colours": heat_colours,
    "heat-steps": heat_steps,
    "flags": flags,
    "mean-error": mean_error,
}


def task(name: str) -> Callable[[Whole], Utility]:
    """A task makes a utility function of past counts, (days, ticks, regions)."""
    if name not in TASKS:
        raise ParameterError(f"There is no task {name!r}{instead_of(name, TASKS)}.")
    return TASKS[name]
