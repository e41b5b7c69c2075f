"""Every example runs, on the data that comes with Louver and on a file of one's own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


def run(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, EXAMPLES / name, *arguments], capture_output=True, text=True, check=False, timeout=120
    )


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.glob("*.py")))
def test_the_example_runs_without_arguments(name: str) -> None:
    done = run(name)
    assert done.returncode == 0, done.stderr
    assert done.stdout
    assert not done.stderr


def test_which_rooms_reads_files_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "presence.csv").write_text("device,room\n" + "".join(f"d{n},hall\n" for n in range(300)))
    (tmp_path / "rooms.csv").write_text("room,limit\nhall,100\nattic,200\n")
    done = run("which_rooms.py", str(tmp_path / "presence.csv"), str(tmp_path / "rooms.csv"))
    # 200 over and 200 below: wrong with probability under 1e-30.
    assert "flagged: hall\n" in done.stdout
    assert "price: 0.4148 epsilon" in done.stdout


def test_which_rooms_refuses_an_impossible_promise_in_one_sentence() -> None:
    done = run("which_rooms.py", "--miss-rate", "0")
    assert done.returncode == 2
    assert done.stderr.startswith("miss_rate must be greater than 0")
    assert done.stderr.count("\n") == 1
