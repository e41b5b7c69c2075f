"""`louver ask` as people use it: files in a folder, one command after the other."""

from __future__ import annotations

import xml.etree.ElementTree as Xml
from fractions import Fraction
from pathlib import Path

import duckdb
import pytest

from louver.ledger import Ledger
from louver.privacy import Unit
from tests.cli.asking import BARE, CROWDED, DESCRIBED, PROMISE, ROWS, Tell, refused


def test_a_bare_file_is_answered_and_its_ledger_made(tell: Tell) -> None:
    told = tell(*BARE, *PROMISE, "--budget", "1")
    assert told.code == 0
    first, second, *_ = told.out.splitlines()
    assert first == "Protected: one row, not one person; the costs of one person's rows add up."
    assert second == "flagged    hall (1 of 3)"
    assert "is missed in at most 1 of 20 cases" in told.words
    assert (
        "price epsilon 0.4148 at most, entry 2 of presence.csv.ledger; 0.5852 remains where most is used" in told.words
    )
    assert "Made the ledger presence.csv.ledger with a budget of 1 for presence." in told.err
    assert "which is not shown again" in told.err
    with Ledger.open("presence.csv.ledger") as ledger:
        assert (ledger.dataset, ledger.unit) == ("presence", Unit.row())


def test_the_ledger_pays_until_it_refuses(tell: Tell) -> None:
    tell(*BARE, *PROMISE, "--budget", "1")
    again = tell(*BARE, *PROMISE)
    assert "0.1704 remains" in again.words
    assert again.err == ""
    refused(tell(*BARE, *PROMISE), 3, "Nothing was read and nothing was spent. What would fit: a miss rate of 0.2")


def test_without_a_ledger_and_a_budget_nothing_runs(tell: Tell) -> None:
    refused(tell(*BARE, *PROMISE), 4, "There is no ledger at presence.csv.ledger; make one with --budget")
    assert not Path("presence.csv.ledger").exists()


def test_a_budget_does_not_change_a_ledger_that_is_there(tell: Tell) -> None:
    tell(*BARE, *PROMISE, "--budget", "1")
    refused(tell(*BARE, *PROMISE, "--budget", "2"), 2, "has a budget of 1; change it with: louver ledger cap")
    assert tell(*BARE, *PROMISE, "--budget", "1").code == 0


def test_a_ledger_for_a_file_that_is_not_there_is_not_made(tell: Tell) -> None:
    Path("presence.csv").unlink()
    refused(tell(*BARE, *PROMISE, "--budget", "1"), 4, "There is no file presence.csv")
    assert not Path("presence.csv.ledger").exists()


def test_a_dry_run_reserves_nothing_and_reads_no_row(tell: Tell) -> None:
    Path("presence.csv").write_text(ROWS[0])
    told = tell(*BARE, *PROMISE, "--dry-run")
    assert told.code == 0
    assert told.out.startswith("Protected: one row, not one person")
    assert "price epsilon 0.4148 at most; nothing was reserved and no row was read" in told.words
    assert not Path("presence.csv.ledger").exists()


def test_a_dry_run_says_what_a_ledger_has_left_and_takes_nothing(tell: Tell) -> None:
    tell(*BARE, *PROMISE, "--budget", "1")
    for _ in range(3):
        assert "0.5852 remains" in tell(*BARE, *PROMISE, "--dry-run").words
    with Ledger.open("presence.csv.ledger") as ledger:
        assert [entry.act for entry in ledger.entries()] == ["opened", "reserved", "settled"]


def test_json_is_for_programs(tell: Tell) -> None:
    told = tell(*BARE, *PROMISE, "--budget", "1", "--json")
    plain = told.json
    assert (plain["louver"], plain["format"], plain["dry_run"]) == ("ask", 1, False)
    assert plain["answer"] == {"columns": ["room"], "flagged": ["hall"], "keys": 3}
    assert Fraction(plain["worst"]) + Fraction(plain["remaining"]) == 1
    assert (plain["worst_epsilon"], plain["remaining_epsilon"]) == (0.4148, 0.5852)
    assert plain["protected"] == "one row, not one person; the costs of one person's rows add up"
    assert "owner" not in plain
    dry = tell(*BARE, *PROMISE, "--json", "--dry-run", "--explain").json
    assert dry["dry_run"] is True
    assert dry["worst"] == plain["worst"]
    assert (dry["worst_epsilon"], dry["protected"]) == (plain["worst_epsilon"], plain["protected"])
    (best,) = [each for each in dry["choices"] if each["best"]]
    assert (best["strategy"], best["levels"], best["worst"]) == ("one-shot", 1, dry["worst"])
    assert "nothing known" in dry["choices_from"]


