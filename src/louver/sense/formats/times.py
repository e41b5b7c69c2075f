"""Times as feeds write them, to whole microseconds since 1970 in UTC."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final, Literal, TypeAlias, get_args

from louver.errors import ParameterError
from louver.sense.events import Rejected
from louver.sense.formats.limits import NO_TIME, TOO_LONG, WRONG_TYPE

Clock: TypeAlias = Literal["iso", "s", "ms", "us"]
CLOCKS: Final = get_args(Clock)

NO_ZONE: Final = Rejected("time without a zone")
OUT_OF_RANGE: Final = Rejected("time out of range")

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
# Milliseconds taken for seconds land far beyond, and seconds taken for milliseconds in January 1970.
EARLIEST: Final = (datetime(1990, 1, 1, tzinfo=UTC) - _EPOCH) // _MICROSECOND
LATEST: Final = (datetime(2100, 1, 1, tzinfo=UTC) - _EPOCH) // _MICROSECOND
_MICROSECONDS_IN: Final = {"s": 1_000_000, "ms": 1_000, "us": 1}
_PLAIN_NUMBER: Final = re.compile(r"\d{1,19}(?:\.\d{0,18})?", re.ASCII)


def checked_clock(clock: str) -> None:
    if clock not in CLOCKS:
        raise ParameterError(f"A clock is one of {', '.join(CLOCKS)}, not {clock[:40]!r}.")


def microseconds(moment: datetime) -> int | Rejected:
    """The exact instant of a time with a zone, if it is one that a sensor of our day can mean."""
    try:
        time = (moment - _EPOCH) // _MICROSECOND
    except (TypeError, OverflowError):
        return NO_ZONE if moment.tzinfo is None else OUT_OF_RANGE
    return time if EARLIEST <= time < LATEST else OUT_OF_RANGE


def instant(value: object, clock: Clock) -> int | Rejected:
    """A time by the declared clock: ISO 8601 with a zone, or seconds, milliseconds or microseconds since 1970."""
    if clock == "iso":
        return iso(value)
    unit = _MICROSECONDS_IN[clock]
    if type(value) is str:
        text = value.strip()
        if not text:
            return NO_TIME
        if len(text) > 40:
            return TOO_LONG
        if not _PLAIN_NUMBER.fullmatch(text):
            return NO_TIME
        value = float(text) if "." in text else int(text)
    if type(value) is int:
        time = value * unit
    elif type(value) is float:
        if not abs(value) < 1e16:  # before the product, so that NaN and infinity stop here
            return OUT_OF_RANGE
        time = round(value * unit)
    else:
        return NO_TIME if value is None else WRONG_TYPE
    return time if EARLIEST <= time < LATEST else OUT_OF_RANGE


def iso(value: object) -> int | Rejected:
    if type(value) is not str:
        return NO_TIME if value is None else WRONG_TYPE
    text = value.strip()
    if not text:
        return NO_TIME
    if len(text) > 40:
        return TOO_LONG
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return NO_TIME
    return microseconds(moment)
