"""Numbers, scopes and caps as they are written on a command line.

0.2                                             a cap of epsilon 0.2 everywhere
0.2 where room=clinic                           only in the clinic
epsilon 1, delta 1e-6 where 9<=hour<10          more than one number
room in a|b, 2026-01-01<=time<2026-02-01        a scope: conditions that all hold
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any

from louver.errors import ParameterError
from louver.ledger import Cap
from louver.privacy import Among, Between, Scope

_NUMBER = re.compile(r"[0-9]{1,40}(\.[0-9]{1,40})?(e[-+]?[0-9]{1,2})?|[0-9]{1,40}/[0-9]{1,40}", re.IGNORECASE)
_WORD = r'[^,"|{}<>=]+?'
_VALUE = rf'(?:"[^"]*"|{_WORD})'
_CONDITION = re.compile(
    rf"""\s*(?:
        (?P<column>{_WORD}) \s* = \s* (?P<value>{_VALUE})
      | (?P<among>{_WORD}) \s+ in \s+ (?: \{{ (?P<set>[^}}]*) \}} | (?P<values>{_VALUE}(?:\|{_VALUE})*) )
      | (?: (?P<start>{_WORD}) \s* <= \s* )? (?P<between>{_WORD}) \s* < \s* (?P<end>{_WORD})
      | (?P<low>{_WORD}) \s* <= \s* (?P<above>{_WORD})
    ) (?: \s*, | \s+and(?=\s|$) | \s*$ )""",
    re.IGNORECASE | re.VERBOSE,
)
_ONE_VALUE = re.compile(rf"\s*({_VALUE})\s*(?:[,|]|$)")
_WHERE = re.compile(r"\s+where\s+", re.IGNORECASE)
_NAMES = ("epsilon", "delta", "rho")


def number(what: str, text: str) -> Fraction:
    """An exact number: 0.1 is one tenth, and 1/3 one third."""
    given = text.strip()
    if not _NUMBER.fullmatch(given):
        raise ParameterError(f"{what} must be a number of 0 or more like 0.5, 1/3 or 1e-6, not {_shown(text)}.")
    try:
        return Fraction(given)
    except ZeroDivisionError:
        raise ParameterError(f"{what} cannot be {given}: nothing is divided by 0.") from None


def amounts(text: str) -> dict[str, Fraction]:
    """The numbers of a cap by their names; one without a name is epsilon."""
    found: dict[str, Fraction] = {}
    for part in text.split(","):
        name, _, written = part.strip().rpartition(" ")
        name = name.strip().lower() or "epsilon"
        if name not in _NAMES:
            raise ParameterError(f"A cap is written like 0.5, or '0.5, delta 1e-6 where room=lab', not {_shown(text)}.")
        if name in found:
            raise ParameterError(
                f"A cap has one {name}, but {_shown(text)} gives two; a decimal has a point, as in 1.5."
            )
        found[name] = number(f"The {name} of a cap", written)
    return found


def cap_parts(text: str) -> tuple[dict[str, Any], Scope]:
    """What a cap allows, and where."""
    written, *conditions = _WHERE.split(text.strip(), maxsplit=1)
    return amounts(written), scope(conditions[0]) if conditions else Scope.everything()


def audience_cap(text: str) -> Cap:
    """NAME=0.3, which may say where it holds."""
    name, equals, limit = text.partition("=")
    if not equals:
        raise ParameterError(f"An audience is given with its cap, like research=0.3, not {_shown(text)}.")
    numbers, where = cap_parts(limit)
    return Cap(**numbers, scope=where, audience=name.strip())


def scope(text: str) -> Scope:
    """The scope in which all the conditions hold."""
    ranges: dict[str, Any] = {}
    place = 0
    while place < len(text.rstrip()) or not ranges:
        found = _CONDITION.match(text, place)
        if found is None:
            raise _unclear(text[place:])
        column, kept = _condition(found)
        if column in ranges:
            raise ParameterError(f"Column {column!r} has two conditions; write one, like 9<={column}<10.")
        ranges[column], place = kept, found.end()
    return Scope(ranges)


def fitted(given: Scope, kinds: Mapping[str, str]) -> Scope:
    """The same scope where `=` stands for one number or day of a column that the ledger holds as such."""
    return Scope({column: _one_point(kept, kinds.get(column)) for column, kept in given.ranges})


def _one_point(kept: Among | Between, kind: str | None) -> Among | Between:
    if not isinstance(kept, Among) or kind in (None, kept.kind) or len(kept.values) != 1:
        return kept
    (value,) = kept.values
    try:
        start = _edge(str(value))
    except ParameterError:
        return kept
    if start is None:
        return kept
    end = start + timedelta(days=1) if isinstance(start, datetime) else start + 1
    point = Between(start, end)
    return point if point.kind == kind else kept


def _condition(found: re.Match[str]) -> tuple[str, Among | Between]:
    if found["column"]:
        return found["column"].strip(), Among(_category(found["value"]))
    if found["among"]:
        listed = found["set"] if found["values"] is None else found["values"]
        return found["among"].strip(), Among([_category(value) for value in _ONE_VALUE.findall(listed)])
    column = found["between"] or found["above"]
    return column.strip(), Between(_edge(found["start"] or found["low"]), _edge(found["end"]))


def _category(text: str) -> str | int:
    """A text, as the keys of questions are; int(3) is the whole number."""
    value = text.strip()
    if value.startswith('"'):
        return value[1:-1]
    whole = re.fullmatch(r"int\((-?[0-9]{1,40})\)", value)
    return int(whole[1]) if whole else value


def _edge(text: str | None) -> int | datetime | None:
    if text is None:
        return None
    value = text.strip()
    if re.fullmatch("-?[0-9]{1,40}", value):
        return int(value)
    try:
        time = datetime.fromisoformat(value.removesuffix(" UTC"))
    except ValueError:
        raise ParameterError(
            f"A range is written 9<=hour<10 or 2026-01-31<=time<2026-02-01, and {_shown(value)} is no whole number "
            "and no time."
        ) from None
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)


def _unclear(text: str) -> ParameterError:
    return ParameterError(
        f"{_shown(text)} is no condition; write room=lab, room in a|b, 9<=hour<10 or 2026-01-31<=time<2026-02-01, "
        'with commas between several, and room="a, b" where a value itself has such signs.'
    )


def _shown(text: str) -> str:
    short = text.strip()
    return repr(short if len(short) <= 40 else short[:37] + "...")
