"""A table of PostgreSQL as the place where a stream is published.

Before anything is paid, the very statement that will write is prepared with no rows, and taken back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from louver.errors import DataError, ParameterError
from louver.watch.targets import Target, columns_of, kinds_of, rows_of

if TYPE_CHECKING:
    from louver.stream.answer import Stream
    from louver.stream.plan import StreamPlan
    from louver.stream.tick import Tick


@dataclass(frozen=True)
class DatabaseTable(Target):
    """Rows by region and tick; a tick that is there already gets its new value."""

    address: str
    table: str
    force: bool = False

    def check_plan(self, plan: StreamPlan) -> None:
        if plan.totals:
            raise ParameterError("A table in PostgreSQL cannot have totals, whose keys are not all there; take a file.")

    def check(self, plan: StreamPlan) -> None:
        self.check_plan(plan)
        kinds = kinds_of(plan)
        nothing = ", ".join("NULL" if kind == "text" else f"NULL::{kind}" for kind in kinds.values())
        with self._connected() as cursor:
            self._make(cursor, kinds)
            cursor.execute(self._insert(list(kinds), f"SELECT {nothing} WHERE false"))
            taken = not self.force and self._has_ticks(cursor, plan)
            cursor.connection.rollback()
        if taken:
            raise DataError(
                f"The table {self.table} has numbers of these ticks already; name another one, or write over them with "
                "--force."
            )

    def _has_ticks(self, cursor: Any, plan: StreamPlan) -> bool:
        from psycopg import sql

        asked = sql.SQL("SELECT EXISTS (SELECT FROM {} WHERE tick >= %s AND tick < %s)").format(self._named())
        return bool(cursor.execute(asked, [plan.ticks.begin, plan.ticks.end]).fetchone()[0])

    def write(self, stream: Stream) -> str:
        kinds = kinds_of(stream.plan)
        columns = dict(zip(kinds, stream.columns.values(), strict=True))
        self._put(kinds, list(zip(*columns.values(), strict=True)))
        return f"{len(columns['tick']):,} rows in {self.table}"

    def ticks(self, ticks: Sequence[Tick]) -> None:
        kinds = columns_of(ticks[0].keys, ticks[0].regions[-1], tuple(ticks[0].columns))
        self._put(kinds, [row for tick in ticks for row in rows_of(tick)])

    def _put(self, kinds: dict[str, str], rows: list[tuple[Any, ...]]) -> None:
        marks = f"VALUES ({', '.join(['%s'] * len(kinds))})"
        names = [name.replace("%", "%%") for name in kinds]  # the driver takes a single one for a value
        with self._connected() as cursor:
            self._make(cursor, kinds)
            cursor.executemany(self._insert(names, marks), rows)
            cursor.connection.commit()

    def _insert(self, names: list[str], rows: str) -> Any:
        from psycopg import sql

        keys = _until_tick(names)
        news = [sql.SQL("{0} = excluded.{0}").format(sql.Identifier(name)) for name in names if name not in keys]
        return sql.SQL("INSERT INTO {} ({}) {} ON CONFLICT ({}) DO UPDATE SET {}").format(
            self._named(), _listed(names), sql.SQL(rows), _listed(keys), sql.SQL(", ").join(news)
        )

    def _named(self) -> Any:
        from psycopg import sql

        return sql.Identifier(*self.table.split("."))

    def _make(self, cursor: Any, kinds: dict[str, str]) -> None:
        """Only where it is not there, because whoever may write to a table need not be allowed to make one."""
        from psycopg import sql

        named = self._named().as_string(cursor)
        if cursor.execute("SELECT to_regclass(%s)", [named]).fetchone() != (None,):
            return
        made = [sql.SQL("{} {}").format(sql.Identifier(name), sql.SQL(kind)) for name, kind in kinds.items()]
        cursor.execute(
            sql.SQL("CREATE TABLE IF NOT EXISTS {} ({}, PRIMARY KEY ({}))").format(
                self._named(), sql.SQL(", ").join(made), _listed(_until_tick(list(kinds)))
            )
        )

    @contextmanager
    def _connected(self) -> Iterator[Any]:
        try:
            import psycopg
        except ImportError:
            raise DataError(
                "A table in PostgreSQL needs psycopg; install it with: pip install 'louver[postgres]'."
            ) from None
        try:
            with psycopg.connect(self.address, connect_timeout=10) as connection, connection.cursor() as cursor:
                yield cursor
        except psycopg.Error as fault:  # what it says may quote the address, and so a password
            raise DataError(f"The table {self.table} cannot be written: {_why(fault)}.") from None


def _why(fault: Any) -> str:
    import psycopg

    if isinstance(fault, psycopg.errors.InsufficientPrivilege):
        return "this user has no right to"
    if fault.sqlstate is None or isinstance(fault, psycopg.OperationalError):
        return "no database answers there, or it does not let this user in; check the address"
    return (
        "it has other columns; it needs those of regions, tick, value, low and high, whatever is asked for beside "
        "them, and its regions and ticks as the primary key; name another table"
    )


def _listed(names: list[str]) -> Any:
    from psycopg import sql

    return sql.SQL(", ").join(map(sql.Identifier, names))


def _until_tick(names: list[str]) -> list[str]:
    """The columns that tell one row from the others."""
    return names[: names.index("tick") + 1]
