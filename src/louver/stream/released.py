"""What a stream released, as plain values: numbers by region and tick, rounded to a thousandth of one unit's weight."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_DIGITS, _MOST_DIGITS = 3, 12
LARGEST_WHOLE = 2**63 - 1
_ASKED = ("recent", "flags")
LAST, FLAGGED = "last", "above"  # what columns of these are called


@dataclass(frozen=True, eq=False, slots=True)
class Released:
    """Ticks by regions, in the measured unit: values (NaN where nothing is released yet) and standard deviations.

    Deviations are there where the mechanism estimates them from what it released; `recent`, the sums of sliding
    windows, and `flags`, which ticks are above their limit, where the plan asks for them.
    """

    values: NDArray[Any]
    deviations: Floats | None = None
    recent: NDArray[Any] | None = None
    flags: NDArray[np.bool_] | None = None

    @classmethod
    def of(
        cls,
        step: Fraction,
        weight: Fraction,
        values: NDArray[Any],
        deviations: Floats | None = None,
        recent: NDArray[Any] | None = None,
        flags: NDArray[np.bool_] | None = None,
    ) -> Self:
        """From numbers of steps, given what a step and one unit weigh."""
        digits = digits_of(weight)
        spread, sums = (None if each is None else _in_units(each, step, digits) for each in (deviations, recent))
        return cls(_in_units(values, step, digits), spread, sums, flags)

    def added_up(self, children: Mapping[int, list[int]]) -> Self:
        """Totals as the sums of their rounded parts, the lowest first, so that they add up exactly."""
        for totals in (self.values,) if self.recent is None else (self.values, self.recent):
            for parent, below in children.items():
                totals[:, parent] = np.round(totals[:, below].sum(axis=1), _MOST_DIGITS)
        return self

    @classmethod
    def joined(cls, blocks: Sequence[Self]) -> Self:
        """Blocks of ticks, one after the other."""
        named = ("deviations", *_ASKED)
        columns = {name: [getattr(block, name) for block in blocks] for name in named}
        beside = {name: None if each[0] is None else np.concatenate(each) for name, each in columns.items()}
        return cls(np.concatenate([block.values for block in blocks]), **beside)

    def to_dict(self) -> dict[str, Any]:
        listed = {name: _by_region(getattr(self, name)) for name in ("values", "deviations", *_ASKED)}
        return {name: each for name, each in listed.items() if each is not None or name not in _ASKED}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        spread, flags = plain["deviations"], plain.get("flags")
        return cls(
            _numbers(plain["values"]),
            None if spread is None else np.array(spread, dtype=np.float64).T,
            None if plain.get("recent") is None else _numbers(plain["recent"]),
            None if flags is None else np.array(flags, dtype=np.bool_).T,
        )


def digits_of(weight: Fraction) -> int:
    """How many digits after the point are published, given what one unit weighs."""
    return max(_DIGITS - math.floor(math.log10(weight)), 0)


def rounded_up(values: Floats, digits: int) -> Floats:
    """So that a band holds no less; what is a multiple but for the rounding of floats stays one."""
    return np.ceil(np.round(values * 10.0**digits, 6)) / 10.0**digits


def _in_units(values: NDArray[Any], step: Fraction, digits: int) -> NDArray[Any]:
    """Whole numbers stay whole where they fit."""
    if values.dtype.kind == "i" and step.denominator == 1:
        largest = max(abs(int(values.max())), abs(int(values.min()))) if values.size else 0
        if largest * int(step) <= LARGEST_WHOLE:
            return values * int(step) if step > 1 else values
    return np.round(values * float(step), digits) + 0.0  # no minus before a zero


def _by_region(values: NDArray[Any] | None) -> list[list[Any]] | None:
    return None if values is None else [_plain(region) for region in values.T]


def _numbers(by_region: list[list[Any]]) -> NDArray[Any]:
    whole = all(type(value) is int for region in by_region for value in region)
    return np.array(by_region, dtype=np.int64 if whole else np.float64).T


def _plain(region: NDArray[Any]) -> list[int | float | None]:
    """JSON has no NaN: what is not released yet is null."""
    listed = region.tolist()
    return [None if value != value else value for value in listed] if region.dtype.kind == "f" else listed