def test_an_explanation_shows_the_choice_and_what_each_key_paid(tell: Tell) -> None:
    told = tell(*BARE, *PROMISE, "--budget", "1", "--explain", "--objective", "mean")
    assert "charged epsilon" in told.words
    assert "levels keys decided at:" in told.words
    assert not told.out.endswith("\n\n")
    assert "of the largest possible min-entropy is left" in told.words
    assert "* progressive: the least mean price." in told.words
    owner = tell(*BARE, *PROMISE, "--explain", "--json").json
    assert owner["owner"]["prices"] == [owner["worst"]] * 3


def test_a_survey_comes_first_and_is_paid_for(tell: Tell) -> None:
    asked = (*BARE, *PROMISE, "--survey", "0.1", "--objective", "mean")
    told = tell(*asked, "--budget", "1", "--explain", "--json")
    assert told.code == 0, told.err
    assert "a private look" in told.json["choices_from"]
    assert (told.json["survey"], told.json["survey_epsilon"]) == ("1/10", 0.1)
    assert Fraction(told.json["remaining"]) == Fraction(9, 10) - Fraction(told.json["charged"])
    refused(tell(*BARE, *PROMISE, "--survey", "0.1"), 2, "with the objective mean or entropy")


@pytest.mark.parametrize("rows", ["1", "4"])
def test_a_dry_run_says_what_a_survey_would_cost(tell: Tell, rows: str) -> None:
    unit = ("--unit", "(device)", "--domain", "rooms.csv", "--rows-per-unit", rows)
    asked = ("presence.csv", CROWDED, *unit, *PROMISE, "--survey", "0.1", "--objective", "mean", "--dry-run")
    assert "at most and 0.1000 for the survey before it" in tell(*asked).words
    plain = tell(*asked, "--json").json
    assert (plain["survey"], plain["survey_epsilon"]) == ("1/10", 0.1)
    assert not Path("presence.csv.ledger").exists()


def test_a_dry_run_of_steps_says_what_one_look_costs(tell: Tell) -> None:
    told = tell(*BARE, *PROMISE, "--objective", "mean", "--dry-run")
    assert "price epsilon 0.5382 at most; one look, with --objective worst, costs 0.4148;" in told.words
    assert "one look" not in tell(*BARE, *PROMISE, "--dry-run").words


def test_a_price_is_said_with_what_it_means(tell: Tell) -> None:
    means = "meaning whoever gave even odds that one row is in the data can be at most 60.3% sure afterwards"
    assert means in tell(*BARE, *PROMISE, "--dry-run").words
    assert means in tell(*BARE, *PROMISE, "--budget", "2").words
    together = "and 69.7% after everything that was asked here so far (epsilon 0.8296 together)"
    assert together in tell(*BARE, *PROMISE, "--dry-run").words
    assert tell(*BARE, *PROMISE, "--json").json["meaning"].endswith(together)


