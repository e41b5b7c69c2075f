"""What callers pass by mistake, and the check that it is answered with one sentence."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from louver.errors import LouverError


class Thing:
    """Anything at all; its name is the same in every process that runs the tests."""

    def __repr__(self) -> str:
        return "Thing()"


NOT_NUMBERS: list[object] = [
    None,
    "1",
    "",
    b"1",
    True,
    False,
    np.True_,
    [],
    [1],
    (1, 2),
    {},
    1j,
    Thing(),
    np.array([1.0]),
    np.array(1.0),
    math.nan,
    math.inf,
    -math.inf,
    np.float64("nan"),
    Decimal("NaN"),
    Decimal("sNaN"),
    Decimal("Infinity"),
    Fraction(1, 3**3000),
    10**3000,
]

NOT_POSITIVE: list[object] = [*NOT_NUMBERS, 0, -1, 0.0, -0.0, -1e-300, Fraction(-1, 3), Decimal(-1), Decimal(0)]

NOT_COUNTS: list[object] = [*NOT_NUMBERS, -1, 1.0, 0.5, Fraction(3), Decimal(3), np.float64(3), 2**32 + 1, 10**400]

anything = st.one_of(
    st.none(),
    st.booleans(),
    st.text(max_size=5),
    st.binary(max_size=5),
    st.complex_numbers(),
    st.floats(),
    st.decimals(),
    st.integers(),
    st.fractions(),
    st.lists(st.integers(), max_size=3),
    st.sampled_from(NOT_COUNTS),
)


def assert_made_or_refused(attempt: Callable[[], object]) -> None:
    """Any error but a LouverError comes through and fails the test."""
    said = "."
    try:
        attempt()
    except LouverError as refusal:
        said = str(refusal)
    assert said.endswith(".")
    assert len(said) < 1000
