"""What would fit a smaller budget: more misses, more slack, and whether the same could be asked of other keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from louver.decide.program import comparisons
from louver.decide.words import number
from louver.privacy import Between
from louver.question import nodes
from louver.question.nodes import Condition, Threshold
from louver.source.domain import Domain
from louver.source.filters import point_range

if TYPE_CHECKING:
    from louver.decide.decision import Decision

LARGEST_SLACK = 2**40
# Of two digits, from 1.1 to 10**9: by how much several slacks are widened together.
FACTORS = [Fraction(digits * 10**power, 10) for power in range(9) for digits in range(10 if power else 11, 100)]


def cheaper(plan: Decision, price: Fraction) -> Iterator[str]:
    """The smallest miss rate at these slacks, and the smallest slacks at this miss rate, that fit the price."""
    from louver.decide.decision import fits, least, short_rates

    together = plan.false_alarm_rate == plan.miss_rate

    def by_rate(rate: Fraction) -> bool:
        return fits(plan, price, miss_rate=rate, false_alarm_rate=rate if together else plan.false_alarm_rate)

    if (rate := least(short_rates(above=plan.miss_rate), by_rate)) is not None:
        yield f"a miss rate of {float(rate):.2g}"
    own = any(each.slack is not None for each in comparisons(plan.question.condition))
    if not own and len(set(plan.slack)) == 1:
        slack = least_length(plan.slack[0], lambda slack: fits(plan, price, slack=(slack,)))
        if slack is not None:
            yield f"a slack of {number(slack)}{_aside(plan, slack)}"
        return
    factor = least(FACTORS, lambda factor: fits(plan, price, **_widened(plan, factor, own=own)))
    if factor is not None and own:
        yield f"every slack {number(factor)} times as wide"
    elif factor is not None:
        yield f"slacks of {', '.join(number(each * factor) for each in plan.slack)}"


def least_length(above: Fraction, suffices: Callable[[Fraction], bool]) -> Fraction | None:
    """The smallest whole length above one that suffices, where all longer ones do as well; found by doubling."""
    short, far = int(above), int(above) + 1
    while not suffices(Fraction(far)):
        if far == LARGEST_SLACK:
            return None
        short, far = far, min(2 * far, LARGEST_SLACK)
    while far - short > 1:
        middle = (short + far) // 2
        short, far = (short, middle) if suffices(Fraction(middle)) else (middle, far)
    return Fraction(far)


def has_keys_in(domain: Domain, column: str, moved: Between) -> bool:
    """Whether a question may be moved along a column: anywhere by a column that is no key, else within the domain."""
    if column not in domain.keys:
        return True
    ranges = [point_range(value) for value in set(domain.column(column))]  # type: ignore[arg-type]
    inside: list[Any] = [each.end for each in ranges if isinstance(each, Between) and each.start >= moved.start]  # type: ignore[operator]
    return bool(inside) and bool(max(inside) >= moved.end)


def _widened(plan: Decision, factor: Fraction, *, own: bool) -> dict[str, Any]:
    widened: dict[str, Any] = {"slack": tuple(each * factor for each in plan.slack)}
    if own:
        widened["question"] = replace(plan.question, condition=_condition(plan.question.condition, factor))
    return widened


def _condition(given: Condition, factor: Fraction) -> Condition:
    if isinstance(given, nodes.Comparison):
        return given if given.slack is None else replace(given, slack=given.slack * factor)
    if isinstance(given, nodes.Not):
        return nodes.Not(_condition(given.part, factor))
    return replace(given, parts=tuple(_condition(part, factor) for part in given.parts))


def _aside(plan: Decision, slack: Fraction) -> str:
    """Past the largest threshold no count is far enough below it to be safe from a false alarm."""
    if len(plan.program.leaves) > 1:
        return ""
    (leaf,) = plan.program.leaves
    counted = leaf.comparison.left.kind in (nodes.COUNT, nodes.COUNT_DISTINCT)
    rising = leaf.comparison.sign in (">", ">=") and isinstance(leaf.comparison.right, Threshold)
    if counted and rising and slack > max(-offset for offset in leaf.margin.offsets):
        return ", at which any key may be flagged"
    return ""
