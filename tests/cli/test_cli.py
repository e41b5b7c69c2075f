from __future__ import annotations

import re
import subprocess
import sys
import xml.etree.ElementTree as Xml
from pathlib import Path

import pytest

from louver import __version__, cli
from louver.cli import demo
from louver.errors import PromiseError
from tests.stream.smoothing import seeded


def test_the_demo_prints_price_promise_and_answer(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["demo"]) == 0
    shown = capsys.readouterr().out
    assert f"question   {demo.QUESTION}" in shown
    assert "one row, not one person" in shown
    assert "is missed in at most 1 of 20 cases" in shown
    assert "epsilon 0.4148 for a device in a room" in shown
    assert "pays 0.5117" in shown
    assert "at most 60.3% sure" in shown
    assert shown.count("with probability 0.050000 by computation") == 2


def test_the_demo_pays_twice_and_is_refused_the_third_time(capsys: pytest.CaptureFixture[str]) -> None:
    cli.main(["demo"])
    shown = " ".join(capsys.readouterr().out.split())
    assert shown.count("charged 0.4148") == 2
    assert shown.index("0.5852 remains") < shown.index("0.1704 remains") < shown.index("refused The budget")
    assert "What would fit: a miss rate of 0.2; or a slack of 26." in shown


def test_the_demo_flags_what_is_far_over_and_not_what_is_far_below(capsys: pytest.CaptureFixture[str]) -> None:
    """The canteen is 32 over its limit and the lobby 60 below: wrong with probability under 1e-6 each."""
    cli.main(["demo"])
    flagged = re.search(r"^flagged +(.*)$", capsys.readouterr().out, re.MULTILINE)
    assert flagged is not None
    assert "Canteen" in flagged[1]
    assert "Lobby" not in flagged[1]


def test_the_demo_draws_a_published_day_beside_the_truth(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Bits are fixed."""
    monkeypatch.setattr("louver.steward.SYSTEM", seeded(1))
    assert cli.main(["demo", "--plot", str(tmp_path / "day.svg")]) == 0
    said = capsys.readouterr().out
    assert said.startswith("Protected: everything recorded about one person during one slot")
    assert "Price: epsilon 0.1, paid before a row was read" in said
    off, busy, fresh = (float(found) for found in re.findall(r"by (\d+\.\d+)", said))
    assert off < busy < fresh == 9.98  # 2 a / (1 - a^2), a = exp(-0.1)
    (inside,) = re.findall(r"inside the band at (.*?)%", said)
    assert 90 < float(inside) < 100
    drawn = Xml.fromstring((tmp_path / "day.svg").read_text())  # noqa: S314
    assert len(list(drawn.iter("{http://www.w3.org/2000/svg}g"))) == 22
    assert "truth (invented data)" in (tmp_path / "day.svg").read_text()
    assert [each.name for each in tmp_path.iterdir()] == ["day.svg"]  # no ledger and no row is left


@pytest.mark.parametrize(
    ("name", "code", "said"), [("a.png", 2, ".svg"), ("no/a.svg", 2, "no folder"), ("b.svg", 4, "already")]
)
def test_the_demo_refuses_a_file_that_it_cannot_write(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str, code: int, said: str
) -> None:
    (tmp_path / "b.svg").write_text("mine")
    assert cli.main(["demo", "--plot", str(tmp_path / name)]) == code
    assert said in capsys.readouterr().err
    assert (tmp_path / "b.svg").read_text() == "mine"


def test_an_error_is_one_sentence_and_its_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(_: object) -> None:
        raise PromiseError("No plan keeps this promise.")

    monkeypatch.setattr(demo, "run", refuse)
    assert cli.main(["demo"]) == 5
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err == "louver demo: No plan keeps this promise.\n"


@pytest.mark.parametrize("wrong", [["dmo"], ["demo", "--fast"], ["--verison"]])
def test_wrong_usage_is_exit_code_2(wrong: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        cli.main(wrong)
    assert caught.value.code == 2
    assert "usage: louver" in capsys.readouterr().err


def test_without_a_command_the_help_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([]) == 0
    assert "demo" in capsys.readouterr().out


def test_a_reader_that_leaves_early_gets_no_traceback() -> None:
    command = f"{sys.executable} -m louver demo | head -1"
    shown = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)  # noqa: S602
    assert shown.stdout == "Which rooms hold more devices than their limit?\n"
    assert shown.stderr == ""


def test_an_interrupt_is_quiet(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(demo, "run", interrupt)
    assert cli.main(["demo"]) == 130
    assert capsys.readouterr().err == ""


def test_the_demo_tells_misses_slack_and_false_alarms_apart(capsys: pytest.CaptureFixture[str]) -> None:
    demo._print_truth({"over": 3, "missed": 1, "near": -9, "at": 0, "far": -10}, {"over", "near", "far"}, 10)
    shown = capsys.readouterr().out
    assert "2 rooms are over; missed at first: missed;" in shown
    assert "flagged within the slack: near; false alarms: far" in shown


def test_python_dash_m_louver_is_the_command() -> None:
    shown = subprocess.run([sys.executable, "-m", "louver", "--version"], capture_output=True, text=True, check=True)
    assert shown.stdout == f"louver {__version__}\n"


def test_the_demo_hands_out_its_files_to_ask_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["demo", "--files", "building"]) == 0
    assert capsys.readouterr().out == "Wrote presence.csv, rooms.csv and louver.toml into building.\n"
    monkeypatch.chdir("building")
    assert cli.main(["ask", "presence", demo.QUESTION, "--dry-run"]) == 0
    assert "epsilon 0.4148 at most" in capsys.readouterr().out


def test_the_demo_writes_over_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "rooms.csv").write_text("mine")
    assert cli.main(["demo", "--files", str(tmp_path)]) == 4
    assert "rooms.csv is there already; name another folder." in capsys.readouterr().err
    assert [file.name for file in tmp_path.iterdir()] == ["rooms.csv"]
    assert cli.main(["demo", "--files", str(tmp_path / "rooms.csv")]) == 4
    assert "cannot be written: " in capsys.readouterr().err
