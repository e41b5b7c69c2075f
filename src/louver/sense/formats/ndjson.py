"""Events as JSON: one object a line, an array of objects, or one object over several lines."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from louver.sense.events import Event, Rejected
from louver.sense.formats.fields import WIFI, Fields
from louver.sense.formats.limits import DEEPEST, LARGEST_RECORD, TOO_LONG, decoded, lines_of

NOT_JSON: Final = Rejected("not JSON")
TOO_DEEP: Final = Rejected("too deep")
FIELD_TWICE: Final = Rejected("a field twice")
NO_OBJECT: Final = Rejected("not an object")

_BRACKETS: Final = re.compile(r"[\[\]{}]")


class _FaultError(ValueError):
    def __init__(self, rejected: Rejected) -> None:
        super().__init__(rejected.kind)
        self.rejected = rejected


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise _FaultError(FIELD_TWICE)  # readers differ on which one counts, so neither does
    return made


def _constant(_: str) -> float:
    raise _FaultError(NOT_JSON)  # NaN and Infinity are Python's, not JSON's


_DECODER: Final = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant)


def value_of(text: str) -> Any | Rejected:
    """The value that one JSON text stands for, read strictly."""
    if text.count("[") + text.count("{") > DEEPEST and _depth(text) > DEEPEST:
        return TOO_DEEP
    try:
        return _DECODER.decode(text)
    except _FaultError as fault:
        return fault.rejected
    except ValueError:  # also a whole number of thousands of digits
        return NOT_JSON
    except RecursionError:
        return TOO_DEEP


def _depth(text: str) -> int:
    """How deep brackets are nested outside of strings, in one pass however the quotes are placed."""
    outside = text.replace("\\\\", "").replace('\\"', "").split('"')[::2]
    depth = deepest = 0
    for bracket in _BRACKETS.findall("".join(outside)):
        depth += 1 if bracket in "[{" else -1
        deepest = max(deepest, depth)
    return deepest


@dataclass(frozen=True)
class NDJSON:
    """JSON objects with the fields that were declared; other fields are ignored.

    >>> NDJSON()(b'{"device": "aa:bb:cc:dd:ee:ff", "place": "ap-3", "time": "2026-03-02T09:00:00+01:00"}')
    [Event(place='ap-3', time=1772438400000000, value=None)]
    >>> NDJSON()(b'{"device": "aa:bb:cc:dd:ee:ff", "place": "ap-3", "time": "2026-03-02T09:00:00"}')
    [Rejected(kind='time without a zone')]
    """

    fields: Fields = WIFI
    ending: ClassVar[bytes] = b"\n"

    @property
    def gives(self) -> str:
        """What the fields tell."""
        return self.fields.gives

    def __call__(self, message: bytes | str, received: int | None = None) -> list[Event | Rejected]:  # noqa: ARG002
        text = decoded(message)
        if isinstance(text, Rejected):
            return [text]
        lines = lines_of(text)
        if len(lines) > 1 and lines[0].rstrip()[-1] not in "}]":
            whole = value_of(text)
            if not isinstance(whole, Rejected):
                return self._read(whole)
        found: list[Event | Rejected] = []
        for line in lines:
            value = value_of(line)
            if type(value) is dict and len(line) <= LARGEST_RECORD:
                found.append(self.fields.read(value))
            else:
                found += self._read(value, len(line))
        return found

    def _read(self, value: Any, length: int = 0) -> list[Event | Rejected]:
        if isinstance(value, Rejected):
            return [value]
        if isinstance(value, dict):
            return [TOO_LONG if length > LARGEST_RECORD else self.fields.read(value)]
        if not isinstance(value, list):
            return [NO_OBJECT]
        return [self.fields.read(each) if isinstance(each, dict) else NO_OBJECT for each in value] or [
            Rejected("empty")
        ]
