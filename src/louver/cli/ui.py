"""What a terminal shows: tables, bars, a little colour, progress. Elsewhere the same as plain text, or as JSON."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import time
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

FORMAT = 1  # of what --json prints
BAR = 16
NARROWEST = 16  # of a column that shrinks
QUIET_SECONDS, PROGRESS_SECONDS = 2.0, 0.2
_VIOLET, _AMBER, _BOLD, _FAINT = "38;5;141", "38;5;221", "1", "2"
_COLOURS = re.compile("\033\\[[0-9;]*m")


def printable(text: str) -> str:
    """A text from elsewhere, without signs that could move the cursor or begin a line of their own."""
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in text)


def print_json(command: str, **said: Any) -> None:
    print(json.dumps({"louver": command, "format": FORMAT, **said}, indent=2))


def is_terminal() -> bool:
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def violet(text: str) -> str:
    """The colour of privacy, and of nothing else."""
    return _coloured(text, _VIOLET)


def amber(text: str) -> str:
    """The colour of doubt."""
    return _coloured(text, f"{_BOLD};{_AMBER}")


def bold(text: str) -> str:
    return _coloured(text, _BOLD)


def faint(text: str) -> str:
    return _coloured(text, _FAINT)


def _coloured(text: str, code: str) -> str:
    return f"\033[{code}m{text}\033[0m" if text and is_terminal() and "NO_COLOR" not in os.environ else text


def bar(spent: Fraction, reserved: Fraction, limit: Fraction) -> str:
    """What is spent and, lighter, which part of it is only reserved; nothing where there is no terminal."""
    if not is_terminal():
        return ""
    full, half, empty = ("█", "▒", "·") if (sys.stdout.encoding or "").lower().startswith("utf") else ("#", "=", ".")
    share = min(spent / limit, Fraction(1)) if limit else Fraction(1)
    whole = -(-share * BAR // 1)  # rounded up: a bar never looks emptier than the budget is
    light = min(reserved / limit * BAR // 1, whole) if limit else 0
    return violet(full * int(whole - light) + half * int(light)) + faint(empty * int(BAR - whole))


def print_table(heads: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = (), long: int = 0) -> None:
    """Columns as wide as they need to be; on a terminal the long one shrinks until the table fits."""
    used = [column for column in range(len(heads)) if any(row[column] for row in rows)]
    widths = {column: max(_width(row[column]) for row in (heads, *rows)) for column in used}
    over = sum(widths.values()) + 2 * (len(used) - 1) - shutil.get_terminal_size().columns
    if is_terminal() and over > 0 and long in widths:
        widths[long] = max(widths[long] - over, min(widths[long], NARROWEST))
    lines = ["  ".join(_cell(row[at], widths[at], at in right) for at in used).rstrip() for row in (heads, *rows)]
    print(faint(lines[0]), *lines[1:], sep="\n")


def _cell(text: str, width: int, right: bool) -> str:
    cut = text if _width(text) <= width else text[: width - 3] + "..."
    blanks = " " * (width - _width(cut))
    return blanks + cut if right else cut + blanks


def _width(text: str) -> int:
    return len(_COLOURS.sub("", text))


class Progress:
    """How far a long act has come, on the terminal behind stderr, once it has lasted two seconds."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._next = time.monotonic() + QUIET_SECONDS
        self._shown = False

    def __call__(self, done: int, all_of: int) -> None:
        if time.monotonic() >= self._next and sys.stderr.isatty():
            self._shown, self._next = True, time.monotonic() + PROGRESS_SECONDS
            print(f"\r{done:,} of {all_of:,} {self._what}", end="", file=sys.stderr, flush=True)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
