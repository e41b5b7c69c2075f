"""`louver map show`: what is above a threshold, from a map alone: a picture, a page, cells for GIS tools, or text."""

from __future__ import annotations

import argparse
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from louver.cli.map_options import check_new, note, said, signed, takes_negatives
from louver.cli.publish_shown import say
from louver.errors import ParameterError

if TYPE_CHECKING:
    from louver.space.judged import Sheet
    from louver.space.released import Map

CELLS = (".geojson", ".parquet")
KINDS = (".svg", ".png", ".html", *CELLS)
COLUMNS_OF_TEXT, WIDEST = 40, 100
RULES = {"mean": "mean", "one-vote": "one vote", "two-votes": "two votes", "majority": "majority", "cut": "cut"}
LETTERS = {"above": "#", "maybe": "+", "below": ".", "unknown": " "}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    takes_negatives(parser)
    parser.add_argument("map", metavar="MAP.json", help="what louver map build wrote")
    parser.add_argument(
        "--threshold",
        metavar="T",
        help="which averages are above, or readings per km2 of a map of counts alone; GIS files can do without one",
    )
    parser.add_argument(
        "--to",
        metavar="FILE",
        help="FILE.svg, .png (no words) or .html; .geojson or .parquet with the map's cells for GIS tools; else text",
    )
    how = parser.add_argument_group("how sure")
    how.add_argument(
        "--miss-rate", metavar="RATE", help="how often a cell that is above may be shown as below: 0.05, one in 20"
    )
    how.add_argument(
        "--false-alarm-rate",
        metavar="RATE",
        help="how often one that is not above may be shown as above; as the miss rate unless given",
    )
    how.add_argument("--sure", metavar="S", default="3", help="cells need a count so many standard errors above 0: 3")
    how.add_argument(
        "--rule", choices=list(RULES), help="the best guess instead, without asking how sure it is; cut needs SciPy"
    )
    parser.add_argument(
        "--columns",
        metavar="N",
        type=int,
        help="of another grid than the map's own cells, as if readings lay evenly in those",
    )
    parser.add_argument("--force", action="store_true", help="writes over a file that is there")


def run(arguments: argparse.Namespace) -> None:
    from louver.space.files import read_map

    kind = None if arguments.to is None else Path(arguments.to).suffix.lower()
    _check(arguments, kind)
    with said():
        released = read_map(arguments.map)
        if arguments.rule is not None and released.alone:
            raise ParameterError("A map of counts alone has no averages to guess; leave --rule out.")
        if kind is None:
            _print(arguments, released)
            return
        _write(arguments, released, kind)
    say("written", arguments.to)


def _check(arguments: argparse.Namespace, kind: str | None) -> None:
    if kind is not None and kind not in KINDS:
        raise ParameterError(
            f"A map is shown in a file .svg, .png, .html, .geojson or .parquet, not in {arguments.to!r}."
        )
    if arguments.threshold is None and kind not in CELLS:
        raise ParameterError("Say what is above, with --threshold, such as --threshold 55.")
    if arguments.rule is not None and (arguments.miss_rate, arguments.false_alarm_rate) != (None, None):
        raise ParameterError("--rule is a best guess, whatever its rate of errors; take it or the rates, not both.")
    if kind == ".html" and arguments.rule is not None:
        raise ParameterError("A page shows how sure each cell is, whatever the threshold; leave --rule out.")
    if kind == ".parquet" and (arguments.rule, arguments.columns) != (None, None):
        raise ParameterError("GeoParquet has the map's own cells; leave --rule and --columns out.")
    if kind is not None:
        check_new(arguments.to, force=arguments.force)
        if Path(arguments.to).resolve() == Path(arguments.map).resolve():
            raise ParameterError("--to would write over the map itself; name another file.")


