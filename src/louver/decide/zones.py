"""Where the promise holds for each key: the zones of an answer, ready to be drawn. Made from released facts only.

For a comparison each key has three zones of its aggregate: beyond the threshold, where misses are rare; the slack,
where either answer may come; and the rest, where false alarms are rare. For classes each key has a zone for every
class, the one that it was put in and others, with the slack of a threshold between two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from louver.decide import words
from louver.decide.bands import Bands
from louver.decide.margins import PLAIN
from louver.decide.program import Leaf
from louver.decide.within import Within
from louver.question.nodes import Threshold

FOUND, FREE, QUIET = "found", "free", "quiet"
MOST_ROWS = 40
MOST_PANELS = 8


@dataclass(frozen=True, slots=True)
class Row:
    """One key: whether it stands out in the answer, its zones as (start, end, kind), and a value with its distance."""

    label: str
    marked: bool
    zones: tuple[tuple[float, float, str], ...] = ()
    value: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Legend:
    """What the kinds of zones mean, and what a mark beside a key does, if there are any."""

    zones: tuple[tuple[str, str], ...]
    mark: str | None = None


OF_COMPARISONS = Legend(
    ((FOUND, "beyond its threshold"), (FREE, "slack: either may happen"), (QUIET, "false alarms are rare")), "flagged"
)
OF_CLASSES = Legend(((FOUND, "the class it was put in"), (FREE, "slack: either class"), (QUIET, "other classes")))


@dataclass(frozen=True, slots=True)
class Panel:
    """The rows of one comparison or aggregate, on one axis; released numbers need no legend."""

    title: str
    low: float
    high: float
    rows: tuple[Row, ...]
    left_out: int
    legend: Legend | None = None


def panels(plan: Any, answer: Mapping[str, Any]) -> list[Panel]:
    """What to draw of an answer: at most so many keys, those that stand out first."""
    if isinstance(plan, Within):
        return [_numbers(plan, answer["values"][at], at) for at in range(len(plan.wanted))][:MOST_PANELS]
    keys = plan.program.keys.values
    if isinstance(plan, Bands):
        lowest = plan.classes.names[0]
        labels = [f"{label(key)}: {name}" for key, name in zip(keys, answer["classes"], strict=True)]
        chosen = _chosen([name != lowest for name in answer["classes"]])
        return [_bands(plan, labels, [plan.classes.names.index(name) for name in answer["classes"]], chosen)]
    flagged = {_hashable(key) for key in answer["flagged"]}
    marked = [_hashable(words.plain_key(key)) in flagged for key in keys]
    chosen = _chosen(marked)
    return [_comparison(plan, leaf, marked, chosen) for leaf in plan.program.leaves[:MOST_PANELS]]


def label(key: Sequence[object]) -> str:
    return ", ".join(map(str, key)) or "all rows"


def _comparison(plan: Any, leaf: Leaf, marked: Sequence[bool], chosen: Sequence[int]) -> Panel:
    thresholds, up, title = _thresholds(plan, leaf)
    slack = float(leaf.slack * leaf.margin.step)
    low, high = _ends([thresholds[at] for at in chosen], slack)
    rows = []
    for at in chosen:
        edge = thresholds[at]
        start, end = (edge - slack, edge) if up else (edge, edge + slack)
        kinds = (QUIET, FREE, FOUND) if up else (FOUND, FREE, QUIET)
        spans = ((low, start), (start, end), (end, high))
        zones = tuple((*span, kind) for span, kind in zip(spans, kinds, strict=True) if span[0] < span[1])
        rows.append(Row(label(plan.program.keys.values[at]), marked[at], zones))
    return Panel(title, low, high, tuple(rows), len(marked) - len(chosen), OF_COMPARISONS)


def _bands(plan: Bands, labels: Sequence[str], classes: Sequence[int], chosen: Sequence[int]) -> Panel:
    cuts = [_thresholds(plan, leaf)[0] for leaf in plan.program.leaves]
    slack = float(min(leaf.slack * leaf.margin.step for leaf in plan.program.leaves))
    low, high = _ends([cut[at] for cut in cuts for at in chosen], slack)
    rows = []
    for at in chosen:
        zones: list[tuple[float, float, str]] = []
        start = low
        kinds = [FOUND if number == classes[at] else QUIET for number in range(len(cuts) + 1)]
        for cut, kind in zip(cuts, kinds, strict=False):
            near = max(start, cut[at] - slack)
            zones += [(start, near, kind), (near, cut[at], FREE)]
            start = cut[at]
        shown = tuple(zone for zone in [*zones, (start, high, kinds[-1])] if zone[0] < zone[1])
        rows.append(Row(labels[at], marked=False, zones=shown))
    title = f"{words.aggregate_phrase(plan.classes.aggregate)}: {', '.join(plan.classes.names)}"
    return Panel(title, low, high, tuple(rows), len(labels) - len(chosen), OF_CLASSES)


def _numbers(plan: Within, values: Sequence[float], at: int) -> Panel:
    wanted = plan.wanted[at]
    distance = float(wanted.distance * wanted.margin.step)
    keys = plan.reading.keys[wanted.keys].values
    largest = sorted(range(len(keys)), key=lambda number: -values[number])[:MOST_ROWS]
    low = min([0.0, *(values[number] - distance for number in largest)])
    high = max([low + 1.0, *(values[number] + distance for number in largest)])
    rows = tuple(Row(label(keys[number]), False, value=(values[number], distance)) for number in largest)
    title = (
        f"{words.aggregate_phrase(wanted.aggregate)}, each within {words.number(wanted.distance * wanted.margin.step)}"
    )
    return Panel(title, low, high, rows, len(keys) - len(rows))


def _thresholds(plan: Any, leaf: Leaf) -> tuple[list[float], bool, str]:
    """For each key of the question where its threshold is, whether keys beyond it are those above, and the axis."""
    comparison, sign = leaf.comparison, leaf.comparison.sign
    noun = words.aggregate_phrase(comparison.left)
    count = len(plan.program.keys)
    if comparison.left.kind not in PLAIN or not isinstance(comparison.right, Threshold):
        return [0.0] * count, True, f"{noun}: how far beyond its threshold"
    up = sign in (">", ">=")
    offsets = np.broadcast_to(leaf.margin.offsets, len(plan.reading.keys[leaf.keys]))
    edges = (-offsets if up else offsets)[plan.program.positions[leaf.keys]] * float(leaf.margin.step)
    return edges.astype(float).tolist(), up, f"{noun} {sign} {_right(comparison.right)}"


def _right(threshold: Threshold) -> str:
    if threshold.column is None:
        return words.number(threshold.constant)
    factor = "" if threshold.factor == 1 else f"{words.number(threshold.factor)} * "
    plus = f" + {words.number(threshold.constant)}" if threshold.constant else ""
    return f"{factor}{threshold.column}{plus}"


def _ends(edges: Sequence[float], slack: float) -> tuple[float, float]:
    """An axis around all thresholds, with 0 on it and some room beyond."""
    low, high = min([0.0, *edges]), max([0.0, *edges])
    room = max(2 * slack, (high - low) / 4, 1.0)
    return (low - room if low < 0 or low == high else low), high + room


def _chosen(marked: Sequence[bool]) -> list[int]:
    first = [at for at, is_marked in enumerate(marked) if is_marked][:MOST_ROWS]
    rest = [at for at, is_marked in enumerate(marked) if not is_marked][: MOST_ROWS - len(first)]
    return first + rest


def _hashable(key: Any) -> Any:
    return tuple(key) if isinstance(key, list) else key
