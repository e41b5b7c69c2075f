"""`louver audit ...`: what would somebody really learn? Each command is imported only when it is called."""

from __future__ import annotations

from louver.cli.parser import Parser

COMMANDS = {
    "study": "what attackers learn about people in a building, under mechanisms that are equally useful",
    "mechanisms": "whether every mechanism of Louver keeps its promise, by attacks on it",
}


def add_arguments(parser: Parser) -> None:
    added = parser.add_subparsers(metavar="WHAT", parser_class=Parser)
    for name, line in COMMANDS.items():
        described = f"{line[0].upper()}{line[1:]}."
        added.add_parser(name, help=line, description=described, module=f"louver.cli.audit_{name}")
