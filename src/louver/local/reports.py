"""Reports as lines of a file that grows: CSV or JSON lines, each with the survey, a number and what was said.

They are public. The number is drawn with the report, so that one that was sent twice counts once; it says nothing about
anybody, and another survey gets another one.
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

from louver.errors import DataError, ParameterError

COLUMNS = ("survey", "number", "said")
KINDS = (".csv", ".jsonl", ".ndjson")
LARGEST_LINE = 2**20
NUMBER_DIGITS = 16


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
        with place.open("a", encoding="utf-8", newline="") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            written = io.StringIO()
            if kind == ".csv":
                lines = csv.writer(written, lineterminator="\n")
                lines.writerows([COLUMNS] if file.seek(0, os.SEEK_END) == 0 else [])
                lines.writerows((each.survey, each.number, each.said) for each in reports)
            else:
                written.writelines(f"{each.as_json()}\n" for each in reports)
            file.write(written.getvalue())
            file.flush()
            os.fsync(file.fileno())
    except OSError as fault:
        raise DataError(f"{place} cannot be written: {fault.strerror}.") from None


def read_reports(paths: Iterable[str | Path]) -> Iterator[Report]:
    """All reports of some files, one after the other."""
    for path in paths:
        place, kind = Path(path), kind_of(path)
        try:
            with place.open(encoding="utf-8", newline="") as file:
                yield from _in_csv(place, file) if kind == ".csv" else _in_json(place, file)
        except FileNotFoundError:
            raise DataError(f"There is no file {place}.") from None
        except (OSError, UnicodeDecodeError, csv.Error):
            raise DataError(f"{place} cannot be read as reports.") from None


def _in_csv(place: Path, file: Iterable[str]) -> Iterator[Report]:
    lines = csv.reader(file)
    head = tuple(next(lines, COLUMNS))
    if head != COLUMNS:
        raise DataError(f"{place} must begin with the line {','.join(COLUMNS)}.")
    for cells in lines:
        if cells:
            yield _report(place, lines.line_num, cells)


def _in_json(place: Path, file: Iterable[str]) -> Iterator[Report]:
    for number, line in enumerate(file, 1):
        if len(line) > LARGEST_LINE:
            raise DataError(f"Line {number:,} of {place} is too long for a report.")
        if line.strip():
            try:
                plain = json.loads(line)
                cells = [plain[name] for name in COLUMNS]
            except (ValueError, KeyError, TypeError, RecursionError):
                raise _no_report(place, number) from None
            yield _report(place, number, cells)


def _report(place: Path, line: int, cells: Sequence[object]) -> Report:
    if len(cells) != len(COLUMNS) or not all(isinstance(cell, str) and cell for cell in cells):
        raise _no_report(place, line)
    survey, number, said = (str(cell) for cell in cells)
    if len(number) != NUMBER_DIGITS or number.strip("0123456789abcdef"):
        raise _no_report(place, line)
    return Report(survey, number, said)


def _no_report(place: Path, line: int) -> DataError:
    return DataError(f"Line {line:,} of {place} is no report: it needs a survey, a number and what was said.")
