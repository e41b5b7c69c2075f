"""`louver ledger recover`: a copied or restored ledger becomes the one in use."""

from __future__ import annotations

import argparse

from louver.cli import ui
from louver.cli.ledger.common import add_heads, add_place, add_tokens, heads, lines, opened, tokens


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_place(parser)
    parser.add_argument("--entries", metavar="FILE", help="the entries that were written after the copy, or all")
    add_heads(parser)
    add_tokens(parser)


def run(arguments: argparse.Namespace) -> None:
    from louver.ledger.verify import read_entries

    newer = read_entries(lines(arguments.entries, "The file of entries")) if arguments.entries else []
    with opened(arguments) as ledger:
        added = ledger.recover(tokens(arguments), newer, heads(arguments, ledger))
        head = ledger.head()
    if arguments.json:
        ui.print_json("ledger recover", dataset=ledger.dataset, added=added, head=head.to_dict())
    else:
        print(
            f"The ledger {ui.printable(ledger.address)} is in use again: entry {head.number} begins epoch {head.epoch}."
        )
        print(f"{added:,} newer {'entry was' if added == 1 else 'entries were'} added. Export its head now.")
