"""`louver publish table`: a private count for each key of a public list, some totals exact where that is said."""

from __future__ import annotations

import argparse
import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from louver.cli.ask_source import DOMAIN_FILES, asked_ledger, asked_source, is_bare, ledger_address, why_refused
from louver.cli.ask_words import with_flags
from louver.cli.publish_files import check_written
from louver.cli.publish_shown import at_work
from louver.cli.publish_table_shown import show_plan, show_table, target
from louver.errors import LedgerError, LouverError, ParameterError

if TYPE_CHECKING:
    from louver.source.description import Source
    from louver.source.domain import Domain
    from louver.table.plan import TablePlan

FROM_OUTSIDE = ("epsilon", "budget")  # what a variable may say


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(question="", plot=None, state=None)
    parser.add_argument(
        "source", metavar="FILE_OR_SOURCE", help="a .csv or .parquet file, louver.toml, or a source named in one"
    )
    what = parser.add_argument_group("what")
    what.add_argument("--by", metavar="COLUMNS", help="columns of the domain, with commas between them; its keys")
    what.add_argument(
        "--exact",
        metavar="COLUMNS",
        help="publishes the totals by these columns of the domain as they are, unprotected; all: the grand total",
    )
    what.add_argument("--totals", metavar="COLUMNS", help="also lines with the totals by each of these columns")
    what.add_argument(
        "--of", metavar="COLUMN", help="for rows that hold counts: the column; one of those counted is protected"
    )
    way = parser.add_argument_group("its price")
    way.add_argument("--epsilon", metavar="E", help="what one unit pays")
    way.add_argument("--rho", metavar="R", help="the same, for Gaussian noise")
    way.add_argument("--delta", metavar="D", help="with --rho and --exact: the delta of the price, such as 1e-6")
    data = parser.add_argument_group("the data")
    data.add_argument("--unit", help="who is protected, for a bare file: '(person)', or row; 'one of' what --of names")
    data.add_argument("--domain", metavar="NAME_OR_FILE", help="the public list of keys, with the columns of --exact")
    data.add_argument(
        "--rows-per-unit", metavar="N", type=int, help="how many rows of one unit count; one, unless given"
    )
    data.add_argument("--keys-per-unit", metavar="N", type=int, help="under how many keys one unit counts")
    data.add_argument("--dataset", metavar="ID", help="the name of a bare file's data set, as its ledger has it")
    pay = parser.add_argument_group("who pays")
    pay.add_argument("--ledger", metavar="WHERE", help="a file or postgresql://; beside a bare file unless given")
    pay.add_argument(
        "--budget", metavar="EPSILON", help="makes the ledger, if there is none, with this cap, which allows --exact"
    )
    pay.add_argument("--audience", metavar="NAME", help="whose part of the budget pays")
    pay.add_argument("--key", metavar="TEXT", help="with the same key again, the same table costs nothing")
    show = parser.add_argument_group("where to")
    show.add_argument(
        "--to", metavar="WHERE", default="-", help="FILE.csv, .parquet or .json, or - for the output, as CSV"
    )
    show.add_argument("--force", action="store_true", help="writes over a file that is there")
    show.add_argument(
        "--dry-run", action="store_true", help="price and promise only; nothing is reserved, and no row is read"
    )
    show.add_argument("--json", action="store_true", help="print JSON for programs")


