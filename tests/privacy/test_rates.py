from __future__ import annotations

from fractions import Fraction

import pytest

from louver.privacy.rates import cases


@pytest.mark.parametrize(
    ("rate", "shown"),
    [
        (Fraction(1, 20), "1 of 20 cases"),
        (Fraction(1, 3), "1 of 3 cases"),
        (Fraction(314159265, 10**10), "3.2% of cases"),
        (Fraction(213, 500), "42.6% of cases"),
        (Fraction(3, 20), "3 of 20 cases"),
        (Fraction(314159265, 10**12), "1 of 3,183 cases"),
        (Fraction(1, 10**12), "1 of 1,000,000,000,000 cases"),
    ],
)
def test_a_rate_is_never_said_to_be_smaller_than_it_is(rate: Fraction, shown: str) -> None:
    assert cases(rate) == shown
    over, under = (
        shown.removesuffix(" cases").replace(",", "").split(" of ")[:2] if "%" not in shown else (shown, "100")
    )
    assert Fraction(over.partition("%")[0]) / Fraction(under) >= rate
