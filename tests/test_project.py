"""The project keeps what it says about itself."""

from __future__ import annotations

import functools
import importlib
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import louver
from louver.cli import COMMANDS

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


def test_the_package_knows_its_version() -> None:
    assert louver.__version__ == PROJECT["version"]
    assert f"## {louver.__version__}" in (ROOT / "CHANGELOG.md").read_text()


def loaded_after(statement: str) -> set[str]:
    code = f"import sys; {statement}; print(*sys.modules)"
    return set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split())


def test_importing_louver_loads_nothing_heavy() -> None:
    assert not loaded_after("import louver") & {
        "numpy",
        "duckdb",
        "sqlite3",
        "scipy",
        "dp_accounting",
        "decimal",
        "argparse",
    }


def test_the_rooms_load_no_optional_dependency() -> None:
    rooms = ", ".join(f"louver.{room}" for room in louver._ROOMS)
    assert not loaded_after(f"import {rooms}") & {"scipy", "dp_accounting", "psycopg", "pandas", "pyarrow"}


def test_only_the_steward_loads_the_engine() -> None:
    assert "duckdb" not in loaded_after("import louver.decide, louver.ledger, louver.source")


def test_a_stored_plan_loads_its_own_strategy_and_no_other() -> None:
    code = (
        "import json, louver, louver.decide; from louver.privacy import plan_from_dict, plan_to_dict, Unit; "
        "from louver.question import count; from louver.source import Domain, Source, Table; "
        "table = Table('rows.csv', dataset='d', unit=Unit.row()); "
        "domain = Domain({'room': ['hall']}, ['room']); "
        "made = louver.plan(Source(table, domains=domain), count().by('room') > 9, miss_rate=0.05, slack=3, "
        "strategy='sparse'); print(json.dumps(plan_to_dict(made)))"
    )
    stored = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    loaded = loaded_after(
        f"import json, louver.decide; from louver.privacy import plan_from_dict; plan_from_dict(json.loads({stored!r}))"
    )
    assert "louver.decide.sparse_plan" in loaded
    assert "louver.decide.survey" not in loaded


def test_a_room_is_loaded_when_it_is_first_used() -> None:
    assert "louver.noise" in loaded_after("import louver; louver.noise.discrete_laplace(1, 1)")
    with pytest.raises(AttributeError, match="no attribute 'nose'"):
        louver.nose  # noqa: B018
    assert set(louver.__all__) == set(dir(louver))


@pytest.mark.parametrize("room", [getattr(louver, room) for room in louver._ROOMS])
def test_every_public_name_is_documented(room: object) -> None:
    name = room.__name__.removeprefix("louver.")  # type: ignore[attr-defined]
    reference = "".join(page.read_text() for page in (ROOT / "docs" / "reference").glob(f"{name}*.md"))
    missing = [public for public in room.__all__ if f"`{public}" not in reference]  # type: ignore[attr-defined]
    assert not missing


def test_every_command_is_documented() -> None:
    reference = (ROOT / "docs" / "reference" / "command-line.md").read_text()
    assert all(f"`louver {command}`" in reference for command in COMMANDS)


def test_links_between_documents_lead_somewhere() -> None:
    for document in DOCUMENTS:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", document.read_text()):
            assert (document.parent / target).exists(), f"{document.relative_to(ROOT)} links to {target}"


def test_figures_in_documents_name_a_command_that_exists() -> None:
    for document in DOCUMENTS:
        for bench in re.findall(r"script/bench ([a-z]\w*)", document.read_text()):
            assert (ROOT / "bench" / f"{bench}.py").exists(), f"{document.relative_to(ROOT)} names bench {bench}"


def test_code_that_documents_name_exists() -> None:
    """A page that explains why something is private must speak of code that is there."""
    for document in DOCUMENTS:
        for name in re.findall(r"`(louver(?:\.\w+)+)`", document.read_text()):
            assert name == "louver.toml" or resolves(name), f"{document.relative_to(ROOT)} names {name}"
    assert not resolves("louver.noise.tables.Inverson")


def resolves(name: str) -> bool:
    """Whether the longest importable part of a dotted name has the rest as attributes."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        try:
            functools.reduce(getattr, parts[length:], found)
        except AttributeError:
            return False
        return True
    return False
