"""One column of a domain: public values of one kind, checked once, with a short and exact form for JSON."""

from __future__ import annotations

import numbers
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from itertools import islice
from typing import Any, TypeAlias

import numpy as np

from louver import parameters
from louver.errors import ParameterError
from louver.privacy.ranges import LONGEST_TEXT
from louver.source.measures import MOST_KEYS

Public: TypeAlias = "str | int | bool | Fraction | date | datetime | None"
TEXT, NUMBER, TRUTH, DAY, TIME = "text", "number", "truth", "day", "time"
KINDS = {TEXT: "texts", NUMBER: "numbers", TRUTH: "true and false", DAY: "days", TIME: "times"}
LARGEST_KEY = 2**63 - 1
_LONGEST_SHOWN = 40
_STORED_NUMBER = re.compile(r"-?[0-9]{1,1300}(/[0-9]{1,1300})?")


@dataclass(frozen=True, slots=True)
class Column:
    """Values of one kind. Only a column that is no key may lack some of them (None) or hold fractions."""

    kind: str
    values: tuple[Public, ...]

    @classmethod
    def of(cls, name: str, given: object, key: Callable[[int], str]) -> Column:
        """`key` names the key at a place, for the sentence about what is wrong there."""
        listed = listing(name, given)
        made = {each: _maker(name, each) for each in set(map(type, listed))}
        kinds = {kind for kind, _ in made.values() if kind}
        if len(kinds) > 1:
            said = " and ".join(KINDS[kind] for kind in sorted(kinds))
            raise ParameterError(f"Column {name!r} of a domain must be of one kind, but it holds {said}.")
        kind = kinds.pop() if kinds else TEXT
        values: list[Public] = []
        try:
            for value in listed:
                values.append(made[type(value)][1](value))  # noqa: PERF401 its length tells where it failed
        except (ArithmeticError, ValueError, ParameterError):
            what = "a time to the microsecond" if kind == TIME else "a finite number"
            where = key(len(values))
            raise ParameterError(
                f"Column {name!r} of a domain needs {what} for each key, unlike for {where}."
            ) from None
        if kind == TEXT:
            _check_texts(name, values)
        return cls(kind, tuple(values))

    @classmethod
    def of_keys(cls, name: str, given: object) -> Column:
        listed = listing(name, given)
        made = cls.of(name, listed, lambda place: f"key number {place + 1}")
        if None in made.values or (made.kind == TEXT and "" in made.values):
            raise ParameterError(f"Every key needs a value, but column {name!r} has none for one of them.")
        if made.kind == NUMBER:
            if not all(issubclass(each, numbers.Integral) for each in set(map(type, listed))):
                raise ParameterError(f"Numbers in the key column {name!r} must be whole; a float is not, even 3.0.")
            if any(abs(value) > LARGEST_KEY for value in made.values):  # type: ignore[arg-type, operator]
                raise ParameterError(f"Numbers in the key column {name!r} must lie between -2**63 and 2**63.")
        return made

    def repeated(self, each: int, times: int) -> Column:
        """Every value `each` times in a row, and all of that `times` times."""
        stretched = self.values if each == 1 else tuple(value for value in self.values for _ in range(each))
        return Column(self.kind, stretched * times)

    def at(self, places: Iterable[int]) -> Column:
        """The values at some places."""
        return Column(self.kind, tuple(self.values[place] for place in places))

    def rhythm(self) -> tuple[int, int]:
        """How often its first value comes in a row, and after how many values it comes again."""
        first, count = self.values[0], len(self.values)
        each = next((place for place, value in enumerate(self.values) if value != first), count)
        with suppress(ValueError):
            return each, self.values.index(first, each)
        return each, count

    def has_rhythm(self, each: int, period: int) -> bool:
        return Column(self.kind, self.values[:period:each]).repeated(each, len(self.values) // period) == self

    def to_dict(self, each: int, period: int) -> dict[str, Any]:
        return {"kind": self.kind, "each": each, "values": [_written(value) for value in self.values[:period:each]]}


def stored_values(name: object, plain: object, count: int) -> list[Public]:
    """The values behind what `Column.to_dict` gave."""
    if not isinstance(plain, Mapping) or set(plain) != {"kind", "each", "values"} or plain["kind"] not in list(KINDS):
        raise ParameterError(f"Column {name!r} of a stored domain needs its kind, 'each' and its values.")
    each, stored = parameters.integer("'each' of a stored domain", plain["each"], 1, count), plain["values"]
    if not isinstance(stored, list) or not stored or count % (each * len(stored)):
        raise ParameterError(f"Column {name!r} of a stored domain does not have as many values as there are keys.")
    try:
        values = [None if value is None else _read(plain["kind"], value) for value in stored]
    except (TypeError, ValueError, ZeroDivisionError):
        raise ParameterError(
            f"Column {name!r} of a stored domain holds something other than {KINDS[plain['kind']]}."
        ) from None
    return [value for value in values for _ in range(each)] * (count // (each * len(stored)))


def listing(name: str, given: object) -> Sequence[object]:
    """The values of a list, an array or a column of a frame; one more than there may be is enough."""
    if isinstance(given, list | tuple):
        return given
    if isinstance(given, np.ndarray) and given.dtype.kind == "M":
        given = given.astype("datetime64[us]")
    if isinstance(given, Iterable) and not isinstance(given, str | bytes | Mapping):
        with suppress(TypeError):  # NumPy's single numbers look iterable and are not
            plain = getattr(given, "tolist", None)
            return list(islice(iter(given if plain is None else plain()), MOST_KEYS + 1))
    raise ParameterError(f"Column {name!r} of a domain must be a list of values.")


def _maker(name: str, kind: type) -> tuple[str, Callable[[Any], Public]]:
    """The kind of a type's values, and what makes each a plain one. A missing value has no kind."""
    if kind is type(None):
        return "", lambda _: None
    if issubclass(kind, bool | np.bool_):
        return TRUTH, bool
    if issubclass(kind, str):
        return TEXT, str.__str__
    if issubclass(kind, numbers.Integral):
        return NUMBER, int
    if issubclass(kind, numbers.Real | Decimal):
        return NUMBER, _number
    if issubclass(kind, datetime):
        return TIME, _time
    if issubclass(kind, date):
        return DAY, lambda day: date(day.year, day.month, day.day)
    raise ParameterError(
        f"Column {name!r} of a domain must hold texts, numbers, true and false, days or times, not a {kind.__name__}."
    )


def _number(value: Any) -> Fraction | int | None:
    """The number as it is written: 0.1 is one tenth. What is not a number is missing."""
    if value != value:
        return None
    exact = Fraction(str(value)) if isinstance(value, float | np.floating) else parameters.fraction("A number", value)
    return exact.numerator if exact.denominator == 1 else exact


def _time(value: datetime) -> datetime | None:
    """In UTC, also where no zone is named. Some libraries have a time that is none."""
    if value != value:
        return None
    if getattr(value, "nanosecond", 0):
        raise ValueError
    known = value if value.tzinfo is not None else value.replace(tzinfo=UTC)
    utc = known.astimezone(UTC)
    return datetime(utc.year, utc.month, utc.day, utc.hour, utc.minute, utc.second, utc.microsecond, UTC)


def _check_texts(name: str, values: Sequence[Public]) -> None:
    texts = [value for value in values if isinstance(value, str)]
    if max(map(len, texts), default=0) > LONGEST_TEXT:
        raise ParameterError(f"A text in column {name!r} of a domain can have at most {LONGEST_TEXT} characters.")
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        raise ParameterError(f"Column {name!r} of a domain holds half of a character; clean its texts first.") from None


def _written(value: Public) -> str | bool | None:
    if value is None or isinstance(value, str | bool):
        return value
    return value.isoformat() if isinstance(value, date) else str(value)


def _read(kind: str, written: object) -> Public:
    if kind == TRUTH and isinstance(written, bool):
        return written
    if not isinstance(written, str) or kind == TRUTH:
        raise TypeError
    if kind == TEXT:
        return written
    if kind == DAY:
        return date.fromisoformat(written)
    if kind == TIME:
        return datetime.fromisoformat(written)
    if not _STORED_NUMBER.fullmatch(written):
        raise ValueError
    if "/" not in written:
        return int(written)
    number = Fraction(written)
    return number.numerator if number.denominator == 1 else number


def check_count(count: int) -> None:
    """Whether a domain can have so many keys."""
    if not count:
        raise ParameterError("The domain is empty; it needs at least one key.")
    if count > MOST_KEYS:
        raise ParameterError(f"A domain can have at most {MOST_KEYS:,} keys; ask about a part of them.")


def shown(value: object) -> str:
    """A public value as a sentence shows it: on one line, and short."""
    text = str(value)
    text = text if text.isprintable() else repr(text)[1:-1]
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 3] + "..."
