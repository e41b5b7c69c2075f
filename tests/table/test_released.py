from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from louver.table import Released


@pytest.mark.parametrize("kind", [np.int64, object])
def test_equal_values_are_written_alike_whatever_they_were_made_of(kind: type) -> None:
    """Else the way they are written would tell more than the values do."""
    below: NDArray[Any] = np.array([2, 3], dtype=kind)
    first = Released.of(np.array([5, 7]), np.array([-3, 4], dtype=kind), below, 1)
    second = Released.of(np.array([2, 9]), np.array([3, -2], dtype=kind), below, 1)
    assert first.exact() == second.exact() == [Fraction(7, 2), Fraction(25, 3)]
    assert first.whole.tolist() == second.whole.tolist()
    assert first.numerators.tolist() == second.numerators.tolist()


def test_floats_are_the_nearest() -> None:
    release = Released.of(np.array([5]), np.array([1]), np.array([3]), 2)
    assert release.floats().tolist() == [pytest.approx(8 / 3)]
