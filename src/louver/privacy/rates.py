"""Rates of error as a reader says them, never smaller than they are."""

from __future__ import annotations

from fractions import Fraction

SMALL, MOST_DIGITS = 20, 9


def cases(rate: Fraction) -> str:
    """A rate in words, rounded up where it is neither one of so many nor a fraction of small numbers.

    >>> cases(Fraction(1, 20)), cases(Fraction(2, 3)), cases(Fraction(123, 1000)), cases(Fraction(3, 1000))
    ('1 of 20 cases', '2 of 3 cases', '12.3% of cases', '1 of 333 cases')
    """
    if rate.numerator != 1 and rate.denominator > SMALL:
        if rate >= Fraction(1, 100):
            return f"{percent(rate)} of cases"
        rate = Fraction(1, (1 / rate).__floor__())
    return f"{rate.numerator:,} of {rate.denominator:,} cases"


def percent(rate: Fraction) -> str:
    """In percent, rounded up, with as many digits as it takes to stay below all of it.

    >>> percent(Fraction(1, 3)), percent(Fraction(99_999, 100_000)), percent(Fraction(1))
    ('33.4%', '99.999%', '100%')
    """
    for digits in range(1, MOST_DIGITS + 1):
        parts = (rate * 100 * 10**digits).__ceil__()
        if parts < 100 * 10**digits:
            return f"{parts // 10**digits}.{parts % 10**digits:0{digits}}%"
    return "100%"
