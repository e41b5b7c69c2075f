"""Standing questions and all that a watcher needs to know about them, from one readable file, `rules.toml`."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from louver import parameters
from louver.errors import ParameterError
from louver.privacy import Unit
from louver.sense.building import Building
from louver.sense.formats.names import of_places
from louver.sense.presence import Rule as Timing
from louver.sense.readings_rows import Combining
from louver.source.names import instead_of
from louver.watch.durations import written
from louver.watch.hours import Hours
from louver.watch.targets import place_of

if TYPE_CHECKING:
    from louver.source.toml import Section
    from louver.watch.stream_rules import StreamRule

# What an access point can tell apart, and what these add up to. Rooms of a region it cannot.
LEVELS = ("region", "floor", "building")
PERSON, REGION, SLOT, DAY = "person", "region", "slot", "day"
UNITS = (Unit(PERSON, SLOT), Unit(PERSON, DAY), Unit(PERSON), Unit(REGION, SLOT))
SPARSE = "sparse"
_ORDER = (PERSON, REGION, SLOT, DAY)
STRATEGIES = ("shift", "progressive", "adaptive", SPARSE)
WALL, EVENTS = "wall", "events"
CLOCKS = (WALL, EVENTS)
TERMINAL = "terminal"
MOST_SLOTS = 1000
MOST_HYSTERESIS = 10**12


def unit_shown(unit: Unit) -> str:
    """A unit as people write it: who, and then when."""
    columns = sorted(unit.columns, key=lambda name: _ORDER.index(name) if name in _ORDER else len(_ORDER))
    return str(unit) if unit.is_row else f"({', '.join(columns)})"


@dataclass(frozen=True, slots=True)
class Closer:
    """A second question about the keys that were flagged: closer, at its own price and with its own promise."""

    slack: Fraction
    miss_rate: Fraction
    false_alarm_rate: Fraction | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One standing question about every key of a level.

    It is a condition (`having`, or a whole `ask`), or the number of each key (`values`, each `within` so much), which
    is flagged where it may be above the `limit`, and clear again `hysteresis` below that. `miss_rate` is for `pending`
    slots together.
    """

    name: str
    level: str = "region"
    having: str | None = None
    ask: str | None = None
    within: Fraction | None = None
    limit: str | Fraction | None = None
    miss_rate: Fraction
    slack: Fraction | None = None
    false_alarm_rate: Fraction | None = None
    strategy: str | None = None
    objective: str | None = None
    alarms: int | None = None
    pending: int = 1
    clear_after: int = 1
    hysteresis: Fraction = Fraction(0)
    hours: Hours = field(default_factory=Hours)
    closer: Closer | None = None
    to: tuple[str, ...] = (TERMINAL,)
    todo: str = ""

    def __post_init__(self) -> None:
        asked = [each for each in (self.having, self.ask, self.within) if each is not None]
        if len(asked) != 1:
            raise ParameterError("A rule has one of having, ask, or values = true with within.")
        if self.level not in LEVELS:
            said = " (access points tell regions apart, not their rooms)" if self.level == "room" else ""
            raise ParameterError(f"There is no level {self.level!r}{said or instead_of(self.level, LEVELS)}.")
        parameters.error_rate("miss_rate", self.miss_rate)
        parameters.integer("pending", self.pending, 1, MOST_SLOTS)
        parameters.integer("clear_after", self.clear_after, 1, MOST_SLOTS)
        if self.strategy is not None and self.strategy not in STRATEGIES:
            raise ParameterError(f"There is no strategy {self.strategy!r}{instead_of(self.strategy, STRATEGIES)}.")
        if not self.is_number and self.slack is None:
            raise ParameterError("slack is missing: how far below a threshold either answer is fine, such as 10.")
        if self.is_number and (self.closer is not None or self.strategy is not None or self.slack is not None):
            raise ParameterError(
                "Numbers take no slack, strategy or closer question; within says how far they are off."
            )
        if self.closer is not None and self.slack is not None and self.closer.slack > self.slack:
            raise ParameterError("A closer question has less slack than its rule, or as much; this one has more.")
        if not self.is_number and self.limit is not None:
            raise ParameterError("limit is for numbers; a condition has its limit in having.")
        parameters.within("hysteresis", self.hysteresis, 0, MOST_HYSTERESIS)
        if self.hysteresis and self.limit is None:
            raise ParameterError("hysteresis is for numbers with a limit; flags are held by clear_after slots.")

    @property
    def is_number(self) -> bool:
        """Whether it releases a number for each key."""
        return self.within is not None

    @property
    def slot_miss_rate(self) -> Fraction:
        """What each slot may miss, so that all pending ones together keep the promise."""
        return self.miss_rate / self.pending


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The rules, and what they are asked of: a building, its store, ledger, journal and salt; times in microseconds.

    `clock` says by which time slots become final: the wall's, or that of the events as in a replay. A feed that is not
    connected for longer than `no_data_after` is told as no data. By the wall's clock, a slot whose data comes more than
    `late_after` after it is undecided and costs nothing. Rows are forgotten after `keep`.
    Pseudonyms change every `rotate`. With `combining` the feed
    brings readings instead of presence, and a slot's rows have a value each.

    A recording is watched from `begin` up to `end` where they are given. Without them, `jump` is how far ahead of all
    others one event may be. `heartbeat` is a topic on which the sensors say that they are alive: where nothing comes
    for `no_data_after`, there is no data. `streams` are published from the same slots.
    """

    path: Path
    building: Building
    dataset: str
    unit: Unit
    rules: tuple[Rule, ...]
    store: str | Path
    ledger: str | Path
    salt: Path
    journal: Path
    timing: Timing = field(default_factory=Timing)
    feed: str | None = None
    options: dict[str, Any] = field(default_factory=dict)
    clock: str | None = None
    no_data_after: int = 600_000_000
    late_after: int | None = None
    keep: int | None = None
    rotate: int | None = None
    begin: int | None = None
    end: int | None = None
    jump: int = 86_400_000_000
    heartbeat: str | None = None
    combining: Combining | None = None
    channels: Section | None = None
    streams: tuple[StreamRule, ...] = ()

    def __post_init__(self) -> None:
        self._check_unit()
        if not self.rules and not self.streams:
            raise ParameterError("There is no rule; it needs a table [rule.NAME], or [stream.NAME].")
        self._check_streams()
        if self.clock is not None and self.clock not in CLOCKS:
            raise ParameterError(f"There is no clock {self.clock!r}{instead_of(self.clock, CLOCKS)}.")
        if self.keep is not None:
            self._check_keep(self.keep)
        if self.rotate is not None:
            self._check_rotation(self.rotate)
        if (self.begin is None) != (self.end is None):
            raise ParameterError("A range of a recording has both ends: from and to.")
        if self.begin is not None and self.end is not None and self.begin >= self.end:
            raise ParameterError("A range of a recording ends after it begins; to is not part of it.")

    def _check_unit(self) -> None:
        if self.unit not in UNITS:
            listed = ", ".join(unit_shown(unit) for unit in UNITS)
            raise ParameterError(f"The unit of a watch is one of {listed}, not {unit_shown(self.unit)}.")
        by_region = self.unit.fixes(REGION)
        if by_region and self.combining is None:
            raise ParameterError(f"The unit {unit_shown(self.unit)} is for readings; presence is of people.")
        if self.combining is not None and self.combining.by_region != by_region:
            raise ParameterError("Readings are combined by region where the unit is (region, slot), and only there.")
        fields = self.options.get("fields")
        if self.combining is None or fields is None or of_places(fields) in (None, by_region):
            return
        if by_region:
            raise ParameterError(
                f'The unit {self.unit} is for sensors of places, fields = "sensors"; readings that are somebody\'s own '
                f"take {UNITS[0]} or another unit of a person."
            )
        raise ParameterError(
            "Sensors of places are nobody's own and tell about whoever is there, so that no person would be protected; "
            'write unit = "(region, slot)".'
        )

    def _check_streams(self) -> None:
        for each in self.streams:
            each.check_slots(self.timing.slot)
        self._check_places()
        if self.streams and not self.unit.fixes(SLOT):
            raise ParameterError(
                f"A stream that comes slot by slot needs units that are in one slot each, so that what one adds is "
                f"bounded slot by slot; write {unit_shown(UNITS[0])} and not {unit_shown(self.unit)}, or leave it out."
            )

    def _check_places(self) -> None:
        """Ticks of two streams in one place would take each other's place there, or could not be told apart."""
        taken: dict[Hashable, str] = {}
        for each in self.streams:
            first = taken.setdefault(place_of(each.to), each.name)
            if first != each.name:
                raise ParameterError(
                    f"The streams {first} and {each.name} go to one place; give each a file, a topic or a table of its "
                    "own."
                )

    def _check_keep(self, keep: int) -> None:
        from louver.sense.retention import SHORTEST

        if keep < SHORTEST:
            raise ParameterError(f"keep must be {written(SHORTEST)} or more, not {written(keep)}.")

    def _check_rotation(self, rotate: int) -> None:
        if self.unit != Unit(PERSON, SLOT):
            raise ParameterError(
                "rotate goes with the unit (person, slot) only: elsewhere one person has several pseudonyms in what is "
                "protected, and would be paid for as one of them."
            )
        if rotate % self.timing.slot or rotate <= self.timing.validity:
            raise ParameterError("rotate must be a whole number of slots, and longer than the validity of an event.")

    @classmethod
    def read(cls, path: str | Path = "rules.toml", streams: tuple[StreamRule, ...] = ()) -> Rules:
        """From a file; what is wrong in it is said in one sentence with its place. Paths in it are relative to it.

        `streams` are published beside its own.
        """
        from louver.watch.rules_toml import read

        return read(Path(path), streams)

    @property
    def places(self) -> Mapping[str, str]:
        """The region of each access point; of each sensor, where readings are watched."""
        return self.building.access_points if self.combining is None else self.building.sensors

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.building.timezone)

    def rule(self, name: str) -> Rule:
        found = {rule.name: rule for rule in self.rules}
        if name not in found:
            raise ParameterError(f"{self.path} has no rule {name!r}{instead_of(name, found)}.")
        return found[name]

    def resting(self, slot: int) -> frozenset[str]:
        """The rules that do not ask at a slot, outside of their hours, by name."""
        return frozenset(rule.name for rule in self.rules) - {rule.name for rule in self.due(slot)}

    def due(self, slot: int) -> tuple[Rule, ...]:
        """The rules whose hours hold at a slot."""
        return tuple(rule for rule in self.rules if rule.hours.always or rule.hours.hold_at(slot, self.zone))
