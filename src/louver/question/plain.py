"""Questions as plain values for JSON, exact, as stored plans keep them."""

from __future__ import annotations

import typing
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import TypeVar

from louver.errors import ParameterError
from louver.question import nodes
from louver.question.exact import number_written
from louver.question.nodes import (
    Against,
    Aggregate,
    All,
    Any,
    Classes,
    Comparison,
    Condition,
    Flag,
    Question,
    Threshold,
    Values,
)
from louver.question.normal import normal
from louver.source.filters import EVERY_ROW, filter_from_dict, filter_to_dict

Plain: typing.TypeAlias = "dict[str, typing.Any]"
_Made = TypeVar("_Made")
_INCOMPLETE = "The stored question is not complete; make it again."


def to_dict(question: Question) -> Plain:
    """The question in its normal form as plain values; numbers are texts, so that they stay exact."""
    asked = normal(question)
    plain: Plain = {"keys": list(asked.keys)}
    plain |= {name: kept for name in ("table", "domain") if (kept := getattr(asked, name)) is not None}
    if isinstance(asked, Flag):
        return {"flag": _condition(asked.condition), **plain}
    if isinstance(asked, Values):
        named = {"named": list(asked.names)} if asked.names else {}
        return {"values": [_aggregate(each) for each in asked.aggregates], **named, **plain}
    classes: Plain = {
        "of": _aggregate(asked.aggregate),
        "cuts": [_threshold(cut) for cut in asked.cuts],
        "names": list(asked.names),
    }
    return {"classes": classes if asked.name is None else {**classes, "name": asked.name}, **plain}


def from_dict(plain: object) -> Question:
    """The question behind plain values; what is incomplete or odd is refused in one sentence."""
    try:
        return normal(_question(plain))
    except RecursionError:
        raise ParameterError("The stored question is nested too deeply; make it again.") from None
    except (TypeError, ValueError, KeyError, AttributeError, OverflowError, ZeroDivisionError):
        raise ParameterError(_INCOMPLETE) from None


def _question(plain: object) -> Question:
    given = dict(_mapping(plain))
    keys = tuple(_listed(given.pop("keys", None), _text))
    table, domain = (_text(given.pop(name)) if name in given else None for name in ("table", "domain"))
    match given:
        case {"flag": condition, **rest} if not rest:
            return Flag(_condition_from(condition), keys, table, domain)
        case {"values": aggregates, **rest} if rest.keys() <= {"named"}:
            called = tuple(None if name is None else _text(name) for name in rest.get("named", ()))
            return Values(tuple(_listed(aggregates, _aggregate_from)), keys, table, domain, called)
        case {"classes": {"of": aggregate, "cuts": cuts, "names": names, **more}, **rest} if not rest:
            limits, named = tuple(_listed(cuts, _threshold_from)), tuple(_listed(names, _text))
            name = _text(more.pop("name")) if "name" in more else None
            if not more:
                return Classes(_aggregate_from(aggregate), limits, named, keys, table, domain, name)
    raise ParameterError(_INCOMPLETE)


def _condition(given: Condition) -> Plain:
    if isinstance(given, Comparison):
        right = _against(given.right) if isinstance(given.right, Against) else _threshold(given.right)
        plain: Plain = {"left": _aggregate(given.left), "sign": given.sign, "right": right}
        return plain if given.slack is None else {**plain, "slack": str(given.slack)}
    if isinstance(given, nodes.Not):
        return {"not": _condition(given.part)}
    return {"all" if isinstance(given, All) else "any": [_condition(part) for part in given.parts]}


def _condition_from(plain: object) -> Condition:
    given = dict(_mapping(plain))
    slack = _number(given.pop("slack")) if "slack" in given and "sign" in given else None
    match given:
        case {"left": left, "sign": str(sign), "right": right, **rest} if not rest:
            against = isinstance(right, Mapping) and "of" in right
            made = _against_from(right) if against else _threshold_from(right)
            return Comparison(_aggregate_from(left), sign, made, slack)
        case {"not": part, **rest} if not rest:
            return nodes.Not(_condition_from(part))
        case {"all": parts, **rest} if not rest:
            return All(tuple(_listed(parts, _condition_from)))
        case {"any": parts, **rest} if not rest:
            return Any(tuple(_listed(parts, _condition_from)))
    raise ParameterError(_INCOMPLETE)


def _aggregate(given: Aggregate) -> Plain:
    plain: Plain = {"kind": given.kind, "by": list(given.keys)}
    if given.column is not None:
        plain["column"] = given.column
    plain |= {name: str(bound) for name in ("low", "high") if (bound := getattr(given, name)) is not None}
    return plain if given.where == EVERY_ROW else {**plain, "where": filter_to_dict(given.where)}


def _aggregate_from(plain: object) -> Aggregate:
    given = _mapping(plain)
    if not {"kind", "by"} <= set(given) <= {"kind", "by", "column", "low", "high", "where"}:
        raise ParameterError(_INCOMPLETE)
    low, high = (_number(given[name]) if name in given else None for name in ("low", "high"))
    where = filter_from_dict(given["where"]) if "where" in given else EVERY_ROW
    column = _text(given["column"]) if "column" in given else None
    return Aggregate(_text(given["kind"]), column, low, high, where, tuple(_listed(given["by"], _text)))


def _threshold(given: Threshold) -> Plain:
    if given.column is None:
        return {"constant": str(given.constant)}
    return {"constant": str(given.constant), "column": given.column, "factor": str(given.factor)}


def _threshold_from(plain: object) -> Threshold:
    match _mapping(plain):
        case {"constant": constant, **rest} if not rest:
            return Threshold(_number(constant))
        case {"constant": constant, "column": column, "factor": factor, **rest} if not rest:
            return Threshold(_number(constant), _text(column), _number(factor))
    raise ParameterError(_INCOMPLETE)


def _against(given: Against) -> Plain:
    return {"of": _aggregate(given.aggregate), "factor": str(given.factor), "constant": str(given.constant)}


def _against_from(plain: object) -> Against:
    match _mapping(plain):
        case {"of": aggregate, "factor": factor, "constant": constant, **rest} if not rest:
            return Against(_aggregate_from(aggregate), _number(factor), _number(constant))
    raise ParameterError(_INCOMPLETE)


def _mapping(plain: object) -> Mapping[str, typing.Any]:
    if not isinstance(plain, Mapping):
        raise ParameterError(_INCOMPLETE)
    return plain


def _listed(plain: object, read: Callable[[object], _Made]) -> list[_Made]:
    if not isinstance(plain, list):
        raise ParameterError(_INCOMPLETE)
    return [read(each) for each in plain]


def _text(plain: object) -> str:
    if not isinstance(plain, str):
        raise ParameterError(_INCOMPLETE)
    return plain


def _number(plain: object) -> Fraction:
    """A number as a text, whole or as a quotient."""
    above, slash, below = _text(plain).partition("/")
    return number_written("A stored number", above) / (number_written("A stored number", below) if slash else 1)
