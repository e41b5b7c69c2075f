"""The command line: `louver COMMAND`. One file per command; each is imported only when it is called."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress

from louver import __version__
from louver.cli.parser import Parser, add_commands
from louver.cli.ui import printable
from louver.errors import LouverError

COMMANDS = {
    "ask": "which keys meet a condition, with a promise, paid for by a ledger",
    "audit": "what attackers would learn, and whether every promise is kept",
    "demo": "flag crowded rooms of an invented building, with price and promise",
    "ledger": "make, show, prove and report the account of a data set's privacy budget",
    "map": "build a private map of what people measure, and show, ask and combine maps",
    "publish": "publish private numbers: a stream of values, or a table of counts with exact totals",
    "sense": "turn raw events into a table of pseudonyms that can be asked about",
    "simulate": "invent a building's events, or other data, with the truth behind them",
    "survey": "ask people a question by randomized response, so that nobody has to be trusted",
    "tune": "find the parameter at which a mechanism is useful enough, by the truth that its owner has",
    "watch": "decide standing questions slot by slot over a feed, and raise alarms",
}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = Parser(
        prog="louver", description="Which places crossed the line? Private answers with a promised miss rate."
    )
    parser.add_argument("--version", action="version", version=f"louver {__version__}")
    add_commands(parser, "louver.cli", COMMANDS)
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError):  # a name that the terminal cannot show is written with escapes
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    called = parser.parse_args(arguments)
    chosen: Parser = getattr(called, "parser", parser)
    try:
        code = chosen.run(called)
        sys.stdout.flush()
    except LouverError as error:
        print(f"{chosen.prog}: {printable(str(error))}", file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:
        _drop_output()
        return 141
    except KeyboardInterrupt:
        return 130
    except OSError as fault:
        _drop_output()
        print(f"{chosen.prog}: The operating system refused: {fault.strerror or 'no reason'}.", file=sys.stderr)
        return 1
    return code


def _drop_output() -> None:
    """The reader of a pipe has left, or the disk is full; Python would complain once more when it closes the output."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
