"""`louver ledger export`: the head, and on request all entries, out of the ledger's folder."""

from __future__ import annotations

import argparse
import json

from louver.cli import ui
from louver.cli.ledger.common import add_place, opened


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_place(parser)
    parser.add_argument("--to", metavar="FILE|URL|-", help="where the head goes: a file, https://..., or the output")
    parser.add_argument("--entries", metavar="FILE", help="write all entries there too, as JSON lines")


def run(arguments: argparse.Namespace) -> None:
    from louver.ledger.export import current_head, entries_to_file, head_to_file, head_to_webhook

    to: str = arguments.to or ("" if arguments.entries else "-")
    head, count = None, None
    with opened(arguments) as ledger:
        if arguments.entries:
            count = entries_to_file(ledger, arguments.entries)
        if to == "-":
            head = current_head(ledger)
        elif to:
            head = head_to_webhook(ledger, to) if "://" in to else head_to_file(ledger, to)
    if arguments.json:
        plain = None if head is None else head.to_dict()
        print(json.dumps({"louver": "ledger export", "format": ui.FORMAT, "head": plain, "entries": count}))
        return
    if count is not None:
        print(f"{count:,} entries are in {ui.printable(arguments.entries)}.")
    if head is None:
        return
    if to == "-":
        print(json.dumps(head.to_dict()))
    else:
        print(f"The head of entry {head.number} is {'sent' if '://' in to else f'in {ui.printable(to)}'}.")
