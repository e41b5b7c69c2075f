"""PeGaSus: perturb, group, smooth (Chen, Machanavajjhala, Hay and Miklau, CCS 2017).

The Perturber adds fresh noise to each count. The Grouper, which sees the true counts, asks at each tick whether the
open group, with this tick, still deviates little from its mean. The Smoother takes the noisy counts of the group.
Releases one value per tick and region, and which ticks are grouped. Price: epsilon, pure, once for a unit that changes
one tick of one region by at most `sensitivity` (D); of this the Grouper gets `grouping_share`, e_g, and the Perturber
the rest, e_p. A unit in w ticks pays w times as much. Several target states are regions: they share one price if a unit
is in at most one of them per tick; a unit in m states per tick pays m times.

Why this is private. The Perturber's `discrete_laplace` of rate e_p/D costs e_p. The Grouper (`Group.advance`) is the
sparse-vector technique, once per group. The deviation sum |c_i - mean| of n counts moves by at most 2D(1 - 1/n) < 2D
when one count moves by D: its own term by D(1 - 1/n), the n - 1 others by D/n each. It is a multiple of 1/n, computed
in whole numbers, times GRID and rounded down: as 2D GRID is whole, that moves by at most 2D GRID steps, so rounding
costs nothing. A threshold noise of rate e_1/(2D GRID) and one fresh noise of rate e_2/(4D GRID) per test, in those
steps, make the answers "joins, joins, ..., does not join" (e_1 + e_2)-private: shift the threshold by 2D GRID, which
costs e_1; then all tests that join stay at least as likely, and the last one, shifted by at most 4D GRID, costs e_2.
The tick that does not join becomes a closed group of its own, and the next group opens after it with a fresh threshold.
So each count is seen by exactly one such run, and e_g = e_1 + e_2 is paid once. A group is also closed at `longest`
ticks, which reads nothing private. Smoothing reads noisy counts and groups only.
"""

from __future__ import annotations

import math
from bisect import bisect_right, insort
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from louver import parameters
from louver.errors import ParameterError
from louver.noise import Bits, discrete_laplace
from louver.noise.bits import SYSTEM
from louver.noise.laplace import noise_rate
from louver.privacy import Pure
from louver.stream.laplace import scale_of, stated
from louver.stream.mechanism import Rows
from louver.stream.smoothed import Floats, Smoothed, Ticks, columns, whole_numbers

GRID = 16  # steps of a deviation per count
GROUPING_SHARE = Fraction(1, 5)
PATIENCE = 5
LONGEST = 1024
# e_1 / e_g: as published, and where the two noises together scatter least, 1/(1 + 2^(2/3)).
SPLITS = {"published": Fraction(1, 2), "optimal": Fraction(38649, 100000)}
SMOOTHERS = ("average", "median", "james-stein")


class Pegasus(Smoothed):
    """Noise, groups that deviate little, and a smoother over the open group.

    `patience` is the base threshold in units of D/e_g; 5 is as published. Only in a group of two or more does the
    smoother change anything.

    >>> stream = Pegasus(epsilon=100, patience=200)
    >>> stream.run([5, 5, 5, 900, 7]).tolist()
    [5.0, 5.0, 5.0, 900.0, 7.0]
    >>> stream.trace.lengths.T.tolist()
    [[1, 2, 3, 1, 1]]
    """

    kind: ClassVar[str] = "pegasus"

    def __init__(
        self,
        epsilon: parameters.Number | str,
        regions: int | None = None,
        *,
        sensitivity: int = 1,
        smoother: str = "median",
        split: str = "published",
        patience: parameters.Number | str = PATIENCE,
        grouping_share: parameters.Number | str = GROUPING_SHARE,
        longest: int = LONGEST,
        bits: Bits = SYSTEM,
    ) -> None:
        super().__init__(regions, sensitivity=sensitivity, bits=bits)
        self.epsilon = stated("epsilon", epsilon)
        if smoother not in SMOOTHERS or split not in SPLITS:
            raise ParameterError(f"smoother is one of {', '.join(SMOOTHERS)}, and split one of {', '.join(SPLITS)}.")
        self.smoother, self.split = smoother, split
        self.patience = stated("patience", patience)
        self.grouping_share = parameters.within(
            "grouping_share", stated("grouping_share", grouping_share), Fraction(1, 1000), Fraction(999, 1000)
        )
        self.longest = parameters.integer("longest", longest, 1, 2**16)
        grouping = self.epsilon * self.grouping_share
        first = grouping * SPLITS[split]
        step = 2 * self.sensitivity * GRID
        self.rate = noise_rate("The Perturber's rate", (self.epsilon - grouping) / self.sensitivity)
        self.threshold_rate = noise_rate("The threshold's rate", first / step)
        self.test_rate = noise_rate("The tests' rate", (grouping - first) / (2 * step))
        self.base = math.ceil(self.patience * self.sensitivity * GRID / grouping)
        self._groups = [Group(smoother, self.base, self.longest) for _ in range(self._width)]

    @property
    def price(self) -> Pure:
        return Pure(self.epsilon)

    def variances(self) -> Floats:
        """The noise's variance over the size of each group: the noise alone, not how much the group's counts differ."""
        return 2 * scale_of(self.rate) ** 2 / np.array([max(group.size, 1) for group in self._groups])

    def _estimated(self, lengths: Rows, noticed: Floats, apart: Floats) -> Floats:  # noqa: ARG002
        return 2 * scale_of(self.rate) ** 2 / lengths

    def _traced(self, rows: Rows) -> tuple[Rows, Ticks]:
        noisy = rows + discrete_laplace(self.rate, rows.size, bits=self._bits).reshape(rows.shape)
        # Noise that a tick does not need is dropped: each tick of a region uses at most one of the two.
        thresholds = discrete_laplace(self.threshold_rate, rows.size, bits=self._bits).reshape(rows.shape)
        tests = discrete_laplace(self.test_rate, rows.size, bits=self._bits).reshape(rows.shape)
        every = zip(self._groups, columns(rows), columns(noisy), columns(thresholds), columns(tests), strict=True)
        ticks = Ticks.none()
        for group, counts, seen, drawn, tested in every:
            group.advance(counts, seen, drawn, tested, ticks)
        return noisy, ticks

    def _single(self, value: int) -> float:
        rates = (self.rate, self.threshold_rate, self.test_rate)
        noise, threshold, test = (int(discrete_laplace(rate, 1, bits=self._bits)[0]) for rate in rates)
        seen = value + noise
        ticks = self._groups[0].advance([value], [seen], [threshold], [test], Ticks.none())
        self._latest = np.array([[seen]], dtype=np.int64), ticks
        return ticks.values[0]

    def _places(self) -> list[Group]:
        return self._groups

    def _parameters(self) -> dict[str, Any]:
        return super()._parameters() | {
            "epsilon": str(self.epsilon),
            "smoother": self.smoother,
            "split": self.split,
            "patience": str(self.patience),
            "grouping_share": str(self.grouping_share),
            "longest": self.longest,
        }


