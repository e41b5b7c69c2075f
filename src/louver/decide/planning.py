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
from fractions import Fraction
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

from louver.decide.decision import Decision
from louver.decide.known_columns import renamed, typed
from louver.decide.objectives import MEAN, OBJECTIVES, WORST
from louver.decide.values import ValueBounds
from louver.errors import LouverError, ParameterError
from louver.parameters import Number
from louver.question.nodes import Classes, Flag, Question, Values
from louver.source.asked_bound import asked_bound
from louver.source.description import UNNAMED, Source
from louver.source.domain import Domain
from louver.source.names import instead_of
from louver.source.public_list import check_place
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
    """The plan that keeps the promise, at the least price by the objective; what would tell nothing is refused.

    `known` is public knowledge of how margins spread, which the choice between strategies uses.
    """
    described = source if isinstance(source, Source) else Source(source)
    names = dict(described.table.columns)
    asked = renamed(node(question), names)
    _check_table(described, asked.table)
    aim = objective or str(described.defaults.get("objective", WORST))
    if aim not in OBJECTIVES:
        raise ParameterError(f"objective must be one of {', '.join(OBJECTIVES)}, not {aim!r}.")
    rate = ANY_RATE if strategy == "naive" else _usual(described, "miss_rate", miss_rate)
    if rate is None:
        raise ParameterError(
            "miss_rate must be given: how rarely a key over its threshold may be missed, such as 0.05."
        )
    keys = _domain(described, asked, domain).renamed(names)
    _check_joined(asked, keys)
    asked = typed(asked, keys, dict(described.table.values))
    named: dict[str, Any] = {
        "unit": described.table.unit,
        "miss_rate": rate,
        "bound": asked_bound(described, rows_per_unit, keys_per_unit),
        "values": ValueBounds.of(dict(described.table.values)),
    }
    made: AnyPlan
    if isinstance(asked, Values):
        made = _numbers(asked, keys, within, named)
    else:
        named["slack"] = _usual(described, "slack", slack)
        named["false_alarm_rate"] = _usual(described, "false_alarm_rate", false_alarm_rate)
        if within is not None:
            raise ParameterError("within is for questions that ask for aggregates; a condition takes a slack.")
        if named["slack"] is None and strategy != "naive":
            raise ParameterError("slack must be given: how far below a threshold either answer is fine, such as 10.")
        if isinstance(asked, Classes):
            from louver.decide.bands import Bands

            made = Bands(asked, keys, **named)
        else:
            own = {"levels": levels, "alarms": alarms, "epsilon": epsilon}
            made = _decided(asked, keys, named, aim, strategy, known, own)
    from louver.decide.cautions import refuse_what_tells_nothing

    refuse_what_tells_nothing(made)
    return made


def _usual(source: Source, name: str, given: Any) -> Any:
    """What is given, else what the source says is usual."""
    return given if given is not None else source.defaults.get(name)


def _decided(
    question: Flag,
    domain: Domain,
    named: Mapping[str, Any],
    objective: str,
    strategy: str | None,
    known: Margins | Mapping[int, float] | None,
    own: dict[str, Any],
) -> Decision:
    """The plan of a condition, by the strategy that is named or else the best one; `own` is what strategies take."""
    if strategy is None:
        strategy = {WORST: "shift", MEAN: "progressive"}.get(objective, "adaptive")
        if own["levels"] is None and strategy != "shift":
            first = _strategy("shift")[0](question, domain, **named)
            best = choices(first, known).best(objective)
            strategy, own["levels"] = ("shift", None) if best.levels == 1 else (strategy, best.levels)
    chosen, takes = _strategy(strategy)
    if odd := next((name for name, value in own.items() if value is not None and name not in takes), None):
        raise ParameterError(f"The strategy {strategy!r} does not take {odd}.")
    if "epsilon" in takes and own["epsilon"] is None:
        raise ParameterError("The naive strategy takes its price from you: give epsilon, such as 0.5.")
    given: dict[str, Any] = {name: own[name] for name in takes if own[name] is not None}
    return chosen(question, domain, **named, **given)


