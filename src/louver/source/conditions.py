"""Filters as conditions of a query, and values of a question as values of a column.

A text among the keys of a column of numbers, days or truth values is taken for the one that is written so, and only so:
`05` is not 5. So no two texts stand for one value, as scopes assume. A filter compares such a column with its own kind.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime, time
from fractions import Fraction
from typing import TypeAlias

from sqlglot import exp

from louver.errors import ParameterError
from louver.source.columns import LOOSE, Column
from louver.source.dialects import DAY, REAL, TEXT, TIME, TRUTH, WHOLE, Dialect
from louver.source.filters import Both, Compare, Either, Filter, Missing, Not, OneOf, Value, kind_of

Native: TypeAlias = "str | int | float | bool | date | datetime"
LARGEST_WHOLE = 2**63 - 1
LARGEST_EXACT = 2**53  # whole numbers up to here are floats
_SIGNS: dict[str, type[exp.Binary]] = {
    "=": exp.EQ,
    "<>": exp.NEQ,
    "<": exp.LT,
    "<=": exp.LTE,
    ">": exp.GT,
    ">=": exp.GTE,
}


def condition(given: Filter, find: Callable[[str], Column]) -> exp.Expr:
    """The filter in SQL: true, false, or unknown where a value is missing."""
    if isinstance(given, Both):
        parts = [condition(part, find) for part in given.parts]
        return exp.and_(*parts) if parts else exp.true()
    if isinstance(given, Either):
        return exp.or_(*(condition(part, find) for part in given.parts))
    if isinstance(given, Not):
        return exp.not_(condition(given.part, find))
    column = find(given.column)
    if isinstance(given, Missing):
        return exp.Is(this=column.value(), expression=exp.null())
    if isinstance(given, OneOf):
        if isinstance(given.values[0], str):
            column.must_be_text("a text", given.values[0])
        return _among(column, given.values)
    if isinstance(given.value, str):
        column.must_be_text("a text" if given.sign in ("=", "<>") else "a text by its order", given.value)
    if given.sign in ("=", "<>"):
        met = _among(column, [given.value])
        return met if given.sign == "=" else exp.not_(met)
    return _compared(column, given)


def matched(column: Column, values: Sequence[Value]) -> tuple[exp.Expr, str, list[Native | None]]:
    """The column's value to compare with, its type, and what each of the values is there; None where it is nothing."""
    kinds = {kind_of(value) for value in values}
    if len(kinds) > 1:
        raise ParameterError(f"The values for column {column.name!r} must be of one kind.")
    wanted = kinds.pop()
    if wanted == "text":
        return _texts(column, [str(value) for value in values])
    if wanted == "number":
        return _numbers(column, [Fraction(value) for value in values])  # type: ignore[arg-type]
    if wanted == "truth":
        return column.truth(), TRUTH, list(values)  # type: ignore[arg-type]
    if wanted == "day" and column.kind == DAY:
        return column.value(), DAY, list(values)  # type: ignore[arg-type]
    if wanted == "day":  # against a time, a day is its first instant, as in SQL
        midnights = [datetime.combine(value, time.min) for value in values if isinstance(value, date)]
        return column.time("a day"), TIME, list(midnights)
    times = [_utc(value) for value in values if isinstance(value, datetime)]
    if column.kind == DAY:
        return column.value(), DAY, [at.date() if at.time() == time.min else None for at in times]
    return column.time(), TIME, list(times)


def literal(value: Native, kind: str, dialect: Dialect) -> exp.Expr:
    """A value of the question, as sqlglot writes it safely."""
    if kind in (TEXT, WHOLE, TRUTH):
        return exp.convert(value)
    return dialect.cast(exp.convert(transported(value)), kind)


def transported(value: Native) -> str:
    """A float, day or time as a text that every engine reads alike."""
    return repr(value) if isinstance(value, float) else value.isoformat(*" "[: isinstance(value, datetime)])  # type: ignore[union-attr]


def _among(column: Column, values: Sequence[Value]) -> exp.Expr:
    taken, kind, natives = matched(column, values)
    listed = [literal(native, kind, column.dialect) for native in natives if native is not None]
    if not listed:
        return exp.NEQ(this=taken, expression=taken.copy())
    if len(listed) == 1:
        return exp.EQ(this=taken, expression=listed[0])
    return exp.In(this=taken, expressions=listed)


