"""A table: the public description of one data set. It names a file and reads nothing."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from louver.errors import ParameterError
from louver.privacy import Unit

FORMATS = (".csv", ".parquet")
LONGEST_NAME = 128


@dataclass(frozen=True, slots=True, init=False)
class Table:
    """A CSV or Parquet file, the name of the data set in it, and the unit that is protected.

    The name is declared, because it is the ledger's: another file with the same rows must not get another budget.

    >>> table = Table("presence.csv", dataset="building 7", unit=Unit("device", "room"))
    >>> table.dataset, table.unit.protected()
    ('building 7', 'everything recorded about one device in one room')
    """

    path: Path
    dataset: str
    unit: Unit

    def __init__(self, path: str | os.PathLike[str], *, dataset: str, unit: Unit) -> None:
        if not isinstance(unit, Unit):
            raise ParameterError(f"A table needs a Unit, not a {type(unit).__name__}; Unit.row() is one row.")
        object.__setattr__(self, "path", _path(path))
        object.__setattr__(self, "dataset", _dataset(dataset))
        object.__setattr__(self, "unit", unit)


def _dataset(name: object) -> str:
    if not isinstance(name, str) or not 1 <= len(name) <= LONGEST_NAME or not name.isprintable():
        raise ParameterError(f"A data set is named by a text of 1 to {LONGEST_NAME} printable characters.")
    if name != name.strip():
        raise ParameterError(f"The name of the data set {name!r} must not begin or end with a blank.")
    return str.__str__(name)


def _path(path: object) -> Path:
    if not isinstance(path, str | os.PathLike):
        raise ParameterError(f"A table is a file, named by a path, not by a {type(path).__name__}.")
    try:
        found = Path(path)
    except TypeError:
        raise ParameterError("A table is a file, named by a path of text, not of bytes.") from None
    if found.suffix.lower() not in FORMATS or "\0" in str(found):
        raise ParameterError("A table is a file whose name ends in .csv or .parquet.")
    return found