def test_what_each_key_paid_is_for_owners(tell: Tell, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = tell(*BARE, *PROMISE, "--budget", "9").err.split()[-1]
    asked = (*BARE, *PROMISE, "--objective", "mean", "--explain")
    assert "owner" in tell(*asked, "--json").json, "nobody else has a token, so whoever asks owns the ledger"
    with Ledger.open("presence.csv.ledger") as ledger:
        analyst = ledger.add_person("ana", "analyst", tokens=[owner])
    for token, sees in ((analyst, False), (None, False), (owner, True)):
        monkeypatch.delenv("LOUVER_TOKEN", raising=False)
        if token is not None:
            monkeypatch.setenv("LOUVER_TOKEN", token)
        plain = tell(*asked, "--json").json
        assert ("owner" in plain) is sees
        assert "choices" in plain
        said = tell(*asked).words
        assert ("levels keys decided at" in said, "What each key paid is shown to owners" in said) == (sees, not sees)


def test_one_row_of_each_unit_counts_unless_more_are_stated_and_that_is_said(tell: Tell) -> None:
    asked = ("presence.csv", CROWDED, "--unit", "(device)", "--domain", "rooms.csv", *PROMISE, "--dry-run")
    warning = "warning Of each (device) one row is counted, because nothing says how many rows one can have; say it"
    assert f"{warning} with --rows-per-unit." in tell(*asked).words
    assert "warning Of each" not in tell(*asked, "--rows-per-unit", "1").words
    assert "warning Of each" not in tell(*BARE, *PROMISE, "--dry-run").words


def test_a_strategy_is_chosen_by_name(tell: Tell) -> None:
    def mechanism(*more: str) -> str:
        return str(tell(*BARE, *PROMISE, "--dry-run", "--json", *more).json["strategy"])

    assert mechanism("--strategy", "progressive", "--levels", "3") == "progressive"
    assert mechanism("--strategy", "sparse", "--alarms", "2") == "sparse"
    assert mechanism("--strategy", "naive", "--epsilon", "0.5") == "naive"
    assert mechanism("--objective", "entropy") == "adaptive"


def test_the_same_key_gives_the_same_answer_for_nothing(tell: Tell) -> None:
    first = tell(*BARE, *PROMISE, "--budget", "1", "--json", "--key", "monday").json
    again = tell(*BARE, *PROMISE, "--json", "--key", "monday").json
    assert (first["again"], again["again"]) == (False, True)
    assert {**again, "again": False} == first
    said = tell(*BARE, *PROMISE, "--key", "monday").words
    assert "price nothing this time: entry 2 of presence.csv.ledger has the answer, which was paid then with" in said
    assert "0.5852 remains where most is used" in said


def test_a_key_of_another_question_is_refused_by_its_flag(tell: Tell) -> None:
    tell(*BARE, *PROMISE, "--budget", "1", "--key", "monday")
    refused(tell(*BARE, *PROMISE, "--slack", "20", "--key", "monday"), 2, "--key 'monday' was used for another plan")


def test_a_picture_is_written(tell: Tell) -> None:
    assert tell(*BARE, *PROMISE, "--budget", "1", "--plot", "zones.svg").code == 0
    assert Xml.parse("zones.svg").getroot().tag.endswith("svg")  # noqa: S314 it is our own


@pytest.mark.parametrize("named", ["louver.toml", "louver.toml:presence", "presence"])
def test_a_description_says_the_rest(tell: Tell, named: str) -> None:
    Path("louver.toml").write_text(DESCRIBED)
    told = tell(named, CROWDED)
    assert told.code == 0, told.err
    assert told.out.splitlines()[:2] == ["Protected: everything recorded about one device.", "flagged    hall (1 of 3)"]
    assert "Of everything recorded about one device, at most 2 rows are counted." in told.words
    assert "Made the ledger house.ledger with a budget of 4 for house." in told.err


def test_flags_come_before_the_environment_and_that_before_the_description(
    tell: Tell, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("louver.toml").write_text(DESCRIBED)

    def price(*more: str) -> Fraction:
        return Fraction(tell("presence", CROWDED, "--dry-run", "--json", *more).json["worst"])

    described = price()
    monkeypatch.setenv("LOUVER_SLACK", "20")
    by_environment = price()
    assert by_environment < described
    assert price("--slack", "40") < by_environment
    assert price("--slack", "10") == described


def test_another_domain_is_chosen_by_name_or_by_file(tell: Tell) -> None:
    Path("louver.toml").write_text(DESCRIBED)
    asked = CROWDED.replace("JOIN rooms USING (room) ", "").replace("rooms.", "")
    assert tell("presence", asked, "--domain", "some", "--json").json["answer"]["keys"] == 1
    assert tell("presence", CROWDED.replace("rooms", "some"), "--json").json["answer"]["keys"] == 1
    Path("two.csv").write_text("room,capacity\nhall,5\nlab,6\n")
    assert (
        tell("presence", CROWDED.replace("rooms", "two"), "--domain", "two.csv", "--json").json["answer"]["keys"] == 2
    )
    refused(tell("presence", asked, "--domain", "soms"), 2, "There is no domain 'soms' (did you mean 'some'?)")


def test_the_unit_of_a_description_is_not_changed_by_a_flag(tell: Tell) -> None:
    Path("louver.toml").write_text(DESCRIBED)
    refused(tell("presence", CROWDED, "--unit", "row"), 2, "louver.toml says what the unit is")


def test_numbers_and_classes_are_asked_for_as_well(tell: Tell) -> None:
    Path("louver.toml").write_text(DESCRIBED)
    numbers = tell("presence", "SELECT room, count(*) FROM presence GROUP BY room", "--within", "40", "--json")
    listed = dict(zip(numbers.json["answer"]["listed"], numbers.json["answer"]["values"][0], strict=True))
    assert abs(listed["hall"] - 300) < 400
    asked = (
        "SELECT room, CASE WHEN count(*) > rooms.capacity THEN 'high' ELSE 'low' END FROM presence "
        "JOIN rooms USING (room) GROUP BY room"
    )
    told = tell("presence", asked)
    assert told.code == 0, told.err
    assert "room class hall high lab low attic low promise" in told.words


def test_a_long_table_is_cut_and_counted(tell: Tell) -> None:
    Path("rooms.csv").write_text("room\n" + "\n".join(f"r{n}" for n in range(60)))
    told = tell("presence.csv", "SELECT room, count(*) FROM presence GROUP BY room", *changed(slack=None, within="9"))
    assert told.code == 0, told.err
    assert "and 10 more, which --json shows" in told.out
    assert "r50" not in told.out


def test_sums_use_the_declared_bounds(tell: Tell) -> None:
    Path("louver.toml").write_text(DESCRIBED)
    asked = "SELECT room FROM presence GROUP BY room HAVING sum(watts) > 2000"
    told = tell("presence", asked, "--slack", "1500")
    assert told.code == 0, told.err
    assert "flagged hall" in told.words
    assert "values of watts within their declared bounds" in told.words


def test_a_question_without_keys_needs_no_domain(tell: Tell) -> None:
    asked = "SELECT 1 FROM presence HAVING count(*) > 100"
    told = tell("presence.csv", asked, "--unit", "row", *PROMISE, "--budget", "1")
    assert told.code == 0, told.err
    assert "(1 of 1)" in told.words


def test_a_table_of_a_database_is_asked_with_a_named_ledger(tell: Tell) -> None:
    with duckdb.connect("plant.duckdb") as engine:
        engine.execute("CREATE TABLE presence AS SELECT * FROM 'presence.csv'")
        engine.execute("CREATE TABLE rooms AS SELECT * FROM 'rooms.csv'")
    asked = ("plant.duckdb#presence", CROWDED, "--unit", "row", "--domain", "plant.duckdb#rooms", *PROMISE)
    refused(tell(*asked, "--budget", "1"), 2, "with --ledger; one that is not there yet is made with --budget")
    told = tell(*asked, "--ledger", "plant.ledger", "--budget", "1")
    assert told.code == 0, told.err
    assert "flagged hall" in told.words


def test_a_ledger_of_another_unit_is_refused(tell: Tell) -> None:
    tell(*BARE, *PROMISE, "--budget", "1")
    other = ("presence.csv", CROWDED, "--unit", "(device)", "--domain", "rooms.csv", *PROMISE)
    refused(tell(*other), 2, "The table's unit is (device), but the ledger's is row")
    refused(tell(*other, "--dry-run"), 2, "The table's unit is (device), but the ledger's is row")


def test_whoever_has_a_token_asks_in_their_own_name(tell: Tell, monkeypatch: pytest.MonkeyPatch) -> None:
    told = tell(*BARE, *PROMISE, "--budget", "1")
    monkeypatch.setenv("LOUVER_TOKEN", told.err.split()[-1])
    assert tell(*BARE, *PROMISE).code == 0
    with Ledger.open("presence.csv.ledger") as ledger:
        assert [entry.who for entry in ledger.entries() if entry.act == "reserved"] == ["local", "owner"]
    monkeypatch.setenv("LOUVER_TOKEN", "wrong")
    assert tell(*BARE, *PROMISE).code == 3


def changed(**flags: str | None) -> tuple[str, ...]:
    """The usual words with some flags changed, or left out."""
    usual: dict[str, str | None] = {
        "unit": "row",
        "domain": "rooms.csv",
        "miss_rate": "0.05",
        "slack": "10",
        "budget": "1",
    }
    words = [(f"--{name.replace('_', '-')}", value) for name, value in {**usual, **flags}.items()]
    return tuple(word for flag, value in words if value is not None for word in (f"{flag}={value}",))


@pytest.mark.parametrize(
    ("flags", "code", "said"),
    [
        ({"unit": None}, 2, "A bare file needs --unit, which says who is protected"),
        ({"unit": "devise"}, 4, "has no column 'devise' (did you mean 'device'?)"),
        ({"unit": "(devise)"}, 4, "devise"),
        ({"domain": None}, 2, "there is no domain; declare one, or give it with --domain"),
        ({"domain": "gone.csv"}, 4, "There is no file gone.csv"),
        ({"miss_rate": None}, 2, "louver ask: --miss-rate must be given"),
        ({"miss_rate": "0"}, 2, "--miss-rate must be greater than 0 and less than 0.5"),
        ({"miss_rate": "1.5"}, 2, "--miss-rate must be greater than 0 and less than 0.5, not 1.5;"),
        ({"miss_rate": "often"}, 2, "--miss-rate must be a number of 0 or more like 0.5"),
        ({"miss_rate": "nan"}, 2, "--miss-rate must be a number"),
        ({"false_alarm_rate": "0"}, 2, "--false-alarm-rate must be greater than 0"),
        ({"slack": None}, 2, "louver ask: --slack must be given"),
        ({"slack": "-3"}, 2, "--slack must be a number of 0 or more"),
        ({"slack": "1,2"}, 2, "Give one slack, for there is one comparison."),
        ({"budget": "0"}, 3, "The budget does not suffice"),
        ({"budget": "-1"}, 2, "--budget must be a number of 0 or more"),
        ({"objective": "best"}, 2, "--objective must be one of worst, mean, entropy, not 'best'"),
        ({"strategy": "shfit"}, 2, "There is no strategy 'shfit' (did you mean 'shift'?)"),
        ({"rows_per_unit": "3"}, 2, "Bounds per unit are for units of several rows"),
        ({"within": "3"}, 2, "--within is for questions that ask for aggregates"),
        ({"strategy": "naive"}, 2, "give --epsilon, such as 0.5"),
        ({"strategy": "shift", "levels": "3"}, 2, "does not take --levels"),
        ({"strategy": "progressive", "levels": "0"}, 2, "--levels must be between 1 and"),
        ({"unit": "(device)", "rows_per_unit": "0"}, 2, "--rows-per-unit must be between 1 and"),
        ({"budget": "0.1"}, 3, "The budget does not suffice"),
    ],
)
def test_a_wrong_flag_gets_one_sentence(tell: Tell, flags: dict[str, str | None], code: int, said: str) -> None:
    told = tell("presence.csv", CROWDED, *changed(**flags))
    told.err = "".join(line for line in told.err.splitlines(keepends=True) if line.startswith("louver ask"))
    refused(told, code, said)


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("", "The SQL is empty"),
        ("DROP TABLE presence", "question"),
        ("SELECT room FROM presence GROUP BY room HAVING count(*) > capcity", "did you mean 'capacity'?"),
        ("SELECT floor FROM presence GROUP BY floor HAVING count(*) > 3", "no key column 'floor'"),
        ("SELECT room FROM presence GROUP BY room HAVING sum(watts) > 3", "watts"),
        ("SELECT room, count(*) FROM presence GROUP BY room", "--within must be given"),
    ],
)
def test_a_wrong_question_gets_one_sentence(tell: Tell, sql: str, said: str) -> None:
    told = tell("presence.csv", sql, *changed())
    assert told.code == 2
    assert said in told.err.splitlines()[-1]
    assert told.err.splitlines()[-1].startswith("louver ask: ")
    assert told.err.endswith(".\n")


