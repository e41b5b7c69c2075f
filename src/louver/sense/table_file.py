"""A table of columns as a file that only its owner can read, whole or not at all."""

from __future__ import annotations

import csv
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from louver.errors import DataError, ParameterError

FORMS = {".parquet": "FORMAT parquet, COMPRESSION zstd", ".csv": "FORMAT csv, HEADER true"}


@dataclass(frozen=True, slots=True)
class Named:
    """A column of texts: the different ones, and for each row which."""

    names: Sequence[str]
    codes: NDArray[np.int32]

    def values(self) -> NDArray[np.object_]:
        return np.array(self.names, dtype=object)[self.codes]


Column = NDArray[Any] | Named


def check_form(path: Path) -> None:
    if path.suffix not in FORMS:
        raise ParameterError(f"A table is written to a file that ends in .parquet or .csv, not to {path.name!r}.")


def write(files: Mapping[Path, Mapping[str, Column] | Mapping[str, list[str]] | str]) -> None:
    """Tables, lists and texts, each made aside and put in its place at the end. Their owner alone can read them."""
    staged: dict[Path, Path] = {}
    try:
        for path, content in files.items():
            staged[path] = _staged(path, content)
        for path, aside in staged.items():
            aside.replace(path)
    except OSError as fault:
        raise DataError(f"The table cannot be written: {fault.strerror or 'the system gave no reason'}.") from None
    finally:
        for aside in staged.values():
            shutil.rmtree(aside.parent, ignore_errors=True)


def _staged(path: Path, content: Mapping[str, Any] | str) -> Path:
    """The file in a folder of its own beside its place, on disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = Path(tempfile.mkdtemp(prefix=".sense-", dir=path.parent)) / path.name  # others cannot look in
    try:
        if isinstance(content, str):
            aside.write_text(content, encoding="utf-8", newline="\n")
        elif any(isinstance(column, list) for column in content.values()):
            _write_list(aside, content)
        else:
            _write_table(aside, content)
        aside.chmod(0o600)
        with aside.open("rb+") as file:
            os.fsync(file.fileno())
    except BaseException:
        shutil.rmtree(aside.parent, ignore_errors=True)
        raise
    return aside


def _write_list(path: Path, columns: Mapping[str, list[str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        made = csv.writer(file, lineterminator="\n")
        made.writerow(columns)
        made.writerows(zip(*columns.values(), strict=True))


def _write_table(path: Path, columns: Mapping[str, Column]) -> None:
    import duckdb

    plain = {name: each.values() if isinstance(each, Named) else each for name, each in columns.items()}
    chosen = ", ".join(_selected(name, each.dtype, path.suffix) for name, each in plain.items())
    quoted = str(path).replace("'", "''")
    try:
        with duckdb.connect(":memory:") as connection:
            connection.execute("SET enable_progress_bar = false")
            connection.register("made", {name: _registered(each) for name, each in plain.items()})
            connection.execute(f"COPY (SELECT {chosen} FROM made) TO '{quoted}' ({FORMS[path.suffix]})")  # noqa: S608
    except duckdb.Error:
        raise DataError(f"{path.name} cannot be written; look whether the disk is full.") from None


def _registered(column: NDArray[Any]) -> NDArray[Any]:
    return column.astype("datetime64[us]") if column.dtype.kind == "M" else column


def _selected(name: str, kind: np.dtype[Any], suffix: str) -> str:
    if kind == np.dtype("datetime64[D]"):
        return f'"{name}"::DATE AS "{name}"'
    if kind.kind == "M":
        text = f"strftime(\"{name}\", '%Y-%m-%dT%H:%M:%S.%fZ')"
        return f'{text} AS "{name}"' if suffix == ".csv" else f'"{name}"::TIMESTAMP AS "{name}"'
    return f'"{name}"::VARCHAR AS "{name}"' if kind.kind == "O" else f'"{name}"'
