"""`louver publish table` as people use it: files in a folder, one command after the other."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from louver import cli
from louver.ledger import Cap, Ledger
from louver.privacy import Unit
from tests.cli.asking import VARIABLES, Told

COUNTIES = "county,state,births\na,x,10\nb,x,20\nc,y,5\nd,y,0\n"
BIRTHS = ("counties.csv", "--of", "births", "--by", "county", "--domain", "counties.csv")
EXACT = (*BIRTHS, "--exact", "state")
# At this price there is no noise but once in 10^80 draws.
LOUD = (*EXACT, "--epsilon", "400", "--budget", "1000")

Publish = Callable[..., Told]


@pytest.fixture
def publish(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Publish:
    monkeypatch.chdir(tmp_path)
    for variable in VARIABLES:
        monkeypatch.delenv(f"LOUVER_{variable}", raising=False)
    Path("counties.csv").write_text(COUNTIES)

    def run(*words: str) -> Told:
        code = cli.main(["publish", "table", *words])
        said = capsys.readouterr()
        return Told(code, said.out, said.err)

    return run


def test_a_dry_run_says_what_is_exact_and_makes_no_ledger(publish: Publish) -> None:
    told = publish(*EXACT, "--epsilon", "0.5", "--dry-run")
    assert told.code == 0, told.err
    assert "Not protected: the total of births by state" in " ".join(told.out.split())
    assert "exact      the total of births by state, list " in told.out
    assert "epsilon 0.5000 beside what is exact; nothing was reserved and no row was read" in told.out
    assert not Path("counties.csv.ledger").exists()


def test_a_table_goes_to_the_output_and_to_files(publish: Publish) -> None:
    told = publish(*LOUD, "--totals", "state", "--key", "one")
    assert told.code == 0, told.err
    rows = list(csv.DictReader(told.out.splitlines()))
    assert [row["count"] for row in rows] == ["10", "20", "5", "0", "30", "5"]
    assert "The token of its owner" in told.err
    for name in ("t.csv", "t.json", "t.parquet"):
        assert publish(*LOUD, "--totals", "state", "--key", "one", "--to", name).code == 0
    assert Path("t.csv").read_text() == told.out
    assert json.loads(Path("t.json").read_text())["columns"]["count"] == [10, 20, 5, 0, 30, 5]
    with duckdb.connect() as connection:
        totals = connection.execute("SELECT sum(count) FROM 't.parquet' WHERE county IS NULL").fetchall()
    assert totals == [(35,)]
    there = publish(*LOUD, "--to", "t.csv")
    assert (there.code, there.err.count("\n")) == (4, 1)
    assert "nothing this time" in publish(*LOUD, "--totals", "state", "--key", "one", "--to", "t.csv", "--force").out
    shown = json.loads(publish(*LOUD, "--totals", "state", "--key", "one", "--json").out)
    assert (shown["again"], shown["kind"], shown["columns"]["high"][-1]) == (True, "subspace", 5)


def test_what_was_not_allowed_to_be_exact_is_refused_until_an_owner_allows_it(publish: Publish) -> None:
    unit = Unit.one_of("births")
    ledger, tokens = Ledger.create("counties.csv.ledger", dataset="counties", unit=unit, caps=[Cap(epsilon=2)])
    ledger.close()
    (token,) = tokens.values()
    Path("token").write_text(token)
    told = publish(*EXACT, "--epsilon", "0.5")
    assert (told.code, told.out) == (3, "")
    assert "does not allow that; an owner can, by this name, with: louver ledger cap --exact" in told.err
    plan = json.loads(publish(*EXACT, "--epsilon", "0.5", "--dry-run", "--json").out)
    assert "does not allow" in plan["refused"]
    allow = ["ledger", "cap", "counties.csv.ledger", "2", "--exact", plan["exact"], "--token-file", "token"]
    assert cli.main(allow) == 0
    assert publish(*EXACT, "--epsilon", "0.5").code == 0


def test_what_no_owner_can_help_with_is_refused_first(publish: Publish) -> None:
    assert publish(*BIRTHS, "--exact", "all", "--epsilon", "0.5", "--budget", "2").code == 0
    for other in (EXACT, BIRTHS):
        told = publish(*other, "--epsilon", "0.5")
        assert told.code == 3
        assert "This ledger has already paid for tables with exact totals (the grand total of births" in told.err
        assert "louver ledger cap" not in told.err


def test_verifying_a_ledger_says_what_it_cannot_check(publish: Publish, capsys: pytest.CaptureFixture[str]) -> None:
    assert publish(*BIRTHS, "--epsilon", "0.5", "--budget", "2", "--ledger", "plain.ledger").code == 0
    assert publish(*EXACT, "--epsilon", "0.5", "--budget", "2").code == 0
    assert cli.main(["ledger", "verify", "plain.ledger"]) == 0
    assert "Not checked" not in capsys.readouterr().out
    assert cli.main(["ledger", "verify", "counties.csv.ledger"]) == 0
    assert "Not checked: the total of births by state, list " in capsys.readouterr().out
    assert cli.main(["ledger", "verify", "counties.csv.ledger", "--json"]) == 0
    (unchecked,) = json.loads(capsys.readouterr().out)["unchecked"]
    assert unchecked.startswith("the total of births by state")


def test_a_ledger_can_be_made_with_what_may_be_exact(publish: Publish) -> None:
    name = json.loads(publish(*EXACT, "--epsilon", "0.5", "--dry-run", "--json").out)["exact"]
    made = ["ledger", "init", "counties.csv.ledger", "--dataset", "counties", "--unit", "one of births", "--cap", "5"]
    assert cli.main([*made, "--delta", "1e-6", "--exact", name]) == 0
    assert publish(*EXACT, "--rho", "0.01", "--delta", "1e-6", "--to", "t.csv").code == 0


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ((*BIRTHS, "--exact", "stat", "--epsilon", "1"), 4, "no column 'stat' (did you mean 'state'?)"),
        ((*BIRTHS, "--exact", "county", "--epsilon", "1"), 2, "there is nothing to protect"),
        ((*BIRTHS, "--exact", ",", "--epsilon", "1"), 2, "--exact names columns of the domain"),
        ((*EXACT, "--epsilon", "1"), 4, "There is no ledger"),
        ((*EXACT, "--epsilon", "0"), 2, "--epsilon must be greater than 0"),
        ((*EXACT, "--rho", "1", "--delta", "0.1"), 4, "louver ledger init --delta, and --exact"),
        ((*BIRTHS, "--rho", "1"), 4, "louver ledger init --rho"),
        ((*EXACT[:5], "--exact", "state", "--epsilon", "1"), 2, "it can be the list itself: --domain counties.csv"),
        ((*EXACT, "--unit", "row", "--epsilon", "1"), 2, "write it as 'one of births'"),
        ((*EXACT, "--epsilon", "1", "--to", "t.xml"), 2, "A table is published to a file .csv, .json or .parquet"),
        ((*EXACT, "--epsilon", "1", "--to", "counties.csv"), 2, "which the table needs"),
        ((*BIRTHS, "--epsilon", "1", "--by", "state"), 4, "state = x comes twice; name more columns with --by"),
        ((*BIRTHS, "--totals", "births", "--epsilon", "1"), 2, "The domain has no column 'births' for --totals"),
        ((*BIRTHS, "--by", "births", "--epsilon", "1"), 2, "'births' is counted, so it cannot be a key as well"),
        ((*EXACT, "--epsilon", "2", "--budget", "1"), 3, "an epsilon of 1"),
    ],
)
def test_what_cannot_be_published_gets_one_sentence(
    publish: Publish, words: tuple[str, ...], code: int, said: str
) -> None:
    told = publish(*words)
    assert said in told.err
    assert (told.code, told.out, told.err.count("\n")) == (code, "", 1)
    assert not Path("counties.csv.ledger").exists()


def test_counts_that_are_none_are_refused_and_stay_paid(publish: Publish) -> None:
    Path("counties.csv").write_text(COUNTIES.replace("20", "-20"))
    told = publish(*EXACT, "--epsilon", "0.5", "--budget", "1", "--to", "t.csv")
    assert told.code == 4
    assert "must hold a whole number of 0 or more" in told.err
    assert "20" not in told.err.splitlines()[-1]
    assert not Path("t.csv").exists()
