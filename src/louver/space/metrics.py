"""How near a released heatmap is to the true one, where the truth is known (Maruseac et al., section 3)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from louver.errors import ParameterError


def flip_ratio(truth: ArrayLike, released: ArrayLike) -> float:
    """The share of cells that kept their outcome: 1 is perfect. Where few cells are flagged, flagging none is near 1.

    >>> flip_ratio([[True, False], [False, False]], [[True, True], [False, False]])
    0.75
    """
    one, other = _pair(truth, released)
    return 1 - float(np.mean(one != other))


def jaccard(truth: ArrayLike, released: ArrayLike) -> float:
    """Cells flagged in both, of those flagged in either: 1 is perfect, and so are two maps with nothing flagged.

    >>> jaccard([[True, False], [False, False]], [[True, True], [False, False]])
    0.5
    """
    one, other = _pair(truth, released)
    either = np.count_nonzero(one | other)
    return int(np.count_nonzero(one & other)) / int(either) if either else 1.0


def _pair(truth: ArrayLike, released: ArrayLike) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    one, other = np.asarray(truth), np.asarray(released)
    if one.shape != other.shape or not one.size or one.dtype != np.bool_ or other.dtype != np.bool_:
        raise ParameterError("Two heatmaps of one shape are compared: arrays of yes and no, with at least one cell.")
    return one, other
