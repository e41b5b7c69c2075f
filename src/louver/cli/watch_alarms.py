"""`louver watch alarms`: which alarms are open, who saw them, and whom they reached."""

from __future__ import annotations

import argparse

from louver.cli import ui
from louver.cli.watch_feed import add_rules


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_rules(parser)
    parser.add_argument("--all", action="store_true", help="also those that are over")
    parser.add_argument("--json", action="store_true", help="print JSON for programs")


def run(arguments: argparse.Namespace) -> None:
    from louver.watch.alarms.listing import HEADS, plain, rows
    from louver.watch.journal import Journal
    from louver.watch.rules import Rules

    with Journal.open(Rules.read(arguments.rules).journal, create=False) as journal:
        raised = journal.alarms(open_only=not arguments.all)
    if arguments.json:
        ui.print_json("watch alarms", alarms=plain(raised))
    elif raised:
        ui.print_table(HEADS, rows(raised), long=HEADS.index("delivery"))
    else:
        print("There is no alarm." if arguments.all else "No alarm is open.")
