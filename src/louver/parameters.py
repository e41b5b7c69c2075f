"""Checks of what a caller passes in: each returns the exact value, or says in one sentence what to change.

Only public parameters come here. Private values are never checked by raising: an error would tell that they are there.
"""

from __future__ import annotations

import numbers
import operator
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from louver.errors import ParameterError

Number: TypeAlias = "int | float | Fraction | Decimal | np.integer | np.floating"

# A float has at most 1074 binary places, so this admits every float and stops fractions that only waste memory.
LARGEST_FRACTION_BITS = 4096
LARGEST_PRIVATE = 2**62
SMALLEST_ERROR_RATE = Fraction(1, 10**30)
LARGEST_COUNT = 2**28  # two GiB of integers; more is drawn in parts


def fraction(name: str, value: object) -> Fraction:
    """The exact rational behind a number; a float is taken for the binary fraction that it is."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real | Decimal):
        raise ParameterError(
            f"{name} must be a number (an int, a float, a Fraction or a Decimal), not {_shown(value)}."
        )
    too_fine = f"{name} needs more than {LARGEST_FRACTION_BITS} bits to write as a fraction; round it first."
    if isinstance(value, Decimal) and value.is_finite() and abs(value.adjusted()) > LARGEST_FRACTION_BITS:
        raise ParameterError(too_fine)
    try:
        exact = _exactly(value)
    except (ValueError, OverflowError):
        raise ParameterError(f"{name} must be a finite number, not {_shown(value)}.") from None
    if max(exact.numerator.bit_length(), exact.denominator.bit_length()) > LARGEST_FRACTION_BITS:
        raise ParameterError(too_fine)
    return exact


def _exactly(value: Any) -> Fraction:
    # NumPy's integers would overflow inside a Fraction, and its long floats would be rounded by float().
    if isinstance(value, numbers.Integral):
        return Fraction(int(value))
    if isinstance(value, Fraction | Decimal):
        return Fraction(value)
    numerator, denominator = (value if isinstance(value, np.floating) else float(value)).as_integer_ratio()
    return Fraction(int(numerator), int(denominator))


def positive(name: str, value: object) -> Fraction:
    exact = fraction(name, value)
    if exact <= 0:
        raise ParameterError(f"{name} must be greater than 0, not {_shown(value)}.")
    return exact


def within(name: str, value: object, low: Fraction | int, high: Fraction | int) -> Fraction:
    """A number in the closed range from low to high."""
    exact = fraction(name, value)
    if not low <= exact <= high:
        raise ParameterError(f"{name} must be between {short(low)} and {short(high)}, not {_shown(value)}.")
    return exact


def probability(name: str, value: object) -> Fraction:
    """A probability, 0 and 1 included."""
    return within(name, value, 0, 1)


def error_rate(name: str, value: object) -> Fraction:
    """A miss or false-alarm rate: above 0, because certainty has no finite price, and below 1/2."""
    exact = fraction(name, value)
    if 0 < exact < SMALLEST_ERROR_RATE:
        raise ParameterError(f"{name} must be at least 1e-30: no machine keeps a rarer promise.")
    if not 0 < exact < Fraction(1, 2):
        raise ParameterError(
            f"{name} must be greater than 0 and less than 0.5, not {_shown(value)}; 0.05 means at most 1 in 20."
        )
    return exact


def integer(name: str, value: object, smallest: int, largest: int) -> int:
    """A whole number in the closed range from smallest to largest; 3.0 is not one."""
    if isinstance(value, bool | np.bool_):
        raise ParameterError(f"{name} must be a whole number, not {_shown(value)}.")
    try:
        exact = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise ParameterError(f"{name} must be a whole number, not {_shown(value)}.") from None
    if not smallest <= exact <= largest:
        most = f"{largest:,}" if 10**7 <= largest <= LARGEST_COUNT else short(largest)
        raise ParameterError(f"{name} must be between {short(smallest)} and {most}, not {_shown(value)}.")
    return exact


def count(name: str, value: object, smallest: int = 0) -> int:
    return integer(name, value, smallest, LARGEST_COUNT)


def integers(name: str, values: object) -> NDArray[np.int64]:
    """One array of signed whole numbers, which may be private: types and shape are looked at, values are never shown.

    Numbers past 2^62 are clamped: that keeps neighbours neighbours, and room for noise. Masked ones are 0.
    """
    if isinstance(values, np.ma.MaskedArray):
        values = values.filled(0)
    array = np.asarray(values) if hasattr(values, "__array__") else _listed(values)
    if array is None or array.ndim != 1 or (array.dtype.kind != "i" and array.size):
        # Unsigned counts wrap around when a limit is subtracted, so they would come in as false alarms.
        raise ParameterError(
            f"{name} must be one array of signed whole numbers; convert what it is made of to np.int64."
        )
    return np.clip(array.astype(np.int64), -LARGEST_PRIVATE, LARGEST_PRIVATE)


def _listed(values: object) -> NDArray[Any] | None:
    """A list as an array whose type does not depend on how large its numbers are."""
    if not isinstance(values, Sequence) or isinstance(values, str | bytes):
        return None
    if any(type(value) is not int and not isinstance(value, np.signedinteger) for value in values):
        return None
    return np.array([max(-LARGEST_PRIVATE, min(int(value), LARGEST_PRIVATE)) for value in values], dtype=np.int64)


def short(value: Fraction | int) -> str:
    """A number as a sentence shows it: whole or a simple fraction as it is, else three digits, whatever its size."""
    exact = Fraction(value)
    if exact.denominator < 1000 and abs(exact) < 10**7:
        return str(exact)
    return f"{Decimal(exact.numerator) / Decimal(exact.denominator):.3g}"


def _shown(value: object) -> str:
    """A value as an error may show it: short, whatever was passed."""
    try:
        text = (
            short(value)
            if isinstance(value, Fraction)
            else str(value)
            if isinstance(value, int | float | Decimal)
            else repr(value)
        )
    except Exception:  # a broken repr, or an int too long to print, must not hide the sentence
        text = f"a {type(value).__name__}"
    return text if len(text) <= 40 else text[:37] + " and so on"
