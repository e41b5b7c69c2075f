"""Invented people: their roles, habits and homes in the building, and the devices that they carry."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from louver.sense.simulate.dice import Dice, Truths, Whole
from louver.sense.simulate.hall import LAB, OFFICE, ROLES, STAFF, STUDENT, STUDY, VISITOR, Hall

MINUTE = 60_000
# For each kind of device how long it waits between two connections in the mean, where nobody moves.
KINDS = {"phone": 9 * MINUTE, "quiet phone": 16 * MINUTE, "laptop": 7 * MINUTE, "watch": 24 * MINUTE}
# The share of people of a role that carry each kind; a phone is of one of the two kinds.
CARRIED = {
    STAFF: {"phone": 0.62, "quiet phone": 0.33, "laptop": 0.50, "watch": 0.08},
    STUDENT: {"phone": 0.60, "quiet phone": 0.33, "laptop": 0.33, "watch": 0.05},
    VISITOR: {"phone": 0.58, "quiet phone": 0.32, "laptop": 0.14, "watch": 0.03},
}
REGULAR = 0.025  # of the students study in the building on most days


@dataclass(frozen=True, slots=True)
class People:
    """One entry for each person, staff first, then students, then visitors."""

    role: Whole  # a place in ROLES
    home: Whole  # the room in which somebody is when nothing calls
    arrives: Whole  # usual time of day, milliseconds
    stays: Whole  # usual time in the building
    keen: Whole  # in thousandths: how often somebody comes on a working day
    regular: Truths

    def __len__(self) -> int:
        return len(self.role)

    def numbers(self, role: str) -> Whole:
        return np.flatnonzero(self.role == ROLES.index(role))


@dataclass(frozen=True, slots=True)
class Devices:
    """Devices ordered by their owner; those of person p are at first[p] up to first[p + 1]."""

    owner: Whole
    kind: Whole  # a place in KINDS
    address: Whole  # 48 bits
    first: Whole

    def __len__(self) -> int:
        return len(self.owner)


def people(count: int, shares: tuple[float, float], hall: Hall, dice: Dice) -> People:
    """So many people, with these shares of staff and of students; the rest visit."""
    staff = max(1, round(count * shares[0])) if count else 0
    students = min(round(count * shares[1]), count - staff)
    role = np.repeat(np.arange(3), [staff, students, count - staff - students])
    is_staff, is_student = role == 0, role == 1
    regular = is_staff | (is_student & dice.chance(REGULAR, count))
    desks, seats = _seats(hall, OFFICE), _seats(hall, STUDY, LAB)
    desk = desks[np.arange(count) % len(desks)]
    seat = seats[dice.below(len(seats), count)]
    early = dice.normal(8 * 60 + 40, 45, count) * MINUTE
    late = dice.normal(10 * 60 + 45, 105, count) * MINUTE
    return People(
        role,
        np.where(is_staff, desk, seat),
        np.clip(np.where(is_staff, early, late), 6 * 60 * MINUTE, 19 * 60 * MINUTE),
        np.where(is_staff, dice.normal(7 * 60 + 30, 60, count), dice.normal(4 * 60, 80, count)) * MINUTE,
        np.where(is_staff, dice.between(600, 950, count), dice.between(250, 800, count)),
        regular,
    )


def _seats(hall: Hall, *kinds: str) -> Whole:
    """Each room as often as it has seats, in turns over the building so that a few people do not share one corner."""
    rooms = hall.rooms(*kinds)
    seats = np.repeat(rooms, hall.capacities[rooms])
    number = np.arange(len(seats)) - np.repeat(
        np.cumsum(hall.capacities[rooms]) - hall.capacities[rooms], hall.capacities[rooms]
    )
    return seats[np.argsort(number, kind="stable")]


def devices(crowd: People, dice: Dice) -> Devices:
    """What each person carries: mostly one device, some two or three, a few none that connects."""
    count = len(crowd)
    carried = np.zeros((count, len(KINDS)), dtype=np.bool_)
    which = dice.below(1000, count)
    shares = np.array([[CARRIED[role][kind] for kind in KINDS] for role in ROLES])[crowd.role]
    carried[:, 0] = which < (shares[:, 0] * 1000.0).astype(np.int64)
    carried[:, 1] = ~carried[:, 0] & (which < ((shares[:, 0] + shares[:, 1]) * 1000.0).astype(np.int64))
    carried[:, 2] = dice.chance(shares[:, 2], count)
    carried[:, 3] = dice.chance(shares[:, 3], count)
    owner, kind = (found.astype(np.int64) for found in np.nonzero(carried))
    first = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=count))]).astype(np.int64)
    return Devices(owner, kind, _addresses(len(owner), dice), first)


def _addresses(count: int, dice: Dice) -> Whole:
    """Different numbers of 40 bits behind 02, the sign of an address that no maker gave: multiples of an odd number."""
    odd, offset = (int(each) for each in dice.below(1 << 30, 2))
    spread = (np.arange(1, count + 1, dtype=np.uint64) * np.uint64(odd * 2048 + 1) + np.uint64(offset)) % np.uint64(
        1 << 40
    )
    return (spread + np.uint64(2 << 40)).astype(np.int64)


def written_address(address: int) -> str:
    """
    >>> written_address(2199023255553)
    '02:00:00:00:00:01'
    """
    return ":".join(f"{address:012x}"[at : at + 2] for at in range(0, 12, 2))
