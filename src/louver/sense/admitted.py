"""Events after the door: a pseudonym in place of each device id, column by column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from louver.errors import ParameterError


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Admitted:
    """Who (a pseudonym), where, when, and a value where there is one (NaN where not). Its text shows nothing of it."""

    person: NDArray[np.int64]
    place: NDArray[np.object_]
    time: NDArray[np.int64]
    value: NDArray[np.float64]

    @classmethod
    def of(
        cls, person: Sequence[int] | Any, place: Sequence[str] | Any, time: Sequence[int] | Any, value: Any = None
    ) -> Admitted:
        """From columns of equal length; lists and arrays are both fine."""
        places = np.empty(len(place), dtype=object)
        places[:] = place
        people, times = _whole("pseudonyms", person), _whole("times", time)
        values = np.full(len(places), np.nan) if value is None else np.asarray(value, dtype=np.float64)
        if not len(people) == len(places) == len(times) == len(values):
            raise ParameterError("The columns of admitted events must be equally long.")
        return cls(people, places, times, values)

    @classmethod
    def none(cls) -> Admitted:
        return cls.of([], [], [])

    def __len__(self) -> int:
        return len(self.time)

    def __getitem__(self, chosen: Any) -> Admitted:
        """Those that a mask, a slice or an array of places chooses."""
        return Admitted(self.person[chosen], self.place[chosen], self.time[chosen], self.value[chosen])

    def __add__(self, other: Admitted) -> Admitted:
        return Admitted(
            np.concatenate([self.person, other.person]),
            np.concatenate([self.place, other.place]),
            np.concatenate([self.time, other.time]),
            np.concatenate([self.value, other.value]),
        )

    def __repr__(self) -> str:
        return "<admitted events>"


def _whole(what: str, given: Any) -> NDArray[np.int64]:
    array = np.asarray(given)
    if array.ndim != 1 or (array.size and array.dtype.kind != "i"):
        raise ParameterError(f"The {what} of admitted events are one column of signed whole numbers.")
    return array.astype(np.int64, copy=False)
