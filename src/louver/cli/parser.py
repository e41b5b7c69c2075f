"""Parsing of commands that are imported when they are called, with a suggestion for a mistyped one.

A command is a module with `run(arguments) -> int | None` and `add_arguments(parser)`; one without `add_arguments` has a
`run()` that takes none. A module that only groups commands has no `run`, and shows its help.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from importlib import import_module
from types import ModuleType
from typing import Any, NoReturn


class Parser(argparse.ArgumentParser):
    """A parser that asks a command's module for its arguments only when the command is called."""

    def __init__(self, *given: Any, module: str | None = None, **named: Any) -> None:
        super().__init__(*given, **{**named, "allow_abbrev": False})
        self._name = module
        self._module: ModuleType | None = None

    def run(self, arguments: argparse.Namespace) -> int:
        run = getattr(self._module, "run", None)
        if run is None:
            self.print_help()
            return 0
        return (run(arguments) if hasattr(self._module, "add_arguments") else run()) or 0

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        self._load()
        known, left = super().parse_known_args(args, namespace)
        if left:
            self._refuse(left[0])
        return known, left

    def _load(self) -> None:
        if self._name is None or self._module is not None:
            return
        self._module = import_module(self._name)
        self.set_defaults(parser=self)
        if hasattr(self._module, "add_arguments"):
            self._module.add_arguments(self)

    def _refuse(self, argument: str) -> NoReturn:
        options = [option for action in self._actions for option in action.option_strings]
        self.error(f"{argument!r} is not known here{_suggestion(argument, options)}")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if isinstance(action, argparse._SubParsersAction) and value not in action.choices:
            self.error(f"there is no command {value!r}{_suggestion(value, action.choices)}")
        super()._check_value(action, value)


def add_commands(parser: Parser, package: str, commands: Mapping[str, str]) -> None:
    """One command for each module of a package that is named, with one line of help."""
    added = parser.add_subparsers(metavar="COMMAND", parser_class=Parser)
    for name, line in commands.items():
        added.add_parser(name, help=line, description=line[0].upper() + line[1:] + ".", module=f"{package}.{name}")


def _suggestion(given: str, known: Iterable[str]) -> str:
    listed = list(known)
    near = get_close_matches(given, listed, n=1)
    if near:
        return f"; did you mean {near[0]!r}?"
    return f"; there are {', '.join(listed)}" if listed else ""