def test_the_place_in_the_sql_is_marked(tell: Tell) -> None:
    told = tell("presence.csv", "SELECT room FROM presence GROUP BY room ORDER BY room", *changed())
    assert told.code == 2
    place, line, marks, sentence = told.err.splitlines()
    assert place.startswith("Line 1, column ")
    assert line.strip().startswith("SELECT room")
    assert set(marks.strip()) == {"^"}
    assert sentence.startswith("louver ask: ")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("room,capacity\n", "The domain is empty"),
        ("room,capacity\nhall,1\nhall,2\n", "room = hall comes twice"),
        ("room,capacity\n,1\n", "Every key needs a value"),
        ("rom,capacity\nhall,1\n", "(did you mean 'rom'?)"),
        ("room,capacity\nhall,many\n", "must be a number for each key, but for room = hall it is 'many'"),
        ("room,capacity\nhall,\n", "for room = hall it is missing"),
    ],
)
def test_a_domain_that_cannot_be_used_gets_one_sentence(tell: Tell, text: str, said: str) -> None:
    Path("rooms.csv").write_text(text)
    told = tell("presence.csv", CROWDED, *changed())
    assert told.code in (2, 4)
    assert said in told.err


@pytest.mark.parametrize("capacity", ["-5", "179.5", "1e3"])
def test_negative_and_fractional_thresholds_are_numbers(tell: Tell, capacity: str) -> None:
    Path("rooms.csv").write_text(f"room,capacity\nhall,{capacity}\n")
    assert tell("presence.csv", CROWDED, *changed()).code == 0


