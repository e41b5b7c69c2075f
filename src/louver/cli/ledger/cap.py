"""`louver ledger cap`: set a cap, with the tokens of its owners."""

from __future__ import annotations

import argparse
from typing import Any

from louver.cli import ui
from louver.cli.ledger.common import add_place, add_tokens, opened, tokens


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_place(parser)
    parser.add_argument("cap", metavar="CAP", nargs="+", help="2, or '0.5 where room=clinic'; what it leaves out stays")
    parser.add_argument("--audience", metavar="NAME", help="the audience whose cap it is")
    parser.add_argument(
        "--exact",
        metavar="NAME",
        action="append",
        default=[],
        help="totals that may be published exactly too, by the name that a dry run states; may be repeated",
    )
    add_tokens(parser)


def run(arguments: argparse.Namespace) -> None:
    from louver.cli.ledger.written import cap_parts
    from louver.ledger import Cap

    numbers, scope = cap_parts(" ".join(arguments.cap))
    with opened(arguments) as ledger:
        place = scope, arguments.audience
        before = next((cap for cap in ledger.caps if cap.place() == place), None)
        kept: dict[str, Any] = (
            {} if before is None else {"epsilon": before.epsilon, "delta": before.delta, "rho": before.rho}
        )
        exact = [*(() if before is None else before.exact), *arguments.exact]
        after = Cap(**{**kept, **numbers}, scope=scope, audience=arguments.audience, exact=exact)
        ledger.set_cap(after, tokens(arguments))
        number = ledger.head().number
    if arguments.json:
        was = None if before is None else before.to_dict()
        ui.print_json("ledger cap", dataset=ledger.dataset, before=was, after=after.to_dict(), entry=number)
    else:
        said = "There was none at this place." if before is None else f"It was {before}."
        print(ui.printable(f"The cap is {after}. {said} This is entry {number}."))
