"""One line from a question to an answer: plan, pay, read, decide."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from louver.decide.answer import Answer, Surveyed
from louver.decide.decision import Decision
from louver.decide.objectives import WORST
from louver.decide.planning import AnyPlan
from louver.decide.planning import plan as made_plan
from louver.decide.shift import Shift
from louver.decide.shown import down, up
from louver.decide.within import Within
from louver.errors import BudgetError, ParameterError
from louver.ledger import Ledger
from louver.parameters import Number
from louver.privacy import Charge, Scope, largest_total
from louver.publishing.paying import Receipt, opened, paid
from louver.source.description import Source
from louver.source.locations import Frame
from louver.source.table import Table

if TYPE_CHECKING:
    from louver.decide.survey import Survey

EPSILON, QUESTION = "epsilon", "A question"
LEAST_SHOWN = Fraction(1, 10_000)  # what rounds down to less is not worth proposing
_FRAMES = {"pandas": "pandas", "polars": "polars", "pyarrow": "arrow"}


def ask(
    source: Source | Table,
    question: object,
    *,
    ledger: Ledger | str | Path | None = None,
    who: str = "local",
    token: str | None = None,
    audience: str | None = None,
    key: str | None = None,
    survey: Number | None = None,
    **promise: Any,
) -> Answer:
    """The answer to a question, or to a plan made before, paid for by a ledger: the one given, else the source's.

    `promise` are the parameters of `plan`: miss_rate, slack, false_alarm_rate, domain, objective, strategy and so on.
    With a `token` somebody asks in their own name. The same `key` again gives the same answer for nothing. A `survey`
    is the price of a rough look beforehand, by which the number of steps is chosen.
    """
    named: dict[str, Any] = {"ledger": ledger, "who": who, "token": token, "audience": audience, "key": key}
    if isinstance(question, Decision | Within):
        if promise or survey is not None:
            raise ParameterError("A plan has its promise already; give it when the plan is made.")
        return run(source, question, **named)
    if survey is None:
        return run(source, made_plan(source, question, **promise), **named)
    with opened(ledger if ledger is not None else getattr(source, "ledger", None), QUESTION) as account:
        found = _surveyed(source, question, survey, promise, **{**named, "ledger": account})
        plan = made_plan(source, question, **{**promise, "known": found.margins})
        with _survey_said(found):
            return replace(run(source, plan, **{**named, "ledger": account}), survey=found)


def _surveyed(
    source: Source | Table, question: object, rate: Number, promise: Mapping[str, Any], *, key: str | None, **named: Any
) -> Surveyed:
    """How the margins of a question spread, roughly: what a survey at this price released.

    It is not begun where the answer after it could turn out too dear.
    """
    survey, one_look, steps = _with_survey(source, question, rate, promise)
    own_key = None if key is None else f"{key} (survey)"
    _check_both_fit(named["ledger"], survey, one_look, steps, named["audience"], own_key)
    release = _released(source, survey, key=own_key, **named).release
    return Surveyed(survey.margins_of(release.answer), release.charged, release.again)


def worst_with_survey(
    source: Source | Table, question: object, survey: Number, promise: Mapping[str, Any]
) -> tuple[Charge, ...]:
    """The most that a question with a survey before it can charge."""
    first, _, steps = _with_survey(source, question, survey, promise)
    return (*first.worst, *steps.worst)


def _with_survey(
    source: Source | Table, question: object, rate: Number, promise: Mapping[str, Any]
) -> tuple[Survey, AnyPlan, AnyPlan]:
    """The survey, what would be asked without it, and the steps that it may lead to."""
    objective = promise.get("objective") or getattr(source, "defaults", {}).get("objective", WORST)
    if objective == WORST or promise.get("strategy") is not None or promise.get("levels") is not None:
        raise ParameterError(
            "A survey is for choosing steps, with the objective mean or entropy and no strategy or levels named."
        )
    one_look = made_plan(source, question, **{**promise, "objective": WORST})
    if not isinstance(one_look, Shift):
        raise ParameterError("A survey is for conditions; numbers and classes have one strategy.")
    # However many steps a survey leads to, they reserve the same.
    steps = made_plan(source, question, **{**promise, "strategy": "progressive"})
    from louver.decide.survey import Survey

    return Survey.of(one_look, rate), one_look, steps


def _check_both_fit(
    ledger: Ledger, survey: Survey, one_look: Any, steps: Any, audience: str | None, key: str | None
) -> None:
    """Refuses a survey where its price and that of the steps after it do not both fit; one paid before is free."""
    charges = [charge.for_unit(ledger.unit) for charge in (*survey.worst, *steps.worst)]
    if largest_total(charges).price <= ledger.remaining(Scope.covering([each.scope for each in charges]), audience):
        return
    for scope in dict.fromkeys(charge.scope for charge in charges):
        asked, left = _price_on(scope, charges), ledger.remaining(scope, audience)
        if asked <= left:
            continue
        if ledger.doubt() is not None or (key is not None and _was_used(ledger, key)):
            return  # the steward says what is in doubt, or has the survey already
        room = left - _price_on(scope, [charge.for_unit(ledger.unit) for charge in steps.worst])
        ways = [f"a survey of {down(room)}"] if room >= LEAST_SHOWN else []
        ways += ["no survey"] if room >= 0 else []
        ways += ["one look, with the objective worst and no survey"] if _price(one_look) <= left else []
        fits = f"What would fit: {'; or '.join(ways)}." if ways else "An owner may raise the cap."
        refusal = BudgetError(
            f"The budget does not suffice on {scope} for a survey and the answer after it: {up(asked)} of epsilon is "
            f"asked for and {down(left)} is left, which is {up(asked - left)} too little. Nothing was read and nothing "
            f"was spent. {fits}"
        )
        refusal.requested, refusal.remaining, refusal.difference = asked, left, asked - left
        refusal.what, refusal.scope, refusal.ways = EPSILON, scope, tuple(ways)
        raise refusal


def _price(plan: Any) -> Fraction:
    return largest_total(plan.worst).price


def _price_on(scope: Scope, charges: Iterable[Charge]) -> Fraction:
    return largest_total(charge for charge in charges if charge.scope.overlaps(scope)).price


def _was_used(ledger: Ledger, key: str) -> bool:
    return any(entry.act == "reserved" and entry.body["key"] == key for entry in ledger.entries())


@contextmanager
def _survey_said(survey: Surveyed) -> Iterator[None]:
    """Where others spent meanwhile what the answer needs, the refusal must not hide that the survey was paid."""
    try:
        yield
    except BudgetError as refusal:
        told = f"No more was read; the survey before it cost {up(survey.price)}, which stays spent."
        refusal.args = (str(refusal).replace("Nothing was read and nothing was spent.", told),)
        raise


def run(
    source: Source | Table,
    plan: Any,
    *,
    ledger: Ledger | str | Path | None = None,
    who: str = "local",
    token: str | None = None,
    audience: str | None = None,
    key: str | None = None,
) -> Answer:
    """The answer to a plan that `plan` made."""
    receipt = _released(source, plan, ledger=ledger, who=who, token=token, audience=audience, key=key)
    table = source.table if isinstance(source, Source) else source
    frame = _FRAMES.get(table.location.kind) if isinstance(table.location, Frame) else None
    return Answer(
        plan,
        receipt.release,
        receipt.remaining,
        frame,
        receipt.ledger,
        names=declared_names(table),
        spent=receipt.spent,
    )


def declared_names(table: Table) -> dict[str, str]:
    """What the source calls columns that are made of a time, by what they are made of; the first of several names."""
    return {made: name for name, made in reversed(table.columns)}


def _released(source: Source | Table, plan: Any, *, ledger: Ledger | str | Path | None, **named: Any) -> Receipt:
    """What the steward releases; a refusal says which keys could still pay."""
    table = source.table if isinstance(source, Source) else source
    with (
        opened(ledger if ledger is not None else getattr(source, "ledger", None), QUESTION) as account,
        _payers_said(table, plan, account, named["audience"]),
    ):
        return paid(source, plan, QUESTION, ledger=account, **named)


@contextmanager
def _payers_said(table: Table, plan: Any, ledger: Ledger, audience: str | None) -> Iterator[None]:
    """Where some keys lack the budget, the refusal says which ones could still pay."""
    try:
        yield
    except BudgetError as refusal:
        if refusal.what == EPSILON:
            from louver.decide.payable import who_can_pay

            said = who_can_pay(plan, ledger, audience, declared_names(table))
            refusal.args = (f"{refusal} {said}" if said else str(refusal),)
        raise