def test_a_threshold_below_the_slack_is_warned_of(tell: Tell) -> None:
    Path("rooms.csv").write_text("room,capacity\nhall,5\n")
    said = tell("presence.csv", CROWDED, *changed()).words
    assert "warning Without any rows, hall is within the slack of the threshold and may be flagged; take" in said


def test_a_price_that_no_plan_has_is_exit_code_5(tell: Tell) -> None:
    Path("louver.toml").write_text(DESCRIBED)
    classes = "CASE WHEN sum(watts) > 20 THEN 'high' WHEN sum(watts) > 10 THEN 'mid' ELSE 'low' END"
    asked = f"SELECT room, {classes} FROM presence GROUP BY room"
    told = tell("presence", asked, "--slack", "0")
    assert told.code == 5, told.err


def test_an_empty_table_is_answered(tell: Tell) -> None:
    Path("presence.csv").write_text("device,room,floor,watts\n")
    assert "flagged none (0 of 3)" in tell(*BARE, *PROMISE, "--budget", "1").words


def test_keys_that_are_not_listed_are_not_told(tell: Tell) -> None:
    Path("rooms.csv").write_text("room,capacity\nattic,90\n")
    told = tell(*BARE, *PROMISE, "--budget", "1", "--json", "--explain")
    assert "hall" not in told.out


