"""What is refused of a stream, in the words of the command line: options have dashes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from louver.cli.ask_words import with_flags
from louver.errors import DataError, LouverError

_OPTIONS = (
    "epsilon|rho|delta|within|miss_rate|slack|above|last|totals|window|tick_bound|lag|threshold|share|factor|arity|"
    "smoother|split|over|bins|threshold_part"
)
# Most names are words that people use as well, so where they stand tells.
_NAMED = re.compile(
    rf"^(?:{_OPTIONS})\b"
    rf"|(?<=\bgive )(?:{_OPTIONS})\b|(?<=\bleave )(?:{_OPTIONS})\b(?= out)|(?<=does not take )(?:{_OPTIONS})\b"
    r"|\b(?:within|above)(?= together with)|\bwithin(?= and --miss-rate)|(?<=--miss-rate and )slack"
    r"|(?<=one way: )epsilon|(?<=, or )rho\b|(?<=in place of )rho|(?<=\bwith )(?:by|above)\b(?=[.,]| too)"
    r"|(?<=\bwith )totals\b|(?<=\bwithout )totals\b|(?<=^factor and )share|(?<=, and )split(?= one of)"
    r"|\btick_bound\b"
)
_SAID = (
    (re.compile(r"\bneeds its option over\b"), "needs --over"),
    (re.compile(r"\bbins='10, 20, 50'"), "--bins 10,20,50"),
    (re.compile(r"\bThe edges of bins\b"), "The edges of --bins"),
    (re.compile(r"\bthe threshold 'smooth'"), "--threshold smooth"),
    (re.compile(r"\bmechanism 'laplace'\.$"), "--mechanism laplace."),
    (re.compile(r"\bleave the window out\b"), "leave --window out"),
    (re.compile(r"\bGive the window as\b"), "Give --window as"),
    (re.compile(r"\bpublish the stream live\b"), "publish the stream with --live"),
    (re.compile(r"^Totals are for\b"), "--totals is for"),
    (re.compile(r"^The share above\b"), "--share"),
    (re.compile(r"^The factor\b"), "--factor"),
)
_ENDS = (
    (re.compile(r"^The begin of a stream\b"), "--from"),
    (re.compile(r"^The end of a stream\b"), "--until"),
    (re.compile(r"^A stream must end after it begins\."), "--until must be after --from."),
)
_OTHERS = re.compile(r"(does not take \S+) \(there (?:is|are) [^)]*\)")


@contextmanager
def said() -> Iterator[None]:
    """Whatever is refused inside is said with options."""
    try:
        yield
    except LouverError as refusal:
        refusal.args = (with_options(str(refusal)),)
        raise


@contextmanager
def unspent() -> Iterator[None]:
    """Whatever place cannot be written to is found before anything is paid, and that is said."""
    try:
        yield
    except DataError as refusal:
        refusal.args = (f"{str(refusal).removesuffix('.')}; nothing was spent.",)
        raise


def with_options(sentence: str) -> str:
    """The sentence with options for names; what is wrong in a .toml file keeps the names that stand there.

    >>> with_options("The mechanism 'segment' does not take last (there is tuning).")
    "The mechanism 'segment' does not take --last."
    """
    if ".toml" in sentence:
        return sentence
    sentence = _OTHERS.sub(r"\1", _NAMED.sub(_option, with_flags(sentence)))
    for pattern, instead in (*_SAID, *_ENDS):
        sentence = pattern.sub(instead, sentence)
    return sentence


def _option(found: re.Match[str]) -> str:
    return f"--{found[0].replace('_', '-')}"
