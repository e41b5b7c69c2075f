"""`louver map show`: a heatmap for one threshold, from a map alone: a picture, a page, polygons or text."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from louver.cli import ui
from louver.cli.map_options import check_new, said, say, signed, takes_negatives
from louver.errors import ParameterError

if TYPE_CHECKING:
    from louver.space.released import Map

KINDS = (".svg", ".png", ".html", ".geojson")
COLUMNS, COLUMNS_OF_TEXT = 50, 40
RULES = {"mean": "mean", "one-vote": "one vote", "two-votes": "two votes", "majority": "majority", "cut": "cut"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    takes_negatives(parser)
    parser.add_argument("map", metavar="MAP.json", help="what louver map build wrote")
    parser.add_argument("--threshold", metavar="T", required=True, help="which averages are shown as above")
    parser.add_argument("--to", metavar="FILE", help="FILE.svg, .png, .html or .geojson; as text unless given")
    parser.add_argument("--columns", metavar="N", type=int, help="of the grid that is drawn: 50, as text 40")
    parser.add_argument(
        "--rule", choices=list(RULES), default="mean", help="how cells are flagged: mean; cut needs SciPy"
    )
    parser.add_argument(
        "--sure", metavar="S", default="3", help="cells need a count so many standard errors above 0: 3"
    )
    parser.add_argument("--force", action="store_true", help="writes over a file that is there")


def run(arguments: argparse.Namespace) -> None:
    from louver.space.files import read_map, write_whole

    kind = None if arguments.to is None else Path(arguments.to).suffix.lower()
    if kind is not None and kind not in KINDS:
        raise ParameterError(f"A heatmap is written to a file .svg, .png, .html or .geojson, not to {arguments.to!r}.")
    if kind == ".html" and arguments.rule != "mean":
        raise ParameterError("A page flags cells by their mean, whatever the threshold; leave --rule out.")
    if kind is not None:
        check_new(arguments.to, force=arguments.force)
        if Path(arguments.to).resolve() == Path(arguments.map).resolve():
            raise ParameterError("--to would write over the map itself; name another file.")
    with said():
        released = read_map(arguments.map)
        if kind is None:
            _print(arguments, released)
            return
        write_whole(Path(arguments.to), _drawn(arguments, released, kind))
    say("written", arguments.to)


def _drawn(arguments: argparse.Namespace, released: Map, kind: str) -> bytes:
    from louver.space.geojson import heatmap_geojson
    from louver.space.page import page
    from louver.space.picture import Drawn, png, svg

    threshold, sure = signed("--threshold", arguments.threshold), signed("--sure", arguments.sure)
    columns, rule = _columns(arguments, released, COLUMNS), RULES[arguments.rule]
    if kind == ".html":
        return page(released, threshold, columns, sure=sure).encode()
    if kind == ".png":
        return png(released, threshold, columns, rule=rule, sure=sure)
    if kind == ".svg":
        return svg(released, threshold, columns, rule=rule, sure=sure).encode()
    flags = Drawn.of(released, threshold, columns, rule, sure).flags
    return json.dumps(heatmap_geojson(released, flags), separators=(",", ":")).encode()


def _print(arguments: argparse.Namespace, released: Map) -> None:
    """The heatmap in letters, half as many rows as a picture has, because letters are twice as high as wide."""
    import numpy as np

    from louver.space.picture import rows_for
    from louver.space.recipient import cells, heatmap

    threshold, sure = signed("--threshold", arguments.threshold), signed("--sure", arguments.sure)
    columns = _columns(arguments, released, COLUMNS_OF_TEXT)
    rows = max(1, rows_for(released, columns) // 2)
    flags = heatmap(released, threshold, columns, rows, rule=RULES[arguments.rule], sure=sure)
    nobody = np.isnan(cells(released, columns, rows, sure=sure).averages)
    for row in range(rows - 1, -1, -1):
        print(
            "".join(
                "#" if above else " " if empty else "." for above, empty in zip(flags[row], nobody[row], strict=True)
            )
        )
    value = released.about.get("value", "value")
    words = f"# average of {value} above {float(threshold):g}, . below, blank where readings are too few to tell"
    print(ui.faint(ui.printable(words)))


def _columns(arguments: argparse.Namespace, released: Map, usual: int) -> int:
    return min(usual, released.columns) if arguments.columns is None else int(arguments.columns)
