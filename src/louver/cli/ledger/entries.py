"""`louver ledger entries`: every entry, oldest first; as JSON lines, which `louver ledger recover` reads."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

from louver.cli import ui
from louver.cli.ledger.common import add_place, opened
from louver.errors import ParameterError

if TYPE_CHECKING:
    from louver.ledger import Entry


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_place(parser)
    parser.add_argument("--since", metavar="N", type=int, default=0, help="only those after entry N")


def run(arguments: argparse.Namespace) -> None:
    if arguments.since < 0:
        raise ParameterError("--since takes the number of an entry, 0 or more.")
    with opened(arguments) as ledger:
        if not arguments.json:
            print(ui.faint(_line("entry", "when (UTC)", "who", "act", "what")))
        for entry in ledger.entries(arguments.since):
            print(json.dumps(entry.to_dict()) if arguments.json else _row(entry))


def _row(entry: Entry) -> str:
    when = f"{entry.at[:10]} {entry.at[11:19]}"
    return _line(str(entry.number), when, ui.printable(entry.who), entry.act, ui.printable(_said(entry)))


def _line(number: str, when: str, who: str, act: str, what: str) -> str:
    """Columns of fixed widths, so that a long ledger is shown as it is read."""
    return f"{number:>7}  {when:<19}  {who:<16}  {act:<12}  {what}".rstrip()


def _said(entry: Entry) -> str:
    """What an entry says in one line; a damaged one says nothing here, and `verify` names it."""
    try:
        return _SENTENCES[entry.act](entry)
    except (KeyError, TypeError, ValueError):
        return ""


def _reserved(entry: Entry) -> str:
    from louver.ledger.denial import up
    from louver.privacy.plan import charges_from_list

    charges = charges_from_list(entry.body["charges"])
    largest = up(max(charge.price for charge in charges))
    where = str(charges[0].scope) if len(charges) == 1 else f"each of {len(charges):,} scopes"
    return f"{entry.body['plan']['mechanism']}: at most {largest} on {where}"


def _settled(entry: Entry) -> str:
    from louver.ledger.denial import up
    from louver.privacy.plan import charges_from_list

    number, plain = entry.body["reservation"], entry.body["charges"]
    if plain is None:
        return f"reservation {number}, as it was reserved"
    largest = max((charge.price for charge in charges_from_list(plain)), default=Fraction(0))
    return f"reservation {number}, at most {up(largest)} on a scope"


def _denied(entry: Entry) -> str:
    from louver.ledger.denial import down, up
    from louver.privacy import Scope

    asked, left = (Fraction(entry.body[name]) for name in ("requested", "remaining"))
    left = max(left, Fraction(0))
    return f"{up(asked)} of {entry.body['what']} asked, {down(left)} left on {Scope.from_dict(entry.body['scope'])}"


def _cap(entry: Entry) -> str:
    from louver.ledger import Cap

    return str(Cap.from_dict(entry.body["cap"]))


_SENTENCES: dict[str, Callable[[Entry], str]] = {
    "opened": lambda entry: f"{entry.body['dataset']}, protecting {entry.body['unit']}",
    "reserved": _reserved,
    "settled": _settled,
    "denied": _denied,
    "cap set": _cap,
    "person added": lambda entry: f"{entry.body['person']['name']} as {entry.body['person']['role']}",
    "recovered": lambda entry: f"epoch {entry.epoch}, with {entry.body['added']} entries supplied",
}
