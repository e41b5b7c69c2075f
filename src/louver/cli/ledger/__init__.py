"""`louver ledger ...`: a data set's account. One file per act; each is imported only when it is called."""

from __future__ import annotations

from louver.cli.parser import Parser, add_commands

COMMANDS = {
    "init": "make a ledger: who is protected, the caps, who may ask",
    "show": "show caps, what is spent, reserved and left, and reservations that never settled",
    "entries": "list every entry, oldest first",
    "verify": "check every entry, everything made from them, and exported heads",
    "export": "take the head out of the folder: to a file, a webhook or the output",
    "report": "write what a data-protection officer asks for",
    "cap": "set a cap; to raise one takes two owners, where there are two",
    "person": "give somebody a token, or a new one",
    "recover": "bring a copied or restored ledger up to date, and use it from now on",
}


def add_arguments(parser: Parser) -> None:
    add_commands(parser, "louver.cli.ledger", COMMANDS)
