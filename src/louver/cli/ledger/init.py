"""`louver ledger init`: a new ledger, its key, and the tokens of its people, which are shown once."""

from __future__ import annotations

import argparse
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from louver.cli import ui
from louver.cli.ledger.common import add_place
from louver.errors import ParameterError

if TYPE_CHECKING:
    from louver.ledger import Cap


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_place(parser)
    parser.add_argument("--dataset", metavar="ID", required=True, help="the name of the data set")
    parser.add_argument("--unit", required=True, help="what is protected: row, or columns like '(person, day)'")
    parser.add_argument(
        "--cap",
        metavar="CAP",
        action="append",
        default=[],
        help="the most that may be spent: 1, or '0.2 where room=clinic'; may be repeated",
    )
    parser.add_argument("--delta", metavar="D", help="a delta for the cap that holds everywhere")
    parser.add_argument("--rho", metavar="R", help="a rho for the cap that holds everywhere")
    parser.add_argument(
        "--exact",
        metavar="NAME",
        action="append",
        default=[],
        help="totals that may be published exactly, by the name that a dry run states; may be repeated",
    )
    parser.add_argument(
        "--audience", metavar="NAME=CAP", action="append", default=[], help="a part of the budget; may be repeated"
    )
    parser.add_argument("--owner", metavar="NAME", action="append", default=[], help="who answers for the data")
    parser.add_argument("--analyst", metavar="NAME", action="append", default=[], help="who may ask")


def run(arguments: argparse.Namespace) -> None:
    from louver.cli.ledger.balance import in_order
    from louver.cli.ledger.written import audience_cap
    from louver.ledger import Ledger
    from louver.ledger.place import key_path
    from louver.privacy import Unit

    audiences = [audience_cap(given) for given in arguments.audience]
    ledger, tokens = Ledger.create(
        arguments.where,
        dataset=arguments.dataset,
        unit=Unit.parse(arguments.unit),
        caps=[replace(cap, exact=arguments.exact) for cap in (*_caps(arguments), *audiences)],
        owners=arguments.owner or ["owner"],
        analysts=arguments.analyst,
        key=arguments.key,
    )
    key = key_path(arguments.where, arguments.key)
    with ledger:
        roles = {person.name: person.role for person in ledger.people()}
        if arguments.json:
            ui.print_json(
                "ledger init",
                dataset=ledger.dataset,
                address=ledger.address,
                unit=str(ledger.unit),
                protected=ledger.unit.sentence(),
                caps=[cap.to_dict() for cap in in_order(ledger.caps)],
                key=str(key),
                witness=f"{key}.witness",
                tokens=[{"name": name, "role": roles[name], "token": token} for name, token in tokens.items()],
            )
            return
        print(f"A ledger for {ui.bold(ledger.dataset)}: {ui.printable(ledger.address)}")
        print(ledger.unit.sentence())
        print("\nAt any point of the data may be spent:")
        for cap in in_order(ledger.caps):
            print(f"  {ui.printable(str(cap))}")
        print(f"\nkey      {ui.printable(str(key))}")
        print("         signs every entry; keep a copy where backups of the ledger are not")
        print(f"witness  {ui.printable(str(key))}.witness")
        print("         knows the newest entry, so that an older ledger is noticed; never restore it from a backup")
        print("\nTokens, which are not shown again:")
        for name, token in tokens.items():
            print(f"  {name} ({roles[name]})  {token}")
        if list(roles.values()).count("owner") == 1:
            print("There is one owner, who can raise a cap alone; with --owner given twice it takes both.")
        print("\nKeep the head elsewhere, so that nobody can cut the ledger off or rewrite it unseen:")
        named = ["--key", str(key)] if arguments.key else []
        print(
            f"  {ui.printable(shlex.join(['louver', 'ledger', 'export', ledger.address, *named]))} --to FILE-ELSEWHERE"
        )


def _caps(arguments: argparse.Namespace) -> list[Cap]:
    """The caps as given; --delta and --rho belong to the one that holds everywhere."""
    from louver.cli.ledger.written import cap_parts, number
    from louver.ledger import Cap

    extra: dict[str, Any] = {
        name: number(f"The {name} of a cap", given)
        for name, given in (("delta", arguments.delta), ("rho", arguments.rho))
        if given is not None
    }
    parts = [cap_parts(given) for given in arguments.cap]
    if not parts and "rho" in extra:
        return [Cap(**extra)]
    if not parts:
        raise ParameterError("A ledger needs a cap, like --cap 1: the most that may be spent about any unit.")
    return [Cap(**(numbers if scope.ranges else {**extra, **numbers}), scope=scope) for numbers, scope in parts]
