"""Surprises of a first question: names, rounding, and mistakes that nobody should pay for."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import duckdb
import pytest

from louver.cli import main
from louver.ledger import Ledger
from tests.cli.asking import BARE, CROWDED, DESCRIBED, PROMISE, Tell, refused

TIMED = """
[source.readings]
table = "readings.csv"
dataset = "readings"
unit = "row"
ledger = "readings.ledger"
[source.readings.columns]
stunde = "hour(time)"
[domain.room_hours]
keys = ["room", "stunde"]
room = ["hall", "lab"]
stunde = { from = 9, to = 11 }
[ask]
miss_rate = 0.05
slack = 10
budget = 1
"""


@pytest.fixture
def timed(tell: Tell) -> Tell:
    """The hall has 300 rows from nine to ten and the lab none: a wrong answer has probability under 1e-15."""
    Path("louver.toml").write_text(TIMED)
    rows = [f"{n},hall,2026-03-02 09:30:00" for n in range(300)]
    Path("readings.csv").write_text("\n".join(["device,room,time", *rows]))
    return tell


BY_HOUR = "SELECT room, stunde FROM readings GROUP BY room, stunde HAVING count(*) > 100"


def test_headings_are_the_names_that_the_source_declares(timed: Tell) -> None:
    told = timed("readings", BY_HOUR)
    assert told.code == 0, told.err
    assert "room stunde hall 9" in told.words
    assert "hour(time)" not in told.out.partition("promise")[0]
    numbers = "SELECT room, stunde, count(*) FROM readings GROUP BY room, stunde"
    assert "room stunde count" in timed("readings", numbers, "--within", "40").words


def test_programs_get_the_declared_names_and_the_ledger_keeps_what_they_are_made_of(timed: Tell) -> None:
    assert timed("readings", BY_HOUR, "--json").json["answer"]["columns"] == ["room", "stunde"]
    with Ledger.open("readings.ledger") as ledger:
        (reserved,) = [entry for entry in ledger.entries() if entry.act == "reserved"]
    assert "stunde" not in str(reserved.body)
    assert "hour(time)" in str(reserved.body["plan"])


def test_classes_keep_the_name_that_the_question_gives_them(tell: Tell) -> None:
    Path("louver.toml").write_text(DESCRIBED)
    asked = (
        "SELECT room, CASE WHEN count(*) > rooms.capacity THEN 'high' ELSE 'low' END AS level FROM presence "
        "JOIN rooms USING (room) GROUP BY room"
    )
    assert "room level hall high lab low attic low promise" in tell("presence", asked).words
    plain = tell("presence", asked, "--json").json
    assert plain["answer"]["name"] == "level"
    assert "END AS level FROM" in plain["question"]


def test_a_refusal_names_the_keys_that_can_still_pay_and_what_to_write(tell: Tell) -> None:
    tell(*BARE, *PROMISE, "--budget", "1")
    one = CROWDED.replace("GROUP BY", "WHERE room = 'hall' GROUP BY")
    assert tell("presence.csv", one, *BARE[2:], *PROMISE).code == 0
    told = tell(*BARE, *PROMISE)
    refused(told, 3, "Of 3 keys, 2 could still pay; WHERE room IN ('lab', 'attic') asks about them.")
    (where,) = re.findall(r"WHERE .*\)", told.err)
    assert tell("presence.csv", CROWDED.replace("GROUP BY", f"{where} GROUP BY"), *BARE[2:], *PROMISE).code == 0


def test_what_was_asked_about_is_narrowed_further(tell: Tell) -> None:
    tell(*BARE, *PROMISE, "--budget", "1")
    one = CROWDED.replace("GROUP BY", "WHERE room = 'hall' GROUP BY")
    tell("presence.csv", one, *BARE[2:], *PROMISE)
    two = CROWDED.replace("GROUP BY", "WHERE room IN ('hall', 'lab') GROUP BY")
    refused(tell("presence.csv", two, *BARE[2:], *PROMISE), 3, "Of 2 keys, 1 could still pay; AND room = 'lab' asks")


def test_stretches_are_named_by_their_ends_and_by_the_declared_name(timed: Tell) -> None:
    timed("readings", BY_HOUR)
    timed("readings", BY_HOUR.replace("GROUP BY", "WHERE stunde = 9 GROUP BY"))
    told = timed("readings", BY_HOUR)
    refused(told, 3, "Of 6 keys, 4 could still pay; WHERE stunde >= 10 AND stunde <= 11 asks about them.")
    later = BY_HOUR.replace("GROUP BY", "WHERE stunde >= 10 AND stunde <= 11 GROUP BY")
    assert timed("readings", later).code == 0


@pytest.mark.parametrize("unit", ["row", "(device)"])
def test_where_no_key_can_pay_or_keys_pay_together_nothing_is_added(tell: Tell, unit: str) -> None:
    asked = ("presence.csv", CROWDED, "--unit", unit, "--domain", "rooms.csv", *PROMISE)
    tell(*asked, "--budget", "0.5")
    told = tell(*asked)
    assert told.code == 3
    assert "could still pay" not in told.err


def test_too_many_looks_into_the_ledger_are_not_taken(tell: Tell, monkeypatch: pytest.MonkeyPatch) -> None:
    tell(*BARE, *PROMISE, "--budget", "1")
    tell("presence.csv", CROWDED.replace("GROUP BY", "WHERE room = 'hall' GROUP BY"), *BARE[2:], *PROMISE)
    monkeypatch.setattr("louver.decide.payable.MOST_LOOKS", 1)
    assert "could still pay" not in tell(*BARE, *PROMISE).err


def test_a_where_that_is_too_long_is_not_written_out(tell: Tell, monkeypatch: pytest.MonkeyPatch) -> None:
    tell(*BARE, *PROMISE, "--budget", "1")
    tell("presence.csv", CROWDED.replace("GROUP BY", "WHERE room = 'hall' GROUP BY"), *BARE[2:], *PROMISE)
    monkeypatch.setattr("louver.decide.payable.LONGEST_WHERE", 9)
    refused(tell(*BARE, *PROMISE), 3, "Of 3 keys, 2 could still pay; ask with a domain that lists only those.")


def test_a_slack_that_a_count_cannot_have_is_said(tell: Tell) -> None:
    told = tell(*BARE, "--miss-rate", "0.05", "--slack", "2.5", "--dry-run")
    assert "a count 2 or more below" in told.words
    assert "warning A slack of 2.5 is taken as 2, because the count is reckoned in steps of 1." in told.words


def test_a_filter_that_no_key_can_meet_is_refused_and_leaves_no_ledger(tell: Tell) -> None:
    asked = CROWDED.replace("GROUP BY", "WHERE room = 'labb' GROUP BY")
    told = tell("presence.csv", asked, *BARE[2:], *PROMISE, "--budget", "1")
    refused(told, 2, "No key of the domain can have rows where room = labb, so nothing would be counted.")
    assert "(did you mean 'lab'?)" in told.err
    assert not Path("presence.csv.ledger").exists()


def test_a_difference_with_slack_is_refused(tell: Tell) -> None:
    asked = "SELECT room FROM presence GROUP BY room HAVING count(*) <> 50"
    refused(tell("presence.csv", asked, *BARE[2:], *PROMISE, "--budget", "1"), 2, "cannot be told with a slack of 10")


def parquet() -> tuple[str, ...]:
    with duckdb.connect() as engine:
        engine.execute(
            "COPY (SELECT 'hall' AS room, 5 AS floor, DATE '2026-03-02' AS day, TIMESTAMP '2026-03-02 09:30' AS time) "
            "TO 'presence.parquet' (FORMAT parquet)"
        )
    return ("--unit", "row", "--domain", "rooms.csv", *PROMISE)


@pytest.mark.parametrize(
    ("where", "said"),
    [
        (
            "day = '2026-03-02'",
            "Column 'day' holds days, so it cannot be compared with a text; write DATE '2026-03-02'.",
        ),
        ("day >= '2026-03-02'", "with a text by its order; write DATE '2026-03-02'."),
        ("time = '2026-03-02'", "write DATE '2026-03-02' for its first instant, or TIMESTAMP '2026-03-02 00:00:00'."),
        ("time > 'noon'", "write TIMESTAMP '2026-01-31 09:00:00', or DATE '2026-01-31' for its first instant."),
        ("floor = '05'", "write 5, without quotes."),
        (
            "floor IN ('5', '6')",
            "Column 'floor' holds whole numbers, so it cannot be compared with a text; write 5, without quotes",
        ),
    ],
)
def test_a_text_for_a_column_that_holds_none_is_refused_with_what_to_write(tell: Tell, where: str, said: str) -> None:
    asked = CROWDED.replace("GROUP BY", f"WHERE {where} GROUP BY")
    words = ("presence.parquet", asked, *parquet())
    refused(tell(*words, "--dry-run"), 2, said)
    refused(tell(*words, "--budget", "1"), 2, said)
    assert not Path("presence.parquet.ledger").exists()


def test_days_written_as_days_are_asked(tell: Tell) -> None:
    asked = CROWDED.replace("GROUP BY", "WHERE day = DATE '2026-03-02' AND time >= DATE '2026-03-02' GROUP BY")
    assert tell("presence.parquet", asked, *parquet(), "--budget", "1").code == 0


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (CROWDED.replace("GROUP BY", "WHERE flor = 1 GROUP BY"), "no column 'flor' (did you mean 'floor'?)"),
        (CROWDED.replace("count(*)", "count(DISTINCT devise)"), "no column 'devise' (did you mean 'device'?)"),
    ],
)
def test_a_dry_run_looks_whether_the_file_has_the_columns(tell: Tell, asked: str, said: str) -> None:
    refused(tell("presence.csv", asked, *BARE[2:], *PROMISE, "--dry-run"), 4, said)


def test_a_dry_run_says_that_there_is_no_file(tell: Tell) -> None:
    Path("presence.csv").unlink()
    refused(tell(*BARE, *PROMISE, "--dry-run"), 4, "There is no file presence.csv")


@pytest.mark.parametrize("budget", ["0.1", "0"])
def test_a_budget_too_small_for_the_question_makes_no_ledger(tell: Tell, budget: str) -> None:
    told = tell(*BARE, *PROMISE, "--budget", budget)
    refused(told, 3, f"0.4148 of epsilon is asked for and it is {budget}, which is")
    assert "No ledger was made and nothing was read. What would fit: " in told.err
    assert "a budget of 0.4148." in told.err
    assert sorted(path.name for path in Path().iterdir()) == ["presence.csv", "rooms.csv"]
    assert tell(*BARE, *PROMISE, "--budget", "0.4148").code == 0


def test_a_budget_too_small_for_a_survey_and_the_answer_makes_no_ledger(tell: Tell) -> None:
    asked = (*BARE, *PROMISE, "--objective", "mean", "--survey", "0.1")
    refused(tell(*asked, "--budget", "0.6"), 3, "0.6382 of epsilon is asked for and it is 0.6")
    assert not Path("presence.csv.ledger").exists()
    assert tell(*asked, "--budget", "0.6382").code == 0


def test_a_unit_written_bare_in_a_description_gets_a_suggestion(tell: Tell) -> None:
    Path("louver.toml").write_text(DESCRIBED.replace('unit = "(device)"', 'unit = "device"'))
    refused(
        tell("presence", CROWDED),
        2,
        "louver.toml: 'unit' in [source.presence] must be 'row', or columns in parentheses (did you mean '(device)'?).",
    )


def test_show_says_that_what_is_spent_differs_inside_a_scope(tell: Tell, capsys: pytest.CaptureFixture[str]) -> None:
    note = "Some of these overlap. Spent is the largest total at one point of a scope; elsewhere it may be less."
    tell(*BARE, *PROMISE, "--budget", "2")
    main(["ledger", "show", "presence.csv.ledger"])
    assert note not in capsys.readouterr().out
    tell("presence.csv", CROWDED.replace("GROUP BY", "WHERE room = 'hall' GROUP BY"), *BARE[2:], *PROMISE)
    main(["ledger", "show", "presence.csv.ledger"])
    shown = capsys.readouterr().out
    assert note in shown
    assert "room in {attic, hall, lab}" in shown


def test_a_new_ledger_names_its_files_and_says_what_the_token_is_for(tell: Tell) -> None:
    said = tell(*BARE, *PROMISE, "--budget", "1").err
    assert "Its key is presence.csv.ledger.key and its witness presence.csv.ledger.key.witness" in said
    assert "The token of its owner, needed to change the budget and to add people" in said
    assert all(Path(f"presence.csv.ledger.{end}").exists() for end in ("key", "key.witness"))


@pytest.fixture
def one_day(timed: Tell) -> Path:
    """A ledger in which one day's rooms and hours paid."""
    day = "WHERE CAST(time AS DATE) = DATE '2026-03-02' GROUP BY"
    assert timed("readings", BY_HOUR.replace("GROUP BY", day)).code == 0
    return Path("readings.ledger")


