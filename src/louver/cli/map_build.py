"""`louver map build`: a private map of a table with positions and values, to a file."""

from __future__ import annotations

import argparse
import os
import secrets
from typing import TYPE_CHECKING, Any

from louver.cli.ask_source import asked_ledger, asked_source, why_refused
from louver.cli.map_build_shown import show_made, show_plan
from louver.cli.map_options import above_0, check_new, numbers, said, signed, takes_negatives
from louver.cli.options import add_data, add_payer, add_source, number_from
from louver.cli.publish_files import check_written
from louver.cli.publish_shown import at_work
from louver.errors import LouverError, ParameterError

if TYPE_CHECKING:
    from louver.ledger import Ledger
    from louver.source.description import Source
    from louver.space.plan import MapPlan

STOPS = ("children", "count")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    takes_negatives(parser)
    parser.set_defaults(question="", plot=None, state=None, domain=None)
    add_source(parser)
    what = parser.add_argument_group("what")
    what.add_argument(
        "--x", metavar="COLUMN", required=True, help="from west to east; lon, longitude, lat and latitude are degrees"
    )
    what.add_argument("--y", metavar="COLUMN", required=True, help="from south to north")
    what.add_argument("--value", metavar="COLUMN", help="what was measured there; without it, a map of counts alone")
    what.add_argument("--bounds", metavar="W,S,E,N", required=True, help="the public area: west, south, east, north")
    what.add_argument("--range", metavar="LOW,HIGH", help="the public range of values; as the source declares it")
    what.add_argument("--degrees", action="store_true", help="the bounds are degrees, whatever the columns are called")
    what.add_argument("--crs", metavar="NAME", help="the system of the coordinates, such as EPSG:25833, for GIS tools")
    what.add_argument(
        "--outside", choices=("drop", "clamp"), default="drop", help="rows outside: left out, or at the nearest edge"
    )
    round_ = parser.add_argument_group("one round of readings")
    round_.add_argument("--time", metavar="COLUMN", help="the column of times; as the source says, else time")
    round_.add_argument("--from", metavar="TIME", dest="begin", help="the first time that counts, in UTC")
    round_.add_argument("--until", metavar="TIME", dest="end", help="the end, which does not count any more")
    round_.add_argument(
        "--rounds", metavar="N", type=int, default=1, help="epsilon is for so many rounds, of which this is one"
    )
    way = parser.add_argument_group("the way and its price")
    way.add_argument(
        "--way",
        metavar="NAME",
        help="cut, uniform, two-level, adaptive, decomposition; cut unless given, and uniform for counts alone",
    )
    way.add_argument("--epsilon", metavar="E", help="what one unit pays")
    way.add_argument("--threshold", metavar="T", help="makes the map best for this one; any other can be shown too")
    way.add_argument(
        "--readings", metavar="N", type=int, help="a public number of readings, about; without it some epsilon buys one"
    )
    way.add_argument("--atoms", metavar="N", type=int, default=256, help="fine cells along a side, 2 to 1024: 256")
    tree = parser.add_argument_group("how a decomposition is split")
    tree.add_argument("--depth", metavar="N", type=int, help="levels below the first, 0 to 16: 3")
    tree.add_argument("--level-share", metavar="PART", help="of what is left, what each level spends: 1/5")
    tree.add_argument(
        "--stop", choices=STOPS, help="a cell is not split for few children, or for a low count: children"
    )
    tree.add_argument("--least", metavar="N", help="how many children, or readings, are too few: 2")
    add_data(parser)
    add_payer(parser, key="with the same key again, the same map costs nothing")
    show = parser.add_argument_group("where to")
    show.add_argument(
        "--to", metavar="FILE", help="FILE.json to be shown and asked; .geojson or .parquet for GIS tools"
    )
    show.add_argument("--force", action="store_true", help="writes over a file that is there")
    show.add_argument(
        "--dry-run", action="store_true", help="price and promise only; nothing is reserved, and no row is read"
    )
    show.add_argument("--json", action="store_true", help="print JSON for programs")


def run(arguments: argparse.Namespace) -> None:
    from louver.space.files import kind_of
    from louver.steward import check

    if arguments.to is None and not arguments.dry_run:
        raise ParameterError("Say where the map goes, with --to map.json, or take --dry-run.")
    if arguments.to is not None:
        kind_of(arguments.to)  # before louver looks for the rows
        check_new(arguments.to, force=arguments.force)
    source = asked_source(arguments)
    check_written(arguments, source, "map")
    with said():
        plan = _plan(arguments, source)
        if arguments.to is not None:
            kind_of(arguments.to, plan.located.bounds)
        budget = number_from(arguments, "budget", source.defaults.get("budget"))
        if arguments.dry_run:
            check(source.table, plan)  # says what a run would refuse before it reserves
            show_plan(arguments, source, plan, why_refused(arguments, source, plan, plan.worst, budget))
            return
        with asked_ledger(arguments, source, plan, lambda: plan.worst, budget) as ledger:
            _build(arguments, source, plan, ledger)


def _plan(arguments: argparse.Namespace, source: Source) -> MapPlan:
    from louver.space.bounds import Bounds
    from louver.space.planning import map_plan

    above_0("--epsilon", arguments.epsilon)
    epsilon = number_from(arguments, "epsilon")
    if epsilon is None:
        raise ParameterError("Say what one unit pays, with --epsilon, such as --epsilon 1.")
    sides: Any = numbers("--bounds", arguments.bounds, 4, "8.44,47.32,8.63,47.44")
    ends = [None, None] if arguments.range is None else numbers("--range", arguments.range, 2, "0,100")
    if arguments.value is None and (arguments.range, arguments.threshold) != (None, None):
        raise ParameterError(
            "A map of counts alone has no values: name their column with --value, or leave --range and --threshold out."
        )
    return map_plan(
        source,
        x=arguments.x,
        y=arguments.y,
        value=arguments.value,
        bounds=Bounds(*sides, degrees=True) if arguments.degrees else sides,
        low=ends[0],
        high=ends[1],
        epsilon=epsilon,
        way=arguments.way,
        threshold=None if arguments.threshold is None else signed("--threshold", arguments.threshold),
        readings=arguments.readings,
        rounds=arguments.rounds,
        atoms=arguments.atoms,
        rows_per_unit=arguments.rows_per_unit,
        time=arguments.time,
        begin=arguments.begin,
        end=arguments.end,
        crs=arguments.crs,
        outside=arguments.outside,
        depth=arguments.depth,
        level_share=number_from(arguments, "level_share", outside=False),
        stop=arguments.stop,
        least=number_from(arguments, "least", outside=False),
    )


def _build(arguments: argparse.Namespace, source: Source, plan: MapPlan, ledger: Ledger) -> None:
    """Pays, and writes the map. It is in the ledger then, so that whatever fails later costs nothing."""
    from louver.space.files import write_map
    from louver.space.publishing import publish_map

    key = arguments.key or f"map {secrets.token_hex(8)}"
    token = os.environ.get("LOUVER_TOKEN") or None
    with at_work():
        made = publish_map(source, plan, ledger=ledger, token=token, audience=arguments.audience, key=key)
    try:
        write_map(made.map, arguments.to)
    except LouverError as fault:
        raise type(fault)(
            f"{str(fault).removesuffix('.')}; the map is paid for and kept, and costs nothing again with --key {key!r}."
        ) from None
    show_made(arguments, made)
