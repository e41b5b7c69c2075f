"""One day of fine dust as maps: the truth beside what is released, for averages above 55 and above 80.

`python -m bench.maps_plot OUT.svg FILE.parquet [DAY]`: FILE has columns time, lat, lon and pm25, as for `bench.maps`.
"""

from __future__ import annotations

import sys
from html import escape
from pathlib import Path

import duckdb
import numpy as np

from bench.maps import AREA, truth_of
from louver.space.cut import Cut, count_share_for
from louver.space.field import Field
from louver.space.metrics import jaccard
from louver.space.picture import EMPTY, INK, PAPER, Drawn, panel
from louver.space.recipient import cells, heatmap

SHAPE, HIGH, EPSILON = (22, 37), 150, 1
PANEL, GAP, TOP = 200, 24, 44


def main() -> None:
    if not 3 <= len(sys.argv) <= 4:
        sys.exit("usage: python -m bench.maps_plot OUT.svg FILE.parquet [DAY]")
    out, path, day = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 10
    query = "SELECT lon, lat, pm25 FROM read_parquet(?) WHERE lat BETWEEN 21.8 AND 25.5 AND day(time) = ?"
    found = duckdb.execute(query, [path, day]).fetchnumpy()
    x, y, dust = (np.asarray(found[name]).astype(np.float64) for name in ("lon", "lat", "pm25"))
    averages = truth_of(x, y, dust)
    field = Field.of(x, y, dust, AREA, high=HIGH)
    rows = []
    for threshold in (55, 80):
        released = Cut(EPSILON, readings=12_000, count_share=count_share_for(threshold, high=HIGH)).release(field)
        truth = Drawn(released, threshold, averages, np.nan_to_num(averages) > threshold)
        shown = [("the truth", truth)]
        for rule, name in (("mean", "released, by averages"), ("cut", "released, by outline")):
            flags = heatmap(released, threshold, *SHAPE, rule=rule)
            drawn = Drawn(released, threshold, cells(released, *SHAPE).averages, flags)
            shown.append((f"{name}: {jaccard(truth.flags, drawn.flags):.2f}", drawn))
        rows.append((f"above {threshold}", shown))
    out.write_text(picture(rows), encoding="utf-8")
    for name, shown in rows:
        print(name, *(f"{title} ({int(drawn.flags.sum())} cells)" for title, drawn in shown), sep="; ")


def picture(rows: list[tuple[str, list[tuple[str, Drawn]]]]) -> str:
    parts, down, high = [], 0.0, 0.0
    for name, shown in rows:
        for column, (title, drawn) in enumerate(shown):
            content, high = panel(drawn, PANEL)
            left = GAP + column * (PANEL + GAP)
            parts += [
                f'<text x="{left}" y="{down + 20:.0f}" font-weight="600">{escape(name) if column == 0 else ""}</text>',
                f'<text x="{left}" y="{down + 36:.0f}">{escape(title)}</text>',
                f'<g transform="translate({left} {down + TOP:.0f})">{content}</g>',
            ]
        down += TOP + high + GAP
    width = GAP + len(rows[0][1]) * (PANEL + GAP)
    parts.append(f'<rect x="{GAP}" y="{down:.0f}" width="10" height="10" fill="{EMPTY}" stroke="{INK}"/>')
    parts.append(f'<text x="{GAP + 16}" y="{down + 10:.0f}">nobody there, or too few to tell</text>')
    label = "Fine dust in Taiwan on one day: where its average is above 55 and above 80, the truth and two releases"
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {down + 24:.0f}" width="{width}" role="img" '
        f'aria-label="{label}" font-family="system-ui, sans-serif" font-size="12" fill="{INK}">\n'
        f'<rect width="100%" height="100%" fill="{PAPER}"/>\n{body}\n</svg>\n'
    )


if __name__ == "__main__":
    main()
