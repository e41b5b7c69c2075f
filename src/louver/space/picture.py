"""A map as a picture: averages as colours, and a line around what is above the threshold. SVG or PNG, by hand.

No library and no script. Cells where nobody is clearly present stay empty.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.space.field import Floats
from louver.space.recipient import cells, heatmap
from louver.space.released import Map

RAMP = ("#fdf1c5", "#f9cf7a", "#f2a05a", "#dd6b55", "#b13f63", "#742467", "#36145a")
EMPTY, INK, PAPER = "#e9ebef", "#1b2430", "#ffffff"
SHADES = 64
WIDTH, EDGE, FOOT, HEAD = 640, 16, 58, 30
PIXELS = 900  # along the longer side of a PNG, about
CELLS = 50


@dataclass(frozen=True)
class Drawn:
    """What is drawn: averages and flags of a grid, rows from south to north."""

    released: Map
    threshold: float
    averages: Floats
    flags: NDArray[np.bool_]

    @classmethod
    def of(cls, released: Map, threshold: parameters.Number, columns: int, rule: str, sure: parameters.Number) -> Drawn:
        along = rows_for(released, columns)
        flags = heatmap(released, threshold, columns, along, rule=rule, sure=sure)
        return cls(released, float(threshold), cells(released, columns, along, sure=sure).averages, flags)

    @property
    def shades(self) -> NDArray[np.int64]:
        """The number of each cell's colour; -1 where it is empty."""
        low, high = float(self.released.values.low), float(self.released.values.high)
        share = np.clip((np.nan_to_num(self.averages, nan=low) - low) / (high - low), 0, 1)
        return np.where(np.isnan(self.averages), -1, np.round(share * (SHADES - 1)).astype(np.int64))

    @property
    def title(self) -> str:
        value = self.released.about.get("value", "value")
        return f"average of {value} above {self.threshold:g}: {int(self.flags.sum()):,} of {self.flags.size:,} cells"


def svg(
    released: Map,
    threshold: parameters.Number,
    columns: int = CELLS,
    *,
    rule: str = "mean",
    sure: parameters.Number = 3,
) -> str:
    """The map as an SVG picture, a file of its own."""
    drawn = Drawn.of(released, threshold, columns, rule, sure)
    place, high = panel(drawn, WIDTH - 2 * EDGE)
    height = HEAD + high + FOOT
    parts = [
        f'<rect width="{WIDTH}" height="{height:.0f}" fill="{PAPER}"/>',
        f'<text x="{EDGE}" y="20" font-weight="600">{escape(drawn.title)}</text>',
        f'<g transform="translate({EDGE} {HEAD})">{place}</g>',
        *_legend(drawn, height),
    ]
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" width="{WIDTH}" role="img" '
        f'aria-label="{escape(drawn.title)}" font-family="system-ui, sans-serif" font-size="13" fill="{INK}">\n'
        f"{body}\n</svg>\n"
    )


def panel(drawn: Drawn, width: float) -> tuple[str, float]:
    """The cells and the line around the flagged ones, so wide, from the north-west corner down; and how high it is."""
    rows, columns = drawn.flags.shape
    side = width / columns
    tall = side * _stretch(drawn.released, columns, rows)
    parts = [
        f'<g transform="scale({side:.4f} {tall:.4f})"><g shape-rendering="crispEdges">',
        f'<rect width="{columns}" height="{rows}" fill="{EMPTY}"/>',
        *_runs(drawn),
        (
            f'</g><path d="{_outline(drawn.flags)}" fill="none" stroke="{INK}" stroke-width="{2 / side:.4f}" '
            'stroke-linecap="square"/></g>'
        ),
    ]
    return "\n".join(parts), tall * rows


