"""`louver ledger show`: caps, what is spent, reserved and left, the most used scopes, and what never settled."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING

from louver.cli import ui
from louver.cli.ledger.common import add_place, opened
from louver.errors import ParameterError

if TYPE_CHECKING:
    from louver.cli.ledger.balance import Balance
    from louver.ledger import Ledger, Reservation
    from louver.privacy import Scope

MOST_SCOPES = 10
MOST_RESERVATIONS = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_place(parser)
    parser.add_argument(
        "--scope", metavar="SCOPE", help="one part of the data: 'room=atrium, 9<=hour<10, day(time)=2026-03-10'"
    )
    parser.add_argument("--audience", metavar="NAME", help="what is spent in this audience's name")


def run(arguments: argparse.Namespace) -> None:
    from louver.cli.ledger.balance import balances
    from louver.cli.ledger.written import fitted, scope
    from louver.privacy import Scope

    written = Scope.everything() if arguments.scope is None else scope(arguments.scope)
    audience = arguments.audience
    with opened(arguments) as ledger:
        _check_columns(ledger, written)
        asked = fitted(written, ledger.columns())
        left = ledger.remaining(asked, audience)
        region, doubt, reservations = asked.for_unit(ledger.unit), ledger.doubt(), ledger.reservations()
        caps = [cap for cap in ledger.caps if audience is None or cap.audience in (None, audience)]
        found = list(balances(ledger, caps, region, reservations))
        used = [(kind, *each) for kind in ledger.kinds() for each in ledger.most_used(MOST_SCOPES, audience, kind)]
        if not arguments.json:
            _print_what(ledger, doubt)
            if arguments.scope is not None:
                _print_scope(ledger, asked, region, left)
            _print_balances(found)
            if arguments.scope is None:
                _print_used(used)
                _print_reservations([each for each in reservations if not _is_live(each)])
                _print_live([each for each in reservations if _is_live(each)])
            return
        ui.print_json(
            "ledger show",
            dataset=ledger.dataset,
            address=ledger.address,
            unit=str(ledger.unit),
            protected=ledger.unit.sentence(),
            exact=_exact(ledger),
            doubt=doubt,
            scope=region.to_dict(),
            audience=audience,
            left=str(left),
            caps=[balance.to_dict() for balance in found],
            most_used=[{"kind": kind, "scope": where.to_dict(), "spent": str(spent)} for kind, where, spent in used],
            never_settled=[
                {"number": each.number, "at": each.at, "who": each.who, "audience": each.audience}
                | {"mechanism": each.mechanism, "price": str(each.price), "live": _live_key(each)}
                for each in reservations
            ],
            head=None if doubt is not None else ledger.head().to_dict(),
        )


def _check_columns(ledger: Ledger, asked: Scope) -> None:
    """Refuses columns that were meant otherwise: nothing is spent on a column that no charge speaks of.

    A column that the unit does not fix is in no charge, and a sentence says what the answer is about.
    """
    from louver.source.names import instead_of

    known = sorted({*ledger.columns(), *ledger.unit.columns})
    for column, _ in asked.ranges:
        if column in known or not known:
            continue
        made = [name for name in known if name.partition("(")[0] == column]
        meant = f" (did you mean {made[0]!r}?)" if made else instead_of(column, known)
        if ledger.unit.is_row or "did you mean" in meant:
            raise ParameterError(f"Nothing in this ledger is about a column {column!r}{meant}.")


def _exact(ledger: Ledger) -> list[str]:
    """What was published as it is, which no epsilon covers."""
    from louver.privacy import Subspace

    begin = f"{Subspace.kind} of "
    return [kind.removeprefix(begin) for kind in ledger.kinds() if kind.startswith(begin)]


def _print_what(ledger: Ledger, doubt: str | None) -> None:
    print(f"{ui.bold(ledger.dataset)}  {ui.printable(ledger.address)}")
    print(ledger.unit.sentence())
    for name in _exact(ledger):
        print(ui.printable(f"Published exactly, and so not protected: {name}."))
    if doubt is not None:
        print(ui.amber(f"\n! Everything counts as spent, because {ui.printable(doubt)}."))
        print("  Its owners can bring it up to date with: louver ledger recover")


def _print_scope(ledger: Ledger, asked: Scope, region: Scope, left: Fraction) -> None:
    from louver.ledger.denial import down

    print(f"\nOn {ui.printable(str(region))}, epsilon {down(left)} is left at every point.")
    if region != asked:
        print(f"One unit, {ledger.unit}, may have rows at several other points, so this is about all of them.")


def _print_balances(found: Sequence[Balance]) -> None:
    from louver.ledger.denial import down, up

    print()
    rows = [
        (
            ui.printable(str(each)),
            ui.bar(each.spent, each.reserved, each.limit),
            up(each.spent),
            up(each.reserved) if each.reserved else "-",
            down(each.left),
        )
        for each in found
    ]
    ui.print_table(("cap", "", "spent", "reserved", "left"), rows, right=(2, 3, 4))
    if any(each.reserved for each in found):
        print("Reserved is the part of what is spent that never settled.")


def _print_used(used: Sequence[tuple[str, Scope, Fraction]]) -> None:
    from louver.ledger.denial import up

    print("\nMost used" if used else "\nNothing is spent yet.")
    if used:
        kinds = {kind for kind, _, _ in used}
        rows = [
            (up(spent), ui.printable(str(where)), ui.printable(kind) if len(kinds) > 1 else "")
            for kind, where, spent in used
        ]
        ui.print_table(("spent", "scope", "kind"), rows, right=(0,), long=1)
        if any(one.overlaps(other) for (_, one, _), (_, other, _) in combinations(used, 2)):
            print(
                "Some of these overlap. Spent is the largest total at one point of a scope; elsewhere it may be less."
            )


def _is_live(each: Reservation) -> bool:
    from louver.steward import LIVE

    return each.key is not None and each.key.startswith(LIVE)


def _live_key(each: Reservation) -> str | None:
    """The key under which a stream goes on tick by tick; None where it is another act, or one of its ticks."""
    from louver.steward import key_of_parts

    begin = key_of_parts("")
    return each.key.removeprefix(begin) if each.key is not None and each.key.startswith(begin) else None


def _print_live(reservations: Sequence[Reservation]) -> None:
    """Streams between their ticks. A tick that is being released costs nothing of its own, and is not shown."""
    from louver.ledger.denial import up

    streams = [(each, key) for each in reservations if (key := _live_key(each)) is not None]
    if not streams:
        return
    print(
        f"\nLive streams that are not over: {len(streams):,}. Each was paid for as a whole, and goes on with its key."
    )
    rows = [
        (
            str(each.number),
            f"{each.at[:10]} {each.at[11:19]} UTC",
            ui.printable(each.who),
            ui.printable(each.audience or ""),
            ui.printable(key),
            up(each.price),
        )
        for each, key in streams[:MOST_RESERVATIONS]
    ]
    ui.print_table(("number", "since", "who", "audience", "key", "price"), rows, right=(0, 5), long=4)
    if len(streams) > MOST_RESERVATIONS:
        print(f"and {len(streams) - MOST_RESERVATIONS:,} more; --json lists all")


def _print_reservations(reservations: Sequence[Reservation]) -> None:
    from louver.ledger.denial import up

    if not reservations:
        return
    print(f"\nNever settled: {len(reservations):,}. An act is running, or its process died; its price stays spent.")
    rows = [
        (
            str(each.number),
            f"{each.at[:10]} {each.at[11:19]} UTC",
            ui.printable(each.who),
            ui.printable(each.audience or ""),
            ui.printable(each.mechanism),
            up(each.price),
        )
        for each in reservations[:MOST_RESERVATIONS]
    ]
    ui.print_table(("number", "since", "who", "audience", "mechanism", "price"), rows, right=(0, 5), long=4)
    if len(reservations) > MOST_RESERVATIONS:
        print(f"and {len(reservations) - MOST_RESERVATIONS:,} more; --json lists all")
