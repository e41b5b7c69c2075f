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
    from louver.sense.pseudonyms import Door
    from louver.watch.journal import Journal
    from louver.watch.rules import Rules

LONGEST = 60  # seconds, unless others are given
PAUSE = 0.25  # seconds between looking whether a watch has done it


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("given", nargs="*", help=argparse.SUPPRESS)  # to say why no device is taken here
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
    from louver.watch.rules import REGION, Rules

    if arguments.given:
        raise ParameterError(
            "Nothing was erased: a device is not taken from the command line, which others on this machine can see and "
            "the shell keeps. Leave it out, and it is asked for."
        )
    seconds = float(positive("--for", number("--for", arguments.seconds)))
    rules = Rules.read(arguments.rules)
    if rules.unit.fixes(REGION):
        raise ParameterError(
            "This watch keeps what sensors of places read, and it is nobody's own, so that there is nobody to erase; "
            "keep = ... in the rules says how long it stays."
        )
    if isinstance(rules.store, Path) and not rules.store.exists():
        raise DataError(f"There is no store at {rules.store}, so nothing is kept; louver watch makes one.")
    door = _door(rules) if arguments.pseudonym is None else None
    people = {_number(arguments.pseudonym)} if door is None else {door.person(device) for device in _devices()}
    with Journal.open(rules.journal) as journal:
        if door is not None:
            _check_salt(rules, journal, door)
        # First of all: whatever happens then, it is done by the next watch at the latest.
        journal.erasures.ask(people, clock())
        _wait(rules, journal, people, seconds)
    print("Done: nothing that the store had of it is there any more. What was released and paid stays.")


def _wait(rules: Rules, journal: Journal, people: set[int], seconds: float) -> None:
    """Until it is done: here where nobody has the store, or else by the watch that has it."""
    from louver.sense.store import InUseError, Store
    from louver.watch.erasing import Erasing

    until = time.monotonic() + seconds
    while any(erasure.person in people for erasure in journal.erasures.waiting()):
        try:
            with Store.open(rules.store) as store:
                Erasing(journal.erasures, store).run()
        except InUseError:
            if time.monotonic() > until:
                raise DataError(
                    f"A watch has the store and did not come to it within {seconds:g} seconds. The request stays, and "
                    "is done by that watch or by the next one."
                ) from None
            time.sleep(PAUSE)


def _check_salt(rules: Rules, journal: Journal, door: Door) -> None:
    """With another salt nobody would be found, and it would seem to be done; so nothing is asked for."""
    from louver.sense.store import InUseError, Store

    try:
        with Store.open(rules.store) as store:
            store.bind(door)
    except InUseError:
        if journal.erasures.salt() not in (None, door.fingerprint):
            raise DataError(door.UNLIKE.format("the store of the watch that is running")) from None


def _number(pseudonym: str) -> int:
    if not pseudonym.isdecimal() or int(pseudonym) >= 2**63:
        raise ParameterError("--pseudonym must be a whole number from 0 to 2^63 - 1.")
    return int(pseudonym)


def _door(rules: Rules) -> Door:
    """By which devices are found. They are never taken from the command line, which others on the machine can see."""
    from louver.sense.pseudonyms import Door

    if rules.rotate is not None:
        raise ParameterError(
            "Pseudonyms change in this watch, so a device cannot be found again; what is kept of it expires. Who is "
            "known by a pseudonym is erased with --pseudonym."
        )
    if not rules.salt.exists():
        raise DataError(f"There is no salt at {rules.salt}, without which no device is found; restore it.")
    return Door.open(rules.salt)


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
