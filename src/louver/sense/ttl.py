"""Counts of rotating pseudonyms, for the attack study only: no mechanism, no price, no promise, nothing to publish.

Each device gets a new pseudonym every time to live (see `rotating`). A pseudonym is where its last event was, until the
validity is over, and a tick counts the pseudonyms of a region. So a device counts once for each epoch with an event
within the validity: the shorter the time to live, the higher the counts. That is all that changes: counts do not depend
on names, nothing here has noise, and one person can be seen in them as in true counts.

`Rotating` gives the same people event by event; here all events are counted at once, because a study tries many times
to live on months of events. After sorting by device and time, the events of one pseudonym are neighbours.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import numpy as np
from numpy.typing import ArrayLike, NDArray

from louver import parameters
from louver.errors import ParameterError
from louver.sense.events import LATEST
from louver.sense.presence import Rule, duration

MOST_REGIONS, MOST_TICKS = 2**16, 2**24
BLOCK = 2**20  # events at a time, so that months of them fit beside what is made of them

Whole = NDArray[np.int64]


class Sightings:
    """Events as numbers: which device, in which region, and when, in microseconds UTC since 1970.

    A region below 0 is none that is counted: such an event only begins a device's own epochs, as at the door. Times
    that are no event's are left out. All of it is private, and so are the counts.

    >>> seen = Sightings([7, 7, 7, 8], [0, 0, 1, 0], [0, 200, 500, 650], regions=2, rule=Rule(validity=600, slot=300))
    >>> seen.counts(0, 4).tolist()
    [[1, 0], [1, 0], [0, 1], [1, 1]]
    >>> seen.counts(0, 4, ttl=200).tolist()
    [[1, 0], [2, 0], [1, 1], [1, 1]]
    """

    def __init__(
        self, device: ArrayLike, region: ArrayLike, time: ArrayLike, *, regions: int, rule: Rule | None = None
    ) -> None:
        self.regions = parameters.integer("The number of regions", regions, 1, MOST_REGIONS)
        self.rule = Rule() if rule is None else rule
        devices, places, times = (
            parameters.integers(name, given)
            for name, given in (("Devices", device), ("Regions", region), ("Times", time))
        )
        if not len(devices) == len(places) == len(times):
            raise ParameterError("Devices, regions and times must be equally many.")
        if len(places) and int(places.max()) >= self.regions:
            raise ParameterError(f"Regions must be numbers below {self.regions:,}.")
        known = (times >= 0) & (times < LATEST)
        if not known.all():
            devices, places, times = devices[known], places[known], times[known]
        order = _ordered(devices, times, places)
        devices, places, times = devices[order], places[order], times[order]
        begins = np.concatenate((np.ones(min(len(devices), 1), dtype=bool), devices[1:] != devices[:-1]))
        self._first, whose = times[begins], np.cumsum(begins) - 1
        counted = places >= 0
        self._whose, self._time = whose[counted].astype(np.int32), times[counted]
        self._region = places[counted].astype(np.int32)

    def counts(self, begin: int, ticks: int, ttl: timedelta | int | None = None, *, per_device: bool = False) -> Whole:
        """The pseudonyms in each region at each tick, ticks by regions; the first tick is at `begin`.

        Without a `ttl` pseudonyms never change: the true counts. Epochs are everybody's, or each device's own.
        """
        parameters.integer("begin", begin, 0, LATEST)
        parameters.integer("ticks", ticks, 1, MOST_TICKS)
        lives = None if ttl is None else duration("The time to live of a salt", ttl)
        steps = np.zeros(self.regions * (ticks + 1), dtype=np.int64)
        for region, time, until in self._stays(lives, per_device):
            # A tick at t is covered where time <= t < until: from the first tick at or after each.
            ends = [np.clip(-((begin - each) // self.rule.slot), 0, ticks) for each in (time, until)]
            long = ends[0] < ends[1]
            for sign, end in zip((1, -1), ends, strict=True):
                steps += sign * np.bincount(region[long] * np.int64(ticks + 1) + end[long], minlength=len(steps))
        return steps.reshape(self.regions, ticks + 1)[:, :-1].cumsum(axis=1).T

    def _stays(self, ttl: int | None, per_device: bool) -> Iterator[tuple[NDArray[np.int32], Whole, Whole]]:
        """Region, time and end of each event, block by block: it lasts until the same pseudonym's next event."""
        for start in range(0, len(self._time), BLOCK):
            whose, time = self._whose[start : start + BLOCK + 1], self._time[start : start + BLOCK + 1]
            same = whose[1:] == whose[:-1]
            if ttl is not None:
                epoch = (time - self._first[whose] if per_device else time) // ttl
                same &= epoch[1:] == epoch[:-1]
            until = time[: len(self._time) - start][:BLOCK] + self.rule.validity
            followed = np.flatnonzero(same)
            until[followed] = np.minimum(until[followed], time[followed + 1])
            yield self._region[start : start + len(until)], time[: len(until)], until

    def __repr__(self) -> str:
        return "<sightings>"


def _ordered(devices: Whole, times: Whole, places: Whole) -> NDArray[np.intp]:
    """By device, time and region: one number to sort by is far quicker than three columns, where it fits."""
    if not len(devices):
        return np.empty(0, dtype=np.intp)
    lowest, span = int(devices.min()), int(times.max()) + 1
    if (int(devices.max()) - lowest + 1) * span >= 2**63:
        return np.lexsort((places, times, devices))
    key = (devices - lowest) * span + times
    order = np.argsort(key)
    key = key[order]
    same = np.flatnonzero(key[1:] == key[:-1])
    tied = np.union1d(same, same + 1)
    order[tied] = order[tied][np.lexsort((places[order[tied]], key[tied]))]
    return order
