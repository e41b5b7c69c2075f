"""Picking one of several candidates privately, by its loss: permute-and-flip, with exact coins.

Each candidate comes up heads with probability exp(-rate (loss - least loss)), independently, and one of those with
heads is picked, each as likely as any other; the best one always has heads. That is the permute-and-flip mechanism
(McKenna and Sheldon 2020) with its coins tossed all at once, and it is never worse than the exponential mechanism of
the same price.

Why `pick` is private. Permute-and-flip has the law of the least of loss - E over the candidates, E independent and
exponential of this rate (Ding, Kifer and others 2021). Fix the E of all but one candidate: it wins if its own E passes
a limit. Between neighbours the limit moves by at most d if all losses move the same way, each by at most d, and by at
most 2d if each moves by at most d either way; and an exponential passes a limit that is d higher with a probability at
most exp(rate d) times smaller. So a pick costs rate * d where losses move together, and twice that where they do not.

Losses are whole numbers, so that a coin is one comparison with a geometric draw, and its probability is the stated one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.errors import ParameterError
from louver.noise import geometric
from louver.noise.bits import SYSTEM, Bits

LARGEST_LOSS = 2**60


def pick(losses: NDArray[np.int64], rate: parameters.Number, *, bits: Bits = SYSTEM) -> int:
    """The index of one candidate, more likely the smaller its loss.

    >>> pick(np.array([300, 0, 200]), 1)
    1
    """
    whole = parameters.integers("The losses", losses)
    if not len(whole):
        raise ParameterError("There must be a candidate to pick.")
    whole = np.clip(whole, -LARGEST_LOSS, LARGEST_LOSS)
    heads = np.flatnonzero(geometric(rate, len(whole), bits=bits) >= whole - whole.min())
    return int(heads[bits.below(np.array([len(heads)]))[0]])
