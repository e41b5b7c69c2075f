"""The promise in words that a works council can read, and what else a reader should know."""

from __future__ import annotations

from datetime import date, datetime
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from louver import parameters
from louver.privacy import Unit
from louver.question import nodes
from louver.question.nodes import Aggregate, Comparison
from louver.source import filters
from louver.source.measures import Bound, KeyValue

if TYPE_CHECKING:
    from louver.decide.decision import Decision

_SIGNS = {">": "above", ">=": "at least", "<": "below", "<=": "at most"}


def cases(rate: Fraction) -> str:
    """A rate in words, rounded up where it takes more than six digits."""
    shown = rate
    if rate.denominator > 10**6:
        size = 10**3
        while rate * size < 100:
            size *= 10
        shown = Fraction((rate * size).__ceil__(), size)
    return f"{shown.numerator:,} of {shown.denominator:,} cases"


def promise(plan: Decision) -> str:
    one = one_key(plan.question.keys)
    leaves = plan.program.leaves
    sentences = []
    if len(leaves) == 1:
        comparison = leaves[0].comparison
        sentences += _simple(
            one, comparison, plan.miss_rate, plan.false_alarm_rate, slack_shown(leaves[0].slack * leaves[0].margin.step)
        )
    else:
        sentences.append(f"{one} that meets the condition is missed in at most {cases(plan.miss_rate)}.")
        sentences.append(
            f"{one} that would not meet it even if each threshold were easier by its slack is flagged in at most "
            f"{cases(plan.false_alarm_rate)}; in between, either may happen."
        )
    sentences += counted(plan.program.reading.where, plan.unit, plan.program.reading.bound)
    return " ".join(sentences)


def _simple(one: str, comparison: Comparison, miss: Fraction, alarm: Fraction, slack: str | None) -> list[str]:
    noun, threshold = aggregate_phrase(comparison.left), _threshold(comparison)
    near = "below" if comparison.sign in (">", ">=") else "above"
    # What is at least a threshold is above the number before it, from which the slack counts.
    far = f"{slack} or more" if comparison.sign in (">", "<") else f"more than {slack}"
    if comparison.left.kind == nodes.AVG and slack:
        where = f"whose rows are {far} {near} that in sum"
    elif comparison.left.kind in (nodes.MIN, nodes.MAX, nodes.MEDIAN) and slack:
        where = f"that is more than {slack} rows away from that"
    else:
        where = f"with a {noun} {far} {near} that" if slack else "of which that is not so"
    return [
        f"{one} whose {noun} is {_SIGNS[comparison.sign]} {threshold} is missed in at most {cases(miss)}.",
        f"{one} {where} is flagged in at most {cases(alarm)}" + ("; in between, either may happen." if slack else "."),
    ]


def slack_shown(slack: Fraction) -> str | None:
    return None if not slack else parameters.short(slack)


def counted(where: filters.Filter, unit: Unit, bound: Bound | None) -> list[str]:
    """What is counted, and of one unit at most how much."""
    sentences = []
    if filters.conjuncts(where):
        sentences.append(f"Counted are rows where {phrase(where)}.")
    if bound is not None:
        rows = "one row is" if bound.rows == 1 else f"{bound.rows:,} rows are"
        if bound.keys is None:
            sentences.append(f"Of {unit.protected()}, at most {rows} counted.")
        else:
            keys = "one key" if bound.keys == 1 else f"{bound.keys:,} keys"
            sentences.append(f"Of {unit.protected()}, at most {keys} and in each at most {rows} counted.")
        sentences.append("What these bounds leave out is not seen, and misses caused by that are not covered.")
    return sentences


