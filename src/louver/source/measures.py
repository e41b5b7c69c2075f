"""What a plan asks to read, and what it gets: whole numbers per key, from bounded contributions.

The keys are public and in order; rows of other keys do not count, and a key without rows counts 0. Of each unit only so
much is read as a `Bound` allows, by a rule that looks at the unit's own rows only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.errors import ParameterError
from louver.noise.grid import Grid
from louver.privacy.unit import column_name
from louver.source import filters
from louver.source.filters import EVERY_ROW, Filter

KeyValue: TypeAlias = "str | int | bool | date | datetime"
COUNT, DISTINCT, SUM, BEYOND, ODD = "count", "distinct", "sum", "beyond", "odd"
MOST_KEYS = 2**20
MOST_PER_UNIT = 2**20
LARGEST_COUNTED = 2**40


@dataclass(frozen=True, slots=True)
class Keys:
    """The public keys over one or more columns, each once and in order. No columns: one key, which is all rows."""

    columns: tuple[str, ...]
    values: Sequence[tuple[KeyValue, ...]]

    def __len__(self) -> int:
        return len(self.values)


@dataclass(frozen=True, slots=True)
class Bound:
    """What counts of one unit: at most `rows` rows in all; or at most `keys` keys, and of each at most `rows` rows.

    Keys are those of the reading's first list.
    """

    rows: int = 1
    keys: int | None = None

    def __post_init__(self) -> None:
        parameters.integer("rows_per_unit", self.rows, 1, MOST_PER_UNIT)
        if self.keys is not None:
            parameters.integer("keys_per_unit", self.keys, 1, MOST_PER_UNIT)


@dataclass(frozen=True, slots=True)
class Measure:
    """One whole number per key of the reading's list number `keys`, over the rows that pass `where`.

    - count: rows; where a column is given, rows whose value there is a number.
    - distinct: different values of a column.
    - sum: values of a column in steps of its grid, each clamped and rounded by itself; what is no number adds nothing.
    - beyond: rows whose value is above the limit of their key (`sign` ">"), or at least (">="), below, or at most it.
    - odd: rows whose value is no count: no whole number from 0 to `LARGEST_COUNTED`.
    """

    kind: str
    keys: int = 0
    where: Filter = EVERY_ROW
    column: str | None = None
    grid: Grid | None = None
    sign: str | None = None
    limits: tuple[Fraction, ...] | None = None

    def __post_init__(self) -> None:
        needs = {
            COUNT: (False, False),
            DISTINCT: (True, False),
            SUM: (True, False),
            BEYOND: (True, True),
            ODD: (True, False),
        }
        if self.kind not in needs:
            raise ParameterError(f"Louver cannot measure {self.kind!r}.")
        column, limits = needs[self.kind]
        if (
            (column and self.column is None)
            or limits != (self.limits is not None)
            or (self.kind == SUM) != bool(self.grid)
        ):
            raise ParameterError(f"The measure {self.kind!r} does not have what it needs.")
        if self.column is not None:
            column_name(self.column)


@dataclass(frozen=True, slots=True)
class Reading:
    """Everything that one act reads: measures over lists of keys, of rows that pass `where`, bounded per unit.

    `bound` is None where one unit cannot weigh more than it may without one: the unit is the row itself, or every
    measure counts different values of a column that the unit fixes, under keys that it fixes.
    """

    keys: tuple[Keys, ...]
    measures: tuple[Measure, ...]
    where: Filter = EVERY_ROW
    bound: Bound | None = field(default=None)

    def __post_init__(self) -> None:
        for each in self.keys:
            if not 1 <= len(each) <= MOST_KEYS:
                raise ParameterError(f"There must be between 1 and {MOST_KEYS:,} keys, not {len(each):,}.")
        for measure in self.measures:
            if not 0 <= measure.keys < len(self.keys):
                raise ParameterError("A measure names a list of keys that its reading does not have.")
            if measure.limits is not None and len(measure.limits) != len(self.keys[measure.keys]):
                raise ParameterError("A measure needs one limit for each of its keys.")

    def columns(self) -> tuple[str, ...]:
        """The columns that the rows must have, beside those of the unit."""
        named = [column for each in self.keys for column in each.columns]
        named += filters.columns(self.where)
        for measure in self.measures:
            named += [*filters.columns(measure.where), *([measure.column] if measure.column is not None else [])]
        return tuple(dict.fromkeys(named))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class View:
    """The true values, one array per measure, in the order of its keys. Private: only a mechanism's `run` looks."""

    values: tuple[NDArray[np.int64], ...]

    def __repr__(self) -> str:
        return f"View({len(self.values)} private measures)"
