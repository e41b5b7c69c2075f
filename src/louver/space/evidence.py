"""What a map says about cells, its own or those of a grid: counts and sums, and how much noise there is in each.

The error of sum - threshold * count is a sum of Laplace variables with known weights. Its law is taken for a mixture of
Laplace and normal with the same variance and kurtosis. Nothing is assumed beforehand. In the map's own cells this is
all there is to err, wherever the readings lie; a smaller cell is given its part of the numbers around it, and how
readings lie there is not known.

Cells are judged by a tail that is no smaller than the true one (`Evidence.tail`), for two reasons more:

- A number that was made of several, as rounds are, is nearer to normal than its variance tells. So it is the normal
  tail where that is the larger one.
- Noise comes in whole steps. P(N >= k) = a^k / (1 + a), with a = exp(-rate), is above the tail of a Laplace variable of
  the same variance, and below that of one of the same rate half a step nearer, exp(-rate (k - 1/2)) / 2, by a factor of
  cosh(rate / 2). So variances are those of the rate, and half a step is taken off the distance. A step of the count
  is as wide as the threshold, and the noise of the sum blurs it: of this half step the part
  1 / (1 + 2 pi^2 variance / threshold^2) is taken off, which is what Laplace noise leaves of such a pattern.

Tests compare it with exact tails.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from louver.space.field import Floats, Integers
from louver.space.raster import AT_ONCE, raster, shares, spread
from louver.space.released import Map


class Quantity(NamedTuple):
    """What sums over counts are, in words: so many steps above zero, and within a public range."""

    name: str
    zero: float
    step: float
    low: float
    high: float

    @classmethod
    def of_values(cls, released: Map) -> Quantity:
        name = f"average of {released.about.get('value', 'value')}"
        return cls(name, released.zero, released.step, float(released.values.low), float(released.values.high))


class Evidence(NamedTuple):
    """Of each cell: estimates in readings and in steps above the centre, and the sums over all noise in them of its
    variance, and of the square of its variance."""

    counts: Floats
    sums: Floats
    count_squares: Floats
    sum_squares: Floats
    count_fourths: Floats
    sum_fourths: Floats

    def averages(self, quantity: Quantity) -> Floats:
        """Within the public range, where the true ones are; NaN where the count is not above 0."""
        with np.errstate(divide="ignore", invalid="ignore"):
            plain = quantity.zero + quantity.step * np.where(self.counts > 0, self.sums / self.counts, np.nan)
        return np.clip(plain, quantity.low, quantity.high)

    def errors(self, quantity: Quantity) -> Floats:
        """The standard errors of the averages, to first order."""
        with np.errstate(divide="ignore", invalid="ignore"):
            above = np.where(self.counts > 0, self.sums / self.counts, np.nan)
            scatter = np.sqrt(self.sum_squares + above**2 * self.count_squares)
            return np.asarray(quantity.step * scatter / self.counts)

    def probability(self, level: float) -> Floats:
        """How probable it is that an average is above a level in steps, given the map and nothing else."""
        wide, distance = self.widened(), self.sums - level * self.counts
        error, heavy = wide._law(level)
        tail, _ = _tails(np.abs(distance) / error, heavy)
        return np.where(distance > 0, 1 - tail, tail)

    def tail(self, level: float) -> Floats:
        """How often, at most, an error is as large as that of a cell whose average is on the other side of a level."""
        wide = self.widened()
        error, heavy = wide._law(level)
        left = level**2 / (level**2 + 2 * math.pi**2 * wide.sum_squares) * (wide.count_squares > 0)
        distance = np.abs(self.sums - level * self.counts) - (1 + abs(level) * left) / 2
        return np.maximum(*_tails(np.maximum(distance, 0) / error, heavy))

    def _law(self, level: float) -> tuple[Floats, Floats]:
        """The standard deviation of sum - level * count, and a third of its excess kurtosis."""
        squares = self.sum_squares + level**2 * self.count_squares
        return np.sqrt(squares), (self.sum_fourths + level**4 * self.count_fourths) / squares**2

    def widened(self) -> Evidence:
        """With the variances of continuous Laplace noise of the same rates, which is a little wider."""
        counts, sums = _widening(self.count_squares), _widening(self.sum_squares)
        return self._replace(
            count_squares=counts * self.count_squares,
            sum_squares=sums * self.sum_squares,
            count_fourths=counts**2 * self.count_fourths,
            sum_fourths=sums**2 * self.sum_fourths,
        )


def of_leaves(released: Map) -> Evidence:
    """Of the map's own cells, one number for each leaf."""
    tree, leaves, noisy = released.tree, released.tree.leaves, released.noisy
    moments = [
        (tree.variances(each)[leaves], tree.fourths(each)[leaves])
        for each in (noisy.count_variances, noisy.sum_variances)
    ]
    return _joined(released.counts[leaves], released.sums[leaves], moments)


