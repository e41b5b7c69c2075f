"""`louver ledger report`: what a data-protection officer asks for; exit code 4 when the ledger does not verify."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from louver.cli import ui
from louver.cli.ledger.common import add_heads, add_place, heads, opened
from louver.errors import LedgerError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_place(parser)
    parser.add_argument("--year", type=int, help="only what was asked in this calendar year, in UTC")
    parser.add_argument("--out", metavar="FILE", help="write it there, in Markdown where the name ends in .md")
    parser.add_argument("--markdown", action="store_true", help="in Markdown, wherever it goes")
    parser.add_argument("--keys", action="store_true", help="add every charge on every key, which is for owners")
    add_heads(parser)


def run(arguments: argparse.Namespace) -> int:
    from louver.ledger.report import report

    with opened(arguments) as ledger, ui.Progress("entries") as progress:
        made = report(
            ledger, year=arguments.year, heads=heads(arguments, ledger), keys=arguments.keys, progress=progress
        )
    if arguments.json:
        page = json.dumps({"louver": "ledger report", "format": ui.FORMAT, **made.to_dict()}, indent=2) + "\n"
    elif arguments.markdown or (arguments.out or "").endswith(".md"):
        page = made.to_markdown()
    else:
        page = made.to_text()
    if arguments.out is None:
        print(page, end="")
    else:
        try:
            Path(arguments.out).write_text(page, encoding="utf-8", errors="backslashreplace")
        except OSError as fault:
            raise LedgerError(f"The report {arguments.out} cannot be written: {fault.strerror}.") from None
    return 0 if made.verdict.ok else LedgerError.exit_code
