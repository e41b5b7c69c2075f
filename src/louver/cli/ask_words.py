"""What the library says with Python's names, said with the flags of the command line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction

from louver.errors import LouverError

_FLAGS = (
    (re.compile(r"\b(miss|false_alarm)_rate\b|\b(rows|keys)_per_unit\b"), lambda found: _flag(found[0])),
    (re.compile(r"^(slack|within|objective|levels|alarms|epsilon|survey)\b"), lambda found: _flag(found[0])),
    (re.compile(r"(?<=does not take )(levels|alarms|epsilon)\b|(?<=: give )epsilon\b"), lambda found: _flag(found[0])),
    (re.compile(r"^rate\b"), lambda _: "--survey"),
    (re.compile(r"\bgive it with domain=(?:'([^']+)')?"), lambda found: _with_domain(found[1])),
    (re.compile(r"\blist them in a file\b"), lambda _: "list them in a file, and give it with --domain"),
    (re.compile(r"\bThe idempotency key\b"), lambda _: "--key"),
    (re.compile(r"(?<=\bnot )(\d+/\d+)\b"), lambda found: _decimal(found[0])),
)


@contextmanager
def said_with_flags() -> Iterator[None]:
    """Whatever is refused inside is said in the words of the command line."""
    try:
        yield
    except LouverError as refusal:
        refusal.args = (with_flags(str(refusal)),)
        raise


def with_flags(sentence: str) -> str:
    """The sentence with flags for names; what is wrong in a .toml file keeps the names that stand there.

    >>> with_flags("miss_rate must be greater than 0 and less than 0.5, not 3/2; 0.05 means at most 1 in 20.")
    '--miss-rate must be greater than 0 and less than 0.5, not 1.5; 0.05 means at most 1 in 20.'
    """
    if ".toml" in sentence:
        return sentence
    for pattern, instead in _FLAGS:
        sentence = pattern.sub(instead, sentence)
    return sentence


def _with_domain(name: str | None) -> str:
    return "give it with --domain" if name is None else f"give it with --domain {name}"


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _decimal(text: str) -> str:
    from louver.decide.words import number

    try:
        return number(Fraction(text))
    except ZeroDivisionError:
        return text
