"""What the tests of continual sums share: one of each kind, bits that can be repeated, and how errors are compared.

A standard deviation is compared by its square over `REGIONS` streams. Its spread is that of the squares, and `ALLOWED`
of those are allowed. For the skewest law here, one Laplace draw, a true law fails with probability under 2e-9: the
normal tail, 2.6e-12, times exp(skewness ALLOWED^3 / (3 sqrt(REGIONS))), about 200, for estimating that spread.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from louver.noise.bits import Bits
from louver.stream.buffered import Buffered
from louver.stream.continual import ContinualSum
from louver.stream.kary import KAry
from louver.stream.toeplitz import Toeplitz
from louver.stream.tree import Tree

ALLOWED = 7.0
REGIONS = 20_000
QUIET = 10**9  # a price at which there is next to no noise

Make = Callable[..., ContinualSum]


def signed(*given: Any, **named: Any) -> KAry:
    return KAry(*given, signed=True, adaptive=False, **named)


def pure(make: Make) -> Make:
    return lambda *given, price, **named: make(*given, epsilon=price, **named)


def gaussian(make: Make) -> Make:
    return lambda *given, price, **named: make(*given, rho=price, **named)


KINDS: dict[str, Make] = {
    "tree": pure(Tree),
    "kary": pure(KAry),
    "binary": pure(lambda *given, **named: KAry(*given, arity=2, **named)),
    "signed": pure(signed),
    "signed 3": pure(lambda *given, **named: signed(*given, arity=3, **named)),
    "gaussian tree": gaussian(Tree),
    "gaussian signed": gaussian(signed),
    "toeplitz": gaussian(Toeplitz),
    "buffered": gaussian(Buffered),
}


def seeded(seed: int) -> Bits:
    return Bits._from(random.Random(seed).randbytes)


def through_json(mechanism: ContinualSum, bits: Bits) -> ContinualSum:
    """The mechanism after a restart."""
    return type(mechanism).from_dict(json.loads(json.dumps(mechanism.to_dict())), bits=bits)


def assert_spread(errors: NDArray[Any], deviation: float) -> None:
    """That independent errors with mean 0 have this standard deviation."""
    squares = np.asarray(errors, dtype=np.float64).ravel() ** 2
    off = abs(squares.mean() - deviation**2) / (squares.std() / np.sqrt(len(squares)))
    assert off < ALLOWED, f"the errors are {off:.1f} deviations from {deviation:.4g}"


def without_noise(_parameter: object, count: int, *, bits: object) -> NDArray[np.int64]:  # noqa: ARG001
    return np.zeros(count, dtype=np.int64)
