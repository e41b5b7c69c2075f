"""What `louver ask` asks: a source from `louver.toml`, or a bare file with its unit; and the ledger that pays."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from louver.errors import LedgerError, ParameterError

if TYPE_CHECKING:
    from louver.ledger import Ledger
    from louver.source.description import Source
    from louver.source.domain import Domain

DESCRIPTION = "louver.toml"
FILES = (".csv", ".parquet")
TABLES = (".duckdb", ".ddb", ".db")
DOMAIN_FILES = (*FILES, ".json")
SERVERS = ("postgresql://", "postgres://")


def asked_source(arguments: argparse.Namespace) -> Source:
    """The source behind FILE_OR_SOURCE: a data file, louver.toml, louver.toml:NAME, or a name in ./louver.toml."""
    given: str = arguments.source
    if is_bare(given):
        return _bare(arguments)
    from louver.source.description import Source

    path, name = _described(given)
    if arguments.unit is not None:
        raise ParameterError(f"{path} says what the unit is; --unit is for a bare file.")
    return Source.read(path, name)


def is_bare(given: str) -> bool:
    """Whether it is data itself and not a description."""
    if given.startswith(SERVERS):
        return True
    file, _, table = given.rpartition("#")
    return Path(given).suffix.lower() in FILES or (bool(table) and Path(file).suffix.lower() in TABLES)


def asked_domain(source: Source, given: str | None) -> Domain | str | None:
    """A domain of the source by name, or a file or table with one."""
    if given is None or given in source.domains:
        return given
    from louver.source.domain import Domain

    is_table = given.startswith(SERVERS) or "#" in given
    if is_table or Path(given).suffix.lower() in DOMAIN_FILES:
        return Domain.read(given)
    return given


def ledger_address(arguments: argparse.Namespace, source: Source) -> str | Path | None:
    """Where the ledger is: as given, as the environment or the description says, or beside a bare file."""
    return _named_ledger(arguments) or source.ledger


@contextmanager
def asked_ledger(arguments: argparse.Namespace, source: Source, plan: Any, budget: Fraction | None) -> Iterator[Ledger]:
    """The ledger, opened. One that is not there is made if its budget is said, and its owner's token shown once."""
    from louver.ledger import Ledger
    from louver.ledger.place import store_at

    where = ledger_address(arguments, source)
    if where is None:
        described = "" if is_bare(arguments.source) else ', or in the description: ledger = "presence.ledger"'
        raise ParameterError(
            f"Name the ledger that pays for {source.table.describe()}, with --ledger{described}; one that is not there "
            "yet is made with --budget, such as --budget 1, or with: louver ledger init."
        )
    if not store_at(where).exists():
        if budget is None:
            raise LedgerError(
                f"There is no ledger at {where}; make one with --budget, which says how much may be spent about any "
                "unit, such as --budget 1, or with: louver ledger init."
            )
        with _made(where, source, plan, budget) as ledger:
            yield ledger
        return
    with Ledger.open(where) as ledger:
        _check_budget(arguments, ledger, budget)
        yield ledger


def _bare(arguments: argparse.Namespace) -> Source:
    from louver.privacy import Unit
    from louver.source.description import Source
    from louver.source.measures import Bound
    from louver.source.table import Table

    if arguments.unit is None:
        raise ParameterError(
            "A bare file needs --unit, which says who is protected: '(person)', '(person, day)', or 'row' for one row."
        )
    unit = Unit.parse(_in_parentheses(arguments.unit))
    table = Table(arguments.source, dataset=arguments.dataset or _dataset(arguments), unit=unit)
    bound = None if unit.is_row else Bound()
    return Source(table, bound=bound)


def _in_parentheses(unit: str) -> str:
    """The unit as it was written, or what was perhaps meant where columns are written bare."""
    written = unit.strip()
    if written == "row" or not written or written[0] == "(" or written[-1] == ")":
        return unit
    meant = "row" if written.lower() in ("row", "rows") else f"({written})"
    raise ParameterError(f"Write a unit as 'row', or as columns in parentheses (did you mean {meant!r}?).")


def _dataset(arguments: argparse.Namespace) -> str:
    """The name of a bare file's data set: its ledger's, or its own where there is no ledger yet."""
    from louver.ledger import Ledger
    from louver.ledger.place import store_at

    where = _named_ledger(arguments)
    if where is not None and store_at(where).exists():
        with Ledger.open(where) as ledger:
            return ledger.dataset
    _, mark, table = arguments.source.rpartition("#")
    return table if mark else Path(arguments.source).stem


def _named_ledger(arguments: argparse.Namespace) -> str | Path | None:
    """The ledger as given, as the environment says, or beside a bare file."""
    chosen: str | None = arguments.ledger or os.environ.get("LOUVER_LEDGER")
    if chosen is None and Path(arguments.source).suffix.lower() in FILES:
        return Path(f"{arguments.source}.ledger")
    return chosen


def _described(given: str) -> tuple[Path, str | None]:
    file, colon, name = given.rpartition(":")
    if colon and file.endswith(".toml"):
        return Path(file), name
    if given.endswith(".toml"):
        return Path(given), None
    if Path(DESCRIPTION).is_file():
        return Path(DESCRIPTION), given
    raise ParameterError(
        f"{given!r} is no .csv or .parquet file, no table of a database and no .toml description, and there is no "
        f"{DESCRIPTION} here that could describe it."
    )


@contextmanager
def _made(where: str | Path, source: Source, plan: Any, budget: Fraction) -> Iterator[Ledger]:
    from louver.cli import ui
    from louver.decide.words import number
    from louver.ledger import Cap, Ledger
    from louver.steward import check

    check(source.table, plan)  # a mistake must not leave a ledger behind
    ledger, tokens = Ledger.create(
        where, dataset=source.table.dataset, unit=source.table.unit, caps=[Cap(epsilon=budget)]
    )
    with ledger:
        said = f"Made the ledger {ui.printable(ledger.address)} with a budget of {number(budget)} for {ledger.dataset}."
        (token,) = tokens.values()
        print(f"{said}\nThe token of its owner, which is not shown again: {token}", file=sys.stderr)
        yield ledger


def _check_budget(arguments: argparse.Namespace, ledger: Ledger, budget: Fraction | None) -> None:
    """Where a ledger is there, --budget cannot change it; saying the same again does no harm."""
    if arguments.budget is None or budget is None:
        return
    everywhere = next((cap.epsilon for cap in ledger.caps if not cap.scope.ranges and cap.audience is None), None)
    if everywhere != budget:
        from louver.decide.words import number

        has = "no budget that holds everywhere" if everywhere is None else f"a budget of {number(everywhere)}"
        raise ParameterError(f"The ledger is there and has {has}; change it with: louver ledger cap.")
