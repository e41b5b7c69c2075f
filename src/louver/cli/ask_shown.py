"""What `louver ask` prints: what is known before anything is paid, and the answer."""

from __future__ import annotations

import argparse
import textwrap
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from louver.cli import ui
from louver.cli.ask_source import ledger_address
from louver.cli.ask_words import with_flags

if TYPE_CHECKING:
    from louver.decide.answer import Answer
    from louver.decide.choose import Table as Choices
    from louver.decide.spread import Margins
    from louver.source.description import Source

HEAD, WIDTH, ROWS_SHOWN = 11, 120, 50
STEPS = ("progressive", "adaptive")
NO_CHOICE = "There is one way to answer this, so there is nothing to choose."


@dataclass(frozen=True)
class Priced:
    """The most that a question can charge in all, what of that is for a survey before it, and why it cannot be paid."""

    total: Fraction
    survey: Fraction | None = None
    refused: str | None = None

    @property
    def answer(self) -> Fraction:
        return self.total - (self.survey or 0)

    def words(self, plan: Any) -> str:
        from louver.decide.looks import one_look
        from louver.decide.shown import up

        said = f"epsilon {up(self.answer)} at most"
        if self.survey is not None:
            said += f" and {up(self.survey)} for the survey before it"
        once = one_look(plan) if plan.mechanism in STEPS else self.answer
        return said if once >= self.answer else f"{said}; one look, with --objective worst, costs {up(once)}"


def show_plan(arguments: argparse.Namespace, source: Source, plan: Any, objective: str, priced: Priced) -> None:
    """What is known before anything is reserved or read."""
    from louver.decide.cautions import listed_keys
    from louver.decide.shown import down, meaning, number_down, number_up, protected

    worst, survey = priced.answer, priced.survey
    remaining, spent = _account(arguments, source, plan)
    together = None if spent is None else spent + priced.total
    means = meaning(plan.unit, priced.total, together)
    if arguments.json:
        ui.print_json(
            "ask",
            dry_run=True,
            question=_sql(plan),
            protected=protected(plan.unit.sentence()),
            promise=plan.promise,
            warnings=list(plan.warnings),
            strategy=plan.mechanism,
            worst=str(worst),
            worst_epsilon=number_up(worst),
            survey=None if survey is None else str(survey),
            survey_epsilon=None if survey is None else number_up(survey),
            meaning=means,
            remaining=None if remaining is None else str(remaining),
            remaining_epsilon=None if remaining is None else number_down(remaining),
            keys=len(plan.reading.keys[0]),
            refused=priced.refused,
            **_plain_choices(arguments, plan, objective),
        )
        return
    print(plan.unit.sentence())
    _say("question", _sql(plan))
    if len(plan.reading.keys[0]) < len(listed := listed_keys(plan)):
        _say("keys", f"{len(plan.reading.keys[0]):,} of the {len(listed):,} of the domain, by WHERE")
    _say("promise", plan.promise)
    for warning in plan.warnings:
        _say("warning", with_flags(warning))
    left = "" if remaining is None else f"; {down(remaining)} remains where most is used"
    _say("price", f"{priced.words(plan)}{left}; nothing was reserved and no row was read")
    _say("meaning", means)
    if priced.refused is not None:
        _say("refused", f"a run would be: {priced.refused}")
    if arguments.explain:
        print(f"\n{_explained(arguments, plan, objective)}")


def show_answer(arguments: argparse.Namespace, answer: Answer, objective: str, owner: bool) -> None:
    """The answer and, with --explain, what it was chosen from and, for an owner, what each key paid."""
    known = None if answer.survey is None else answer.survey.margins
    if arguments.json:
        said = {
            **answer.to_dict(owner=arguments.explain and owner),
            **_plain_choices(arguments, answer.plan, objective, known),
        }
        ui.print_json("ask", dry_run=False, question=_sql(answer.plan), **said)
        return
    print(answer.protected)
    for head, words in answer.lines()[1:]:
        if head in ("values", "classes"):
            _print_keys(answer)
        elif head == "flagged" and len(answer.keys.columns) > 1 and answer.flagged:
            _say(head, answer.counted())
            _print_flagged(answer)
        else:
            _say(head, with_flags(words) if head == "warning" else words)
    if arguments.explain:
        if owner:
            _print_owner(answer)
        else:
            _say("charged", "What each key paid is shown to owners: set LOUVER_TOKEN to an owner's token.")
        print(f"\n{_explained(arguments, answer.plan, objective, known)}")


