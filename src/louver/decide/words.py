"""The promise in words that a works council can read."""

from __future__ import annotations

from datetime import date, datetime
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from louver import parameters
from louver.privacy import Unit
from louver.privacy.rates import cases
from louver.question import nodes
from louver.question.exact import decimal
from louver.question.nodes import Aggregate, Comparison
from louver.source import filters
from louver.source.measures import Bound, KeyValue

if TYPE_CHECKING:
    from louver.decide.decision import Decision

MOST_PARTS, LONGEST_FRACTION = 10**6, 40
MOST_UNGROUPED = 9999  # years and numbers of rooms are read without commas
_SIGNS = {">": "above", ">=": "at least", "<": "below", "<=": "at most"}


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
    return None if not slack else number(slack)


def counted(where: filters.Filter, unit: Unit, bound: Bound | None, errors: str = "misses") -> list[str]:
    """What is counted, and of one unit at most how much; `errors` are what the promise is about."""
    sentences = []
    if filters.conjuncts(where):
        sentences.append(f"Counted are rows where {phrase(where)}.")
    if bound is not None:
        rows = "one row is" if bound.rows == 1 else f"{bound.rows:,} rows are"
        if bound.keys is None:
            sentences.append(f"Of {unit.protected()}, at most {rows} counted.")
        else:
            where_counted = "under one key" if bound.keys == 1 else f"under each of at most {bound.keys:,} keys"
            sentences.append(f"Of {unit.protected()}, at most {rows} counted {where_counted}.")
        sentences.append(f"What these bounds leave out is not seen, and {errors} caused by that are not covered.")
    return sentences


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
    """A number as a reader writes it: a decimal with all its digits where it is one, else a fraction if it is short."""
    written = decimal(exact) if exact.denominator < MOST_PARTS else None
    if written is None:
        return str(exact) if len(str(exact)) <= LONGEST_FRACTION else parameters.short(exact)
    whole, point, part = written.partition(".")
    return f"{'-' if whole.startswith('-') else ''}{abs(int(whole)):,}{point}{part}"


def number_plain(exact: Fraction) -> int | float:
    """A released number for JSON; a multiple of a power of two is exact as a float."""
    return exact.numerator if exact.denominator == 1 else float(exact)


def each_number(aggregate: Aggregate, where: filters.Filter, keys: tuple[str, ...]) -> str:
    """What is released of one aggregate, with its own filter, and by which keys where that is not all of them."""
    noun = aggregate_phrase(aggregate) + (f" where {phrase(where)}" if filters.conjuncts(where) else "")
    if not aggregate.keys:
        return f"The {noun} of all keys together" if keys else f"The {noun}"
    return f"Each {noun}" + ("" if set(aggregate.keys) == set(keys) else f" per {' and '.join(aggregate.keys)}")


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
        return f"{where.column} {where.sign} {_compared(where.value)}"
    if isinstance(where, filters.OneOf):
        listed = [_compared(each) for each in where.values]
        return f"{where.column} is one of {', '.join(listed if len(listed) <= 6 else [*listed[:5], 'others'])}"
    if isinstance(where, filters.Missing):
        return f"{where.column} is missing"
    if isinstance(where, filters.Not):
        return f"not ({phrase(where.part)})"
    join = " and " if isinstance(where, filters.Both) else " or "
    parts = [phrase(part) for part in where.parts]
    return join.join(f"({part})" if " or " in part else part for part in parts)


def _compared(given: object) -> str:
    """A value in a filter: large numbers are grouped, as those in thresholds are."""
    if isinstance(given, int | Fraction) and abs(Fraction(given)) > MOST_UNGROUPED:
        return number(Fraction(given))
    return value(given)


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
