"""Rows of occupancy, (person, slot, region): what questions count, one for each person and slot.

A raw event is never the row: leaving out one event can change several slots. Rows of one person and slot are the unit
(person, slot), so that two slots of one person are paid for side by side.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from louver.errors import DataError
from louver.privacy import Unit
from louver.source import Table

if TYPE_CHECKING:
    from louver.sense.presence import Presence

UNIT = Unit("person", "slot")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Rows:
    """Who was where in which slot, ordered by slot, person and region. Private: its text shows nothing of it.

    `region` are numbers of names in `regions`; slots are microseconds UTC since 1970.
    """

    person: NDArray[np.int64]
    slot: NDArray[np.int64]
    region: NDArray[np.int32]
    regions: tuple[str, ...]

    @classmethod
    def ordered(cls, person: Any, slot: Any, region: Any, regions: tuple[str, ...]) -> Rows:
        order = np.lexsort((region, person, slot))
        people, slots, numbers = (np.asarray(each)[order] for each in (person, slot, region))
        return cls(people.astype(np.int64), slots.astype(np.int64), numbers.astype(np.int32), regions)

    @classmethod
    def none(cls, regions: tuple[str, ...]) -> Rows:
        return cls.ordered(np.empty(0), np.empty(0), np.empty(0), regions)

    def at(self, slot: int) -> Rows:
        """The rows of one slot."""
        first, end = np.searchsorted(self.slot, [slot, slot + 1])
        return Rows(self.person[first:end], self.slot[first:end], self.region[first:end], self.regions)

    def names(self) -> NDArray[np.object_]:
        """The region of each row by its name."""
        return np.array(self.regions, dtype=object)[self.region]

    def to_arrow(self) -> Any:
        """An Arrow table with columns person, slot (a time in UTC) and region."""
        try:
            import pyarrow
        except ImportError:
            raise DataError("Rows as an Arrow table need pyarrow; install it with: pip install pyarrow.") from None
        times = pyarrow.array(self.slot, pyarrow.int64()).cast(pyarrow.timestamp("us"))
        # Encoded by region: a name is kept once, however many rows have it.
        region = pyarrow.DictionaryArray.from_arrays(self.region, pyarrow.array(self.regions, pyarrow.string()))
        return pyarrow.table(
            {"person": self.person, "slot": times, "region": region.cast(pyarrow.string())},
        )

    def table(self, *, dataset: str, unit: Unit = UNIT, name: str | None = "occupancy") -> Table:
        """The rows for a steward, with the unit (person, slot) unless another is named. pyarrow need not be there."""
        columns = self.to_arrow() if find_spec("pyarrow") else self._arrays()
        return Table(columns, dataset=dataset, unit=unit, name=name)

    def _arrays(self) -> dict[str, NDArray[Any]]:
        return {"person": self.person, "slot": self.slot.astype("datetime64[us]"), "region": self.names()}

    def __len__(self) -> int:
        return len(self.slot)

    def __repr__(self) -> str:
        return "<rows of occupancy>"


@dataclass(frozen=True, slots=True, eq=False)
class Slots:
    """Slots that are final: every `step` from `begin` up to but not including `end`, also those without a row.

    `presence` has what ended up to the last slot, and what goes on up to the whole hour before it: pieces that touch
    are one stay.
    """

    begin: int
    end: int
    step: int
    rows: Rows
    presence: Presence | None = None

    def __len__(self) -> int:
        return max(0, -((self.begin - self.end) // self.step))

    def __iter__(self) -> Iterator[tuple[int, Rows]]:
        return ((slot, self.rows.at(slot)) for slot in range(self.begin, self.end, self.step))
