"""The parameter at which a mechanism is just useful enough: monotone search, each step decided with confidence.

Ghayyur's thesis, section 4.6.2 and Table 4.2, tries values until five runs are near the target. Here each value that is
tried is sampled until a confidence interval of its mean utility is on one side of the target, and the values that are
left are halved. Where a value is too near to tell, both halves are searched: the lower for the largest value that is
surely below, the upper for the smallest that is surely above, and that one is taken. The union bound over all looks
makes the whole search wrong with at most 1 less `confidence`, over the noise; other days may need other values.

One sample is a release of all tuning days, so it is an average over thousands of regions and ticks: near enough to
normal for Student's intervals. Utility must not fall where the parameter grows. Global epochs break that: a time to
live that divides the tick counts everybody once. The utility at the value that is found is measured, not assumed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.attack.mechanisms import Mechanism
from louver.attack.parts import ticks_of
from louver.attack.truth import Truth
from louver.attack.utility import Utility
from louver.errors import ParameterError
from louver.noise.bits import SYSTEM, Bits

Floats = NDArray[np.float64]
LOOKS = (3, 6, 12)  # samples of one value, after which its interval is looked at
CLOSE = 0.002  # a value whose interval about the target is no wider to either side is not sampled any more
_FAR = 1e4  # pure noise, in people; about all of it is beyond any count
_RATIO = 1.05  # between values that are tried; they are rounded to three digits
_ANGLES = 20_000


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean utility, between `low` and `high` with confidence, from so many samples."""

    mean: float
    low: float
    high: float
    samples: int


@dataclass(frozen=True, slots=True)
class Tuned:
    """`value` is the least parameter found to reach the target, and None where even the largest is not found to.

    The parameter at which the target is reached is from `low` to `high`; where `low` is None, the smallest is enough.
    `utility` is that of the value, or of the largest. `zeros` and `noise` are the utilities of publishing nothing but
    zeros, and noise without any counts: a target that these reach says little.
    """

    mechanism: str
    parameter: str
    part: str
    target: float
    value: float | None
    low: float | None
    high: float | None
    utility: Interval
    zeros: float
    noise: float

    def __str__(self) -> str:
        name = f"{self.mechanism}, {self.part}"
        if self.value is None:
            return f"{name}: not reached; {self.utility.mean:.1%} at most"
        unit = "s" if self.parameter == "seconds" else ""
        found = f"{self.parameter} {self.value:g}{unit}"
        return f"{name}: {found}, {'the smallest tried' if self.low is None else f'{self.low:g} to {self.high:g}'}"


class Trials:
    """Utilities of a mechanism at any value, sampled when asked for and kept: searches for several targets share them.

    `measured` are utility functions by a name, with the part of the day that they judge.
    """

    def __init__(
        self,
        truth: Truth,
        mechanism: Mechanism,
        measured: Mapping[str, tuple[str, Utility]],
        days: slice,
        bits: Bits = SYSTEM,
    ) -> None:
        self.mechanism, self._truth, self._days, self._bits = mechanism, truth, days, bits
        self._measured = {name: (ticks_of(part, truth.ticks), utility) for name, (part, utility) in measured.items()}
        self._found: dict[float, dict[str, list[float]]] = {}

    def samples(self, value: float, name: str, count: int) -> Floats:
        found = self._found.setdefault(value, {name: [] for name in self._measured})
        true = self._truth.counts[self._days]
        while len(found[name]) < count:
            (released,) = self.mechanism.releases(self._truth, self._days, value, bits=self._bits)
            for each, (ticks, utility) in self._measured.items():
                found[each].append(_checked(utility(released[:, ticks], true[:, ticks])))
        return np.array(found[name][:count])

    def of_nothing(self, name: str) -> tuple[float, float]:
        """The utilities of all zeros, and of pure noise of a fixed seed: neither has anything to do with the counts."""
        ticks, utility = self._measured[name]
        true = self._truth.counts[self._days][:, ticks]
        noise = np.random.default_rng(1).laplace(0, _FAR, true.shape)
        return _checked(utility(np.zeros(true.shape), true)), _checked(utility(noise, true))

    def interval(self, value: float, name: str, count: int, level: float) -> Interval:
        """Of the mean, wrong in at most a share `level` of cases; a mechanism that draws nothing needs one sample."""
        if not self.mechanism.is_random:
            (only,) = self.samples(value, name, 1)
            return Interval(float(only), float(only), float(only), 1)
        drawn = self.samples(value, name, count)
        mean = float(drawn.mean())
        reach = student_reach(count - 1, level) * float(drawn.std(ddof=1)) / math.sqrt(count)
        return Interval(mean, max(0.0, mean - reach), min(1.0, mean + reach), count)


