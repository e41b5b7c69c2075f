"""What `louver ask` finds out before it makes a ledger, pays, or reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from louver.decide.answer import Answer
from louver.errors import DataError
from louver.ledger import Ledger
from tests.cli.asking import BARE, CROWDED, DESCRIBED, PROMISE, Tell, refused

MADE = ("presence.csv.ledger", "presence.csv.ledger.key")


def acts() -> list[str]:
    with Ledger.open("presence.csv.ledger") as ledger:
        return [entry.act for entry in ledger.entries()]


@pytest.mark.parametrize(
    ("file", "code", "said"),
    [
        ("nowhere/zones.svg", 4, "nowhere/zones.svg cannot be written: No such file or directory"),
        ("folder.svg", 4, "folder.svg cannot be written: Is a directory"),
        ("zones.png", 2, "--plot writes an SVG picture, so its file must end in .svg, not 'zones.png'"),
        ("zones", 2, "must end in .svg"),
    ],
)
def test_a_picture_that_cannot_be_written_is_refused_before_anything_is_paid(
    tell: Tell, file: str, code: int, said: str
) -> None:
    Path("folder.svg").mkdir()
    tell(*BARE, *PROMISE, "--budget", "1")
    before = acts()
    refused(tell(*BARE, *PROMISE, "--plot", file), code, said)
    assert acts() == before


def test_looking_whether_a_picture_can_be_written_leaves_no_trace(tell: Tell) -> None:
    Path("old.svg").write_text("before")
    for file in ("old.svg", "new.svg"):
        refused(tell(*BARE, *PROMISE, "--plot", file), 4, "There is no ledger")
    assert Path("old.svg").read_text() == "before"
    assert not Path("new.svg").exists()


def test_an_answer_is_shown_even_if_its_picture_cannot_be_written_after_all(
    tell: Tell, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> str:
        raise DataError("zones.svg cannot be written: No space left on device.")

    monkeypatch.setattr(Answer, "plot", full)
    told = tell(*BARE, *PROMISE, "--budget", "1", "--plot", "zones.svg")
    assert told.code == 4
    assert "flagged hall (1 of 3)" in told.words
    assert told.err.splitlines()[-1] == "louver ask: zones.svg cannot be written: No space left on device."


def test_a_picture_is_there_before_anything_is_printed(tell: Tell, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever reads the output may leave; what was paid for must not be lost with them."""

    def left(*_: object) -> None:
        raise DataError("Nobody reads any more.")

    monkeypatch.setattr("louver.cli.ask.show_answer", left)
    tell(*BARE, *PROMISE, "--budget", "1", "--plot", "zones.svg")
    assert Path("zones.svg").read_text().startswith("<svg")


def test_a_dry_run_has_nothing_to_draw(tell: Tell) -> None:
    refused(
        tell(*BARE, *PROMISE, "--dry-run", "--plot", "zones.svg"), 2, "--plot draws an answer, and a dry run has none"
    )
    assert not Path("zones.svg").exists()


def test_a_survey_is_not_begun_where_the_answer_after_it_would_not_fit(tell: Tell) -> None:
    asked = (*BARE, *PROMISE, "--objective", "mean")
    tell(*BARE, *PROMISE, "--budget", "1")
    refused(
        tell(*asked, "--survey", "0.1"),
        3,
        "for a survey and the answer after it: 0.6382 of epsilon is asked for and 0.5852 is left, which is 0.0530 too "
        "little. Nothing was read and nothing was spent. What would fit: a survey of 0.0470; or no survey; or one look",
    )
    assert acts() == ["opened", "reserved", "settled"]
    assert "and 0.0470 for the survey before it, entry 6 of" in tell(*asked, "--survey", "0.047").words


@pytest.mark.parametrize(
    ("unit", "sql", "rows"),
    [
        ("(devise)", CROWDED, None),
        ("row", CROWDED.replace("FROM presence", "FROM presnce"), None),
        ("row", CROWDED.replace("count(*)", "count(DISTINCT devise)"), None),
        ("row", CROWDED, ""),
        ("row", CROWDED, "device,rom\n1,hall\n"),
    ],
)
def test_a_mistake_leaves_no_ledger_and_no_token_behind(tell: Tell, unit: str, sql: str, rows: str | None) -> None:
    if rows is not None:
        Path("presence.csv").write_text(rows)
    told = tell("presence.csv", sql, "--unit", unit, "--domain", "rooms.csv", *PROMISE, "--budget", "1")
    assert told.code in (2, 4), told.err
    assert "token" not in told.err
    assert not any(Path(file).exists() for file in MADE)


