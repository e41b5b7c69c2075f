"""A report as one HTML page: everything in it, nothing loaded, no script, light and dark, also on a phone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from louver.attack.figures import LINES, PAPER, RAMP, safe
from louver.attack.report import FOR_OWNER

if TYPE_CHECKING:
    from louver.attack.report import Evidence, Report, Table

# On dark paper the surest class is the brightest, and lines are lighter.
_DARK_RAMP = ("#33291a", "#4d3a19", "#745418", "#a3741b", "#d69a2c", "#f5c451")
_DARK_LINES = ("#35b8a8", "#f08a4b", "#9d8ff8", "#93a4ba", "#e6edf6", "#f5c451")
_DARK_PAPER = "#111a25"


def page(report: Report) -> str:
    parts = [
        f"<h1>{safe(report.title)}</h1>",
        f'<p class="owner"><strong>{safe(FOR_OWNER)}</strong></p>',
        f'<p class="verdict">{_badge(report.holds)}{safe(report.verdict)}</p>',
        *_about(report),
        *(part for number, each in enumerate(report.evidence, 1) for part in _section(each, number)),
        *_not_tried(report),
    ]
    body = "\n".join(parts)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{safe(report.title)}</title>\n<style>\n{_style()}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _badge(holds: bool | None) -> str:
    if holds is None:
        return ""
    kind, sign, words = ("holds", "\N{CHECK MARK}", "promise kept") if holds else ("broken", "!", "promise broken")
    return f'<span class="badge {kind}"><span aria-hidden="true">{sign}</span> {words}</span> '


def _about(report: Report) -> Iterator[str]:
    if report.about:
        rows = "".join(f"<div><dt>{safe(name)}</dt><dd>{safe(words)}</dd></div>" for name, words in report.about)
        yield f"<dl>{rows}</dl>"


def _section(each: Evidence, number: int) -> Iterator[str]:
    key = f"evidence-{number}"
    yield f'<section aria-labelledby="{key}">'
    yield f'<h2 id="{key}">{safe(each.title)}</h2>'
    yield f"<p>{_badge(each.holds)}{safe(each.sentence)}</p>"
    if each.figure is not None or each.table is not None:
        yield '<div class="beside">'
        if each.figure is not None:
            caption = f"<figcaption>{safe(each.figure.title)}</figcaption>"
            yield f"<figure>{each.figure.svg(key)}{caption}</figure>"
        if each.table is not None:
            yield from _table(each.table, f"Numbers: {each.title}")
        yield "</div>"
    yield "</section>"


def _table(table: Table, caption: str) -> Iterator[str]:
    # Where it is too wide it scrolls by itself, also by keyboard.
    yield f'<div class="table" role="region" tabindex="0" aria-label="{safe(caption)}"><table>'
    number = [' class="number"' if each else "" for each in table.numeric()]
    heads = "".join(f'<th scope="col"{kind}>{safe(head)}</th>' for head, kind in zip(table.heads, number, strict=True))
    yield f"<thead><tr>{heads}</tr></thead><tbody>"
    for first, *rest in table.shown():
        cells = "".join(f"<td{kind}>{safe(cell)}</td>" for cell, kind in zip(rest, number[1:], strict=True))
        yield f'<tr><th scope="row"{number[0]}>{safe(first)}</th>{cells}</tr>'
    yield "</tbody></table></div>"


def _not_tried(report: Report) -> Iterator[str]:
    yield '<section aria-labelledby="not-tried"><h2 id="not-tried">What was not tried</h2>'
    if report.not_tried:
        yield f"<ul>{''.join(f'<li>{safe(each)}</li>' for each in report.not_tried)}</ul>"
    else:
        yield "<p>This report does not say. What nobody tried may still work.</p>"
    yield "</section>"


def _style() -> str:
    return _LIGHT + "@media (prefers-color-scheme: dark) {\n" + _DARK + "}\n"


def _colours(ramp: tuple[str, ...], lines: tuple[str, ...], paper: str) -> str:
    rules = [f".class-{number} {{ fill: {colour}; }}" for number, colour in enumerate(ramp)]
    for number, colour in enumerate(lines):
        rules += [f".line-{number} {{ fill: {colour}; }}", f".stroke-{number} {{ stroke: {colour}; }}"]
    rules += [f".patch {{ fill: {paper}; }}", f".hatch {{ stroke: {paper}; }}"]
    return "\n".join(rules) + "\n"


_LIGHT = """:root { color-scheme: light dark; --paper: #ffffff; --ink: #1b2430; --faint: #5c6675; --line: #d5dae2;
  --holds: #0f6b62; --broken: #b3261e; }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 Inter, system-ui, sans-serif; }
main { max-width: 1000px; margin: 0 auto; padding: 24px 16px; overflow-wrap: break-word; }
h1 { font-size: 1.4rem; margin: 0 0 8px; }
h2 { font-size: 1.125rem; margin: 0 0 4px; }
.owner { color: var(--broken); margin: 0 0 8px; }
.verdict { font-size: 1.25rem; margin: 0 0 16px; }
.badge { border: 2px solid; border-radius: 6px; padding: 0 8px; font-size: 0.875rem; font-weight: 600; }
.holds { color: var(--holds); }
.broken { color: var(--broken); }
dl { display: flex; flex-wrap: wrap; gap: 4px 24px; margin: 0; color: var(--faint); font-size: 0.875rem; }
dl div { display: flex; gap: 6px; }
dd { margin: 0; color: var(--ink); }
section { border-top: 1px solid var(--line); margin-top: 24px; padding-top: 16px; }
section p { margin: 0 0 12px; max-width: 70ch; }
.beside { display: flex; flex-wrap: wrap; gap: 16px 32px; align-items: flex-start; }
figure { margin: 0; flex: 0 1 440px; min-width: min(100%, 320px); }
figure svg { display: block; width: 100%; height: auto; }
figcaption { color: var(--faint); font-size: 0.875rem; margin-top: 4px; }
.table { flex: 1 1 320px; min-width: 0; max-width: 100%; overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.875rem; font-variant-numeric: tabular-nums; }
th, td { padding: 4px 12px 4px 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
thead th { color: var(--faint); font-weight: 500; }
tbody th { font-weight: 500; }
.number { text-align: right; white-space: nowrap; }
""" + _colours(RAMP, LINES, PAPER)
_DARK = (
    ":root { --paper: #111a25; --ink: #e6edf6; --faint: #93a4ba; --line: #223044; "
    "--holds: #35b8a8; --broken: #f0605d; }\n" + _colours(_DARK_RAMP, _DARK_LINES, _DARK_PAPER)
)
