"""`[stream.NAME]` in `rules.toml`: from the file to streams, with one sentence for whatever is wrong in it."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from louver import parameters
from louver.source.toml import Section
from louver.watch.durations import duration, written
from louver.watch.moments import moment
from louver.watch.stream_rules import StreamRule
from louver.watch.targets_growing import live_target

OPTIONS = ("smoother", "split", "arity", "lag", "threshold", "factor", "share", "over", "bins")
NUMBERS = ("epsilon", "delta", "rho", "within", "miss_rate", "slack", "tick_bound")
AS_GIVEN = ("window", "last", "above", "totals")
OF_A_STREAM = (
    *("by", "sum", "distinct", "mechanism", *OPTIONS, *NUMBERS, *AS_GIVEN),
    *("every", "from", "until", "each", "to"),
)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 _.-]{0,39}")
_SERVER = re.compile(r"[a-z]+://")


def read_streams(file: Section, zone: ZoneInfo, slot: int) -> tuple[StreamRule, ...]:
    """The streams of a file. `slot` is how long the watch's slots are, which are the ticks."""
    return tuple(_stream(name, each, zone, slot) for name, each in file.sections("stream").items())


def _stream(name: str, given: Section, zone: ZoneInfo, slot: int) -> StreamRule:
    if not _NAME.fullmatch(name):
        raise given.wrong(name, "is no name for a stream; take letters, digits, blanks, dots and dashes, 40 at most")
    given.allow(*OF_A_STREAM)
    if "every" in given and _length(given, "every") != slot:
        raise given.wrong(
            "every", f"is another length than the watch's slot, {written(slot)}, which is the tick of its streams"
        )
    with given.said():
        return StreamRule(
            name=name,
            by=_by(given),
            asked=_asked(given),
            begin=_moment(given, "from", zone),
            end=_moment(given, "until", zone),
            each=_length(given, "each") if "each" in given else None,
            to=_to(given),
        )


def _asked(given: Section) -> dict[str, Any]:
    """Whatever `louver.stream.stream` takes beside its ticks and regions."""
    named = {"sum_of": given.text("sum"), "distinct": given.text("distinct"), "mechanism": given.text("mechanism")}
    return {
        **{name: text for name, text in named.items() if text is not None},
        **{name: _number(given, name) for name in NUMBERS if name in given},
        **{name: given.raw(name) for name in AS_GIVEN if name in given},
        "options": {option: _option(given.raw(option)) for option in OPTIONS if option in given},
    }


def _option(found: Any) -> Any:
    """Numbers with a point go on as they were written."""
    return str(found) if isinstance(found, Decimal) else found


def _by(given: Section) -> tuple[str, ...]:
    if isinstance(given.raw("by"), list):
        return tuple(map(str, given.raw("by")))
    named = given.text("by") or "region"
    if "," in named:
        several = ", ".join(f'"{each.strip()}"' for each in named.split(","))
        raise given.wrong("by", f"names several levels in one text; write a list: [{several}]")
    return (named,)


def _to(given: Section) -> str:
    """Paths are relative to the file."""
    place = given.needed("to", '"counts.csv", "mqtt://broker/rooms"')
    if place == "-":
        raise given.wrong(
            "to", "cannot be the output, where a watch says other things; louver publish stream writes there"
        )
    where = place if _SERVER.match(place) else str(Path(given.file).parent / place)
    with given.said("to"):
        live_target(where)
    return where


def _moment(given: Section, name: str, zone: ZoneInfo) -> int | None:
    if name not in given:
        return None
    with given.said(name):
        return moment("It", given.raw(name), zone)


def _length(given: Section, name: str) -> int:
    with given.said(name):
        return duration("It", given.raw(name))


def _number(given: Section, name: str) -> Fraction:
    with given.said(name):
        return parameters.fraction(name, given.raw(name))