def warnings(plan: Decision) -> tuple[str, ...]:
    said = []
    if any(_may_flag_empty(leaf) for leaf in plan.program.leaves if not leaf.margin.holds_when_empty):
        said.append(
            "A threshold is below the slack, so keys without any rows may be flagged; take less slack for them."
        )
    if any(leaf.margin.holds_when_empty for leaf in plan.program.leaves):
        said.append("Keys without any rows meet a condition of this question, and may be flagged.")
    clamped = sorted(
        {
            leaf.comparison.left.column or ""
            for leaf in plan.program.leaves
            if leaf.comparison.left.kind in (nodes.SUM, nodes.AVG)
        }
    )
    if clamped:
        said.append(
            f"The promise is about values of {', '.join(clamped)} within their declared bounds; misses caused by "
            "larger or smaller ones are not covered."
        )
    return tuple(said)


def _may_flag_empty(leaf: Any) -> bool:
    """Whether a key without rows is so near that false alarms there are not bounded."""
    return any(-leaf.slack < offset <= 0 for offset in leaf.margin.offsets)


def one_key(keys: tuple[str, ...]) -> str:
    if len(keys) > 1:
        return f"A key ({', '.join(keys)})"
    noun = keys[0].replace("_", " ").strip() if keys else "table"
    return f"{'An' if noun[:1].lower() in 'aeiou' else 'A'} {noun}"


def _threshold(comparison: Comparison) -> str:
    right = comparison.right
    if isinstance(right, nodes.Against):
        factor = "" if right.factor == 1 else f"{number(right.factor)} times "
        plus = "" if not right.constant else f" plus {number(right.constant)}"
        return f"{factor}the {aggregate_phrase(right.aggregate)} it is compared with{plus}"
    if right.column is None:
        return number(right.constant)
    factor = "" if right.factor == 1 else f"{number(right.factor)} times "
    plus = "" if not right.constant else f" plus {number(right.constant)}"
    return f"{factor}its {right.column}{plus}"


def number(exact: Fraction) -> str:
    """A number as a reader writes it: a decimal where it is one."""
    if exact.denominator == 1:
        return f"{exact.numerator:,}"
    rest = exact.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    return f"{float(exact):g}" if rest == 1 and exact.denominator < 10**6 else str(exact)


def number_plain(exact: Fraction) -> int | float:
    """A released number for JSON; a multiple of a power of two is exact as a float."""
    return exact.numerator if exact.denominator == 1 else float(exact)


def aggregate_phrase(aggregate: Aggregate) -> str:
    """An aggregate as a noun."""
    of = f" of {aggregate.column}" if aggregate.column else ""
    names = {
        nodes.COUNT: "count",
        nodes.COUNT_DISTINCT: "number of different values",
        nodes.SUM: "sum",
        nodes.AVG: "average",
        nodes.MIN: "least value",
        nodes.MAX: "largest value",
        nodes.MEDIAN: "median",
    }
    return f"{names[aggregate.kind]}{of}"


def phrase(where: filters.Filter) -> str:
    """A filter as words."""
    if isinstance(where, filters.Compare):
        return f"{where.column} {where.sign} {value(where.value)}"
    if isinstance(where, filters.OneOf):
        listed = [value(each) for each in where.values]
        return f"{where.column} is one of {', '.join(listed if len(listed) <= 6 else [*listed[:5], 'others'])}"
    if isinstance(where, filters.Missing):
        return f"{where.column} is missing"
    if isinstance(where, filters.Not):
        return f"not ({phrase(where.part)})"
    join = " and " if isinstance(where, filters.Both) else " or "
    parts = [phrase(part) for part in where.parts]
    return join.join(f"({part})" if " or " in part else part for part in parts)


def value(given: object) -> str:
    """A value as a reader writes it; times are in UTC."""
    if isinstance(given, bool):
        return "true" if given else "false"
    if isinstance(given, int | Fraction):
        return number(Fraction(given)).replace(",", "")
    if isinstance(given, datetime):
        return f"{given:%Y-%m-%d %H:%M}" if not (given.second or given.microsecond) else f"{given:%Y-%m-%d %H:%M:%S.%f}"
    return given.isoformat() if isinstance(given, date) else str(given)


def plain_key(key: tuple[KeyValue, ...]) -> Any:
    """A key as JSON carries it: its value, or a list of values where it has several columns."""
    values = [value.isoformat() if isinstance(value, date) else value for value in key]
    return values[0] if len(values) == 1 else values
