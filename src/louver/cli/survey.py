"""`louver survey ...`: questions to people by randomized response. Each is imported only when it is called."""

from __future__ import annotations

from louver.cli.parser import Parser

COMMANDS = {
    "plan": "the question, its answers and its price, as a file that everybody may have",
    "form": "what respondents are told",
    "report": "one person's report, drawn on that person's device",
    "estimate": "how many have each answer, from reports",
}


def add_arguments(parser: Parser) -> None:
    added = parser.add_subparsers(metavar="WHAT", parser_class=Parser)
    for name, line in COMMANDS.items():
        described = f"{line[0].upper()}{line[1:]}."
        added.add_parser(name, help=line, description=described, module=f"louver.cli.survey_{name}")
