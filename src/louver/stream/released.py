"""What a stream released, as plain values: numbers by region and tick, rounded to a thousandth of one unit's weight."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from louver.stream.measured import Measured, Touch

Floats = NDArray[np.float64]
_DIGITS = 3


@dataclass(frozen=True, eq=False, slots=True)
class Released:
    """Ticks by regions, in the measured unit: values (NaN where nothing is released yet) and standard deviations.

    Deviations are there where the mechanism estimates them from what it released.
    """

    values: NDArray[Any]
    deviations: Floats | None = None

    @classmethod
    def of(cls, measured: Measured, touch: Touch, values: NDArray[Any], deviations: Floats | None) -> Self:
        step = measured.step
        weight = float(step * touch.step)
        digits = max(_DIGITS - math.floor(math.log10(weight)), 0)
        if values.dtype.kind != "i" or step.denominator > 1:
            values = np.round(values * float(step), digits)
        elif step > 1:
            values = values * int(step)
        return cls(values, None if deviations is None else np.round(deviations * float(step), digits))

    def to_dict(self) -> dict[str, Any]:
        return {
            "values": [_plain(region) for region in self.values.T],
            "deviations": None if self.deviations is None else [_plain(region) for region in self.deviations.T],
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        known, spread = plain["values"], plain["deviations"]
        whole = all(type(value) is int for region in known for value in region)
        values = np.array(known, dtype=np.int64 if whole else np.float64).T
        return cls(values, None if spread is None else np.array(spread, dtype=np.float64).T)


def _plain(region: NDArray[Any]) -> list[int | float | None]:
    """JSON has no NaN: what is not released yet is null."""
    listed = region.tolist()
    return [None if value != value else value for value in listed] if region.dtype.kind == "f" else listed
