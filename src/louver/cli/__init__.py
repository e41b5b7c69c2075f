"""The command line: `louver COMMAND`. One file per command; each is imported only when it is called."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module

from louver import __version__
from louver.errors import LouverError

COMMANDS = {"demo": "flag crowded rooms of an invented building, with price and promise"}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="louver", description="Which places crossed the line? Private answers with a promised miss rate."
    )
    parser.add_argument("--version", action="version", version=f"louver {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for name, help_text in COMMANDS.items():
        commands.add_parser(name, help=help_text, description=help_text.capitalize() + ".")
    name = parser.parse_args(arguments).command
    if name is None:
        parser.print_help()
        return 0
    try:
        import_module(f"louver.cli.{name}").run()
        sys.stdout.flush()
    except LouverError as error:
        print(f"louver {name}: {error}", file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:
        # The reader of a pipe has left; Python would complain once more when it closes the output.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except KeyboardInterrupt:
        return 130
    return 0
