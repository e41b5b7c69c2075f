"""What goes wrong when levels are picked by what was released, and what the published rules really miss.

Figures from simulation are compared within 6 standard errors of it, which a true figure leaves with probability 2e-9.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.privacy.calibrate.continuous import Choices, Floats, early_scale, scale_with_acceptance, worst_failure
from tests.privacy.calibrate.mide import missed_by_dppwlm, relaxed

STANDARD_ERRORS = 6
RATE = 0.05


@pytest.mark.parametrize(("steps", "first", "noted"), [(2, 1e-5, 0.0704), (4, 1e-5, 0.0635), (4, 0.05, 0.0577)])
def test_the_published_adaptive_algorithm_breaks_its_promise(steps: int, first: float, noted: float) -> None:
    """An inner level of the last interval and then the last level spend steps + 1 of `steps` shares."""
    dice = np.random.default_rng(11)
    runs = [missed_by_dppwlm(200, RATE, first, steps, 3, dice) for _ in range(300)]
    error = float(np.std(runs)) / math.sqrt(len(runs))
    # The least of the true rates, .058, is more than 8 standard errors above the promise.
    assert np.mean(runs) > RATE + 3 * error
    assert np.mean(runs) == pytest.approx(noted, abs=0.004 + STANDARD_ERRORS * error)


def repaired_shares(steps: int, fine_steps: int, first: float) -> tuple[float, Choices[tuple[int, bool]]]:
    """MIDE's levels, all m shares spent at most once: an inner level of the last interval is the end."""
    last = math.log(steps / (2 * RATE))
    plan = np.geomspace(first, last, steps).tolist()

    def choices(state: tuple[int, bool]) -> list[tuple[float, float, tuple[int, bool]]]:
        place, ended = state
        return (
            []
            if ended
            else [
                (
                    plan[r - 1] + (plan[r] - plan[r - 1]) * fine / fine_steps,
                    math.log(steps / (2 * RATE * (r - place))),
                    (r, r == steps - 1),
                )
                for r in range(place + 1, steps)
                for fine in range(1, fine_steps + 1)
            ]
        )

    return last, choices


@pytest.mark.parametrize(
    ("steps", "fine_steps", "first", "noted"),
    [(4, 3, 1e-5, 0.0502), (2, 3, 1.0, 0.0585), (4, 3, 0.3, 0.0730), (4, 6, 0.3, 0.0797)],
)
def test_with_shares_repaired_the_worst_rule_still_breaks_the_promise(
    steps: int, fine_steps: int, first: float, noted: float
) -> None:
    last, choices = repaired_shares(steps, fine_steps, first)
    assert worst_failure(first, last, (0, False), choices) == pytest.approx(noted, abs=1e-4)


@pytest.mark.parametrize(
    ("steps", "exact", "noted"),
    [
        (2, (2.970, 2.969, 2.956), (2.974, 2.971, 2.952)),
        (4, (3.650, 3.605, 3.473), (3.646, 3.605, 3.470)),
        (8, (4.332, 4.113, 3.787), (4.334, 4.111, 3.780)),
    ],
)
def test_joint_calibration_with_acceptance_saves_little(
    steps: int, exact: tuple[float, ...], noted: tuple[float, ...]
) -> None:
    union = math.log(steps / (2 * RATE))
    thesis, wide, narrow = (
        np.geomspace(1e-5, union, steps),
        np.geomspace(1 / 16, 1, steps),
        np.geomspace(1 / 4, 1, steps),
    )
    found = [scale_with_acceptance(levels.tolist(), RATE) for levels in (thesis, wide, narrow)]
    assert found == pytest.approx(exact, abs=1e-3)
    # The notes were simulated with an error of a few thousandths.
    assert found == pytest.approx(noted, abs=8e-3)


def test_uneven_shares_save_more() -> None:
    even, half = math.log(4 / (2 * RATE)), math.log(1 / RATE)
    assert half / even - 1 == pytest.approx(-0.188, abs=5e-4)


def mean_price(levels: Floats, scaled: Floats, accept_from: float, reach: float, dice: np.random.Generator) -> float:
    """The mean level at which a key stops, from noisy to clear; counts are uniform within reach of the threshold."""
    counts = dice.uniform(-reach, reach, 200_000)
    noise = [dice.laplace(size=len(counts)) / levels[-1]]
    for level, clearer in zip(levels[-2::-1], levels[:0:-1], strict=True):
        moves = dice.random(len(counts)) >= (level / clearer) ** 2
        noise.append(noise[-1] + moves * dice.laplace(size=len(counts)) / level)
    prices = np.full(len(counts), levels[-1])
    for level, k, x in list(zip(levels, scaled, noise[::-1], strict=True))[-2::-1]:
        stops = (counts + x < -k / level) | (counts + x > accept_from + k / level)
        prices[stops] = level
    return float(prices.mean())


@pytest.mark.parametrize(
    ("reach", "published", "grid"), [(100, 0.191, 0.139), (400, 0.0752, 0.0572), (2000, 0.0219, 0.0171)]
)
def test_the_grid_costs_a_quarter_less_than_the_published_schedule(reach: float, published: float, grid: float) -> None:
    alpha, last, half = 10, math.log(4 / (2 * RATE)), math.log(1 / RATE)
    assert (last / alpha, half / alpha) == pytest.approx((0.3689, 0.2996), abs=5e-5)
    dice = np.random.default_rng(5)
    thesis = mean_price(np.geomspace(last / 64, last, 4) / alpha, np.full(4, last), 0, reach, dice)
    levels = np.geomspace(half / 64, half, 7) / alpha
    # The standard error is below .001 of the largest price here; 6 of them are 1.5% of the smallest mean.
    assert thesis == pytest.approx(published, rel=0.015)
    noted_scale = 4.76
    assert mean_price(levels, np.array([noted_scale] * 6 + [half]), -2 * alpha, reach, dice) == pytest.approx(
        grid, rel=0.02
    )
    exact_scale = early_scale(levels.tolist(), half, RATE)
    assert mean_price(levels, np.array([exact_scale] * 6 + [half]), -2 * alpha, reach, dice) < grid


def test_relaxed_noise_has_the_clearer_law_and_stays_as_often_as_it_should() -> None:
    dice = np.random.default_rng(2)
    noise = dice.laplace(size=400_000) / 0.2
    clearer = relaxed(noise, 0.2, 0.8, dice)
    same = float((noise == clearer).mean())
    assert same == pytest.approx(1 / 16, abs=STANDARD_ERRORS * math.sqrt(1 / 16 / 400_000))
    for threshold in (-3.0, -0.5, 0.5, 3.0):
        tail = math.exp(-0.8 * abs(threshold)) / 2
        expected = tail if threshold < 0 else 1 - tail
        assert float((clearer < threshold).mean()) == pytest.approx(
            expected, abs=STANDARD_ERRORS * 0.5 / math.sqrt(400_000)
        )
