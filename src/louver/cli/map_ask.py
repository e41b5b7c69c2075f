"""`louver map ask`: how many readings there are in an area, and their average, with standard errors."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from louver.cli import ui
from louver.cli.map_options import note, numbers, said, takes_negatives
from louver.errors import ParameterError

if TYPE_CHECKING:
    from louver.space.regions import Estimate, Region
    from louver.space.released import Map

NOTICED = 0.0005  # of a region, outside the map: more than rounding
ERROR = "one standard error: the noise, and what readings in cells that a border cuts may add, each cell by itself"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    takes_negatives(parser)
    parser.description = f"{parser.description} +- is {ERROR}."
    parser.add_argument("map", metavar="MAP.json", help="what louver map build wrote")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--box", metavar="W,S,E,N", help="a rectangle: west, south, east, north")
    where.add_argument("--region", metavar="FILE.geojson", help="polygons")
    parser.add_argument("--name", metavar="PROPERTY", help="of the polygons, that is their name: name, or their id")
    parser.add_argument("--json", action="store_true", help="print JSON for programs")


def run(arguments: argparse.Namespace) -> None:
    from louver.space.files import read_map
    from louver.space.polygons import read_regions
    from louver.space.regions import region

    areas: dict[str, Any] = {"everything": None}
    if arguments.name is not None and arguments.region is None:
        raise ParameterError("--name says what polygons are called; give them with --region.")
    with said():
        released = read_map(arguments.map)
        if arguments.box is not None:
            areas = {arguments.box: numbers("--box", arguments.box, 4, "8.5,47.3,8.6,47.4")}
        if arguments.region is not None:
            areas = dict(read_regions(arguments.region, name=arguments.name))
        found = {name: region(released, area) for name, area in areas.items()}
    if arguments.json:
        regions = [{"region": name, **_plain(each, released.alone)} for name, each in found.items()]
        ui.print_json("map ask", counts=released.counted, error=ERROR, regions=regions)
        return
    value = released.about.get("value", "value")
    heads = ("region", "count", "+-", f"average of {value}", "+-", "cut")
    unknown = ("", "")  # counts alone have no averages
    lines = [
        (name, *_written(each.count), *(unknown if released.alone else _written(each.average)), _part(each.cut))
        for name, each in found.items()
    ]
    ui.print_table(
        [ui.printable(head) for head in heads],
        [[ui.printable(cell) for cell in line] for line in lines],
        (1, 2, 3, 4, 5),
    )
    for words in _remarks(released, found):
        note(words)


def _remarks(released: Map, found: dict[str, Region]) -> Iterator[str]:
    """What the numbers mean, as far as it matters here."""
    yield f"+- is {ERROR}."
    if released.rounds:
        yield f"count: {released.counted}."
    if any(each.cut for each in found.values()):
        yield (
            "cut: the part of the region that lies in cells which its border cuts; where readings lie along streets, "
            "a count may be twice as far off as +- says."
        )
    if any(math.isinf(each.count.error) for each in found.values()):
        yield "-: the region holds no whole cell of the map, so that all readings of a cell may lie in it, or none."
    for name, each in found.items():
        if each.outside > NOTICED:
            yield f"{name}: {each.outside:.1%} of it lies outside the map, where nothing is known, and is not counted."


def _part(part: float) -> str:
    """Nothing where it is nothing, and the column is left out where that is so in all lines."""
    return "" if part < NOTICED else f"{part:.0%}" if part >= 0.01 else "under 1%"


def _plain(found: Region, alone: bool) -> dict[str, Any]:
    estimates = {
        name: {part: _finite(number) for part, number in getattr(found, name)._asdict().items()}
        for name in ("count", *(() if alone else ("total", "average")))
    }
    return {**estimates, "cut": found.cut, "outside": found.outside}


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


def _written(found: Estimate) -> tuple[str, str]:
    """To as many digits as the error leaves; unknown where nobody is."""
    if not math.isfinite(found.value):
        return "unknown", "-"
    known = found.error if math.isfinite(found.error) else found.noise
    digits = max(0, 1 - math.floor(math.log10(known))) if 0 < known < math.inf else 0
    value = f"{found.value:,.{min(digits, 6)}f}"
    return value, f"{found.error:,.{min(digits, 6)}f}" if math.isfinite(found.error) else "-"
