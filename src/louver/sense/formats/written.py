"""Fields as a command line or a rules file writes them: `meters`, or own names like `device=mac,place=ap,clock=s`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from louver.errors import ParameterError
from louver.sense.formats.fields import Fields
from louver.sense.formats.names import KINDS, named_fields
from louver.source.names import instead_of

OWN: Final = ("device", "unit", "place", "time", "value", "clock", "x", "y")


def written_fields(written: str, usual: Fields) -> Fields:
    """The usual fields of a name; or `usual` with own names in place of some of its own."""
    if "=" not in written:
        return named_fields(written)
    given = pairs(written)
    if "x" in given or "y" in given:
        raise ParameterError("Positions need a grid that says which cell they are in; louver sense --cells takes them.")
    return replace(usual, **changes(given))


def pairs(written: str) -> dict[str, str]:
    """`device=mac,place=ap` as a dictionary."""
    found = {}
    for part in written.split(","):
        name, is_pair, value = part.strip().partition("=")
        if not is_pair or not value.strip():
            raise ParameterError(f"Fields are one of {', '.join(KINDS)}, or pairs like device=mac,place=ap,clock=s.")
        if name.strip() not in OWN:
            raise ParameterError(f"An event has no field {name.strip()!r}{instead_of(name.strip(), OWN)}.")
        found[name.strip()] = value.strip()
    return found


def changes(given: dict[str, str]) -> dict[str, Any]:
    """What the pairs change of other fields: a unit stands where a device does."""
    return {"device" if name == "unit" else name: value for name, value in given.items()}
