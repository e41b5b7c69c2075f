"""A map as a picture: averages as colours, a firm line around what is clearly above the threshold, a dashed one around
what may be, which is hatched. SVG or PNG, by hand.

No library and no script. Cells where nobody is clearly present stay empty.
"""

from __future__ import annotations

import struct
import textwrap
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.space.evidence import Quantity
from louver.space.field import Floats
from louver.space.judged import MISS_RATE, Sheet
from louver.space.recipient import Flags, flagged
from louver.space.released import Map

RAMP = ("#fdf1c5", "#f9cf7a", "#f2a05a", "#dd6b55", "#b13f63", "#742467", "#36145a")
EMPTY, INK, PAPER, HATCH = "#e9ebef", "#1b2430", "#ffffff", "#5c6675"
SHADES = 64
WIDTH, EDGE, HEAD = 640, 16, 30
LINE, LETTERS = 18, 92  # of words under an SVG: how high one is, and how many letters it has
PIXELS = 900  # along the longer side of a PNG
FIRM, FINE = 4, 2  # pixels of a PNG: how thick lines are
DASH, GAP = 7, 14  # how long a dash is, and how far apart hatches are


@dataclass(frozen=True, eq=False)
class Drawn:
    """What is drawn: averages of cells, rows from south to north, which are flagged, and which may have to be.

    `across` and `along` are the lines between the cells; without any, all cells are alike.
    """

    released: Map
    threshold: float
    averages: Floats
    flags: Flags
    maybe: Flags | None = None
    across: Floats | None = None
    along: Floats | None = None
    words: str = ""
    shown: Quantity | None = None

    @classmethod
    def of(
        cls,
        released: Map,
        threshold: parameters.Number,
        columns: int | None = None,
        *,
        rule: str | None = None,
        miss_rate: parameters.Number = MISS_RATE,
        false_alarm_rate: parameters.Number | None = None,
        sure: parameters.Number = 3,
    ) -> Drawn:
        """The map's own cells, unless it is so many columns, and what is clearly above; with a rule, what that says."""
        sheet = Sheet.of(released, columns, sure=sure)
        lines = sheet.across, sheet.along
        if rule is not None:
            flags = flagged(released, threshold, *lines, rule=rule, sure=sure)
            words = f"Line: the best guess by rule {rule}, however large the noise is."
            return cls(released, float(threshold), sheet.averages, flags, None, *lines, words, sheet.quantity)
        judged = sheet.judge(threshold, miss_rate=miss_rate, false_alarm_rate=false_alarm_rate)
        words = f"Firm line: clearly above; hatched: may be above or below; {judged.promise}."
        return cls(
            released, judged.threshold, sheet.averages, judged.above, judged.maybe, *lines, words, sheet.quantity
        )

    @property
    def quantity(self) -> Quantity:
        return self.shown or Quantity.of_values(self.released)

    @property
    def shades(self) -> NDArray[np.int64]:
        """The number of each cell's colour; -1 where it is empty."""
        low, high = self.quantity.low, self.quantity.high
        share = np.clip((np.nan_to_num(self.averages, nan=low) - low) / (high - low), 0, 1)
        return np.where(np.isnan(self.averages), -1, np.round(share * (SHADES - 1)).astype(np.int64))

    @property
    def possible(self) -> Flags:
        """What is flagged, and what may have to be."""
        return self.flags if self.maybe is None else self.flags | self.maybe

    @property
    def lines(self) -> tuple[Floats, Floats]:
        """Where cells begin and end, as parts of the whole, from west to east and from south to north."""
        rows, columns = self.flags.shape
        across = np.linspace(0, 1, columns + 1) if self.across is None else self.across / self.across[-1]
        along = np.linspace(0, 1, rows + 1) if self.along is None else self.along / self.along[-1]
        return across, along

    @property
    def title(self) -> str:
        sizes = self.released.bounds.cells(*self.lines)
        areas = sizes / sizes.sum()
        above = f"{self.quantity.name}: {float(areas[self.flags].sum()):.1%} of the area is above {self.threshold:g}"
        return above if self.maybe is None else f"{above}, {float(areas[self.maybe].sum()):.1%} may be"

    @property
    def small_print(self) -> str:
        """What a picture says that travels alone."""
        protected = self.released.about.get("protected", "Each reading is protected.")
        paid = self.released.paid
        return f"{self.words} Numbers are noisy: {paid}. {protected}".strip()


