"""What a plan asks to read, and what it gets: one bounded count per key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.errors import ParameterError
from louver.privacy import Among, Scope
from louver.privacy.unit import column_name

MOST_KEYS = 2**20
MOST_ROWS_PER_UNIT = 2**20
# What the engine's whole numbers can hold.
LARGEST_NUMBER = 2**127 - 1


@dataclass(frozen=True, slots=True, init=False)
class Counts:
    """Rows counted by key: of each unit at most `rows_per_unit` rows, of the rows `within` a scope.

    The keys are public and in order; rows of other keys do not count, and a key without rows counts 0.

    >>> Counts("room", ["hall", "attic"]).to_dict()
    {'by': 'room', 'keys': ['hall', 'attic'], 'within': {}, 'rows_per_unit': 1}
    """

    by: str
    keys: tuple[str, ...]
    within: Scope
    rows_per_unit: int

    def __init__(self, by: str, keys: Iterable[str], within: Scope | None = None, rows_per_unit: int = 1) -> None:
        column = column_name(by)
        scope = Scope.everything() if within is None else within
        if not isinstance(scope, Scope):
            raise ParameterError(f"Rows count within a Scope, not within a {type(scope).__name__}.")
        if column in dict(scope.ranges):
            raise ParameterError(f"Column {column!r} has the keys, so `within` must not restrict it; list fewer keys.")
        for restricted, kept in scope.ranges:
            edges = kept.values if isinstance(kept, Among) else (kept.start, kept.end)
            if any(isinstance(edge, int) and abs(edge) > LARGEST_NUMBER for edge in edges):
                raise ParameterError(f"Numbers of column {restricted!r} must lie between -2**127 and 2**127.")
        object.__setattr__(self, "by", column)
        object.__setattr__(self, "keys", _keys(keys))
        object.__setattr__(self, "within", scope)
        bound = parameters.integer("rows_per_unit", rows_per_unit, 1, MOST_ROWS_PER_UNIT)
        object.__setattr__(self, "rows_per_unit", bound)

    def columns(self) -> tuple[str, ...]:
        """The columns that the rows must have, beside those of the unit."""
        return (self.by, *(column for column, _ in self.within.ranges))

    def to_dict(self) -> dict[str, Any]:
        return {
            "by": self.by,
            "keys": list(self.keys),
            "within": self.within.to_dict(),
            "rows_per_unit": self.rows_per_unit,
        }

    @classmethod
    def from_dict(cls, plain: object) -> Counts:
        if not isinstance(plain, Mapping) or set(plain) != {"by", "keys", "within", "rows_per_unit"}:
            raise ParameterError("Stored counts need 'by', 'keys', 'within' and 'rows_per_unit', and nothing else.")
        return cls(plain["by"], plain["keys"], Scope.from_dict(plain["within"]), plain["rows_per_unit"])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class View:
    """The true counts, in the order of the keys. Private: only a mechanism's `run` may look at them."""

    counts: NDArray[np.int64]

    def __repr__(self) -> str:
        return f"View({len(self.counts)} private counts)"


def _keys(keys: object) -> tuple[str, ...]:
    listed = None
    if isinstance(keys, Iterable) and not isinstance(keys, str | bytes):
        with suppress(TypeError):  # NumPy's single numbers look iterable and are not
            listed = tuple(keys)
    if listed is None:
        raise ParameterError("The keys must be a list of texts.")
    if not 1 <= len(listed) <= MOST_KEYS:
        raise ParameterError(f"There must be between 1 and {MOST_KEYS} keys, not {len(listed)}.")
    if any(not isinstance(key, str) for key in listed):
        raise ParameterError("Each key must be a text, as the engine writes the value; 12 is written '12'.")
    if "" in listed:
        raise ParameterError("A key must not be the empty text, which stands for a missing value.")
    if len(set(listed)) < len(listed):
        repeated = next(key for number, key in enumerate(listed) if key in listed[:number])
        raise ParameterError(f"Each key is asked about once, but {repeated[:40]!r} comes twice.")
    Among(listed)  # says what else is wrong with a text
    return tuple(str.__str__(key) for key in listed)
