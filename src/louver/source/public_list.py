"""A public list of keys that is not the private table: which keys are in a table tells who is in it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from louver.errors import ParameterError
from louver.source.domain import Domain
from louver.source.locations import DuckDBTable, File, Location, PostgresTable, locate
from louver.source.table import Table

_POSTGRES_PORT = 5432
_THIS_MACHINE = (None, "127.0.0.1", "::1")


def public_list(table: Table, place: str | Path, keys: Sequence[str] | None = None) -> Domain:
    """The domain that is read from a place; refused before anything there is looked at where the rows are there too.

    Where the unit is one of those that a column counts, all neighbours have the same rows, so that these may be the
    list themselves; but for that column, which is private and left out.
    """
    from louver.source.domain_reading import read

    check_place(table, (place,))
    if not has_the_rows(table, place):
        return read(place, keys)
    if keys is not None and table.unit.counted in keys:
        raise ParameterError(f"{table.unit.counted!r} is counted, so it cannot be a key as well.")
    return read(place, keys, without=table.unit.counted)


def check_place(table: Table, place: tuple[str | Path, ...]) -> None:
    """Refuses a list that is, or was, read from where the rows are, or a part of it."""
    if table.unit.counted is None and any(has_the_rows(table, each) for each in place):
        raise ParameterError(
            f"{table.describe()} has the rows, so it cannot be the public list of keys as well: which keys are in it "
            "tells who is in it; write all keys into a file of their own, or, if its rows hold counts, make 'one of' "
            "the counts the unit."
        )


def has_the_rows(table: Table, place: str | Path) -> bool:
    """Whether the rows of the table are at this place, by whatever path or link it is named."""
    try:
        return _is_same(table.location, locate(place))
    except ParameterError:  # of a kind that has no rows, such as .json
        return False


def _is_same(rows: Location, other: Location) -> bool:
    if isinstance(rows, File) and isinstance(other, File):
        return is_same_file(rows.path, other.path)
    if isinstance(rows, DuckDBTable) and isinstance(other, DuckDBTable):
        # Before the last part may be a schema, the file's own name, or both: tables of one name count as one.
        return rows.name.casefold() == other.name.casefold() and is_same_file(rows.path, other.path)
    if isinstance(rows, PostgresTable) and isinstance(other, PostgresTable):
        return _on_server(rows) == _on_server(other)
    return False


def is_same_file(one: Path, other: Path) -> bool:
    """Whether two paths lead to one file, through links as well."""
    try:
        return one.resolve() == other.resolve() or one.samefile(other)
    except OSError:
        return False


def _on_server(place: PostgresTable) -> tuple[str, int, str, str]:
    """What tells tables of servers apart, whoever asks."""
    parts = urlsplit(place.address)
    try:
        port = parts.port or _POSTGRES_PORT
    except ValueError:
        port = _POSTGRES_PORT
    host = "localhost" if parts.hostname in _THIS_MACHINE else parts.hostname
    return host, port, parts.path, place.name
