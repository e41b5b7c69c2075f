"""The most that anybody can be sure of, whatever is known besides: what differential privacy promises in odds.

Ghayyur's thesis, section 4.4.2, with one correction: the thesis multiplies the odds by exp(epsilon) although a full
histogram is released. Somebody who moves changes two of its counts, so with noise of rate epsilon in each the odds may
grow by exp(2 epsilon). Only whoever sees one place's count alone is held to exp(epsilon).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from louver import parameters
from louver.attack.shapes import probabilities

Floats = NDArray[np.float64]


def worst_posterior(prior: ArrayLike, epsilon: parameters.Number, *, changed: int = 2) -> Floats:
    """1 / (1 + exp(-changed epsilon) (1 - p) / p), from the prior to 1.

    `epsilon` is the rate of the noise in each count, and `changed` the number of counts that one person's move changes:
    1 where one place is seen, 2 for all places.

    >>> [worst_posterior(0.05, 1, changed=counts).round(3).tolist() for counts in (1, 2)]
    [0.125, 0.28]
    """
    shares = probabilities("The prior", prior)
    rate = float(parameters.within("epsilon", epsilon, 0, 10**9))
    kept = np.exp(-parameters.integer("changed", changed, 1, 2**20) * rate)
    bound = shares / np.maximum(shares + kept * (1 - shares), np.finfo(float).tiny)
    return np.asarray(np.clip(bound, shares, 1.0))
