"""`louver publish stream` in a folder with files, for tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from louver import cli
from louver.ledger import Ledger
from tests.cli.asking import VARIABLES, Told
from tests.stream.published import rows

DESCRIBED = """
[source.presence]
table = "presence.csv"
dataset = "house"
unit = "(person, slot)"
ledger = "house.ledger"
rows_per_unit = 1
domain = "rooms"
[source.presence.columns]
slot = "slot(time, 5)"
[source.presence.values]
watts = { low = 0, high = 8, step = 1 }
[domain.rooms]
rows = [{ room = "hall" }, { room = "lab" }]
"""
RANGE = ("--every", "5m", "--from", "2018-02-01T09:00", "--until", "2018-02-01T10:00")
HOUR = ("presence", "--by", "room", *RANGE)
# At this price there is no noise but once in 10^200 draws.
LOUD = (*HOUR, "--mechanism", "laplace", "--epsilon", "500")

Publish = Callable[..., Told]


@pytest.fixture
def publish(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Publish:
    """Runs `louver publish stream` with the given words, in a folder with presence.csv and its description."""
    monkeypatch.chdir(tmp_path)
    for variable in VARIABLES:
        monkeypatch.delenv(f"LOUVER_{variable}", raising=False)
    Path("presence.csv").write_text(rows())
    Path("louver.toml").write_text(DESCRIBED)

    def run(*words: str) -> Told:
        capsys.readouterr()
        try:
            code = cli.main(["publish", "stream", *words])
        except SystemExit as left:
            code = int(left.code or 0)
        shown = capsys.readouterr()
        return Told(code, shown.out, shown.err)

    return run


def refused(told: Told, code: int, said: str) -> None:
    """One sentence, its exit code, and nothing else."""
    assert told.code == code, told.err
    assert said in told.err
    assert told.err.startswith("louver publish stream: ")
    assert told.err.endswith(".\n")
    assert told.err.count("\n") == 1
    assert told.out == ""


def spent() -> Any:
    with Ledger.open("house.ledger") as ledger:
        return ledger.spent()
