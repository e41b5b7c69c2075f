"""Readings on atoms: each reading is placed by itself, and one more or less changes one atom by a bounded amount."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from louver.errors import ParameterError
from louver.noise.grid import Grid
from louver.space import field as module
from louver.space.bounds import Bounds
from louver.space.field import MOST_ATOMS, Field, scale
from tests.space.fields import SQUARE, bump, readings

anywhere = st.floats(allow_nan=True, allow_infinity=True)
reading = st.tuples(st.one_of(st.floats(-5, 15), anywhere), st.one_of(st.floats(-5, 15), anywhere), anywhere)


def field_of(rows: list[tuple[float, float, float]], **named: Any) -> Field:
    x, y, value = (np.array([row[place] for row in rows], dtype=np.float64) for place in range(3))
    return Field.of(x, y, value, (0, 0, 10, 10), **{"low": -3, "high": 7, "atoms": 4, **named})


@given(st.lists(reading, max_size=5), reading, st.sampled_from(["drop", "clamp"]))
def test_one_reading_more_changes_one_atom_by_one_and_its_sum_by_at_most_the_span(
    rows: list[tuple[float, float, float]], more: tuple[float, float, float], outside: str
) -> None:
    before, after = field_of(rows, outside=outside), field_of([*rows, more], outside=outside)
    counts, sums = after.counts - before.counts, after.sums - before.sums
    assert counts.sum() in (0, 1)
    assert counts.min() == 0
    assert 0 <= sums.min() <= sums.max() <= before.span
    assert not sums[counts == 0].any()


def test_a_reading_lies_in_the_atom_around_it_and_counts_in_steps_above_the_lowest_value() -> None:
    field = field_of([(0.0, 0.0, -3.0), (10.0, 0.0, 7.0), (2.6, 9.9, 0.0)], step=0.5)
    assert field.counts.tolist() == [[1, 0, 0, 1], [0, 0, 0, 0], [0, 0, 0, 0], [0, 1, 0, 0]]
    assert field.sums[field.counts > 0].tolist() == [0, 20, 6]


def test_readings_outside_the_bounds_are_dropped_or_moved_to_the_edge() -> None:
    rows = [(-1.0, 5.0, 1.0), (5.0, 11.0, 1.0), (math.inf, -math.inf, 1.0)]
    assert field_of(rows).counts.sum() == 0
    assert np.argwhere(field_of(rows, outside="clamp").counts).tolist() == [[0, 3], [2, 0], [3, 2]]


def test_a_reading_without_a_position_or_a_value_is_left_out() -> None:
    nan = math.nan
    rows = [(nan, 5.0, 1.0), (5.0, nan, 1.0), (5.0, 5.0, nan)]
    assert field_of(rows).counts.sum() == field_of(rows, outside="clamp").counts.sum() == 0


def test_values_are_clamped_to_the_declared_range() -> None:
    field = field_of([(5.0, 5.0, 99.0), (0.0, 0.0, -math.inf)], step=1)
    assert field.sums[field.counts > 0].tolist() == [0, 10]


def test_no_readings_and_readings_at_one_point_make_a_field() -> None:
    assert field_of([]).counts.sum() == 0
    assert field_of([(3.0, 3.0, 1.0)] * 50).counts.max() == 50


def test_readings_binned_in_parts_are_the_same_field(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = bump(1000)
    monkeypatch.setattr(module, "_CHUNK", 64)
    parts = bump(1000)
    assert np.array_equal(whole.counts, parts.counts)
    assert np.array_equal(whole.sums, parts.sums)


def test_totals_of_rectangles_are_exact() -> None:
    field = bump(2000, atoms=16)
    draw = np.random.default_rng(2)
    corners = np.sort(draw.integers(0, 17, (200, 2, 2)), axis=1).reshape(200, 4)
    counts, sums = field.totals(corners)
    for (west, south, east, north), count, total in zip(corners.tolist(), counts, sums, strict=True):
        assert count == field.counts[south:north, west:east].sum()
        assert total == field.sums[south:north, west:east].sum()


def test_steps_by_default_are_about_a_thousand() -> None:
    for high in (Fraction(1, 10), 1, 100, 150, 10**6):
        values = scale(0, high)
        assert 1024 <= values.highest - values.lowest <= 2048


def test_a_field_shows_no_number_of_readings() -> None:
    assert repr(bump(777, atoms=2)) == "<a field of 2 x 2 atoms>"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"high": -3}, "above the lowest"),
        ({"high": "hot"}, "must be a number"),
        ({"high": math.nan}, "finite"),
        ({"step": 0.3}, "power of two"),
        ({"step": 2.0**-40}, "steps"),
        ({"step": 64}, "steps"),
        ({"atoms": 0}, "atoms"),
        ({"atoms": MOST_ATOMS + 1}, "atoms"),
        ({"outside": "keep"}, "'drop' or 'clamp'"),
    ],
)
def test_bad_parameters_are_refused_with_a_sentence(change: dict[str, Any], said: str) -> None:
    with pytest.raises(ParameterError, match=said) as refusal:
        field_of([(1.0, 1.0, 1.0)], **change)
    assert str(refusal.value).endswith(".")


@pytest.mark.parametrize("bad", [["a"], [None], [[1.0]], 1.0, [[1.0], [1.0, 2.0]], [1j]])
def test_columns_that_are_no_numbers_are_refused(bad: Any) -> None:
    with pytest.raises(ParameterError, match=r"one array of numbers.*\.$"):
        Field.of(bad, [1.0], [1.0], SQUARE, high=1)


def test_columns_of_different_lengths_are_refused() -> None:
    x, y, value = readings(5)
    with pytest.raises(ParameterError, match="same length"):
        Field.of(x, y[:4], value, SQUARE, high=1)


@pytest.mark.parametrize("bad", [np.zeros((2, 2)), np.zeros(4, dtype=int), np.zeros((0, 2), dtype=int), None])
def test_arrays_that_are_no_atoms_are_refused(bad: Any) -> None:
    good = np.zeros((2, 2), dtype=np.int64)
    for counts, sums in ((bad, good), (good, bad)):
        with pytest.raises(ParameterError, match="signed whole numbers"):
            Field(counts, sums, SQUARE, Grid(0, 1, 1))


def test_counts_and_sums_of_different_atoms_are_refused() -> None:
    with pytest.raises(ParameterError, match="one number for each atom"):
        Field(np.zeros((2, 2), dtype=int), np.zeros((2, 3), dtype=int), SQUARE, Grid(0, 1, 1))


@pytest.mark.parametrize("bad", [(0, 0, 0, 1), (0, 1, 1, 1), (1, 0, 0, 1), (0, 0, 1), "abcd", None, (0, 0, "x", 1)])
def test_bounds_that_are_no_rectangle_are_refused(bad: Any) -> None:
    with pytest.raises(ParameterError, match=r"\.$"):
        Bounds.of(bad)


@pytest.mark.parametrize("bad", [(-181, 0, 0, 1), (0, 0, 181, 1), (0, -91, 1, 0), (0, 0, 1, 91)])
def test_degrees_beyond_the_globe_are_refused(bad: tuple[float, ...]) -> None:
    with pytest.raises(ParameterError, match="degrees"):
        Bounds(*bad, degrees=True)


def test_a_degree_is_as_long_as_it_is_at_the_middle_latitude() -> None:
    """One degree of a great circle is 111.195 km; at 60 degrees north one of longitude is half of that."""
    box = Bounds(10, 59.5, 11, 60.5, degrees=True)
    assert box.height == pytest.approx(111_195, rel=1e-4)
    assert box.width == pytest.approx(111_195 / 2, rel=1e-4)
    east, north = box.metres(np.array([10.5]), np.array([60.5]))
    assert (east[0], north[0]) == pytest.approx((box.width / 2, box.height))
