"""What `louver watch` says at its end to whoever wonders: how to check that events fit, and why no slot was decided."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from louver.sense.formats.fields import Fields
    from louver.watch.rules import Rules

BROKERS = ("mqtt://", "mqtts://")
BY_THE_WALL = (
    "Slots ended by the wall clock, by which recorded events are late; replay them with --from and --to, or invented "
    "ones with --clock events."
)
NOTHING_DUE = "The rules' hours hold in no slot of it, or none of its events is of a place that the building lists."


def how_to_check(rules: Rules, source: str, options: Mapping[str, Any]) -> str:
    """How many events were accepted is not shown; whoever keeps them can count. `options` are those of the feed."""
    file = "FILE" if source == "-" or source.startswith(BROKERS) else source
    words = ["louver", "sense", file, "--as", "occupancy" if rules.combining is None else "readings"]
    if (fields := options.get("fields")) is not None:
        words += _written(fields)
    if (written := options.get("format")) is not None:
        words += ["--format", written]
    if (combining := rules.combining) is not None:
        words += ["--lower", f"{combining.lower:g}", "--upper", f"{combining.upper:g}"]
    building = rules.path.parent / "building.toml"
    words += ["--building", str(building) if building.exists() else "BUILDING", "--counts"]
    return f"How many events were accepted is not shown; to check that places match: {shlex.join(words)}"


def why_none(rules: Rules, source: str, clock: str) -> str:
    """Why no slot was decided, as far as that is public; empty where it is plain."""
    from louver.watch.journal import Journal
    from louver.watch.moments import shown
    from louver.watch.rules import WALL

    if clock == WALL:
        return "" if source.startswith(BROKERS) else BY_THE_WALL
    with Journal.open(rules.journal, create=False) as journal:
        before = [slot for rule in rules.rules if (slot := journal.decided(rule.name)) is not None]
    if before:
        return f"Slots up to {shown(max(before))} were decided before; none is decided or paid for twice."
    return NOTHING_DUE


def _written(fields: str | Fields) -> list[str]:
    """Fields as a command line names them."""
    from louver.sense.formats.names import KINDS

    if isinstance(fields, str):
        return ["--fields", fields]
    plain = replace(fields, only=None)
    own = {"device": plain.device, "place": plain.place, "time": plain.time, "value": plain.value, "clock": plain.clock}
    pairs = ",".join(f"{name}={value}" for name, value in own.items() if value is not None)
    named = next((name for name, usual in KINDS.items() if usual == plain), pairs)
    return ["--fields", named, *([] if fields.only is None else ["--only", "=".join(fields.only)])]
