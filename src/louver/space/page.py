"""A map as one HTML page: a slider for the threshold, lines around what is above it and what may be, contours, numbers.

Nothing comes from outside. All that the page needs is in it: released numbers only.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from hashlib import sha256
from html import escape

import numpy as np

from louver import parameters
from louver.space.evidence import Evidence
from louver.space.field import Floats
from louver.space.judged import MISS_RATE, Sheet
from louver.space.page_text import PAGE, SCRIPT
from louver.space.picture import ramp
from louver.space.released import Map

_POWERS = (0, 1, 0, 2, 0, 4)  # of a step: what each number of Evidence is measured in
_GAP = re.compile("@([A-Z]+)@")


def page(
    released: Map,
    threshold: parameters.Number,
    columns: int | None = None,
    *,
    miss_rate: parameters.Number = MISS_RATE,
    false_alarm_rate: parameters.Number | None = None,
    sure: parameters.Number = 3,
) -> str:
    """The map as an interactive page, which judges cells as `louver.space.judged` does."""
    sheet = Sheet.of(released, columns, sure=sure)
    judged = sheet.judge(threshold, miss_rate=miss_rate, false_alarm_rate=false_alarm_rate)
    bounds, about, quantity = released.bounds, released.about, sheet.quantity
    said = {
        "across": (sheet.across / sheet.across[-1]).tolist(),
        "along": (sheet.along / sheet.along[-1]).tolist(),
        "areas": _listed(sheet.areas),
        "own": None if sheet.own is None else sheet.own.ravel().tolist(),
        "aspect": bounds.aspect,
        "bounds": [bounds.west, bounds.south, bounds.east, bounds.north],
        "low": quantity.low,
        "high": quantity.high,
        "zero": quantity.zero,
        "threshold": judged.threshold,
        "miss_rate": float(judged.miss_rate),
        "false_alarm_rate": float(judged.false_alarm_rate),
        "names": [about.get("x", "x"), about.get("y", "y"), about.get("value", quantity.name)],
        "counted": released.counted,
        "ramp": ramp(),
        "averages": _listed(sheet.averages, 4),
        "errors": _listed(sheet.errors, 4),
        "counts": _listed(sheet.counts, 4),
        "step": quantity.step,
        "evidence": _evidence(sheet.evidence.widened(), quantity.step),
    }
    filled = {
        "NAME": escape(quantity.name),
        "TITLE": escape(f"Where the {'number of ' if released.alone else ''}{quantity.name} passes a threshold"),
        "OWN": "" if judged.are_own else f" What is shown is {escape(judged.promise)}.",
        "PROTECTED": escape(about.get("protected", "Each reading is protected.")),
        "PRICE": escape(released.paid),
        "SCRIPT": SCRIPT,
        "HASH": b64encode(sha256(SCRIPT.encode()).digest()).decode(),
        "DATA": json.dumps(said, separators=(",", ":")).replace("<", "\\u003c"),
    }
    # In one pass: a word that is filled in may look like a gap itself.
    return _GAP.sub(lambda gap: filled[gap[1]], PAGE)


def _evidence(evidence: Evidence, step: float) -> dict[str, list[float | None] | float]:
    """In units of the values; one number where it is that of every cell."""
    found: dict[str, list[float | None] | float] = {}
    for name, values, power in zip(Evidence._fields, evidence, _POWERS, strict=True):
        scaled = values * step**power
        found[name] = float(scaled.flat[0]) if np.ptp(scaled) == 0 else _listed(scaled)
    return found


def _listed(values: Floats, digits: int = 7) -> list[float | None]:
    """To so many digits; nothing where nobody is."""
    return [None if value != value else float(f"{value:.{digits}g}") for value in values.ravel().tolist()]
