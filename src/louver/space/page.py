"""A map as one HTML page: a slider for the threshold, the outline of what is above it, contours, numbers of each cell.

Nothing comes from outside. All that the page needs is in it: released numbers only.
"""

from __future__ import annotations

import json
from html import escape

import numpy as np

from louver import parameters
from louver.space.field import Floats
from louver.space.picture import CELLS, ramp, rows_for
from louver.space.recipient import cells
from louver.space.released import Map


def page(released: Map, threshold: parameters.Number, columns: int = CELLS, *, sure: parameters.Number = 3) -> str:
    """The map as an interactive page; its heatmap is that of the rule `mean`."""
    released.in_steps(threshold)  # says where it is outside the range
    rows = rows_for(released, columns)
    found = cells(released, columns, rows, sure=sure)
    bounds, about = released.bounds, released.about
    known = ~np.isnan(found.averages)
    said = {
        "columns": columns,
        "rows": rows,
        "aspect": bounds.aspect,
        "bounds": [bounds.west, bounds.south, bounds.east, bounds.north],
        "low": float(released.values.low),
        "high": float(released.values.high),
        "threshold": float(threshold),
        "names": [about.get("x", "x"), about.get("y", "y"), about.get("value", "value")],
        "ramp": ramp(),
        "averages": _listed(found.averages, known),
        "errors": _listed(found.errors, known),
        "counts": _listed(found.counts, known),
    }
    value = escape(about.get("value", "value"))
    protected = escape(about.get("protected", "Each reading is protected."))
    price = f"{float(released.price.epsilon):g}"
    data = json.dumps(said, separators=(",", ":")).replace("<", "\\u003c")
    filled = {"VALUE": value, "PROTECTED": protected, "PRICE": price, "DATA": data}
    text = _PAGE
    for name, words in filled.items():
        text = text.replace(f"@{name}@", words)
    return text


def _listed(values: Floats, known: np.ndarray) -> list[float | None]:
    """To four digits; nothing where nobody is."""
    kept = known.ravel().tolist()
    return [
        float(f"{value:.4g}") if there else None for value, there in zip(values.ravel().tolist(), kept, strict=True)
    ]


