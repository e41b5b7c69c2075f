"""What a reader should know before paying: warnings beside the promise, and questions that would tell nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from louver.decide import tree, words
from louver.decide.margins import Margin
from louver.decide.program import Leaf, aggregates, comparisons
from louver.decide.shown import one, sure, up
from louver.decide.touch import Touch
from louver.errors import ParameterError
from louver.privacy import largest_total
from louver.question import nodes
from louver.question.nodes import Against, Aggregate, Classes, Condition, Values
from louver.source import filters
from louver.source.domain_columns import shown
from louver.source.measures import Keys, KeyValue
from louver.source.names import instead_of

if TYPE_CHECKING:
    from louver.decide.decision import Decision
    from louver.decide.within import Within

KEYS_NAMED = 3
DEAR = 5  # even odds can become 99.3%
MANY_ROWS = 1000
# A slack or a distance, how many steps it has, and what is compared or released.
_Move: TypeAlias = "tuple[str, int, Aggregate, Margin, Touch]"
_OF_ROWS = (nodes.MIN, nodes.MAX, nodes.MEDIAN)


def of_decision(plan: Decision) -> tuple[str, ...]:
    leaves = plan.program.leaves
    asked = [aggregate for leaf in leaves for aggregate in aggregates(leaf.comparison)]
    moves = [
        ("slack", leaf.slack, leaf.comparison.left, leaf.margin, plan.program.looks[leaf.look].touch) for leaf in leaves
    ]
    return (
        *_slacks(plan),
        *_near_without_rows(plan),
        *_met_without_rows(plan),
        *_of_both(plan, moves),
        *_unknown(asked, listed_keys(plan)),
    )


def of_numbers(plan: Within) -> tuple[str, ...]:
    asked = [each.aggregate for each in plan.wanted]
    distances = plan.distance * (len(asked) if len(plan.distance) == 1 else 1)
    steps = zip(plan.wanted, distances, strict=True)
    moved = [_taken_as("distance", distance, each.margin.step, each.aggregate) for each, distance in steps]
    moves = [("distance", each.distance, each.aggregate, each.margin, each.touch) for each in plan.wanted]
    return (*_once(moved), *_of_both(plan, moves), *_unknown(asked, listed_keys(plan)))


def _of_both(plan: Decision | Within, moves: Sequence[_Move]) -> Iterator[str]:
    """What conditions and numbers are warned of alike."""
    if plan.bound is None and plan.reading.bound is not None:
        yield (
            f"Of each {plan.unit} one row is counted, because nothing says how many rows one can have; say it with "
            "rows_per_unit."
        )
    yield from _once([_less_than_one_unit(plan, *each) for each in moves])
    yield from _clamped(plan, moves)
    price = largest_total(plan.worst).price
    if price > DEAR:
        yield (
            f"A price of epsilon {up(price)} hides little: even odds that {one(plan.unit)} is in the data can become "
            f"{sure(price)}."
        )


def _less_than_one_unit(
    plan: Decision | Within, what: str, given: int, aggregate: Aggregate, margin: Margin, touch: Touch
) -> str | None:
    """A slack that one unit alone can cross buys nothing."""
    if not 0 < given < touch.step:
        return None
    near, moved = (words.number(steps * margin.step) for steps in (given, touch.step))
    noun = "row" if plan.unit.is_row else str(plan.unit)
    return (
        f"A {what} of {near} is less than the {moved} by which one {noun} can move the "
        f"{words.aggregate_phrase(aggregate)}, so that the price is high; take more, or tighter bounds."
    )


def refuse_what_tells_nothing(plan: Decision | Within) -> None:
    """Refuses filters that no key can meet, and a slack that leaves nothing of `<>`."""
    if isinstance(plan.question, Values):
        asked = list(plan.question.aggregates)
    else:
        asked = [aggregate for each in comparisons(plan.question.condition) for aggregate in aggregates(each)]
        _refuse_unequal(plan.question.condition, plan.program.leaves)
    if any(filters.conjuncts(each.where) for each in asked):
        _refuse_unmet(asked, listed_keys(plan))


def listed_keys(plan: Decision | Within) -> Keys:
    """All keys of the domain, also those that the question's WHERE leaves out."""
    return plan.domain.listed(plan.question.keys)[0]


