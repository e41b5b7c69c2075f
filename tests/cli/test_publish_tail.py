"""`louver publish stream ... --look-at-tail`, really run: a price, a verdict for each region, and no stream."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from louver.ledger import Ledger
from tests.cli.publishing import HOUR, Publish, refused

CUT = (*HOUR, "--mechanism", "truncated", "--tick-bound", "64")
LOOK = (*CUT, "--epsilon", "1", "--look-at-tail")


def test_a_dry_run_states_the_price_and_pays_nothing(publish: Publish) -> None:
    told = publish(*LOOK, "--budget", "1", "--dry-run")
    assert told.code == 0, told.err
    assert "price epsilon 1.0000 at most; nothing was reserved and no row was read" in told.words
    assert 'A tail is called "light" where no more ticks lie beyond 2 times a private quantile' in told.words
    assert "told from about 1,500 ticks on, and here are 12" in told.words
    assert not Path("house.ledger").exists()


def test_a_look_is_paid_says_a_sentence_for_each_region_and_publishes_nothing(publish: Publish) -> None:
    before = set(Path().iterdir())
    told = publish(*LOOK, "--budget", "3")
    assert told.code == 0, told.err
    for room in ("hall", "lab"):
        assert re.search(rf"tail {room}: (light|heavy|unclear)\. Of 12 ticks about \d+ are above", told.words)
    assert "tail A smooth threshold " in told.words
    assert "price epsilon 1.0000 at most, entry 2 of house.ledger; 2.0000 remains" in told.words
    assert {path.name.partition(".ledger")[0] for path in set(Path().iterdir()) - before} == {"house"}
    with Ledger.open("house.ledger") as ledger:
        assert ledger.spent() == 1


def test_the_same_key_has_the_same_look_for_nothing(publish: Publish) -> None:
    first, again = (publish(*LOOK, "--budget", "1", "--key", "look", "--json") for _ in range(2))
    assert first.code == again.code == 0
    one, two = json.loads(first.out), json.loads(again.out)
    assert (one["tails"], one["again"], two["again"]) == (two["tails"], False, True)
    assert two["remaining"] == "0"
    refused(publish(*LOOK), 3, "The budget does not suffice")


@pytest.mark.parametrize("mechanism", ["running-mean", "window-mean", "present-mean"])
def test_all_words_of_a_stream_with_a_threshold_will_do(publish: Publish, mechanism: str) -> None:
    """With --look-at-tail beside them; how it would be cut off or published is not needed."""
    words = ("--threshold", "smooth", "--share", "0.01", "--lag", "3", "--delta", "1e-6", "--factor", "1.5")
    told = publish(
        *HOUR,
        "--mechanism",
        mechanism,
        "--tick-bound",
        "64",
        *words,
        "--epsilon",
        "2",
        "--look-at-tail",
        "--budget",
        "2",
        "--json",
    )
    assert told.code == 0, told.err
    said = json.loads(told.out)
    assert (said["factor"], said["charged"]) == ("3/2", "2")
    assert [each["room"] for each in said["tails"]] == ["hall", "lab"]


def test_a_window_pays_together(publish: Publish) -> None:
    told = publish(*LOOK, "--window", "1h", "--budget", "1", "--dry-run", "--json")
    assert told.code == 0, told.err
    assert (json.loads(told.out)["window"], json.loads(told.out)["worst"]) == (12, "1")
    assert "for any 12 of these units together" in publish(*LOOK, "--window", "1h", "--dry-run").words


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            (*HOUR, "--epsilon", "1", "--look-at-tail"),
            "--look-at-tail is for the mechanisms with a threshold: truncated",
        ),
        ((*LOOK, "--to", "x.csv"), "--to is for what is published, and --look-at-tail publishes nothing"),
        ((*LOOK, "--plot", "x.svg"), "--plot is for what is published"),
        ((*LOOK, "--live", "--key", "k", "--state", "s"), "--live is for what is published"),
        ((*LOOK, "--factor", "1"), "--factor must be between"),
        ((*CUT, "--look-at-tail"), "Say the price in one way: --epsilon"),
        ((*CUT, "--look-at-tail", "--rho", "1"), "give --epsilon in place of --rho"),
    ],
)
def test_what_is_no_look_is_refused_before_anything_is_paid(
    publish: Publish, words: tuple[str, ...], said: str
) -> None:
    refused(publish(*words, "--budget", "3"), 2, said)
    assert not Path("house.ledger").exists()


def test_how_epsilon_is_split_can_be_said_on_the_command_line(publish: Publish) -> None:
    """A smaller part for the threshold leaves more for the first sum, so less noise."""
    noise = []
    for part in ("0.9", "0.2"):
        told = publish(*CUT, "--epsilon", "1", "--lag", "11", "--threshold-part", part, "--dry-run")
        assert told.code == 0, told.err
        words = told.words.partition("has a standard deviation of ")[2]
        noise.append(float(words.partition(";")[0].replace(",", "")))
    assert noise[0] > noise[1]
    refused(publish(*CUT, "--epsilon", "1", "--threshold-part", "1"), 2, "--threshold-part must be between 1/100")
