"""Rounds of reporting as one map: what they cost, how much they scatter, and how soon they follow a change."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from louver.errors import ParameterError
from louver.privacy import Pure
from louver.space.cut import Cut
from louver.space.decomposition import Decomposition
from louver.space.field import Field, scale
from louver.space.metrics import jaccard
from louver.space.recipient import heatmap
from louver.space.released import Map
from louver.space.rounds import combined
from louver.space.uniform import Uniform
from tests.space.fields import SQUARE, bump, seeded

SIDE = 40


def constant(count: int, average: int) -> Field:
    counts = np.full((SIDE, SIDE), count)
    return Field(counts, counts * average, SQUARE, scale(0, 100, 1))


def released(field: Field, seed: int) -> Map:
    return Uniform(Fraction(1, 4), readings=10**9, centred=True).release(field, bits=seeded(seed))


def test_rounds_cost_what_they_cost_together() -> None:
    assert combined([released(constant(5, 50), seed) for seed in range(3)]).price == Pure(Fraction(3, 4))


def test_a_map_of_rounds_knows_them_and_keeps_them() -> None:
    """Each round has a price of its own, and counts are those of one round."""
    four = [released(constant(500, 50), seed) for seed in range(4)]
    once = combined(four)
    assert once.rounds == (Pure(Fraction(1, 4)),) * 4
    assert Map.from_dict(json.loads(json.dumps(once.to_dict()))).rounds == once.rounds
    assert once.counted == "readings of one of 4 rounds"
    assert once.paid == "epsilon 0.25 in one round, epsilon 1 for somebody who is in all of the 4 rounds"
    assert once.counts.mean() == pytest.approx(500, abs=1)
    later = combined([combined(four[:2]), combined(four[2:])])
    assert (later.rounds, later.price) == (once.rounds, once.price)
    assert (four[0].rounds, four[0].counted, four[0].paid) == ((), "readings", "epsilon 0.25")


def test_a_round_counts_once() -> None:
    one, other = (released(constant(5, 50), seed) for seed in range(2))
    for again in ([one, other, Map.from_dict(one.to_dict())], [Map.from_dict(combined([one, other]).to_dict()), one]):
        with pytest.raises(ParameterError, match="one of these is there twice"):
            combined(again)


def test_counts_alone_stay_alone_when_they_drift() -> None:
    field = Field(np.full((SIDE, SIDE), 50), np.full((SIDE, SIDE), 50), SQUARE, scale(0, 1, 1))
    structure = Uniform(Fraction(1, 4), readings=10**9, count_share=1)
    rounds = [structure.release(field, bits=seeded(seed)) for seed in range(3)]
    assert combined(rounds, count_drift=5).alone
    with pytest.raises(ParameterError, match="no sums that drift"):
        combined(rounds, sum_drift=5)


def test_maps_of_different_columns_are_no_rounds() -> None:
    one, other = (released(constant(5, 50), seed) for seed in range(2))
    with pytest.raises(ParameterError, match="map 2 differs from the first; build each round of the same columns"):
        combined([replace(one, about={"value": "pm25"}), replace(other, about={"value": "noise"})])


def test_a_map_of_cells_within_cells_is_named() -> None:
    with pytest.raises(ParameterError, match="map 1 has cells within cells"):
        combined([Cut(1).release(bump(20_000), bits=seeded(1))])


def test_without_drift_rounds_are_averaged() -> None:
    rounds = [released(constant(5, 50), seed) for seed in range(9)]
    whole = combined(rounds)
    assert np.allclose(whole.noisy.counts, np.mean([each.noisy.counts for each in rounds], axis=0))
    assert np.allclose(whole.noisy.sum_variances, rounds[0].noisy.sum_variances / 9)


def test_estimates_scatter_as_much_as_they_say() -> None:
    """1,600 cells that wander by 3 from round to round. The variance of 1,600 squares is within 6 sqrt(5/1600)."""
    draw = np.random.default_rng(1)
    counts = np.full((SIDE, SIDE), 1000)
    rounds = []
    for seed in range(12):
        counts = counts + np.rint(draw.normal(0, 3, counts.shape)).astype(np.int64)
        rounds.append(released(Field(counts, counts * 50, SQUARE, scale(0, 100, 1)), seed))
    last = combined(rounds, count_drift=3)
    errors = (last.counts - counts.ravel()) / np.sqrt(last.noisy.count_variances)
    assert abs(errors.var() - 1) < 6 * np.sqrt(5 / SIDE**2)
    assert last.noisy.count_variances[0] < rounds[-1].noisy.count_variances[0] / 1.5
    still = combined(rounds)
    assert ((still.counts - counts.ravel()) ** 2).mean() > 1.3 * ((last.counts - counts.ravel()) ** 2).mean()


def test_accuracy_rises_with_rounds() -> None:
    """Jaccard's index after one round of a tenth of epsilon, and after ten."""
    field = bump(20_000, atoms=128)
    rounds = [Cut(Fraction(1, 10), readings=50_000).release(field, bits=seeded(seed)) for seed in range(10)]
    exact = Uniform(1000, readings=10**9, centred=True).release(field, bits=seeded(99))
    truth = heatmap(exact, 80, 32, sure=0)
    one, ten = (jaccard(truth, heatmap(each, 80, 32)) for each in (rounds[0], combined(rounds)))
    assert ten > one + 0.1


def test_one_round_is_itself() -> None:
    only = released(constant(5, 50), 1)
    assert combined([only]).to_dict() == only.to_dict()


@pytest.mark.parametrize(
    "rounds",
    [
        [],
        [None],
        [released(constant(5, 50), 1), Cut(1, readings=5000).release(constant(5, 50), bits=seeded(1))],
        [Decomposition(1).release(bump(20_000), bits=seeded(1))],
    ],
    ids=["none", "no map", "another grid", "a tree"],
)
def test_rounds_that_do_not_fit_are_refused(rounds: list[Any]) -> None:
    with pytest.raises(ParameterError, match=r"^Rounds are combined.*\.$"):
        combined(rounds)


@pytest.mark.parametrize("bad", [-1, float("nan"), "x"])
def test_bad_drifts_are_refused(bad: Any) -> None:
    with pytest.raises(ParameterError, match="drift"):
        combined([released(constant(5, 50), 1)], count_drift=bad)
