"""`louver watch alarms`: which alarms are open, who saw them, whom they reached, and what else holds notices up."""

from __future__ import annotations

import argparse

from louver.cli import ui
from louver.cli.watch_feed import add_rules


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_rules(parser)
    parser.add_argument("--all", action="store_true", help="also those that are over")
    parser.add_argument("--json", action="store_true", help="print JSON for programs")


def run(arguments: argparse.Namespace) -> None:
    from louver.watch.alarms.listing import HEADS, notes, plain, plain_notes, resting, rows
    from louver.watch.journal import Journal
    from louver.watch.rules import Rules

    rules = Rules.read(arguments.rules)
    with Journal.open(rules.journal, create=False) as journal:
        raised = journal.alarms(open_only=not arguments.all)
        said, plain_said = notes(journal, rules.building.timezone), plain_notes(journal)
    said = resting(raised, rules) + said
    if arguments.json:
        ui.print_json("watch alarms", alarms=plain(raised), **plain_said)
        return
    if raised:
        ui.print_table(HEADS, rows(raised), long=HEADS.index("delivery"))
    else:
        print("There is no alarm." if arguments.all else "No alarm is open.")
    for sentence in said:
        print(sentence)
