"""What the acts on a ledger share: where it is, who acts, and files that are read."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from louver.errors import AccessError, LedgerError

if TYPE_CHECKING:
    from louver.ledger import Head, Ledger

TOKEN_VARIABLES = ("LOUVER_TOKEN", "LOUVER_SECOND_TOKEN")


def add_place(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("where", metavar="WHERE", help="the ledger: a file, or postgresql://user@host/database")
    parser.add_argument("--key", metavar="FILE", help="the ledger's key (or set LOUVER_LEDGER_KEY)")
    parser.add_argument("--json", action="store_true", help="print JSON for programs")


def add_tokens(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--token-file",
        metavar="FILE",
        action="append",
        default=[],
        help="a file with an owner's token; twice for two owners (or set LOUVER_TOKEN and LOUVER_SECOND_TOKEN)",
    )


def add_heads(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--head",
        metavar="FILE",
        action="append",
        default=[],
        help="a head that was exported before, or several, one a line; may be repeated",
    )


@contextmanager
def opened(arguments: argparse.Namespace) -> Iterator[Ledger]:
    from louver.ledger import Ledger

    with Ledger.open(arguments.where, key=arguments.key) as ledger:
        yield ledger


def tokens(arguments: argparse.Namespace) -> list[str]:
    """Whose act it is: never from the command line, which other users of a machine can see."""
    found = [os.environ[variable] for variable in TOKEN_VARIABLES if os.environ.get(variable)]
    found += ["".join(lines(path, "The token file")).strip() for path in arguments.token_file]
    if not found:
        raise AccessError("This takes an owner's token, in LOUVER_TOKEN or in a file named with --token-file.")
    return found


def heads(arguments: argparse.Namespace, ledger: Ledger) -> list[Head]:
    from louver.ledger.export import read_heads

    found = [head for path in arguments.head for head in read_heads(lines(path, "The head"), ledger.dataset, path)]
    links: dict[int, str] = {}
    for head in found:
        if links.setdefault(head.number, head.link) != head.link:
            raise LedgerError(f"Two of the heads are of entry {head.number} and differ: the ledger had two histories.")
    return found


def lines(path: str, what: str) -> Iterable[str]:
    """The lines of a text file; - is the input."""
    try:
        return sys.stdin.readlines() if path == "-" else Path(path).read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        raise LedgerError(f"{what} {path} is no text.") from None
    except (OSError, ValueError) as fault:
        reason = getattr(fault, "strerror", None) or "its name cannot be used"
        raise LedgerError(f"{what} {path} cannot be read: {reason}.") from None
