"""`louver audit mechanisms`: every mechanism of the project under attack, beside what it promises."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from louver.cli import ui
from louver.errors import ParameterError

if TYPE_CHECKING:
    from louver.attack.alarm import Audit

BROKEN = 1  # the exit code where a promise is broken


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--times", metavar="X", default="1", help="how many times the releases of a short audit, which takes minutes"
    )
    parser.add_argument("--only", metavar="TEXT", default="", help="only mechanisms with this in their name")
    parser.add_argument("--json", action="store_true", help="print JSON for programs")


def run(arguments: argparse.Namespace) -> int:
    from louver.attack.alarm import audits, mechanisms

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
        _print_json(done, broken)
    else:
        _print_table(done, broken)
    return BROKEN if broken else 0


def _print_json(done: list[Audit], broken: list[str]) -> None:
    from louver.attack.membership import FALSE_ALARM

    found = [
        {
            "mechanism": audit.case.name,
            "differs": audit.case.differs,
            "promised": audit.worst.promised,
            "lost": audit.worst.lost,
            "seen": audit.how,
            "floats": audit.floats,
            "broken": audit.is_broken,
            "verdict": audit.verdict,
            "deaf": audit.deaf,
        }
        for audit in done
    ]
    ui.print_json("audit mechanisms", broken=broken, false_alarm=FALSE_ALARM, mechanisms=found)


def _print_table(done: list[Audit], broken: list[str]) -> None:
    """Both numbers are of the measurement that lost more of its promise."""
    rows = [
        [
            audit.case.name,
            f"{audit.worst.promised:.4g}",
            f"{audit.worst.lost:.4g}",
            audit.verdict,
            "by numbers that are not whole" if audit.floats else audit.how,
            audit.case.differs,
        ]
        for audit in done
    ]
    heads = ("mechanism", "promised", "lost at least", "promise", "seen", "what differs")
    ui.print_table(heads, rows, right=(1, 2), long=5)
    print()
    if broken:
        print(
            f"Broken: {', '.join(broken)}. If all kept their promises, this would be said at most once in a million "
            "audits."
        )
    else:
        print(f"No promise was seen to be broken, of {len(done)}. What no attack here can see may still be wrong.")
    for audit in done:
        if audit.verdict == "could not tell":
            print(f"Could not tell about {audit.case.name}: {audit.deaf}.")
