"""A table's promise in words that a works council can read: what is exact and protected, and how far counts are off."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING

from louver.noise.bits import SYSTEM
from louver.privacy.rates import cases

if TYPE_CHECKING:
    from louver.table.plan import TablePlan

LEVEL = Fraction(19, 20)


def exact(plan: TablePlan) -> str:
    """What is published as it is, as a phrase."""
    what = "rows" if plan.of is None else plan.of
    by = plan.exact or ()
    total = f"the total of {what} by {' and '.join(by)}" if by else f"the grand total of {what}"
    if plan.kept is None:
        return total
    under = "" if plan.kept.keys is None else " under each key"
    return f"{total}, at most {plan.kept.rows:,} of each {' and '.join(plan.unit.columns)}{under}"


def short(phrase: str, most: int) -> str:
    """The phrase, or as much of it as fits, for a name that a digest tells apart from others."""
    return phrase if len(phrase) <= most else f"{phrase[: most - 3].rstrip()}..."


def cell(plan: TablePlan) -> str:
    return " and ".join(plan.domain.keys)


def promise(plan: TablePlan) -> str:
    """What is exact, how far counts are off, and what is counted."""
    said = []
    if plan.exact is not None:
        said.append(f"Published exactly, without any protection: {exact(plan)}.")
    off = plan.made(SYSTEM).reach(LEVEL)
    said.append(
        f"Each count by {cell(plan)} is within {off:,} of the truth, except in at most {cases(1 - LEVEL)}, and right "
        "on average: none is rounded or clipped, so a count can come out below 0."
    )
    if plan.totals:
        said.append(f"Totals by {', and by '.join(plan.totals)} are the sums of these counts.")
    said.append("Rows with other keys are not counted.")
    if plan.kept is not None:
        rows = "one row is" if plan.kept.rows == 1 else f"{plan.kept.rows:,} rows are"
        keys = "" if plan.kept.keys is None else f" under each of at most {plan.kept.keys:,} keys"
        said.append(
            f"Of {plan.unit.protected()}, at most {rows} counted{keys}, and errors caused by that are not covered."
        )
    return " ".join(said)


def protected(plan: TablePlan) -> str:
    """What is protected, as a sentence; beside exact totals that is less than the unit."""
    if plan.exact is None:
        return plan.unit.sentence()
    within = f"the same {' and '.join(plan.exact)}" if plan.exact else "the table"
    finer = " and ".join(key for key in plan.domain.keys if key not in plan.exact)
    unit = plan.unit.protected()
    return (
        f"Protected: {unit}, and of that only under which {finer} of {within} it is counted. Not protected: "
        f"{exact(plan)}, and so whether somebody is counted there at all."
    )


def warnings(plan: TablePlan) -> tuple[str, ...]:
    said = []
    alone = 0 if plan.groups is None else sum(1 for size in Counter(plan.groups).values() if size == 1)
    if alone:
        said.append(
            f"{alone:,} of the exact totals {'is' if alone == 1 else 'are'} of a single {cell(plan)}, whose count is "
            "published exactly and protects nobody."
        )
    if plan.kept is not None and plan.bound is None:
        said.append(
            "Nobody said how many rows of one unit count, so one does; give rows_per_unit if a unit may have more."
        )
    return tuple(said)
