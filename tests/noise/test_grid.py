from __future__ import annotations

import dataclasses
import itertools
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from louver.errors import LouverError
from louver.noise import Grid
from tests.misuse import NOT_NUMBERS, NOT_POSITIVE, anything

HALF = Fraction(1, 2)
EXTREMES = [
    math.nan,
    -math.nan,
    math.inf,
    -math.inf,
    1.7976931348623157e308,
    -1.7976931348623157e308,
    5e-324,
    -5e-324,
    2.2250738585072014e-308,
    0.0,
    -0.0,
    2.0**53 + 2,
    -(2.0**63),
]
GRIDS = [
    Grid(0, 100, 0.5),
    Grid(-3, 7, 1),
    Grid(Fraction(-1, 3), Fraction(22, 7), Fraction(1, 8)),
    Grid(10, 20, 4),
    Grid(-20, -10, 4),
    Grid(0, Fraction(1, 2**500), Fraction(1, 2**512)),
    Grid(-(2**550), 2**560, 2**512),
    Grid(-(2**52), 2**52, 1),
    Grid(0, 0, 1),
]


def rounded(exact: Fraction) -> int:
    """floor(x + 1/2) in rationals."""
    return math.floor(exact + HALF)


def expected(grid: Grid, value: float) -> int:
    if math.isnan(value):
        return 0
    if math.isinf(value):
        return grid.highest if value > 0 else grid.lowest
    return rounded(min(max(Fraction(value), grid.low), grid.high) / grid.step)


@st.composite
def grids(draw: st.DrawFn) -> Grid:
    step = Fraction(2) ** draw(st.integers(-60, 60))
    ends = st.fractions(min_value=-(2**40), max_value=2**40, max_denominator=1000)
    low, high = sorted((draw(ends), draw(ends)))
    return Grid(low * step, high * step, step)


@pytest.mark.parametrize(
    ("value", "steps"),
    [
        (0.5, 1),
        (1.5, 2),
        (2.5, 3),
        (-0.5, 0),
        (-1.5, -1),
        (-2.5, -2),
        (0.49999999999999994, 0),
        (-0.49999999999999994, 0),
        (-0.5000000000000001, -1),
        (0.5000000000000001, 1),
        (4503599627370494.5, 4503599627370495),
        (-4503599627370494.5, -4503599627370494),
        (2251799813685247.75, 2251799813685248),
        (-0.0, 0),
        (-5e-324, 0),
        (5e-324, 0),
    ],
)
def test_halves_always_round_up(value: float, steps: int) -> None:
    assert Grid(-(2**52), 2**52, 1).quantise([value]).tolist() == [steps]
    assert Grid(-(2**52), 2**52, 1).quantise(value) == steps


@pytest.mark.parametrize("step", [Fraction(1, 2**512), Fraction(1, 1024), Fraction(2**30), Fraction(2**512)])
def test_halves_round_up_at_every_step(step: Fraction) -> None:
    grid = Grid(-100 * step, 100 * step, step)
    values = [float(step * halves / 2) for halves in range(-9, 10)]
    assert grid.quantise(values).tolist() == [rounded(Fraction(halves, 2)) for halves in range(-9, 10)]


def test_a_step_between_neighbours_moves_the_rounding_by_one_and_half_even_would_move_it_by_two() -> None:
    """Why not numpy's own rounding: one unit of change in a sum must stay one step."""
    grid = Grid(-10, 10, 1)
    halves = np.arange(-9, 9) + 0.5
    assert set(np.diff(grid.quantise(halves)).tolist()) == {1}
    assert set(np.diff(np.round(halves)).tolist()) == {0.0, 2.0}


@settings(max_examples=300)
@given(grids(), st.lists(st.floats() | st.sampled_from(EXTREMES), max_size=8))
def test_each_value_is_clamped_and_rounded_as_in_rationals(grid: Grid, values: list[float]) -> None:
    assert grid.quantise(values).tolist() == [expected(grid, value) for value in values]


@settings(max_examples=300)
@given(grids(), st.integers(-(2**41), 2**41), st.sampled_from([-1, 0, 1]))
def test_values_next_to_a_half_round_as_in_rationals(grid: Grid, halves: int, beside: int) -> None:
    value = float(grid.step * halves / 2)
    value = math.nextafter(value, beside * math.inf) if beside else value
    assert int(grid.quantise(value)) == expected(grid, value)


