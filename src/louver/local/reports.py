"""Reports as lines of a file that grows: CSV or JSON lines, each with the survey, a number and what was said.

They are public, and anybody may add a line: what is no report spoils no other one, because each is a line of its own.
The number is drawn with the report, so that one that was sent twice counts once; it says nothing about anybody, and
another survey gets another one.
"""

from __future__ import annotations

import csv
import fcntl
import io
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO

from louver.errors import DataError, ParameterError

COLUMNS = ("survey", "number", "said")
KINDS = (".csv", ".jsonl", ".ndjson")
LARGEST_LINE = 2**20
NUMBER_DIGITS = 16
_HEAD = ",".join(COLUMNS)


@dataclass(frozen=True, slots=True)
class Report:
    """What one person said in public: the name of an answer, or a 0 or 1 for each of many."""

    survey: str
    number: str
    said: str

    def as_json(self) -> str:
        return json.dumps(asdict(self))


def kind_of(path: str | Path) -> str:
    kind = Path(path).suffix.lower()
    if kind not in KINDS:
        raise ParameterError(f"Reports are kept in a file .csv or .jsonl, not in {str(path)[:60]!r}.")
    return kind


def append_reports(path: str | Path, reports: Sequence[Report]) -> None:
    """Adds lines at the end of a file, which is made where it is missing; on disk when it returns."""
    place, kind = Path(path), kind_of(path)
    try:
        with place.open("a+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            is_new = file.seek(0, os.SEEK_END) == 0
            written = io.StringIO()
            if not is_new and not _ends_a_line(file):
                written.write("\n")
            if kind == ".csv":
                lines = csv.writer(written, lineterminator="\n")
                lines.writerows([COLUMNS] if is_new else [])
                lines.writerows((each.survey, each.number, each.said) for each in reports)
            else:
                written.writelines(f"{each.as_json()}\n" for each in reports)
            file.write(written.getvalue().encode())
            file.flush()
            os.fsync(file.fileno())
    except OSError as fault:
        raise DataError(f"{place} cannot be written: {fault.strerror}.") from None


def read_reports(paths: Iterable[str | Path]) -> Iterator[Report | None]:
    """All reports of some files, one after the other, with None for each line that is no report."""
    for path in paths:
        place, read = Path(path), _in_csv if kind_of(path) == ".csv" else _in_json
        try:
            # A byte that is no letter is odd in its own line and in no other.
            with place.open(encoding="utf-8", errors="replace", newline="") as file:
                while line := file.readline(LARGEST_LINE):
                    if line.strip() and (read is _in_json or line.strip() != _HEAD):
                        yield _report(read(line))
        except FileNotFoundError:
            raise DataError(f"There is no file {place}.") from None
        except OSError:
            raise DataError(f"{place} cannot be read as reports.") from None


def _ends_a_line(file: BinaryIO) -> bool:
    file.seek(-1, os.SEEK_END)
    return file.read(1) == b"\n"


def _in_csv(line: str) -> Sequence[object]:
    if '"' not in line:
        return line.rstrip("\r\n").split(",")
    try:
        return next(csv.reader([line], strict=True))
    except csv.Error:
        return ()


def _in_json(line: str) -> Sequence[object]:
    try:
        plain = json.loads(line)
        return [plain[name] for name in COLUMNS]
    except (ValueError, KeyError, TypeError, RecursionError):
        return ()


def _report(cells: Sequence[object]) -> Report | None:
    if len(cells) != len(COLUMNS) or not all(isinstance(cell, str) and cell for cell in cells):
        return None
    survey, number, said = (str(cell) for cell in cells)
    if len(number) != NUMBER_DIGITS or number.strip("0123456789abcdef"):
        return None
    return Report(survey, number, said)
