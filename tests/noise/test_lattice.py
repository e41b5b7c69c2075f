"""Each comparison with a law has the false-alarm probability `laws.FALSE_ALARM`, 1e-9; this file makes under 60."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from louver.errors import LouverError
from louver.noise import fixed_sum, fixed_sums, gaussian_fixed_sum
from louver.noise.bits import SYSTEM
from louver.noise.enclosure import Enclosure, exp
from louver.noise.lattice import (
    LARGEST_CELLS,
    LARGEST_SIZE,
    LARGEST_TOTAL,
    _centre_and_spread,
    _completed,
    _compositions,
    _distinct,
    _falling,
    _from_zigzag,
    _rising,
    _zigzag_law,
)
from tests.misuse import NOT_COUNTS, NOT_POSITIVE, anything
from tests.noise import laws
from tests.noise.laws import FALSE_ALARM, Law, assert_follows, assert_rejects, same_law

DRAWS = 200_000
Vector = tuple[int, ...]


def enumerated(size: int, total: int, weight: Callable[[int], float], reach: int) -> Law:
    """The law of all vectors with this sum and entries within reach, one by one."""
    table: dict[Vector, float] = {}
    for free in itertools.product(range(-reach, reach + 1), repeat=size - 1):
        vector = (*free, total - sum(free))
        table[vector] = math.prod(map(weight, vector))
    whole = math.fsum(table.values())
    return lambda vector: table.get(vector, 0.0) / whole


@functools.cache
def of_rate(size: int, rate: float, total: int) -> Law:
    # A vector with an entry out of reach has a weight below exp(-40), and there are some thousand next to the edge.
    return enumerated(size, total, lambda entry: math.exp(-rate * abs(entry)), math.ceil(20 / rate) + abs(total))


def first_cell(size: int, rate: float, total: int, reach: int = 4000) -> Law:
    """The law of one cell of a long vector: its own weight times that of the others' making up the sum."""
    weights = np.exp(-rate * np.abs(np.arange(-reach, reach + 1)))
    others = np.fft.rfft(np.fft.ifftshift(weights)) ** (size - 1)
    rest = np.fft.fftshift(np.fft.irfft(others, len(weights)))
    cell = {x: weights[reach + x] * rest[reach + total - x] for x in range(-reach // 2, reach // 2)}
    whole = sum(cell.values())
    return lambda x: float(cell.get(x, 0.0) / whole)


@functools.cache
def removed_law(size: int, rate: Fraction, total: int, centre: int, working: int = 320) -> dict[int, Enclosure]:
    """P(T), T the total of the negative parts, as the sampler's table holds it."""
    cumulative = [Enclosure.of(0, working), *_zigzag_law(size, rate, total, centre)(working)]
    removed = _from_zigzag(np.arange(len(cumulative) - 1), centre).tolist()
    return {t: after - before for t, (before, after) in zip(removed, itertools.pairwise(cumulative), strict=True)}


def implemented(size: int, rate: Fraction, vector: Vector, working: int = 320) -> Enclosure:
    """P(v) as the sampler composes it: over T, the share of pairs of compositions whose difference is v."""
    total = sum(vector)
    negative = sum(-entry for entry in vector if entry < 0)
    law = removed_law(size, rate, total, _centre_and_spread(size, rate, total)[0], working)
    chance = Enclosure.of(0, working)
    for t, probability in law.items():
        if t >= negative:
            pairs = math.comb(t - negative + size - 1, size - 1)
            chance = chance + probability * Fraction(
                pairs, math.comb(size + t + total - 1, t + total) * math.comb(size + t - 1, t)
            )
    return chance


@pytest.mark.parametrize(
    ("size", "rate", "variance", "at_zero"),
    [(3, Fraction(1), 0.66123, 0.47937), (4, Fraction(6, 5), 0.55501, 0.39750)],
)
def test_variance_and_probability_of_no_noise_are_those_of_the_notes(
    size: int, rate: Fraction, variance: float, at_zero: float
) -> None:
    """A cell of a uniform composition of T into n parts has variance T (n-1)(T+n) / (n^2 (n+1))."""
    law = removed_law(size, rate, 0, _centre_and_spread(size, rate, 0)[0])
    of_t = {t: Fraction(2 * t * (size - 1) * (t + size), size**2 * (size + 1)) for t in law}
    true_variance = sum((law[t] * of_t[t] for t in law), start=Enclosure.of(0, 320))
    true_at_zero = implemented(size, rate, (0,) * size)
    for enclosed, expected in ((true_variance, variance), (true_at_zero, at_zero)):
        assert enclosed.upper - enclosed.lower < Fraction(1, 2**200)
        assert round(float(enclosed.lower), 5) == expected
    draws = fixed_sum(size, rate, DRAWS)
    # Six standard deviations each, kurtosis of a cell below 8: false-alarm probability 4e-9.
    assert abs((draws[:, 0] ** 2).mean() - variance) < 6 * variance * (8 / DRAWS) ** 0.5
    assert abs((draws == 0).all(axis=1).mean() - at_zero) < 6 * (at_zero / DRAWS) ** 0.5


@pytest.mark.parametrize(
    ("size", "rate", "total"),
    [(2, Fraction(1, 2), 0), (3, Fraction(1), 0), (3, Fraction(1, 3), 2), (3, Fraction(1), -2), (4, Fraction(6, 5), 3)],
)
def test_whole_vectors_follow_the_exact_law_and_not_one_10_percent_off(size: int, rate: Fraction, total: int) -> None:
    draws = fixed_sum(size, rate, DRAWS, total=total)
    assert_follows(draws, of_rate(size, float(rate), total))
    assert_rejects(draws, of_rate(size, float(rate) * 1.1, total))
    assert_rejects(draws, of_rate(size, float(rate) * 0.9, total))


@pytest.mark.parametrize("total", [0, 3, 40, -7])
def test_completed_vectors_follow_the_same_law(total: int) -> None:
    """The path for noise too wide for a table, here where both can be used."""
    rate = Fraction(1, 2) if abs(total) < 10 else Fraction(1, 20)
    completed, by_table = _completed(3, rate, DRAWS, total, SYSTEM), fixed_sum(3, rate, DRAWS, total=total)
    assert (completed.sum(axis=1) == total).all()
    if abs(total) < 10:
        assert_follows(completed, of_rate(3, float(rate), total))
        assert_rejects(completed, of_rate(3, float(rate) * 1.1, total))
        assert_rejects(completed, of_rate(3, float(rate) * 0.9, total))
    for cell in range(3):
        assert same_law(completed[:, cell], by_table[:, cell]) >= FALSE_ALARM


@pytest.mark.parametrize(
    ("size", "rate", "total"), [(50, Fraction(1, 2), 0), (7, Fraction(1, 10), 100), (200, Fraction(2), 3)]
)
def test_each_cell_of_long_vectors_follows_the_exact_law(size: int, rate: Fraction, total: int) -> None:
    count = 50_000
    draws = fixed_sum(size, rate, count, total=total)
    assert (draws.sum(axis=1) == total).all()
    for cell in (0, size // 2, size - 1):
        assert_follows(draws[:, cell], first_cell(size, float(rate), total))
    every = np.concatenate([draws[:, cell] for cell in (0, size - 1)])
    assert_rejects(every, first_cell(size, float(rate) * 1.1, total))
    assert_rejects(every, first_cell(size, float(rate) * 0.9, total))


@pytest.mark.parametrize("rate", [Fraction(1, 5000), Fraction(1, 2**20), Fraction(1, 2**48)])
def test_wide_noise_on_two_cells_is_discrete_laplace_of_twice_the_rate(rate: Fraction) -> None:
    draws = fixed_sum(2, rate, DRAWS)
    assert (draws.sum(axis=1) == 0).all()
    width = int(1 / rate) // 40
    cells = draws[:, 0] // width
    assert_follows(cells, laws.in_cells(laws.laplace_reaches(2 * float(rate)), width))
    assert_rejects(cells, laws.in_cells(laws.laplace_reaches(2.2 * float(rate)), width))
    assert_rejects(cells, laws.in_cells(laws.laplace_reaches(1.8 * float(rate)), width))


@pytest.mark.parametrize(("size", "rate", "total"), [(2, Fraction(1), 1), (3, Fraction(2, 3), 0), (4, Fraction(1), 2)])
def test_table_and_compositions_multiply_to_the_target_law(size: int, rate: Fraction, total: int) -> None:
    """The identity behind the sampler, to 200 binary places: P(v) / P(v') = exp(-rate (|v| - |v'|))."""
    working = 320
    base: Vector = (total, *(0,) * (size - 1))
    reference = implemented(size, rate, base)
    for free in itertools.product(range(-2, 3), repeat=size - 1):
        vector = (*free, total - sum(free))
        further = sum(map(abs, vector)) - total
        difference = implemented(size, rate, vector) - reference * exp(-rate * further, working)
        assert difference.low <= 0 <= difference.high
        assert difference.upper - difference.lower < Fraction(1, 2**200)


def test_neighbouring_tables_are_told_apart_by_at_most_the_rate_times_their_distance() -> None:
    """Exact losses of all released tables near two histograms of one total; moving one record costs 2 * rate."""
    rate, histogram = Fraction(3, 4), (2, 0, 1)
    law = {
        (x, y, -x - y): float(implemented(3, rate, (x, y, -x - y)).lower)
        for x, y in itertools.product(range(-6, 7), repeat=2)
    }
    for other in ((1, 1, 1), (2, 1, 0), (0, 2, 1), (1, 0, 2)):
        distance = sum(abs(a - b) for a, b in zip(histogram, other, strict=True))
        losses = []
        for released in itertools.product(range(-3, 5), repeat=2):
            table = (*released, 3 - sum(released))
            here = law[tuple(a - b for a, b in zip(table, histogram, strict=True))]  # type: ignore[index]
            there = law[tuple(a - b for a, b in zip(table, other, strict=True))]  # type: ignore[index]
            losses.append(math.log(here / there))
        assert max(map(abs, losses)) <= float(rate) * distance + 1e-12
        assert max(losses) >= float(rate) * distance - 1e-12


@pytest.mark.parametrize(("size", "rate", "total"), [(3, Fraction(1, 4), 5), (40, Fraction(1), 0)])
def test_the_guessed_centre_steers_speed_and_not_the_law(size: int, rate: Fraction, total: int) -> None:
    guess = _centre_and_spread(size, rate, total)[0]
    first = removed_law(size, rate, total, guess)
    for centre in (0, guess + 25):
        other = removed_law(size, rate, total, centre)
        for t in range(60):
            difference = first[t] - other[t]
            assert difference.low <= 0 <= difference.high
            assert difference.upper - difference.lower < Fraction(1, 2**150)


@pytest.mark.parametrize(
    ("size", "rate", "total"), [(2, Fraction(1, 5), 0), (5, Fraction(1, 4), 9), (40, Fraction(1), 0)]
)
@pytest.mark.parametrize("working", [12, 20, 40])
def test_a_coarse_table_still_holds_the_true_law(size: int, rate: Fraction, total: int, working: int) -> None:
    """Where weights are cut off early, the bounds on the rest carry the difference."""
    for centre in (0, _centre_and_spread(size, rate, total)[0]):
        law = _zigzag_law(size, rate, total, centre)
        for coarse, fine in zip(law(working), law(400), strict=False):
            assert coarse.lower <= fine.lower
            assert fine.upper <= coarse.upper


@pytest.mark.parametrize(
    ("size", "rate", "total"), [(2, Fraction(1, 5), 0), (5, Fraction(1, 4), 9), (400, Fraction(1), 0)]
)
@pytest.mark.parametrize("working", [12, 20, 40])
def test_the_weights_left_out_are_within_their_bounds(size: int, rate: Fraction, total: int, working: int) -> None:
    centre = _centre_and_spread(size, rate, total)[0] + 2
    coarse, fine = exp(-2 * rate, working), exp(-2 * rate, 400)
    for side in (_rising, _falling):
        kept, rest = side(size, total, centre, coarse)
        everything, _ = side(size, total, centre, fine)
        assert sum(weight.upper for weight in everything[len(kept) :]) <= rest.upper
    assert len(_rising(size, total, centre, coarse)[0]) < len(_rising(size, total, centre, fine)[0])


@pytest.mark.parametrize("centre", [0, 1, 2, 7])
def test_the_order_of_the_table_names_each_total_once(centre: int) -> None:
    totals = _from_zigzag(np.arange(50), centre).tolist()
    assert totals[0] == centre
    assert sorted(totals) == list(range(50))


@pytest.mark.parametrize(("total", "parts"), [(0, 3), (1, 2), (4, 3), (2, 6), (5, 6), (5, 5), (4, 4), (1, 9)])
def test_compositions_are_uniform(total: int, parts: int) -> None:
    """Both branches: bars are placed where there are fewer of them than stars, stars otherwise."""
    draws = _compositions(np.full(60_000, total), parts, SYSTEM)
    assert (draws >= 0).all()
    assert (draws.sum(axis=1) == total).all()
    if total:
        assert_follows(draws, lambda _: 1 / math.comb(total + parts - 1, total))


def test_compositions_of_different_totals_do_not_mix() -> None:
    totals = np.tile([0, 7, 1, 3, 2], 20_000)
    draws = _compositions(totals, 4, SYSTEM)
    assert (draws.sum(axis=1) == totals).all()
    for total in (7, 1, 3, 2):
        ways = math.comb(total + 3, 3)
        assert_follows(draws[totals == total], lambda _, ways=ways: 1 / ways)  # type: ignore[misc]


def test_chosen_places_are_uniform_sets_in_order() -> None:
    places, chosen = np.tile([5, 7, 4, 6], 40_000), np.tile([2, 3, 4, 0], 40_000)
    picked = _distinct(places, chosen, SYSTEM)
    assert (np.diff(picked, axis=1) > 0).all()
    assert (picked[2::4] == np.arange(4)).all()
    assert_follows(picked[0::4, :2], lambda _: 1 / math.comb(5, 2))
    assert_follows(picked[1::4, :3], lambda _: 1 / math.comb(7, 3))
    real = np.arange(4) < chosen[:, None]
    assert (picked[real] < np.broadcast_to(places[:, None], real.shape)[real]).all()
    assert (picked[~real] >= 7).all()


def test_groups_keep_their_totals_and_their_places() -> None:
    sizes, totals = [3, 1, 5, 2, 3, 1, 2], [10, -7, 0, 4, -10, 2, 4]
    for _ in range(50):
        vector = fixed_sums(sizes, Fraction(1, 2), totals=totals)
        groups = np.split(vector, np.cumsum(sizes)[:-1])
        assert [int(group.sum()) for group in groups] == totals


def test_groups_without_totals_sum_to_0() -> None:
    vector = fixed_sums(np.array([4, 3, 4]), 0.1)  # type: ignore[arg-type]
    assert [int(group.sum()) for group in np.split(vector, [4, 7])] == [0, 0, 0]


def test_groups_are_independent_and_each_follows_its_law() -> None:
    """Three groups of two cells, of one kind and of two: each pair of first cells has the product law."""
    count, rate = 40_000, Fraction(1, 2)
    draws = fixed_sums([2, 2, 2] * count, rate, totals=[0, 0, 3] * count).reshape(count, 6)
    level, raised = of_rate(2, float(rate), 0), of_rate(2, float(rate), 3)

    def joint(left: Law, right: Law, second_total: int) -> Law:
        return lambda pair: left((pair[0], -pair[0])) * right((pair[1], second_total - pair[1]))

    assert_follows(draws[:, [0, 2]], joint(level, level, 0))
    assert_follows(draws[:, [0, 4]], joint(level, raised, 3))
    assert_rejects(draws[:, [0, 4]], joint(level, level, 0))
    # The test for dependence has power: a cell and its own partner fail it.
    assert_rejects(draws[:, [0, 1]], joint(level, level, 0))


def test_many_groups_of_many_kinds_take_no_more_time_than_few() -> None:
    sizes = np.full(3000, 2)
    totals = np.arange(3000) % 30
    vector = fixed_sums(sizes, 3, totals=totals)  # type: ignore[arg-type]
    assert (vector.reshape(-1, 2).sum(axis=1) == totals).all()


def test_no_groups_are_no_cells() -> None:
    assert fixed_sums([], 1).shape == (0,)
    with pytest.raises(LouverError):
        fixed_sums([], -1)


@pytest.mark.parametrize("variance", [Fraction(1, 3), Fraction(13, 10), Fraction(6)])
def test_gaussian_vectors_follow_the_exact_law_and_not_one_10_percent_off(variance: Fraction) -> None:
    def law(v: float) -> Law:
        return enumerated(3, 0, lambda entry: math.exp(-entry * entry / (2 * v)), 20)

    draws = gaussian_fixed_sum(3, variance, DRAWS)
    assert (draws.sum(axis=1) == 0).all()
    assert_follows(draws, law(float(variance)))
    assert_rejects(draws, law(float(variance) * 1.1))
    assert_rejects(draws, law(float(variance) * 0.9))


@pytest.mark.parametrize("variance", [Fraction(10**6), Fraction(2**47)])
def test_wide_gaussian_noise_on_two_cells_is_gaussian_of_half_the_variance(variance: Fraction) -> None:
    width = round(math.sqrt(variance) / 20)
    cells = gaussian_fixed_sum(2, variance, DRAWS)[:, 1] // width
    assert_follows(cells, laws.in_cells(laws.gaussian_reaches(float(variance) / 2), width))
    assert_rejects(cells, laws.in_cells(laws.gaussian_reaches(float(variance) * 0.55), width))
    assert_rejects(cells, laws.in_cells(laws.gaussian_reaches(float(variance) * 0.45), width))


@pytest.mark.parametrize("total", [0, 5, -5, LARGEST_TOTAL])
def test_one_cell_is_the_total_itself(total: int) -> None:
    assert fixed_sum(1, 1, 3, total=total).tolist() == [[total]] * 3
    assert gaussian_fixed_sum(1, 1, 2).tolist() == [[0], [0]]


@pytest.mark.parametrize(
    ("size", "rate", "total"),
    [
        (2, Fraction(1, 10), 0),
        (2, Fraction(1, 3), -1),
        (1000, Fraction(1, 30), 10**6),
        (3, Fraction(1, 2**48), 2**30),
        (2, Fraction(1, 100), LARGEST_TOTAL),
        (2, 2000, LARGEST_TOTAL),
        (2000, 1e-9, 0),
        (2**16, 1, 0),
        (2**16, 30, -LARGEST_TOTAL),
    ],
)
def test_extreme_but_honest_shapes_come_to_an_end(size: int, rate: float, total: int) -> None:
    vectors = fixed_sum(size, rate, 2, total=total)
    assert vectors.shape == (2, size)
    assert (vectors.sum(axis=1) == total).all()


@pytest.mark.parametrize("rate", [Fraction(1, 2**14), Fraction(1, 2**20), Fraction(1, 2**30)])
def test_a_total_too_far_away_for_the_width_of_the_noise_is_refused_at_once(rate: Fraction) -> None:
    with pytest.raises(LouverError, match=r"^The total is too far"):
        fixed_sum(2**12, rate, total=LARGEST_TOTAL)


def test_as_many_vectors_as_asked_for() -> None:
    for count in (0, 1, 5):
        assert fixed_sum(3, 1, count).shape == (count, 3)
        assert fixed_sum(3, Fraction(1, 10**6), count).shape == (count, 3)
        assert gaussian_fixed_sum(3, 1, count).shape == (count, 3)


@pytest.mark.parametrize("bad", [*NOT_COUNTS, 0, LARGEST_SIZE + 1])
def test_what_is_no_number_of_cells_is_refused(bad: object) -> None:
    for sampler in (fixed_sum, gaussian_fixed_sum):
        with pytest.raises(LouverError, match=r"^The number of cells .*\.$"):
            sampler(bad, 1)  # type: ignore[arg-type]
    with pytest.raises(LouverError, match=r"^Each group's size .*\.$"):
        fixed_sums([2, bad], 1)  # type: ignore[list-item]


@pytest.mark.parametrize("bad", NOT_COUNTS)
def test_what_is_no_number_of_draws_is_refused(bad: object) -> None:
    for sampler in (fixed_sum, gaussian_fixed_sum):
        with pytest.raises(LouverError, match=r"^The number of draws .*\.$"):
            sampler(2, 1, bad)  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [*NOT_POSITIVE, 5000, Fraction(1, 2**49)])
def test_what_is_no_rate_is_refused(bad: object) -> None:
    for size in (1, 2):
        with pytest.raises(LouverError, match=r"^The rate .*\.$"):
            fixed_sum(size, bad)  # type: ignore[arg-type]
    with pytest.raises(LouverError, match=r"^The rate .*\.$"):
        fixed_sums([2], bad)  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [*NOT_POSITIVE, 2**48, Fraction(1, 2**11)])
def test_what_is_no_variance_is_refused(bad: object) -> None:
    for size in (1, 2):
        with pytest.raises(LouverError, match=r"^The variance .*\.$"):
            gaussian_fixed_sum(size, bad)  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [None, "1", 1.0, True, math.nan, 2**41, -(2**41), Fraction(2), [1]])