def search(
    trials: Trials, name: str, target: parameters.Number, *, confidence: parameters.Number = 0.95, part: str = "all"
) -> Tuned:
    """The least value of the mechanism's range at which the utility of this name is at least `target`."""
    wanted = float(parameters.probability("target", target))
    wrong = 1 - float(parameters.probability("confidence", confidence))
    mechanism = trials.mechanism
    values = tried_values(mechanism)
    level = wrong / ((2 * len(values).bit_length() + 2) * len(LOOKS))

    looked: dict[int, tuple[int, Interval]] = {}

    def look(at: int) -> tuple[int, Interval]:
        """-1 surely below the target, 1 surely above it, 0 where it is too near to tell."""
        seen = trials.interval(values[at], name, LOOKS[0], level)
        for count in LOOKS[1:]:
            if seen.low >= wanted or seen.high < wanted or seen.high - seen.low <= 2 * CLOSE:
                break
            seen = trials.interval(values[at], name, count, level)
        looked[at] = (seen.low >= wanted) - (seen.high < wanted), seen
        return looked[at]

    def least(side: int) -> int:
        """The first value with this side or a higher one; the last value has it."""
        above = min(at for at, (found, _) in looked.items() if found >= side)
        below = max((at for at in looked if at < above), default=above - 1)
        while above - below > 1:
            middle = (below + above) // 2
            below, above = (below, middle) if look(middle)[0] >= side else (middle, above)
        return above

    def tuned(value: float | None, low: float | None, high: float | None, seen: Interval) -> Tuned:
        nothing = trials.of_nothing(name)
        return Tuned(mechanism.name, mechanism.parameter, part, wanted, value, low, high, seen, *nothing)

    side, seen = look(0)
    if side > 0:
        return tuned(values[0], None, values[0], seen)
    side, seen = look(len(values) - 1)
    if side < 0:
        return tuned(None, values[-1], None, seen)
    low = values[max(least(0) - 1, 0)]
    if side == 0:
        return tuned(None, low, None, seen)
    above = least(1)
    return tuned(values[above], low, values[above], looked[above][1])


def tried_values(mechanism: Mechanism) -> list[float]:
    """Values about 5% apart from the smallest to the largest, with three digits each; whole where they are seconds."""
    steps = math.ceil(math.log(mechanism.largest / mechanism.smallest) / math.log(_RATIO))
    spread = np.geomspace(mechanism.smallest, mechanism.largest, steps + 1) if steps else [mechanism.smallest]
    digits = (float(f"{value:.3g}") for value in spread)
    return sorted({float(round(value)) if mechanism.parameter == "seconds" else value for value in digits})


@lru_cache(maxsize=256)
def student_reach(freedom: int, level: float) -> float:
    """t with P(|T| > t) = level for Student's T. With T = √ν tan φ its density is that of cos^(ν-1) φ.

    >>> round(student_reach(5, 0.05), 3)
    2.571
    """
    angles = np.linspace(0, math.pi / 2, _ANGLES + 1)
    density = np.cos((angles[1:] + angles[:-1]) / 2) ** (freedom - 1)
    beyond = np.append(density[::-1].cumsum()[::-1], 0.0) / density.sum()
    return math.sqrt(freedom) * math.tan(float(np.interp(-level, -beyond, angles)))


def _checked(utility: float) -> float:
    if not 0 <= utility <= 1:
        raise ParameterError("A utility function gives a number from 0 to 1.")
    return float(utility)
