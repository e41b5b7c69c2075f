from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from louver.errors import DataError, LouverError, ParameterError
from louver.ledger import Ledger
from louver.watch.pipeline import prepared
from louver.watch.rules import Rules
from tests.watch.made import FIRE_LIMIT, NINE, house

WATCH = '[watch]\nbuilding = "building.toml"\nstore = "store"\nledger = "l"\nsalt = "salt"\ndataset = "house"\n'


def read(folder: Path, text: str) -> Rules:
    house(folder) if not (folder / "building.toml").exists() else None
    (folder / "rules.toml").write_text(text)
    return Rules.read(folder / "rules.toml")


def test_a_rule_is_read_with_everything_that_it_says(tmp_path: Path) -> None:
    rules = read(
        tmp_path,
        f"""{WATCH}
slot = "15 minutes"
lateness = "2 minutes"
no_data_after = "5 minutes"
[rule.fire-limit]
level = "floor"
having = "count(*) > 0.8 * capacity"
miss_rate = 0.05
slack = 10
false_alarm_rate = 0.1
strategy = "progressive"
pending = 2
clear_after = 3
hours = "07:00-22:00"
days = "mon-fri"
closer = {{ slack = 3, miss_rate = 0.01 }}
to = ["terminal", "desk"]
todo = "Call the desk."
[alarm.desk]
file = "alarms.ndjson"
""",
    )
    (rule,) = rules.rules
    assert (rule.level, rule.miss_rate, rule.slot_miss_rate) == ("floor", Fraction(1, 20), Fraction(1, 40))
    assert (rule.pending, rule.clear_after, str(rule.hours)) == (2, 3, "07:00-22:00, mon, tue, wed, thu, fri")
    assert rule.closer is not None
    assert (rule.closer.slack, rule.closer.miss_rate) == (Fraction(3), Fraction(1, 100))
    assert (rule.to, rule.todo) == (("terminal", "desk"), "Call the desk.")
    assert (rules.timing.slot, rules.timing.lateness, rules.no_data_after) == (900_000_000, 120_000_000, 300_000_000)
    assert (rules.store, rules.journal) == (tmp_path / "store", tmp_path / "store.journal")
    assert str(rules.unit) == "(person, slot)"


def test_a_list_of_levels_is_a_rule_for_each(tmp_path: Path) -> None:
    rules = read(tmp_path, WATCH + FIRE_LIMIT.replace("having", 'level = ["region", "building"]\nhaving'))
    assert [(rule.name, rule.level) for rule in rules.rules] == [
        ("fire-limit.region", "region"),
        ("fire-limit.building", "building"),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            f"{WATCH}{FIRE_LIMIT}pendng = 2",
            r"'pendng' in \[rule.fire-limit\] is not known here \(did you mean 'pending'",
        ),
        (f"{WATCH}[rule.a]\nslack = 3\nhaving = 'count(*) > 3'", "'miss_rate' in .rule.a. is missing"),
        (f"{WATCH}[rule.a]\nmiss_rate = 0.05\nhaving = 'count(*) > 3'", "rule.a.: slack is missing"),
        (f"{WATCH}[rule.a]\nmiss_rate = 0.7\nslack = 1\nhaving = 'count(*) > 3'", "rule.a.: miss_rate must be"),
        (f"{WATCH}[rule.a]\nmiss_rate = 0.05\nslack = 3", "one of having, ask, or values"),
        (f"{WATCH}{FIRE_LIMIT}level = 'room'", "access points tell regions apart, not their rooms"),
        (f"{WATCH}{FIRE_LIMIT}level = 'flor'", "did you mean 'floor'"),
        (f"{WATCH}{FIRE_LIMIT}strategy = 'sparce'", "did you mean 'sparse'"),
        (f"{WATCH}{FIRE_LIMIT}to = ['terminl']", "names no channel 'terminl' .did you mean 'terminal'"),
        (f"{WATCH}{FIRE_LIMIT}pending = 2.5", "'pending' in .rule.fire-limit. must be a whole number, not 2.5"),
        (f"{WATCH}{FIRE_LIMIT}closer = {{ slack = 11, miss_rate = 0.01 }}", "this one has more"),
        (f"{WATCH}keep = '10 minutes'\n{FIRE_LIMIT}", "keep must be 1 hour or more, not 10 minutes"),
        (f"{WATCH}{FIRE_LIMIT}pending = 0", "pending must be between 1 and 1000"),
        (f"{WATCH}{FIRE_LIMIT}hours = '7-22'", "rule.fire-limit.: Hours are written like"),
        (f"{WATCH}{FIRE_LIMIT}closer = {{ slack = 3 }}", "'miss_rate' in .rule.fire-limit.closer. is missing"),
        (f"{WATCH}{FIRE_LIMIT}limit = 3", "limit is for numbers"),
        (f"{WATCH}[rule.a]\nvalues = true\nmiss_rate = 0.05", "'within' in .rule.a. is missing"),
        (f"{WATCH}slot = '7 minutes'\n{FIRE_LIMIT}", "A slot must divide a day"),
        (f"{WATCH}slot = '5 moons'\n{FIRE_LIMIT}", "slot: It is a number of seconds"),
        (f"{WATCH}unit = 'person'\n{FIRE_LIMIT}", r"did you mean '\(person\)'"),
        (f"{WATCH}unit = '(device)'\n{FIRE_LIMIT}", r"one of \(person, slot\), \(person, day\), \(person\), "),
        (f"{WATCH}clock = 'wal'\n{FIRE_LIMIT}", "did you mean 'wall'"),
        (f"{WATCH}[rule.'a/b']\n", "is no name for a rule"),
        (WATCH, "There is no rule"),
        (FIRE_LIMIT, "'building' in .watch. is missing"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ParameterError, match=said) as caught:
        read(tmp_path, text)
    assert str(caught.value).startswith(str(tmp_path / "rules.toml"))
    assert str(caught.value).endswith(".")