def _refuse_unmet(asked: Sequence[Aggregate], keys: Keys) -> None:
    from louver.decide.met import can_be_met

    if any(can_be_met(each.where, keys) for each in asked):
        return
    (first, *_) = dict.fromkeys(each.where for each in asked)
    hints = list(_unknown(asked, keys))
    raise ParameterError(
        f"No key of the domain can have rows where {words.phrase(first)}, so nothing would be counted."
        + (f" {hints[0]}" if hints else "")
    )


def _refuse_unequal(condition: Condition, leaves: Sequence[Leaf]) -> None:
    """With slack on both sides of a number, also a key that has it may be flagged: nothing at all is promised."""
    for comparison in _unequal(condition, negated=False):
        sides = [leaf for leaf in leaves if _is_of(leaf, comparison)]
        if any(leaf.slack for leaf in sides):
            near = words.number(min(leaf.slack * leaf.margin.step for leaf in sides if leaf.slack))
            noun = words.aggregate_phrase(comparison.left)
            raise ParameterError(
                f"Whether a {noun} differs from a number cannot be told with a slack of {near}: a key that has the "
                "number may be flagged as well, so nothing would be promised; take a slack of 0 there, or ask for what "
                "is well below or above it with < or >."
            )


def _unequal(condition: Condition, negated: bool) -> Iterator[nodes.Comparison]:
    """The comparisons that ask whether two numbers differ: `<>`, or `=` under NOT."""
    if isinstance(condition, nodes.Comparison):
        if condition.sign == ("=" if negated else "<>"):
            yield condition
    elif isinstance(condition, nodes.Not):
        yield from _unequal(condition.part, not negated)
    else:
        for part in condition.parts:
            yield from _unequal(part, negated)


def _is_of(leaf: Leaf, comparison: nodes.Comparison) -> bool:
    return (leaf.comparison.left, leaf.comparison.right) == (comparison.left, comparison.right)


def _slacks(plan: Decision) -> Iterator[str]:
    """Slacks are rounded down to what a margin can tell, which promises more than was asked, and costs more."""
    asked = list(comparisons(plan.question.condition))
    given = plan.slack * (len(asked) if len(plan.slack) == 1 else 1)
    said = []
    for comparison, slack in zip(asked, given, strict=True):
        own_leaves = [leaf for leaf in plan.program.leaves if leaf.comparison.left == comparison.left]
        # One that says the same as another comparison has no leaf of its own.
        step = next((leaf for leaf in own_leaves if _is_of(leaf, comparison)), own_leaves[0]).margin.step
        own = slack if comparison.slack is None else comparison.slack
        said.append(_taken_as("slack", own, step, comparison.left))
    return _once(said)


def _taken_as(what: str, given: Fraction, step: Fraction, aggregate: Aggregate) -> str | None:
    taken = int(given / step) * step
    if taken == given:
        return None
    noun = words.aggregate_phrase(aggregate)
    why = "rows are whole" if aggregate.kind in _OF_ROWS else f"the {noun} is reckoned in steps of {words.number(step)}"
    return f"A {what} of {words.number(given)} is taken as {words.number(taken)}, because {why}."


def _once(said: Sequence[str | None]) -> Iterator[str]:
    return (each for each in dict.fromkeys(said) if each is not None)


def _near_without_rows(plan: Decision) -> Iterator[str]:
    """Keys that without rows are so near that false alarms there are not bounded."""
    leaves, classes = plan.program.leaves, getattr(plan, "classes", None)
    flags = [_without_rows(leaf)[_positions(plan, leaf)] for leaf in leaves]
    if classes is not None:
        near = np.any(np.stack(flags) == tree.OPEN, axis=0)
    else:
        near = tree.value(plan.program.tree, flags) == tree.OPEN
    if near.any():
        keys = plan.program.keys
        yield (
            f"Without any rows, {_named(keys, np.flatnonzero(near))} within the slack of "
            f"{_near_what(plan, classes)}; {_remedy(plan)}."
        )


def _positions(plan: Decision, leaf: Leaf) -> NDArray[np.int64]:
    """Where each key of the question is among a leaf's; leaves whose keys are all alike have one."""
    positions = plan.program.positions[leaf.keys]
    return np.zeros_like(positions) if len(leaf.margin.offsets) == 1 else positions