def _strategy(name: str) -> tuple[type[Decision], tuple[str, ...]]:
    """The plan of a strategy, and what it takes beside the promise. Only what is asked for is loaded."""
    if name not in STRATEGIES:
        raise ParameterError(f"There is no strategy {name!r}{instead_of(name, tuple(STRATEGIES))}.")
    module, plan_class, takes = STRATEGIES[name]
    return getattr(import_module(f"louver.decide.{module}"), plan_class), takes


def choices(plan: Decision, known: Margins | Mapping[int, float] | None = None) -> Choices:
    """What each strategy would cost for the question: the table that `--explain` shows."""
    from louver.decide.looks import table_of
    from louver.decide.spread import Margins

    return table_of(plan, known if known is None or isinstance(known, Margins) else Margins(known))


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
    """The domain that is asked about: the one that was given, else the one that the question joins, else the usual."""
    joined = question.domain
    if not question.keys and given is None and not joined:
        return TOTAL
    if isinstance(given, Domain):
        check_place(source.table, given.place)
        called, found = given.name, given
    else:
        called = _joined(source, joined) if given is None and joined else given
        found = source.domain(called)
        _check_keys(source, question, found, called)
    if joined and called is not None and not _is_called(called, joined):
        raise ParameterError(
            f"The question joins {joined!r}, but the domain that was given is {called!r}; join that one, or leave the "
            "JOIN out."
        )
    return found


def _joined(source: Source, joined: str) -> str | None:
    """The name of the domain that a question joins; None for the only one, where that has no name."""
    if not source.domains:
        raise ParameterError(
            f"The question joins {joined!r}, but there is no domain; declare one, or give it with domain=."
        )
    found = next((name for name in source.domains if _is_called(name, joined)), None)
    if found is None and list(source.domains) != [UNNAMED]:
        raise ParameterError(
            f"The question joins {joined!r}, and there is no such domain{instead_of(joined, source.domains)}."
        )
    return found


def _is_called(name: str, joined: str) -> bool:
    """Whether a JOIN means the domain of this name; it may name a schema before it."""
    return name.lower() in (joined.lower(), joined.rpartition(".")[2].lower())


def _check_keys(source: Source, question: Question, domain: Domain, called: str | None) -> None:
    """Where the domain lacks a key and another one has it, says which; `Domain.listed` says the rest."""
    names = dict(source.table.columns)
    missing = next((key for key in question.keys if key not in domain.renamed(names).keys), None)
    if missing is None or missing in domain.columns:
        return
    fitting = [name for name in source.domains if set(question.keys) <= _keys_of(source, name, names)]
    if fitting:
        own = called or source.default_domain or next(iter(source.domains))
        key = next((name for name, made in names.items() if made == missing), missing)
        raise ParameterError(
            f"The domain {own!r} has no key column {key!r}, but the domain {fitting[0]!r} has; give it with "
            f"domain={fitting[0]!r}."
        )


def _keys_of(source: Source, name: str, names: Mapping[str, str]) -> set[str]:
    """The key columns of a domain; none, where it cannot be read."""
    try:
        return set(source.domains[name].renamed(names).keys)
    except LouverError:
        return set()


def _check_joined(question: Question, domain: Domain) -> None:
    """Refuses a join with a domain that lists a key several times: SQL would count its rows as often."""
    if not question.domain or not set(question.keys) < set(domain.keys):
        return
    if len(domain.listed(question.keys)[0]) == len(domain):
        return
    if not question.keys:
        raise ParameterError(
            f"The question has no keys, and joining {question.domain!r} would count each row {len(domain):,} times; "
            "leave the join out, or group by its keys."
        )
    listed = ", ".join(question.keys)
    raise ParameterError(
        f"Joining {question.domain!r} on {listed} alone would count rows several times, because its keys are "
        f"{', '.join(domain.keys)}; leave the JOIN out, and give it with domain={question.domain!r} if need be."
    )


def _numbers(
    question: Values, domain: Domain, within: Number | Sequence[Number] | None, named: Mapping[str, Any]
) -> Within:
    if within is None:
        raise ParameterError("within must be given: how far a released number may be off, such as 10; or add a HAVING.")
    from louver.decide.within import Within

    return Within(question, domain, distance=within, **named)
