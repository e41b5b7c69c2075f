"""`louver ledger verify`: whether the ledger still says what it said; exit code 4 when it does not."""

from __future__ import annotations

import argparse

from louver.cli import ui
from louver.cli.ledger.common import add_heads, add_place, heads, opened
from louver.errors import LedgerError
from louver.privacy.guarantee import Subspace

_UNCHECKED = (
    "These were published exactly. The entries show what was paid beside them and who allowed them by these names, but "
    "not that they are what the rows add up to, nor which keys a list in a name stands for: no row is read here, and "
    "an exact total is in no price."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_place(parser)
    add_heads(parser)


def run(arguments: argparse.Namespace) -> int:
    with opened(arguments) as ledger, ui.Progress("entries") as progress:
        verdict = ledger.verify(heads(arguments, ledger), progress)
        kinds = ledger.kinds() if verdict.ok else []
    unchecked = [name for kind in kinds if (name := kind.partition(f"{Subspace.kind} of ")[2])]
    if arguments.json:
        ui.print_json("ledger verify", dataset=ledger.dataset, **verdict.to_dict(), unchecked=unchecked)
    else:
        mark = ui.bold("Fine.") if verdict.ok else ui.amber("! Not fine.")
        print(f"{mark} {ui.printable(verdict.sentence)}")
        if unchecked:
            print(f"Not checked: {ui.printable('; '.join(unchecked))}. {_UNCHECKED}")
    return 0 if verdict.ok else LedgerError.exit_code
