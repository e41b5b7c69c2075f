"""A drawn floor plan: the building floor by floor, the highest on top, regions as boxes and rooms inside them.

Every region and room has its id, so that a page can colour it. Lines and letters take the colour of the text around
them, so the plan fits a light and a dark page.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from louver.sense.building import Building, Floor, Region, Room

T = TypeVar("T")
WIDTH, MARGIN, GAP = 1200, 24, 8
TITLE, HEAD, ROW = 26, 18, 92  # heights of a floor's title, a region's name and a row of regions
MOST_IN_A_ROW, MOST_ROOMS_IN_A_ROW = 8, 6
LETTER = 5.8  # about as wide as a sign of the smallest letters


def drawn(building: Building) -> str:
    """The plan as SVG."""
    parts: list[str] = []
    top = MARGIN
    for floor in reversed(building.floors):
        parts += _floor(floor, top)
        top += TITLE + len(_rows(floor.regions)) * (ROW + GAP) + GAP
    height = top - GAP + MARGIN - GAP
    name = escape(building.name or building.id)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'font-family="Inter, system-ui, sans-serif" fill="currentColor"><title>{name}</title>'
        + "".join(parts)
        + "</svg>"
    )


def _floor(floor: Floor, top: int) -> Iterator[str]:
    title = escape(floor.name or f"Floor {floor.id}")
    yield f'<text x="{MARGIN}" y="{top + 15}" font-size="14" font-weight="600">{title}</text>'
    for number, row in enumerate(_rows(floor.regions)):
        shares = _shared([region.capacity for region in row], WIDTH - 2 * MARGIN + GAP, 110)
        left = MARGIN
        for region, width in zip(row, shares, strict=True):
            yield from _region(region, left, top + TITLE + number * (ROW + GAP), width - GAP)
            left += width


def _region(region: Region, left: int, top: int, width: int) -> Iterator[str]:
    name = region.name or region.id
    yield f'<g id="{_id(region)}"><title>{escape(name)}, {region.capacity} people</title>'
    yield _box(left, top, width, ROW, 8, 0.05, 0.35)
    yield _label(name, left + 8, top + 13, width - 12, 10, 0.75)
    inside = [room for room in region.rooms if room.id != region.id]
    rows = _rows(inside, MOST_ROOMS_IN_A_ROW)
    high = (ROW - HEAD - 4) // max(len(rows), 1)
    for number, row in enumerate(rows):
        at = left + 6
        for room, share in zip(row, _shared([room.capacity for room in row], width - 8, 22), strict=True):
            yield from _room(room, at, top + HEAD + 2 + number * high, share - 4, high - 4)
            at += share
    yield "</g>"


def _room(room: Room, left: int, top: int, width: int, height: int) -> Iterator[str]:
    yield f'<g id="{_id(room)}"><title>{escape(room.name or room.id)}, {room.capacity} people</title>'
    yield _box(left, top, width, height, 4, 0.06, 0.25)
    yield _label(room.id, left + 4, top + 13, width - 4, 9, 0.65) + "</g>"


def _box(left: int, top: int, width: int, height: int, corner: int, fill: float, stroke: float) -> str:
    return (
        f'<rect x="{left}" y="{top}" width="{width}" height="{height}" rx="{corner}" fill-opacity="{fill}" '
        f'stroke="currentColor" stroke-opacity="{stroke}"/>'
    )


def _label(text: str, left: int, top: int, width: int, size: int, opacity: float) -> str:
    """A name as far as it fits; what is cut is in the title that appears under the pointer."""
    most = int(width / LETTER)
    shown = text if len(text) <= most else text[: most - 1] + "…" if most > 2 else ""
    return (
        f'<text x="{left}" y="{top}" font-size="{size}" fill-opacity="{opacity}">{escape(shown)}</text>'
        if shown
        else ""
    )


def _rows(places: Sequence[T], most: int = MOST_IN_A_ROW) -> list[Sequence[T]]:
    """Places in as few rows as can be, evenly."""
    rows = -(-len(places) // most)
    size = -(-len(places) // max(rows, 1))
    return [places[at : at + size] for at in range(0, len(places), max(size, 1))]


def _shared(capacities: Sequence[int], width: int, least: int) -> list[int]:
    """A width shared out: each gets the least that fits, and the rest goes by the root of its capacity."""
    if not capacities:
        return []
    least = min(least, width // len(capacities))
    roots = [max(capacity, 1) ** 0.5 for capacity in capacities]
    rest = width - least * len(capacities)
    edges = [0, *(int(least * (n + 1) + rest * sum(roots[: n + 1]) / sum(roots)) for n in range(len(roots)))]
    return [right - left for left, right in pairwise(edges)]


def _id(place: Region | Room) -> str:
    return escape(place.id, quote=True)
