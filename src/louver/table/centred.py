"""Discrete Gaussian noise around any centre, exact: P(x) proportional to exp(-(x - centre)^2 / (2 variance)).

Centre and variance are floats and mean the binary fractions that they are. With k the whole number nearest the centre,
f = k - centre and y drawn around 0 with a larger variance S, x = k + y stands with probability exp(-E),

    E = (y + f)^2 / (2 variance) - y^2 / (2 S) + 1 / (8 (S - variance)),

which is not negative: over all y the first two terms are least -f^2 / (2 (S - variance)), and |f| <= 1/2.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from louver.noise import Bits, discrete_gaussian, enclosure
from louver.table.sure_coins import Chance, sure_coins

_WIDER = 1.5  # times the variance, and then up to a power of two: few tables
_CLOSE = 2.0**-30  # far above what floats lose in E


def centred_gaussian(centres: NDArray[np.float64], variances: NDArray[np.float64], bits: Bits) -> NDArray[np.int64]:
    """One draw for each centre and variance.

    >>> centred_gaussian(np.array([7.0]), np.array([0.015625]), Bits()).tolist()
    [7]
    """
    nearest = np.rint(centres)
    drawn = np.empty(len(centres), dtype=np.int64)
    powers = np.ceil(np.log2(_WIDER * variances)).astype(np.int64)
    waiting = np.arange(len(centres))
    while len(waiting):
        proposed = np.empty(len(waiting), dtype=np.int64)
        for power in np.unique(powers[waiting]).tolist():
            alike = np.flatnonzero(powers[waiting] == power)
            proposed[alike] = discrete_gaussian(Fraction(2) ** power, len(alike), bits=bits)
        offsets, wide = nearest[waiting] - centres[waiting], np.ldexp(1.0, powers[waiting])
        stands = _stands(proposed, offsets, variances[waiting], wide, bits)
        kept = waiting[stands]
        drawn[kept] = nearest[kept].astype(np.int64) + proposed[stands]
        waiting = waiting[~stands]
    return drawn


def _stands(
    proposed: NDArray[np.int64],
    offsets: NDArray[np.float64],
    variances: NDArray[np.float64],
    wide: NDArray[np.float64],
    bits: Bits,
) -> NDArray[np.bool_]:
    owed = (proposed + offsets) ** 2 / (2 * variances) - proposed**2 / (2 * wide) + 1 / (8 * (wide - variances))

    def exact(position: int) -> Chance:
        y, f = int(proposed[position]), Fraction(float(offsets[position]))
        variance, wider = Fraction(float(variances[position])), Fraction(float(wide[position]))
        exponent = (y + f) ** 2 / (2 * variance) - Fraction(y * y) / (2 * wider) + 1 / (8 * (wider - variance))
        return lambda working: enclosure.exp(-exponent, working)

    unsure = _CLOSE * (1 + np.abs(owed))
    return sure_coins(np.exp(-owed - unsure), np.exp(-owed + unsure), exact, bits)
