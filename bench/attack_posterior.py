"""What posteriors come to, beside the published figures, and how long a day of them takes.

The day is that of Ghayyur's thesis: 64 regions, 144 ticks of ten minutes; here with 300 people in each. Times are also
given as ratios to a floor of the same run: NumPy's logarithm of as many numbers as there are pairs of a release and a
possible count.

Run: script/bench attack_posterior
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from bench.clock import seconds
from louver.attack import (
    ContinuousLaplace,
    DiscreteLaplace,
    expected_posterior,
    individual_posterior,
    joint_posterior,
    joint_posterior_of_unknown,
    learn_law,
    sampled_posterior,
    single_posterior,
    worst_posterior,
)

Floats = NDArray[np.float64]
REGIONS, TICKS, PEOPLE, PAST_DAYS = 64, 144, 300, 88


def examples() -> None:
    """The worked example of three places and eleven people, and the bounds at a prior of 0.05."""
    released, prior, people, law = [3.2, 7.9, 0.4], [0.2, 0.7, 0.1], 11, ContinuousLaplace(1)
    print(f"{'three places, 11 people, epsilon 1':44} {'published':>26} {'here':>26}")
    for name, published, found in (
        ("one place at a time", [0.250481, 0.716999, 0.060829], single_posterior(released, prior, people, law)),
        ("all places together", [0.247970, 0.706733, 0.045297], joint_posterior(released, prior, people, law)),
    ):
        print(f"{name:44} {_listed(published):>26} {_listed(found):>26}")
    for epsilon, published in ((1, [0.125, 0.280]), (5, [0.887, 0.999])):
        bounds = [float(worst_posterior(0.05, epsilon, changed=changed)) for changed in (1, 2)]
        name = f"worst case, epsilon {epsilon}: one count, all counts"
        print(f"{name:44} {_listed(published, 3):>26} {_listed(bounds, 3):>26}")
    weak = ContinuousLaplace(1e-12)
    found_weak = float(single_posterior([3], [0.02], 60, weak)[0])
    print(f"{'no information, prior 0.02, 60 people':44} {'0.0285 (sum from 1)':>26} {found_weak:>26.4f}")
    print()


def averages(runs: int = 2000) -> None:
    """Eq. 4.5 by summing and by drawing."""
    counts, prior, people = np.array([3, 1, 7]), [0.2, 0.7, 0.1], 11
    print(f"{'on average over the noise, counts 3, 1, 7':44} {'summed':>26} {f'{runs:,} drawn':>26} standard error")
    for rate in (0.1, 1, 5):
        law = DiscreteLaplace(rate)
        drawn = sampled_posterior(counts, prior, people, law, runs=runs)
        summed = expected_posterior(counts, prior, people, law)
        error = _listed(drawn.standard_error, 4)
        print(f"{f'epsilon {rate}':44} {_listed(summed):>26} {_listed(drawn.average):>26} {error}")
    print()


def learned(released: Floats, prior: Floats, dice: np.random.Generator, runs: int = 5) -> None:
    """How far posteriors from a learned law are from the exact ones, for more and more examples of each count."""
    exact = single_posterior(released[:20], prior[:20], PEOPLE, DiscreteLaplace(1))
    print(f"{'learned law, mean distance from the exact':44} {'bandwidth 0.1':>26} {'n^(-1/5)':>26}")
    for number in (30, 300, 3000):
        counts = np.repeat(np.arange(PEOPLE + 1), number)
        shown = []
        for bandwidth in (0.1, None):
            distances = []
            for _ in range(runs):
                law = learn_law(counts, counts + _noise(dice, counts.shape), bandwidth=bandwidth)
                found = single_posterior(released[:20], prior[:20], PEOPLE, law)
                distances.append(float(np.abs(found - exact).mean()))
            error = np.std(distances, ddof=1) / np.sqrt(runs)
            shown.append(f"{np.mean(distances):.5f} +- {error:.5f}")
        print(f"{f'{number:,} examples of each count':44} {shown[0]:>26} {shown[1]:>26}")
    print()


def times(counts: NDArray[np.int64], released: Floats, prior: Floats, dice: np.random.Generator) -> None:
    law = DiscreteLaplace(1)
    numbers = np.full(REGIONS * TICKS * (PEOPLE + 1), 0.3)
    floor = seconds(lambda: np.log(numbers), 3)
    past = dice.integers(0, PEOPLE + 1, PAST_DAYS * TICKS * REGIONS)
    seen = past + _noise(dice, past.shape)
    trained = learn_law(past, seen, bandwidth=0.1)
    own = np.broadcast_to(prior[:4], (PEOPLE, 4, REGIONS))
    many = np.ones(PEOPLE + 101)
    work: list[tuple[str, str, str, Callable[[], object], int]] = [
        ("worst-case bound", "0.6", "", lambda: worst_posterior(prior, 1), 3),
        ("one place, known law", "5.4", "0.5", lambda: single_posterior(released, prior, PEOPLE, law), 3),
        ("learning a law from 88 days", "6.9", "", lambda: learn_law(past, seen, bandwidth=0.1), 3),
        ("one place, learned law", "7.3", "1", lambda: single_posterior(released, prior, PEOPLE, trained), 3),
        ("all places, known law", "infeasible", "7", lambda: joint_posterior(released, prior, PEOPLE, law), 2),
        ("all places, learned law", "infeasible", "7", lambda: joint_posterior(released, prior, PEOPLE, trained), 1),
        ("average over the noise, by summing", "", "", lambda: expected_posterior(counts, prior, PEOPLE, law), 1),
        ("4 ticks, each person's own prior", "", "", lambda: individual_posterior(released[:4], own, law), 1),
        ("4 ticks, up to 400 people, unknown", "", "", lambda: _unknown(released, prior, many, law), 1),
    ]
    print(f"one day of {REGIONS} regions, {TICKS} ticks and {PEOPLE} people; floor {floor * 1000:.0f} ms")
    print(f"{'':44} {'thesis, s':>10} {'wanted, s':>10} {'here, s':>9} {'times the floor':>16}")
    for name, thesis, wanted, run, repeats in work:
        taken = seconds(run, repeats)
        print(f"{name:44} {thesis:>10} {wanted:>10} {taken:>9.3f} {taken / floor:>16.1f}")


def _unknown(released: Floats, prior: Floats, many: Floats, law: DiscreteLaplace) -> Floats:
    return joint_posterior_of_unknown(released[:4], prior[:4], many, law)


def _noise(dice: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.int64]:
    """Discrete Laplace of rate 1 from a seeded generator: it protects nobody."""
    chance = 1 - np.exp(-1)
    return dice.geometric(chance, shape) - dice.geometric(chance, shape)


def _listed(numbers: list[float] | Floats, digits: int = 6) -> str:
    return " ".join(f"{number:.{digits}f}" for number in numbers)


def main(seed: int = 1) -> None:
    dice = np.random.default_rng(seed)
    prior = dice.dirichlet(np.full(REGIONS, 0.5), TICKS)
    counts = np.stack([dice.multinomial(PEOPLE, row) for row in prior])
    released = (counts + _noise(dice, counts.shape)).astype(np.float64)
    examples()
    averages()
    learned(released, prior, dice)
    times(counts, released, prior, dice)


if __name__ == "__main__":
    main()
