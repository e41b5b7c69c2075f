"""How fast exact noise is, beside numpy's floating-point Laplace and two libraries, on one core in one run.

The floor is numpy's `Generator.laplace`, which is not private: its floats betray the value they are added to.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from bench.clock import seconds
from louver import noise

DRAWS = 4_000_000
KEYS = 1_000_000
RATES = [Fraction(5), Fraction(1), Fraction(1, 10), Fraction(1, 100), Fraction(1, 1000), Fraction(1, 100_000)]
LEVELS = [Fraction(3, 640) * 2**level for level in range(7)]


def main() -> None:
    floor = DRAWS / seconds(lambda: np.random.default_rng().laplace(size=DRAWS))
    print(f"{'what':58} {'million/s':>10} {'of numpy':>9}")
    report("numpy float Laplace (not private)", floor, floor)
    report("operating system, 8-byte words", DRAWS / seconds(lambda: os.urandom(8 * DRAWS)), floor)
    for rate in RATES:
        speed = DRAWS / seconds(lambda rate=rate: noise.discrete_laplace(rate, DRAWS))  # type: ignore[misc]
        report(f"louver discrete Laplace, rate {float(rate):g}", speed, floor)
    for name, count, draw in peers():
        report(name, count / seconds(draw, repeats=1), floor)
    report(f"louver gradual, {len(LEVELS)} levels, keys", KEYS / seconds(lambda: noise.levels(LEVELS, KEYS)), floor)
    first = noise.discrete_laplace(Fraction(1, 5), KEYS)
    step = KEYS / seconds(lambda: noise.clearer(first, Fraction(1, 5), Fraction(4, 5)))
    report("louver gradual, one step on demand, keys", step, floor)
    for variance in (100, 10**6):
        speed = KEYS / seconds(lambda variance=variance: noise.discrete_gaussian(variance, KEYS))  # type: ignore[misc]
        report(f"louver discrete Gaussian, variance {variance}", speed, floor)
    for size in (3, 64, 1024):
        vectors = KEYS // size
        speed = vectors * size / seconds(lambda s=size, v=vectors: noise.fixed_sum(s, 0.5, v), repeats=2)  # type: ignore[misc]
        report(f"louver fixed sum, {size} cells, rate 0.5, cells", speed, floor)


def report(name: str, per_second: float, floor: float) -> None:
    print(f"{name:58} {per_second / 1e6:10.2f} {per_second / floor:9.3f}")


def peers() -> list[tuple[str, int, Callable[[], object]]]:
    """Exact or hardened samplers of other libraries at rate 1, by the array where they can."""
    import opendp.prelude as dp
    from diffprivlib.mechanisms import Geometric, LaplaceTruncated

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    measurement = dp.m.make_laplace(*space, scale=1.0)
    zeros = [0] * 100_000
    geometric = Geometric(epsilon=1, sensitivity=1)
    truncated = LaplaceTruncated(epsilon=1, sensitivity=1, lower=-100, upper=100)
    return [
        ("OpenDP discrete Laplace", len(zeros), lambda: measurement(zeros)),
        ("diffprivlib Geometric", 20_000, lambda: [geometric.randomise(0) for _ in range(20_000)]),
        ("diffprivlib Laplace, truncated float", 20_000, lambda: [truncated.randomise(0.0) for _ in range(20_000)]),
    ]


if __name__ == "__main__":
    main()
