"""The import contracts hold, and they bite: a bad import added to a copy of the tree is found."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def linted(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as lint; lint()", "--no-cache"]
    path = {**os.environ, "PYTHONPATH": str(folder / "src"), "COLUMNS": "200"}
    return subprocess.run(command, cwd=folder, env=path, capture_output=True, text=True, check=False, timeout=120)


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    ignored = shutil.ignore_patterns("__pycache__", ".mypy_cache")
    shutil.copytree(ROOT / "src" / "louver", tmp_path / "src" / "louver", ignore=ignored)
    return tmp_path


def test_the_contracts_hold(copied: Path) -> None:
    done = linted(copied)
    assert done.returncode == 0, done.stdout
    assert "0 broken" in done.stdout


@pytest.mark.parametrize(
    ("file", "bad", "broken"),
    [
        ("decide/shift.py", "from louver.source import rows", "Only the steward reads rows"),
        ("decide/decision.py", "from louver.source.rows import read", "Only the steward reads rows"),
        ("cli/demo.py", "import louver.source.rows", "Only the steward reads rows"),
        ("source/__init__.py", "from louver.source.rows import read", "Only the steward reads rows"),
        ("ledger/model.py", "from louver.source import Table", "Rooms import from lower rooms only"),
        ("source/table.py", "from louver.ledger import Cap", "Rooms import from lower rooms only"),
        ("steward.py", "from louver.decide import Shift", "Rooms import from lower rooms only"),
        ("decide/progressive.py", "from louver.noise import idealised", "No release uses idealised noise"),
        ("steward.py", "from louver.noise.idealised import laplace", "No release uses idealised noise"),
    ],
)
def test_a_bad_import_is_found(copied: Path, file: str, bad: str, broken: str) -> None:
    path = copied / "src" / "louver" / file
    path.write_text(f"{path.read_text()}\n\n{bad}\n")
    done = linted(copied)
    assert done.returncode != 0
    assert f"{broken} BROKEN" in " ".join(done.stdout.split())
