"""The recipes of docs/how-to/ask.md, each really run."""

from __future__ import annotations

import re
import shlex
from datetime import date, timedelta
from pathlib import Path

import pytest

from louver.cli import demo
from tests.cli.asking import Tell

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "ask.md").read_text(encoding="utf-8")
RECIPES = PAGE.partition("## Recipes")[2].partition("\n## ")[0]
BLOCKS = re.findall(r"```sh\n(.*?)```", RECIPES, re.DOTALL)
COMMANDS = [
    words[2:]
    for words in (shlex.split(f"louver{each}".replace("\\\n", " ")) for each in "".join(BLOCKS).split("louver")[1:])
]
DAYS = [date(2026, 3, 2) + timedelta(days=number) for number in range(14)]


def test_the_page_has_recipes() -> None:
    assert len(COMMANDS) == 10


@pytest.mark.parametrize("words", COMMANDS, ids=range(len(COMMANDS)))
def test_a_recipe_runs(tell: Tell, words: list[str]) -> None:
    """The hall has 500 rows a day and the lab 1: far enough from every threshold to be wrong in under 1e-6 of cases."""
    (described,) = re.findall(r"```toml\n(.*?)```", RECIPES, re.DOTALL)
    Path("louver.toml").write_text(described)
    Path("rooms.csv").write_text("room,capacity\nhall,60\nlab,50\n")
    hall = [f"d{n},hall,{day} 09:30:00,{n},25" for day in DAYS for n in range(500)]
    lab = [f"d0,lab,{day} 10:30:00,5,18" for day in DAYS]
    Path("readings.csv").write_text("\n".join(["device,room,time,watts,celsius", *hall, *lab]))
    told = tell(*words)
    assert told.code == 0, told.err
    assert "remains where most is used" in told.words
    assert "hall" in told.words or "1.2 * count" in words[1]


def test_the_page_shows_the_description_that_the_demo_hands_out() -> None:
    handed_out = (Path(demo.__file__).parent / "building" / "louver.toml").read_text(encoding="utf-8")
    assert f"```toml\n{handed_out}```" in PAGE
