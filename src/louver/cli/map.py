"""`louver map ...`: private maps of what people measure. Each is imported only when it is called."""

from __future__ import annotations

from louver.cli.parser import Parser

COMMANDS = {
    "build": "a map of counts and averages over an area, paid for by a ledger",
    "show": "what is above a threshold, as a picture, a page, text or cells for GIS tools, at no price",
    "ask": "the count and the average of a rectangle or of regions, at no price",
    "combine": "several rounds of a map as one, at no further price",
}


def add_arguments(parser: Parser) -> None:
    added = parser.add_subparsers(metavar="WHAT", parser_class=Parser)
    for name, line in COMMANDS.items():
        described = f"{line[0].upper()}{line[1:]}."
        added.add_parser(name, help=line, description=described, module=f"louver.cli.map_{name}")
