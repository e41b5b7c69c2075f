"""Options of the commands that score by the truth: an invented building, or the owner's own events."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

from louver.cli import ui
from louver.errors import ParameterError

if TYPE_CHECKING:
    from louver.attack.open_regions import Attacker
    from louver.attack.truth import Truth

SEED = 7


def add_truth(parser: argparse.ArgumentParser) -> None:
    given = parser.add_argument_group("the truth, which only its owner has")
    given.add_argument(
        "building", nargs="?", metavar="BUILDING.toml", help="whose regions are counted, and who may enter"
    )
    given.add_argument(
        "--events", metavar="FILE", help="device, place and time; 'events' beside the building unless given"
    )
    given.add_argument("--demo", action="store_true", help="an invented building of 64 regions, and nobody's data")
    given.add_argument("--days", metavar="N", help="the last N days of it; all unless given, 89 of the invented one")
    given.add_argument("--people", metavar="N", help="how many people are invented; 36000 unless given")
    given.add_argument("--seed", metavar="N", default=str(SEED), help=f"of what is invented; {SEED} unless given")


def truth_from(arguments: argparse.Namespace) -> tuple[Truth, str]:
    """The truth, and in words what it is of."""
    from louver.attack.truth import Truth

    days, people = (None if given is None else count(name, given) for name, given in _sizes(arguments))
    if arguments.demo == (arguments.building is not None):
        raise ParameterError("Name a building.toml whose events you have, or take --demo, which invents one.")
    if not arguments.demo:
        if people is not None:
            raise ParameterError("--people is for --demo, which invents them.")
        truth = Truth.read(arguments.building, arguments.events, days)
        return truth, f"events of {arguments.building}"
    if arguments.events is not None:
        raise ParameterError("--events belongs to a building.toml; --demo invents its own.")
    from louver.sense.simulate import simulate

    with ui.Progress("days invented") as progress:
        made = simulate("building", days=days, people=people, seed=count("seed", arguments.seed, 0), progress=progress)
    return Truth.simulated(made), f"an invented building: {made.summary}"


def attackers_from(truth: Truth, given: list[str] | None) -> list[Attacker] | None:
    """Those that were named, each once; None where none was."""
    from louver.attack.open_regions import attacker_named

    if given is None or truth.building is None:
        return None
    return list({each.name: each for each in (attacker_named(truth.building, said) for said in given)}.values())


def _sizes(arguments: argparse.Namespace) -> Iterator[tuple[str, str | None]]:
    return ((name, getattr(arguments, name)) for name in ("days", "people"))


def count(name: str, given: str, least: int = 1) -> int:
    """A whole number of an option."""
    try:
        found = int(given)
    except ValueError:
        found = least - 1
    if found < least:
        raise ParameterError(f"--{name} must be a whole number from {least} on, not {given!r}.")
    return found


def shares(name: str, given: str) -> list[float]:
    """Numbers from 0 to 1 with commas between them."""
    try:
        found = [float(each) for each in given.split(",")]
    except ValueError:
        found = [-1.0]
    if any(not 0 <= each <= 1 for each in found):
        raise ParameterError(f"--{name} must be numbers from 0 to 1 with commas between them, not {given!r}.")
    return list(dict.fromkeys(found))


def names(given: str) -> list[str]:
    from louver.attack.mechanisms import named

    return [named(each.strip()).name for each in given.split(",")]
