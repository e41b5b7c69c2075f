"""`louver watch snooze RULE [KEY] --for 30m`: notices wait, states go on."""

from __future__ import annotations

import argparse

from louver.cli.watch_ack import add_who, who
from louver.cli.watch_feed import add_rules
from louver.errors import ParameterError
from louver.source.names import instead_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("rule", metavar="RULE", help="the rule")
    parser.add_argument("key", metavar="KEY", nargs="?", help="one of its keys; all unless given")
    parser.add_argument("--for", metavar="TIME", dest="length", required=True, help="how long: 30m; 0m ends it")
    add_rules(parser)
    add_who(parser)


def run(arguments: argparse.Namespace) -> None:
    from louver.watch.alarms.listing import snooze
    from louver.watch.journal import Journal
    from louver.watch.rules import Rules

    rules = Rules.read(arguments.rules)
    rule = rules.rule(arguments.rule)
    # The level's name is what a rule as a whole is listed under.
    keys = [rule.level, *map(str, rules.building.domain(rule.level).column(rule.level))]
    key = rule.level if arguments.key == f"any {rule.level}" else arguments.key
    if key is not None and key not in keys:
        raise ParameterError(f"The rule {rule.name!r} has no key {key!r}{instead_of(key, keys)}.")
    with Journal.open(rules.journal, create=False) as journal:
        zone = rules.building.timezone
        print(snooze(journal, rule.name, key, arguments.length, who(arguments), zone))
