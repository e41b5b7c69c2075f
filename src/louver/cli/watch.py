"""`louver watch [FEED]`: standing questions over a live feed; and `louver watch alarms|ack|snooze|erase|try`."""

from __future__ import annotations

import argparse
from pathlib import Path

from louver.cli.parser import Parser
from louver.errors import ParameterError
from louver.source.names import instead_of

COMMANDS = {
    "alarms": "list alarms: open ones, or all",
    "ack": "say that an alarm was seen, so that it is not repeated",
    "snooze": "hold back notices of a rule, or of one key, for a while",
    "erase": "forget all that is kept of one device, also where a watch is running",
    "try": "try a rule with other numbers on what was already released, for nothing",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Takes everything as it is: only `run` can tell a feed from a command, and each has options of its own."""
    parser.prefix_chars = "\0"
    parser.add_argument("words", nargs="*")


def run(arguments: argparse.Namespace) -> int:
    name, *rest = arguments.words or [""]
    if name in COMMANDS:
        line = COMMANDS[name]
        called = Parser(
            prog=f"louver watch {name}",
            description=f"{line[0].upper()}{line[1:]}.",
            module=f"louver.cli.watch_{name}",
        )
        return called.run(called.parse_args(rest))
    if _is_near(name):
        raise ParameterError(f"There is no command {name!r}{instead_of(name, COMMANDS)}, and no file of that name.")
    watching = Parser(
        prog="louver watch",
        description="Decides standing questions slot by slot over a feed, and tells what crosses its limit.",
        module="louver.cli.watch_feed",
    )
    listed = "\n".join(f"  louver watch {name:<7} {line}" for name, line in COMMANDS.items())
    watching.formatter_class = argparse.RawDescriptionHelpFormatter
    watching.epilog = f"beside it:\n{listed}"
    return watching.run(watching.parse_args(arguments.words))


def _is_near(name: str) -> bool:
    return "did you mean" in instead_of(name, COMMANDS) and not Path(name).exists()
