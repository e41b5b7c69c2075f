"""What `louver publish stream` refuses or warns of before anything is paid, and in whose words."""

from __future__ import annotations

import csv
import io
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from louver import cli
from louver.cli import publish_shown, ui
from louver.cli.publish_words import with_options
from louver.stream import running
from tests.cli.publishing import DESCRIBED, HOUR, LOUD, RANGE, Publish, refused
from tests.stream.published import TICKS, TRUTH

PRICED = (*HOUR, "--epsilon", "1", "--budget", "1")
BARE = ("presence.csv", "--by", "room", *RANGE, "--unit", "row", "--epsilon", "1", "--budget", "1")
WITHIN = ("--mechanism", "laplace", "--within", "5")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--rho", "1"), "--epsilon, or --rho, or --within together with --miss-rate, or --above together with --miss"),
        (("--miss-rate", "0.05"), "give --within together with --miss-rate, or --above together with --miss-rate."),
        (("--mechanism", "histogram"), "like --bins 10,20,50."),
        (("--mechanism", "histogram", "--bins", "9", "--last", "5"), "leave --last out."),
        (("--mechanism", "window-mean", "--tick-bound", "9"), "needs --over, a number of ticks."),
        (("--delta", "0.1"), "--delta is for a mechanism with --threshold smooth; leave it out."),
        (("--lag", "3"), "does not take --lag."),
        (("--mechanism", "buffered"), "give --rho."),
        (("--mechanism", "pegasus", "--split", "x"), "and --split one of"),
        (("--window", "0"), "--window must be"),
        (("--last", "soon"), "--last lasts whole minutes"),
        (("--totals", "--above", "5", "--miss-rate", "0.05"), "leave --totals out, or leave --above out."),
        (("--above", "5"), "--above needs --miss-rate too: in how many cases it may be wrong, such as 0.05."),
        (("--from", "noon"), "--from is a time like 2018-02-01T09:00"),
        (("--until", "2017-01-01"), "--until must be after --from."),
        (("--sum", "minutes"), "[source.NAME.values] with a line like minutes = { low = 0, high = 100 }"),
        (("--totals", "--mechanism", "kary"), "--totals is for"),
        (
            ("--mechanism", "truncated", "--tick-bound", "9", "--share", "0.1"),
            "--factor and --share are for --threshold",
        ),
    ],
)
def test_options_are_named_with_dashes(publish: Publish, words: tuple[str, ...], said: str) -> None:
    refused(publish(*PRICED, *words), 2, said)


def test_a_slack_without_a_limit_is_told_which_option_has_it(publish: Publish) -> None:
    refused(publish(*HOUR, "--slack", "3"), 2, "--slack says how far below a limit either answer may come; give the")
    assert publish(*HOUR, "--slack", "3").err.endswith("with --above.\n")


def test_names_in_a_description_stay_as_they_stand_there() -> None:
    assert with_options("window must be 1 or more, in rules.toml.") == "window must be 1 or more, in rules.toml."


@pytest.mark.parametrize(
    ("option", "place"),
    [
        ("--to", "./presence.csv"),
        ("--to", "link.csv"),
        ("--to", "rooms.csv"),
        ("--plot", "ledger.svg"),
        ("--state", "presence.csv"),
        ("--state", "rooms.csv"),
        ("--state", "louver.toml"),
        ("--state", "ledger.svg"),
        ("--state", "ledger.svg.key"),
    ],
)
def test_no_file_is_written_over_that_the_stream_needs(publish: Publish, option: str, place: str) -> None:
    os.link("presence.csv", "link.csv")
    Path("rooms.csv").write_text("room\nhall\nlab\n")
    described = DESCRIBED.replace("house.ledger", "ledger.svg").partition("rows = [")[0] + 'file = "rooms.csv"\n'
    Path("louver.toml").write_text(described)
    before = {path.name: path.read_bytes() for path in Path.cwd().iterdir()}
    live = ("--live", "--key", "k") if option == "--state" else ("--force",)
    refused(publish(*PRICED, *live, option, place), 2, f"{option} would write over {place}, which the stream needs")
    assert before == {path.name: path.read_bytes() for path in Path.cwd().iterdir()}


def test_a_picture_is_written_over_only_where_that_is_said(publish: Publish) -> None:
    Path("a.svg").write_text("mine")
    refused(publish(*PRICED, "--plot", "a.svg"), 4, "--force")
    assert Path("a.svg").read_text() == "mine"
    assert not Path("house.ledger").exists()
    assert publish(*PRICED, "--plot", "a.svg", "--force").code == 0
    assert Path("a.svg").read_text().startswith("<svg")


@pytest.mark.parametrize(
    ("place", "said"),
    [("a.json", "is there already"), ("nowhere/a.csv", "cannot be written"), ("mqtt://127.0.0.1:1/x", "broker")],
)
def test_a_place_that_cannot_be_written_to_costs_nothing_and_says_so(publish: Publish, place: str, said: str) -> None:
    Path("a.json").write_text("mine")
    told = publish(*PRICED, "--to", place)
    refused(told, 4, said)
    assert told.err.endswith("; nothing was spent.\n")


