"""The zones of an answer as an SVG picture, written by hand: no library, no script, readable on light and dark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from louver.decide.zones import FOUND, FREE, QUIET, Legend, Panel, Row

COLOURS = {FOUND: "#1f8a8a", FREE: "#e9b949", QUIET: "#b9bec9"}
WIDTH, LABELS, ROW, HEAD, FOOT, GAP = 760, 210, 20, 30, 24, 14
LONGEST_LABEL = 30


def picture(panels: Sequence[Panel], caption: str) -> str:
    """One picture of all panels, with its caption for those who cannot see it."""
    parts = list[str]()
    top = 0
    for panel in panels:
        parts += _panel(panel, top)
        top += HEAD + ROW * len(panel.rows) + FOOT + GAP
    for legend in dict.fromkeys(panel.legend for panel in panels if panel.legend is not None):
        parts += _legend(legend, top)
        top += ROW
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top}" width="{WIDTH}" role="img" '
        f'font-family="sans-serif" font-size="12" fill="currentColor">\n'
        f"<title>{escape(_printable(caption))}</title>\n{body}\n</svg>\n"
    )


def _panel(panel: Panel, top: int) -> Iterator[str]:
    yield _text(0, top + 14, panel.title, bold=True)
    for number, row in enumerate(panel.rows):
        yield from _row(panel, row, top + HEAD + ROW * number)
    bottom = top + HEAD + ROW * len(panel.rows)
    for value, anchor in ((panel.low, "start"), ((panel.low + panel.high) / 2, "middle"), (panel.high, "end")):
        yield _text(_x(panel, value), bottom + 14, _axis(value), anchor=anchor)
    if panel.left_out:
        yield _text(0, bottom + 14, f"and {panel.left_out:,} more")


def _row(panel: Panel, row: Row, top: int) -> Iterator[str]:
    mark = "\N{BLACK RIGHT-POINTING TRIANGLE} " if row.marked else ""
    name = row.label if len(row.label) <= LONGEST_LABEL else row.label[: LONGEST_LABEL - 1] + "\N{HORIZONTAL ELLIPSIS}"
    yield _text(0, top + 14, mark + name, bold=row.marked)
    for start, end, kind in row.zones:
        left, right = _x(panel, start), _x(panel, end)
        meant = dict(panel.legend.zones)[kind] if panel.legend is not None else ""
        shade, said = 1.0 if row.marked else 0.55, f"{_printable(row.label)}: {meant}"
        yield (
            f'<rect x="{left:.1f}" y="{top + 3}" width="{right - left:.1f}" height="{ROW - 6}" '
            f'fill="{COLOURS[kind]}" fill-opacity="{shade}"><title>{escape(said)}</title></rect>'
        )
    if row.value is not None:
        value, distance = row.value
        left, right, middle = _x(panel, value - distance), _x(panel, value + distance), top + ROW / 2
        yield f'<path d="M{left:.1f} {middle}H{right:.1f}" stroke="{COLOURS[FREE]}" stroke-width="6"/>'
        yield f'<circle cx="{_x(panel, value):.1f}" cy="{middle}" r="4" fill="{COLOURS[FOUND]}"/>'


def _axis(value: float) -> str:
    """A number on the axis: whole where it is large, and never with an exponent."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.6g}"


def _legend(legend: Legend, top: int) -> Iterator[str]:
    left = 0
    for kind, words in legend.zones:
        yield f'<rect x="{left}" y="{top + 3}" width="14" height="14" fill="{COLOURS[kind]}"/>'
        yield _text(left + 20, top + 14, words)
        left += 40 + 7 * len(words)
    if legend.mark is not None:
        yield _text(left, top + 14, f"\N{BLACK RIGHT-POINTING TRIANGLE} {legend.mark}")


def _text(x: float, y: float, text: str, *, bold: bool = False, anchor: str = "start") -> str:
    style = (' font-weight="bold"' if bold else "") + (f' text-anchor="{anchor}"' if anchor != "start" else "")
    return f'<text x="{x:.1f}" y="{y}"{style}>{escape(_printable(text))}</text>'


def _x(panel: Panel, value: float) -> float:
    inside = min(max((value - panel.low) / (panel.high - panel.low), 0.0), 1.0)
    return LABELS + inside * (WIDTH - LABELS - 30)


def _printable(text: str) -> str:
    """XML has no control characters, not even written out."""
    return "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in text)
