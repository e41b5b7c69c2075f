"""What a reading must give, row by row in plain Python: slow, and written without looking at how engines do it."""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from typing import Any

import numpy as np

from louver.source import bands
from louver.source.derived import parse
from louver.source.filters import Both, Compare, Either, Filter, Missing, Not, OneOf, kind_of
from louver.source.measures import Bound, Keys, Measure, Reading

TEXT, WHOLE, REAL, TRUTH, DAY, TIME = "text", "whole", "real", "truth", "day", "time"
Row = Mapping[str, Any]
EPOCH = datetime.fromisoformat("1970-01-01")


@dataclass(frozen=True)
class Data:
    """Rows, the kind of each column, and the columns of the unit."""

    kinds: Mapping[str, str]
    rows: Sequence[Row]
    unit: tuple[str, ...] = ()


def expected(data: Data, reading: Reading, secret: bytes) -> list[list[int]]:
    """The measures' values, key by key."""
    rows = [row for row in data.rows if met(reading.where, data.kinds, row)]
    rows = [row for row in rows if all(_known(row[column]) for column in data.unit)]
    places = [_places(keys, data.kinds) for keys in reading.keys]
    found = [(row, [place(row) for place in places]) for row in rows]
    taken = [each for each in found if any(key is not None for key in each[1])]
    lines = [_line(data.kinds, row, keys, reading) for row, keys in taken]
    if data.unit and reading.bound is not None:
        owners: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {}
        for (row, _), line in zip(taken, lines, strict=True):
            owners.setdefault(tuple(row[column] for column in data.unit), []).append(line)
        lines = [line for unit, own in owners.items() for line in _bounded(own, unit, reading.bound, secret)]
    return [_totals(number, measure, reading, lines) for number, measure in enumerate(reading.measures)]


def _places(keys: Keys, kinds: Mapping[str, str]) -> Callable[[Row], int | None]:
    def place(row: Row) -> int | None:
        for number, key in enumerate(keys.values):
            if all(
                met(Compare(column, "=", value), kinds, row) for column, value in zip(keys.columns, key, strict=True)
            ):
                return number
        return None

    return place


def _line(kinds: Mapping[str, str], row: Row, keys: list[int | None], reading: Reading) -> tuple[Any, ...]:
    """The keys of a row, and what it adds to each measure."""
    added = [_added(kinds, row, keys[measure.keys], measure) for measure in reading.measures]
    return (*keys, *added)


def _added(kinds: Mapping[str, str], row: Row, key: int | None, measure: Measure) -> Any:
    counts = met(measure.where, kinds, row) is True
    if measure.kind == "distinct":
        value = _stored(measure.column or "", kinds, row)[1]
        return value if counts and _known(value) else None
    number = None if measure.column is None else _number(*_stored(measure.column, kinds, row))
    if counts and measure.kind == "odd":
        return int(number is None or not 0 <= number <= 2**40 or number != int(number))
    if not counts or (measure.column is not None and number is None):
        return 0
    if measure.kind == "sum" and measure.grid is not None:
        return int(measure.grid.quantise([float(number or 0)])[0])
    if measure.kind == "beyond":
        return 0 if key is None else int(_in_order(number, measure.sign or "", _near((measure.limits or ())[key])))
    return 1


def _totals(number: int, measure: Measure, reading: Reading, lines: list[tuple[Any, ...]]) -> list[int]:
    lists = len(reading.keys)
    own = [(line[measure.keys], line[lists + number]) for line in lines if line[measure.keys] is not None]
    if measure.kind == "distinct":
        counted = Counter(key for key, value in set(own) if value is not None)
    else:
        counted = Counter()
        for key, value in own:
            counted[key] += value
    return [max(-(2**62), min(counted[key], 2**62)) for key in range(len(reading.keys[measure.keys]))]


def _bounded(lines: list[tuple[Any, ...]], unit: tuple[Any, ...], bound: Bound, secret: bytes) -> list[tuple[Any, ...]]:
    digest = hashlib.sha256("|".join([secret.hex(), *map(_written, unit)]).encode()).hexdigest()
    start = int(digest[:15], 16)
    ordered = sorted(lines, key=lambda line: [_order(value) for value in line])
    if bound.keys is None:
        return _evenly(ordered, bound.rows, start)
    keys = sorted({line[0] for line in lines}, key=_order)
    kept = _evenly(keys, bound.keys, start)
    return [line for key in kept for line in _evenly([one for one in ordered if one[0] == key], bound.rows, start)]