class Group:
    """One region's open group: its true and its noisy counts, each in order of size."""

    __slots__ = ("_base", "_counts", "_longest", "_noisy", "_open", "_smoother", "_threshold", "_total")

    def __init__(self, smoother: str, base: int, longest: int) -> None:
        self._smoother, self._base, self._longest = smoother, base, longest
        self._counts: list[int] = []
        self._total = 0
        self._noisy: list[int] = []
        self._open = False
        self._threshold = 0

    @property
    def size(self) -> int:
        """How many ticks the last tick's group has."""
        return len(self._noisy)

    def advance(
        self, counts: list[int], noisy: list[int], thresholds: list[int], tests: list[int], ticks: Ticks
    ) -> Ticks:
        """Adds the smoothed value of each tick, the same again as the group's level, and the group's size so far."""
        base, longest = self._base, self._longest
        held, total, alike, is_open = self._counts, self._total, self._noisy, self._open
        values, levels, lengths, noticed = ticks
        for count, seen, threshold, test in zip(counts, noisy, thresholds, tests, strict=True):
            joins = False
            if is_open:
                insort(held, count)
                total += count
                joins = deviation(held, total) + test < base + self._threshold
            if joins:
                insort(alike, seen)
                is_open = len(alike) < longest
            else:
                # A tick that opens a group; or one that did not join, and is a closed group of its own.
                alike = [seen]
                self._threshold = threshold
                is_open = not is_open and longest > 1
                held, total = [count], count
            if not is_open:
                held, total = [], 0
            value = self._smoothed(alike, seen) if len(alike) > 1 else float(seen)
            values.append(value)
            levels.append(value)
            lengths.append(len(alike))
            noticed.append(0.0)
        self._counts, self._total, self._noisy, self._open = held, total, alike, is_open
        return ticks

    def _smoothed(self, noisy: list[int], seen: int) -> float:
        size = len(noisy)
        if self._smoother == "median":
            return (noisy[size // 2] + noisy[(size - 1) // 2]) / 2
        average = sum(noisy) / size
        return average if self._smoother == "average" else average + (seen - average) / size

    def to_dict(self) -> dict[str, Any]:
        return {"counts": [*self._counts], "noisy": [*self._noisy], "open": self._open, "threshold": self._threshold}

    def take(self, plain: Mapping[str, Any]) -> None:
        """Takes over what `to_dict` gave."""
        self._counts, self._noisy = (sorted(whole_numbers(plain[name])) for name in ("counts", "noisy"))
        self._total = sum(self._counts)
        (self._threshold,) = whole_numbers([plain["threshold"]])
        self._open = plain["open"] is True
        if len(self._counts) != (len(self._noisy) if self._open else 0) or len(self._noisy) > self._longest:
            raise ValueError


def deviation(counts: list[int], total: int) -> int:
    """floor(GRID * sum |c_i - mean|) of counts in order, from n sum |c_i - mean| = 2 sum over c_i > mean of
    (n c_i - total)."""
    size = len(counts)
    above = bisect_right(counts, total // size)
    return 2 * GRID * (size * sum(counts[above:]) - (size - above) * total) // size
