"""Pseudonyms that change while a watch goes on, where the rules say `rotate`.

For as long as an event counts after a change, somebody may be there under both names. Then one person would have two
rows in a slot, which is paid for as one: such slots are not asked about. In all others everybody has one pseudonym.
"""

from __future__ import annotations

from louver.sense.events import instant
from louver.sense.pseudonyms import Door
from louver.sense.rotating import Rotating
from louver.watch.durations import written
from louver.watch.rules import Rules


def opened_door(rules: Rules) -> Door | Rotating:
    """The door of a watch, with one salt or with salts that change."""
    return Door.open(rules.salt) if rules.rotate is None else Rotating.open(rules.salt, rules.rotate)


def too_soon(rules: Rules, slot: int) -> str:
    """Why a slot is not asked about so soon after a change; empty where it is."""
    if rules.rotate is None or slot % rules.rotate >= rules.timing.validity:
        return ""
    change = slot - slot % rules.rotate
    return (
        f"Pseudonyms changed at {instant(change):%H:%M} UTC, and for {written(rules.timing.validity)} somebody may be "
        "there under two, so nothing was asked."
    )
