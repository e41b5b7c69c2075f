from __future__ import annotations

import re
import subprocess
import sys
from fractions import Fraction

import pytest

from louver import __version__, cli
from louver.cli import demo
from louver.errors import PromiseError


def test_the_demo_prints_price_promise_and_answer(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["demo"]) == 0
    shown = capsys.readouterr().out
    assert "one row, not one person" in shown
    assert "missed in at most 1 of 20 cases" in shown
    assert "0.4148 epsilon in each room" in shown
    assert "pays 0.5117" in shown
    assert "(exactly 5.0000%)" in shown


def test_the_demo_flags_what_is_far_over_and_not_what_is_far_below(capsys: pytest.CaptureFixture[str]) -> None:
    """The canteen is 32 over its limit and the lobby 60 below: wrong with probability under 1e-6 each."""
    cli.main(["demo"])
    flagged = re.search(r"^flagged +(.*)$", capsys.readouterr().out, re.MULTILINE)
    assert flagged is not None
    assert "Canteen" in flagged[1]
    assert "Lobby" not in flagged[1]


def test_a_price_is_shown_rounded_up() -> None:
    assert demo._up(Fraction(1, 3)) == "0.3334"
    assert demo._up(Fraction(1, 2)) == "0.5000"


def test_an_error_is_one_sentence_and_its_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse() -> None:
        raise PromiseError("No plan keeps this promise.")

    monkeypatch.setattr(demo, "run", refuse)
    assert cli.main(["demo"]) == 5
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err == "louver demo: No plan keeps this promise.\n"


@pytest.mark.parametrize("wrong", [[], ["dmo"], ["demo", "--fast"]])
def test_wrong_usage_is_exit_code_2(wrong: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        cli.main(wrong)
    assert caught.value.code == 2
    assert "usage: louver" in capsys.readouterr().err


def test_python_dash_m_louver_is_the_command() -> None:
    shown = subprocess.run([sys.executable, "-m", "louver", "--version"], capture_output=True, text=True, check=True)
    assert shown.stdout == f"louver {__version__}\n"
