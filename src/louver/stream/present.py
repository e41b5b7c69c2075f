"""Which values of a tick are there, and which streams are neighbours.

Neighbours differ in one tick: its value is changed to any other ("replace"), or is there or not ("presence"). What
holds for the first holds for the second.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from louver.errors import ParameterError
from louver.noise.grid import Grid

REPLACE, PRESENCE = "replace", "presence"

_ANY_NUMBER = Grid(1, 1, 1)  # clamps every number to 1; what is no number is 0


def present(values: Any, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Whether each value is a number; None, NaN and what cannot be read as one are missing. None raises: it is private.

    >>> present([3, None, float("nan"), 0.5], (4,))
    array([ True, False, False,  True])
    """
    if values is None:
        return np.zeros(shape, dtype=np.bool_)
    return np.equal(_ANY_NUMBER.quantise(values), 1).reshape(shape)


def checked_neighbours(neighbours: object) -> str:
    if neighbours not in (REPLACE, PRESENCE):
        raise ParameterError(f'neighbours must be "{REPLACE}" or "{PRESENCE}", not {str(neighbours)[:40]!r}.')
    return str(neighbours)