def test_a_dry_run_says_that_the_file_is_there_already(publish: Publish) -> None:
    Path("a.json").write_text("mine")
    assert "refused a run would be: a.json is there already" in publish(*PRICED, "--to", "a.json", "--dry-run").words
    assert "refused" not in publish(*PRICED, "--to", "b.json", "--dry-run").words


FLOORS = """
[domain.floors]
rows = [{ room = "hall", floor = "ground" }, { room = "lab", floor = "ground" }]
keys = ["room"]
"""


def test_a_level_of_totals_that_says_nothing_new_is_warned_of(publish: Publish) -> None:
    Path("louver.toml").write_text(DESCRIBED + FLOORS)
    asked = (*RANGE, "--epsilon", "1", "--totals", "--domain", "floors", "--dry-run")
    turned = publish("presence", "--by", "room,floor", *asked)
    assert "warning Each total of a room has one floor in it" in turned.words
    assert "Each total" not in publish("presence", "--by", "floor,room", *asked).words


def test_the_environment_says_a_price_only_where_no_flag_does(
    publish: Publish, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOUVER_MISS_RATE", "0.05")
    assert publish(*HOUR, "--epsilon", "1", "--dry-run").code == 0
    assert "price epsilon 0.5382" in publish(*HOUR, *WITHIN, "--dry-run").words
    monkeypatch.setenv("LOUVER_EPSILON", "2")
    assert "price epsilon 2.0000" in publish(*HOUR, "--dry-run").words
    assert "price epsilon 0.5382" in publish(*HOUR, *WITHIN, "--dry-run").words
    assert "price rho 1.0000" in publish(*HOUR, "--mechanism", "buffered", "--rho", "1", "--dry-run").words
    assert "missed in at most 1 of 20 cases" in publish(*HOUR, "--above", "5", "--dry-run").words


@pytest.mark.parametrize(("cap", "paid", "asked"), [("--cap", "--epsilon", "--rho"), ("--rho", "--rho", "--epsilon")])
def test_a_dry_run_where_the_other_kind_is_spent_shows_the_price_and_what_refuses(
    publish: Publish, cap: str, paid: str, asked: str
) -> None:
    named = ["--dataset", "house", "--unit", "(person, slot(time, 5))"]
    assert cli.main(["ledger", "init", "house.ledger", *named, cap, "2"]) == 0
    way = (*HOUR, "--mechanism", "kary")
    assert publish(*way, paid, "1", "--to", "a.csv").code == 0
    told = publish(*way, asked, "1", "--dry-run")
    assert told.code == 0, told.err
    assert f"price {asked.removeprefix('--')} 1.0000" in told.words
    assert "refused a run would be: " in told.words
    assert "have no proved sum" in told.words


def test_what_a_window_means_is_said_of_all_its_units(publish: Publish) -> None:
    told = publish(*PRICED, "--window", "30m", "--dry-run")
    assert (
        "even odds that any 6 of these units are in the data, or none of them, can be at most 73.2% sure" in told.words
    )
    assert "meaning whoever gave even odds that something recorded" in publish(*PRICED, "--dry-run").words


def test_how_much_is_done_is_told_in_ticks(publish: Publish, monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[tuple[int, int]] = []
    monkeypatch.setattr(running, "CELLS_A_BLOCK", 2 * 5)
    listening = running.told.set(lambda done, all_of: heard.append((done, all_of)))
    try:
        assert publish(*LOUD, "--budget", "600", "--to", "a.csv").code == 0
    finally:
        running.told.reset(listening)
    assert heard == [(5, TICKS), (10, TICKS), (12, TICKS)]
    with Path("a.csv").open() as file:
        assert [int(row["value"]) for row in csv.DictReader(file)] == TRUTH.ravel().tolist()


def test_a_terminal_shows_the_ticks_that_are_done(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.StringIO()
    monkeypatch.setattr(shown, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys, "stderr", shown)
    monkeypatch.setattr(ui, "QUIET_SECONDS", 0.001)
    with publish_shown.at_work():
        hear = running.told.get()
        assert hear is not None
        hear(300, 1000)
        until(lambda: "noise for 300 of 1,000 ticks" in shown.getvalue())
    assert running.told.get() is None


def until(is_so: Callable[[], bool]) -> None:
    """Waits for another thread, for as long as a slow machine may need."""
    for _ in range(6000):
        if is_so():
            return
        time.sleep(0.01)
    raise AssertionError


def test_a_bare_file_is_not_written_over_either(publish: Publish) -> None:
    Path("rooms.csv").write_text("room\nhall\nlab\n")
    for place in ("presence.csv", "rooms.csv"):
        told = publish(*BARE, "--domain", "rooms.csv", "--to", place, "--force")
        refused(told, 2, f"--to would write over {place}, which the stream needs")
