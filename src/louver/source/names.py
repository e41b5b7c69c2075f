"""A name that is not there, and the one that was perhaps meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

_LISTED = 6


def instead_of(given: object, known: Iterable[str]) -> str:
    """What to write instead, as an aside for the end of a sentence: the nearest name, or those that there are."""
    names = list(known)
    near = get_close_matches(str(given).lower(), {name.lower(): name for name in names}, n=1)
    if near:
        return f" (did you mean {next(name for name in names if name.lower() == near[0])!r}?)"
    listed = ", ".join(names[:_LISTED]) + (f" and {len(names) - _LISTED} more" if len(names) > _LISTED else "")
    return f" (there {'is' if len(names) == 1 else 'are'} {listed})" if listed else ""
