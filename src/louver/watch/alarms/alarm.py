"""What is raised when a key of a rule changes for the worse, or is clear again: releases and public facts only.

An alarm holds no true aggregate and nothing about one person: what it says about the data is what was released.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from fractions import Fraction
from typing import Any, Final

from louver.errors import DataError, ParameterError
from louver.sense.events import instant, microseconds
from louver.watch.journal_states import TOLD

FORMAT: Final = 1  # of the JSON record

Limit = int | float | Fraction | None


def new_id() -> str:
    return secrets.token_hex(8)


@dataclass(frozen=True, slots=True, kw_only=True)
class Closer:
    """What the second, closer question released, at its own price: `flagged` is None where it was not decided."""

    flagged: bool | None
    promise: str
    price: Fraction | None = None

    def to_dict(self) -> dict[str, Any]:
        return {"flagged": self.flagged, "promise": self.promise, **_priced(self.price)}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Closer:
        return cls(flagged=plain["flagged"], promise=plain["promise"], price=_exact(plain["price"]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Alarm:
    """A rule, a key of it, and the state that the key is in `since` then, as decided at `slot`; times in microseconds.

    `to` names the channels. `counted` says what is compared with the `limit` (devices, people, ...), `slots` in how
    many slots in a row it was so, `price` what this slot's question paid for each `unit`, `reason` why nothing was
    decided, `value` a released number, `todo` what whoever reads it should do. `zone` is the building's, for the words.

    `over` says whether the rule looks for what is above the limit, and not for another condition; `within` how far a
    released number may be off. `devices` is a limit of people in devices, `hours` when the rule asks, `part` how many
    of the keys have no answer, where others have one: `17 of the 22`.
    """

    rule: str
    key: str
    state: str
    since: int
    slot: int
    to: tuple[str, ...]
    counted: str
    promise: str
    level: str = "place"
    limit: Limit = None
    question: str = ""
    slots: int = 1
    price: Fraction | None = None
    unit: str = ""
    reason: str = ""
    closer: Closer | None = None
    value: int | float | None = None
    todo: str = ""
    zone: str = "UTC"
    over: bool = True
    within: Limit = None
    devices: Limit = None
    hours: str = ""
    part: str = ""
    id: str = field(default_factory=new_id)

    def __post_init__(self) -> None:
        if self.state not in TOLD:
            raise ParameterError(f"An alarm's state is one of {', '.join(TOLD)}, not {self.state[:40]!r}.")
        if not self.to:
            raise ParameterError("An alarm needs at least one channel that it goes to.")
        object.__setattr__(self, "to", tuple(dict.fromkeys(self.to)))
        for name in ("limit", "within", "devices"):
            object.__setattr__(self, name, _number(getattr(self, name)))

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, with times as text in UTC and the price exact, and rounded up as `epsilon`."""
        plain = {each.name: getattr(self, each.name) for each in fields(self)}
        return {
            "louver": "alarm",
            "format": FORMAT,
            "id": plain.pop("id"),
            **plain,
            "since": instant(self.since).isoformat().replace("+00:00", "Z"),
            "slot": instant(self.slot).isoformat().replace("+00:00", "Z"),
            "to": list(self.to),
            "closer": None if self.closer is None else self.closer.to_dict(),
            **_priced(self.price),
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Alarm:
        if plain.get("louver") != "alarm" or plain.get("format") != FORMAT:
            raise DataError("This is no alarm that this version of Louver knows.")
        given = {each.name: plain[each.name] for each in fields(cls) if each.name in plain}  # new fields have defaults
        given |= {name: _microseconds(plain[name]) for name in ("since", "slot")}
        given |= {"to": tuple(plain["to"]), "price": _exact(plain["price"])}
        given["closer"] = None if plain["closer"] is None else Closer.from_dict(plain["closer"])
        return cls(**given)


@dataclass(frozen=True, slots=True)
class Notice:
    """One telling of an alarm: number 0 is the first, others repeat it. What is sent again has the same `id`."""

    alarm: Alarm
    number: int = 0

    @property
    def id(self) -> str:
        return f"{self.alarm.id}-{self.number}"

    def to_dict(self) -> dict[str, Any]:
        """The alarm's record without its channels, with the number of the notice and the same in words."""
        from louver.watch.alarms.words import subject, text

        plain = self.alarm.to_dict()
        del plain["to"]
        return {**plain, "notice": self.number, "subject": subject(self), "text": text(self)}

    def line(self) -> bytes:
        """The record on one line, in ASCII."""
        return json.dumps(self.to_dict(), allow_nan=False).encode("ascii")


def _number(limit: Limit) -> int | float | None:
    """A public limit as JSON has it."""
    if limit is None or isinstance(limit, int):
        return limit
    return int(limit) if limit == int(limit) else float(limit)


def _priced(price: Fraction | None) -> dict[str, Any]:
    return {"price": None if price is None else str(price), "epsilon": None if price is None else rounded_up(price)}


def rounded_up(price: Fraction) -> float:
    """A price to four places: what is shown is never less than what is paid."""
    return float(Fraction(-(-price * 10_000 // 1), 10_000))


def _exact(price: str | None) -> Fraction | None:
    return None if price is None else Fraction(price)


def _microseconds(written: str) -> int:
    from datetime import datetime

    return microseconds(datetime.fromisoformat(written))
