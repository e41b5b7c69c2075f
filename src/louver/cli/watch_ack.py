"""`louver watch ack ID`: somebody has seen an alarm, so it is not repeated any more."""

from __future__ import annotations

import argparse
import getpass

from louver.cli.watch_feed import add_rules


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help="the alarm, by its id or the first letters of it")
    add_rules(parser)
    add_who(parser)


def add_who(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--who", metavar="NAME", help="who does it; your name on this machine unless given")


def who(arguments: argparse.Namespace) -> str:
    if arguments.who is not None and arguments.who.strip():
        return str(arguments.who).strip()
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a user without a name, as in some containers
        return "somebody"


def run(arguments: argparse.Namespace) -> None:
    from louver.watch.alarms.listing import acknowledge
    from louver.watch.journal import Journal
    from louver.watch.rules import Rules

    with Journal.open(Rules.read(arguments.rules).journal, create=False) as journal:
        print(acknowledge(journal, arguments.id, who(arguments)))