@pytest.mark.parametrize(
    ("scope", "said"),
    [
        ("2026-03-02<=day<2026-03-03", "a column 'day' (did you mean 'day(time)'?)."),
        ("rom=hall", "a column 'rom' (did you mean 'room'?)."),
        ("person=ada", "a column 'person' (there are day(time), hour(time), room)."),
    ],
)
def test_show_refuses_a_scope_that_nothing_is_filed_under(
    one_day: Path, capsys: pytest.CaptureFixture[str], scope: str, said: str
) -> None:
    assert main(["ledger", "show", str(one_day), "--scope", scope]) == 2
    assert capsys.readouterr().err == f"louver ledger show: Nothing in this ledger is about {said}\n"


@pytest.mark.parametrize(
    ("scope", "left"),
    [
        ("day(time)=2026-03-02", "0.58"),
        ("2026-03-02<=day(time)<2026-03-03", "0.58"),
        ("day(time)=2026-03-02, hour(time)=9, room=hall", "0.58"),
        ("day(time)=2026-03-03", "1"),
        ("hour(time)=15", "1"),
    ],
)
def test_one_day_or_hour_may_be_written_with_an_equals_sign(
    one_day: Path, capsys: pytest.CaptureFixture[str], scope: str, left: str
) -> None:
    assert main(["ledger", "show", str(one_day), "--scope", scope]) == 0
    assert f"epsilon {left}" in capsys.readouterr().out


def test_what_would_fit_is_a_price_that_fits(tell: Tell) -> None:
    told = tell(*BARE, *PROMISE, "--budget", "0.1")
    (slack,) = re.findall(r"a slack of (\d+)", told.err)
    dry = tell(*BARE, "--miss-rate", "0.05", "--slack", slack, "--dry-run", "--json")
    assert Fraction(dry.json["worst"]) <= Fraction(1, 10)