@pytest.mark.parametrize("grid", GRIDS)
def test_private_values_never_raise_and_never_warn(grid: Grid) -> None:
    """Warnings are errors in this suite; a caller may have asked numpy to raise as well."""
    with np.errstate(all="raise"):
        steps = grid.quantise(EXTREMES)
    assert steps.tolist() == [expected(grid, value) for value in EXTREMES]
    assert steps.dtype == np.int64


@pytest.mark.parametrize(
    ("values", "steps"),
    [
        ([10**400, -(10**400)], [100, -100]),
        ([Fraction(10) ** 400, Fraction(7, 2)], [100, 4]),
        ([Decimal("1e999"), Decimal("-0.5"), Decimal("NaN")], [100, 0, 0]),
        ([None, 3, "x", "7", object(), 1j], [0, 3, 0, 7, 0, 0]),
        (np.array([1 + 2j, 3]), [0, 0]),
        (["5", ""], [5, 0]),
        ([True, False], [1, 0]),
        (np.array([300, 7], dtype=np.uint16), [100, 7]),
        (np.array([2**64 - 1], dtype=np.uint64), [100]),
        (np.array([1.5, 70000.0], dtype=np.float32), [2, 100]),
        (np.array([np.finfo(np.longdouble).max]), [100]),
        (np.array([1, None, math.inf], dtype=object), [1, 0, 100]),
        ([], []),
    ],
)
def test_values_of_any_kind_become_steps(values: object, steps: list[int]) -> None:
    assert Grid(-100, 100, 1).quantise(values).tolist() == steps  # type: ignore[arg-type]


@given(st.lists(anything, max_size=4))
def test_whatever_the_values_are_none_raises(values: list[object]) -> None:
    flat = [value for value in values if not isinstance(value, list | tuple | dict | np.ndarray)]
    grid = Grid(-5, 9, 0.25)
    steps = grid.quantise(flat)  # type: ignore[arg-type]
    assert steps.shape == (len(flat),)
    assert (np.abs(steps) <= grid.sensitivity).all()


def test_rows_of_different_length_are_refused() -> None:
    with pytest.raises(LouverError, match="one array"):
        Grid(0, 1, 1).quantise([[1], [1, 2]])


def test_shapes_are_kept() -> None:
    grid = Grid(0, 1, 0.5)
    assert grid.quantise(np.zeros((2, 3))).shape == (2, 3)
    assert grid.quantise([[None, 1], [2, 3]]).shape == (2, 2)  # type: ignore[arg-type]
    assert grid.quantise(0.7).shape == ()


@pytest.mark.parametrize("grid", GRIDS)
def test_adding_or_removing_one_value_moves_a_sum_by_at_most_the_sensitivity(grid: Grid) -> None:
    """All small sets of awkward values, and each set with one value less; the bound is met."""
    ends = [float(grid.low), float(grid.high)]
    awkward = [*EXTREMES, *ends, *(math.nextafter(end, side) for end in ends for side in (-math.inf, math.inf))]
    furthest = 0
    for size in (1, 2):
        for values in itertools.combinations_with_replacement(awkward, size):
            whole = int(grid.quantise(values).sum())
            for left_out in range(size):
                rest = int(grid.quantise(values[:left_out] + values[left_out + 1 :]).sum())
                furthest = max(furthest, abs(whole - rest))
    assert furthest == grid.sensitivity


@settings(max_examples=300)
@given(grids(), st.lists(st.floats() | st.sampled_from(EXTREMES), min_size=1, max_size=6), st.data())
def test_the_sensitivity_holds_on_any_grid_and_data(grid: Grid, values: list[float], data: st.DataObject) -> None:
    left_out = data.draw(st.integers(0, len(values) - 1))
    whole = sum(grid.quantise(values).tolist())
    rest = sum(grid.quantise(values[:left_out] + values[left_out + 1 :]).tolist())
    assert abs(whole - rest) <= grid.sensitivity


