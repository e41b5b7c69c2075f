"""A map: private counts and values over an area, from which a recipient draws heatmaps of any grid and threshold.

`Field` bins readings; each structure is a file, says why it is private and releases a `Map`; everything a recipient
does with a map is post-processing. Each is loaded when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from louver.lazy import lazily
from louver.privacy.plan import found_in

if TYPE_CHECKING:
    from louver.space.adaptive import Adaptive
    from louver.space.bounds import Bounds
    from louver.space.cut import Cut, count_share_for
    from louver.space.decomposition import Decomposition
    from louver.space.field import Field
    from louver.space.files import read_map, write_map
    from louver.space.geojson import heatmap_geojson, leaves_geojson
    from louver.space.judged import Judged, judge
    from louver.space.located import Located
    from louver.space.metrics import flip_ratio, jaccard
    from louver.space.page import page
    from louver.space.picture import png, svg
    from louver.space.plan import MapPlan
    from louver.space.planning import map_plan
    from louver.space.polygons import Polygons, read_regions
    from louver.space.publishing import PublishedMap, publish_map
    from louver.space.recipient import Cells, averages, cells, heatmap, posterior
    from louver.space.regions import Estimate, Region, region
    from louver.space.released import Map
    from louver.space.rounds import combined
    from louver.space.structure import Structure
    from louver.space.two_level import TwoLevel
    from louver.space.uniform import Uniform

__all__ = [
    "Adaptive",
    "Bounds",
    "Cells",
    "Cut",
    "Decomposition",
    "Estimate",
    "Field",
    "Judged",
    "Located",
    "Map",
    "MapPlan",
    "Polygons",
    "PublishedMap",
    "Region",
    "Structure",
    "TwoLevel",
    "Uniform",
    "averages",
    "cells",
    "combined",
    "count_share_for",
    "flip_ratio",
    "heatmap",
    "heatmap_geojson",
    "jaccard",
    "judge",
    "leaves_geojson",
    "map_plan",
    "page",
    "png",
    "posterior",
    "publish_map",
    "read_map",
    "read_regions",
    "region",
    "svg",
    "write_map",
]
_HOMES = {
    "Adaptive": "adaptive",
    "Bounds": "bounds",
    "Cells": "recipient",
    "Cut": "cut",
    "Decomposition": "decomposition",
    "Estimate": "regions",
    "Field": "field",
    "Judged": "judged",
    "Located": "located",
    "Map": "released",
    "MapPlan": "plan",
    "Polygons": "polygons",
    "PublishedMap": "publishing",
    "Region": "regions",
    "Structure": "structure",
    "TwoLevel": "two_level",
    "Uniform": "uniform",
    "averages": "recipient",
    "cells": "recipient",
    "combined": "rounds",
    "count_share_for": "cut",
    "flip_ratio": "metrics",
    "heatmap": "recipient",
    "heatmap_geojson": "geojson",
    "jaccard": "metrics",
    "judge": "judged",
    "leaves_geojson": "geojson",
    "map_plan": "planning",
    "page": "page",
    "png": "picture",
    "posterior": "recipient",
    "publish_map": "publishing",
    "read_map": "files",
    "read_regions": "polygons",
    "region": "regions",
    "svg": "picture",
    "write_map": "files",
}
found_in({"map": "louver.space.plan"})
__getattr__ = lazily("louver.space", _HOMES)


def __dir__() -> list[str]:
    return __all__
