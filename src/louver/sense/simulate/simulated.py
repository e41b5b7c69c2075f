"""What a simulation made: tables as columns of numbers, texts, and how they become files."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from louver.errors import DataError, ParameterError
from louver.source.names import instead_of

FORMATS = ("parquet", "csv", "ndjson")
DESCRIPTION = "louver.toml"
_COPIED = {
    "parquet": "FORMAT parquet, COMPRESSION zstd",
    "csv": "FORMAT csv, HEADER true",
    "ndjson": "FORMAT json",
}


@dataclass(frozen=True, slots=True)
class Coded:
    """A column of texts: the different ones, and for each row which."""

    names: Sequence[str]
    codes: NDArray[Any]

    def __len__(self) -> int:
        return len(self.codes)

    def values(self) -> NDArray[np.object_]:
        texts: NDArray[np.object_] = np.array(list(self.names), dtype=object)
        return np.take(texts, self.codes)


Column = Coded | NDArray[Any]


@dataclass(frozen=True, slots=True)
class Simulated:
    """Tables by the path that they are written to, without its ending, and texts by their whole path.

    `summary` says in one line what is there.
    """

    tables: Mapping[str, Mapping[str, Column]]
    texts: Mapping[str, str] = field(default_factory=dict)
    summary: str = ""

    def column(self, table: str, name: str) -> NDArray[Any]:
        """One column of a table, as plain values."""
        if table not in self.tables:
            raise ParameterError(f"There is no table {table!r}{instead_of(table, self.tables)}.")
        if name not in self.tables[table]:
            raise ParameterError(f"Table {table!r} has no column {name!r}{instead_of(name, self.tables[table])}.")
        found = self.tables[table][name]
        return found.values() if isinstance(found, Coded) else found

    def files(self, form: str = "parquet") -> list[str]:
        check_format(form)
        return sorted([*(f"{name}.{form}" for name in self.tables), *self._texts(form)])

    def write(self, folder: str | Path, form: str = "parquet", *, force: bool = False) -> list[Path]:
        """Writes everything into a folder, all at the end. Only `force` writes over a file that is there."""
        target = Path(folder)
        check_free(target, self.files(form), force)
        try:
            target.mkdir(parents=True, exist_ok=True)
            staged = Path(tempfile.mkdtemp(prefix=".simulate-", dir=target))
            try:
                _write_tables(self.tables, staged, form)
                for name, text in self._texts(form).items():
                    _made_room(staged / name).write_text(text, encoding="utf-8", newline="\n")
                for name in self.files(form):
                    (staged / name).replace(_made_room(target / name))
            finally:
                shutil.rmtree(staged, ignore_errors=True)
        except OSError as fault:
            raise DataError(f"{target} cannot be written: {fault.strerror or 'the system gave no reason'}.") from None
        return [target / name for name in self.files(form)]

    def _texts(self, form: str) -> dict[str, str]:
        """The texts; a description names tables as they are written, and there is none of what cannot be asked."""
        texts = {name: text for name, text in self.texts.items() if form != "ndjson" or name != DESCRIPTION}
        if DESCRIPTION in texts:
            texts[DESCRIPTION] = texts[DESCRIPTION].replace('.parquet"', f'.{form}"')
        return texts


def check_format(form: str) -> None:
    if form not in FORMATS:
        raise ParameterError(f"There is no format {form!r}{instead_of(form, FORMATS)}.")


def check_free(folder: Path, files: Sequence[str], force: bool) -> None:
    """Refuses to write over what is there."""
    if folder.exists() and not folder.is_dir():
        raise DataError(f"{folder} is a file; name a folder.")
    taken = next((name for name in files if (folder / name).exists()), None)
    if taken is not None and not force:
        raise DataError(f"{folder / taken} is there already; name another folder, or write over it with --force.")


def spanned(days: int, start: date) -> str:
    return f"over {days:,} {'day' if days == 1 else 'days'} from {start.isoformat()}"


def microseconds(milliseconds: NDArray[np.int64], start: date) -> NDArray[np.datetime64]:
    """Milliseconds since a day's midnight UTC as times to the microsecond, which tables keep."""
    midnight = int(datetime(start.year, start.month, start.day, tzinfo=UTC).timestamp()) * 1_000_000
    return (milliseconds * 1000 + midnight).view("datetime64[us]")


def _made_room(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _write_tables(tables: Mapping[str, Mapping[str, Column]], folder: Path, form: str) -> None:
    import duckdb

    # One thread, so that the same rows are the same bytes.
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        for name, columns in tables.items():
            path = _made_room(folder / f"{name}.{form}")
            kinds = {
                each: np.dtype(object) if isinstance(column, Coded) else column.dtype
                for each, column in columns.items()
            }
            chosen = ", ".join(_selected(each, kind, form) for each, kind in kinds.items())
            plain = {each: _plain(column) for each, column in columns.items()}
            connection.register("made", plain)
            quoted = str(path).replace("'", "''")
            connection.execute(f"COPY (SELECT {chosen} FROM made) TO '{quoted}' ({_COPIED[form]})")  # noqa: S608
            connection.unregister("made")


def _plain(column: Column) -> NDArray[Any]:
    if isinstance(column, Coded):
        return column.values()
    return column.astype("datetime64[us]") if column.dtype.kind == "M" else column


def _selected(name: str, kind: np.dtype[Any], form: str) -> str:
    """A column as its file has it: times with their zone, numbers in as few bytes as they need."""
    if kind == np.dtype("datetime64[D]"):
        return f'"{name}"::DATE AS "{name}"'
    if kind.kind == "M":
        written = f'"{name}"::TIMESTAMPTZ' if form == "parquet" else f"strftime(\"{name}\", '%Y-%m-%dT%H:%M:%S.%fZ')"
        return f'{written} AS "{name}"'
    if kind.kind == "O":
        return f'"{name}"::VARCHAR AS "{name}"'
    return f'"{name}"'
