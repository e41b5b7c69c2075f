"""Erasures that were asked for: out of the store, and out of what a watch holds in memory.

What was decided stays as it is. Slots that are not decided yet lose the person. A request is taken back only when all
of that is done, so that it outlives a crash at any step.
"""

from __future__ import annotations

import numpy as np

from louver.sense.admitted import Admitted
from louver.sense.occupancy import Occupancy
from louver.sense.readings import Readings
from louver.sense.store import Store
from louver.watch.journal_erasures import Erasures


class Erasing:
    """Takes requests from a journal and carries them out."""

    def __init__(self, asked: Erasures, store: Store) -> None:
        self._asked, self._store = asked, store
        asked.bind(store.salt)
        self._until: dict[int, int] = {}  # up to when nothing more is taken in of those who were erased

    def run(self, occupancy: Occupancy | Readings | None = None) -> None:
        """Do what is asked for."""
        waiting = self._asked.waiting()
        if waiting:
            self._store.erase(*(erasure.person for erasure in waiting))  # all at once: the files are written anew
        for erasure in waiting:
            if occupancy is not None:
                occupancy.forget(erasure.person)
                self._until[erasure.person] = erasure.asked
            self._asked.done(erasure)
        if self._until and occupancy is not None:  # what is behind the watermark is late anyway
            self._until = {person: at for person, at in self._until.items() if at >= occupancy.watermark}

    def left(self, events: Admitted) -> Admitted:
        """The events without those that were under way when their person was erased."""
        gone = np.zeros(len(events), dtype=np.bool_)
        for person, until in self._until.items():
            gone |= (events.person == person) & (events.time <= until)
        return events[~gone] if gone.any() else events
