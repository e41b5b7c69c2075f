"""`louver simulate`, really run; and what it writes can be asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from louver import cli
from louver.sense.building import Building


def run(*words: object) -> int:
    return cli.main(["simulate", *map(str, words)])


def test_it_writes_events_building_readings_and_truth(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--preset", "demo", "--people", 200, "--days", 1, "--out", tmp_path / "hall") == 0
    shown = capsys.readouterr()
    assert "devices at 22 access points over 1 day from 2018-02-01." in shown.out
    assert shown.err == ""
    files = sorted(str(file.relative_to(tmp_path / "hall")) for file in (tmp_path / "hall").rglob("*.*"))
    assert files == [
        *("building.toml", "energy.parquet", "events.parquet", "temperature.parquet"),
        *("truth/breaches.parquet", "truth/devices.parquet", "truth/incidents.json", "truth/people.parquet"),
        "truth/stays.parquet",
    ]
    assert [line.strip() for line in shown.out.splitlines()[2:]] == files
    assert len(Building.read(tmp_path / "hall" / "building.toml").regions) == 22


def test_json_says_what_was_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--preset", "fall-risk", "--people", 5, "--days", 7, "--out", tmp_path, "--format", "csv", "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["louver"], said["format"], said["preset"]) == ("simulate", 1, "fall-risk")
    assert said["rows"]["accelerations"] > 50
    assert "accelerations.csv" in said["files"]


def test_it_writes_over_nothing_without_force(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--preset", "demo", "--people", 50, "--days", 1, "--out", tmp_path)
    assert run(*words) == 0
    before = (tmp_path / "events.parquet").read_bytes()
    assert run(*words, "--seed", 8) == 4
    assert "is there already; name another folder, or write over it with --force." in capsys.readouterr().err
    assert (tmp_path / "events.parquet").read_bytes() == before
    assert run(*words, "--seed", 8, "--force") == 0
    assert (tmp_path / "events.parquet").read_bytes() != before


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--preset", "dmo"), 2, "There is no preset 'dmo' (did you mean 'demo'?)."),
        (("--days", "many"), 2, "--days must be a whole number, not 'many'."),
        (("--days", "0"), 2, "The number of days must be between 1"),
        (("--seed", "0x7"), 2, "--seed must be a whole number"),
        (("--start", "yesterday"), 2, "--start must be a day like 2018-02-01, not 'yesterday'."),
        (("--format", "cvs"), 2, "There is no format 'cvs' (did you mean 'csv'?)."),
    ],
)
def test_wrong_words_are_one_sentence(
    words: tuple[str, ...], code: int, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("--out", tmp_path / "out", *words) == code
    shown = capsys.readouterr()
    assert said in shown.err
    assert shown.err.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_file_in_place_of_the_folder_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "out").write_text("mine")
    assert run("--preset", "demo", "--out", tmp_path / "out") == 4
    assert "is a file; name a folder." in capsys.readouterr().err


def test_the_help_lists_every_preset_with_its_size(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        run("--help")
    assert caught.value.code == 0
    shown = capsys.readouterr().out
    assert all(f"  {name} " in shown for name in ("building", "demo", "campus", "taxi", "fall-risk"))
    assert "89 days from 2018-02-01, 36,000 people" in shown


QUESTIONS = {
    "campus": (
        "SELECT building, hour FROM presence WHERE day = DATE '2018-10-09' GROUP BY building, hour "
        "HAVING count(*) > capacity"
    ),
    "taxi": "SELECT region, day FROM pickups GROUP BY region, day HAVING count(*) > usual",
    "fall-risk": 'SELECT resident FROM accelerations GROUP BY resident HAVING count(*) > "limit"',
}


@pytest.mark.parametrize("preset", QUESTIONS)
@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_what_is_written_can_be_asked(
    preset: str, form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("--preset", preset, "--days", 10, "--people", 400, "--format", form, "--out", tmp_path) == 0
    monkeypatch.chdir(tmp_path)
    asked = ["ask", "louver.toml", QUESTIONS[preset], "--ledger", "l", "--budget", "1"]
    assert cli.main(asked) == 0
    assert "is missed in at most 1 of 20 cases" in " ".join(capsys.readouterr().out.split())
