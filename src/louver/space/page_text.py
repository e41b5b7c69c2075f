"""The page of a map: what `louver.space.page` fills in, and the script that draws it."""

from __future__ import annotations

PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
content="default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-@HASH@'">
<title>Map: @NAME@</title>
<style>
:root { color-scheme: light dark; --paper: #ffffff; --ink: #1b2430; --faint: #5c6675; --empty: #e9ebef; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #14181f; --ink: #eef1f5; --faint: #9aa5b5; --empty: #262c36; }
}
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 760px; margin: 0 auto; padding: 16px; }
h1 { font-size: 1.25rem; margin: 0 0 8px; }
.row { display: flex; gap: 4px 12px; align-items: center; flex-wrap: wrap; }
input { accent-color: #b13f63; font: inherit; }
input[type="range"] { flex: 1; min-width: 160px; }
input[type="number"] { width: 4.5em; font-variant-numeric: tabular-nums; }
canvas { display: block; margin: 8px auto; border-radius: 4px; cursor: crosshair; }
#ramp { height: 10px; border-radius: 5px; }
.ends { display: flex; justify-content: space-between; }
.ends, footer { color: var(--faint); font-size: 0.875rem; }
p { margin: 8px 0; }
#under { min-height: 3em; font-variant-numeric: tabular-nums; }
</style>
<main>
<h1>@TITLE@</h1>
<div class="row"><label for="slider">threshold</label> <input id="slider" type="range" step="any">
<input id="chosen" type="number" step="any" aria-label="threshold, as a number"></div>
<div class="row">
<label title="how often a cell that is above may be shown as below">miss rate <input id="misses" type="number"
min="0.1" max="49" step="any"> %</label>
<label title="how often one that is not above may be shown as above">false-alarm rate <input id="alarms" type="number"
min="0.1" max="49" step="any"> %</label>
<label><input id="contours" type="checkbox" checked> contours</label> <span id="levels"></span></div>
<p id="share" aria-live="polite"></p>
<p id="under">Point at a cell, or tap it, for its numbers.</p>
<canvas id="map" tabindex="0" role="img" aria-label="Map of @NAME@"></canvas>
<div id="ramp"></div>
<div class="ends"><span id="low"></span><span id="high"></span></div>
<footer><p>Firm line: clearly above the threshold. Dashed and hatched: may be above or below. Each cell is judged by
itself. Cells with too few readings to tell have no colour. Numbers are noisy; ± is one standard error.@OWN@</p>
<p>@PROTECTED@ Price: @PRICE@.</p></footer>
</main>
<script id="data" type="application/json">@DATA@</script>
<script>@SCRIPT@</script>
</html>
"""

SCRIPT = """
const map = JSON.parse(document.getElementById("data").textContent);
const at = id => document.getElementById(id);
const canvas = at("map"), slider = at("slider"), pen = canvas.getContext("2d");
const { across, along, low, high, ramp, averages, errors, bounds, names, own, areas, evidence } = map;
const columns = across.length - 1, rows = along.length - 1;
const known = averages.filter(each => each !== null).length;
const number = at("chosen"), contours = at("contours"), misses = at("misses"), alarms = at("alarms");
for (const each of [slider, number]) { each.min = low; each.max = high; each.value = map.threshold; }
misses.value = 100 * map.miss_rate; alarms.value = 100 * map.false_alarm_rate;
at("low").textContent = low; at("high").textContent = high;
at("ramp").style.background = `linear-gradient(to right, ${ramp.join(",")})`;
const short = number => Number(number.toPrecision(4)).toString();
const style = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
// How probable it is that a cell is above a threshold, and the tail that judges it, as louver.space.evidence has them.
const of = (name, cell) => Array.isArray(evidence[name]) ? evidence[name][cell] : evidence[name];
function tails(size, heavy) {
  // Abramowitz and Stegun 7.1.26, right to seven places.
  const part = 1 / (1 + 0.3275911 * size / Math.SQRT2);
  const polynomial = [1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592]
    .reduce((sum, each) => (sum + each) * part, 0);
  const normal = polynomial * Math.exp(-size * size / 2) / 2;
  return [heavy * Math.exp(-Math.SQRT2 * size) / 2 + (1 - heavy) * normal, normal];
}
function chances(cell, threshold) {
  const level = threshold - map.zero, fine = of("sum_squares", cell), coarse = of("count_squares", cell);
  const square = fine + level ** 2 * coarse, error = Math.sqrt(square);
  const heavy = (of("sum_fourths", cell) + level ** 4 * of("count_fourths", cell)) / square ** 2;
  const left = coarse ? level ** 2 / (level ** 2 + 2 * Math.PI ** 2 * fine) : 0;
  const distance = of("sums", cell) - level * of("counts", cell), above = distance > 0;
  const [doubt] = tails(Math.abs(distance) / error, heavy);
  const nearer = Math.max(Math.abs(distance) - (map.step + Math.abs(level) * left) / 2, 0);
  return { above, probability: above ? 1 - doubt : doubt, tail: Math.max(...tails(nearer / error, heavy)) };
}
const hatch = document.createElement("canvas");
hatch.width = hatch.height = 10;
{
  const line = hatch.getContext("2d");
  line.strokeStyle = "#5c6675"; line.lineWidth = 1.5;
  for (const shift of [-10, 0, 10]) { line.moveTo(shift - 1, 11); line.lineTo(shift + 11, -1); }
  line.stroke();
}
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
  const width = Math.min(canvas.parentElement.clientWidth - 32, Math.max(240, 0.58 * innerHeight) * map.aspect);
  const height = width / map.aspect;
  canvas.style.width = `${width}px`; canvas.style.height = `${height}px`;
  canvas.width = Math.round(width * scale); canvas.height = Math.round(height * scale);
  const x = across.map(each => Math.round(each * canvas.width));
  const y = along.map(each => Math.round((1 - each) * canvas.height));
  // A fifth less where the law above may be wrong by as much, as louver.space.judged does.
  const cautious = rate => rate >= 0.05 ? rate : 0.8 * rate;
  const missed = cautious(Number(misses.value) / 100), alarmed = cautious(Number(alarms.value) / 100);
  const kinds = averages.map((average, cell) => {
    if (average === null) return "unknown";
    const { above, tail } = chances(cell, threshold);
    return tail > (above ? alarmed : missed) ? "maybe" : above ? "above" : "below";
  });
  const borders = inside => {
    const path = new Path2D(), side = (x0, y0, x1, y1) => { path.moveTo(x0, y0); path.lineTo(x1, y1); };
    const is = (column, row) =>
      column >= 0 && column < columns && row >= 0 && row < rows && inside(row * columns + column);
    for (let row = 0; row < rows; row++) for (let column = 0; column < columns; column++) {
      if (!is(column, row)) continue;
      if (!is(column - 1, row)) side(x[column], y[row], x[column], y[row + 1]);
      if (!is(column + 1, row)) side(x[column + 1], y[row], x[column + 1], y[row + 1]);
      if (!is(column, row + 1)) side(x[column], y[row + 1], x[column + 1], y[row + 1]);
      if (!is(column, row - 1)) side(x[column], y[row], x[column + 1], y[row]);
    }
    return path;
  };
  pen.fillStyle = style("--empty");
  pen.fillRect(0, 0, canvas.width, canvas.height);
  const parts = { above: 0, maybe: 0, below: 0, unknown: 0 };
  kinds.forEach((kind, cell) => {
    const column = cell % columns, row = (cell - column) / columns;
    parts[kind] += areas[cell];
    if (averages[cell] === null) return;
    const box = [x[column], y[row + 1], x[column + 1] - x[column], y[row] - y[row + 1]];
    pen.fillStyle = colour(averages[cell]); pen.fillRect(...box);
    if (kind === "maybe") { pen.fillStyle = pen.createPattern(hatch, "repeat"); pen.fillRect(...box); }
  });
  if (contours.checked) {
    pen.lineCap = "round"; pen.lineWidth = scale; pen.strokeStyle = "#1b2430"; pen.globalAlpha = 0.55;
    const between = (lines, place) => {
      const first = Math.min(Math.floor(place - 0.5), lines.length - 3), part = place - 0.5 - first;
      const centre = index => (lines[index] + lines[index + 1]) / 2;
      return centre(first) + part * (centre(first + 1) - centre(first));
    };
    for (const level of levels) pen.stroke(contour(level, (column, row) => [between(x, column), between(y, row)]));
    pen.globalAlpha = 1;
  }
  const line = (path, thick, dashes, back) => {
    pen.lineCap = "square";
    pen.setLineDash([]);
    if (back) { pen.lineWidth = (thick + 2) * scale; pen.strokeStyle = style("--paper"); pen.stroke(path); }
    pen.setLineDash(dashes.map(each => each * scale));
    pen.lineWidth = thick * scale; pen.strokeStyle = style("--ink"); pen.stroke(path);
    pen.setLineDash([]);
  };
  line(borders(cell => kinds[cell] === "above" || kinds[cell] === "maybe"), 1.5, [3, 5], false);
  line(borders(cell => kinds[cell] === "above"), 2.5, [], true);
  if (chosen) {
    const here = chosen.row * columns + chosen.column;
    line(borders(cell => own ? own[cell] === own[here] : cell === here), 2, [], false);
  }
  at("levels").textContent = !contours.checked ? "" :
    levels.length ? `at ${levels.map(short).join(", ")}, no closer than noise allows` : "none: noise is too large";
  const per = part => `${Number((100 * part).toPrecision(2))}%`;
  at("share").textContent = `Above ${short(threshold)}: ${per(parts.above)} of the area. Maybe: ${per(parts.maybe)}. ` +
    `Below: ${per(parts.below)}. Too few to tell: ${per(parts.unknown)}.`;
}
function tell() {
  const { column, row } = chosen, cell = row * columns + column;
  const middle = (start, end, lines, number) => {
    const step = (end - start) * (lines[number + 1] - lines[number]), digits = 1 - Math.floor(Math.log10(step));
    const place = start + (end - start) * (lines[number] + lines[number + 1]) / 2;
    return place.toFixed(Math.min(Math.max(digits, 0), 20));
  };
  const place = `${names[0]} ${middle(bounds[0], bounds[2], across, column)}, ` +
    `${names[1]} ${middle(bounds[1], bounds[3], along, row)}: `;
  const readings = own ? `, about ${Math.round(map.counts[cell])} ${map.counted}` : "";
  const threshold = Number(slider.value), sure = chances(cell, threshold).probability.toFixed(3);
  at("under").textContent = place + (averages[cell] === null ? "too few to tell" :
    `${names[2]} ${short(averages[cell])} ± ${Number(errors[cell].toPrecision(2))}${readings}; ` +
    `above ${short(threshold)} with probability ${sure}`);
  draw();
}
function choose(column, row) {
  chosen = { column: Math.min(Math.max(column, 0), columns - 1), row: Math.min(Math.max(row, 0), rows - 1) };
  tell();
}
const under = (lines, place) => lines.findLastIndex(each => each <= place);
const pointed = event => choose(
  under(across, event.offsetX / canvas.clientWidth), under(along, 1 - event.offsetY / canvas.clientHeight));
canvas.addEventListener("pointermove", pointed);
canvas.addEventListener("pointerdown", pointed);
canvas.addEventListener("pointerleave", event => {
  if (event.pointerType === "mouse") { chosen = null; draw(); }
});
canvas.addEventListener("keydown", event => {
  const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
  const move = moves[event.key];
  if (!move) return;
  event.preventDefault();
  const from = chosen || { column: columns >> 1, row: rows >> 1 };
  choose(from.column + move[0], from.row + move[1]);
});
const again = () => chosen ? tell() : draw();
slider.addEventListener("input", () => { number.value = short(Number(slider.value)); again(); });
number.addEventListener("input", () => {
  if (number.value !== "" && number.checkValidity()) { slider.value = number.value; again(); }
});
for (const each of [misses, alarms]) each.addEventListener("input", () => {
  if (each.value !== "" && each.checkValidity()) draw();
});
contours.addEventListener("change", draw);
addEventListener("resize", draw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
draw();
"""
