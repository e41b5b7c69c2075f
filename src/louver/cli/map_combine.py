"""`louver map combine`: the rounds of a map as one map, oldest first."""

from __future__ import annotations

import argparse
from pathlib import Path

from louver.cli.map_options import check_new, said
from louver.cli.options import number_from
from louver.cli.publish_shown import say
from louver.errors import ParameterError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("maps", metavar="MAP.json", nargs="+", help="rounds on one grid, oldest first")
    parser.add_argument("--to", metavar="FILE", required=True, help="FILE.json; .geojson or .parquet for GIS tools")
    parser.add_argument(
        "--count-drift", metavar="D", help="how much a cell's number of readings changes from round to round: 0"
    )
    parser.add_argument("--sum-drift", metavar="D", help="the same of the sum of values above the middle: 0")
    parser.add_argument("--force", action="store_true", help="writes over a file that is there")


def run(arguments: argparse.Namespace) -> None:
    from louver.decide.shown import up
    from louver.space.files import kind_of, read_map, write_map
    from louver.space.rounds import combined

    if len(arguments.maps) < 2:
        raise ParameterError("Name two rounds or more, oldest first; one map is what it is.")
    kind_of(arguments.to)
    check_new(arguments.to, force=arguments.force)
    places = [Path(each).resolve() for each in arguments.maps]
    if Path(arguments.to).resolve() in places:
        raise ParameterError("--to would write over one of the rounds; name another file.")
    if len(set(places)) < len(places):
        raise ParameterError("One round is named twice; it would count twice.")
    drifts = {name: number_from(arguments, name) or 0 for name in ("count_drift", "sum_drift")}
    with said():
        made = combined([read_map(each) for each in arguments.maps], **drifts)
        write_map(made, arguments.to)
    rounds = f"{len(made.rounds):,} rounds"
    say("price", f"nothing further; epsilon {up(made.price.epsilon)} in all for somebody who is in all of the {rounds}")
    say("counts", f"those of one round, not of all {rounds} together")
    say("written", arguments.to)