def svg(
    released: Map,
    threshold: parameters.Number,
    columns: int | None = None,
    *,
    rule: str | None = None,
    miss_rate: parameters.Number = MISS_RATE,
    false_alarm_rate: parameters.Number | None = None,
    sure: parameters.Number = 3,
) -> str:
    """The map as an SVG picture, a file of its own."""
    drawn = Drawn.of(
        released,
        threshold,
        columns,
        rule=rule,
        miss_rate=miss_rate,
        false_alarm_rate=false_alarm_rate,
        sure=sure,
    )
    place, high = panel(drawn, WIDTH - 2 * EDGE)
    words = textwrap.wrap(drawn.small_print, LETTERS)
    foot = HEAD + high + 62
    height = foot + LINE * len(words)
    parts = [
        f'<rect width="{WIDTH}" height="{height:.0f}" fill="{PAPER}"/>',
        f'<text x="{EDGE}" y="20" font-weight="600">{escape(drawn.title)}</text>',
        f'<g transform="translate({EDGE} {HEAD})">{place}</g>',
        *_legend(drawn, HEAD + high + 18),
        *(
            f'<text x="{EDGE}" y="{foot + LINE * number:.0f}">{escape(line)}</text>'
            for number, line in enumerate(words)
        ),
    ]
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" width="{WIDTH}" role="img" '
        f'aria-label="{escape(drawn.title)}" font-family="system-ui, sans-serif" font-size="13" fill="{INK}">\n'
        f"{body}\n</svg>\n"
    )


def panel(drawn: Drawn, width: float) -> tuple[str, float]:
    """The cells and the lines around them, so wide, from the north-west corner down; and how high it is."""
    height = width / drawn.released.bounds.aspect
    across, along = drawn.lines
    x, y = width * across, height * (1 - along[::-1])
    firm, dashed = _sides(drawn.flags), _sides(drawn.possible)
    parts = [
        _HATCHES,
        '<g shape-rendering="crispEdges">',
        f'<rect width="{width:.1f}" height="{height:.1f}" fill="{EMPTY}"/>',
        *_runs(np.flipud(drawn.shades), x, y, ramp()),
        "</g>",
        *(
            []
            if drawn.maybe is None
            else _runs(np.flipud(drawn.maybe).astype(np.int64) - 1, x, y, ["url(#louver-maybe)"])
        ),
        f'<path d="{_path(dashed - firm, x, y)}" {_PEN} stroke-width="1.5" stroke-dasharray="4 4"/>',
        f'<path d="{_path(firm, x, y)}" {_PEN} stroke-width="2.5" stroke-linecap="square"/>',
    ]
    return "\n".join(parts), height


_PEN = f'fill="none" stroke="{INK}"'
_HATCHES = (
    '<defs><pattern id="louver-maybe" width="7" height="7" patternUnits="userSpaceOnUse" '
    f'patternTransform="rotate(45)"><path d="M0 0v7" stroke="{HATCH}" stroke-width="1.5"/></pattern></defs>'
)


