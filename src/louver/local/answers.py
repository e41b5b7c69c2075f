"""The code book of a question: which answers there are, by name or numbered from 0.

Raw answers are checked by raising, as nowhere else: whoever calls `report` holds them and is the one told, and the
sentence never says which answer it was. Reports are public, and one that no device could send would only spoil counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.errors import ParameterError

MOST_CHOICES = 2**20
LONGEST_NAME = 128
_SHOWN = 6  # names in a sentence


@dataclass(frozen=True, slots=True)
class Answers:
    """So many answers, and their names where they have some.

    >>> Answers.of(["walk", "bus", "car"]).numbers("An answer", ["car", "walk"])
    array([2, 0])
    """

    count: int
    names: tuple[str, ...] | None = None
    _numbers: dict[str, int] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, given: int | Sequence[str]) -> Answers:
        if isinstance(given, str | bytes) or not isinstance(given, Sequence):
            return cls(parameters.integer("The number of choices", given, 2, MOST_CHOICES))
        names: tuple[Any, ...] = tuple(given)
        parameters.integer("The number of choices", len(names), 2, MOST_CHOICES)
        if any(not isinstance(name, str) or not name.strip() or len(name) > LONGEST_NAME for name in names):
            raise ParameterError(f"Answers must be named by texts of 1 to {LONGEST_NAME} characters.")
        if len(set(names)) < len(names):
            raise ParameterError("Two answers have one name; give each its own.")
        return cls(len(names), names, {name: number for number, name in enumerate(names)})

    @property
    def labels(self) -> Sequence[Any]:
        return range(self.count) if self.names is None else self.names

    def numbers(self, what: str, given: Any) -> NDArray[np.int64]:
        """The numbers of answers or reports; refused in one sentence if one is none of those that there are."""
        whole = unmasked(what, given)
        if self.names is not None:
            listed = whole.tolist() if hasattr(whole, "tolist") else whole
            if not isinstance(listed, list | tuple):
                raise ParameterError(f"{what}s must be one list of names, such as {self.names[0]!r}.")
            found = [self._numbers.get(each, -1) if isinstance(each, str) else -1 for each in listed]
            numbers = np.array(found, dtype=np.int64)
        else:
            numbers = parameters.integers(f"{what}s", whole)
        if len(numbers) and (numbers.min() < 0 or numbers.max() >= self.count):
            raise ParameterError(f"{what} is none of those that there are, which are {self._said()}.")
        return numbers

    def named(self, numbers: NDArray[np.int64]) -> NDArray[Any]:
        """As the question has them: names where there are some, else the numbers themselves."""
        return numbers if self.names is None else np.array(self.names, dtype=object)[numbers]

    def _said(self) -> str:
        if self.names is None:
            return f"numbered from 0 to {self.count - 1}"
        more = f" and {self.count - _SHOWN:,} more" if self.count > _SHOWN else ""
        return ", ".join(map(repr, self.names[:_SHOWN])) + more


def yes_or_no(what: str, given: Any) -> NDArray[np.bool_]:
    whole = unmasked(what, given)
    try:
        array = np.asarray(whole)
    except ValueError:
        array = np.empty((0, 0))
    if array.ndim != 1 or (array.size and array.dtype.kind != "b"):
        raise ParameterError(f"{what}s must be one list of True and False.")
    return array.astype(np.bool_)


def unmasked(what: str, given: Any) -> Any:
    """An answer that is not there must not count as the first one."""
    if np.ma.is_masked(given):
        raise ParameterError(f"{what} is missing; leave out whoever did not answer.")
    return given