def _without_rows(leaf: Leaf) -> NDArray[np.int8]:
    """For each key of a leaf whether it is met, not met, or within the slack where there is no row."""
    offsets = np.array(leaf.margin.offsets)
    return np.where(offsets > 0, tree.YES, np.where(offsets > -leaf.slack, tree.OPEN, tree.NO)).astype(np.int8)


def _named(keys: Keys, concerned: NDArray[np.int64]) -> str:
    """The first few of some keys and how many more there are, with the verb."""
    if not keys.columns:
        return "the table is"
    if len(concerned) == len(keys) > KEYS_NAMED:
        return f"all {len(keys):,} keys are"
    names = [_name(keys.values[at]) for at in concerned[:KEYS_NAMED]]
    if len(concerned) > KEYS_NAMED:
        return f"{', '.join(names)} and {len(concerned) - KEYS_NAMED:,} more are"
    return f"{names[0]} is" if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]} are"


def _name(key: tuple[KeyValue, ...]) -> str:
    written = shown(", ".join(map(words.value, key)))
    return (
        written if len(key) == 1 and isinstance(key[0], str) else f"key {written}" if len(key) == 1 else f"({written})"
    )


def _near_what(plan: Decision, classes: Classes | None) -> str:
    if classes is not None:
        return "a threshold between classes and may be put above it"
    if len(plan.program.leaves) > 1:
        return "meeting the condition and may be flagged"
    if isinstance(plan.program.leaves[0].comparison.right, Against):
        return "what is compared and may be flagged"
    return "the threshold and may be flagged"


def _remedy(plan: Decision) -> str:
    """Less slack keeps empty keys away from a threshold above 0, but not from one that they are at."""
    at_zero = any(0 in leaf.margin.offsets for leaf in plan.program.leaves)
    if not at_zero or getattr(plan, "classes", None) is not None:
        return "take less slack"
    return "ask for rows as well, as in AND slack(count(*) > 20, 20)"


def _met_without_rows(plan: Decision) -> Iterator[str]:
    """Keys that are flagged without rows although SQL would leave them out; asking for rows as well keeps them away."""
    leaves = plan.program.leaves
    if not any(leaf.margin.holds_when_empty for leaf in leaves):
        return
    flags = [_without_rows(leaf)[_positions(plan, leaf)] for leaf in leaves]
    others = [
        np.full_like(each, tree.NO) if leaf.margin.holds_when_empty else each
        for leaf, each in zip(leaves, flags, strict=True)
    ]
    met, met_anyway = (tree.value(plan.program.tree, each) == tree.YES for each in (flags, others))
    if (met & ~met_anyway).any():
        yield "Keys without any rows meet a condition of this question, and may be flagged."


def _clamped(plan: Decision | Within, moves: Sequence[_Move]) -> Iterator[str]:
    """Values beyond their bounds, and values between the steps of their grid, are not added up as they are."""
    grids = {
        term.measure.column or "": term.measure.grid
        for *_, margin, _ in moves
        for term in margin.terms
        if term.measure.grid is not None
    }
    if grids:
        yield (
            f"The promise is about values of {', '.join(sorted(grids))} within their declared bounds: larger and "
            "smaller ones count as the nearest bound, and errors caused by that are not covered."
        )
    declared = {column for column, _, _, step in plan.values.declared if step is not None}
    for column in sorted(grids.keys() & declared):
        step = grids[column].step
        allowed = [given * margin.step for _, given, _, margin, _ in moves if _adds_up(margin, column)]
        if MANY_ROWS * step / 2 >= min(allowed):
            yield (
                f"Each value of {column} is rounded to a multiple of {words.number(step)}; in {MANY_ROWS:,} rows that "
                f"can come to {words.number(MANY_ROWS * step / 2)}, which the promise does not cover."
            )


def _adds_up(margin: Margin, column: str) -> bool:
    return any(term.measure.grid is not None and term.measure.column == column for term in margin.terms)


def _unknown(asked: Sequence[Aggregate], keys: Keys) -> Iterator[str]:
    """Values in filters on key columns that no key has."""
    if not any(column in keys.columns for each in asked for column in filters.columns(each.where)):
        return
    from louver.decide.met import unknown_values

    said: dict[str, None] = {}
    for each in asked:
        for column, value, known in unknown_values(each.where, keys):
            written = words.value(value)
            meant = instead_of(written, sorted(map(words.value, known)))
            said[f"{column} is compared with {shown(written)}, which no key of the domain has{meant}."] = None
    yield from said
