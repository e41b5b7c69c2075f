"""What a stream released, as plain values: numbers by region and tick, rounded to a thousandth of one unit's weight."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_DIGITS, _MOST_DIGITS = 3, 12
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
        digits = max(_DIGITS - math.floor(math.log10(weight)), 0)
        spread, sums = (None if each is None else _in_units(each, step, digits) for each in (deviations, recent))
        return cls(_in_units(values, step, digits), spread, sums, flags)

    def added_up(self, children: Mapping[int, list[int]]) -> Self:
        """Totals as the sums of their rounded parts, the lowest first, so that they add up exactly."""
        for totals in (self.values,) if self.recent is None else (self.values, self.recent):
            for parent, below in children.items():
                totals[:, parent] = np.round(totals[:, below].sum(axis=1), _MOST_DIGITS)
        return self

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


def _in_units(values: NDArray[Any], step: Fraction, digits: int) -> NDArray[Any]:
    if values.dtype.kind != "i" or step.denominator > 1:
        return np.round(values * float(step), digits)
    return values * int(step) if step > 1 else values


def _by_region(values: NDArray[Any] | None) -> list[list[Any]] | None:
    return None if values is None else [_plain(region) for region in values.T]


def _numbers(by_region: list[list[Any]]) -> NDArray[Any]:
    whole = all(type(value) is int for region in by_region for value in region)
    return np.array(by_region, dtype=np.int64 if whole else np.float64).T


def _plain(region: NDArray[Any]) -> list[int | float | None]:
    """JSON has no NaN: what is not released yet is null."""
    listed = region.tolist()
    return [None if value != value else value for value in listed] if region.dtype.kind == "f" else listed
