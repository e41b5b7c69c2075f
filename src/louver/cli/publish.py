"""`louver publish ...`: private numbers that leave as a whole. Each is imported only when it is called."""

from __future__ import annotations

from louver.cli.parser import Parser

COMMANDS = {
    "stream": "a number for each tick and region, by one mechanism, paid for as a whole",
    "table": "a count for each key of a public list, with totals that are exact where that is said",
}


def add_arguments(parser: Parser) -> None:
    added = parser.add_subparsers(metavar="WHAT", parser_class=Parser)
    for name, line in COMMANDS.items():
        described = f"{line[0].upper()}{line[1:]}."
        added.add_parser(name, help=line, description=described, module=f"louver.cli.publish_{name}")
