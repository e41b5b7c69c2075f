"""A file to which a stream that goes on is appended, tick by tick: CSV, with the columns of a stream that is whole."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import chain, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from louver.errors import DataError, ParameterError
from louver.watch.targets import File, Target, rows_of, target

if TYPE_CHECKING:
    from louver.stream.answer import Stream
    from louver.stream.plan import StreamPlan
    from louver.stream.tick import Tick

COLUMNS = ("tick", "value", "low", "high")
LONGEST_LINES: Final = 1 << 20  # bytes in which the last line of a file is


def live_target(given: str, *, begun: bool = True, force: bool = False) -> Target:
    """Where ticks go as they come. Where none of this stream were, its check refuses what has some of their time."""
    place = target(given, force=begun or force)
    if not isinstance(place, File):
        return place
    if place.path.suffix.lower() != ".csv":
        raise ParameterError(
            f"A stream that comes tick by tick goes to a .csv file, which grows; {place.path.name} would be of a kind "
            "that is written as a whole."
        )
    return GrowingFile(place.path, begun)


class GrowingFile(Target):
    """Ticks come in order, so whatever is not after the last one in the file is there already.

    A line that a crash cut off is written anew.
    """

    def __init__(self, path: Path, begun: bool = True) -> None:
        self.path, self._begun = path, begun
        self._looked, self._last = False, datetime.min.replace(tzinfo=UTC)

    def check(self, plan: StreamPlan) -> None:
        with _sentences(self.path):
            if self.path.exists():
                self._check_head((*plan.keys, *COLUMNS, *plan.beside))
                os.close(os.open(self.path, os.O_WRONLY | os.O_APPEND))
                last = self._last_tick()
                if last >= plan.ticks.end or (not self._begun and last >= plan.ticks.begin):
                    raise DataError(f"{self.path} has ticks of this time, or later ones, already; name another file.")
            elif not os.access(self.path.parent, os.W_OK):
                raise DataError(f"{self.path} cannot be written: there is no such folder, or it is not yours.")

    def check_again(self, ticks: Iterable[Tick]) -> None:
        """What is in the file of their time must be these, from the first: whatever it lacks there is never written."""
        first = next(left := iter(ticks), None)
        if first is None or not self.path.exists():
            return
        with _sentences(self.path):
            head, *found = self._whole(len(first.regions)) or [b""]
            last = _tick_in(found[-1], head) if found else self._last
        up_to_last = takewhile(lambda tick: tick.start <= last, chain([first], left))
        mine = [line.encode() for tick in up_to_last for line in _text(_cells(tick)).splitlines(keepends=True)]
        if mine and found[-len(mine) :] != mine:
            raise DataError(f"{self.path} has other ticks of this time already; name another file.")

    def write(self, stream: Stream) -> str:  # noqa: ARG002
        raise ParameterError(f"{self.path} grows tick by tick; a whole stream is written to a file of its own.")

    def ticks(self, ticks: Sequence[Tick]) -> None:
        looked, self._looked = self._looked, False  # whatever fails here may leave half a line
        head = (*ticks[0].keys, *COLUMNS, *ticks[0].columns)
        with _sentences(self.path):
            is_new = not self.path.exists() or not self.path.stat().st_size
            if not is_new and not looked:
                self._mend(head, len(ticks[0].regions))
            new = [tick for tick in ticks if tick.start > self._last]
            text = _text([head] if is_new else []) + _text(cells for tick in new for cells in _cells(tick))
            with self.path.open("a", encoding="utf-8", newline="") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
        self._looked, self._last = True, max([self._last, *(tick.start for tick in new)])

    def _check_head(self, head: Sequence[str]) -> None:
        with self.path.open(encoding="utf-8", newline="") as file:
            found = next(csv.reader(file), [])
        if found and found != list(head):
            raise DataError(f"{self.path} is there already and holds something else; name another file.")

    def _last_tick(self) -> datetime:
        """That of the last whole line; of a file that grew for years, only the end is read."""
        with self.path.open("rb") as file:
            head = file.readline()
            file.seek(max(len(head), self.path.stat().st_size - LONGEST_LINES))
            lines = file.read().rpartition(b"\n")[0].splitlines()
        return _tick_in(lines[-1], head) if lines else self._last

    def _mend(self, head: Sequence[str], width: int) -> None:
        """Looks for the last tick that is there with all its regions; what is after it is cut off."""
        self._check_head(head)
        lines = self._whole(width)
        os.truncate(self.path, sum(map(len, lines)))
        if len(lines) > 1:
            self._last = _tick_in(lines[-1], lines[0])

    def _whole(self, width: int) -> list[bytes]:
        """The head, and the lines of ticks that are there with all their regions."""
        content = self.path.read_bytes()
        lines = content[: content.rfind(b"\n") + 1].splitlines(keepends=True)
        return lines[: 1 + (len(lines) - 1) // width * width]


def _tick_in(line: bytes, head: bytes) -> datetime:
    (names,), (row,) = csv.reader([head.decode()]), csv.reader([line.decode()])
    return datetime.fromisoformat(row[names.index(COLUMNS[0])])


def _text(rows: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def _cells(tick: Tick) -> Iterator[list[object]]:
    for row in rows_of(tick):
        yield [_cell(each) for each in row]


def _cell(value: object) -> object:
    """As a stream that is whole writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, float):
        near = round(value, 6)
        return int(near) if near.is_integer() else near
    return "" if value is None else value


@contextmanager
def _sentences(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as fault:
        raise DataError(f"{path} cannot be written: {fault.strerror or 'the system gave no reason'}.") from None
    except (UnicodeDecodeError, csv.Error, ValueError, IndexError):
        raise DataError(f"{path} is there already and holds something else; name another file.") from None
