"""A stream as an SVG picture, written by hand: a panel for each region, released values with their band.

No library and no script. In a page it takes the page's ink; as a file of its own it brings a light background. Where
there are more ticks than a panel has room for, the least and the largest of each stretch are drawn, so that no peak is
lost. The truth is drawn only where somebody hands it in.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from louver.stream.picture_times import Times

if TYPE_CHECKING:
    from louver.stream.answer import Stream

WIDTH, LEFT, HEAD, GAP, LINE_HEIGHT, EDGE = 760, 58, 22, 16, 18, 12
TALL, SHORT = 110, 64
MOST_IN_ONE_COLUMN, MOST_PANELS = 4, 24
LETTER, BOLD_LETTER = 6.6, 7.8  # about as wide as one is at this size
TEAL, GREY, AMBER = "#1f8a8a", "#8a8f99", "#c2571a"
PAPER, INK = "#ffffff", "#1b2430"

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Frame:
    """Where one panel is: its corner, the size of what is drawn in it, and the numbers at its lower and upper edge."""

    x: float
    y: float
    width: float
    height: float
    low: float
    high: float

    def point(self, share: float, value: float) -> str:
        up = (value - self.low) / (self.high - self.low)
        return f"{self.x + share * self.width:.1f} {self.y + (1 - up) * self.height:.1f}"


def picture(stream: Stream, truth: Floats | None = None, *, alone: bool = False) -> str:
    """Panels in one or two columns, with the promise for those who cannot see them; `alone` is a file of its own."""
    from louver.stream.answer import label

    regions, half = stream.plan.regions, stream.band()
    values = stream.released.values.astype(np.float64)
    shown = min(len(regions), MOST_PANELS)
    columns, height = (1, TALL) if shown <= MOST_IN_ONE_COLUMN else (2, SHORT)
    width = (WIDTH - 2 * EDGE - (columns - 1) * GAP) / columns
    times, limits = Times.of(stream.plan.ticks, width - LEFT), stream.plan.above
    parts = list(_heading(stream, shown))
    first = EDGE + 2 * LINE_HEIGHT
    for at in range(shown):
        left = EDGE + at % columns * (width + GAP)
        top = first + at // columns * (HEAD + height + GAP)
        own = None if half is None else half[:, at]
        known = None if truth is None else truth[:, at]
        limit = None if limits is None else float(limits[at])
        low, high = _range(values[:, at], own, known, limit)
        frame = Frame(left + LEFT, top + HEAD, width - LEFT, height, low, high)
        parts += _panel(label(regions[at]), frame, left, values[:, at], own, known, limit, times.lines(frame))
    top = first + math.ceil(shown / columns) * (HEAD + height + GAP)
    for column in range(columns):
        for x, anchor, words in times.labels(EDGE + column * (width + GAP) + LEFT):
            parts.append(_text(x, top, words, anchor=anchor))
    top += LINE_HEIGHT
    parts += _legend(stream, half is not None, truth is not None, top)
    if len(regions) > shown:
        parts.append(_text(WIDTH - EDGE, top + 10, f"and {len(regions) - shown:,} more", anchor="end"))
    height = top + LINE_HEIGHT + EDGE - 6
    paper = f'<rect width="{WIDTH}" height="{height}" fill="{PAPER}"/>\n' if alone else ""
    ink = f' color="{INK}"' if alone else ""
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" role="img" '
        f'font-family="Inter, sans-serif" font-size="12" fill="currentColor"{ink}>\n'
        f"<title>{escape(_printable(_title(stream)))}</title>\n"
        f"<desc>{escape(_printable(f'{stream.protected} {stream.promise}'))}</desc>\n{paper}{body}\n</svg>\n"
    )


def _title(stream: Stream) -> str:
    ticks = stream.plan.ticks
    by = f" by {' and '.join(stream.heads)}" if stream.heads else ""
    when = f"from {ticks.begin:%Y-%m-%d %H:%M} to {ticks.end:%Y-%m-%d %H:%M} UTC"
    return f"{stream.plan.measured.noun}{by}, {len(ticks):,} ticks {when}"


def _heading(stream: Stream, shown: int) -> Iterator[str]:
    """What is shown, what it cost, and who is protected."""
    plan = stream.plan
    price = math.ceil(plan.worst[0].price * 10**4) / 10**4
    told = f"{'epsilon' if plan.rho is None else 'rho'} {price:,g}. {stream.protected}"
    scales = " Each panel has a scale of its own." if shown > 1 else ""
    room = int((WIDTH - 2 * EDGE) / LETTER) - len(scales)
    yield _text(EDGE, EDGE + 8, _shortened(_title(stream), int((WIDTH - 2 * EDGE) / BOLD_LETTER)), bold=True)
    yield _text(EDGE, EDGE + 8 + LINE_HEIGHT, _shortened(told, room) + scales)


def _range(values: Floats, half: Floats | None, truth: Floats | None, limit: float | None) -> tuple[float, float]:
    """The numbers at the edges of a panel: zero is always among them, and a limit."""
    lines = [values] if half is None else [values - half, values + half]
    ends = [0.0] if limit is None else [0.0, limit]
    every = np.concatenate([ends, *(line[np.isfinite(line)] for line in [*lines, *([] if truth is None else [truth])])])
    low, high = float(every.min()), float(every.max())
    return low, high if high > low else low + 1


def _panel(
    title: str,
    frame: Frame,
    left: float,
    values: Floats,
    half: Floats | None,
    truth: Floats | None,
    limit: float | None,
    times: Iterable[str],
) -> Iterator[str]:
    room = int((frame.x + frame.width - left) / BOLD_LETTER)
    yield f"<g><title>{escape(_printable(title))}</title>"
    yield _text(left, frame.y - 8, _shortened(title, room), bold=True)
    for value in _marks(frame):
        x, y = frame.point(0, value).split()
        strength = "0.45" if value == 0 else "0.15"
        yield _text(frame.x - 6, float(y) + 4, _axis(value), anchor="end")
        yield f'<path d="M{x} {y}h{frame.width:.1f}" stroke="currentColor" stroke-opacity="{strength}"/>'
    yield from times
    if limit is not None:
        x, y = frame.point(0, limit).split()
        yield f'<path d="M{x} {y}h{frame.width:.1f}" stroke="{AMBER}"/>'
    if half is not None:
        for around in _areas(frame, values - half, values + half):
            yield f'<path d="M{"L".join(around)}Z" fill="{TEAL}" fill-opacity="0.3"/>'
    if truth is not None:
        yield from _line(frame, truth, f'stroke="{GREY}" stroke-width="1.2" stroke-dasharray="3 2"')
    yield from _line(frame, values, f'stroke="{TEAL}" stroke-width="1.5" stroke-linejoin="round"')
    yield "</g>"


def _shortened(title: str, room: int) -> str:
    """Both ends of a name that is too long: what tells one from the next is often at its end."""
    after = room // 3
    return title if len(title) <= room else f"{title[: room - after - 1]}\N{HORIZONTAL ELLIPSIS}{title[-after:]}"


def _marks(frame: Frame) -> list[float]:
    """Zero, and a round number on each side of it where its label has room."""
    room = LINE_HEIGHT / frame.height * (frame.high - frame.low)
    rounded = [math.copysign(_round_number(abs(edge)), edge) for edge in (frame.low, frame.high) if edge]
    return [0.0, *(each for each in rounded if abs(each) >= room)]


def _round_number(value: float) -> float:
    """The largest of 1, 2, 3, 4, 5, 6, 8 times a power of ten that is no larger."""
    power = 10.0 ** math.floor(math.log10(value))
    return max(each for each in (1, 2, 3, 4, 5, 6, 8) if each * power <= value * (1 + 1e-9)) * power


def _line(frame: Frame, line: Floats, style: str) -> Iterator[str]:
    """A path for each stretch of ticks that have a value."""
    for start, end in _stretches(np.isfinite(line)):
        found = [
            frame.point((at + 0.5) / len(line), float(line[at]))
            for first, last in _buckets(start, end, frame)
            for at in sorted({first + int(line[first:last].argmin()), first + int(line[first:last].argmax())})
        ]
        found += found if len(found) == 1 else []
        yield f'<path d="M{"L".join(found)}" fill="none" {style} stroke-linecap="round"/>'


def _areas(frame: Frame, lower: Floats, upper: Floats) -> Iterator[list[str]]:
    """The outline of each stretch of the band, with all that a bucket of ticks covers inside."""
    for start, end in _stretches(np.isfinite(lower) & np.isfinite(upper)):
        buckets = _buckets(start, end, frame)
        shares = [((first + last) / 2) / len(lower) for first, last in buckets]
        above = [frame.point(share, float(upper[a:b].max())) for share, (a, b) in zip(shares, buckets, strict=True)]
        below = [frame.point(share, float(lower[a:b].min())) for share, (a, b) in zip(shares, buckets, strict=True)]
        yield [*above, *reversed(below)]


def _stretches(known: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Where values are known: from each first tick to the one after the last."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], known, [False])).astype(np.int8)))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


def _buckets(start: int, end: int, frame: Frame) -> list[tuple[int, int]]:
    """Ticks in as many groups as there is room for: one each, where they are few."""
    cuts = np.linspace(start, end, min(end - start, int(frame.width)) + 1).astype(int).tolist()
    return list(itertools.pairwise(cuts))


def _legend(stream: Stream, band: bool, truth: bool, top: float) -> Iterator[str]:
    left, middle = float(EDGE), top + 6
    said = [(f'<path d="M{{x}} {middle}h18" stroke="{TEAL}" stroke-width="2"/>', "released")]
    if band:
        often = f"{float(stream.level) * 100:g} of 100 ticks"
        is_estimate = stream.released.deviations is not None
        within = f"an estimate, meant to hold the truth in {often}" if is_estimate else f"holds the truth in {often}"
        said.append((f'<rect x="{{x}}" y="{top}" width="18" height="12" fill="{TEAL}" fill-opacity="0.3"/>', within))
    if stream.plan.above is not None:
        said.append((f'<path d="M{{x}} {middle}h18" stroke="{AMBER}"/>', "limit"))
    if truth:
        dashed = f'<path d="M{{x}} {middle}h18" stroke="{GREY}" stroke-width="1.5" stroke-dasharray="3 2"/>'
        said.append((dashed, "truth (invented data)"))
    if not band:
        said.append(("", "no band: how far off it is, is not known"))
    for mark, words in said:
        yield mark.format(x=f"{left:.1f}")
        text = left + 24 if mark else left
        yield _text(text, top + 10, words)
        left = text + LETTER * len(words) + 18


def _axis(value: float) -> str:
    """A number on the axis: whole where it is large, and never with an exponent."""
    if abs(value) >= 10**7:
        return f"{value / 10**6:,.0f} M"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _text(x: float, y: float, text: str, *, bold: bool = False, anchor: str = "start") -> str:
    style = (' font-weight="bold"' if bold else "") + (f' text-anchor="{anchor}"' if anchor != "start" else "")
    return f'<text x="{x:.1f}" y="{y:.1f}"{style}>{escape(_printable(text))}</text>'


def _printable(text: str) -> str:
    """XML has no control characters, not even written out."""
    return "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in text)
