"""Options of the commands that read a source and are paid for by a ledger; `ask_source` says what they mean."""

from __future__ import annotations

import argparse
import os
from fractions import Fraction
from typing import Any


def add_source(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "source", metavar="FILE_OR_SOURCE", help="a .csv or .parquet file, louver.toml, or a source named in one"
    )


def add_data(
    parser: argparse.ArgumentParser,
    *,
    unit: str = "who is protected, for a bare file: '(person, day)', or row",
    domain: str | None = None,
) -> None:
    """Who is protected, and what counts of them; keys only where there is a `domain` of them."""
    data = parser.add_argument_group("the data")
    data.add_argument("--unit", help=unit)
    if domain is not None:
        data.add_argument("--domain", metavar="NAME_OR_FILE", help=domain)
    data.add_argument(
        "--rows-per-unit", metavar="N", type=int, help="how many rows of one unit count; one, unless given"
    )
    if domain is not None:
        data.add_argument("--keys-per-unit", metavar="N", type=int, help="under how many keys one unit counts")
    data.add_argument("--dataset", metavar="ID", help="the name of a bare file's data set, as its ledger has it")


def add_payer(
    parser: argparse.ArgumentParser, *, key: str, budget: str = "makes the ledger, if there is none, with this cap"
) -> None:
    """Who pays. `key` says what the same key gives again."""
    pay = parser.add_argument_group("who pays")
    pay.add_argument("--ledger", metavar="WHERE", help="a file or postgresql://; beside a bare file unless given")
    pay.add_argument("--budget", metavar="EPSILON", help=budget)
    pay.add_argument("--audience", metavar="NAME", help="whose part of the budget pays")
    pay.add_argument("--key", metavar="TEXT", help=key)


def number_from(
    arguments: argparse.Namespace, name: str, usual: Any = None, *, outside: bool = True
) -> Fraction | None:
    """An option, or what the environment says in its place, where it may: LOUVER_MISS_RATE for --miss-rate; or what
    is usual by the source's description.
    """
    from louver.cli.ledger.written import number

    text: str | None = getattr(arguments, name)
    if text is None and outside:
        text = os.environ.get(f"LOUVER_{name.upper()}")
    if text is not None:
        return number(f"--{name.replace('_', '-')}", text)
    return usual if isinstance(usual, Fraction) else None
