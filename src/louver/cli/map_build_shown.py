"""What `louver map build` prints: what is known before anything is paid, and what was built."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from louver.cli import ui
from louver.cli.ask_words import with_flags
from louver.cli.publish_shown import say

if TYPE_CHECKING:
    from louver.source.description import Source
    from louver.space.plan import MapPlan
    from louver.space.publishing import PublishedMap

COMMAND = "map build"


def show_plan(arguments: argparse.Namespace, source: Source, plan: MapPlan, refused: str | None) -> None:
    """A dry run: all that is known before anything is reserved or read."""
    known = _known(plan)
    cautions = _texts(source, plan)
    if arguments.json:
        ui.print_json(COMMAND, dry_run=True, **{**known, "warnings": [*plan.warnings, *cautions]}, refused=refused)
        return
    _show(plan)
    for caution in cautions:
        say("warning", caution)
    say("price", f"{_price(plan)}; nothing was reserved and no row was read")
    say("meaning", known["meaning"])
    if refused is not None:
        say("refused", f"a run would be: {refused}")


def show_made(arguments: argparse.Namespace, made: PublishedMap) -> None:
    from louver.decide.shown import down

    plan, leaves = made.plan, len(made.map.tree.leaves)
    if arguments.json:
        ui.print_json(
            COMMAND,
            dry_run=False,
            **_known(plan),
            cells=leaves,
            charged=str(made.release.charged),
            entry=made.release.number,
            again=made.release.again,
            remaining=str(made.remaining),
            to=arguments.to,
        )
        return
    _show(plan)
    entry = f"entry {made.release.number} of {made.ledger}"
    left = f"{down(made.remaining)} remains where most is used"
    paid = f"{_price(plan)}, {entry}; {left}"
    say("price", f"nothing this time: {entry} has the map, which was paid then; {left}" if made.release.again else paid)
    say("meaning", _meaning(plan))
    say("written", f"{arguments.to}, {leaves:,} cells")


def _show(plan: MapPlan) -> None:
    print(plan.protected)
    say("map", _what(plan))
    say("area", _area(plan))
    say("promise", plan.promise)
    for warning in plan.warnings:
        say("warning", with_flags(warning))


def _what(plan: MapPlan) -> str:
    located = plan.located
    what = "counts" if located.value is None else f"counts and averages of {located.value}"
    return f"{what} by {located.x} and {located.y}, by {plan.way}"


def _area(plan: MapPlan) -> str:
    """With east and north, and how large it is, so that sides that were exchanged are seen."""
    from louver.space.expected import size

    bounds = plan.located.bounds
    degrees = " degrees" if bounds.degrees else ""
    across, along = (
        f"{start:.10g} to {end:.10g}{degrees}"
        for start, end in ((bounds.west, bounds.east), (bounds.south, bounds.north))
    )
    system = "" if bounds.crs is None else f", in {bounds.crs}"
    return f"{across} east and {along} north, {size(bounds, bounds.width, bounds.height)}{system}"


def _texts(source: Source, plan: MapPlan) -> tuple[str, ...]:
    """A caution where texts are read as numbers: whether they are, only rows could say, and nobody may ask those."""
    from louver.steward import holds_texts

    named = plan.located.columns
    if not any(holds_texts(source.table, column) for column in named):
        return ()
    columns = f"{', '.join(named[:-1])} or {named[-1]}"
    told = "is left out and paid for all the same, and no message tells of it; look at some rows before you pay"
    return (f"{source.table.describe()} says nothing of types: a row without a number in {columns} {told}.",)


def _price(plan: MapPlan) -> str:
    from louver.decide.shown import up

    price = f"epsilon {up(plan.worst[0].price)}"
    if plan.rounds == 1:
        return price
    return f"{price} for this round, {up(plan.together)} for somebody who is in all {plan.rounds:,}"


def _meaning(plan: MapPlan) -> str:
    from louver.decide.shown import meaning, sure

    said = meaning(plan.unit, plan.price.epsilon)
    if plan.rounds == 1:
        return said
    return f"{said}; of somebody who is in all {plan.rounds:,} rounds, {sure(plan.together)} sure"


def _known(plan: MapPlan) -> dict[str, Any]:
    return {
        "map": _what(plan),
        "area": _area(plan),
        "protected": plan.protected,
        "promise": plan.promise,
        "warnings": list(plan.warnings),
        "way": plan.way,
        "worst": str(plan.worst[0].price),
        "rounds": plan.rounds,
        "together": str(plan.together),
        "meaning": _meaning(plan),
    }
