"""`rules.toml`: from the file to rules, with one sentence for whatever is wrong in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from zoneinfo import ZoneInfo

from louver import parameters
from louver.privacy import Unit
from louver.sense.building import Building
from louver.sense.formats.fields import GENERIC, WIFI, Fields
from louver.sense.formats.names import named_fields
from louver.sense.formats.written import written_fields
from louver.sense.presence import Rule as Timing
from louver.sense.readings_rows import MEAN, Combining
from louver.source.names import instead_of, unit_meant
from louver.source.toml import Section
from louver.source.toml_file import parsed
from louver.watch.durations import duration
from louver.watch.hours import Hours
from louver.watch.moments import moment
from louver.watch.rules import LEVELS, REGION, TERMINAL, Closer, Rule, Rules
from louver.watch.stream_rules import StreamRule
from louver.watch.stream_toml import read_streams

_OF_A_WATCH = (
    *("building", "store", "ledger", "salt", "journal", "dataset", "unit", "feed", "format", "fields", "client"),
    *("slot", "validity", "lateness", "skew", "clock", "no_data_after", "late_after", "keep"),
    *("from", "to", "jump", "heartbeat", "rotate"),
    *("rows", "combine", "lower", "upper", "only"),
)
_OF_A_RULE = (
    *("level", "having", "ask", "values", "within", "limit", "miss_rate", "slack", "false_alarm_rate"),
    *(
        "strategy",
        "objective",
        "alarms",
        "pending",
        "clear_after",
        "hysteresis",
        "hours",
        "days",
        "closer",
        "to",
        "todo",
    ),
)
ROWS = ("presence", "readings")
_OF_A_CLOSER = ("slack", "miss_rate", "false_alarm_rate")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 _.-]{0,63}")
_SERVER = re.compile(r"[a-z]+://")


def read(path: Path, streams: tuple[StreamRule, ...] = ()) -> Rules:
    """The rules that a file describes, and its streams with some more."""
    file = Section(path, "", parsed(path))
    file.allow("watch", "rule", "alarm", "stream")
    given = file.section("watch")
    given.allow(*_OF_A_WATCH)
    channels = file.section("alarm")
    known = (TERMINAL, *channels.names())
    building = Building.read(path.parent / given.needed("building", '"building.toml"'))
    rules = tuple(rule for name, each in file.sections("rule").items() for rule in _rules(name, each, known))
    for rule in rules:
        if rule.level in building.domain(rule.level).column(rule.level):
            raise given.wrong("building", f"has a {rule.level} that is called {rule.level!r}; give it another id")
    if not building.access_points and given.text("rows") in (None, ROWS[0]):
        raise given.wrong("building", 'has no access_points; write those of each region: access_points = ["ap-1"]')
    store = _place(path, given.needed("store", '"store"'))
    with given.said():
        timing = Timing(
            **{name: _length(given, name) for name in ("validity", "slot", "lateness", "skew") if name in given}
        )
    written = read_streams(file, ZoneInfo(building.timezone), timing.slot)
    with given.said():
        return Rules(
            path=path,
            building=building,
            dataset=given.needed("dataset", '"hall 7"'),
            unit=(unit := _unit(given)),
            rules=rules,
            store=store,
            ledger=_place(path, given.needed("ledger", '"watch.ledger"')),
            salt=path.parent / given.needed("salt", '"salt"'),
            journal=_journal(path, given, store),
            timing=timing,
            feed=given.text("feed"),
            options=_options(given),
            clock=given.text("clock"),
            begin=_moment(given, "from", building),
            end=_moment(given, "to", building),
            heartbeat=given.text("heartbeat"),
            combining=_combining(given, by_region=unit.fixes(REGION)),
            channels=channels,
            streams=(*written, *streams),
            **{
                name: _length(given, name)
                for name in ("no_data_after", "late_after", "keep", "jump", "rotate")
                if name in given
            },
        )


def _combining(given: Section, *, by_region: bool) -> Combining | None:
    """How readings become rows; none where presence is watched."""
    rows = given.text("rows") or ROWS[0]
    if rows not in ROWS:
        raise given.wrong("rows", f"must be one of {' and '.join(ROWS)}{instead_of(rows, ROWS)}")
    if rows == ROWS[0]:
        for name in ("combine", "lower", "upper"):
            if name in given:
                raise given.wrong(name, 'is for readings; they take rows = "readings"')
        return None
    lower, upper = _needed(given, "lower", "0"), _needed(given, "upper", "10")
    return Combining(given.text("combine") or MEAN, float(lower), float(upper), by_region)


def _rules(name: str, given: Section, channels: tuple[str, ...]) -> Iterator[Rule]:
    """One rule; or one for each level, where several are named."""
    if not _NAME.fullmatch(name):
        raise given.wrong(name, "is no name for a rule; take letters, digits, blanks, dots and dashes, 64 at most")
    given.allow(*_OF_A_RULE)
    levels = given.raw("level") if isinstance(given.raw("level"), list) else [given.text("level") or LEVELS[0]]
    if not levels or len(set(map(str, levels))) < len(levels):
        raise given.wrong("level", "names each level once, and at least one")
    with given.said():
        rule = Rule(
            name=name,
            level=str(levels[0]),
            having=given.text("having"),
            ask=given.text("ask"),
            within=_within(given),
            limit=_limit(given),
            miss_rate=_needed(given, "miss_rate", "0.05"),
            slack=_number(given, "slack"),
            false_alarm_rate=_number(given, "false_alarm_rate"),
            strategy=given.text("strategy"),
            objective=given.text("objective"),
            alarms=given.whole("alarms"),
            pending=_whole(given, "pending"),
            clear_after=_whole(given, "clear_after"),
            hysteresis=_number(given, "hysteresis") or Fraction(0),
            hours=Hours.parse(given.text("hours"), given.raw("days")),
            closer=_closer(given.section("closer")) if "closer" in given else None,
            to=_to(given, channels),
            todo=given.text("todo") or "",
        )
        if len(levels) == 1:
            yield rule
            return
        for level in levels:
            yield replace(rule, name=f"{name}.{level}", level=str(level))


def _closer(given: Section) -> Closer:
    given.allow(*_OF_A_CLOSER)
    slack, miss_rate = _needed(given, "slack", "3"), _needed(given, "miss_rate", "0.01")
    return Closer(slack, miss_rate, _number(given, "false_alarm_rate"))


def _within(given: Section) -> Fraction | None:
    values = given.raw("values")
    if values not in (None, True):
        raise given.wrong("values", "must be true, or left out")
    if (values is None) != ("within" not in given):
        raise given.wrong("values" if values is None else "within", "is missing: values = true goes with within = 10")
    return _number(given, "within")


def _limit(given: Section) -> str | Fraction | None:
    found = given.raw("limit")
    return found if isinstance(found, str) else _number(given, "limit")


def _to(given: Section, channels: tuple[str, ...]) -> tuple[str, ...]:
    named = given.texts("to") or [TERMINAL]
    for name in named:
        if name not in channels:
            raise given.wrong(
                "to", f"names no channel {name!r}{instead_of(name, channels)}; write a table [alarm.NAME]"
            )
    return tuple(named)


def _unit(given: Section) -> Unit:
    text = given.text("unit") or "(person, slot)"
    if (meant := unit_meant(text)) is not None:
        raise given.wrong("unit", f"must be columns in parentheses (did you mean {meant!r}?)")
    with given.said("unit"):
        return Unit.parse(text)


def _journal(path: Path, given: Section, store: str | Path) -> Path:
    """Beside the store, unless another place is named."""
    named = given.text("journal")
    if named is not None:
        return path.parent / named
    return path.parent / "watch.journal" if isinstance(store, str) else store.with_name(f"{store.name}.journal")


def _place(path: Path, written: str) -> str | Path:
    return written if _SERVER.match(written) else path.parent / written


def _length(given: Section, name: str) -> int:
    with given.said(name):
        return duration("It", given.raw(name))


def _options(given: Section) -> dict[str, str | Fields | None]:
    """What the feed is opened with; readings are (unit, place, time, value) unless other fields are named."""
    usual = {"fields": "generic"} if given.text("rows") == ROWS[1] else {}
    options: dict[str, str | Fields | None] = {
        **usual,
        **{name: given.text(name) for name in ("format", "fields", "client") if name in given},
    }
    named = options.get("fields")
    if isinstance(named, str) and "=" in named:
        with given.said("fields"):
            options["fields"] = written_fields(named, GENERIC if usual else WIFI)
    if "only" not in given:
        return options
    only = given.texts("only") or []
    if len(only) != 2:
        raise given.wrong("only", 'is a field and its value, such as ["kind", "power"]')
    fields = options.get("fields") or "wifi"
    taken = named_fields(fields) if isinstance(fields, str) else fields
    return {**options, "fields": replace(taken, only=(only[0], only[1]))}


def _moment(given: Section, name: str, building: Building) -> int | None:
    if name not in given:
        return None
    with given.said(name):
        return moment("It", given.raw(name), ZoneInfo(building.timezone))


def _needed(given: Section, name: str, example: str) -> Fraction:
    found = _number(given, name)
    if found is None:
        raise given.wrong(name, f"is missing; write for example {name} = {example}")
    return found


def _number(given: Section, name: str) -> Fraction | None:
    if name not in given:
        return None
    with given.said(name):
        return parameters.fraction(name, given.raw(name))


def _whole(given: Section, name: str) -> int:
    found = given.whole(name)
    return 1 if found is None else found
