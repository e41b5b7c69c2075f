"""One noisy look at each key, as printed: NLM and TSLM of the thesis (section 5.3.1), and the baseline of MiM."""

from __future__ import annotations

import numpy as np

from louver.decide.published.decision import Decision, Floats, margins
from louver.noise.bits import SYSTEM, Bits
from louver.noise.idealised import laplace
from louver.parameters import Number
from louver.privacy import mim_shift
from louver.privacy import tslm as calibrated


def nlm(counts: object, thresholds: object, *, beta: Number, alpha: Number, bits: Bits = SYSTEM) -> Decision:
    """Naive Laplace mechanism: x + Lap(1/ε) > c at TSLM's ε.

    It promises nothing within α of the threshold: a count just above it is missed every other time.
    """
    return _look(margins(counts, thresholds), calibrated(beta, alpha).epsilon, 0, bits)


def tslm(counts: object, thresholds: object, *, beta: Number, alpha: Number, bits: Bits = SYSTEM) -> Decision:
    """Threshold-shift Laplace mechanism (algorithm 1): x + Lap(1/ε) > c - α, ε = ln(1/(2β))/α.

    It keeps its promise, at a price that is not the least on whole counts (`louver.privacy.one_shot`).
    """
    test = calibrated(beta, alpha)
    return _look(margins(counts, thresholds), test.epsilon, test.shift, bits)


def mim_baseline(counts: object, thresholds: object, *, beta: Number, epsilon: Number, bits: Bits = SYSTEM) -> Decision:
    """MiM's algorithm 1: the same with ε given and the shift ln(1/(2β))/ε.

    Its text has the shift ln(1/β)/ε, which is needlessly wide; the algorithm and its proof are right.
    """
    return _look(margins(counts, thresholds), epsilon, mim_shift(beta, epsilon), bits)


def _look(above: Floats, epsilon: Number, shift: Number, bits: Bits) -> Decision:
    flagged = above + laplace(epsilon, len(above), bits=bits) > -float(shift)
    return Decision(flagged, np.full(len(above), float(epsilon)))
