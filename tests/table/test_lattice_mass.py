from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from louver.noise import enclosure
from louver.noise.enclosure import Enclosure
from louver.table.lattice_mass import by_terms, by_waves, mass

CENTRES = (0.0, 0.5, 0.25, -3.2, 0.4999999, 1000.7)


def test_the_mass_around_a_centre_is_enclosed() -> None:
    for centre, variance in ((0.0, 0.25), (0.5, 1.0), (-3.2, 9.0)):
        enclosed = mass(centre, variance, 128)
        near = np.arange(-80, 81)
        assert enclosed.high - enclosed.low < 2**40
        assert float(enclosed.lower) == pytest.approx(np.exp(-((near - centre) ** 2) / (2 * variance)).sum(), rel=1e-13)


@pytest.mark.parametrize("working", [64, 200, 500])
@pytest.mark.parametrize("variance", [1.0, 1.7, 12.0])
def test_terms_and_waves_enclose_the_same_number(variance: float, working: int) -> None:
    for centre in CENTRES:
        one, other = (way(Fraction(centre), Fraction(variance), working) for way in (by_terms, by_waves))
        assert max(one.low, other.low) <= min(one.high, other.high)
        assert max(each.high - each.low for each in (one, other)) < 2**13


def test_a_wide_mass_takes_few_terms(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Fraction] = []
    true = enclosure.exp

    def counted(exponent: Fraction, bits: int) -> Enclosure:
        asked.append(exponent)
        return true(exponent, bits)

    monkeypatch.setattr(enclosure, "exp", counted)
    for variance in (1.0, 10_000.0):
        asked.clear()
        found = mass(0.3, variance, 128)
        assert len(asked) <= 6
        assert float(found.lower) == pytest.approx(math.sqrt(2 * math.pi * variance), rel=1e-8)
