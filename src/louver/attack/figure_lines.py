"""Lines with bands: how something grows, with its interval, and a line of chance or promise to compare with."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from louver.attack.figures import DASHES, EDGE, LETTER, LINE_HEIGHT, LINES, WIDTH, framed, safe, short, text
from louver.errors import ParameterError

LEFT, HEIGHT = 40, 170
MARKS = ("circle", "square", "diamond", "triangle", "circle", "square")


@dataclass(frozen=True, slots=True)
class Line:
    """Points from left to right, and how low and how high each may be; no band where these are empty."""

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        bands = {len(self.low), len(self.high)} - {0}
        if not self.x or len(self.x) != len(self.y) or bands - {len(self.x)} or bool(self.low) != bool(self.high):
            raise ParameterError("A line has as many heights as places, and a band as many lows and highs, or none.")
        if not all(map(math.isfinite, (*self.x, *self.y, *self.low, *self.high))):
            raise ParameterError("The points of a line are finite numbers.")


@dataclass(frozen=True, slots=True)
class Lines:
    """Up to six lines; `level` is drawn across with its name, such as chance or the promise.

    With `logarithmic` each place is as far from the next as its ratio to it.
    """

    title: str
    x_label: str
    y_label: str
    lines: tuple[Line, ...]
    level: float | None = None
    level_label: str = ""
    logarithmic: bool = False

    def __post_init__(self) -> None:
        if not 1 <= len(self.lines) <= len(LINES):
            raise ParameterError(f"A figure has from 1 to {len(LINES)} lines.")
        if self.logarithmic and min(place for line in self.lines for place in line.x) <= 0:
            raise ParameterError("On a logarithmic axis all places are above 0.")

    def data(self) -> dict[str, Any]:
        return {"kind": "lines", **asdict(self)}

    def svg(self, key: str = "figure", *, alone: bool = False) -> str:
        del key  # nothing here needs a name
        frame = _Frame.of(self)
        parts = [text(EDGE, EDGE + 10, self.y_label), *frame.grid(self)]
        if self.level is not None:
            y = frame.y(self.level)
            parts.append(f'<path d="M{frame.left} {y}H{frame.right}" stroke="currentColor" stroke-dasharray="4 4"/>')
        for number, line in enumerate(self.lines):
            parts += _drawn(line, number, frame)
        top = frame.bottom + LINE_HEIGHT + 2
        parts.append(text((frame.left + frame.right) / 2, top + 10, self.x_label, anchor="middle"))
        top += LINE_HEIGHT + 4
        for number, line in enumerate(self.lines):
            parts.append(_stroke(f"M{EDGE} {top + 6:.1f}h26", number))
            parts.append(_mark(EDGE + 13, top + 6, number))
            parts.append(text(EDGE + 33, top + 10, line.label))
            top += LINE_HEIGHT
        if self.level is not None:
            parts.append(f'<path d="M{EDGE} {top + 6:.1f}h26" stroke="currentColor" stroke-dasharray="4 4"/>')
            parts.append(text(EDGE + 33, top + 10, self.level_label))
            top += LINE_HEIGHT
        return framed(self.title, parts, top, alone)


@dataclass(frozen=True, slots=True)
class _Frame:
    left: float
    right: float
    top: float
    bottom: float
    x_range: tuple[float, float]
    y_range: tuple[float, float]
    logarithmic: bool

    @classmethod
    def of(cls, figure: Lines) -> _Frame:
        x = [place for line in figure.lines for place in line.x]
        level = [] if figure.level is None else [figure.level]
        y = [*level, *(each for line in figure.lines for each in (*line.y, *line.low, *line.high))]
        step = _round_step(max(0.0, *y) - min(0.0, *y))
        bottom, ceiling = (
            step * rounded(end / step) for rounded, end in ((math.floor, min(0.0, *y)), (math.ceil, max(0.0, *y)))
        )
        top = EDGE + LINE_HEIGHT + 4
        return cls(
            *(EDGE + LEFT - 8, WIDTH - EDGE - 8, top, top + HEIGHT),
            (min(x), max(x)),
            (bottom, ceiling if ceiling > bottom else bottom + 1),
            figure.logarithmic,
        )

    def x(self, place: float) -> str:
        scale = math.log if self.logarithmic else float
        low, high = map(scale, self.x_range)
        share = (scale(place) - low) / (high - low) if high > low else 0.5
        return f"{self.left + share * (self.right - self.left):.1f}"

    def y(self, value: float) -> str:
        low, high = self.y_range
        return f"{self.bottom - (value - low) / (high - low) * (self.bottom - self.top):.1f}"

    def grid(self, figure: Lines) -> Iterator[str]:
        """Round heights with their numbers, and each place where there is room for its number."""
        low, high = self.y_range
        step = _round_step(high - low)
        for number in range(round((high - low) / step) + 1):
            value = low + number * step
            y = self.y(value)
            yield text(self.left - 5, float(y) + 4, short(value), anchor="end")
            yield f'<path d="M{self.left} {y}H{self.right}" stroke="currentColor" stroke-opacity="0.15"/>'
        free = -math.inf
        for place in sorted({place for line in figure.lines for place in line.x}):
            at, half = float(self.x(place)), LETTER * len(short(place)) / 2
            if at - half > free:
                yield text(at, self.bottom + 14, short(place), anchor="middle")
                free = at + half + 4


def _round_step(length: float) -> float:
    """1, 2 or 5 times a power of ten, from three to seven of which make up a length."""
    if length <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(length / 3))
    return max(each for each in (1, 2, 5) if each * power <= length / 3 * (1 + 1e-9)) * power


def _drawn(line: Line, number: int, frame: _Frame) -> Iterator[str]:
    order = sorted(range(len(line.x)), key=lambda at: line.x[at])
    yield f"<g><title>{safe(_said(line))}</title>"
    if line.low:
        above = [f"{frame.x(line.x[at])} {frame.y(line.high[at])}" for at in order]
        below = [f"{frame.x(line.x[at])} {frame.y(line.low[at])}" for at in reversed(order)]
        if len(order) > 1:
            around = "L".join([*above, *below])
            yield f'<path d="M{around}Z" class="line-{number}" fill="{LINES[number]}" fill-opacity="0.18"/>'
        for top, bottom in zip(above, reversed(below), strict=True):
            yield _stroke(f"M{top}L{bottom}", number, thin=True)
    points = [f"{frame.x(line.x[at])} {frame.y(line.y[at])}" for at in order]
    for one, other in itertools.pairwise(points):
        yield _stroke(f"M{one}L{other}", number)
    for point in points:
        x, y = map(float, point.split())
        yield _mark(x, y, number)
    yield "</g>"


def _said(line: Line) -> str:
    return f"{line.label}: " + ", ".join(f"{short(y)} at {short(x)}" for x, y in zip(line.x, line.y, strict=True))


def _stroke(path: str, number: int, *, thin: bool = False) -> str:
    dash = f' stroke-dasharray="{DASHES[number]}"' if DASHES[number] and not thin else ""
    width = "0.8" if thin else "1.8"
    return (
        f'<path d="{path}" class="stroke-{number}" fill="none" stroke="{LINES[number]}" stroke-width="{width}"{dash}/>'
    )


def _mark(x: float, y: float, number: int) -> str:
    style = f'class="line-{number}" fill="{LINES[number]}"'
    match MARKS[number]:
        case "square":
            return f'<rect x="{x - 3:.1f}" y="{y - 3:.1f}" width="6" height="6" {style}/>'
        case "diamond":
            return f'<path d="M{x:.1f} {y - 4:.1f}l4 4l-4 4l-4 -4Z" {style}/>'
        case "triangle":
            return f'<path d="M{x:.1f} {y - 4:.1f}l4 7h-8Z" {style}/>'
        case _:
            return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.2" {style}/>'