def _evenly(listed: list[Any], most: int, start: int) -> list[Any]:
    total = len(listed)
    if total <= most:
        return listed
    offset = start % total
    return [
        each
        for place, each in enumerate(listed)
        if ((place + 1) * most + offset) // total > (place * most + offset) // total
    ]


def _order(value: Any) -> tuple[Any, ...]:
    if value is None:
        return (0,)
    return (1, value.encode() if isinstance(value, str) else value)


def met(given: Filter, kinds: Mapping[str, str], row: Row) -> bool | None:
    """Whether a row meets a filter; None where that is unknown."""
    if isinstance(given, Both):
        parts = [met(part, kinds, row) for part in given.parts]
        return False if False in parts else None if None in parts else True
    if isinstance(given, Either):
        parts = [met(part, kinds, row) for part in given.parts]
        return True if True in parts else None if None in parts else False
    if isinstance(given, Not):
        part = met(given.part, kinds, row)
        return None if part is None else not part
    kind, value = _stored(given.column, kinds, row)
    if isinstance(given, Missing):
        return value is None
    if isinstance(given, OneOf):
        return met(Either(tuple(Compare(given.column, "=", each) for each in given.values)), kinds, row)
    left, right = _comparable(kind, value, given.value)
    return None if left is None else _in_order(left, given.sign, right)


def _comparable(kind: str, stored: Any, asked: Any) -> tuple[Any, Any]:
    """What is compared: the stored value, None where there is none, and the one that is asked for."""
    wanted = kind_of(asked)
    if wanted == "text":
        text = _written(stored) if _known(stored) else None
        return (None if text is None else text.encode()), asked.encode()
    if wanted == "number":
        return _number(kind, stored), Fraction(asked) if kind == WHOLE else _near(asked)
    if wanted == "truth":
        texts = {"true": True, "True": True, "t": True, "false": False, "False": False, "f": False}
        return texts.get(stored) if kind == TEXT else stored, asked
    if stored is None:
        return None, None
    if wanted == "day":
        return stored, (datetime.combine(asked, datetime.min.time()) if isinstance(stored, datetime) else asked)
    at = asked if asked.tzinfo is None else asked.astimezone(UTC).replace(tzinfo=None)
    return (stored if isinstance(stored, datetime) else datetime.combine(stored, datetime.min.time())), at


def _in_order(left: Any, sign: str, right: Any) -> bool:
    found: dict[str, bool] = {
        "=": left == right,
        "<>": left != right,
        "<": left < right,
        "<=": left <= right,
        ">": left > right,
        ">=": left >= right,
    }
    return found[sign]


def _near(number: Fraction | int) -> Any:
    """The float next to a number; the number itself where that has another whole part."""
    near = float(number)
    return near if math.floor(near) == math.floor(number) else Fraction(number)


def _number(kind: str, value: Any) -> Any:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if kind == TEXT:
        plain = re.fullmatch("[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)", value)
        return float(value) if plain and len(value) <= 64 else None
    return value


def _stored(column: str, kinds: Mapping[str, str], row: Row) -> tuple[str, Any]:
    band = bands.parse(column)
    if band is not None:
        number = _number(kinds[band.column], row[band.column])
        inside = number is not None and (band.clamped or band.start <= number <= band.end)
        return WHOLE, int(band.positions(np.array([float(number)]))[0]) if inside else None
    part = parse(column)
    if part is None or column in kinds:
        return kinds[column], row[column]
    value = row[part.column]
    kind = {"day": DAY, "slot": TIME}.get(part.part, WHOLE)
    if value is None:
        return kind, None
    if part.part == "day":
        return kind, value.date() if isinstance(value, datetime) else value
    if part.part == "weekday":
        return kind, value.isoweekday()
    if part.part == "slot":
        since = value - EPOCH
        return kind, value - since % timedelta(minutes=part.minutes or 1)
    return kind, getattr(value, part.part)


def _known(value: Any) -> bool:
    return value is not None and not (isinstance(value, float) and math.isnan(value))


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(math.floor(value) if abs(value) <= 2**52 else 0)
    if isinstance(value, datetime):
        return str(value).rstrip("0") if value.microsecond else str(value)
    return value.isoformat() if isinstance(value, date) else str(value)
