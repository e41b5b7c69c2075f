"""What a published algorithm decided."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.errors import ParameterError

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Decision:
    """Which keys are flagged, and the ε at which each was decided: its ex-post loss."""

    flagged: NDArray[np.bool_]
    epsilon: Floats


def margins(counts: object, thresholds: object) -> Floats:
    """count - threshold for each key, in floats; one threshold may serve all keys."""
    try:
        above = np.asarray(counts, dtype=np.float64) - np.asarray(thresholds, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        above = np.array(np.nan)
    if above.ndim != 1 or not np.isfinite(above).all():
        raise ParameterError("counts must be one array of finite numbers, and thresholds one number or one for each.")
    return above


def shares(name: str, given: object) -> list[float]:
    """Error rates, one for each level."""
    if not isinstance(given, list | tuple) or not given:
        raise ParameterError(f"{name} must be a list of numbers, one for each level.")
    return [float(parameters.error_rate(f"each of {name}", each)) for each in given]