def test_what_is_no_total_is_refused(bad: object) -> None:
    for size in (1, 2):
        with pytest.raises(LouverError, match=r"^The total .*\.$"):
            fixed_sum(size, 1, total=bad)  # type: ignore[arg-type]
    with pytest.raises(LouverError, match=r"^Each group's total .*\.$"):
        fixed_sums([2], 1, totals=[bad])  # type: ignore[list-item]


@pytest.mark.parametrize("bad", [5, 1.5, object()])
def test_what_is_no_list_of_groups_is_refused(bad: object) -> None:
    with pytest.raises(LouverError, match="lists"):
        fixed_sums(bad, 1)  # type: ignore[arg-type]
    with pytest.raises(LouverError, match="lists"):
        fixed_sums([2], 1, totals=bad)  # type: ignore[arg-type]


@pytest.mark.parametrize("totals", [[], [0], [0, 0, 0]])
def test_totals_that_do_not_match_the_groups_are_refused(totals: list[int]) -> None:
    with pytest.raises(LouverError, match="one total for each group"):
        fixed_sums([2, 3], 1, totals=totals)


def test_more_cells_than_memory_are_refused_before_they_are_drawn() -> None:
    with pytest.raises(LouverError, match="fewer vectors"):
        fixed_sum(LARGEST_SIZE, 1, LARGEST_CELLS // LARGEST_SIZE + 1)
    with pytest.raises(LouverError, match="fewer vectors"):
        gaussian_fixed_sum(LARGEST_SIZE, 1, LARGEST_CELLS // LARGEST_SIZE + 1)
    with pytest.raises(LouverError, match="All groups together"):
        fixed_sums([LARGEST_SIZE] * (LARGEST_CELLS // LARGEST_SIZE + 1), 1)


@settings(max_examples=200)
@given(st.integers(-1, 6) | anything, anything, st.integers(-1, 3) | anything, st.integers(-9, 9) | anything)
def test_whatever_is_passed_gives_vectors_or_a_sentence(
    size: object, rate: object, count: object, total: object
) -> None:
    try:
        draws = fixed_sum(size, rate, count, total=total)  # type: ignore[arg-type]
    except LouverError as refusal:
        assert str(refusal).endswith(".")
    else:
        assert draws.shape == (count, size)
        assert (draws.sum(axis=1) == total).all()
