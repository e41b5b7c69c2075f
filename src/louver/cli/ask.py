"""`louver ask`: which keys meet a condition, with a promise, paid for by a ledger."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from louver.cli import ui
from louver.cli.ask_shown import Priced, show_answer, show_plan
from louver.cli.ask_source import asked_domain, asked_ledger, asked_source, why_refused
from louver.cli.ask_words import said_with_flags
from louver.cli.options import add_data, add_payer, add_source, number_from
from louver.errors import DataError, LouverError, ParameterError

if TYPE_CHECKING:
    from louver.decide.answer import Answer
    from louver.ledger import Ledger
    from louver.privacy import Charge
    from louver.source.description import Source

OBJECTIVES = ("worst", "mean", "entropy")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_source(parser)
    parser.add_argument("question", metavar="SQL", help="SELECT keys FROM t GROUP BY keys HAVING a condition")
    promise = parser.add_argument_group("the promise")
    promise.add_argument("--miss-rate", metavar="RATE", help="how rarely a key that meets it may be missed: 0.05")
    promise.add_argument("--slack", metavar="S", help="how far from the threshold either answer is fine: 10")
    promise.add_argument("--false-alarm-rate", metavar="RATE", help="beyond the slack; as the miss rate unless given")
    promise.add_argument("--within", metavar="D", help="for aggregates without HAVING: how far each may be off")
    add_data(parser, domain="the public list of keys")
    way = parser.add_argument_group("the way")
    way.add_argument("--objective", metavar="AIM", help="what is kept small: worst, mean or entropy")
    way.add_argument("--strategy", metavar="NAME", help="shift, progressive, adaptive, sparse or naive")
    way.add_argument("--levels", metavar="N", type=int, help="how many steps, for a strategy that has steps")
    way.add_argument("--alarms", metavar="N", type=int, help="after how many alarms the sparse strategy stops")
    way.add_argument(
        "--epsilon", metavar="E", help="what one unit pays for the naive strategy, which promises no miss rate"
    )
    way.add_argument(
        "--survey", metavar="E", help="what one unit pays for a rough look beforehand, to choose the steps by"
    )
    add_payer(parser, key="asked again with the same key, the same answer costs nothing")
    show = parser.add_argument_group("what is shown")
    show.add_argument(
        "--dry-run", action="store_true", help="price and promise only; nothing is reserved, and no row is read"
    )
    show.add_argument("--explain", action="store_true", help="how the strategy was chosen, and what each key paid")
    show.add_argument("--plot", metavar="FILE.svg", help="writes a picture of the zones of each key there")
    show.add_argument("--json", action="store_true", help="print JSON for programs")


def run(arguments: argparse.Namespace) -> None:
    from louver.decide.asking import ask, worst_with_survey
    from louver.decide.asking import run as answered
    from louver.decide.planning import plan as planned
    from louver.privacy import largest_total
    from louver.steward import check

    _check_plot(arguments)
    source = asked_source(arguments)
    promise, budget = _promise(arguments), number_from(arguments, "budget", source.defaults.get("budget"))
    promise["domain"] = asked_domain(source, _given(arguments, "domain"), arguments.question)
    survey = number_from(arguments, "survey")
    with said_with_flags(), _place_shown():
        plan: Any = planned(source, arguments.question, **promise)

    def worst() -> Sequence[Charge]:
        return plan.worst if survey is None else worst_with_survey(source, arguments.question, survey, promise)

    if arguments.dry_run:
        check(source.table, plan)  # says what a run would refuse before it reserves
        with said_with_flags():
            priced = Priced(largest_total(worst()).price, survey, why_refused(arguments, source, plan, worst(), budget))
        show_plan(arguments, source, plan, _objective(arguments, source), priced)
        return
    with said_with_flags(), asked_ledger(arguments, source, plan, worst, budget) as ledger:
        token = os.environ.get("LOUVER_TOKEN") or None
        paid: dict[str, Any] = {"ledger": ledger, "token": token, "audience": arguments.audience, "key": arguments.key}
        if survey is None:
            answer = answered(source, plan, **paid)
        else:
            answer = ask(source, arguments.question, survey=survey, **promise, **paid)
        owner = _is_owner(ledger, token)
    with _drawn(answer, arguments.plot):
        show_answer(arguments, answer, _objective(arguments, source), owner)


def _is_owner(ledger: Ledger, token: str | None) -> bool:
    """Whether charges are for whoever asks: an owner; without a token, where nobody else has one than owners."""
    from louver.steward import OWNER

    if token is not None:
        return ledger.person(token).role == OWNER
    return all(person.role == OWNER for person in ledger.people())


@contextmanager
def _drawn(answer: Answer, file: str | None) -> Iterator[None]:
    """Draws before anything is printed: whoever reads may leave. What is paid for is shown also where it cannot be."""
    fault: LouverError | None = None
    try:
        if file is not None:
            answer.plot(file)
    except LouverError as found:
        fault = found
    yield
    if fault is not None:
        sys.stdout.flush()
        raise fault


def _check_plot(arguments: argparse.Namespace) -> None:
    """Whether a picture could be written, before anything is paid."""
    if arguments.plot is None:
        return
    path = Path(arguments.plot)
    if path.suffix.lower() != ".svg":
        raise ParameterError(f"--plot writes an SVG picture, so its file must end in .svg, not {path.name!r}.")
    if arguments.dry_run:
        raise ParameterError("--plot draws an answer, and a dry run has none; leave one of them out.")
    was_there = path.exists()
    try:
        with path.open("ab"):
            pass
        if not was_there:
            path.unlink()
    except OSError as fault:
        raise DataError(f"{path} cannot be written: {fault.strerror or 'the system gave no reason'}.") from None


def _objective(arguments: argparse.Namespace, source: Source) -> str:
    return _given(arguments, "objective") or str(source.defaults.get("objective", OBJECTIVES[0]))


@contextmanager
def _place_shown() -> Iterator[None]:
    """Where SQL is not understood its place is shown, marked, above the sentence about it."""
    from louver.question import QuestionError

    try:
        yield
    except QuestionError as refusal:
        place = str(refusal).removesuffix(refusal.sentence).splitlines()
        print(*map(ui.printable, place), sep="\n", end="\n" if place else "", file=sys.stderr)
        raise ParameterError(refusal.sentence) from None


def _promise(arguments: argparse.Namespace) -> dict[str, Any]:
    """What is promised: by a flag, else by the environment; what neither says, the source's description says."""
    objective = _given(arguments, "objective")
    if objective is not None and objective not in OBJECTIVES:
        raise ParameterError(f"--objective must be one of {', '.join(OBJECTIVES)}, not {objective!r}.")
    return {
        "miss_rate": number_from(arguments, "miss_rate"),
        "slack": _numbers(arguments, "slack"),
        "false_alarm_rate": number_from(arguments, "false_alarm_rate"),
        "within": _numbers(arguments, "within"),
        "objective": objective,
        "strategy": arguments.strategy,
        "levels": arguments.levels,
        "alarms": arguments.alarms,
        "epsilon": number_from(arguments, "epsilon"),
        "rows_per_unit": arguments.rows_per_unit,
        "keys_per_unit": arguments.keys_per_unit,
    }


def _given(arguments: argparse.Namespace, name: str) -> str | None:
    """What a flag says, or the environment: LOUVER_MISS_RATE for --miss-rate."""
    flag: str | None = getattr(arguments, name)
    return flag if flag is not None else os.environ.get(f"LOUVER_{name.upper()}")


def _numbers(arguments: argparse.Namespace, name: str) -> Fraction | list[Fraction] | None:
    """One number for all comparisons, or several with commas between them, one for each."""
    from louver.cli.ledger.written import number

    text = _given(arguments, name)
    if text is None:
        return None
    several = [number(f"--{name}", part) for part in text.split(",")]
    return several[0] if len(several) == 1 else several
