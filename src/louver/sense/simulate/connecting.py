"""From stays to what access points say: a device connects when it arrives or moves, and now and then while it rests."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from louver.sense.simulate.dates import Incident
from louver.sense.simulate.dice import UNIT, Dice, Truths, Whole
from louver.sense.simulate.hall import Hall
from louver.sense.simulate.people import KINDS, Devices
from louver.sense.simulate.stays import Stays

ON_ARRIVAL = 0.85  # of devices connect within seconds of arriving; others at their next turn
ASTRAY = 0.04  # of connections are made by the neighbour's access point
HEARD_NEXT_DOOR = 0.6  # of what a broken access point would have said


@dataclass(frozen=True, slots=True)
class Connections:
    """Rows of (device, region of the access point, time in milliseconds), in order of time."""

    device: Whole
    region: Whole
    time: Whole

    def __len__(self) -> int:
        return len(self.device)

    def where(self, chosen: Truths | Whole) -> Connections:
        return Connections(self.device[chosen], self.region[chosen], self.time[chosen])


def connections(stays: Stays, carried: Devices, hall: Hall, fault: Incident, dice: Dice) -> Connections:
    """What the access points say of these stays; the broken one says nothing while it is."""
    each = carried.first[stays.person + 1] - carried.first[stays.person]
    row = np.repeat(np.arange(len(stays)), each)
    device = carried.first[stays.person[row]] + np.arange(len(row)) - np.repeat(np.cumsum(each) - each, each)
    start, length = stays.start[row], stays.end[row] - stays.start[row]
    arrives = np.flatnonzero(dice.chance(ON_ARRIVAL, len(row)))
    delay = np.minimum(dice.below(20_000, len(arrives)), length[arrives] - 1)
    again, since = _again(length, np.array(list(KINDS.values()))[carried.kind[device]], dice)
    chosen = np.concatenate([arrives, again])
    time = start[chosen] + np.concatenate([delay, since])
    made = Connections(device[chosen], hall.region_of_room[stays.room[row[chosen]]], time)
    heard = _heard(made, hall, fault, dice)
    heard = heard.where(np.lexsort((heard.device, heard.time)))
    twice = (heard.device[1:] == heard.device[:-1]) & (heard.time[1:] == heard.time[:-1])
    return heard.where(np.append(True, ~twice)[: len(heard)])


def _again(length: Whole, mean: Whole, dice: Dice) -> tuple[Whole, Whole]:
    """Further connections: which rows, and how long after their start.

    All rows lie one after the other on one line, each as long as it lasts in mean waiting times of its device, and
    waiting times are laid along that line.
    """
    ends = np.cumsum(length * UNIT // mean)
    total = int(ends[-1]) if len(ends) else 0
    at = np.cumsum(dice.waits(total // UNIT * 11 // 10 + 100))
    at = at[at < total]
    row = np.searchsorted(ends, at, side="right")
    before = np.append(0, ends)[row]
    return row, np.minimum((at - before) * mean[row] // UNIT, length[row] - 1)


def _heard(made: Connections, hall: Hall, fault: Incident, dice: Dice) -> Connections:
    """By which access point: mostly the region's own, sometimes the next; a broken one is silent."""
    next_door = hall.neighbour_of_region
    region = np.where(dice.chance(ASTRAY, len(made)), next_door[made.region], made.region)
    lost = (region == fault.place) & (made.time >= fault.start) & (made.time < fault.end)
    saved = lost & dice.chance(HEARD_NEXT_DOOR, len(made))
    return Connections(made.device, np.where(saved, next_door[region], region), made.time).where(~lost | saved)
