"""A table with a ledger and a steward, for tests: invented rows, a real ledger on SQLite."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from louver.ledger import Cap, Ledger
from louver.noise import Bits
from louver.privacy import Unit
from louver.source import Table, rows
from louver.steward import Steward

LIMITS = {"hall": 100, "attic": 200}
# 200 over and 200 below their limits: wrong with probability under 1e-30 at a price of 0.4.
ROWS = "device,room\n" + "".join(f"d{number},hall\n" for number in range(300))


@dataclass(frozen=True)
class House:
    table: Table
    ledger: Ledger
    tokens: dict[str, str]
    steward: Steward


@contextmanager
def house(
    folder: Path,
    text: str | bytes = ROWS,
    unit: Unit | None = None,
    cap: float = 1,
    bits: Bits | None = None,
    **ledger: Any,
) -> Iterator[House]:
    unit = unit or Unit.row()
    path = folder / "presence.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    table = Table(path, dataset="house", unit=unit)
    people: dict[str, Any] = {"owners": ["ada"], "analysts": ["bob"], **ledger}
    made, tokens = Ledger.create(
        folder / "house.ledger", dataset="house", unit=unit, caps=[Cap(epsilon=cap)], key=folder / "key", **people
    )
    with made:
        steward = Steward(table, made) if bits is None else Steward._with_bits(table, made, bits)
        yield House(table, made, tokens, steward)


def recorded(
    monkeypatch: pytest.MonkeyPatch, ledger: Ledger, acts: list[str], failing: Callable[[str], None] = lambda _: None
) -> None:
    """Write down each act in the order in which it happens; `failing` may raise instead of an act."""

    def watch(owner: object, name: str) -> None:
        original = getattr(owner, name)

        def watched(*given: Any, **named: Any) -> Any:
            acts.append(name)
            failing(name)
            return original(*given, **named)

        monkeypatch.setattr(owner, name, watched)

    for owner, names in ((rows, ("checked", "read")), (ledger, ("reserve", "settle"))):
        for name in names:
            watch(owner, name)
