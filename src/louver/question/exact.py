"""Numbers and row values as a question holds them: exact, plain, and meaning what was written."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

import numpy as np

from louver import parameters
from louver.errors import ParameterError
from louver.source import filters
from louver.source.filters import Value

MOST_DECIMALS = 30


def number(name: str, value: object) -> Fraction:
    """The exact number; a float means the decimal it is written as, so 0.8 is 4/5."""
    exact = parameters.fraction(name, value)
    return Fraction(str(value)) if isinstance(value, float | np.floating) else exact


def number_written(name: str, text: str) -> Fraction:
    """The exact number behind its digits."""
    try:
        return parameters.fraction(name, Decimal(text))
    except InvalidOperation:
        raise ParameterError(f"{name} must be a number, not {text[:40]!r}.") from None


def limited(name: str, value: Fraction) -> Fraction:
    """The same number, unless reckoning has made it too long to keep."""
    return parameters.fraction(name, value)


def decimal(value: Fraction) -> str | None:
    """A number as a short decimal, or None where it has none."""
    for places in range(MOST_DECIMALS + 1):
        if 10**places % value.denominator == 0:
            digits = str(abs(value.numerator) * (10**places // value.denominator)).rjust(places + 1, "0")
            whole, part = digits[: len(digits) - places], digits[len(digits) - places :]
            return ("-" if value < 0 else "") + whole + (f".{part}" if part else "")
    return None


def row_value(column: str, value: object) -> Value:
    """A value that rows are compared with, in its plain form: whole numbers as int, times in UTC."""
    if value is None:
        raise ParameterError(f"Column {column!r} is never equal to nothing; ask whether it is missing.")
    plain = _plain(column, value)
    try:
        filters.point_range(plain)
    except OverflowError:
        raise ParameterError(
            f"A time this near the end of the calendar cannot be compared with column {column!r}."
        ) from None
    return plain


def _plain(column: str, value: Any) -> Value:
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, np.datetime64):
        value = _unpacked(column, value)
    if isinstance(value, datetime):
        return _utc(column, value)
    if isinstance(value, date):
        return date(value.year, value.month, value.day)
    exact = number(f"What column {column!r} is compared with", value)
    return int(exact) if exact.denominator == 1 else exact


def _unpacked(column: str, value: np.datetime64) -> object:
    """NumPy's time as a date or a time of Python's."""
    kept = value if np.datetime_data(value.dtype)[0] == "D" else value.astype("datetime64[us]")
    if np.isnat(value) or kept != value or not isinstance(kept.item(), date):
        raise ParameterError(f"Column {column!r} is compared with a time that Louver cannot keep to the microsecond.")
    return kept.item()


def _utc(column: str, value: datetime) -> datetime:
    if getattr(value, "nanosecond", 0):
        raise ParameterError(f"Column {column!r} is compared with a time finer than a microsecond; round it.")
    try:
        utc = value.replace(tzinfo=UTC) if value.utcoffset() is None else value.astimezone(UTC)
    except (OverflowError, ValueError):
        raise ParameterError(
            f"A time this near the end of the calendar cannot be compared with column {column!r}."
        ) from None
    return datetime(utc.year, utc.month, utc.day, utc.hour, utc.minute, utc.second, utc.microsecond, UTC)
