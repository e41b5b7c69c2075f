"""What the plan of a map says to people: its promise, its rounds, and what it warns of."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from louver import parameters
from louver.privacy import Scope, Unit
from louver.space.expected import Expected, size

if TYPE_CHECKING:
    from louver.space.plan import MapPlan

USUAL = 10_000  # readings, where nobody says how many there are


@lru_cache(maxsize=8)  # whoever pays asks for it several times, and a map is grown for it
def promise(plan: MapPlan) -> str:
    return " ".join(_sentences(plan))


def rounds(plan: MapPlan) -> str:
    """The window that a round belongs to, with its price."""
    each, together = _price(plan.price.epsilon), _price(plan.together)
    return f"{plan.rounds:,} rounds, at epsilon {each} each and {together} for somebody who is in all of them"


def warnings(plan: MapPlan) -> Iterator[str]:
    if plan.kept is not None and plan.bound is None:
        yield "Nobody said how many rows of one unit count, so one does; give rows_per_unit if a unit may have more."
    if plan.rounds > 1 and plan.apart:
        named = dict(plan.scope.ranges)
        lasting = [column for column in plan.unit.columns if column not in named]
        instead = (
            f"; with the unit {Unit(*lasting)} and a cap of {_price(plan.together)} the ledger would" if lasting else ""
        )
        yield (
            "Rounds are charged apart, because the unit tells them apart, so nothing stops a round after the "
            f"{plan.rounds:,} that epsilon is for{instead}."
        )
    elif plan.rounds > 1 and plan.scope != Scope.everything():
        yield (
            "This round shares a day or slot of the unit with others, whose prices the ledger adds up there, so a cap "
            "must have room for all rounds of one; those of other days and slots are charged apart."
        )


def _sentences(plan: MapPlan) -> Iterator[str]:
    yield _cells(plan)
    located = plan.located
    columns = f"{', '.join(located.columns[:-1])} or {located.columns[-1]}"
    if located.outside == "clamp":
        yield f"Rows outside the area count at its nearest edge; those without a number in {columns} are left out."
    else:
        yield f"Rows outside the area, or without a number in {columns}, are left out."
    if located.value is not None:
        low, high = (parameters.short(edge) for edge in (located.values.low, located.values.high))
        yield f"Values are clamped to between {low} and {high}."
    if plan.rounds > 1:
        yield f"This is one of {rounds(plan)}; they are {_charged(plan)}."


def _charged(plan: MapPlan) -> str:
    if plan.apart:
        return "charged apart"
    if plan.scope == Scope.everything():
        return f"added up by the ledger, where a cap of {_price(plan.together)} stops a further one"
    return "added up by the ledger within one day or slot of the unit, and charged apart elsewhere"


def _cells(plan: MapPlan) -> str:
    expected = plan.expected()
    known = "are" if plan.readings is not None else "would be"
    if expected.grid is None:
        cells = f"{expected.cells:,} cells, mostly of"
    else:
        cells = f"{expected.grid[0]:,} x {expected.grid[1]:,} cells of"
    of_a_round = " of this round" if plan.rounds > 1 else ""
    return (
        f"With {expected.readings:,} readings{of_a_round}, spread evenly, there {known} about {cells} "
        f"{size(plan.located.bounds, expected.width, expected.height)} with {_number(expected.held)} readings each: "
        f"{_errors(plan, expected)}."
    )


def _errors(plan: MapPlan, expected: Expected) -> str:
    counts = f"a count is off by {expected.count_error:.3g} (one standard error)"
    if plan.located.value is None:
        return counts
    average = f"an average of {plan.located.value}"
    wrong, combined = expected.average_error, None
    if plan.rounds > 1:
        combined = plan.expected(combined=True).average_error
    if wrong is None:
        told = f"{average} tells nothing there, because epsilon is too small for so few"
    else:
        told = f"{average} is within {wrong:.3g} of the truth in 19 of 20 cells"
    if combined is not None:
        told += f"; after all {plan.rounds:,} rounds, combined, it is within {combined:.3g}"
    return f"{counts}, and {told}"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _price(epsilon: Fraction) -> str:
    """To four places, rounded up: what is said is never less than what is paid."""
    return f"{math.ceil(epsilon * 10_000) / 10_000:g}"