def png(
    released: Map,
    threshold: parameters.Number,
    columns: int = CELLS,
    *,
    rule: str = "mean",
    sure: parameters.Number = 3,
) -> bytes:
    """The map as a PNG picture: the cells alone, without words."""
    drawn = Drawn.of(released, threshold, columns, rule, sure)
    rows = drawn.flags.shape[0]
    size = max(2, PIXELS // max(columns, rows))
    tall = max(2, round(size * _stretch(released, columns, rows)))
    pixels = np.kron(np.flipud(drawn.shades) + 2, np.ones((tall, size), dtype=np.int64)).astype(np.uint8)
    flagged = np.kron(np.flipud(drawn.flags), np.ones((tall, size), dtype=np.bool_))
    around = np.pad(flagged, 2)
    inside = np.logical_and.reduce(
        [
            around[2 + down : around.shape[0] - 2 + down, 2 + right : around.shape[1] - 2 + right]
            for down, right in _NEAR
        ]
    )
    pixels[flagged & ~inside] = 0
    palette = b"".join(bytes.fromhex(each[1:]) for each in (INK, EMPTY, *ramp()))
    lines = b"".join(b"\0" + line.tobytes() for line in pixels)
    header = struct.pack(">IIBBBBB", pixels.shape[1], pixels.shape[0], 8, 3, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"PLTE", palette), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(map(_chunk, *zip(*chunks, strict=True)))


_NEAR = [(down, right) for down in range(-2, 3) for right in range(-2, 3)]


def rows_for(released: Map, columns: int) -> int:
    """As many rows as make cells about as high as wide."""
    across = parameters.integer("The number of columns", columns, 1, released.columns)
    return min(max(1, round(across / released.bounds.aspect)), released.rows)


def ramp() -> list[str]:
    """The colours from the lowest value to the highest."""
    stops = np.array([[int(each[at : at + 2], 16) for at in (1, 3, 5)] for each in RAMP], dtype=np.float64)
    places = np.linspace(0, len(stops) - 1, SHADES)
    mixed = np.stack([np.interp(places, np.arange(len(stops)), stops[:, part]) for part in range(3)], axis=1)
    return [f"#{red:02x}{green:02x}{blue:02x}" for red, green, blue in np.round(mixed).astype(int).tolist()]


def _stretch(released: Map, columns: int, rows: int) -> float:
    """How much higher than wide a cell is."""
    return columns / rows / released.bounds.aspect


def _runs(drawn: Drawn) -> Iterator[str]:
    """Neighbours of one colour in a row are one rectangle."""
    colours, shades = ramp(), np.flipud(drawn.shades)
    for row, line in enumerate(shades):
        starts = np.flatnonzero(np.diff(line, prepend=-2))
        for start, end in zip(starts, [*starts[1:], len(line)], strict=True):
            if line[start] >= 0:
                fill = colours[line[start]]
                yield f'<rect x="{start}" y="{row}" width="{end - start}" height="1" fill="{fill}"/>'


def _outline(flags: NDArray[np.bool_]) -> str:
    """Every side of a cell between one that is flagged and one that is not."""
    turned = np.pad(np.flipud(flags), 1)
    flat = np.argwhere(turned[1:, 1:-1] != turned[:-1, 1:-1])
    upright = np.argwhere(turned[1:-1, 1:] != turned[1:-1, :-1])
    return "".join([*(f"M{x} {y}h1" for y, x in flat), *(f"M{x} {y}v1" for y, x in upright)])


def _legend(drawn: Drawn, height: float) -> Iterator[str]:
    colours, top, wide = ramp(), height - FOOT + 18, 240
    low, high = float(drawn.released.values.low), float(drawn.released.values.high)
    for number, colour in enumerate(colours):
        x = EDGE + wide * number / SHADES
        yield f'<rect x="{x:.2f}" y="{top:.0f}" width="{wide / SHADES + 0.5:.2f}" height="10" fill="{colour}"/>'
    at = EDGE + wide * min(max((drawn.threshold - low) / (high - low), 0), 1)
    yield f'<path d="M{at:.1f} {top - 4:.0f}v18" stroke="{INK}" stroke-width="2"/>'
    yield f'<text x="{EDGE}" y="{top + 26:.0f}">{low:g}</text>'
    yield f'<text x="{EDGE + wide}" y="{top + 26:.0f}" text-anchor="end">{high:g}</text>'
    yield f'<rect x="{EDGE + wide + 24}" y="{top:.0f}" width="10" height="10" fill="{EMPTY}"/>'
    yield f'<text x="{EDGE + wide + 40}" y="{top + 10:.0f}">too few to tell</text>'
    bounds = drawn.released.bounds
    area = f"{bounds.west:g} to {bounds.east:g}, {bounds.south:g} to {bounds.north:g}"
    yield f'<text x="{WIDTH - EDGE}" y="{top + 26:.0f}" text-anchor="end">{escape(area)}</text>'


def _chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
