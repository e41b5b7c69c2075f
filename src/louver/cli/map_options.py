"""What the commands about maps share: numbers as they are written, and files that are not there yet."""

from __future__ import annotations

import argparse
import re
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

from louver.cli import ui
from louver.cli.ask_words import with_flags
from louver.errors import DataError, LouverError, ParameterError

WIDTH = 120
_NUMBER = re.compile(r"[+-]?([0-9]{1,40}(\.[0-9]{0,40})?|\.[0-9]{1,40})(e[-+]?[0-9]{1,2})?", re.IGNORECASE)
_LISTED = re.compile(r"^-[0-9.][0-9.,eE+ -]*$")
_OPTIONS = re.compile(
    r"^(?:readings|rounds|atoms|sure|depth|level_share|least|count_drift|sum_drift)(?= must)"
    r"|(?<=\bleave )readings\b|(?<=\bgive )readings\b|^stop, depth, level_share and least\b"
    r"|\blow and high\b|^The threshold\b|^The number of columns\b"
)
_SAID = {
    "low and high": "--range LOW,HIGH",
    "The threshold": "--threshold",
    "The number of columns": "--columns",
    "stop, depth, level_share and least": "--stop, --depth, --level-share and --least",
}


def takes_negatives(parser: argparse.ArgumentParser) -> None:
    """Lets a value begin with a minus: --bounds -74.3,40.5,-73.7,40.9 would be taken for an option."""
    parser._negative_number_matcher = _LISTED


def numbers(option: str, text: str, count: int, like: str) -> list[Fraction]:
    """So many numbers with commas between them."""
    parts = [part.strip() for part in text.split(",")]
    if len(parts) != count or not all(map(_NUMBER.fullmatch, parts)):
        raise ParameterError(f"{option} must be {count} numbers with commas between them, like {like}.")
    return [Fraction(part) for part in parts]


def signed(option: str, text: str) -> Fraction:
    if not _NUMBER.fullmatch(text.strip()):
        raise ParameterError(f"{option} must be a number like 55 or -2.5, not {ui.printable(text[:40])!r}.")
    return Fraction(text.strip())


def above_0(option: str, text: str | None) -> None:
    """Refuses a negative number in the words that 0 is refused in."""
    if text is not None and text.strip().startswith("-") and _NUMBER.fullmatch(text.strip()):
        raise ParameterError(f"{option} must be greater than 0, not {ui.printable(text.strip()[:40])}.")


def check_new(given: str, *, force: bool) -> None:
    """Whether a file could be written, before anything is paid or drawn."""
    path = Path(given)
    if not path.parent.is_dir():
        raise DataError(f"There is no folder {path.parent}.")
    if path.is_dir():
        raise DataError(f"{path} is a folder; name a file.")
    if path.exists() and not force:
        raise DataError(f"{path} is there already; name another file, or write over it with --force.")


def note(words: str) -> None:
    """A remark under what was shown."""
    for line in textwrap.wrap(ui.printable(words), WIDTH, break_on_hyphens=False):
        print(ui.faint(line))


@contextmanager
def said() -> Iterator[None]:
    """What is refused, in the words of the command line."""
    try:
        yield
    except LouverError as refusal:
        words = _OPTIONS.sub(lambda found: _SAID.get(found[0], f"--{found[0].replace('_', '-')}"), str(refusal))
        refusal.args = (with_flags(words),)
        raise
