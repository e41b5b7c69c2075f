"""`louver ask` in a folder with files, for tests."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from louver import cli

# hall has 300 rows and lab 3: both so far from their limits that a wrong answer has probability under 1e-15.
ROWS = ["device,room,floor,watts", *(f"{n},hall,1,{n % 50}" for n in range(300)), *(f"{n},lab,1,5" for n in range(3))]
CROWDED = "SELECT room FROM presence JOIN rooms USING (room) GROUP BY room HAVING count(*) > rooms.capacity"
BARE = ("presence.csv", CROWDED, "--unit", "row", "--domain", "rooms.csv")
PROMISE = ("--miss-rate", "0.05", "--slack", "10")
DESCRIBED = """
[source.presence]
table = "presence.csv"
dataset = "house"
unit = "(device)"
ledger = "house.ledger"
rows_per_unit = 2
domain = "rooms"
[source.presence.values]
watts = { low = 0, high = 64, step = 1 }
[domain.rooms]
file = "rooms.csv"
[domain.some]
rows = [{ room = "hall", capacity = 10 }]
[ask]
miss_rate = 0.05
slack = 10
budget = 4
"""
VARIABLES = (
    "SURVEY",
    "EPSILON",
    "TOKEN",
    "LEDGER_KEY",
    "LEDGER",
    "MISS_RATE",
    "SLACK",
    "FALSE_ALARM_RATE",
    "OBJECTIVE",
    "BUDGET",
    "DOMAIN",
    "WITHIN",
)


@dataclass
class Told:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def words(self) -> str:
        return " ".join(self.out.split())


Tell = Callable[..., Told]


@pytest.fixture
def tell(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Tell:
    """Runs `louver ask` with the given words, in a folder with presence.csv and rooms.csv."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NO_COLOR", raising=False)
    for variable in VARIABLES:
        monkeypatch.delenv(f"LOUVER_{variable}", raising=False)
    Path("presence.csv").write_text("\n".join(ROWS))
    Path("rooms.csv").write_text("room,capacity\nhall,180\nlab,40\nattic,90\n")

    def run(*words: str) -> Told:
        capsys.readouterr()
        try:
            code = cli.main(["ask", *words])
        except SystemExit as left:
            code = int(left.code or 0)
        shown = capsys.readouterr()
        return Told(code, shown.out, shown.err)

    return run


def refused(told: Told, code: int, said: str) -> None:
    """One sentence, its exit code, and nothing else."""
    assert told.code == code, told.err
    assert said in told.err
    assert told.err.startswith("louver ask: ")
    assert told.err.endswith(".\n")
    assert told.err.count("\n") == 1
    assert told.out == ""


def told(capsys: pytest.CaptureFixture[str], *words: str) -> Told:
    """What `louver` with these words says, and the code it ends with."""
    capsys.readouterr()
    try:
        code = cli.main(list(words))
    except SystemExit as left:
        code = int(left.code or 0)
    shown = capsys.readouterr()
    return Told(code, shown.out, shown.err)


def refused_by(command: str, told: Told, said: str) -> None:
    """One sentence of this command, and nothing else."""
    assert told.code not in (0, None), told.out
    assert said in told.err
    assert told.err.startswith(f"{command} ")
    assert told.err.endswith(".\n")
    assert told.err.count("\n") == 1
    assert told.out == ""
