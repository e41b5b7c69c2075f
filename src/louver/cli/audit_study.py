"""`louver audit study`: attackers with a prior against mechanisms that are equally useful."""

from __future__ import annotations

import argparse
from pathlib import Path

from louver.cli import ui
from louver.cli.audit_truth import add_truth, attackers_from, count, names, shares, truth_from
from louver.cli.map_options import check_new


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "How many people do attackers find, and how sure are they, under mechanisms that are equally useful?\n"
        "The last day is attacked; all days before it are the attackers' prior.\n"
        "What is printed is for the owner of the data: that a guess is right is known from the truth only."
    )
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = "example: louver audit study --demo --out report.html"
    add_truth(parser)
    attack = parser.add_argument_group("the attack")
    attack.add_argument(
        "--mechanism",
        metavar="NAMES",
        default="laplace,pegasus,segment,ttl,ttl-device",
        help="with commas between them; laplace,pegasus,segment,ttl,ttl-device unless given",
    )
    attack.add_argument("--utility", metavar="SHARES", default="0.75,0.9", help="how useful; 0.75,0.9 unless given")
    attack.add_argument(
        "--task",
        metavar="NAME",
        default="heat-steps",
        help="what it is useful for, see louver tune; heat-steps unless given",
    )
    attack.add_argument(
        "--known", metavar="SHARES", default="0,0.5,0.9", help="shares of others whose place is known; 0,0.5,0.9"
    )
    attack.add_argument(
        "--attacker",
        metavar="WHO",
        action="append",
        help="outsider, administrator, role:NAME, sees:REGION,REGION, or cameras:REGION,REGION, which an administrator "
        "watches; may be given again; outsider, role:student and administrator unless given",
    )
    attack.add_argument("--joint", action="store_true", help="guesses from all regions together; takes far longer")
    attack.add_argument("--runs", metavar="N", default="30", help="releases of each mechanism; 30 unless given")
    attack.add_argument("--jobs", metavar="N", default="2", help="how many processes; 2 unless given")
    out = parser.add_argument_group("the report")
    out.add_argument("--out", metavar="FILE.html", help="one page with all figures")
    out.add_argument("--json", metavar="FILE.json", help="the same for programs")
    out.add_argument("--force", action="store_true", help="writes over files that are there")


def run(arguments: argparse.Namespace) -> None:
    from louver.attack.report import FOR_OWNER, save
    from louver.attack.study import study
    from louver.attack.study_parameters import TUNED_HEADS, reached_by_nothing, tuned_rows
    from louver.attack.study_report import likelier_rows, report_of
    from louver.attack.utility import task

    chosen, targets, known = (
        names(arguments.mechanism),
        shares("utility", arguments.utility),
        shares("known", arguments.known),
    )
    runs, jobs = count("runs", arguments.runs), count("jobs", arguments.jobs)
    task(arguments.task)
    files = [Path(name) for name in (arguments.out, arguments.json) if name is not None]
    for file in files:
        check_new(str(file), force=arguments.force)
    truth, about = truth_from(arguments)
    with _Stages() as progress:
        found = study(
            truth,
            mechanisms=chosen,
            utility=arguments.task,
            targets=targets,
            attackers=attackers_from(truth, arguments.attacker),
            known=known,
            runs=runs,
            joint=arguments.joint,
            jobs=jobs,
            seed=count("seed", arguments.seed, 0),
            progress=progress,
        )
    report = report_of(found, about)
    if arguments.out is not None:
        save(arguments.out, report.html())
    if arguments.json is not None:
        save(arguments.json, report.json())
    print(f"{FOR_OWNER}\n\n{report.verdict}\n")
    ui.print_table(TUNED_HEADS, [[str(cell) for cell in row] for row in tuned_rows(found.tuned)])
    if nothing := reached_by_nothing(found.tuned):
        print(f"\n{nothing}")
    heads, rows = likelier_rows(found)
    print(
        f"\nOf 100 people, the right place of so many is thought likelier than not, on average (in the worst run),\n"
        f"by attackers who know where {max(known):.0%} of the others are:\n"
    )
    ui.print_table(heads, rows, right=range(3, len(heads)))
    print()
    if found.left_out:
        print(f"Left out: {'; '.join(found.left_out)}.")
    for file in files:
        print(f"Wrote {ui.printable(str(file))}.")


class _Stages:
    """Progress of one stage after the other, each with its own words."""

    def __init__(self) -> None:
        self._shown: dict[str, ui.Progress] = {}

    def __call__(self, what: str, done: int, all_of: int) -> None:
        words = {"searched": "mechanisms tuned", "learned": "laws learned", "attacked": "releases attacked"}
        if what not in self._shown:
            self._shown[what] = ui.Progress(words[what])
        self._shown[what](done, all_of)
        if done == all_of:
            self._shown[what].__exit__()

    def __enter__(self) -> _Stages:
        return self

    def __exit__(self, *_: object) -> None:
        for each in self._shown.values():
            each.__exit__()
