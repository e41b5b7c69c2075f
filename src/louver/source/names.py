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


def unit_meant(written: str) -> str | None:
    """What was perhaps meant by a unit whose columns are written bare; None where it is written as units are.

    >>> unit_meant("device, day"), unit_meant("rows"), unit_meant("(device)")
    ('(device, day)', 'row', None)
    """
    bare = written.strip()
    if bare in ("", "row") or bare[0] == "(" or bare[-1] == ")" or bare.startswith("one of "):
        return None
    return "row" if bare.lower() in ("row", "rows") else f"({bare})"
