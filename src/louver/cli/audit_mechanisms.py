"""`louver audit mechanisms`: every mechanism of the project under attack, beside what it promises."""

from __future__ import annotations

import argparse

from louver.cli import ui
from louver.errors import ParameterError

BROKEN = 1  # the exit code where a promise is broken


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--times", metavar="X", default="1", help="how many times the releases of a short audit, which takes minutes"
    )
    parser.add_argument("--only", metavar="TEXT", default="", help="only mechanisms with this in their name")
    parser.add_argument("--json", action="store_true", help="print JSON for programs")


def run(arguments: argparse.Namespace) -> int:
    from louver.attack.alarm import audits, mechanisms
    from louver.attack.membership import FALSE_ALARM

    try:
        times = float(arguments.times)
    except ValueError:
        times = 0.0
    if not 0 < times < 1e6:
        raise ParameterError(f"--times must be a number above 0, not {arguments.times!r}.")
    chosen = [case for case in mechanisms() if arguments.only in case.name]
    if not chosen:
        raise ParameterError(f"There is no mechanism with {arguments.only!r} in its name.")
    done = []
    with ui.Progress("mechanisms") as progress:
        for audit in audits(chosen, times=times):
            done.append(audit)
            progress(len(done), len(chosen))
    broken = [audit.case.name for audit in done if audit.is_broken]
    if arguments.json:
        found = [
            {
                "mechanism": audit.case.name,
                "differs": audit.case.differs,
                "promised": audit.alone.promised,
                "lost": audit.alone.lost,
                "broken": audit.is_broken,
            }
            for audit in done
        ]
        ui.print_json("audit mechanisms", broken=broken, false_alarm=FALSE_ALARM, mechanisms=found)
        return BROKEN if broken else 0
    rows = [
        [
            audit.case.name,
            f"{audit.alone.promised:.4g}",
            f"{audit.alone.lost:.4g}",
            "BROKEN" if audit.is_broken else "kept",
            audit.case.differs,
        ]
        for audit in done
    ]
    heads = ("mechanism", "promised", "lost at least", "promise", "what differs")
    ui.print_table(heads, rows, right=(1, 2), long=4)
    if broken:
        print(
            f"\nBroken: {', '.join(broken)}. If all kept their promises, this would be said once in a million audits."
        )
    else:
        print(f"\nNo promise was seen to be broken, of {len(done)}. What no attack here can see may still be wrong.")
    return BROKEN if broken else 0
