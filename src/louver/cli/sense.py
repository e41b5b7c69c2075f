"""`louver sense FILE --as KIND --to TABLE`: raw events through the door into a table that `louver ask` can ask."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from louver.cli import ui
from louver.errors import DataError, ParameterError

if TYPE_CHECKING:
    from louver.cli.sense_made import Made
    from louver.cli.sense_options import Options

DESCRIPTION = "louver.toml"
KINDS = {
    "occupancy": "who is in which region at each slot: person, region, slot, day",
    "presence": "who was in which region from when to when: person, region, start, end, day, minutes",
    "readings": "one value for each unit and slot: unit, region, slot, day, value; x and y with --cells",
    "trips": "who went from where to where: person, origin, destination, start, end, day, minutes",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    listed = "\n".join(f"  {name:<10} {line}" for name, line in KINDS.items())
    parser.epilog = (
        f"tables:\n{listed}\n\nexample: louver sense energy.parquet --as readings --fields sensors "
        "--building building.toml --lower 0 --upper 20000 --to readings.parquet --describe louver.toml"
    )
    parser.add_argument(
        "source", metavar="FILE", help="the events: a file, a table plant.duckdb#events, or - for the input"
    )
    parser.add_argument("--as", metavar="KIND", dest="kind", required=True, help="what is made of them, see below")
    parser.add_argument("--to", metavar="TABLE", help="the table, a .parquet or .csv file")
    parser.add_argument("--describe", metavar="FILE", help="writes the source's description there, else it is printed")
    parser.add_argument(
        "--counts", action="store_true", help="true counts of what became of the events, for their keeper alone"
    )
    parser.add_argument("--force", action="store_true", help="writes over files that are there")
    parser.add_argument("--json", action="store_true", help="says what was written as JSON")
    places = parser.add_argument_group("the public list of places; one of them is needed")
    places.add_argument("--building", metavar="FILE", help="building.toml, with its access points or sensors")
    places.add_argument("--places", metavar="FILE", help="a CSV file with the columns place and, if wanted, region")
    places.add_argument("--cells", metavar="GRID", help="west,south,east,north,columns,rows: positions become cells")
    events = parser.add_argument_group("the events")
    events.add_argument(
        "--format", metavar="FORMAT", help="ndjson, csv, compact, syslog, radius or parquet; by the ending"
    )
    events.add_argument(
        "--fields",
        metavar="FIELDS",
        help="wifi, generic, meters, sensors, taps; or own names: device=mac,place=ap,clock=s",
    )
    events.add_argument("--only", metavar="FIELD=VALUE", help="leaves other records out, such as kind=power")
    events.add_argument("--zone", metavar="ZONE", default="UTC", help="of log lines whose times carry none; UTC")
    events.add_argument("--salt", metavar="FILE", help="the door's salt, made where it is missing; else thrown away")
    rule = parser.add_argument_group("the rule")
    rule.add_argument("--slot", metavar="TIME", default="5m", help="how far apart slots are; 5m unless given")
    rule.add_argument("--validity", metavar="TIME", default="10m", help="how long an event says where somebody is; 10m")
    rule.add_argument("--during", metavar="M", help="occupancy: up to M regions within a slot, not one at its instant")
    rule.add_argument(
        "--combine", metavar="WAY", help="readings: mean, sum, max or last of a slot's; mean unless given"
    )
    rule.add_argument(
        "--lower", metavar="N", help="readings: the least value of a unit and slot; lower ones are moved up"
    )
    rule.add_argument(
        "--upper", metavar="N", help="readings: the largest; take both from the sensor, never from the data"
    )
    rule.add_argument("--longest", metavar="TIME", default="4h", help="trips: how long one may take; 4h unless given")
    who = parser.add_argument_group("who is protected")
    who.add_argument("--unit", metavar="UNIT", help="'(person, slot)', '(person, day)', '(region, slot)' and so on")
    who.add_argument("--rows-per-unit", metavar="N", help="how many rows of one unit count")
    who.add_argument(
        "--dataset",
        metavar="NAME",
        help="the name that the ledger knows the table by, to which its slots or days are added; the table's",
    )


def run(arguments: argparse.Namespace) -> None:
    from louver.source.names import instead_of

    if arguments.kind not in KINDS:
        raise ParameterError(f"Events cannot become {arguments.kind!r}{instead_of(arguments.kind, KINDS)}.")
    if arguments.to is None:
        _count(arguments)
        return
    from louver.cli.sense_options import options
    from louver.sense.source_text import described, example
    from louver.sense.table_file import check_form, write

    table = Path(arguments.to)
    check_form(table)
    keys = table.with_name(f"{table.stem}-{'stops' if arguments.kind == 'trips' else 'regions'}.csv")
    description = None if arguments.describe is None else Path(arguments.describe)
    _check_apart(arguments, table, keys)
    chosen = options(arguments)
    _check_free([path for path in (table, keys, description) if path is not None], arguments.force)
    found = _made(arguments, chosen)
    text = described(
        found.tabled,
        table,
        keys,
        chosen.unit,
        chosen.rows,
        _dataset(arguments.dataset or table.stem, chosen),
        table.parent if description is None else description.parent,
        chosen.rule.slot,
    )
    files: dict[Path, Any] = {keys: chosen.listing.columns, table: found.tabled.columns}
    write(files if description is None else {**files, description: text})
    _show(arguments, found, text, list(files), example(found.tabled, chosen.rows, chosen.listing.columns))


def _made(arguments: argparse.Namespace, chosen: Options) -> Made:
    from louver.cli.sense_made import made

    with ui.Progress("bytes") as progress:
        return made(arguments.source, chosen, progress, counts=arguments.counts)


def _count(arguments: argparse.Namespace) -> None:
    """What became of the events, and no table."""
    if not arguments.counts:
        raise ParameterError("Say where the table goes, --to TABLE; or look what becomes of the events, with --counts.")
    from louver.cli.sense_counts import show
    from louver.cli.sense_made import counted
    from louver.cli.sense_options import options

    with ui.Progress("bytes") as progress:
        tally = counted(arguments.source, options(arguments), progress)
    if arguments.json:
        ui.print_json("sense", counts=tally.to_dict())
        return
    show(tally)


def _check_apart(arguments: argparse.Namespace, table: Path, keys: Path) -> None:
    """No file is read, or written, as two things: the later one would replace the first."""
    named = {
        "FILE": arguments.source.partition("#")[0],
        "--to": table,
        "The list beside the table": keys,
        "The table's ledger": table.with_suffix(".ledger"),
        **{f"--{name}": getattr(arguments, name) for name in ("describe", "building", "places", "salt")},
    }
    seen: dict[Path, str] = {}
    for name, path in named.items():
        if path is not None and (other := seen.setdefault(Path(path).resolve(), name)) != name:
            raise ParameterError(f"{other} and {name} are the same file, {path}; name two.")


def _dataset(name: str, chosen: Options) -> str:
    """The name for the ledger: the same readings under other slots or days would have a budget of their own again."""
    from louver.watch.durations import written

    if chosen.unit.fixes("slot"):
        return f"{name}, slots of {written(chosen.rule.slot)}"
    return f"{name}, days of {chosen.listing.timezone}" if chosen.unit.fixes("day") else name


def _check_free(files: list[Path], force: bool) -> None:
    taken = next((path for path in files if path.exists()), None)
    if taken is not None and not force:
        raise DataError(f"{taken} is there already; name another file, or write over it with --force.")


def _show(arguments: argparse.Namespace, found: Made, text: str, files: list[Path], asked: tuple[str, str]) -> None:
    """What was written. How many rows there are, or messages of which kind, tells who was there, and is not said."""
    from louver.cli.sense_counts import NOT_SHOWN, show
    from louver.sense.source_text import BUDGET, OF_A_DAY, OF_A_SLOT

    question, slack = asked
    if arguments.json:
        written = [str(path) for path in files]
        ui.print_json(
            "sense",
            table=arguments.to,
            files=written,
            columns=list(found.tabled.columns),
            malformed=found.malformed,
            **({"counts": found.tally.to_dict()} if arguments.counts else {}),
            described=arguments.describe,
            description=text,
            example={"question": question, "slack": slack},
        )
        return
    print(f"Wrote {ui.printable(arguments.to)}: {', '.join(found.tabled.columns)}.")
    print(f"Malformed messages: {', '.join(found.malformed) or 'none'}.")
    if arguments.counts:
        show(found.tally)
    else:
        print(NOT_SHOWN)
    if arguments.describe is None:
        print(f"Describe it beside it, in {DESCRIPTION}:\n\n{text}")
    where = ui.printable(arguments.describe or str(Path(arguments.to).parent / DESCRIPTION))
    own = ", with a time (UTC) of your own" if OF_A_SLOT in question else ", with a day of your own"
    print(f"Ask, for example{own if OF_A_DAY in question else ''}:")
    print(f'louver ask {where} "{question}" --miss-rate 0.05 --slack {slack} --budget {BUDGET}')
