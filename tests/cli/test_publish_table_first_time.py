"""The first table of somebody with a file: what must be said, and what must not be the public list."""

from __future__ import annotations

import csv
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from louver import cli
from tests.cli.asking import Tell
from tests.cli.test_publish_table import Publish, publish

__all__ = ["publish"]

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to" / "publish-a-table.md").read_text(encoding="utf-8")
# The command that was wished for, to the letter.
LITERAL = "louver publish table counties.parquet --by county --exact state --epsilon 0.5"
BARE = ("counties.csv", "--by", "county", "--exact", "state", "--epsilon", "0.5")
DESCRIBED = """
[source.births]
table = "counties.csv"
dataset = "counties"
unit = "UNIT"
ledger = "mine.ledger"
domain = "counties"
[domain.counties]
file = "counties.csv"
keys = ["state", "county"]
[ask]
budget = 2
"""
PEOPLE = "person,room\nalice,hall\nbob,hall\nalice,lab\n"
QUESTION = "SELECT person FROM people GROUP BY person HAVING count(*) > 3"
TICKS = ("--every", "1h", "--from", "2026-01-01", "--until", "2026-01-02", "--time", "room")


def describe(unit: str = "one of births") -> None:
    Path("louver.toml").write_text(DESCRIBED.replace("UNIT", unit))


# What a bare file must be given


def test_a_bare_file_is_told_all_that_it_needs_at_once_with_a_line_that_works(publish: Publish) -> None:
    told = publish(*BARE)
    assert (told.code, told.out, told.err.count("\n")) == (2, "", 1)
    for option in ("--unit", "--of", "--domain", "--budget", "louver.toml"):
        assert option in told.err
    (line,) = re.findall(r"such as: (.*?);", told.err)
    worked = publish(*shlex.split(line.replace("COLUMN", "births"))[3:])
    assert worked.code == 0, worked.err


def test_a_file_that_is_described_beside_it_needs_nothing_more(publish: Publish) -> None:
    describe()
    told = publish(*BARE)
    assert told.code == 0, told.err
    assert "births by state and county" in told.err
    assert Path("mine.ledger").exists()
    again = publish(*BARE, "--of", "births")  # says the same again, so that the same ledger pays
    assert "entry 4 of mine.ledger" in again.err
    assert not Path("counties.csv.ledger").exists()


def test_another_counted_column_of_a_described_file_is_another_unit(publish: Publish) -> None:
    Path("counties.csv").write_text("state,county,births,deaths\nx,a,10,1\nx,b,20,2\n")
    describe()
    told = publish(*BARE, "--of", "deaths", "--domain", "counties.csv", "--budget", "1")
    assert told.code == 0, told.err
    assert "one of those counted in deaths" in told.err
    assert Path("counties.csv.ledger").exists()


def test_a_file_that_is_described_twice_must_be_named(publish: Publish) -> None:
    describe()
    Path("louver.toml").write_text(
        Path("louver.toml").read_text() + '[source.more]\ntable = "./counties.csv"\ndataset = "m"\nunit = "row"\n'
    )
    told = publish(*BARE)
    assert told.code == 2
    assert "louver.toml:births or louver.toml:more" in told.err


def test_a_file_whose_values_are_separated_otherwise_is_told_so(publish: Publish) -> None:
    Path("rooms.csv").write_text("room\nhall\nlab\n")
    Path("people.csv").write_text("person;room\nalice;hall\n")
    told = publish(
        "people.csv", "--by", "room", "--domain", "rooms.csv", "--unit", "row", "--epsilon", "1", "--dry-run"
    )
    assert told.code == 4
    assert "no column 'room'; its values must be separated by commas, and in its first line they are not" in told.err
    assert "person" not in told.err


# What must not be the list


@pytest.mark.parametrize("linked", ["itself", "symbolic", "hard"])
def test_the_rows_themselves_are_no_public_list(publish: Publish, tell: Tell, linked: str) -> None:
    Path("people.csv").write_text(PEOPLE)
    given = {"itself": "./people.csv"}.get(linked, "list.csv")
    if linked == "symbolic":
        Path("list.csv").symlink_to("people.csv")
    if linked == "hard":
        os.link("people.csv", "list.csv")
    same = ("--unit", "row", "--domain", given, "--budget", "5")
    told = [
        publish("people.csv", "--by", "person", "--epsilon", "1", *same),
        tell("people.csv", QUESTION, "--miss-rate", "0.05", "--slack", "5", *same),
    ]
    for each in told:
        assert each.code == 2
        assert "people.csv has the rows, so it cannot be the public list of keys as well" in each.err
        assert not any(value in each.err for value in ("alice", "bob", "hall", "lab"))
    assert not Path("people.csv.ledger").exists()


@pytest.mark.usefixtures("publish")
def test_a_stream_is_refused_in_the_same_words(capsys: pytest.CaptureFixture[str]) -> None:
    Path("people.csv").write_text(PEOPLE)
    words = ["people.csv", "--by", "person", *TICKS, "--epsilon", "1", "--unit", "row", "--domain", "people.csv"]
    assert cli.main(["publish", "stream", *words]) == 2
    said = capsys.readouterr().err
    assert "people.csv has the rows" in said
    assert "alice" not in said


def test_a_description_cannot_make_the_rows_the_list_either(publish: Publish) -> None:
    describe("row")
    told = publish(*BARE)
    assert told.code == 2
    assert "counties.csv has the rows" in told.err
    assert "comes twice" not in told.err


def test_the_column_that_is_counted_is_not_in_a_list_made_of_the_rows(publish: Publish) -> None:
    """Its values are private: as labels they would be published as they are."""
    describe()
    for option in ("--totals", "--exact"):
        told = publish("counties.csv", "--by", "county", option, "births", "--epsilon", "1")
        assert told.code == 2
        assert "no column 'births'" in told.err


# The page


def test_the_literal_line_runs_where_the_file_is_described(publish: Publish) -> None:
    example = [sys.executable, str(ROOT / "examples" / "counties.py"), "--files", "."]
    subprocess.run(example, check=True, capture_output=True, timeout=60)
    assert f"```toml\n{Path('louver.toml').read_text()}```" in PAGE
    told = publish(*shlex.split(LITERAL)[3:])
    assert told.code == 0, told.err
    rows = list(csv.DictReader(told.out.splitlines()))
    assert len({row["county"] for row in rows}) < len(rows)  # counties of several states share their names
    assert LITERAL in PAGE


@pytest.mark.slow
@pytest.mark.usefixtures("publish")
def test_every_command_of_the_page_does_what_the_page_shows(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """All that is shown of a command, but for what the dots stand for, is said; what `head` shows is drawn by lot."""
    blocks = re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL)
    told = [each.partition("\n") for each in "".join(blocks).replace("\\\n", "").split("$ ")[1:]]
    assert len(told) == 11
    for command, _, shown in told:
        words = shlex.split(command)
        if words[0] == "cd":
            monkeypatch.chdir(words[1])
        if words[0] == "python":
            done = subprocess.run(
                [sys.executable, str(ROOT / words[1]), *words[2:]], capture_output=True, text=True, timeout=60
            )
            assert done.stdout == shown
        if words[0] != "louver":
            continue
        refused = shown.startswith("louver publish table: ")
        assert (cli.main(words[1:]) == 0) != refused
        said = capsys.readouterr()
        whole = " ".join((said.out + said.err).split())
        for part in shown.split("..."):
            assert " ".join(part.split()) in whole
