"""Stays: who is in which room from when to when. Activities may overlap; `settled` makes of them a possible day."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from louver.sense.simulate.dice import Truths, Whole

OUTSIDE = -1  # the room of whoever left for a while


@dataclass(frozen=True, slots=True)
class Stays:
    """Rows of (person, room, start, end), in milliseconds; the end is not part of the stay."""

    person: Whole
    room: Whole
    start: Whole
    end: Whole

    def __len__(self) -> int:
        return len(self.person)

    @classmethod
    def of(cls, person: Whole, room: Whole | int, start: Whole | int, end: Whole | int) -> Stays:
        return cls(
            person, *(np.broadcast_to(np.asarray(each, dtype=np.int64), person.shape) for each in (room, start, end))
        )

    @classmethod
    def joined(cls, parts: Sequence[Stays]) -> Stays:
        return cls(
            *(
                np.concatenate([np.zeros(0, dtype=np.int64), *(getattr(part, name) for part in parts)])
                for name in cls.__slots__
            )
        )

    def where(self, chosen: Truths | Whole) -> Stays:
        return Stays(self.person[chosen], self.room[chosen], self.start[chosen], self.end[chosen])

    def ordered(self) -> Stays:
        return self.where(np.lexsort((self.room, self.start, self.person)))


def settled(activities: Stays, base: Stays, shortest: int) -> Stays:
    """One place at a time for everybody: an activity ends when the next begins, and gaps are spent at the base.

    `base` has at most one row a person: the room to be in between its start and end. What is shorter than `shortest` is
    left out.
    """
    busy = activities.ordered()
    busy = _until_next(busy, shortest)
    # The base before the first activity, between any two, and after the last, cut to the time it is for.
    size = 1 + max(int(busy.person.max(initial=-1)), int(base.person.max(initial=-1)))
    begins, ends, room = (np.zeros(size, dtype=np.int64) for _ in range(3))
    begins[base.person], ends[base.person], room[base.person] = base.start, base.end, base.room
    is_last = np.append(busy.person[1:] != busy.person[:-1], True)[: len(busy)]
    is_first = np.append(True, is_last[:-1])[: len(busy)]
    until = np.where(is_last, ends[busy.person], np.append(busy.start[1:], 0)[: len(busy)])
    after = Stays(
        busy.person, room[busy.person], np.maximum(busy.end, begins[busy.person]), np.minimum(until, ends[busy.person])
    )
    opening = busy.where(is_first)
    before = Stays(
        opening.person, room[opening.person], begins[opening.person], np.minimum(opening.start, ends[opening.person])
    )
    idle = base.where(~np.isin(base.person, busy.person))
    filled = Stays.joined([after, before, idle])
    filled = filled.where(filled.end - filled.start >= shortest)
    made = Stays.joined([busy, filled]).ordered()
    return made.where(made.room != OUTSIDE)


def _until_next(stays: Stays, shortest: int) -> Stays:
    """Each stay until the same person's next one, again and again until nobody is in two places."""
    while True:
        same = np.append(stays.person[1:] == stays.person[:-1], False)[: len(stays)]
        following = np.append(stays.start[1:], 0)[: len(stays)]
        end = np.where(same, np.minimum(stays.end, following), stays.end)
        long_enough = end - stays.start >= shortest
        stays = Stays(stays.person, stays.room, stays.start, end).where(long_enough)
        if long_enough.all():
            return stays
