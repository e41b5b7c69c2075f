"""From a source, a question and a promise to a plan: which strategy, at which price, known before anything is read.

`plan(source, question, miss_rate=..., slack=...)` returns a plan for `Steward.run`. The question is SQL, a condition
from `louver.question`, or one of its nodes. Which plan it becomes:

- a condition (HAVING): `Shift`, `Progressive`, `Adaptive` or `Sparse`, by `strategy`, or else by `objective`: "worst"
  takes the least worst price, "mean" the least mean charged price, "entropy" the largest min-entropy;
- classes (CASE): `Bands`;
- aggregates (no HAVING): `Within`, each within `within` of the truth except at the miss rate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from fractions import Fraction
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

from louver.decide.decision import Decision
from louver.decide.objectives import MEAN, OBJECTIVES, WORST
from louver.decide.values import ValueBounds
from louver.errors import ParameterError
from louver.parameters import Number
from louver.question.nodes import Classes, Flag, Question, Values
from louver.question.times import check_values
from louver.source.description import Source
from louver.source.domain import Domain
from louver.source.filters import Compare, OneOf
from louver.source.measures import Bound
from louver.source.names import instead_of
from louver.source.table import Table

if TYPE_CHECKING:
    from louver.decide.choose import Table as Choices
    from louver.decide.spread import Margins
    from louver.decide.within import Within

AnyPlan: TypeAlias = "Decision | Within"
# By name: the module and class of a strategy's plan, and what it takes beside the promise.
STRATEGIES = {
    "naive": ("naive", "Naive", ("epsilon",)),
    "shift": ("shift", "Shift", ()),
    "progressive": ("progressive", "Progressive", ("levels",)),
    "adaptive": ("adaptive_plan", "Adaptive", ("levels",)),
    "sparse": ("sparse_plan", "Sparse", ("alarms",)),
}
# Of the naive strategy, whose rates follow from its price.
ANY_RATE = Fraction(1, 4)
# What stands for all rows where a question has no keys.
TOTAL = Domain({"total": ["all"]}, keys=["total"])


@dataclass(frozen=True, slots=True)
class Request:
    """Everything a plan is made from, with the source's own words filled in."""

    question: Question
    domain: Domain
    table: Table
    bound: Bound | None
    values: ValueBounds
    miss_rate: Number
    slack: Number | Sequence[Number] | None
    false_alarm_rate: Number | None
    objective: str


def plan(
    source: Source | Table,
    question: object,
    *,
    miss_rate: Number | None = None,
    slack: Number | Sequence[Number] | None = None,
    false_alarm_rate: Number | None = None,
    domain: Domain | str | None = None,
    objective: str | None = None,
    strategy: str | None = None,
    within: Number | Sequence[Number] | None = None,
    rows_per_unit: int | None = None,
    keys_per_unit: int | None = None,
    known: Margins | Mapping[int, float] | None = None,
    levels: int | None = None,
    alarms: int | None = None,
    epsilon: Number | None = None,
) -> AnyPlan:
    """The plan that keeps the promise, at the least price by the objective.

    `known` is public knowledge of how margins spread, which the choice between strategies uses.
    """
    asked = request(
        source,
        question,
        miss_rate=ANY_RATE if strategy == "naive" else miss_rate,
        slack=slack,
        false_alarm_rate=false_alarm_rate,
        domain=domain,
        objective=objective,
        rows_per_unit=rows_per_unit,
        keys_per_unit=keys_per_unit,
    )
    if isinstance(asked.question, Values):
        return _numbers(asked, within)
    if within is not None:
        raise ParameterError("within is for questions that ask for aggregates; a condition takes a slack.")
    if asked.slack is None and strategy != "naive":
        raise ParameterError("slack must be given: how far below a threshold either answer is fine, such as 10.")
    named = _named(asked)
    if isinstance(asked.question, Classes):
        from louver.decide.bands import Bands

        return Bands(asked.question, asked.domain, **named)
    if strategy is None:
        strategy = {WORST: "shift", MEAN: "progressive"}.get(asked.objective, "adaptive")
        if levels is None and strategy != "shift":
            first = _strategy("shift")[0](asked.question, asked.domain, **named)
            best = choices(first, known).best(asked.objective)
            strategy, levels = ("shift", None) if best.levels == 1 else (strategy, best.levels)
    own = {"levels": levels, "alarms": alarms, "epsilon": epsilon}
    chosen, takes = _strategy(strategy)
    if odd := next((name for name, value in own.items() if value is not None and name not in takes), None):
        raise ParameterError(f"The strategy {strategy!r} does not take {odd}.")
    if "epsilon" in takes and epsilon is None:
        raise ParameterError("The naive strategy takes its price from you: give epsilon, such as 0.5.")
    given: dict[str, Any] = {name: own[name] for name in takes if own[name] is not None}
    return chosen(asked.question, asked.domain, **named, **given)


