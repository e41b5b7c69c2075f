"""`louver publish stream ... --look-at-tail`: is a tail light enough to stretch the threshold of this stream?

Paid for like a stream, and nothing of the stream is published.
"""

from __future__ import annotations

import argparse
import os
import secrets
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from louver.cli import ui
from louver.cli.ask_source import asked_ledger, why_refused
from louver.cli.publish_shown import COMMAND, say, say_paid, say_price, times_as_texts
from louver.cli.publish_words import said, with_options
from louver.errors import ParameterError

if TYPE_CHECKING:
    from louver.source.description import Source
    from louver.stream.looking import Tails
    from louver.stream.tail_plan import TailPlan

# What says how a stream is published or cut off; a look needs none of it.
OF_STREAMS = ("mechanism", "options", "delta", "last", "live")
PUBLISHED = ("live", "plot", "state", "late", "ticks")


def check_look(arguments: argparse.Namespace) -> None:
    """Whether it is a look behind a threshold, and nothing is to be published."""
    from louver.stream.kernels import KERNELS

    cut = [name for name, each in KERNELS.items() if each.is_cut]
    if arguments.mechanism not in cut:
        raise ParameterError(f"--look-at-tail is for the mechanisms with a threshold: {', '.join(cut)}.")
    odd = next((name for name in PUBLISHED if getattr(arguments, name) not in (None, False)), None)
    odd = "to" if odd is None and arguments.to != "-" else odd
    if odd is not None:
        raise ParameterError(f"--{odd} is for what is published, and --look-at-tail publishes nothing; leave it out.")


def run_look(
    arguments: argparse.Namespace,
    source: Source,
    asked: Mapping[str, Any],
    factor: Fraction | None,
    budget: Fraction | None,
) -> None:
    """`asked` are parameters of a stream; those that a look does not need are left out."""
    from louver.steward import check
    from louver.stream.looking import look_at_tails, tails

    wanted = {name: value for name, value in asked.items() if name not in OF_STREAMS}
    with said():
        plan = tails(source, **wanted, **({} if factor is None else {"factor": factor}))
    if arguments.dry_run:
        check(source.table, plan)
        refused = why_refused(arguments, source, plan, plan.worst, budget)
        _show_plan(arguments, plan, refused, times_as_texts(source, plan.stream))
        return
    key = arguments.key or f"look {secrets.token_hex(8)}"
    token = os.environ.get("LOUVER_TOKEN") or None
    with said(), asked_ledger(arguments, source, plan, lambda: plan.worst, budget) as ledger:
        found = look_at_tails(source, plan, ledger=ledger, token=token, audience=arguments.audience, key=key)
    _show(arguments, found, key)


def _show_plan(arguments: argparse.Namespace, plan: TailPlan, refused: str | None, cautions: tuple[str, ...]) -> None:
    if arguments.json:
        warned = [*plan.warnings, *cautions]
        ui.print_json(COMMAND, dry_run=True, **_known(plan), warnings=warned, refused=refused)
        return
    _print(plan)
    for caution in cautions:
        say("warning", caution)
    say_price(plan.stream, refused)


def _show(arguments: argparse.Namespace, found: Tails, key: str) -> None:
    if arguments.json:
        ui.print_json(COMMAND, dry_run=False, **{**_known(found.plan), **found.to_dict()})
        return
    _print(found.plan)
    for sentence in found.sentences:
        say("tail", sentence)
    say_paid(found, found.plan.stream, "look")
    say("again", f"with --key {key!r} and the same words, this look is had again for nothing")


def _print(plan: TailPlan) -> None:
    print(plan.protected)
    say("look", plan.what)
    say("promise", plan.promise)
    for warning in plan.warnings:
        say("warning", with_options(warning))


def _known(plan: TailPlan) -> dict[str, Any]:
    return {
        "look": plan.what,
        "protected": plan.protected,
        "promise": plan.promise,
        "ticks": len(plan.stream.ticks),
        "regions": len(plan.stream.regions),
        "window": plan.stream.window,
        "factor": str(plan.factor),
        "worst": str(plan.worst[0].price),
    }
