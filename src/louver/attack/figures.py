"""Figures of an audit as values that draw themselves in SVG: no library, no script.

Narrow, so that they are readable on a phone. In a page they take its colours through classes; as files of their own
they bring light ones. Nothing is told by colour alone: classes are stacked in one order, the two surest are hatched,
lines have dashes and marks, and the report has a table beside each figure.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from html import escape
from typing import Any, Protocol

from louver.errors import ParameterError

WIDTH, EDGE, LINE_HEIGHT, LETTER = 380, 8, 17, 6.0
BAR, PANEL, LEFT = 16, 74, 34
INK, PAPER = "#1b2430", "#ffffff"
RAMP = ("#fdf0d0", "#f8dc9a", "#efc060", "#dd9a2e", "#b06c10", "#6f3d05")
HATCHED = 2  # of the classes, the surest, so that they are told from others without colour
LINES = ("#1f8a8a", "#c2571a", "#6a5acd", "#5c6675", "#1b2430", "#8a5a00")
DASHES = ("", "6 3", "2 3", "8 3 2 3", "1 2", "12 4")


class Figure(Protocol):
    """Anything that a report can show."""

    @property
    def title(self) -> str: ...

    def svg(self, key: str = "figure", *, alone: bool = False) -> str:
        """The picture; `key` is unlike that of other figures of the page, and `alone` is a file of its own."""

    def data(self) -> dict[str, Any]:
        """What is drawn, as plain JSON values."""


@dataclass(frozen=True, slots=True)
class Bar:
    """How many are in each class; bars of one group stand below its name."""

    label: str
    values: tuple[float, ...]
    group: str = ""


@dataclass(frozen=True, slots=True)
class ClassBars:
    """People by how sure the attacker is of them, rightly: a bar for each attacker, mechanism or look."""

    title: str
    classes: tuple[str, ...]
    bars: tuple[Bar, ...]
    unit: str = "people"

    def __post_init__(self) -> None:
        _check_classes(self.classes, [bar.values for bar in self.bars])

    def data(self) -> dict[str, Any]:
        return {"kind": "class bars", **asdict(self)}

    def svg(self, key: str = "figure", *, alone: bool = False) -> str:
        most = max((math.fsum(bar.values) for bar in self.bars), default=0) or 1.0
        parts, top, group = [_hatch(key)], float(EDGE), ""
        room = WIDTH - 2 * EDGE - 44
        for bar in self.bars:
            if bar.group != group:
                group = bar.group
                parts.append(text(EDGE, top + 12, group, bold=True))
                top += LINE_HEIGHT + 2
            parts.append(text(EDGE, top + 11, bar.label))
            top += LINE_HEIGHT - 1
            parts.append(f"<g><title>{safe(self._said(bar))}</title>")
            left = float(EDGE)
            for number, value in enumerate(bar.values):
                width = room * value / most
                if width > 0:
                    parts += _block(left, top, width, BAR, number, len(bar.values), key)
                    if LETTER * len(short(value)) + 4 < width:
                        dark = _shade(number, len(bar.values)) >= len(RAMP) / 2
                        parts.append(_on(left + width / 2, top + 12, short(value), dark))
                left += width
            parts.append(f"</g>{text(left + 5, top + 12, short(math.fsum(bar.values)))}")
            top += BAR + 8
        top += 4
        parts += _class_legend(self.classes, top, key)
        return framed(self.title, parts, top + _legend_height(self.classes), alone)

    def _said(self, bar: Bar) -> str:
        named = ", ".join(f"{short(value)} {name}" for name, value in zip(self.classes, bar.values, strict=True))
        return f"{bar.group + ', ' if bar.group else ''}{bar.label}: {named} ({self.unit})"


@dataclass(frozen=True, slots=True)
class Panel:
    """Classes over time: a tuple of one number for each class at each tick."""

    label: str
    values: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class ClassAreas:
    """People by class over a day, as Figures 4.3 to 4.9 of Ghayyur's thesis: panels two in a row, on one scale.

    `times` names the first tick, the last, and any between them, evenly.
    """

    title: str
    classes: tuple[str, ...]
    panels: tuple[Panel, ...]
    times: tuple[str, ...]
    unit: str = "people"

    def __post_init__(self) -> None:
        _check_classes(self.classes, [values for panel in self.panels for values in panel.values])
        if any(not panel.values for panel in self.panels) or len(self.times) < 2:
            raise ParameterError("Each panel needs a tick, and the times name the first and the last one.")

    def data(self) -> dict[str, Any]:
        return {"kind": "class areas", **asdict(self)}

    def svg(self, key: str = "figure", *, alone: bool = False) -> str:
        most = max((math.fsum(values) for panel in self.panels for values in panel.values), default=0) or 1.0
        wide = (WIDTH - 2 * EDGE - LEFT - 14) / 2
        parts, top = [_hatch(key)], float(EDGE)
        for number, panel in enumerate(self.panels):
            left = EDGE + LEFT + number % 2 * (wide + 14)
            top = EDGE + number // 2 * (PANEL + LINE_HEIGHT + 12)
            parts.append(text(left, top + 11, cut(panel.label, int(wide / LETTER))))
            parts += self._panel(panel, left, top + LINE_HEIGHT, wide, most, key)
            if number % 2 == 0:
                parts.append(text(left - 5, top + LINE_HEIGHT + 9, short(most), anchor="end"))
                parts.append(text(left - 5, top + LINE_HEIGHT + PANEL, "0", anchor="end"))
        top += LINE_HEIGHT + PANEL + 6
        for column in range(min(len(self.panels), 2)):
            for at, name in enumerate(self.times):
                share = at / (len(self.times) - 1)
                anchor = "start" if at == 0 else "end" if share == 1 else "middle"
                parts.append(text(EDGE + LEFT + column * (wide + 14) + share * wide, top + 8, name, anchor=anchor))
        top += LINE_HEIGHT + 4
        parts += _class_legend(self.classes, top, key)
        return framed(f"{self.title} ({self.unit})", parts, top + _legend_height(self.classes), alone)

    def _panel(self, panel: Panel, left: float, top: float, wide: float, most: float, key: str) -> Iterator[str]:
        peak = max(panel.values, key=math.fsum)
        yield f"<g><title>{safe(f'{panel.label}: at most {short(math.fsum(peak))} {self.unit}')}</title>"
        edges = [left + wide * at / len(panel.values) for at in range(len(panel.values) + 1)]
        below = [0.0] * len(panel.values)
        for number in range(len(self.classes)):
            above = [low + values[number] for low, values in zip(below, panel.values, strict=True)]
            if above != below:
                up = _steps(edges, [_y(value, top, most) for value in above])
                down = _steps(edges[::-1], [_y(value, top, most) for value in below[::-1]])
                yield from _shape(f'<path d="M{up}L{down}Z"', number, len(self.classes), key)
            below = above
        line = 'fill="none" stroke="currentColor" stroke-opacity="0.45"'
        yield f'<path d="M{_steps(edges, [_y(value, top, most) for value in below])}" {line} stroke-width="0.7"/>'
        yield f'<path d="M{left:.1f} {top + PANEL:.1f}h{wide:.1f}" {line}/></g>'


def _y(value: float, top: float, most: float) -> str:
    return f"{top + PANEL * (1 - value / most):.1f}"


def _steps(edges: Sequence[float], heights: Sequence[str]) -> str:
    """Steps and not slopes, because each tick is a count of its own; heights that stay are one step."""
    path = f"{edges[0]:.1f} {heights[0]}"
    for at, height in enumerate(heights[1:], 1):
        if height != heights[at - 1]:
            path += f"H{edges[at]:.1f}V{height}"
    return f"{path}H{edges[-1]:.1f}"


def framed(title: str, parts: Sequence[str], height: float, alone: bool) -> str:
    """The parts as one picture with its title for those who cannot see it."""
    tall = math.ceil(height + EDGE)
    paper = f'<rect width="{WIDTH}" height="{tall}" fill="{PAPER}"/>\n' if alone else ""
    ink = f' color="{INK}"' if alone else ""
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {tall}" width="{WIDTH}" role="img" '
        f'font-family="Inter, system-ui, sans-serif" font-size="11" fill="currentColor"{ink}>\n'
        f"<title>{safe(title)}</title>\n{paper}{body}\n</svg>\n"
    )


def text(x: float, y: float, words: str, *, bold: bool = False, anchor: str = "start") -> str:
    style = (' font-weight="bold"' if bold else "") + (f' text-anchor="{anchor}"' if anchor != "start" else "")
    return f'<text x="{x:.1f}" y="{y:.1f}"{style}>{safe(words)}</text>'


def safe(words: str) -> str:
    """For a page: escaped, and without control characters, which XML has not even written out."""
    return escape("".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in words))


def short(value: float) -> str:
    """A number in a figure: whole where it is large, else three digits."""
    if not math.isfinite(value):
        return "unknown"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def cut(words: str, room: int) -> str:
    return words if len(words) <= room else f"{words[: max(room - 1, 1)]}\N{HORIZONTAL ELLIPSIS}"


def _check_classes(classes: Sequence[str], every: Sequence[Sequence[float]]) -> None:
    if not 1 <= len(classes) <= len(RAMP):
        raise ParameterError(f"A figure has from 1 to {len(RAMP)} classes.")
    if any(len(values) != len(classes) for values in every):
        raise ParameterError("Give a number for each class.")
    if any(not math.isfinite(value) or value < 0 for values in every for value in values):
        raise ParameterError("Numbers of people in classes are finite and not below 0.")


def _hatch(key: str) -> str:
    return (
        f'<defs><pattern id="{safe(key)}-hatch" width="5" height="5" patternUnits="userSpaceOnUse" '
        f'patternTransform="rotate(45)"><path d="M0 0v5" class="hatch" stroke="{PAPER}" stroke-width="1.6"/></pattern>'
        "</defs>"
    )


def _shade(number: int, classes: int) -> int:
    """The colour of a class: fewer than six are the surest of the six."""
    return len(RAMP) - classes + number


def _shape(opened: str, number: int, classes: int, key: str) -> Iterator[str]:
    """A shape in the colour of its class, and once more hatched where the class is among the surest."""
    shade = _shade(number, classes)
    yield f'{opened} class="class-{shade}" fill="{RAMP[shade]}"/>'
    if shade >= len(RAMP) - HATCHED:
        opacity = "0.35" if shade < len(RAMP) - 1 else "0.7"
        yield f'{opened} fill="url(#{safe(key)}-hatch)" fill-opacity="{opacity}"/>'


def _block(left: float, top: float, width: float, height: float, number: int, classes: int, key: str) -> Iterator[str]:
    place = f'<rect x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height}"'
    yield from _shape(place, number, classes, key)
    yield f'{place} fill="none" stroke="currentColor" stroke-opacity="0.5" stroke-width="0.5"/>'


def _on(x: float, y: float, words: str, dark: bool) -> str:
    """A number on a block, on a patch of the page's paper where the block is dark or hatched."""
    if not dark:
        return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle">{safe(words)}</text>'
    wide = LETTER * len(words) + 4
    return (
        f'<rect x="{x - wide / 2:.1f}" y="{y - 10:.1f}" width="{wide:.1f}" height="12" rx="2" class="patch" '
        f'fill="{PAPER}"/>'
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle">{safe(words)}</text>'
    )


def _class_legend(classes: Sequence[str], top: float, key: str) -> Iterator[str]:
    for number, name in enumerate(classes):
        x, y = EDGE + number % 3 * (WIDTH - 2 * EDGE) / 3, top + number // 3 * LINE_HEIGHT
        yield from _block(x, y, 14, 11, number, len(classes), key)
        yield text(x + 19, y + 10, name)


def _legend_height(classes: Sequence[str]) -> float:
    return math.ceil(len(classes) / 3) * LINE_HEIGHT
