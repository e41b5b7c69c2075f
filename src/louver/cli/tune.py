"""`louver tune TASK`: the parameter at which each mechanism is just useful enough."""

from __future__ import annotations

import argparse

from louver.cli import ui
from louver.cli.audit_truth import add_truth, count, names, shares, truth_from

TASKS = {
    "heat-colours": "the share of regions and ticks that keep their colour, of ten by the region's past",
    "heat-steps": "the same, where a colour that is off by one of nine steps loses a ninth",
    "flags": "the share that is rightly said to be busier or not than in nine of ten past ticks",
    "mean-error": "one less the mean error, as a share of the mean count",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "The least parameter at which each mechanism is useful enough, on the week before the last day,\n"
        "or on the later half of the days before it, where there are fewer than two weeks.\n"
        "It looks at the truth, as its owner may: what is printed is not private."
    )
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    listed = "\n".join(f"  {name:<13} {words}" for name, words in TASKS.items())
    parser.epilog = f"tasks:\n{listed}\n\nexample: louver tune heat-colours --demo --target 0.75,0.9"
    parser.add_argument("task", metavar="TASK", help="what releases are for, see below")
    add_truth(parser)
    parser.add_argument("--target", metavar="SHARES", default="0.75,0.9", help="how useful; 0.75,0.9 unless given")
    parser.add_argument(
        "--mechanism", metavar="NAMES", default="laplace,pegasus,segment", help="laplace,pegasus,segment unless given"
    )
    parser.add_argument(
        "--part", metavar="NAMES", default="day,night", help="day, night or all; day,night unless given"
    )
    parser.add_argument("--jobs", metavar="N", default="2", help="how many processes; 2 unless given")
    parser.add_argument("--json", action="store_true", help="print JSON for programs")


def run(arguments: argparse.Namespace) -> None:
    from dataclasses import asdict

    from louver.attack.parts import ticks_of
    from louver.attack.report import FOR_OWNER
    from louver.attack.study import equally_useful
    from louver.attack.study_parameters import TUNED_HEADS, reached_by_nothing, tuned_rows
    from louver.attack.utility import task

    task(arguments.task)
    chosen, targets, jobs = (
        names(arguments.mechanism),
        shares("target", arguments.target),
        count("jobs", arguments.jobs),
    )
    parts = list(dict.fromkeys(arguments.part.split(",")))
    for part in parts:
        ticks_of(part, 24)
    truth, about = truth_from(arguments)
    with ui.Progress("mechanisms tuned") as progress:
        tuned = equally_useful(truth, chosen, arguments.task, targets, parts, jobs=jobs, progress=progress)
    if arguments.json:
        found = [asdict(each) for each in tuned]
        ui.print_json("tune", private=False, **{"for": FOR_OWNER}, task=arguments.task, data=about, tuned=found)
        return
    print(f"{FOR_OWNER}\n")
    print(f"{arguments.task}: {TASKS[arguments.task]}.\n")
    rows = sorted(tuned_rows(tuned), key=lambda row: (row[1], row[0]))
    ui.print_table(TUNED_HEADS, [[str(cell) for cell in row] for row in rows])
    if nothing := reached_by_nothing(tuned):
        print(f"\n{nothing}")
