"""What `louver publish table` prints and writes."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import textwrap
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from louver.cli import ui
from louver.cli.ask_words import with_flags
from louver.cli.publish_shown import WIDTH, say
from louver.errors import DataError, ParameterError

if TYPE_CHECKING:
    from louver.source.domain import Domain
    from louver.table.plan import TablePlan
    from louver.table.published import PublishedTable

COMMAND = "publish table"
FILES = (".csv", ".json", ".parquet")
_TYPES = {"text": "VARCHAR", "truth": "BOOLEAN", "day": "DATE", "time": "TIMESTAMPTZ"}


def show_plan(arguments: argparse.Namespace, plan: TablePlan, refused: str | None) -> None:
    """What is known before anything is reserved or read."""
    if arguments.json:
        ui.print_json(COMMAND, dry_run=True, **_known(plan), refused=refused)
        return
    _print(plan, plan.warnings, sys.stdout)
    say("price", f"{_price(plan)}; nothing was reserved and no row was read")
    say("meaning", plan.price.sentence())
    if refused is not None:
        say("refused", f"a run would be: {refused}")


def show_table(arguments: argparse.Namespace, table: PublishedTable, written: str) -> None:
    """What was paid and where the table is. Where the output has the table, this goes to the error output."""
    from louver.decide.shown import down

    on_output = arguments.to == "-"
    if arguments.json:
        said = {**_known(table.plan), **table.to_dict()}
        kept = said if on_output else {name: value for name, value in said.items() if name != "columns"}
        ui.print_json(COMMAND, dry_run=False, **kept, to=arguments.to)
        return
    out = sys.stderr if on_output else sys.stdout
    _print(table.plan, table.warnings, out)
    left = "" if table.remaining is None else f"; {down(table.remaining)} remains where most is used"
    entry = f"entry {table.release.number} of {table.ledger or 'the ledger'}"
    paid = f"{_price(table.plan)}, {entry}{left}"
    if table.release.again:
        paid = f"nothing this time: {entry} has the table, which was paid then with {_price(table.plan)}{left}"
    say("price", paid, out)
    say("meaning", table.plan.price.sentence(), out)
    if written:
        say("published", written, out)


def _print(plan: TablePlan, warnings: tuple[str, ...], out: Any) -> None:
    print(textwrap.fill(ui.printable(plan.protected), WIDTH, break_on_hyphens=False), file=out)
    say("table", _what(plan), out)
    if plan.exact is not None:
        say("exact", plan.invariants, out)
    say("promise", plan.promise, out)
    for warning in warnings:
        say("warning", with_flags(warning), out)


def _what(plan: TablePlan) -> str:
    from louver.table.words import cell

    noun = "key" if len(plan.domain) == 1 else "keys"
    return f"{plan.of or 'rows'} by {cell(plan)}; {len(plan.domain):,} {noun}"


def _known(plan: TablePlan) -> dict[str, Any]:
    return {
        "table": _what(plan),
        "protected": plan.protected,
        "promise": plan.promise,
        "warnings": list(plan.warnings),
        "exact": None if plan.exact is None else plan.invariants,
        "worst": str(plan.worst[0].price),
        "kind": plan.price.kind,
        "delta": str(getattr(plan.price, "delta", 0)),
        "meaning": plan.price.sentence(),
    }


def _price(plan: TablePlan) -> str:
    from louver.decide.shown import up

    delta = getattr(plan.price, "delta", 0)
    also = f" and delta {float(delta):.3g}" if delta else ""
    measure = "rho" if plan.rho is not None and plan.exact is None else "epsilon"
    return f"{measure} {up(plan.worst[0].price)}{also}{'' if plan.exact is None else ' beside what is exact'}"


def target(given: str, *, force: bool, as_json: bool) -> Target:
    if given != "-" and ("://" in given or Path(given).suffix.lower() not in FILES):
        raise ParameterError(
            f"A table is published to a file .csv, .json or .parquet, or to - for the output, not to {given[:60]!r}."
        )
    return Target(None if given == "-" else Path(given), force, as_json)


@dataclass(frozen=True)
class Target:
    """A file, written whole or not at all, or the output."""

    path: Path | None
    force: bool
    as_json: bool

    def check(self) -> None:
        """Whether it could be written, before anything is paid."""
        if self.path is None:
            return
        if self.path.exists() and not self.force:
            raise DataError(f"{self.path} is there already; name another file, or write over it with --force.")
        try:
            with tempfile.TemporaryFile(dir=self.path.parent):
                pass
        except OSError as fault:
            raise self._fault(fault) from None

    def write(self, table: PublishedTable) -> str:
        if self.path is None:
            if not self.as_json:
                sys.stdout.write(table.to_csv())
                sys.stdout.flush()
            return ""
        try:
            handle, name = tempfile.mkstemp(prefix=".publish-", suffix=self.path.suffix, dir=self.path.parent)
            os.close(handle)
            aside = Path(name)
            try:
                _fill(aside, table)
                with aside.open("rb+") as file:
                    os.fsync(file.fileno())
                aside.chmod(0o644)
                aside.replace(self.path)
            finally:
                with suppress(FileNotFoundError):
                    aside.unlink()
        except OSError as fault:
            raise self._fault(fault) from None
        return str(self.path)

    def _fault(self, fault: OSError) -> DataError:
        return DataError(f"{self.path} cannot be written: {fault.strerror or 'the system gave no reason'}.")


def _fill(aside: Path, table: PublishedTable) -> None:
    kind = aside.suffix.lower()
    if kind == ".csv":
        table.to_csv(aside)
    elif kind == ".json":
        aside.write_text(json.dumps(table.to_dict(), indent=2) + "\n", encoding="utf-8")
    else:
        _write_parquet(aside, table)


def _write_parquet(path: Path, table: PublishedTable) -> None:
    """Through CSV into DuckDB: nothing else has to be installed."""
    import duckdb

    typed = {name: _type(table.plan.domain, name) for name in table.columns}
    with tempfile.TemporaryDirectory(dir=path.parent) as folder, duckdb.connect(":memory:") as connection:
        text = Path(folder) / "table.csv"
        table.to_csv(text)
        connection.execute("SET TimeZone = 'UTC'")
        connection.read_csv(str(text), dtype=typed, header=True).write_parquet(str(path), compression="zstd")


def _type(domain: Domain, name: str) -> str:
    from louver.table.plan_parts import LEVEL

    if name not in domain.columns:
        return "VARCHAR" if name == LEVEL else "BIGINT"
    whole = all(isinstance(value, int) for value in domain.column(name) if value is not None)
    return _TYPES.get(domain.kind(name), "BIGINT" if whole else "DOUBLE")