def run(arguments: argparse.Namespace) -> None:
    from louver.steward import check
    from louver.table.publishing import publish_table

    place = target(arguments.to, force=arguments.force, as_json=arguments.json)
    if arguments.of is not None and arguments.unit is None and is_bare(arguments.source):
        arguments.unit = f"one of {arguments.of}"
    source = asked_source(arguments)
    check_written(arguments, source, "table")
    with _said():
        plan = _plan(arguments, source)
    budget = _number(arguments, "budget", source)
    if arguments.dry_run:
        check(source.table, plan)  # says what a run would refuse before it reserves
        refused = _needed(arguments, source, plan) or why_refused(arguments, source, plan, plan.worst, budget)
        show_plan(arguments, plan, refused)
        return
    if refused := _needed(arguments, source, plan):
        raise LedgerError(refused)
    place.check()
    exact = () if plan.exact is None else (plan.invariants,)
    key = arguments.key or f"publish {secrets.token_hex(8)}"
    token = os.environ.get("LOUVER_TOKEN") or None
    with _said(), asked_ledger(arguments, source, plan, lambda: plan.worst, budget, exact) as ledger:
        with at_work():
            table = publish_table(source, plan, ledger=ledger, token=token, audience=arguments.audience, key=key)
        try:
            written = place.write(table)
        except (LouverError, OSError) as fault:
            what = str(fault) if isinstance(fault, LouverError) else f"{arguments.to} cannot be written."
            raise LouverError(
                f"{what.removesuffix('.')}; the table is paid for and kept, and costs nothing again with --key {key!r}."
            ) from None
        show_table(arguments, table, written)
        sys.stdout.flush()


def _plan(arguments: argparse.Namespace, source: Source) -> TablePlan:
    from louver.table.publishing import table

    by = _columns(arguments.by)
    exact = None if arguments.exact is None else _columns(arguments.exact)
    if exact == []:
        raise ParameterError("--exact names columns of the domain, or all for the grand total.")
    return table(
        source,
        by=by,
        exact="all" if exact == ["all"] else exact,
        of=arguments.of,
        totals=_columns(arguments.totals),
        rows_per_unit=arguments.rows_per_unit,
        keys_per_unit=arguments.keys_per_unit,
        domain=_domain(arguments, source, by),
        **{name: _number(arguments, name) for name in ("epsilon", "rho", "delta")},
    )


def _columns(given: str | None) -> list[str]:
    return [name.strip() for name in (given or "").split(",") if name.strip()]


def _domain(arguments: argparse.Namespace, source: Source, by: list[str]) -> Domain | str | None:
    """A domain of the source by name, or a file or table with one, whose keys are the columns that are asked for."""
    from louver.source.domain import Domain

    given = arguments.domain or os.environ.get("LOUVER_DOMAIN")
    if given is None and not source.domains:
        itself = (
            ""
            if arguments.of is None
            else (
                f"; where the file lists every key, also those that count 0, it can be the list itself: --domain "
                f"{arguments.source}"
            )
        )
        raise ParameterError(f"A table needs the public list of its keys; give it with --domain{itself}.")
    if given is None or given in source.domains:
        return given
    is_place = "#" in given or "://" in given or Path(given).suffix.lower() in DOMAIN_FILES
    return Domain.read(given, by or None) if is_place else given


def _number(arguments: argparse.Namespace, name: str, source: Source | None = None) -> Fraction | None:
    from louver.cli.ledger.written import number

    text: str | None = getattr(arguments, name)
    if text is None and name in FROM_OUTSIDE and (name != "epsilon" or arguments.rho is None):
        text = os.environ.get(f"LOUVER_{name.upper()}")
    if text is not None:
        return number(f"--{name}", text)
    usual: Any = None if source is None else source.defaults.get(name)
    return usual if isinstance(usual, Fraction) else None


def _needed(arguments: argparse.Namespace, source: Source, plan: TablePlan) -> str | None:
    """A ledger that --budget makes has a budget of epsilon, which pays for neither rho nor delta."""
    from louver.ledger.place import store_at

    where = ledger_address(arguments, source)
    needed = None if plan.rho is None else "delta" if plan.exact is not None else "rho"
    if not needed or (where is not None and store_at(where).exists()):
        return None
    also = "" if plan.exact is None else f", and --exact {plan.invariants!r}"
    return (
        f"A table that costs {needed} needs a ledger with a cap for it; make one with: louver ledger init "
        f"--{needed}{also}."
    )


@contextmanager
def _said() -> Iterator[None]:
    """What is refused, in the words of the command line."""
    try:
        yield
    except LouverError as refusal:
        words = with_flags(str(refusal)).replace("for exact", "for --exact").replace("for totals", "for --totals")
        if " comes twice" in words:
            words = f"{words.removesuffix('.')}; name more columns with --by."
        refusal.args = (words,)
        raise
