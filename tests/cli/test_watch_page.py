"""The page about watching, followed from top to bottom in a fresh folder."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import sys
from pathlib import Path

import pytest

from louver import cli

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "watch.md").read_text(encoding="utf-8")
NEEDS_A_BROKER = "watch mqtt://"


def commands() -> list[str]:
    blocks = re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL)
    lines = [line.removeprefix("$ ") for block in blocks for line in block.splitlines() if line.startswith("$ ")]
    return [line for line in lines if NEEDS_A_BROKER not in line]


def open_alarm(capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert cli.main(["watch", "alarms", "--json"]) == 0
    found: str = json.loads(capsys.readouterr().out)["alarms"][0]["id"]
    return found


def test_the_page_can_be_followed_from_top_to_bottom(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """At six the aula is a hundred over its limit, so that an alarm is open except with probability below 1e-15."""
    monkeypatch.chdir(tmp_path)
    rules = re.search(r"`rules.toml`, beside `building.toml`:\n\n```toml\n(.*?)```", PAGE, re.DOTALL)
    assert rules is not None
    stream = re.search(r"```toml\n(\[stream\.rooms\].*?)```", PAGE, re.DOTALL)
    assert stream is not None
    said: list[str] = []
    for line in commands():
        if line.startswith("cd "):
            os.chdir(line.removeprefix("cd "))
            Path("rules.toml").write_text(rules[1])
            continue
        words = shlex.split(line)[1:]
        if words == ["watch", "--dry-run"] and any("Every slot has a budget" in each for each in said):
            Path("rules.toml").write_text(re.sub("closer = .*", "", rules[1]) + stream[1])
        if words[:2] == ["watch", "ack"]:
            words[2] = open_alarm(capsys)[:4]
        monkeypatch.setattr(sys, "stdin", io.StringIO("aa:bb:cc:dd:ee:0f\n"))
        assert cli.main(words) == 0, line
        said.append(capsys.readouterr().out)
    assert len(said) == 13
    assert "rooms: a stream of the count by region in each slot, by segment; each day of it costs" in said[-1]
    assert "1.5382 of 2.0000 is used at most" in said[-1]
    assert "Slots up to 2018-02-01 20:25 UTC were decided before" in "".join(said)
