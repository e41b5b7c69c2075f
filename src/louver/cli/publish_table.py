"""`louver publish table`: a private count for each key of a public list, some totals exact where that is said."""

from __future__ import annotations

import argparse
import os
import secrets
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from louver.cli.ask_source import (
    DOMAIN_FILES,
    as_described,
    asked_ledger,
    asked_source,
    is_bare,
    ledger_address,
    why_refused,
)
from louver.cli.ask_words import with_flags
from louver.cli.options import add_data, add_payer, add_source, number_from
from louver.cli.publish_files import check_written
from louver.cli.publish_shown import at_work
from louver.cli.publish_table_shown import show_plan, show_table, target
from louver.errors import LedgerError, LouverError, ParameterError

if TYPE_CHECKING:
    from louver.source.description import Source
    from louver.source.domain import Domain
    from louver.table.plan import TablePlan


_FLAGS = (
    ("for exact", "for --exact"),
    ("for totals", "for --totals"),
    ("leave exact out", "leave --exact out"),
    ("out, or exact.", "out, or --exact."),
    ("make 'one of' the counts the unit", "name their column with --of"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(question="", plot=None, state=None)
    add_source(parser)
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
    add_data(
        parser,
        unit="who is protected, for a bare file: '(person)', or row; 'one of' what --of names",
        domain="the public list of keys, with the columns of --exact",
    )
    add_payer(
        parser,
        key="with the same key again, the same table costs nothing",
        budget="makes the ledger, if there is none, with this cap, which allows --exact",
    )
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
    from louver.table.counting import checked
    from louver.table.publishing import publish_table

    place = target(arguments.to, force=arguments.force, as_json=arguments.json)
    source = _source(arguments)
    check_written(arguments, source, "table")
    with _said():
        checked(source.table.unit, arguments.of, None, ())
        plan = _plan(arguments, source)
    budget = number_from(arguments, "budget", source.defaults.get("budget"))
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


def _source(arguments: argparse.Namespace) -> Source:
    """The source; --of makes those counted the unit of a bare file, unless it is described as just that."""
    if arguments.unit is not None:
        return asked_source(arguments)
    described = as_described(arguments.source)
    if is_bare(described):
        if arguments.of is None:
            raise ParameterError(_all_that_is_needed(arguments))
        arguments.unit = f"one of {arguments.of}"
        return asked_source(arguments)
    given, arguments.source = arguments.source, described
    source = asked_source(arguments)
    if arguments.of in (None, source.table.unit.counted) or not is_bare(given):
        return source
    arguments.source, arguments.unit = given, f"one of {arguments.of}"
    return asked_source(arguments)


def _all_that_is_needed(arguments: argparse.Namespace) -> str:
    """What a bare file does not say, all of it at once, with a line that would work if its rows hold counts."""
    given = [
        (name, getattr(arguments, name)) for name in ("by", "exact", "totals", "epsilon", "rho", "delta", "ledger")
    ]
    words = ["louver", "publish", "table", arguments.source, "--of", "COLUMN"]
    words += [word for name, value in given if value is not None for word in (f"--{name}", value)]
    words += ["--domain", arguments.domain or arguments.source, "--budget", arguments.budget or "2"]
    return (
        "A bare file needs --unit, which says who is protected, '(person)' or row, or, if its rows hold counts, --of "
        "and the column that has them; --domain, which is the public list of keys and may be the file itself if it "
        "holds counts and lists every key; and --budget, or a ledger that is there; such as: "
        f"{shlex.join(words)}; or say it once in louver.toml beside the file."
    )


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
        domain=_domain(arguments, source, by, [] if exact in (None, ["all"]) else exact),
        epsilon=number_from(arguments, "epsilon", outside=arguments.rho is None),
        rho=number_from(arguments, "rho", outside=False),
        delta=number_from(arguments, "delta", outside=False),
    )


def _columns(given: str | None) -> list[str]:
    return [name.strip() for name in (given or "").split(",") if name.strip()]


def _domain(arguments: argparse.Namespace, source: Source, by: list[str], exact: list[str]) -> Domain | str | None:
    """A domain of the source by name, or a file or table with one, whose keys are the columns that are asked for.

    Where the rows are the list themselves, each is one key, and what totals are exact by is a key too.
    """
    from louver.source.public_list import has_the_rows, public_list

    given = arguments.domain or os.environ.get("LOUVER_DOMAIN")
    if given is None and not source.domains:
        may = "; where the file lists every key, also those that count 0, it can be the list itself: --domain "
        itself = "" if source.table.unit.counted is None else f"{may}{arguments.source}"
        raise ParameterError(f"A table needs the public list of its keys; give it with --domain{itself}.")
    if given is None or given in source.domains:
        return given
    if not ("#" in given or "://" in given or Path(given).suffix.lower() in DOMAIN_FILES):
        return str(given)
    also = [name for name in exact if name not in by] if by and has_the_rows(source.table, given) else []
    return public_list(source.table, given, [*also, *by] or None)


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
        words = with_flags(str(refusal))
        for plain, flag in _FLAGS:
            words = words.replace(plain, flag)
        if " comes twice" in words:
            words = f"{words.removesuffix('.')}; name more columns with --by."
        refusal.args = (words,)
        raise
