"""The rule of presence as slowly and plainly as it can be written, to compare with."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from louver.sense import Admitted, Presence, Rows, Rule

REGIONS = {"a1": "atrium", "a2": "atrium", "b1": "bar", "c1": "cellar"}
MINUTE = 60_000_000


class Seen(NamedTuple):
    person: int
    place: str
    time: int


def admitted(events: Iterable[Seen]) -> Admitted:
    listed = list(events)
    return Admitted.of(
        [each.person for each in listed] or np.empty(0, np.int64),
        [each.place for each in listed],
        [each.time for each in listed] or np.empty(0, np.int64),
    )


def stays(events: Iterable[Seen], rule: Rule) -> list[tuple[int, str, int, int]]:
    """(person, region, from, to) of each event, one after the other."""
    found = []
    known = {(each.person, each.time, REGIONS[each.place]) for each in events if each.place in REGIONS}
    for person, time, region in sorted(known):
        if any(who == person and when == time and name > region for who, when, name in known):
            continue
        later = [when for who, when, _ in known if who == person and when > time]
        found.append((person, region, time, min([time + rule.validity, *later])))
    return found


def presence(events: Iterable[Seen], rule: Rule) -> list[tuple[int, str, int, int]]:
    joined: list[tuple[int, str, int, int]] = []
    for person, region, start, end in stays(events, rule):
        if joined and joined[-1][:2] == (person, region) and joined[-1][3] == start:
            joined[-1] = (person, region, joined[-1][2], end)
        else:
            joined.append((person, region, start, end))
    return joined


def occupancy(events: Iterable[Seen], rule: Rule, during: int | None = None) -> set[tuple[int, int, str]]:
    listed = stays(list(events), rule)
    if not listed:
        return set()
    first = min(start for *_, start, _ in listed) // rule.slot * rule.slot
    last = max(end for *_, end in listed)
    rows: set[tuple[int, int, str]] = set()
    for slot in range(first, last + 1, rule.slot):
        if during is None:
            rows |= {(person, slot, region) for person, region, start, end in listed if start <= slot < end}
            continue
        for who in {person for person, *_ in listed}:
            stay: dict[str, int] = {}
            for person, region, start, end in listed:
                inside = min(end, slot + rule.slot) - max(start, slot)
                if person == who and inside > 0:
                    stay[region] = stay.get(region, 0) + inside
            longest = sorted(stay, key=lambda region: (-stay[region], region))[:during]
            rows |= {(who, slot, region) for region in longest}
    return rows


def as_set(rows: Rows) -> set[tuple[int, int, str]]:
    listed = list(zip(rows.person.tolist(), rows.slot.tolist(), rows.names().tolist(), strict=True))
    assert len(set(listed)) == len(listed)
    return set(listed)


def as_list(found: Presence) -> list[tuple[int, str, int, int]]:
    columns = (found.person.tolist(), found.names().tolist(), found.start.tolist(), found.end.tolist())
    return sorted(zip(*columns, strict=True), key=lambda row: (row[0], row[2]))
