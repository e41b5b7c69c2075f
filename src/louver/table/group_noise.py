"""Whole-number noise that sums to 0 in each of many groups, exactly.

Groups of one size are drawn together by the samplers of `louver.noise`. Where there are many sizes, as with counties in
states, each would cost a call and a table; then all groups are completed at once: all cells but a group's last are
drawn freely, the last makes up the sum, and the group stands with the probability that its last cell owes. Groups that
do not stand are drawn again. Both ways have the same law, and which is taken depends on sizes alone.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from louver.noise import Bits, discrete_gaussian, discrete_laplace, fixed_sum, gaussian_fixed_sum, geometric
from louver.noise.gaussian import reaches_square
from louver.table.completion import Law
from louver.table.invariants import Invariants

FEW_SIZES = 4
MOST_COMPLETED = 2**16  # cells
LARGEST_COMPLETED = 2**10  # cells of one group: one in 1.6 sqrt(size) vectors stands
_BATCH_CELLS = 2**20


def group_noise(invariants: Invariants, law: Law, parameter: Fraction, count: int, bits: Bits) -> NDArray[np.int64]:
    """Noise for `count` tables, one a row: sum 0 in each group, and free outside all groups."""
    drawn = np.empty((count, invariants.cells), dtype=np.int64)
    order = np.argsort(invariants.group_of, kind="stable")
    outside = int((invariants.group_of < 0).sum())
    drawn[:, order[:outside]] = _free(law, parameter, count * outside, bits).reshape(count, outside)
    sizes = invariants.sizes
    if len(np.unique(sizes)) > FEW_SIZES and count * len(order) <= MOST_COMPLETED and sizes.max() <= LARGEST_COMPLETED:
        flat = completed(np.tile(sizes, count), law, parameter, bits)
        drawn[:, order[outside:]] = flat.reshape(count, -1)
        return drawn
    tied = fixed_sum if law == "laplace" else gaussian_fixed_sum
    starts = outside + np.cumsum(sizes) - sizes
    for size in np.unique(sizes).tolist():
        cells = order[starts[sizes == size][:, None] + np.arange(size)]
        vectors = tied(size, parameter, count * len(cells), bits=bits)
        drawn[:, cells] = vectors.reshape(count, len(cells), size)
    return drawn


def completed(sizes: NDArray[np.int64], law: Law, parameter: Fraction, bits: Bits) -> NDArray[np.int64]:
    """One vector for groups that stand one behind the other, each with sum 0."""
    homes = np.cumsum(sizes) - sizes
    drawn = np.zeros(int(sizes.sum()), dtype=np.int64)
    waiting = np.flatnonzero(sizes > 1)
    attempts = 4
    while len(waiting):
        tried = np.repeat(waiting, attempts)
        lengths = sizes[tried] - 1
        starts = np.cumsum(lengths) - lengths
        free = _free(law, parameter, int(lengths.sum()), bits)
        last = -np.add.reduceat(free, starts)
        stands = _stands(law, parameter, last, bits).reshape(-1, attempts)
        found = stands.any(axis=1)
        # Of several attempts of a group the first that stands counts, as if they had been made one by one.
        taken = np.flatnonzero(found) * attempts + stands.argmax(axis=1)[found]
        drawn[_stretches(homes[tried[taken]], lengths[taken])] = free[_stretches(starts[taken], lengths[taken])]
        drawn[homes[tried[taken]] + lengths[taken]] = last[taken]
        waiting = waiting[~found]
        attempts = max(1, min(2 * attempts, _BATCH_CELLS // max(1, int(sizes[waiting].sum()))))
    return drawn


def _stretches(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """start, start + 1, ... of each stretch, one behind the other."""
    before = np.cumsum(lengths) - lengths
    return np.repeat(starts - before, lengths) + np.arange(int(lengths.sum()))


def _free(law: Law, parameter: Fraction, number: int, bits: Bits) -> NDArray[np.int64]:
    return (discrete_laplace if law == "laplace" else discrete_gaussian)(parameter, number, bits=bits)


def _stands(law: Law, parameter: Fraction, last: NDArray[np.int64], bits: Bits) -> NDArray[np.bool_]:
    if law == "laplace":
        return np.asarray(geometric(parameter, len(last), bits=bits) >= np.abs(last))
    return reaches_square(last, parameter, bits)