def _texts(column: Column, texts: list[str]) -> tuple[exp.Expr, str, list[Native | None]]:
    if any("\0" in text for text in texts):
        raise ParameterError(f"A text for column {column.name!r} must not hold the character NUL.")
    if column.kind in (TEXT, LOOSE):
        return column.dialect.by_bytes(column.value()), TEXT, list(texts)
    if column.kind == REAL:
        raise column.refused("a text")
    return column.value(), column.kind, [_native(text, column.kind) for text in texts]


def _native(text: str, kind: str) -> Native | None:
    """The value that is written as just this text."""
    if kind == TRUTH:
        return {"true": True, "false": False}.get(text)
    with suppress(ValueError):
        if kind == WHOLE:
            number = int(text) if re.fullmatch(r"-?[0-9]{1,19}", text) else None
            return number if number is not None and str(number) == text and abs(number) <= LARGEST_WHOLE else None
        if kind == DAY:
            day = date.fromisoformat(text)
            return day if day.isoformat() == text else None
        at = datetime.fromisoformat(text)
        return at if at.isoformat(" ") == text and at.tzinfo is None else None
    return None


def _numbers(column: Column, numbers: list[Fraction]) -> tuple[exp.Expr, str, list[Native | None]]:
    taken = column.number()
    if column.kind == WHOLE:
        fits = [number.denominator == 1 and abs(number) <= LARGEST_WHOLE for number in numbers]
        return taken, WHOLE, [int(number) if fit else None for number, fit in zip(numbers, fits, strict=True)]
    _check_exact(column, numbers)
    return taken, REAL, [near if (near := nearest(number)) is not None else None for number in numbers]


def _check_exact(column: Column, numbers: Sequence[Fraction]) -> None:
    if any(number.denominator == 1 and abs(number) > LARGEST_EXACT for number in numbers):
        raise ParameterError(
            f"Whole numbers beyond 2**53 are not exact in column {column.name!r}; compare it with a text instead."
        )


def nearest(number: Fraction) -> float | None:
    """The float next to a number, unless that has another whole part: a scope would not hold the rows that it meets."""
    try:
        near = float(number)
    except OverflowError:
        return None
    return near if math.floor(near) == math.floor(number) else None


def _compared(column: Column, given: Compare) -> exp.Expr:
    value, sign = given.value, given.sign
    kind = kind_of(value)
    if kind == "text":
        taken, kind, (native,) = _texts(column, [str(value)])
    elif kind == "number":
        taken = column.number()
        if column.kind == WHOLE:
            kind, native = WHOLE, whole_limit(Fraction(value), sign)  # type: ignore[arg-type]
        else:
            _check_exact(column, [Fraction(value)])  # type: ignore[arg-type]
            kind, native = REAL, float_limit(Fraction(value), sign)  # type: ignore[arg-type]
    elif isinstance(value, datetime) and column.kind == DAY:
        at = _utc(value)
        if at.time() != time.min:  # no day begins at this time: the day of it is the last before
            sign = {"<": "<=", ">=": ">"}.get(sign, sign)
        taken, kind, native = column.value(), DAY, at.date()
    else:
        taken, kind, (native,) = matched(column, [value])
    return _SIGNS[sign](this=taken, expression=literal(native, kind, column.dialect))  # type: ignore[arg-type]


def whole_limit(number: Fraction, sign: str, largest: int = 2**64) -> int:
    """The whole number that says the same of whole numbers; the largest where it is beyond all of them."""
    whole = math.ceil(number) if sign in ("<", ">=") else math.floor(number)
    return max(-largest, min(whole, largest))


def float_limit(number: Fraction, sign: str) -> float:
    """The float to compare with: the nearest, or where that would not do, the one that says the same of floats."""
    near = nearest(number)
    if near is not None:
        return near
    try:
        near = float(number)
    except OverflowError:
        near = math.copysign(math.inf, number)
    below = near if near <= number else math.nextafter(near, -math.inf)
    above = near if near >= number else math.nextafter(near, math.inf)
    return above if sign in ("<", ">=") else below


def compared(taken: exp.Expr, sign: str, limit: exp.Expr) -> exp.Expr:
    return _SIGNS[sign](this=taken, expression=limit)


def _utc(at: datetime) -> datetime:
    return at if at.tzinfo is None else at.astimezone(UTC).replace(tzinfo=None)
