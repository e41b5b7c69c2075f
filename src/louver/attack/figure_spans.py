"""Numbers with their intervals, one below the other, each beside the chance to compare it with."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from louver.attack.figures import EDGE, LINE_HEIGHT, LINES, WIDTH, cut, framed, safe, short, text
from louver.errors import ParameterError


@dataclass(frozen=True, slots=True)
class Span:
    """A value between `low` and `high`, and what chance alone would give."""

    label: str
    value: float
    low: float
    high: float
    chance: float

    def __post_init__(self) -> None:
        if not all(map(math.isfinite, (self.value, self.low, self.high, self.chance))) or self.low > self.high:
            raise ParameterError("A span is of finite numbers, and its low is not above its high.")


@dataclass(frozen=True, slots=True)
class Spans:
    """Spans on one axis from 0 to `most`."""

    title: str
    spans: tuple[Span, ...]
    most: float = 1.0

    def data(self) -> dict[str, Any]:
        return {"kind": "spans", **asdict(self)}

    def svg(self, key: str = "figure", *, alone: bool = False) -> str:
        del key  # nothing here needs a name
        parts, top = [], float(EDGE)
        for span in self.spans:
            value, low, high, chance = map(self._x, (span.value, span.low, span.high, span.chance))
            middle = top + LINE_HEIGHT + 6
            said = f"{span.label}: {short(span.value)}, from {short(span.low)} to {short(span.high)}"
            parts += [
                text(EDGE, top + 11, cut(span.label, 52)),
                text(WIDTH - EDGE, top + 11, short(span.value), anchor="end"),
                f"<g><title>{safe(f'{said}; chance {short(span.chance)}')}</title>",
                f'<path d="M{EDGE} {middle:.1f}H{WIDTH - EDGE}" stroke="currentColor" stroke-opacity="0.15"/>',
                f'<path d="M{low} {middle:.1f}H{high}" class="stroke-1" stroke="{LINES[1]}" stroke-width="4"/>',
                f'<path d="M{chance} {middle - 6:.1f}v12" stroke="currentColor" stroke-width="1.5"/>',
                f'<circle cx="{value}" cy="{middle:.1f}" r="4.5" class="line-1" fill="{LINES[1]}"/></g>',
            ]
            top += LINE_HEIGHT + 19
        parts += [text(EDGE, top + 8, "0"), text(WIDTH - EDGE, top + 8, short(self.most), anchor="end")]
        top += LINE_HEIGHT
        parts.append(f'<circle cx="{EDGE + 8}" cy="{top + 6:.1f}" r="4.5" class="line-1" fill="{LINES[1]}"/>')
        parts.append(text(EDGE + 18, top + 10, "score, with its interval"))
        parts.append(f'<path d="M{WIDTH / 2:.1f} {top:.1f}v12" stroke="currentColor" stroke-width="1.5"/>')
        parts.append(text(WIDTH / 2 + 8, top + 10, "chance"))
        return framed(self.title, parts, top + LINE_HEIGHT, alone)

    def _x(self, value: float) -> str:
        share = min(max(value / self.most, 0), 1)
        return f"{EDGE + share * (WIDTH - 2 * EDGE):.1f}"
