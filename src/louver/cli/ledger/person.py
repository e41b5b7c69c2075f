"""`louver ledger person`: give somebody a token, which is shown once."""

from __future__ import annotations

import argparse

from louver.cli import ui
from louver.cli.ledger.common import add_place, add_tokens, opened, tokens


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_place(parser)
    parser.add_argument("name", metavar="NAME", help="whose token it is; one that was given before stops working")
    parser.add_argument("--role", choices=("owner", "analyst"), required=True, help="what it allows")
    add_tokens(parser)


def run(arguments: argparse.Namespace) -> None:
    with opened(arguments) as ledger:
        token = ledger.add_person(arguments.name, arguments.role, tokens(arguments))
    if arguments.json:
        ui.print_json("ledger person", dataset=ledger.dataset, name=arguments.name, role=arguments.role, token=token)
    else:
        print(f"The token of {arguments.name} ({arguments.role}), which is not shown again:")
        print(f"  {token}")
