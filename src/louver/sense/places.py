"""Which region each place is in: what a building knows of its access points."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from louver.errors import ParameterError

UNKNOWN = -1


class Places:
    """Places and their regions, as small numbers. Regions are numbered in the order of their names.

    >>> places = Places({"ap-1": "hall", "ap-2": "lab", "ap-3": "hall"})
    >>> places.regions
    ('hall', 'lab')
    >>> places.region_of[places.numbers(["ap-3", "ap-2"])].tolist()
    [0, 1]
    """

    def __init__(self, regions: Mapping[str, str]) -> None:
        given: object = regions
        if not isinstance(given, Mapping) or not given:
            raise ParameterError("Regions are given by place: a mapping from each access point to its region.")
        for text in (*given, *given.values()):
            if not isinstance(text, str) or not text:
                raise ParameterError("Places and regions are texts that are not empty.")
        self.regions = tuple(sorted(set(regions.values())))
        self.places = tuple(regions)
        numbered = {region: number for number, region in enumerate(self.regions)}
        self.region_of: NDArray[np.int32] = np.array([numbered[each] for each in regions.values()], dtype=np.int32)
        self._number = {place: number for number, place in enumerate(self.places)}

    def numbers(self, places: Iterable[str]) -> NDArray[np.int32]:
        """The number of each place; -1 for one that is not known."""
        found = self._number.get
        return np.fromiter((found(place, UNKNOWN) for place in places), dtype=np.int32)