def test_a_mistyped_table_gets_a_suggestion(tell: Tell) -> None:
    asked = CROWDED.replace("FROM presence", "FROM presnce")
    said = "There is no table 'presnce' here (did you mean 'presence'?); FROM _ leaves it open"
    refused(tell("presence.csv", asked, *BARE[2:], *PROMISE, "--budget", "1"), 2, said)
    Path("louver.toml").write_text(DESCRIBED)
    refused(tell("presence", asked), 2, said)
    assert tell("presence", CROWDED.replace("FROM presence", "FROM _"), "--dry-run").code == 0


def test_a_described_source_without_a_ledger_is_told_how_to_get_one(tell: Tell) -> None:
    Path("louver.toml").write_text(DESCRIBED.replace('ledger = "house.ledger"\n', ""))
    refused(
        tell("presence", CROWDED),
        2,
        'with --ledger, or in the description: ledger = "presence.ledger"; one that is not there yet is made with '
        "--budget, such as --budget 1, or with: louver ledger init",
    )


def test_what_is_wrong_in_a_description_keeps_the_names_that_stand_there(tell: Tell) -> None:
    Path("louver.toml").write_text(DESCRIBED.replace("rows_per_unit = 2", "rows_per_unit = 0"))
    refused(tell("presence", CROWDED), 2, "louver.toml, [source.presence]: rows_per_unit must be between 1")


@pytest.mark.parametrize("objective", ["worst", "mean", "entropy"])
@pytest.mark.parametrize("unit", ["row", "(device, floor)"])
def test_the_explanation_stars_what_the_plan_does(tell: Tell, unit: str, objective: str) -> None:
    rooms = "\n".join(f"r{number},20" for number in range(60))
    Path("rooms.csv").write_text(f"room,capacity\n{rooms}\n")
    asked = ("presence.csv", CROWDED, "--unit", unit, "--domain", "rooms.csv", *PROMISE, "--dry-run", "--explain")
    shown = tell(*asked, "--objective", objective).out.splitlines()
    row, sentence = [line.split() for line in shown if line.startswith("* ")]
    names = {"shift": "one-shot"}
    planned = tell(*asked, "--objective", objective, "--json").json
    assert row[1] == sentence[1].rstrip(":") == names.get(planned["strategy"], planned["strategy"])
    (best,) = [each for each in planned["choices"] if each["best"]]
    assert (best["strategy"], str(best["levels"])) == (row[1], row[2])


@pytest.mark.parametrize("joined", ["AND", "OR"])
@pytest.mark.parametrize("objective", ["worst", "mean", "entropy"])
def test_the_starred_price_of_several_comparisons_is_the_plan_s(tell: Tell, joined: str, objective: str) -> None:
    """It was that of the dearest comparison alone."""
    both = CROWDED + f" {joined} count(*) FILTER (WHERE floor = 1) > 20"
    asked = ("presence.csv", both, *BARE[2:], *PROMISE, "--dry-run", "--explain", "--objective", objective)
    plain = tell(*asked, "--json").json
    (best,) = [each for each in plain["choices"] if each["best"]]
    assert best["worst"] == plain["worst"]
    assert best["misses"] is None
    assert len({each["mean"] for each in plain["choices"]}) == len(plain["choices"])
    assert "its 2 looks are taken to be uniform" in tell(*asked).words


def test_averages_are_not_said_to_lie_within_one_step_of_their_threshold(tell: Tell) -> None:
    asked = "SELECT room FROM presence GROUP BY room HAVING avg(least(greatest(watts, 0), 64)) > 20"
    told = tell("presence.csv", asked, *BARE[2:], "--miss-rate", "0.05", "--slack", "500", "--dry-run", "--explain")
    assert "uniform within 120 steps of the threshold" in told.words


def test_there_is_nothing_to_choose_for_numbers_and_classes(tell: Tell) -> None:
    asked = "SELECT room, count(*) FROM presence GROUP BY room"
    told = tell("presence.csv", asked, *BARE[2:], "--miss-rate", "0.05", "--within", "9", "--dry-run", "--explain")
    assert "There is one way to answer this, so there is nothing to choose." in told.words


def test_what_was_charged_is_rounded_the_same_way_everywhere(tell: Tell) -> None:
    words = tell(*BARE, *PROMISE, "--budget", "1", "--explain", "--slack", "7").words
    charged = words.partition("charged epsilon ")[2].partition(". ")[0]
    assert f"charged epsilon {charged}. All keys were charged {charged}." in words


def test_a_strategy_that_was_named_is_not_said_to_be_chosen(tell: Tell) -> None:
    told = tell(*BARE, *PROMISE, "--dry-run", "--explain", "--strategy", "sparse")
    assert "The strategy was named: sparse; the star is the objective's." in told.words
