"""Noise pressed into the null space of the invariants, exactly: P_N z = z - C^T (C C^T)^-1 C z, as fractions."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from louver.table.invariants import Invariants


def null_part(invariants: Invariants, noise: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[Any]]:
    """P_N of whole-number noise (along the last axis), as numerators and denominators.

    >>> above, below = null_part(Invariants.total(3), np.array([1, 0, 0]))
    >>> above.tolist(), below.tolist()
    ([2, -1, -1], [3, 3, 3])
    """
    if invariants.apart:
        group, covered = np.maximum(invariants.group_of, 0), invariants.group_of >= 0
        below = np.where(covered, invariants.sizes[group], 1)
        return noise * below - np.where(covered, invariants.of(noise)[..., group], 0), below
    rows = invariants.matrix.astype(object)
    adjugate, determinant = invariants.gram_inverse
    wide = noise.astype(object)
    return wide * determinant - wide @ rows.T @ adjugate.T @ rows, np.full(invariants.cells, determinant, dtype=object)


def shares(invariants: Invariants) -> NDArray[np.float64]:
    """The diagonal of P_N: how much of independent noise is left in each cell."""
    if invariants.apart:
        group = np.maximum(invariants.group_of, 0)
        return np.where(invariants.group_of >= 0, 1 - 1 / invariants.sizes[group], 1.0)
    rows = invariants.matrix.astype(object)
    adjugate, determinant = invariants.gram_inverse
    taken = (rows * (adjugate @ rows)).sum(axis=0)
    return np.array([float(1 - Fraction(int(each), determinant)) for each in taken])
