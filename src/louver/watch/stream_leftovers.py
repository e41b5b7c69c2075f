"""What streams left that are not in the rules any more: renamed, or taken out.

A state holds private numbers, so it goes when its part is over. Until then it stays, for whoever puts the stream back.
A spool holds what is published and was paid for; it stays, and is told.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from louver.errors import LouverError
from louver.ledger import Ledger
from louver.privacy import Between, Charge, Scope
from louver.sense.events import instant
from louver.stream.session import payment_of
from louver.stream.state_file import State
from louver.watch.rules import SLOT, Rules
from louver.watch.stream_rules import begun_as

STATE, SPOOL = ".state", ".spool"


class Leftovers:
    """The files of a watch's folder of streams that belong to none of its streams; none where there is no folder."""

    def __init__(self, rules: Rules, ledger: Ledger, folder: Path, say: Callable[[str], None]) -> None:
        self._states: dict[Path, tuple[Charge, ...]] = {}
        if any(rule.key is not None for rule in rules.streams):
            return  # one command of several that share the folder
        names = {rule.name for rule in rules.streams}
        for path in sorted(folder.glob(f"*@*{STATE}")):
            if (name := path.name.rpartition("@")[0]) not in names:
                self._find(path, name, ledger, say)
        for path in sorted(folder.glob(f"*{SPOOL}")):
            if path.name.removesuffix(SPOOL) not in names and path.stat().st_size:
                say(
                    f"{path} holds ticks that were not sent, of a stream that is not in the rules any more; put it "
                    "back, or delete the file."
                )

    def _find(self, path: Path, name: str, ledger: Ledger, say: Callable[[str], None]) -> None:
        try:
            state = State.load(path)
            paid = None if state is None or not state.key.startswith(begun_as(name)) else payment_of(ledger, state.key)
        except LouverError as fault:
            say(f"The state {path} is of a stream that is not in the rules any more: {fault}")
            return
        if paid is not None:
            self._states[path] = paid.charges

    def forget(self, slot: int) -> None:
        """States of parts that have no slot any more, from this one on."""
        if not self._states:
            return
        to_come = Scope({SLOT: Between(instant(slot), None)})
        for path, charges in list(self._states.items()):
            if all(charge.scope.disjoint(to_come) for charge in charges):
                forget(path)
                del self._states[path]


def forget(state: Path) -> None:
    """A state is gone, with its lock and what a process that died was writing."""
    for path in (state, state.with_name(f"{state.name}.new"), state.with_name(f"{state.name}.lock")):
        path.unlink(missing_ok=True)