def _strategy(name: str) -> tuple[type[Decision], tuple[str, ...]]:
    """The plan of a strategy, and what it takes beside the promise. Only what is asked for is loaded."""
    if name not in STRATEGIES:
        raise ParameterError(f"There is no strategy {name!r}{instead_of(name, tuple(STRATEGIES))}.")
    module, plan_class, takes = STRATEGIES[name]
    return getattr(import_module(f"louver.decide.{module}"), plan_class), takes


def choices(plan: Decision, known: Margins | Mapping[int, float] | None = None) -> Choices:
    """What each strategy would cost for the question's dearest look: the table that `--explain` shows."""
    from louver.decide.choose import estimate
    from louver.decide.spread import Margins, guessed

    look, _ = max(
        zip(plan.program.looks, plan.look_prices, strict=True), key=lambda pair: pair[0].touch.times * pair[1]
    )
    size = len(plan.reading.keys[look.keys])
    leaf = plan.program.leaves[look.leaves[0]]
    reach = max(1, max(abs(offset) for offset in leaf.margin.offsets) // look.touch.step)
    spread = known if isinstance(known, Margins) else guessed(size, reach) if known is None else Margins(known)
    miss, alarm = plan.rates[plan.program.looks.index(look)]
    columns = plan.reading.keys[look.keys].columns
    return estimate(
        spread,
        miss_rate=miss,
        slack=look.slack,
        false_alarm_rate=alarm,
        sensitivity=look.touch.step,
        times=look.touch.times,
        together=not all(plan.unit.fixes(column) for column in columns),
    )


def request(
    source: Source | Table,
    question: object,
    *,
    miss_rate: Number | None = None,
    slack: Number | Sequence[Number] | None = None,
    false_alarm_rate: Number | None = None,
    domain: Domain | str | None = None,
    objective: str | None = None,
    rows_per_unit: int | None = None,
    keys_per_unit: int | None = None,
) -> Request:
    """The question and the promise with what the source declares filled in."""
    described = source if isinstance(source, Source) else Source(source)
    table, defaults = described.table, described.defaults
    made = dict(table.columns)
    asked = _renamed(node(question), made)
    _check_table(described, asked.table)
    wanted = objective or str(defaults.get("objective", WORST))
    if wanted not in OBJECTIVES:
        raise ParameterError(f"objective must be one of {', '.join(OBJECTIVES)}, not {wanted!r}.")
    rate = miss_rate if miss_rate is not None else defaults.get("miss_rate")
    if rate is None:
        raise ParameterError(
            "miss_rate must be given: how rarely a key over its threshold may be missed, such as 0.05."
        )
    alarm = false_alarm_rate if false_alarm_rate is not None else defaults.get("false_alarm_rate")
    return Request(
        asked,
        _domain(described, asked, domain).renamed(made),
        table,
        _bound(described, rows_per_unit, keys_per_unit),
        ValueBounds.of(dict(table.values)),
        rate,  # type: ignore[arg-type]
        slack if slack is not None else defaults.get("slack"),  # type: ignore[arg-type]
        alarm,  # type: ignore[arg-type]
        wanted,
    )


def node(question: object) -> Question:
    """The question behind SQL, a condition or a node."""
    if isinstance(question, Flag | Values | Classes):
        return question
    if isinstance(question, str):
        from louver.question import from_sql

        return from_sql(question)
    from louver.question import question as asked

    return asked(question)  # type: ignore[arg-type]  # it says what it needs


def _check_table(source: Source, given: str | None) -> None:
    """Whether FROM names this source or its table; a frame has no name of its own, so it goes by any."""
    own = source.table.location.name
    if given is None or own is None:
        return
    known = list(dict.fromkeys(name for name in (source.name, source.table.name, own) if name is not None))
    if {given.lower(), given.rpartition(".")[2].lower()}.isdisjoint(name.lower() for name in known):
        raise ParameterError(f"There is no table {given!r} here{instead_of(given, known)}; FROM _ leaves it open.")


def _domain(source: Source, question: Question, given: Domain | str | None) -> Domain:
    if isinstance(given, Domain):
        return given
    if not question.keys and given is None and not question.domain:
        return TOTAL
    name = given if given is not None else question.domain if question.domain in source.domains else None
    if question.domain and given is None and name is None and len(source.domains) == 0:
        raise ParameterError(
            f"The question joins {question.domain!r}, but there is no domain; declare one, or give it with domain=."
        )
    found = source.domain(name)
    if not question.keys and question.domain and len(found) > 1:
        raise ParameterError(
            f"The question has no keys, and joining {question.domain!r} would count each row {len(found):,} times; "
            "leave the join out, or group by its keys."
        )
    return found


def _bound(source: Source, rows: int | None, keys: int | None) -> Bound | None:
    if source.table.unit.is_row:
        if rows not in (None, 1) or keys is not None:
            raise ParameterError("Bounds per unit are for units of several rows; here the unit is the row itself.")
        return None
    declared = source.bound or Bound()
    return Bound(rows if rows is not None else declared.rows, keys if keys is not None else declared.keys)


def _named(asked: Request) -> dict[str, Any]:
    return {
        "unit": asked.table.unit,
        "miss_rate": asked.miss_rate,
        "slack": asked.slack,
        "false_alarm_rate": asked.false_alarm_rate,
        "bound": asked.bound,
        "values": asked.values,
    }


def _numbers(asked: Request, within: Number | Sequence[Number] | None) -> Within:
    if within is None:
        raise ParameterError("within must be given: how far a released number may be off, such as 10; or add a HAVING.")
    if not isinstance(asked.question, Values):
        raise ParameterError("within is for questions that ask for aggregates.")
    from louver.decide.within import Within

    return Within(
        asked.question,
        asked.domain,
        unit=asked.table.unit,
        miss_rate=asked.miss_rate,
        distance=within,
        bound=asked.bound,
        values=asked.values,
    )


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    """The same question with what declared columns are made of: day(time) for day."""
    if not names:
        return value
    if isinstance(value, tuple):
        return tuple(_renamed(each, names) for each in value)
    if not is_dataclass(value) or isinstance(value, type):
        return value
    changed: dict[str, Any] = {}
    for each in fields(value):
        kept = getattr(value, each.name)
        if each.name == "keys":
            changed[each.name] = tuple(names.get(name, name) for name in kept)
        elif each.name == "column" and isinstance(kept, str):
            changed[each.name] = names.get(kept, kept)
        else:
            changed[each.name] = _renamed(kept, names)
    made = replace(value, **changed)
    if isinstance(made, Compare | OneOf):
        check_values(made.column, [made.value] if isinstance(made, Compare) else made.values)
    return made
