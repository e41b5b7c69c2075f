"""What an event says about a promise: it happens in a share of at least p of cases here and at most q there.

- epsilon is at least ln((p - delta) / q), because P <= exp(epsilon) P' + delta for every event.
- rho is at least D_a(p, q) / a for every order a >= 1, D_a the Rényi divergence of two coins: telling an event from the
  rest makes no divergence larger, and it grows with p and falls with q where p > q.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from louver.privacy import Approximate, Subspace, ZeroConcentrated
from louver.privacy.guarantee import Guarantee

Floats: TypeAlias = "NDArray[np.float64]"
ORDERS = np.array([1.2, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 32.0])
_TINY = 1e-300


def least_epsilon(often: Floats, rarely: Floats, delta: float = 0.0) -> Floats:
    """
    >>> least_epsilon(np.array([0.6]), np.array([0.2]), 0.1).round(4)
    array([0.9163])
    """
    return np.maximum(np.log(np.maximum(often - delta, _TINY) / np.maximum(rarely, _TINY)), 0.0)


def least_rho(often: Floats, rarely: Floats) -> Floats:
    """
    >>> least_rho(np.array([0.6, 0.2]), np.array([0.2, 0.2])).round(4)
    array([0.3819, 0.    ])
    """
    p, q = np.clip(often, _TINY, 1 - 1e-15), np.clip(rarely, _TINY, 1 - 1e-15)
    inside, outside = np.log(p) - np.log(q), np.log1p(-p) - np.log1p(-q)
    plain = p * inside + (1 - p) * outside
    orders = ORDERS[:, np.newaxis]
    powers = np.logaddexp(np.log(q) + orders * inside, np.log1p(-q) + orders * outside)
    best = np.maximum(plain, (powers / (orders - 1) / orders).max(axis=0))
    return np.where(often > rarely, best, 0.0)


def least_loss(often: Floats, rarely: Floats, promise: Guarantee) -> Floats:
    """In the promise's own number."""
    if isinstance(promise, ZeroConcentrated):
        return least_rho(often, rarely)
    return least_epsilon(often, rarely, delta_of(promise))


def stated(promise: Guarantee) -> float:
    """The number of a promise: rho, or the epsilon that goes with its delta."""
    return float(promise.rho if isinstance(promise, ZeroConcentrated) else promise.epsilon)


def delta_of(promise: Guarantee) -> float:
    return float(promise.delta) if isinstance(promise, Approximate | Subspace) else 0.0