def of_grid(released: Map, nodes: Integers, across: Floats, along: Floats) -> Evidence:
    """Of the cells between the lines of a grid, from these leaves; the others count as empty, and as noisy."""
    counts, sums = spread(released, nodes, 0.0, across, along, shares)
    found = _tree_moments if released.depth else _grid_moments
    noisy = released.noisy
    moments = [found(released, each, across, along) for each in (noisy.count_variances, noisy.sum_variances)]
    return _joined(counts, sums, moments)


def densities(released: Map, found: Evidence, sizes: Floats) -> tuple[Evidence, Quantity]:
    """Of a map of counts alone, how many readings there are for an area, which is known without noise.

    The range that is shown ends at a round number above the largest density.
    """
    nothing = np.zeros_like(found.counts)
    made = Evidence(sizes, found.counts, nothing, found.count_squares, nothing, found.count_fourths)
    unit = "square kilometre" if released.bounds.degrees else "1,000 x 1,000 units"
    return made, Quantity(f"readings per {unit}", 0.0, 1.0, 0.0, _round_above(float((made.sums / sizes).max())))


def _round_above(number: float) -> float:
    """1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(max(number, 1e-9)))
    return next(times * power for times in (1, 2, 5, 10) if times * power >= number)


def _joined(counts: Floats, sums: Floats, moments: list[tuple[Floats, Floats]]) -> Evidence:
    (count_squares, count_fourths), (sum_squares, sum_fourths) = moments
    return Evidence(counts, sums, count_squares, sum_squares, count_fourths, sum_fourths)


def _grid_moments(released: Map, variances: Floats, across: Floats, along: Floats) -> tuple[Floats, Floats]:
    rectangles = released.rectangles
    return (
        raster(rectangles, variances, across, along, shares, power=2),
        raster(rectangles, variances**2, across, along, shares, power=4),
    )


def _tree_moments(released: Map, variances: Floats, across: Floats, along: Floats) -> tuple[Floats, Floats]:
    """The same where every node's noise is in every cell."""
    west, south, east, north = released.rectangles[released.tree.leaves].T
    wide, high = shares(west, east, across), shares(south, north, along)
    rows, columns = high.shape[1], wide.shape[1]
    square, fourth = np.empty(rows * columns), np.empty(rows * columns)
    chunk = max(1, AT_ONCE // len(released.parents))
    for start in range(0, rows * columns, chunk):
        cells = np.arange(start, min(start + chunk, rows * columns))
        added = released.tree.influence(wide[:, cells % columns] * high[:, cells // columns], variances)
        square[cells], fourth[cells] = _moments(added)
    return square.reshape(rows, columns), fourth.reshape(rows, columns)


def _moments(added: Floats) -> tuple[Floats, Floats]:
    return added.sum(axis=0), np.einsum("nc,nc->c", added, added)


def _widening(variances: Floats) -> Floats:
    """2 / rate^2 over the variance of whole-number noise, 1 / (2 sinh^2(rate / 2)); 1 where there is no noise.

    It falls with the variance, so that what is made of several such numbers is widened enough.
    """
    halves = np.arcsinh(1 / np.sqrt(2 * np.where(variances > 0, variances, 1.0)))
    return np.where(variances > 0, (np.sinh(halves) / halves) ** 2, 1.0)


def _tails(sizes: Floats, heavy: Floats) -> tuple[Floats, Floats]:
    """P(error > size) for an error of variance 1 and excess kurtosis 3 `heavy`, of Laplace 3; and for a normal one."""
    normal = np.array([0.5 * math.erfc(size / math.sqrt(2)) for size in sizes.ravel().tolist()]).reshape(sizes.shape)
    return 0.5 * heavy * np.exp(-math.sqrt(2) * sizes) + (1 - heavy) * normal, normal
