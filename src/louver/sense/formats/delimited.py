"""Events as lines of values: CSV with a header or declared columns."""

from __future__ import annotations

import csv
from dataclasses import dataclass, replace
from typing import ClassVar, Final

from louver.errors import ParameterError
from louver.sense.events import Event, Rejected
from louver.sense.formats.fields import WIFI, Fields
from louver.sense.formats.limits import EMPTY, LARGEST_RECORD, TOO_LONG, UNKNOWN_FORMAT, decoded, lines_of

MISSING_FIELD: Final = Rejected("a missing field")


@dataclass(frozen=True)
class CSV:
    """Lines of values, one event each. Without `columns`, the first line of a message or file names them.

    A value with the separator in it stands in double quotes. A line is a record: no value goes over several lines, so
    that one stray quote costs one line.

    >>> CSV()("device,place,time\\n7,ap-3,2026-03-02T09:00:00Z\\n7,ap-3")
    [Event(place='ap-3', time=1772442000000000, value=None), Rejected(kind='a missing field')]
    """

    fields: Fields = WIFI
    columns: tuple[str, ...] | None = None
    separator: str = ","
    ending: ClassVar[bytes] = b"\n"

    def __post_init__(self) -> None:
        if len(self.separator) != 1 or self.separator in '"\n\r':
            raise ParameterError("The separator of values is one character, and no quote or line end.")
        if self.columns is not None:
            object.__setattr__(self, "columns", tuple(self.columns))
            missing = [name for name in self.fields.names() if name not in self.columns]
            if missing:
                raise ParameterError(f"The columns lack {missing[0]!r}, which the fields name.")

    def headed(self, line: str) -> CSV:
        """The same with the columns that a header names; refused where a field is not among them."""
        cells = self._cells(line.strip("\r\n\ufeff"))
        if isinstance(cells, Rejected):
            raise ParameterError("The first line does not name columns.")
        return replace(self, columns=tuple(cell.strip() for cell in cells))

    @property
    def gives(self) -> str:
        """What the fields tell."""
        return self.fields.gives

    def __call__(self, message: bytes | str, received: int | None = None) -> list[Event | Rejected]:  # noqa: ARG002
        text = decoded(message)
        if isinstance(text, Rejected):
            return [text]
        lines = lines_of(text)
        if self.columns is not None:
            return [self._line(line, self.columns) for line in lines]
        try:
            columns = self.headed(lines[0]).columns or ()
        except ParameterError:
            return [UNKNOWN_FORMAT for _ in lines]
        return [self._line(line, columns) for line in lines[1:]] or [EMPTY]

    def _line(self, line: str, columns: tuple[str, ...]) -> Event | Rejected:
        cells = self._cells(line)
        if isinstance(cells, Rejected):
            return cells
        if len(cells) != len(columns):
            return MISSING_FIELD
        return self.fields.read(dict(zip(columns, cells, strict=True)))

    def _cells(self, line: str) -> list[str] | Rejected:
        if len(line) > LARGEST_RECORD:
            return TOO_LONG
        if '"' not in line:
            return line.rstrip("\r").split(self.separator)
        try:
            return next(csv.reader([line], delimiter=self.separator, strict=True))
        except (csv.Error, StopIteration):
            return UNKNOWN_FORMAT
