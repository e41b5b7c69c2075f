"""What a message may be at most, checked before it is parsed, and the text and the names in it.

Whatever breaks a rule becomes a `Rejected` with the rule's name; what was in the message is never repeated.
"""

from __future__ import annotations

from typing import Final

from louver.sense.events import Rejected

LARGEST_MESSAGE: Final = 1 << 20  # bytes, or characters of a text
LARGEST_RECORD: Final = 1 << 14  # characters of one line, object or block
LONGEST_NAME: Final = 256
DEEPEST: Final = 16
LARGEST_VALUE: Final = 2.0**53  # beyond it a float cannot tell whole numbers apart

EMPTY: Final = Rejected("empty")
TOO_LONG: Final = Rejected("too long")
NOT_TEXT: Final = Rejected("not text")
WRONG_TYPE: Final = Rejected("a wrong type")
NO_NUMBER: Final = Rejected("no number")
NO_VALUE: Final = Rejected("no value")
NO_DEVICE: Final = Rejected("no device")
NO_PLACE: Final = Rejected("no place")
NO_TIME: Final = Rejected("no time")
UNKNOWN_MESSAGE: Final = Rejected("unknown message")
UNKNOWN_FORMAT: Final = Rejected("unknown format")
# A session that ended says nothing of where its device is; see docs/reference/sense-feeds.md.
DEPARTURE: Final = Rejected("a departure")


def decoded(message: bytes | str) -> str | Rejected:
    """The text of a message: UTF-8, not too long, without NUL, and not only blanks."""
    if len(message) > LARGEST_MESSAGE:
        return TOO_LONG
    if isinstance(message, str):
        text = message
    else:
        try:
            text = str(message, "utf-8")
        except UnicodeDecodeError:
            return NOT_TEXT
    if "\0" in text:
        return NOT_TEXT
    text = text.removeprefix("\ufeff")
    return text if text and not text.isspace() else EMPTY


def lines_of(text: str) -> list[str]:
    """Lines end with a line feed; other characters that Unicode calls line ends are part of a line."""
    return [line for line in text.split("\n") if line and not line.isspace()]


def name(value: object, missing: Rejected) -> str | Rejected:
    """A device or a place: a short printable text, or a whole number as it is written."""
    if type(value) is str:
        text = value.strip()
        if not text:
            return missing
        if len(text) > LONGEST_NAME:
            return TOO_LONG
        return text if text.isprintable() else NOT_TEXT  # controls, and halves of surrogate pairs that cannot be stored
    if value is None:
        return missing
    if type(value) is int:
        return str(value) if abs(value) < 10**18 else NO_NUMBER
    return WRONG_TYPE


def number(value: object) -> float | Rejected:
    """A finite number, as JSON has it or in plain decimals; a truth value is none."""
    if type(value) is str:
        text = value.strip()
        if not text:
            return NO_VALUE
        if len(text) > 64:
            return TOO_LONG
        try:
            value = float(text)
        except ValueError:
            return NO_NUMBER
        if "_" in text or not text.isascii():  # Python's float reads more than anybody means
            return NO_NUMBER
    elif value is None:
        return NO_VALUE
    elif type(value) is not int and type(value) is not float:
        return WRONG_TYPE
    if not -LARGEST_VALUE <= value <= LARGEST_VALUE:  # NaN is not within either
        return NO_NUMBER
    return float(value)
