"""What `louver sense` is told, checked before anything is read."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from pathlib import Path

from louver.cli.ledger.written import number
from louver.errors import ParameterError
from louver.privacy import Unit
from louver.sense.formats.fields import GENERIC, PRESENCE, READING, SENSORS, TAPS, TRIP, WIFI, Cells, Fields, crowd
from louver.sense.formats.names import check_gives, named_fields
from louver.sense.formats.written import changes, pairs
from louver.sense.listing import Listing
from louver.sense.occupancy import MOST_REGIONS
from louver.sense.presence import Rule
from louver.sense.readings_rows import MEAN, Combining
from louver.sense.tabling import OCCUPANCY, READINGS, REGION, TRIPS, protected, rows_per_unit
from louver.source.names import unit_meant
from louver.watch.durations import duration

_GIVEN = {READINGS: READING, TRIPS: TRIP}
_USUAL = {READINGS: GENERIC, TRIPS: TAPS}
_EDGES = ("west", "south", "east", "north")


@dataclass(frozen=True, slots=True)
class Options:
    """Everything about a table to make but its events."""

    kind: str
    rule: Rule
    listing: Listing
    fields: Fields
    unit: Unit
    rows: int
    during: int | None
    combining: Combining | None
    longest: int
    format: str | None
    zone: str
    salt: Path | None


def options(arguments: argparse.Namespace) -> Options:
    kind: str = arguments.kind
    cells = None if arguments.cells is None else _cells(arguments.cells)
    fields = _fields(kind, arguments.fields, cells)
    check_gives(fields, _GIVEN.get(kind, PRESENCE))
    unit = _unit(kind, arguments.unit, fields)
    if arguments.only is not None:
        fields = replace(fields, only=_only(arguments.only))
    rule = Rule(validity=duration("--validity", arguments.validity), slot=duration("--slot", arguments.slot))
    during = _during(kind, arguments.during)
    stated = _whole("--rows-per-unit", arguments.rows_per_unit)
    return Options(
        kind,
        rule,
        _listing(arguments, kind, cells),
        fields,
        unit,
        rows_per_unit(kind, unit, rule.slot, during, stated),
        during,
        _combining(arguments, unit),
        duration("--longest", arguments.longest),
        arguments.format,
        arguments.zone,
        None if arguments.salt is None else Path(arguments.salt),
    )


def _listing(arguments: argparse.Namespace, kind: str, cells: Cells | None) -> Listing:
    given = [name for name in ("building", "places", "cells") if getattr(arguments, name) is not None]
    if len(given) != 1:
        raise ParameterError(
            "Name the public list of places once: --building building.toml, --places places.csv, or --cells for a grid."
        )
    if cells is not None:
        return Listing.of_cells(cells)
    if arguments.places is not None:
        return Listing.of_file(arguments.places)
    return Listing.of_building(arguments.building, sensors=kind in (READINGS, TRIPS))


def _fields(kind: str, written: str | None, cells: Cells | None) -> Fields:
    usual = _USUAL.get(kind, WIFI)
    if written is not None and "=" not in written:
        usual, written = named_fields(written), None
    given = {} if written is None else pairs(written)
    if cells is not None:
        if kind != READINGS:
            raise ParameterError("--cells is for readings with positions; name a list of places.")
        usual = crowd(cells, position=(given.pop("x", "lon"), given.pop("y", "lat")))
    own = changes(given)
    if cells is None and ("x" in given or "y" in given):
        raise ParameterError("Positions need a grid that says which cell they are in: --cells.")
    if kind == READINGS and usual.device == usual.place and {"device", "unit"}.isdisjoint(given) and "place" in given:
        own["device"] = given["place"]
    return replace(usual, **own)


def _only(written: str) -> tuple[str, str]:
    name, is_pair, value = written.partition("=")
    if not is_pair or not name.strip() or not value.strip():
        raise ParameterError("--only is a field and its value, such as kind=power.")
    return name.strip(), value.strip()


def _cells(written: str) -> Cells:
    parts = written.split(",")
    if len(parts) != 6:
        raise ParameterError("--cells is west,south,east,north,columns,rows, such as 16.2,48.1,16.6,48.4,40,30.")
    edges = [float(number("--cells", part)) for part in parts[:4]]
    columns, rows = (_whole("--cells", part) or 0 for part in parts[4:])
    return Cells(**dict(zip(_EDGES, edges, strict=True)), columns=columns, rows=rows)


def _unit(kind: str, written: str | None, fields: Fields) -> Unit:
    if written is not None:
        return protected(kind, Unit.parse(unit_meant(written) or written))
    # A sensor that is nobody's in particular tells about whoever is in its region.
    return protected(kind, Unit(REGION, "slot") if fields == SENSORS else None)


def _combining(arguments: argparse.Namespace, unit: Unit) -> Combining | None:
    if arguments.kind != READINGS:
        for name in ("combine", "lower", "upper"):
            if getattr(arguments, name) is not None:
                raise ParameterError(f"--{name} is for readings.")
        return None
    if arguments.lower is None or arguments.upper is None:
        raise ParameterError(
            "Readings need --lower and --upper, the bounds of what a sensor can say: what is added up costs as much as "
            "one value can change it."
        )
    lower, upper = (float(number(f"--{name}", getattr(arguments, name))) for name in ("lower", "upper"))
    return Combining(arguments.combine or MEAN, lower, upper, by_region=REGION in unit.columns)


def _during(kind: str, written: str | None) -> int | None:
    if written is None:
        return None
    if kind != OCCUPANCY:
        raise ParameterError("--during is for occupancy.")
    found = _whole("--during", written)
    if found is None or not 1 <= found <= MOST_REGIONS:
        raise ParameterError(f"--during must be between 1 and {MOST_REGIONS:,}.")
    return found


def _whole(flag: str, written: str | None) -> int | None:
    if written is None:
        return None
    try:
        return int(written)
    except ValueError:
        raise ParameterError(f"{flag} must be a whole number, not {written!r}.") from None
