"""A stream as an SVG picture, written by hand: a panel for each region, released values with their band.

No library and no script; readable on light and dark. The truth is drawn only where somebody hands it in.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from louver.stream.answer import Stream

WIDTH, HEIGHT, LEFT, HEAD, GAP, FOOT = 760, 90, 70, 22, 14, 20
MOST_PANELS, MOST_POINTS = 24, 1500
LINE, BAND, TRUTH = "#1f8a8a", "#e9b949", "#7a7f8c"

Floats = NDArray[np.float64]


def picture(stream: Stream, truth: Floats | None = None) -> str:
    """Panels below each other, with the promise for those who cannot see them."""
    from louver.stream.answer import label

    regions, half = stream.plan.regions, stream.band()
    values = stream.released.values.astype(np.float64)
    parts: list[str] = []
    top = 0
    for at, region in enumerate(regions[:MOST_PANELS]):
        own = None if half is None else half[:, at]
        parts += _panel(label(region), values[:, at], own, None if truth is None else truth[:, at], top)
        top += HEAD + HEIGHT + GAP
    first, last = stream.plan.ticks.begin, stream.plan.ticks.end
    parts.append(_text(LEFT, top + 8, f"{first:%Y-%m-%d %H:%M}"))
    parts.append(_text(WIDTH - 10, top + 8, f"{last:%Y-%m-%d %H:%M} UTC", anchor="end"))
    top += FOOT
    if len(regions) > MOST_PANELS:
        parts.append(_text(0, top + 8, f"and {len(regions) - MOST_PANELS:,} more"))
        top += FOOT
    parts += _legend(stream, half is not None, truth is not None, top)
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top + FOOT}" width="{WIDTH}" role="img" '
        f'font-family="sans-serif" font-size="12" fill="currentColor">\n'
        f"<title>{escape(_printable(stream.promise))}</title>\n{body}\n</svg>\n"
    )


def _panel(title: str, values: Floats, half: Floats | None, truth: Floats | None, top: int) -> Iterator[str]:
    edges = [values - half, values + half] if half is not None else [values]
    every = np.concatenate([each[np.isfinite(each)] for each in (*edges, *([] if truth is None else [truth]))])
    low, high = (float(every.min()), float(every.max())) if len(every) else (0.0, 1.0)
    low, high = (min(low, 0.0), high) if high > min(low, 0.0) else (low, low + 1)
    places = _places(len(values))

    def points(line: Floats) -> list[str]:
        return [
            f"{LEFT + (at + 0.5) / len(values) * (WIDTH - LEFT - 10):.1f} "
            f"{top + HEAD + HEIGHT - (line[at] - low) / (high - low) * HEIGHT:.1f}"
            for at in places
            if np.isfinite(line[at])
        ]

    yield _text(0, top + 14, title, bold=True)
    for value, y in ((high, top + HEAD + 10), (low, top + HEAD + HEIGHT)):
        yield _text(LEFT - 6, y, f"{value:,.4g}", anchor="end")
    if half is not None:
        around = [*points(values + half), *reversed(points(values - half))]
        yield f'<path d="M{"L".join(around)}Z" fill="{BAND}" fill-opacity="0.4"/>'
    lines = [(values, LINE, "1.5")] + ([] if truth is None else [(truth, TRUTH, "1")])
    for line, colour, width in lines:
        if found := points(line):
            yield f'<path d="M{"L".join(found)}" fill="none" stroke="{colour}" stroke-width="{width}"/>'


def _places(count: int) -> list[int]:
    """Which ticks are drawn: all of them, or as many as a picture has room for."""
    return sorted({int(at) for at in np.linspace(0, count - 1, min(count, MOST_POINTS))})


def _legend(stream: Stream, band: bool, truth: bool, top: int) -> Iterator[str]:
    said = [(LINE, "released")]
    said += [(BAND, f"band, {float(stream.level) * 100:g} of 100 ticks")] if band else []
    said += [(TRUTH, "truth (invented data)")] if truth else []
    left = LEFT
    for colour, words in said:
        yield f'<rect x="{left}" y="{top}" width="14" height="10" fill="{colour}"/>'
        yield _text(left + 20, top + 10, words)
        left += 50 + 7 * len(words)


def _text(x: float, y: float, text: str, *, bold: bool = False, anchor: str = "start") -> str:
    style = (' font-weight="bold"' if bold else "") + (f' text-anchor="{anchor}"' if anchor != "start" else "")
    return f'<text x="{x:.1f}" y="{y}"{style}>{escape(_printable(text))}</text>'


def _printable(text: str) -> str:
    """XML has no control characters, not even written out."""
    return "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in text)
