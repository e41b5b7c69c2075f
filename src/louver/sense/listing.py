"""The public list behind a table: which region each place is in, and what is known of each region.

Which places occur in the data would tell who was there, so the list never comes from the data.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from louver.errors import DataError, ParameterError
from louver.sense.building import Building
from louver.sense.formats.fields import Cells
from louver.sense.places import Places

PLACE, REGION = "place", "region"


@dataclass(frozen=True, slots=True)
class Listing:
    """Places, and the columns of their regions: `region` first."""

    places: Places
    columns: dict[str, list[str]]
    timezone: str = "UTC"

    @classmethod
    def of_building(cls, path: str | Path, *, sensors: bool = False) -> Listing:
        """The regions of `building.toml`; its places are access points, or the sensors and regions themselves."""
        building = Building.read(path)
        places = building.sensors if sensors else building.access_points
        if not places:
            raise ParameterError(
                f'{path} has no access_points; write for each region those that cover it: access_points = ["ap-1"].'
            )
        domain = building.domain(REGION)
        columns = {name: [_written(value) for value in domain.column(name)] for name in domain.columns}
        return cls(Places(places), columns, building.timezone)

    @classmethod
    def of_cells(cls, cells: Cells) -> Listing:
        """Every cell of a grid, with its middle."""
        names, centres = cells.names(), cells.centres()
        columns = {REGION: names, "x": [repr(x) for x, _ in centres], "y": [repr(y) for _, y in centres]}
        return cls(Places({name: name for name in names}), columns)

    @classmethod
    def of_file(cls, path: str | Path) -> Listing:
        """A CSV file with a column `place`, and `region` where a region has several places."""
        try:
            with Path(path).open(encoding="utf-8-sig", newline="") as file:
                rows = list(csv.DictReader(file, strict=True))
        except (OSError, UnicodeDecodeError, csv.Error):
            raise DataError(f"{path} cannot be read as a CSV file of places.") from None
        if not rows or PLACE not in rows[0]:
            raise DataError(f"{path} needs a header with the column {PLACE!r}, and a line for each place.")
        regions: dict[str, str] = {}
        for row in rows:
            place, region = row[PLACE], row.get(REGION) or row[PLACE]
            if not place or regions.setdefault(place, region) != region:
                raise DataError(f"{path} has a line without a place, or one place in two regions.")
        others = [name for name in rows[0] if name and name not in (PLACE, REGION) and REGION not in rows[0]]
        kept = {row[PLACE]: row for row in rows} if others else {}
        names = list(dict.fromkeys(regions.values()))
        return cls(
            Places(regions), {REGION: names} | {name: [kept[each][name] or "" for each in names] for name in others}
        )


def _written(value: object) -> str:
    if isinstance(value, Fraction):
        return str(value.numerator) if value.denominator == 1 else repr(float(value))
    return str(value)