def _write(arguments: argparse.Namespace, released: Map, kind: str) -> None:
    from louver.space.files import write_whole
    from louver.space.page import page
    from louver.space.picture import png, svg

    if kind in CELLS:
        _write_cells(arguments, released, kind)
        return
    threshold, asked = signed("--threshold", arguments.threshold), _asked(arguments)
    if kind == ".html":
        drawn = page(released, threshold, arguments.columns, **asked).encode()
    else:
        rule = None if arguments.rule is None else RULES[arguments.rule]
        shown = {"rule": rule, **asked}
        drawn = (
            png(released, threshold, arguments.columns, **shown)
            if kind == ".png"
            else svg(released, threshold, arguments.columns, **shown).encode()
        )
    write_whole(Path(arguments.to), drawn)


def _write_cells(arguments: argparse.Namespace, released: Map, kind: str) -> None:
    """The map's own cells; with a rule or a grid, the polygons that it flags."""
    from louver.space.files import as_json, check_geojson, spells_out, write_leaves, write_whole
    from louver.space.geojson import heatmap_geojson, leaves_geojson
    from louver.space.judged import CELLS as COLUMNS
    from louver.space.judged import rows_for
    from louver.space.recipient import heatmap

    threshold = None if arguments.threshold is None else signed("--threshold", arguments.threshold)
    if kind == ".geojson":
        check_geojson(released.bounds)
        if not released.bounds.degrees:
            say("warning", "GIS tools take GeoJSON for longitude and latitude, which this map does not have")
    elif not released.bounds.is_wgs84 and not spells_out(released.bounds.crs):
        say("warning", "GIS tools must be told the coordinate system; with a named one and pyproj the file tells them")
    if kind == ".parquet" or (arguments.rule, arguments.columns) == (None, None):
        write_leaves(leaves_geojson(released, threshold, **_asked(arguments)), released, arguments.to)
        return
    if threshold is None:
        raise ParameterError("Say what is above, with --threshold, such as --threshold 55.")
    columns = min(COLUMNS, released.columns) if arguments.columns is None else arguments.columns
    rule = RULES[arguments.rule or "mean"]
    flags = heatmap(
        released, threshold, columns, rows_for(released, columns), rule=rule, sure=signed("--sure", arguments.sure)
    )
    write_whole(Path(arguments.to), as_json(heatmap_geojson(released, flags)))


def _asked(arguments: argparse.Namespace) -> dict[str, Any]:
    rates = {
        name: signed(f"--{name.replace('_', '-')}", given)
        for name in ("miss_rate", "false_alarm_rate")
        if (given := getattr(arguments, name)) is not None
    }
    return {**rates, "sure": signed("--sure", arguments.sure)}


def _print(arguments: argparse.Namespace, released: Map) -> None:
    import numpy as np

    from louver.space.recipient import flagged

    threshold, asked = signed("--threshold", arguments.threshold), _asked(arguments)
    sure = asked.pop("sure")
    sheet, letters = _sheet(released, arguments.columns, sure)
    if arguments.rule is None:
        judged = sheet.judge(threshold, **asked)
        kinds, legend = judged.words, f"+ maybe, . below, blank where readings are too few to tell; {judged.promise}"
    else:
        flags = flagged(released, threshold, sheet.across, sheet.along, rule=RULES[arguments.rule], sure=sure)
        kinds = np.select((flags, sheet.known), ("above", "below"), default="unknown")
        legend = ". below, blank where readings are too few to tell; a best guess, however large the noise is"
    for line in kinds[::-1].tolist():
        print("".join(LETTERS[kind] * letters for kind in line))
    note(f"# {sheet.quantity.name} above {float(threshold):g}, {legend}.")


def _sheet(released: Map, columns: int | None, sure: Fraction) -> tuple[Sheet, int]:
    """The cells that are printed and how many letters wide each is, because a letter is twice as high as wide.

    The map's own, where they are one grid that fits; else others.
    """
    from louver.space.judged import Sheet, rows_for

    if columns is None:
        own = Sheet.of(released, sure=sure)
        rows, across = own.known.shape
        letters = max(1, round(2 * released.bounds.aspect * rows / across))
        if rows * across == len(released.tree.leaves) and across * letters <= WIDEST:
            return own, letters
    chosen = min(COLUMNS_OF_TEXT, released.columns) if columns is None else columns
    return Sheet.of(released, chosen, max(1, rows_for(released, chosen) // 2), sure=sure), 1