def test_no_row_can_stop_the_reading(tell: Tell) -> None:
    with Path("presence.csv").open("ab") as file:
        file.write(b'\n\xff\xfe,lab,1,nan\n,,,\n"broken,lab\n5,lab,x,inf,7,8\n')
    assert "flagged hall (1 of 3)" in tell(*BARE, *PROMISE, "--budget", "1").words


@pytest.mark.parametrize(
    ("source", "code", "said"),
    [
        ("rows.xlsx", 2, "is no .csv or .parquet file"),
        ("presence", 2, "there is no louver.toml here"),
        ("gone.toml", 4, "There is no file gone.toml"),
        ("", 2, "is no .csv or .parquet file"),
    ],
)
def test_a_source_that_is_not_there_gets_one_sentence(tell: Tell, source: str, code: int, said: str) -> None:
    refused(tell(source, CROWDED, *PROMISE), code, said)


def test_a_mistyped_source_gets_a_suggestion(tell: Tell) -> None:
    Path("louver.toml").write_text(DESCRIBED)
    refused(tell("presense", CROWDED), 2, "describes no source 'presense' (did you mean 'presence'?)")


def test_a_mistyped_flag_gets_a_suggestion(tell: Tell) -> None:
    told = tell(*BARE, "--mis-rate", "0.05")
    assert told.code == 2
    assert "did you mean '--miss-rate'?" in told.err
