"""`louver map ask`: how many readings there are in an area, and their average, with standard errors."""

from __future__ import annotations

import argparse
import math
from typing import TYPE_CHECKING, Any

from louver.cli import ui
from louver.cli.map_options import numbers, said, takes_negatives

if TYPE_CHECKING:
    from louver.space.regions import Estimate, Region


def add_arguments(parser: argparse.ArgumentParser) -> None:
    takes_negatives(parser)
    parser.add_argument("map", metavar="MAP.json", help="what louver map build wrote")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--box", metavar="W,S,E,N", help="a rectangle: west, south, east, north")
    where.add_argument("--region", metavar="FILE.geojson", help="polygons, by their property name")
    parser.add_argument("--json", action="store_true", help="print JSON for programs")


def run(arguments: argparse.Namespace) -> None:
    from louver.space.files import read_map
    from louver.space.polygons import Polygons, read_regions
    from louver.space.regions import region

    areas: dict[str, Any] = {"everything": None}
    with said():
        released = read_map(arguments.map)
        if arguments.box is not None:
            areas = {arguments.box: numbers("--box", arguments.box, 4, "8.5,47.3,8.6,47.4")}
        if arguments.region is not None:
            known: dict[str, Polygons] = read_regions(arguments.region)
            areas = dict(known)
        found = {name: region(released, area) for name, area in areas.items()}
    if arguments.json:
        ui.print_json("map ask", regions=[{"region": name, **_plain(each)} for name, each in found.items()])
        return
    value = released.about.get("value", "value")
    heads = ("region", "count", "+-", f"average of {value}", "+-")
    lines = [(name, *_written(each.count), *_written(each.average)) for name, each in found.items()]
    ui.print_table(
        [ui.printable(head) for head in heads], [[ui.printable(cell) for cell in line] for line in lines], (1, 2, 3, 4)
    )


def _plain(found: Region) -> dict[str, Any]:
    return {
        name: {"value": _finite(each.value), "error": _finite(each.error)}
        for name, each in (("count", found.count), ("total", found.total), ("average", found.average))
    }


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


def _written(found: Estimate) -> tuple[str, str]:
    """To as many digits as the error leaves; unknown where nobody is."""
    if not math.isfinite(found.value):
        return "unknown", "-"
    digits = max(0, 1 - math.floor(math.log10(found.error))) if 0 < found.error < math.inf else 0
    return f"{found.value:,.{min(digits, 6)}f}", f"{found.error:,.{min(digits, 6)}f}"
