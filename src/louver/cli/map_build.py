"""`louver map build`: a private map of a table with positions and values, to a file."""

from __future__ import annotations

import argparse
import os
import secrets
from typing import TYPE_CHECKING, Any

from louver.cli import ui
from louver.cli.ask_source import asked_ledger, asked_source, why_refused
from louver.cli.ask_words import with_flags
from louver.cli.map_options import check_new, number_from, numbers, said, say, signed, takes_negatives
from louver.cli.publish_files import check_written
from louver.cli.publish_shown import at_work
from louver.errors import LouverError, ParameterError

if TYPE_CHECKING:
    from louver.ledger import Ledger
    from louver.source.description import Source
    from louver.space.plan import MapPlan

COMMAND = "map build"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    takes_negatives(parser)
    parser.set_defaults(question="", plot=None, state=None, domain=None)
    parser.add_argument(
        "source", metavar="FILE_OR_SOURCE", help="a .csv or .parquet file, louver.toml, or a source named in one"
    )
    what = parser.add_argument_group("what")
    what.add_argument("--x", metavar="COLUMN", required=True, help="from west to east; lon and lat are degrees")
    what.add_argument("--y", metavar="COLUMN", required=True, help="from south to north")
    what.add_argument("--value", metavar="COLUMN", required=True, help="what was measured there")
    what.add_argument("--bounds", metavar="W,S,E,N", required=True, help="the public area: west, south, east, north")
    what.add_argument("--range", metavar="LOW,HIGH", help="the public range of values; as the source declares it")
    what.add_argument("--degrees", action="store_true", help="the bounds are degrees, whatever the columns are called")
    round_ = parser.add_argument_group("one round of readings")
    round_.add_argument("--time", metavar="COLUMN", help="the column of times; as the source says, else time")
    round_.add_argument("--from", metavar="TIME", dest="begin", help="the first time that counts, in UTC")
    round_.add_argument("--until", metavar="TIME", dest="end", help="the end, which does not count any more")
    round_.add_argument(
        "--rounds", metavar="N", type=int, default=1, help="epsilon is for so many rounds, of which this is one"
    )
    way = parser.add_argument_group("the way and its price")
    way.add_argument("--way", metavar="NAME", default="cut", help="cut, uniform, two-level, adaptive, decomposition")
    way.add_argument("--epsilon", metavar="E", help="what one unit pays")
    way.add_argument("--threshold", metavar="T", help="makes the map best for this one; any other can be shown too")
    way.add_argument(
        "--readings", metavar="N", type=int, help="a public number of readings, about; without it some epsilon buys one"
    )
    way.add_argument("--atoms", metavar="N", type=int, default=256, help="fine cells along a side, 2 to 1024: 256")
    data = parser.add_argument_group("the data")
    data.add_argument("--unit", help="who is protected, for a bare file: '(person, day)', or row")
    data.add_argument(
        "--rows-per-unit", metavar="N", type=int, help="how many rows of one unit count; one, unless given"
    )
    data.add_argument("--dataset", metavar="ID", help="the name of a bare file's data set, as its ledger has it")
    pay = parser.add_argument_group("who pays")
    pay.add_argument("--ledger", metavar="WHERE", help="a file or postgresql://; beside a bare file unless given")
    pay.add_argument("--budget", metavar="EPSILON", help="makes the ledger, if there is none, with this cap")
    pay.add_argument("--audience", metavar="NAME", help="whose part of the budget pays")
    pay.add_argument("--key", metavar="TEXT", help="with the same key again, the same map costs nothing")
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
        kind_of(arguments.to)
        check_new(arguments.to, force=arguments.force)
    source = asked_source(arguments)
    check_written(arguments, source, "map")
    with said():
        plan = _plan(arguments, source)
        budget = number_from(arguments, "budget", source.defaults.get("budget"))
        if arguments.dry_run:
            check(source.table, plan)  # says what a run would refuse before it reserves
            _show_plan(arguments, plan, why_refused(arguments, source, plan, plan.worst, budget))
            return
        with asked_ledger(arguments, source, plan, lambda: plan.worst, budget) as ledger:
            _build(arguments, source, plan, ledger)


def _plan(arguments: argparse.Namespace, source: Source) -> MapPlan:
    from louver.space.bounds import Bounds
    from louver.space.planning import map_plan

    epsilon = number_from(arguments, "epsilon")
    if epsilon is None:
        raise ParameterError("Say what one unit pays, with --epsilon, such as --epsilon 1.")
    sides: Any = numbers("--bounds", arguments.bounds, 4, "8.44,47.32,8.63,47.44")
    ends = [None, None] if arguments.range is None else numbers("--range", arguments.range, 2, "0,100")
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
    )


def _build(arguments: argparse.Namespace, source: Source, plan: MapPlan, ledger: Ledger) -> None:
    """Pays, and writes the map. It is in the ledger then, so that whatever fails later costs nothing."""
    from louver.decide.shown import down, up
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
    leaves = len(made.map.tree.leaves)
    if arguments.json:
        ui.print_json(
            COMMAND,
            dry_run=False,
            **_known(plan),
            cells=leaves,
            charged=str(made.release.charged),
            entry=made.release.number,
            again=made.release.again,
            remaining=str(made.remaining),
            to=arguments.to,
        )
        return
    _show(plan)
    entry = f"entry {made.release.number} of {made.ledger}"
    left = f"{down(made.remaining)} remains where most is used"
    paid = f"epsilon {up(plan.worst[0].price)}, {entry}; {left}"
    say("price", f"nothing this time: {entry} has the map, which was paid then; {left}" if made.release.again else paid)
    say("meaning", _meaning(plan))
    say("written", f"{arguments.to}, {leaves:,} cells")


def _show_plan(arguments: argparse.Namespace, plan: MapPlan, refused: str | None) -> None:
    from louver.decide.shown import up

    if arguments.json:
        ui.print_json(COMMAND, dry_run=True, **_known(plan), refused=refused)
        return
    _show(plan)
    say("price", f"epsilon {up(plan.worst[0].price)}; nothing was reserved and no row was read")
    say("meaning", _meaning(plan))
    if refused is not None:
        say("refused", f"a run would be: {refused}")


def _show(plan: MapPlan) -> None:
    print(plan.protected)
    say("map", _what(plan))
    say("promise", plan.promise)
    for warning in plan.warnings:
        say("warning", with_flags(warning))


def _what(plan: MapPlan) -> str:
    located, bounds = plan.located, plan.located.bounds
    area = f"{bounds.west:g} to {bounds.east:g} and {bounds.south:g} to {bounds.north:g}"
    degrees = " degrees" if bounds.degrees else ""
    return f"counts and averages of {located.value} by {located.x} and {located.y}, {area}{degrees}, by {plan.way}"


def _known(plan: MapPlan) -> dict[str, Any]:
    return {
        "map": _what(plan),
        "protected": plan.protected,
        "promise": plan.promise,
        "warnings": list(plan.warnings),
        "way": plan.way,
        "worst": str(plan.worst[0].price),
        "meaning": _meaning(plan),
    }


def _meaning(plan: MapPlan) -> str:
    from louver.decide.shown import meaning

    return meaning(plan.unit, plan.price.epsilon)