def test_a_file_that_is_no_toml_is_named_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"rules\.toml cannot be read as TOML at line 8"):
        read(tmp_path, f"{WATCH}\n[rule\n[rule.b]")
    with pytest.raises(DataError, match="There is no file"):
        Rules.read(tmp_path / "missing.toml")


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ("having = 'count(*) > capacty'", r"\[rule.a\]: .*'capacty'.*did you mean 'capacity'"),
        ("having = 'count(*) >'", r"\[rule.a\]: "),
        ("ask = 'SELECT floor FROM occupancy GROUP BY floor HAVING count(*) > 3'", "must be grouped by region"),
        ("ask = 'SELECT region, count(*) FROM occupancy GROUP BY region'", "which keys meet a condition"),
        ("ask = 'SELECT region FROM events GROUP BY region HAVING count(*) > 3'", "must be FROM occupancy"),
        ("having = 'sum(devices, 0, 9) > 3'", r"\[rule.a\]: "),
    ],
)
def test_a_question_that_cannot_be_asked_is_refused_before_the_start(tmp_path: Path, condition: str, said: str) -> None:
    rules = house(tmp_path, f"[rule.a]\nmiss_rate = 0.05\nslack = 3\n{condition}\n")
    with Ledger.open(rules.ledger) as ledger, pytest.raises(LouverError, match=said):
        prepared(rules, ledger, NINE)


def test_a_ledger_of_something_else_is_refused_before_the_start(tmp_path: Path) -> None:
    house(tmp_path)
    text = (tmp_path / "rules.toml").read_text()
    (tmp_path / "rules.toml").write_text(text.replace('"house"', '"barn"'))
    rules = Rules.read(tmp_path / "rules.toml")
    with Ledger.open(rules.ledger) as ledger, pytest.raises(ParameterError, match="'barn', but the ledger belongs"):
        prepared(rules, ledger, NINE)


def test_a_ledger_of_another_unit_is_refused_with_both_as_they_are_written(tmp_path: Path) -> None:
    house(tmp_path)
    text = (tmp_path / "rules.toml").read_text()
    (tmp_path / "rules.toml").write_text(text.replace("(person, slot)", "(person, day)"))
    rules = Rules.read(tmp_path / "rules.toml")
    said = r'rules\.toml says unit = "\(person, day\)", and its ledger protects \(person, slot\)'
    with Ledger.open(rules.ledger) as ledger, pytest.raises(ParameterError, match=said):
        prepared(rules, ledger, NINE)


def test_a_fault_in_a_question_is_one_line_with_the_part_that_is_meant(tmp_path: Path) -> None:
    rules = house(tmp_path, "[rule.a]\nmiss_rate = 0.05\nslack = 3\nhaving = 'count(*) > 3 + sqrt(2)'\n")
    with Ledger.open(rules.ledger) as ledger, pytest.raises(ParameterError, match=r"\[rule.a\]: at 'sqrt") as caught:
        prepared(rules, ledger, NINE)
    assert "\n" not in str(caught.value)
