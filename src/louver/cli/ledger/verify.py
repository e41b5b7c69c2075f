"""`louver ledger verify`: whether the ledger still says what it said; exit code 4 when it does not."""

from __future__ import annotations

import argparse

from louver.cli import ui
from louver.cli.ledger.common import add_heads, add_place, heads, opened
from louver.errors import LedgerError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_place(parser)
    add_heads(parser)


def run(arguments: argparse.Namespace) -> int:
    with opened(arguments) as ledger, ui.Progress("entries") as progress:
        verdict = ledger.verify(heads(arguments, ledger), progress)
    if arguments.json:
        ui.print_json("ledger verify", dataset=ledger.dataset, **verdict.to_dict())
    else:
        mark = ui.bold("Fine.") if verdict.ok else ui.amber("! Not fine.")
        print(f"{mark} {ui.printable(verdict.sentence)}")
    return 0 if verdict.ok else LedgerError.exit_code
