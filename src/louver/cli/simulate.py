"""`louver simulate`: invented events of an invented building, or other invented data, with the truth behind them."""

from __future__ import annotations

import argparse
from datetime import date
from pathlib import Path

from louver.cli import ui
from louver.errors import ParameterError
from louver.sense.simulate import PRESETS, simulate
from louver.sense.simulate.simulated import FORMATS, check_format, check_free

SEED = 7


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Writes invented data and the truth behind it into a folder. The same seed gives the same files.\n"
        "It is simulation: nobody is in it, and Louver's noise, which has no seed, is not used."
    )
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    listed = "\n".join(
        f"  {name:<10} {each.what};\n             {each.days} days from {each.start}, {each.people:,} {each.counted}"
        for name, each in PRESETS.items()
    )
    parser.epilog = f"presets:\n{listed}\n\nexample: louver simulate --preset demo --out small-hall"
    parser.add_argument("--out", metavar="FOLDER", required=True, help="where the files are written")
    parser.add_argument(
        "--preset", metavar="NAME", default="building", help="what is invented, see below; 'building' unless given"
    )
    parser.add_argument("--days", metavar="N", help="how many days")
    parser.add_argument("--people", metavar="N", help="how many people; pick-ups for taxi, residents for fall-risk")
    parser.add_argument(
        "--seed", metavar="N", default=str(SEED), help=f"another seed gives other data; {SEED} unless given"
    )
    parser.add_argument("--start", metavar="DAY", help="the first day, like 2018-02-01")
    parser.add_argument(
        "--format", metavar="FORMAT", default=FORMATS[0], help=f"{', '.join(FORMATS)}; parquet unless given"
    )
    parser.add_argument("--force", action="store_true", help="writes over files that are there")
    parser.add_argument("--json", action="store_true", help="says what was written as JSON")


def run(arguments: argparse.Namespace) -> None:
    check_format(arguments.format)
    days, people, seed = (_whole(name, getattr(arguments, name)) for name in ("days", "people", "seed"))
    start = None if arguments.start is None else _day(arguments.start)
    folder = Path(arguments.out)
    if arguments.preset in PRESETS:  # before the work; every file is looked at again when it is written
        check_free(folder, [f"{PRESETS[arguments.preset].table}.{arguments.format}"], arguments.force)
    with ui.Progress("days") as progress:
        made = simulate(
            arguments.preset,
            days=days,
            people=people,
            seed=SEED if seed is None else seed,
            start=start,
            progress=progress,
        )
    files = made.write(folder, arguments.format, force=arguments.force)
    if arguments.json:
        names = [str(file.relative_to(folder)) for file in files]
        rows = {name: len(next(iter(columns.values()))) for name, columns in made.tables.items()}
        ui.print_json(
            "simulate", preset=arguments.preset, summary=made.summary, folder=str(folder), files=names, rows=rows
        )
        return
    print(f"{made.summary}.")
    print(f"Wrote into {ui.printable(str(folder))}:")
    for file in files:
        print(f"  {file.relative_to(folder)}")


def _whole(name: str, given: str | None) -> int | None:
    if given is None:
        return None
    try:
        return int(given)
    except ValueError:
        raise ParameterError(f"--{name} must be a whole number, not {given!r}.") from None


def _day(given: str) -> date:
    try:
        return date.fromisoformat(given)
    except ValueError:
        raise ParameterError(f"--start must be a day like 2018-02-01, not {given!r}.") from None
