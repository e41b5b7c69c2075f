"""Exact numbers as stored maps and plans have them: `str(Fraction)`, and nothing that could fill the memory."""

from __future__ import annotations

from fractions import Fraction

LONGEST = 3000  # letters: more than a numerator and a denominator of 4,096 bits need
_LETTERS = frozenset("-/0123456789")


def exact(text: object) -> Fraction:
    """The fraction that was written; a ValueError or TypeError for anything else, exponents included."""
    if not isinstance(text, str) or len(text) > LONGEST or not _LETTERS.issuperset(text):
        raise ValueError("not a fraction")
    return Fraction(text)