def _print_owner(answer: Answer) -> None:
    """What each key paid, for whoever owns the data."""
    from louver.decide.shown import up

    owner = answer.owner
    _say("charged", f"epsilon {up(answer.release.charged)}. {owner.fairness}")
    for used, prices in zip(owner.levels, owner.level_prices, strict=True):
        reached = [
            f"{keys:,} at {up(prices[level])}" if level >= 0 else f"{keys:,} never"
            for level, keys in sorted(used.items())
        ]
        _say("levels", f"keys decided at: {', '.join(reached)}")
    _say(
        "entropy",
        f"{owner.min_entropy.normalised:.4f} of the largest possible min-entropy is left: 1 is knowing nothing about "
        "which key a record belongs to, 0 is being certain",
    )


def _print_flagged(answer: Answer) -> None:
    """One line for each flagged key, where keys have several columns."""
    from louver.decide.words import value

    rows = [[ui.printable(value(each)) for each in key] for key in answer.flagged[:ROWS_SHOWN]]
    print()
    ui.print_table(answer.heads, rows)
    if len(answer.flagged) > ROWS_SHOWN:
        print(f"and {len(answer.flagged) - ROWS_SHOWN:,} more, which --json shows")
    print()


def _print_keys(answer: Answer) -> None:
    """One line for each key, with what was released about it."""
    from louver.decide.words import value

    heads, shown = list(answer.columns), min(len(answer.keys), ROWS_SHOWN)
    rows = [[ui.printable(value(answer.columns[head][at])) for head in heads] for at in range(shown)]
    numbers = [at for at, head in enumerate(heads) if isinstance(answer.columns[head][0], int | float)]
    print()
    ui.print_table(heads, rows, right=numbers)
    if shown < len(answer.keys):
        print(f"and {len(answer.keys) - shown:,} more, which --json shows")
    print()


def _account(arguments: argparse.Namespace, source: Source, plan: Any) -> tuple[Fraction | None, Fraction | None]:
    """What the ledger could still pay at the most used point that the plan touches, and what is spent there."""
    from louver.ledger import Ledger
    from louver.ledger.place import store_at
    from louver.privacy import Scope
    from louver.publishing.paying import spent_together
    from louver.steward import Steward

    where = ledger_address(arguments, source)
    if where is None or not store_at(where).exists():
        return None, None
    with Ledger.open(where) as ledger:
        Steward(source.table, ledger)  # says what does not fit together
        region = Scope.covering([charge.scope for charge in plan.worst])
        return ledger.remaining(region, arguments.audience), spent_together(ledger, region)


def _explained(arguments: argparse.Namespace, plan: Any, objective: str, known: Margins | None = None) -> str:
    """The table that the strategy was chosen from."""
    from louver.decide.choose import explain

    table = _choices(plan, known)
    if table is None:
        return NO_CHOICE
    named = (
        f"\nThe strategy was named: {arguments.strategy}; the star is the objective's." if arguments.strategy else ""
    )
    return explain(table, objective) + named


def _plain_choices(
    arguments: argparse.Namespace, plan: Any, objective: str, known: Margins | None = None
) -> dict[str, Any]:
    """The same for programs; nothing, where no explanation is asked for."""
    from louver.decide.shown import number_up

    if not arguments.explain:
        return {}
    table = _choices(plan, known)
    if table is None:
        return {"choices": [], "choices_from": NO_CHOICE}
    best = table.best(objective)
    listed = [
        {**asdict(each), "worst": str(each.worst), "worst_epsilon": number_up(each.worst), "best": each == best}
        for each in table.named(objective)
    ]
    return {"choices": listed, "choices_from": table.source}


def _choices(plan: Any, known: Margins | None) -> Choices | None:
    from louver.decide.planning import choices

    return choices(plan, known) if plan.mechanism not in ("within", "bands", "naive") else None


def _sql(plan: Any) -> str:
    from louver.question import to_sql

    return to_sql(getattr(plan, "classes", plan.question))


def _say(head: str, words: str) -> None:
    lines = textwrap.wrap(ui.printable(words), WIDTH - HEAD, break_on_hyphens=False) or [""]
    for number, line in enumerate(lines):
        print(f"{ui.faint(f'{head:<{HEAD}}') if number == 0 else ' ' * HEAD}{line}")
