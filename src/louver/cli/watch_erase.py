"""`louver watch erase`: forget all that is kept of one device, also where a watch is running."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from louver.cli.watch_feed import add_rules
from louver.errors import DataError, ParameterError

if TYPE_CHECKING:
    from louver.sense.store import Store
    from louver.watch.journal import Journal
    from louver.watch.rules import Rules

LONGEST = 60  # seconds, unless others are given
PAUSE = 0.25  # seconds between looking whether a watch has done it


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_rules(parser)
    parser.add_argument(
        "--pseudonym",
        metavar="N",
        help="whom, by pseudonym; else by device ids that are asked for, or read line by line",
    )
    parser.add_argument(
        "--for", metavar="SECONDS", dest="seconds", default=str(LONGEST), help="how long to wait for a running watch"
    )


def run(arguments: argparse.Namespace) -> None:
    from louver.cli.ledger.written import number
    from louver.parameters import positive
    from louver.watch.journal import Journal, clock
    from louver.watch.rules import Rules

    seconds = float(positive("--for", number("--for", arguments.seconds)))
    rules = Rules.read(arguments.rules)
    if isinstance(rules.store, Path) and not rules.store.exists():
        raise DataError(f"There is no store at {rules.store}, so nothing is kept; louver watch makes one.")
    people = _people(rules, arguments.pseudonym)
    with Journal.open(rules.journal) as journal:
        # First of all: whatever happens then, it is done by the next watch at the latest.
        now = clock()
        for person in people:
            journal.erasures.ask(person, now)
        _wait(rules, journal, people, seconds, has_door=arguments.pseudonym is None)
    print("Done: nothing that the store had of it is there any more. What was released and paid stays.")


def _wait(rules: Rules, journal: Journal, people: set[int], seconds: float, *, has_door: bool) -> None:
    """Until it is done: here where nobody has the store, or else by the watch that has it."""
    from louver.sense.store import InUseError
    from louver.watch.erasing import Erasing

    until = time.monotonic() + seconds
    while any(erasure.person in people for erasure in journal.erasures.waiting()):
        try:
            with _opened(rules, has_door=has_door) as store:
                Erasing(journal.erasures, store).run()
        except InUseError:
            if time.monotonic() > until:
                raise DataError(
                    f"A watch has the store and did not come to it within {seconds:g} seconds. The request stays, and "
                    "is done by that watch or by the next one."
                ) from None
            time.sleep(PAUSE)


def _opened(rules: Rules, *, has_door: bool) -> Store:
    from louver.sense.pseudonyms import Door
    from louver.sense.store import Store

    store = Store.open(rules.store)
    try:
        if has_door:
            store.bind(Door.open(rules.salt))  # with another salt nobody would be found
    except BaseException:
        store.close()
        raise
    return store


def _people(rules: Rules, pseudonym: str | None) -> set[int]:
    """Whom to erase. Device ids are never taken from the command line, which others on the machine can see."""
    from louver.sense.pseudonyms import Door

    if pseudonym is not None:
        if not pseudonym.isdecimal() or int(pseudonym) >= 2**63:
            raise ParameterError("--pseudonym must be a whole number from 0 to 2^63 - 1.")
        return {int(pseudonym)}
    if rules.rotate is not None:
        raise ParameterError(
            "Pseudonyms change in this watch, so a device cannot be found again; what is kept of it expires. Who is "
            "known by a pseudonym is erased with --pseudonym."
        )
    if not rules.salt.exists():
        raise DataError(f"There is no salt at {rules.salt}, without which no device is found; restore it.")
    door = Door.open(rules.salt)
    return {door.person(device) for device in _devices()}


def _devices() -> list[str]:
    from louver.sense.pseudonyms import is_address

    if not sys.stdin.isatty():
        given = [line for line in sys.stdin.read().splitlines() if line.strip()]
    else:
        print("Device: ", end="", file=sys.stderr, flush=True)
        given = [line for line in [sys.stdin.readline()] if line.strip()]
        if given and not is_address(given[0]):
            print("This is no MAC address, so it is taken as it is written.", file=sys.stderr)
    if not given:
        raise ParameterError("No device was given: write its id, or one a line into the input.")
    return given
