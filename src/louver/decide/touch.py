"""By how much one unit moves the margins of one look, and how often it pays.

Neighbours differ in all rows of one unit, of which only so many count as the bound allows. One *touch* moves the margin
of one key by at most `step`; a unit touches at most `times` keys' margins. Margins are aligned to steps, so that one
touch moves one aligned margin by 1 and costs e, and one unit costs times * e.

- The unit fixes all key columns, or is the row, or the only key is the total: its rows have one key. Once, by what all
  its rows that count weigh.
- Bound(rows=m): at most m rows in all, under whatever keys. m times, by what one row weighs.
- Bound(rows=r, keys=q): at most q keys with r rows each. q times, by what r rows weigh; coarser keys likewise, because
  those q parts may fall together.
- Different values of a column that the unit fixes: one unit adds one value to a key, however many rows it has there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from louver.decide.margins import Margin
from louver.errors import ParameterError
from louver.privacy import Unit
from louver.privacy.calibrate.oneshot import LARGEST_SLACK
from louver.source.measures import DISTINCT, Bound


@dataclass(frozen=True, slots=True)
class Touch:
    step: int
    times: int


def touch(unit: Unit, bound: Bound | None, columns: Sequence[str], finest: Sequence[str], margin: Margin) -> Touch:
    """The touch of a margin over keys of these columns; `finest` are those of the keys that the bound speaks of."""
    limits = bound or Bound()
    if unit.is_row:
        rows, times = 1, 1
    elif _all_fixed(unit, columns):
        parts = 1 if limits.keys is None or _all_fixed(unit, finest) else limits.keys
        rows, times = parts * limits.rows, 1
    elif limits.keys is None:
        rows, times = 1, limits.rows
    else:
        rows, times = limits.rows, limits.keys
    step = rows * margin.row_weight
    if _one_value_each(unit, margin):
        values = sum(abs(term.coefficients[0]) for term in margin.terms)
        # Where nothing is bounded, rows of one unit may be in every term, also in terms that no single row shares.
        step = values if no_bound_needed(unit, margin, columns) else min(step, values)
    if step > LARGEST_SLACK:
        raise ParameterError(
            "One unit can move this aggregate by too many steps; declare tighter bounds or a larger step."
        )
    return Touch(step, times)


def no_bound_needed(unit: Unit, margin: Margin, columns: Sequence[str]) -> bool:
    """Whether one unit cannot weigh more than a bound would let it."""
    return unit.is_row or (_all_fixed(unit, columns) and _one_value_each(unit, margin))


def _all_fixed(unit: Unit, columns: Sequence[str]) -> bool:
    """Whether one unit's rows have one key; without columns there is only one."""
    return all(unit.fixes(column) for column in columns)


def _one_value_each(unit: Unit, margin: Margin) -> bool:
    return all(each.kind == DISTINCT and unit.fixes(each.column or "") for each in margin.measures)