@pytest.mark.parametrize(
    ("low", "high", "step", "lowest", "highest"),
    [
        (0.3, 0.7, 0.5, 1, 1),
        (Fraction(-1, 3), Fraction(1, 3), HALF, -1, 1),
        (-0.25, 0.25, 0.5, 0, 1),
        (-10.5, 10.5, 1, -10, 11),
        (1, 1, 2, 1, 1),
        (0.1, 0.2, 1, 0, 0),
    ],
)
def test_bounds_off_the_grid_round_like_values(low: float, high: float, step: float, lowest: int, highest: int) -> None:
    grid = Grid(low, high, step)
    assert (grid.lowest, grid.highest) == (lowest, highest)
    assert grid.sensitivity == max(abs(lowest), abs(highest))
    assert grid.quantise([-math.inf, math.inf, float(low), float(high)]).tolist() == [lowest, highest, lowest, highest]


@settings(max_examples=200)
@given(grids(), st.integers(-(2**41), 2**41))
def test_steps_survive_the_round_trip(grid: Grid, steps: int) -> None:
    inside = min(max(steps, grid.lowest), grid.highest)
    assert grid.value(inside) == inside * grid.step
    assert grid.values(np.array([inside])).tolist() == [float(inside * grid.step)]
    # A bound off the grid may have been rounded outwards, where values are clamped back to the same step.
    assert grid.quantise(grid.values(np.array([inside]))).tolist() == [inside]


def test_a_sum_may_lie_far_outside_the_bounds_of_one_value() -> None:
    grid = Grid(0, 1, 0.25)
    assert grid.value(-(10**15)) == Fraction(-(10**15), 4)
    assert grid.values(np.array([2**53, -(2**53)])).tolist() == [2.0**51, -(2.0**51)]


def test_a_grid_is_a_value() -> None:
    assert Grid(0, 1, 0.5) == Grid(Fraction(0), 1.0, HALF)
    assert hash(Grid(0, 1, 0.5)) == hash(Grid(0, 1, HALF))
    assert Grid(0, 1, 0.5) != Grid(0, 1, 0.25)
    with pytest.raises(dataclasses.FrozenInstanceError):
        Grid(0, 1, 0.5).step = Fraction(1)  # type: ignore[misc]


@pytest.mark.parametrize(
    "bad", [*NOT_POSITIVE, 3, 0.3, 0.1, Fraction(2, 3), Fraction(3, 2), 2**513, Fraction(1, 2**513), 5e-324]
)
def test_what_is_no_power_of_two_is_no_step(bad: object) -> None:
    with pytest.raises(LouverError, match=r"^The step .*\.$"):
        Grid(0, 1, bad)  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", NOT_NUMBERS)
def test_what_is_no_number_is_no_bound(bad: object) -> None:
    with pytest.raises(LouverError, match=r"^The lower bound .*\.$"):
        Grid(bad, 1, 1)  # type: ignore[arg-type]
    with pytest.raises(LouverError, match=r"^The upper bound .*\.$"):
        Grid(0, bad, 1)  # type: ignore[arg-type]


def test_bounds_the_wrong_way_round_are_refused() -> None:
    with pytest.raises(LouverError, match="must not be above"):
        Grid(1, 0, 1)


@pytest.mark.parametrize(("low", "high"), [(0, 2**52 + 1), (-(2**52) - 1, 0), (0, 1e300)])
def test_bounds_of_too_many_steps_are_refused(low: float, high: float) -> None:
    with pytest.raises(LouverError, match="larger step"):
        Grid(low, high, 1)


@pytest.mark.parametrize("bad", [*NOT_NUMBERS, 1.0, 0.5, Fraction(3), 2**63, -(2**63) - 1])
def test_what_is_no_number_of_steps_has_no_value(bad: object) -> None:
    with pytest.raises(LouverError, match=r"^The number of steps .*\.$"):
        Grid(0, 1, 1).value(bad)  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [None, 1, ["x"], [0.5], [None], [[1]], [True], {}])
def test_what_are_no_steps_have_no_values(bad: object) -> None:
    with pytest.raises(LouverError, match=r"^The numbers of steps .*\.$"):
        Grid(0, 1, 1).values(bad)  # type: ignore[arg-type]


@given(anything, anything, anything)
def test_whatever_is_passed_gives_a_grid_or_a_sentence(low: object, high: object, step: object) -> None:
    try:
        grid = Grid(low, high, step)  # type: ignore[arg-type]
    except LouverError as refusal:
        assert str(refusal).endswith(".")
    else:
        assert grid.lowest <= grid.highest


def test_a_masked_value_is_0_steps_whatever_is_behind_the_mask() -> None:
    assert Grid(5, 10, 1).quantise(np.ma.array([7, 8.2], mask=[True, False])).tolist() == [0, 8]
