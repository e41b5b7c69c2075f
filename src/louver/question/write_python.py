"""A question as the Python expression that makes it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime
from fractions import Fraction

from louver.question import nodes
from louver.question.nodes import (
    Against,
    Aggregate,
    All,
    Classes,
    Comparison,
    Condition,
    Flag,
    Question,
    Threshold,
    Values,
)
from louver.question.normal import aggregates, normal, union_of_keys
from louver.source import filters
from louver.source.filters import EVERY_ROW, Compare, Filter, Missing, OneOf, Value

_SIGNS = {"=": "==", "<>": "!="}
_NAMES = {nodes.SUM: "sum_", nodes.MIN: "min_", nodes.MAX: "max_"}


def to_python(question: Question) -> str:
    """An expression of this room's names that evaluates to the same question, in its normal form."""
    asked = normal(question)
    if isinstance(asked, Flag):
        name, arguments = "question", [condition_to_python(asked.condition)]
    elif isinstance(asked, Values):
        name, arguments = "values", [aggregate_to_python(each) for each in asked.aggregates]
    else:
        cuts = ", ".join(threshold_to_python(cut) for cut in asked.cuts)
        names = ", ".join(map(quoted, asked.names))
        name, arguments = "classes", [aggregate_to_python(asked.aggregate), f"[{cuts}]", f"[{names}]"]
    if asked.keys != union_of_keys(list(aggregates(asked))):
        arguments.append(f"keys=[{', '.join(map(quoted, asked.keys))}]")
    if asked.table is not None:
        arguments.append(f"table={quoted(asked.table)}")
    if asked.domain is not None:
        arguments.append(f"domain={quoted(asked.domain)}")
    if isinstance(asked, Values) and asked.names:
        arguments.append(f"names=[{', '.join('None' if each is None else quoted(each) for each in asked.names)}]")
    if isinstance(asked, Classes) and asked.name is not None:
        arguments.append(f"name={quoted(asked.name)}")
    return f"{name}({', '.join(arguments)})"


def condition_to_python(given: Condition) -> str:
    if isinstance(given, Comparison):
        sign = _SIGNS.get(given.sign, given.sign)
        right = against_to_python(given.right) if isinstance(given.right, Against) else threshold_to_python(given.right)
        text = f"{aggregate_to_python(given.left)} {sign} {right}"
        return text if given.slack is None else f"({text}).slack({number_to_python(given.slack)})"
    if isinstance(given, nodes.Not):
        return f"~({condition_to_python(given.part)})"
    return _joined(" & " if isinstance(given, All) else " | ", map(condition_to_python, given.parts))


def aggregate_to_python(given: Aggregate) -> str:
    arguments = [] if given.column is None else [quoted(given.column)]
    if given.low is not None:
        arguments.append(number_to_python(given.low))
    if given.high is not None:
        arguments.append(("" if given.low is not None else "high=") + number_to_python(given.high))
    text = f"{_NAMES.get(given.kind, given.kind)}({', '.join(arguments)})"
    if given.where != EVERY_ROW:
        text += f".where({filter_to_python(given.where)})"
    return f"{text}.by({', '.join(map(quoted, given.keys))})" if given.keys else text


def threshold_to_python(given: Threshold) -> str:
    if given.column is None:
        return number_to_python(given.constant)
    return _scaled(f"col({quoted(given.column)})", given.factor, given.constant)


def against_to_python(given: Against) -> str:
    return _scaled(aggregate_to_python(given.aggregate), given.factor, given.constant)


def filter_to_python(given: Filter) -> str:
    if isinstance(given, Compare):
        return f"col({quoted(given.column)}) {_SIGNS.get(given.sign, given.sign)} {value_to_python(given.value)}"
    if isinstance(given, OneOf):
        return f"col({quoted(given.column)}).isin([{', '.join(map(value_to_python, given.values))}])"
    if isinstance(given, Missing):
        return f"col({quoted(given.column)}).is_missing()"
    if isinstance(given, filters.Not):
        return f"~({filter_to_python(given.part)})"
    return _joined(" & " if isinstance(given, filters.Both) else " | ", map(filter_to_python, given.parts))


def value_to_python(value: Value) -> str:
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, datetime):
        parts = [value.year, value.month, value.day, value.hour, value.minute, value.second, value.microsecond]
        while len(parts) > 5 and not parts[-1]:
            parts.pop()
        return f"datetime({', '.join(map(str, parts))}, tzinfo=UTC)"
    if isinstance(value, date):
        return f"date({value.year}, {value.month}, {value.day})"
    return number_to_python(value)


def number_to_python(value: Fraction | int) -> str:
    """Whole numbers and decimals as they are; what no float is written as, as a fraction."""
    exact = Fraction(value)
    if exact.denominator == 1:
        return str(exact.numerator)
    written = repr(exact.numerator / exact.denominator) if abs(exact.numerator) < 2**53 > exact.denominator else ""
    if written and Fraction(written) == exact:
        return written
    return f"Fraction({exact.numerator}, {exact.denominator})"


def quoted(text: str) -> str:
    """A text in double quotes where that needs no more escapes."""
    written = repr(text)
    return written if '"' in written else f'"{written[1:-1]}"'


def _scaled(term: str, factor: Fraction, constant: Fraction) -> str:
    text = term if factor == 1 else f"{number_to_python(factor)} * {term}"
    if not constant:
        return text
    return f"{text} {'+' if constant > 0 else '-'} {number_to_python(abs(constant))}"


def _joined(how: str, parts: Iterable[str]) -> str:
    return how.join(f"({part})" for part in parts)
