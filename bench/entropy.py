"""How long the min-entropy of many prices takes, beside a plain sort of the same prices, and how tight it is.

Run: script/bench entropy
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bench.clock import seconds
from louver.privacy.entropy import min_entropy, published_min_entropy

Floats = NDArray[np.float64]


def levels(keys: int, distinct: int) -> Floats:
    return np.random.default_rng(distinct).choice(np.geomspace(0.05, 3, distinct), keys)


def all_distinct(keys: int, most: float) -> Floats:
    return np.random.default_rng(keys).uniform(0, most, keys)


def weights(keys: int) -> Floats:
    return np.random.default_rng(1).dirichlet(np.ones(keys))


def report(name: str, prices: Floats, prior: Floats | None = None) -> None:
    found = min_entropy(prices, prior)
    taken, floor = seconds(lambda: min_entropy(prices, prior), 3), seconds(lambda: np.sort(prices), 3)
    gap = f"{found.value - found.lower:.1e}"
    print(
        f"{name:46} {prices.size:>9,} {taken * 1000:>9.1f} ms {floor * 1000:>8.2f} ms {taken / floor:>7.0f}"
        f" {'yes' if found.exact else 'no':>6} {gap:>8} {found.nodes:>7,} {found.value:>10.6f} {found.normalised:>7.4f}"
    )


def compare(name: str, prices: list[float], prior: list[float] | None = None) -> None:
    results = [
        min_entropy(prices, prior).value,
        *(published_min_entropy(prices, prior, keep=keep) for keep in ("lower", "higher")),
        published_min_entropy(prices, prior, keep="lower", decimals=3),
    ]
    print(f"{name:46} " + " ".join(f"{result:>20.6f}" for result in results))


def misses(cases: int, keys: int) -> tuple[int, float]:
    """How often, and by how much at most, the corrected recursion misses the minimum under a random prior."""
    dice = np.random.default_rng(2)
    excess = []
    for _ in range(cases):
        prices, prior = dice.uniform(0, 1, keys), dice.dirichlet(np.ones(keys))
        excess.append(published_min_entropy(prices, prior, keep="lower") - min_entropy(prices, prior).value)
    return sum(each > 1e-9 for each in excess), max(excess)


def main() -> None:
    print(
        f"{'prices':46} {'keys':>9} {'time':>12} {'sort':>11} {'times':>7} {'exact':>6} {'gap':>8} {'nodes':>7}"
        f" {'nats':>10} {'of ln k':>7}"
    )
    report("4 levels", levels(100_000, 4))
    report("31 levels", levels(100_000, 31))
    for keys in (1_000, 100_000, 1_000_000):
        report("all distinct, up to 3", all_distinct(keys, 3.0))
    for keys in (300, 1_000_000):
        report("all distinct, up to 0.1", all_distinct(keys, 0.1))
    report(
        "4 levels, 4 weights",
        levels(100_000, 4),
        np.random.default_rng(3).choice(np.array([1.0, 2.0, 3.0, 5.0]), 100_000),
    )
    for keys in (1_000, 100_000):
        report("all distinct, up to 3, distinct weights", all_distinct(keys, 3.0), weights(keys))
    print()
    print(f"{'prices':46} {'minimum':>20} {'recursion, lower':>20} {'as printed':>20} {'lower, 3 decimals':>20}")
    compare("0.1, 0.5, 1", [0.1, 0.5, 1.0])
    compare("0.2, 0.4, 1", [0.2, 0.4, 1.0])
    compare("476 times ln 10", [float(np.log(10))] * 476)
    compare("0, 0.7, 1.2 with weights 5, 3, 1", [0.0, 0.7, 1.2], [5.0, 3.0, 1.0])
    missed, most = misses(1000, 8)
    print(
        f"recursion, lower, under 1000 random priors on 8 keys: misses the minimum {missed} times, by up to {most:.3f}"
    )


if __name__ == "__main__":
    main()