_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Map of @VALUE@</title>
<style>
:root { color-scheme: light dark; --paper: #ffffff; --ink: #1b2430; --faint: #5c6675; --empty: #e9ebef; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #14181f; --ink: #eef1f5; --faint: #9aa5b5; --empty: #262c36; }
}
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 760px; margin: 0 auto; padding: 24px 16px; }
h1 { font-size: 1.25rem; margin: 0 0 12px; }
.row { display: flex; gap: 12px; align-items: center; flex-wrap: wrap; }
input { accent-color: #b13f63; font: inherit; }
input[type="range"] { flex: 1; min-width: 160px; }
input[type="number"] { width: 6.5em; font-variant-numeric: tabular-nums; }
canvas { width: 100%; display: block; margin: 12px 0; border-radius: 4px; cursor: crosshair; }
#ramp { height: 10px; border-radius: 5px; }
.ends { display: flex; justify-content: space-between; }
.ends, footer { color: var(--faint); font-size: 0.875rem; }
#under { min-height: 1.5em; font-variant-numeric: tabular-nums; }
</style>
<main>
<h1>Where the average of @VALUE@ is above a threshold</h1>
<div class="row"><label for="slider">threshold</label> <input id="slider" type="range" step="any">
<input id="chosen" type="number" step="any" aria-label="threshold, as a number"></div>
<div class="row"><label><input id="contours" type="checkbox" checked> contours</label> <span id="levels"></span></div>
<p id="share" aria-live="polite"></p>
<canvas id="map" tabindex="0" role="img" aria-label="Map of the average of @VALUE@"></canvas>
<div id="ramp"></div>
<div class="ends"><span id="low"></span><span id="high"></span></div>
<p id="under">Point at a cell for its numbers.</p>
<footer><p>@PROTECTED@ Epsilon @PRICE@. Numbers are noisy; cells with too few readings to tell are grey.</p></footer>
</main>
<script id="data" type="application/json">@DATA@</script>
<script>
const map = JSON.parse(document.getElementById("data").textContent);
const at = id => document.getElementById(id);
const canvas = at("map"), slider = at("slider"), pen = canvas.getContext("2d");
const { columns, rows, low, high, ramp, averages, errors, counts, bounds, names } = map;
const known = averages.filter(each => each !== null).length;
const number = at("chosen"), contours = at("contours");
for (const each of [slider, number]) { each.min = low; each.max = high; each.value = map.threshold; }
at("low").textContent = low; at("high").textContent = high;
at("ramp").style.background = `linear-gradient(to right, ${ramp.join(",")})`;
const short = number => Number(number.toPrecision(4)).toString();
const style = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const colour = value => {
  const share = Math.min(Math.max((value - low) / (high - low), 0), 1);
  return ramp[Math.round(share * (ramp.length - 1))];
};
// Contours follow averages of neighbours, weighed by how well each is known, so that they follow less of the noise.
const near = [[0, 0, 4], [1, 0, 2], [-1, 0, 2], [0, 1, 2], [0, -1, 2], [1, 1, 1], [1, -1, 1], [-1, 1, 1], [-1, -1, 1]];
const smooth = averages.map((average, cell) => {
  if (average === null) return null;
  const column = cell % columns, row = (cell - column) / columns;
  let sum = 0, weights = 0;
  for (const [right, up, share] of near) {
    const x = column + right, y = row + up, other = y * columns + x;
    if (x < 0 || x >= columns || y < 0 || y >= rows || averages[other] === null) continue;
    const weight = share / Math.max(errors[other], 1e-9) ** 2;
    sum += weight * averages[other]; weights += weight;
  }
  return sum / weights;
});
// About five levels, a round number apart, and no closer than three standard errors: else they would follow noise.
const levels = [];
if (known) {
  const seen = smooth.filter(each => each !== null), least = Math.min(...seen), most = Math.max(...seen);
  const usual = errors.filter(each => each !== null).sort((one, other) => one - other)[known >> 1];
  const rough = Math.max((most - least) / 6, 3 * usual, (high - low) / 1000);
  const power = 10 ** Math.floor(Math.log10(rough));
  const apart = power * [1, 2, 5, 10].find(each => each * power >= rough);
  for (let each = (Math.floor(Math.max(least, low) / apart) + 1) * apart; each < most; each += apart) {
    levels.push(Number(each.toPrecision(12)));
  }
}
// Marching squares between the centres of cells; none where a corner has no average.
function contour(level, place) {
  const path = new Path2D();
  for (let row = 0; row + 1 < rows; row++) for (let column = 0; column + 1 < columns; column++) {
    const corners = [[0, 0], [1, 0], [1, 1], [0, 1]].map(([x, y]) => {
      const value = smooth[(row + y) * columns + column + x];
      return value === null ? null : [column + x + 0.5, row + y + 0.5, value - level];
    });
    if (corners.includes(null)) continue;
    const crossings = [];
    for (let side = 0; side < 4; side++) {
      const from = corners[side], to = corners[(side + 1) % 4];
      if (from[2] > 0 === to[2] > 0) continue;
      const share = from[2] / (from[2] - to[2]);
      crossings.push(place(from[0] + share * (to[0] - from[0]), from[1] + share * (to[1] - from[1])));
    }
    // A saddle has four: those beside each other belong together where the middle says so.
    const middle = corners.reduce((sum, each) => sum + each[2], 0);
    if (crossings.length === 4 && (middle > 0) !== (corners[0][2] > 0)) crossings.unshift(crossings.pop());
    for (let at = 0; at < crossings.length; at += 2) {
      path.moveTo(...crossings[at]); path.lineTo(...crossings[at + 1]);
    }
  }
  return path;
}
let chosen = null;
function draw() {
  const threshold = Number(slider.value), scale = window.devicePixelRatio || 1;
  const width = canvas.clientWidth, height = width / map.aspect;
  canvas.style.height = `${height}px`;
  canvas.width = Math.round(width * scale); canvas.height = Math.round(height * scale);
  const wide = canvas.width / columns, tall = canvas.height / rows;
  const above = (column, row) => column >= 0 && column < columns && row >= 0 && row < rows &&
    averages[row * columns + column] !== null && averages[row * columns + column] > threshold;
  pen.fillStyle = style("--empty");
  pen.fillRect(0, 0, canvas.width, canvas.height);
  let flagged = 0, clearly = 0;
  const line = new Path2D();
  for (let row = 0; row < rows; row++) for (let column = 0; column < columns; column++) {
    const average = averages[row * columns + column];
    const left = Math.round(column * wide), right = Math.round((column + 1) * wide);
    const top = Math.round((rows - 1 - row) * tall), bottom = Math.round((rows - row) * tall);
    if (average !== null) { pen.fillStyle = colour(average); pen.fillRect(left, top, right - left, bottom - top); }
    if (!above(column, row)) continue;
    flagged += 1;
    if (average - 2 * errors[row * columns + column] > threshold) clearly += 1;
    const side = (x0, y0, x1, y1) => { line.moveTo(x0, y0); line.lineTo(x1, y1); };
    if (!above(column - 1, row)) side(left, top, left, bottom);
    if (!above(column + 1, row)) side(right, top, right, bottom);
    if (!above(column, row + 1)) side(left, top, right, top);
    if (!above(column, row - 1)) side(left, bottom, right, bottom);
  }
  if (contours.checked) {
    pen.lineCap = "round"; pen.lineWidth = scale; pen.strokeStyle = "#1b2430"; pen.globalAlpha = 0.55;
    const place = (column, row) => [column * wide, (rows - row) * tall];
    for (const level of levels) pen.stroke(contour(level, place));
    pen.globalAlpha = 1;
  }
  pen.lineCap = "square";
  pen.lineWidth = 4 * scale; pen.strokeStyle = style("--paper"); pen.stroke(line);
  pen.lineWidth = 2 * scale; pen.strokeStyle = style("--ink"); pen.stroke(line);
  if (chosen) {
    pen.lineWidth = 2 * scale; pen.strokeStyle = style("--ink");
    pen.strokeRect(chosen.column * wide, (rows - 1 - chosen.row) * tall, wide, tall);
  }
  at("levels").textContent = !contours.checked ? "" :
    levels.length ? `at ${levels.map(short).join(", ")}, no closer than noise allows` : "none: noise is too large";
  at("share").textContent = `${flagged} of ${known} cells with readings are above ${short(threshold)}, ` +
    `${clearly} of them by more than two standard errors.`;
}
function tell() {
  const { column, row } = chosen, cell = row * columns + column;
  const middle = (start, end, number, count) => {
    const step = (end - start) / count, digits = 1 - Math.floor(Math.log10(step));
    return (start + (number + 0.5) * step).toFixed(Math.min(Math.max(digits, 0), 20));
  };
  const x = middle(bounds[0], bounds[2], column, columns), y = middle(bounds[1], bounds[3], row, rows);
  const place = `${names[0]} ${x}, ${names[1]} ${y}: `;
  at("under").textContent = place + (averages[cell] === null ? "too few to tell" :
    `${names[2]} ${short(averages[cell])} ± ${short(errors[cell])}, about ${Math.round(counts[cell])} readings`);
  draw();
}
function choose(column, row) {
  chosen = { column: Math.min(Math.max(column, 0), columns - 1), row: Math.min(Math.max(row, 0), rows - 1) };
  tell();
}
canvas.addEventListener("pointermove", event => choose(
  Math.floor(event.offsetX / canvas.clientWidth * columns),
  rows - 1 - Math.floor(event.offsetY / canvas.clientHeight * rows)));
canvas.addEventListener("pointerleave", () => { chosen = null; draw(); });
canvas.addEventListener("keydown", event => {
  const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
  const move = moves[event.key];
  if (!move) return;
  event.preventDefault();
  const from = chosen || { column: columns >> 1, row: rows >> 1 };
  choose(from.column + move[0], from.row + move[1]);
});
slider.addEventListener("input", () => { number.value = short(Number(slider.value)); draw(); });
number.addEventListener("input", () => {
  if (number.value !== "" && number.checkValidity()) { slider.value = number.value; draw(); }
});
contours.addEventListener("change", draw);
addEventListener("resize", draw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
draw();
</script>
</html>
"""