def png(
    released: Map,
    threshold: parameters.Number,
    columns: int | None = None,
    *,
    rule: str | None = None,
    miss_rate: parameters.Number = MISS_RATE,
    false_alarm_rate: parameters.Number | None = None,
    sure: parameters.Number = 3,
) -> bytes:
    """The map as a PNG picture: the cells alone, without words; what they mean is in the file, as its description."""
    drawn = Drawn.of(
        released,
        threshold,
        columns,
        rule=rule,
        miss_rate=miss_rate,
        false_alarm_rate=false_alarm_rate,
        sure=sure,
    )
    shades, flags, possible = _magnified(drawn)
    pixels = (shades + 3).astype(np.uint8)
    down, right = np.indices(pixels.shape)
    pixels[possible & ~flags & ((down + right) % GAP < 2)] = 1
    pixels[_rim(possible, FINE) & ((down + right) // DASH % 2 == 0)] = 0
    pixels[_rim(flags, FIRM)] = 0
    palette = b"".join(bytes.fromhex(each[1:]) for each in (INK, HATCH, EMPTY, *ramp()))
    lines = b"".join(b"\0" + line.tobytes() for line in pixels)
    header = struct.pack(">IIBBBBB", pixels.shape[1], pixels.shape[0], 8, 3, 0, 0, 0)
    about = b"Description\0" + f"{drawn.title}. {drawn.small_print}".encode("latin-1", "replace")
    chunks = (
        (b"IHDR", header),
        (b"PLTE", palette),
        (b"tEXt", about),
        (b"IDAT", zlib.compress(lines, 9)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, content) for name, content in chunks)


def ramp() -> list[str]:
    """The colours from the lowest value to the highest."""
    stops = np.array([[int(each[at : at + 2], 16) for at in (1, 3, 5)] for each in RAMP], dtype=np.float64)
    places = np.linspace(0, len(stops) - 1, SHADES)
    mixed = np.stack([np.interp(places, np.arange(len(stops)), stops[:, part]) for part in range(3)], axis=1)
    return [f"#{red:02x}{green:02x}{blue:02x}" for red, green, blue in np.round(mixed).astype(int).tolist()]


def _magnified(drawn: Drawn) -> tuple[NDArray[np.int64], Flags, Flags]:
    """The cells as pixels, from north to south, each at least two wide and high."""
    aspect = drawn.released.bounds.aspect
    rows, columns = drawn.flags.shape
    width = max(round(PIXELS * min(1.0, aspect)), 2 * columns)
    height = max(round(PIXELS * min(1.0, 1 / aspect)), 2 * rows)
    across, along = drawn.lines
    wide = np.repeat(np.arange(columns), np.diff(np.rint(width * across).astype(np.int64)))
    high = np.repeat(np.arange(rows), np.diff(np.rint(height * along).astype(np.int64)))[::-1]
    place = np.ix_(high, wide)
    return drawn.shades[place], drawn.flags[place], drawn.possible[place]


def _rim(inside: Flags, thick: int) -> Flags:
    """The pixels of a set that are so near to its border."""
    around = np.pad(inside, thick)
    rows, columns = inside.shape
    deep = np.ones_like(inside)
    for down in range(2 * thick + 1):
        for right in range(2 * thick + 1):
            deep &= around[down : down + rows, right : right + columns]
    return inside & ~deep


def _runs(kinds: NDArray[np.int64], x: Floats, y: Floats, fills: list[str]) -> Iterator[str]:
    """Neighbours of one kind in a row are one rectangle; those below 0 are left out."""
    for row, line in enumerate(kinds):
        starts = np.flatnonzero(np.diff(line, prepend=-2))
        for start, end in zip(starts, [*starts[1:], len(line)], strict=True):
            if line[start] >= 0:
                size = f'width="{x[end] - x[start]:.2f}" height="{y[row + 1] - y[row]:.2f}"'
                yield f'<rect x="{x[start]:.2f}" y="{y[row]:.2f}" {size} fill="{fills[line[start]]}"/>'


def _sides(flags: Flags) -> set[tuple[bool, int, int]]:
    """Every side of a cell between one that is flagged and one that is not: whether it is upright, and where."""
    turned = np.pad(np.flipud(flags), 1)
    flat = np.argwhere(turned[1:, 1:-1] != turned[:-1, 1:-1]).tolist()
    upright = np.argwhere(turned[1:-1, 1:] != turned[1:-1, :-1]).tolist()
    return {(False, row, column) for row, column in flat} | {(True, row, column) for row, column in upright}


def _path(sides: set[tuple[bool, int, int]], x: Floats, y: Floats) -> str:
    return "".join(
        f"M{x[column]:.2f} {y[row]:.2f}" + (f"V{y[row + 1]:.2f}" if upright else f"H{x[column + 1]:.2f}")
        for upright, row, column in sorted(sides)
    )


def _legend(drawn: Drawn, top: float) -> Iterator[str]:
    colours, wide = ramp(), 240
    low, high = drawn.quantity.low, drawn.quantity.high
    for number, colour in enumerate(colours):
        x = EDGE + wide * number / SHADES
        yield f'<rect x="{x:.2f}" y="{top:.0f}" width="{wide / SHADES + 0.5:.2f}" height="10" fill="{colour}"/>'
    at = EDGE + wide * min(max((drawn.threshold - low) / (high - low), 0), 1)
    yield f'<path d="M{at:.1f} {top - 4:.0f}v18" stroke="{INK}" stroke-width="2"/>'
    yield f'<text x="{EDGE}" y="{top + 26:.0f}">{low:g}</text>'
    yield f'<text x="{EDGE + wide}" y="{top + 26:.0f}" text-anchor="end">{high:g}</text>'
    yield f'<rect x="{EDGE + wide + 24}" y="{top:.0f}" width="10" height="10" fill="{EMPTY}"/>'
    yield f'<text x="{EDGE + wide + 40}" y="{top + 10:.0f}">too few to tell</text>'
    if drawn.maybe is not None:
        yield f'<rect x="{EDGE + wide + 150}" y="{top:.0f}" width="10" height="10" fill="url(#louver-maybe)"/>'
        yield f'<text x="{EDGE + wide + 166}" y="{top + 10:.0f}">maybe</text>'
    bounds = drawn.released.bounds
    area = f"{bounds.west:g} to {bounds.east:g}, {bounds.south:g} to {bounds.north:g}"
    system = "degrees" if bounds.is_wgs84 else bounds.crs or ""
    yield f'<text x="{WIDTH - EDGE}" y="{top + 26:.0f}" text-anchor="end">{escape(f"{area} {system}".strip())}</text>'


def _chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
