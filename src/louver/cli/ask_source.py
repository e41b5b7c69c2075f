"""What `louver ask` asks: a source from `louver.toml`, or a bare file with its unit; and the ledger that pays."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from louver.errors import BudgetError, DataError, LedgerError, LouverError, ParameterError

if TYPE_CHECKING:
    from louver.ledger import Ledger
    from louver.privacy import Charge
    from louver.source.description import Source
    from louver.source.domain import Domain
    from louver.source.table import Table

DESCRIPTION = "louver.toml"
FILES = (".csv", ".parquet")
TABLES = (".duckdb", ".ddb", ".db")
DOMAIN_FILES = (*FILES, ".json")
SERVERS = ("postgresql://", "postgres://")


def asked_source(arguments: argparse.Namespace) -> Source:
    """The source behind FILE_OR_SOURCE: a data file, louver.toml, louver.toml:NAME, or a name in ./louver.toml.

    A data file without a unit is the source that louver.toml beside it describes.
    """
    if arguments.unit is None:
        arguments.source = as_described(arguments.source)
    given: str = arguments.source
    if is_bare(given):
        return _with_rows(_bare(arguments))
    from louver.source.description import Source

    if Path(given).suffix.lower() in TABLES:
        _check_file(Path(given))
        table = getattr(_asked(arguments.question), "table", None) or "presence"
        raise ParameterError(f"Name the table: {given}#{table}.")
    path, name = described(given)
    if arguments.unit is not None:
        raise ParameterError(f"{path} says what the unit is; --unit is for a bare file.")
    return _with_rows(Source.read(path, name))


def _with_rows(source: Source) -> Source:
    """The source, if its file is there: nothing else that may be wrong matters as much."""
    path = getattr(source.table.location, "path", None)
    if path is not None:
        _check_file(path)
    return source


def _check_file(path: Path) -> None:
    if not path.is_file():
        raise DataError(f"There is no file {path}.")


def _asked(sql: str) -> Any:
    """The question, or None where it cannot be read; the planner says why."""
    from louver.question import QuestionError, from_sql

    try:
        return from_sql(sql)
    except QuestionError:
        return None


def is_bare(given: str) -> bool:
    """Whether it is data itself and not a description."""
    if given.startswith(SERVERS):
        return True
    file, _, table = given.rpartition("#")
    return Path(given).suffix.lower() in FILES or (bool(table) and Path(file).suffix.lower() in TABLES)


def as_described(given: str) -> str:
    """A data file as the source that louver.toml beside it describes, if it does; anything else as it is given."""
    from louver.source.toml_file import sources_of

    rows = Path(given)
    description = rows.parent / DESCRIPTION
    if rows.suffix.lower() not in FILES or given.startswith(SERVERS) or not description.is_file():
        return given
    _check_file(rows)
    names = sources_of(description, rows)
    if len(names) > 1:
        ways = " or ".join(f"{description}:{name}" for name in names)
        raise ParameterError(f"{description} describes {given} more than once; say which is meant: {ways}.")
    return f"{description}:{names[0]}" if names else given


def asked_domain(source: Source, given: str | None, sql: str) -> Domain | str | None:
    """A domain of the source by name, or a file or table with one, whose keys are those of the question."""
    if given is None or given in source.domains:
        return given
    is_table = given.startswith(SERVERS) or "#" in given
    if is_table or Path(given).suffix.lower() in DOMAIN_FILES:
        return _read_domain(source.table, given, tuple(getattr(_asked(sql), "keys", ())))
    return given


def _read_domain(table: Table, place: str, keys: tuple[str, ...]) -> Domain:
    """The domain of a file, by the keys that are asked about where it has them, else by its first column."""
    from louver.source.public_list import public_list

    if not keys:
        return public_list(table, place)
    try:
        return public_list(table, place, keys)
    except LouverError as fault:
        with suppress(LouverError):
            return public_list(table, place)
        raise fault from None


def ledger_address(arguments: argparse.Namespace, source: Source) -> str | Path | None:
    """Where the ledger is: as given, as the environment or the description says, or beside a bare file."""
    return _named_ledger(arguments) or source.ledger


@contextmanager
def asked_ledger(
    arguments: argparse.Namespace,
    source: Source,
    plan: Any,
    worst: Callable[[], Sequence[Charge]],
    budget: Fraction | None,
    exact: tuple[str, ...] = (),
) -> Iterator[Ledger]:
    """The ledger, opened. One that is not there is made if its budget is said, and its owner's token shown once.

    `worst` says what the question can charge in all: one that cannot be paid makes no ledger. `exact` are totals that a
    new ledger lets be exact.
    """
    from louver.ledger import Ledger
    from louver.ledger.place import store_at
    from louver.steward import check

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
        check(source.table, plan)  # a mistake must not leave a ledger behind
        _check_suffices(plan, worst(), budget)
        with _made(where, source, budget, exact) as ledger:
            yield ledger
        return
    with Ledger.open(where) as ledger:
        _check_budget(arguments, ledger, budget)
        yield ledger


def why_refused(
    arguments: argparse.Namespace, source: Source, plan: Any, worst: Sequence[Charge], budget: Fraction | None
) -> str | None:
    """What a run would be refused with for want of budget; None where it would be paid, or nobody said by whom."""
    from louver.ledger import Ledger
    from louver.ledger.place import store_at
    from louver.steward import Steward

    where = ledger_address(arguments, source)
    if where is not None and store_at(where).exists():
        with Ledger.open(where) as ledger:
            Steward(source.table, ledger)  # says what does not fit together
            try:
                refusal = ledger.refusal(plan, audience=arguments.audience)
            except BudgetError as other:  # what no sum or no owner allows
                return str(other)
        return None if refusal is None else str(refusal)
    if budget is None:
        return None
    try:
        _check_suffices(plan, worst, budget)
    except BudgetError as refusal:
        return str(refusal)
    return None


def _bare(arguments: argparse.Namespace) -> Source:
    from louver.privacy import Unit
    from louver.source.description import Source
    from louver.source.names import unit_meant
    from louver.source.table import Table

    if arguments.unit is None:
        raise ParameterError(
            "A bare file needs --unit, which says who is protected: '(person)', '(person, day)', or 'row' for one row."
        )
    unit = Unit.parse(unit_meant(arguments.unit) or arguments.unit)
    table = Table(arguments.source, dataset=arguments.dataset or _dataset(arguments), unit=unit)
    return Source(table)


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


def described(given: str) -> tuple[Path, str | None]:
    """The description that is meant, and the name of a source in it."""
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
def _made(where: str | Path, source: Source, budget: Fraction, exact: tuple[str, ...]) -> Iterator[Ledger]:
    from louver.cli import ui
    from louver.decide.words import number
    from louver.ledger import Cap, Ledger
    from louver.ledger.place import key_path

    ledger, tokens = Ledger.create(
        where, dataset=source.table.dataset, unit=source.table.unit, caps=[Cap(epsilon=budget, exact=exact)]
    )
    with ledger:
        said = f"Made the ledger {ui.printable(ledger.address)} with a budget of {number(budget)} for {ledger.dataset}."
        (token,) = tokens.values()
        key = ui.printable(str(key_path(where, None)))
        kept = f"Its key is {key} and its witness {key}.witness; keep both, and no backup of the ledger beside them."
        needed = "The token of its owner, needed to change the budget and to add people, which is not shown again:"
        print(said, kept, f"{needed} {token}", sep="\n", file=sys.stderr)
        yield ledger


def _check_suffices(plan: Any, worst: Sequence[Charge], budget: Fraction) -> None:
    """Whether a new ledger could pay for its first question."""
    from louver.decide.shown import up
    from louver.decide.words import number
    from louver.privacy import largest_total

    price, alone = largest_total(worst).price, largest_total(plan.worst).price
    if price <= budget:
        return
    ways = "; or ".join([*plan.cheaper(budget * alone / price), f"a budget of {up(price)}"])
    raise BudgetError(
        f"The budget does not suffice: {up(price)} of epsilon is asked for and it is {number(budget)}, which is "
        f"{up(price - budget)} too little. No ledger was made and nothing was read. What would fit: {ways}."
    )


def _check_budget(arguments: argparse.Namespace, ledger: Ledger, budget: Fraction | None) -> None:
    """Where a ledger is there, --budget cannot change it; saying the same again does no harm."""
    if arguments.budget is None or budget is None:
        return
    everywhere = next((cap.epsilon for cap in ledger.caps if not cap.scope.ranges and cap.audience is None), None)
    if everywhere != budget:
        from louver.decide.words import number

        has = "no budget that holds everywhere" if everywhere is None else f"a budget of {number(everywhere)}"
        raise ParameterError(f"The ledger is there and has {has}; change it with: louver ledger cap.")
