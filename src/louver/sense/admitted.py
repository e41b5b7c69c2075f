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
    """Who (a pseudonym), where, when, and a value where there is one (NaN where not). Its text shows nothing of it.

    `position` is x and y of each, where the feed has positions and they are wanted.
    """

    person: NDArray[np.int64]
    place: NDArray[np.object_]
    time: NDArray[np.int64]
    value: NDArray[np.float64]
    position: NDArray[np.float64] | None = None

    @classmethod
    def of(
        cls,
        person: Sequence[int] | Any,
        place: Sequence[str] | Any,
        time: Sequence[int] | Any,
        value: Any = None,
        position: Any = None,
    ) -> Admitted:
        """From columns of equal length; lists and arrays are both fine."""
        places = np.empty(len(place), dtype=object)
        places[:] = place
        people, times = _whole("pseudonyms", person), _whole("times", time)
        values = np.full(len(places), np.nan) if value is None else np.asarray(value, dtype=np.float64)
        if not len(people) == len(places) == len(times) == len(values):
            raise ParameterError("The columns of admitted events must be equally long.")
        return cls(people, places, times, values, _positions(position, len(places)))

    @classmethod
    def none(cls) -> Admitted:
        return cls.of([], [], [])

    def __len__(self) -> int:
        return len(self.time)

    def __getitem__(self, chosen: Any) -> Admitted:
        """Those that a mask, a slice or an array of places chooses."""
        position = None if self.position is None else self.position[chosen]
        return Admitted(self.person[chosen], self.place[chosen], self.time[chosen], self.value[chosen], position)

    def __add__(self, other: Admitted) -> Admitted:
        return Admitted.joined([self, other])

    @classmethod
    def joined(cls, parts: Sequence[Admitted]) -> Admitted:
        """One after the other. Positions stay where all parts have them."""
        if not parts:
            return cls.none()
        positions = [part.position for part in parts if part.position is not None]
        return cls(
            np.concatenate([part.person for part in parts]),
            np.concatenate([part.place for part in parts]),
            np.concatenate([part.time for part in parts]),
            np.concatenate([part.value for part in parts]),
            np.concatenate(positions) if len(positions) == len(parts) else None,
        )

    def __repr__(self) -> str:
        return "<admitted events>"


def _positions(given: Any, count: int) -> NDArray[np.float64] | None:
    if given is None:
        return None
    made = np.asarray(given, dtype=np.float64).reshape(-1, 2)
    if len(made) != count:
        raise ParameterError("The columns of admitted events must be equally long.")
    return made


def _whole(what: str, given: Any) -> NDArray[np.int64]:
    array = np.asarray(given)
    if array.ndim != 1 or (array.size and array.dtype.kind != "i"):
        raise ParameterError(f"The {what} of admitted events are one column of signed whole numbers.")
    return array.astype(np.int64, copy=False)
