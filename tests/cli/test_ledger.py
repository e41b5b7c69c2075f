"""`louver ledger ...` as people use it: a ledger in a file, commands one after the other."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from louver import cli
from louver.cli import ui
from louver.errors import BudgetError
from louver.ledger import Cap, Ledger
from louver.ledger.verify import read_entries
from louver.privacy import Approximate, Between, Scope, ZeroConcentrated
from tests.ledger.plans import flat, priced, rooms


@dataclass
class Told:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Tell = Callable[..., Told]


@pytest.fixture
def tell(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Tell:
    """Runs `louver ledger` with the given words, inside an empty folder."""
    monkeypatch.chdir(tmp_path)
    for variable in ("LOUVER_TOKEN", "LOUVER_SECOND_TOKEN", "LOUVER_LEDGER_KEY", "NO_COLOR"):
        monkeypatch.delenv(variable, raising=False)

    def run(*words: str) -> Told:
        capsys.readouterr()
        try:
            code = cli.main(["ledger", *words])
        except SystemExit as left:
            code = int(left.code or 0)
        shown = capsys.readouterr()
        return Told(code, shown.out, shown.err)

    return run


@pytest.fixture
def tokens(tell: Tell, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """A ledger `house` with a cap of 1, two owners whose tokens are in the environment, and an analyst."""
    people = ("--owner", "ada", "--owner", "bob", "--analyst", "carl")
    made = tell("init", "house", "--dataset", "house", "--unit", "row", "--cap", "1", *people, "--json")
    found = {person["name"]: person["token"] for person in made.json["tokens"]}
    monkeypatch.setenv("LOUVER_TOKEN", found["ada"])
    monkeypatch.setenv("LOUVER_SECOND_TOKEN", found["bob"])
    return found


@pytest.fixture
def ledger(tokens: dict[str, str]) -> Iterator[Ledger]:
    assert tokens
    with Ledger.open("house") as opened:
        yield opened


def spend(ledger: Ledger, price: str = "0.25", *, settle: bool = True) -> None:
    reservation = ledger.reserve(rooms(["hall", "lab"], Fraction(price)), who="carl")
    if settle:
        ledger.settle(reservation)


def on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ui, "is_terminal", lambda: True)


# Making one


def test_init_says_what_is_protected_and_where_everything_is(tell: Tell) -> None:
    told = tell("init", "house", "--dataset", "house", "--unit", "(person, day)", "--cap", "1")
    assert told.code == 0
    assert "everything recorded about one person on one day" in told.out
    assert "house.key.witness" in told.out
    assert "louver ledger export house --to" in told.out


def test_init_shows_tokens_that_work_and_says_that_it_shows_them_once(tell: Tell) -> None:
    told = tell("init", "house", "--dataset", "house", "--unit", "row", "--cap", "1", "--analyst", "carl")
    assert "Tokens, which are not shown again:" in told.out
    token = next(line.split()[-1] for line in told.out.splitlines() if line.startswith("  carl (analyst)"))
    with Ledger.open("house") as ledger:
        assert ledger.person(token).name == "carl"


def test_caps_are_the_exact_numbers_that_are_written(tell: Tell) -> None:
    caps = ("--cap", "0.1", "--cap", "1/30 where room=clinic, 9<=hour<10", "--delta", "1e-6", "--rho", "0.3")
    assert tell("init", "house", "--dataset", "h", "--unit", "row", *caps, "--audience", "public=0.05").code == 0
    with Ledger.open("house") as ledger:
        clinic = Scope({"room": "clinic", "hour": Between(9, 10)})
        assert set(ledger.caps) == {
            Cap(Fraction(1, 10), Fraction(1, 10**6), Fraction(3, 10)),
            Cap(Fraction(1, 30), scope=clinic),
            Cap(Fraction(1, 20), audience="public"),
        }


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (["--unit", "row"], "needs a cap"),
        (["--unit", "person", "--cap", "1"], "Write a unit as"),
        (["--unit", "(person)", "--cap", "1", "--cap", "1 where room=a"], "cannot be set by 'room'"),
        (["--unit", "row", "--cap", "one"], "must be a number"),
        (["--unit", "row", "--cap", "1", "--audience", "public"], "research=0.3"),
        (["--cap", "1"], "required: --unit"),
    ],
)
def test_a_ledger_that_cannot_be_made_is_refused_in_a_sentence(tell: Tell, wrong: list[str], says: str) -> None:
    told = tell("init", "house", "--dataset", "house", *wrong)
    assert (told.code, told.out) == (2, "")
    assert says in told.err
    assert not Path("house").exists()


def test_a_ledger_is_never_made_over_another(tell: Tell, tokens: dict[str, str]) -> None:
    told = tell("init", "house", "--dataset", "other", "--unit", "row", "--cap", "1")
    assert (told.code, told.out) == (4, "")
    assert "is there already" in told.err
    assert not any(token in told.err for token in tokens.values())


# Looking at it


def test_an_empty_ledger_shows_its_caps_and_that_nothing_is_spent(tell: Tell, tokens: dict[str, str]) -> None:
    assert tokens
    told = tell("show", "house")
    assert told.code == 0
    assert "epsilon 1" in told.out
    assert "Nothing is spent yet." in told.out
    plain = tell("show", "house", "--json").json
    assert (plain["louver"], plain["format"]) == ("ledger show", 1)
    assert (plain["most_used"], plain["never_settled"], plain["doubt"]) == ([], [], None)


def test_show_says_what_is_spent_and_left_under_each_cap(tell: Tell, ledger: Ledger) -> None:
    spend(ledger)
    cap = tell("show", "house", "--json").json["caps"][0]
    assert (cap["measure"], cap["limit"], cap["spent"], cap["reserved"], cap["left"]) == (
        "epsilon",
        "1",
        "1/4",
        "0",
        "3/4",
    )


def test_reservations_that_never_settled_are_listed(tell: Tell, ledger: Ledger) -> None:
    spend(ledger, settle=False)
    told = tell("show", "house")
    assert "Never settled: 1." in told.out
    assert "carl" in told.out
    plain = tell("show", "house", "--json").json
    assert plain["caps"][0]["reserved"] == "1/4"
    (listed,) = plain["never_settled"]
    assert (listed["number"], listed["who"], listed["mechanism"], listed["price"]) == (2, "carl", "priced", "1/4")


def test_a_reservation_elsewhere_is_no_part_of_the_largest_total(tell: Tell, ledger: Ledger) -> None:
    spend(ledger, "0.5")
    ledger.reserve(rooms(["attic"], Fraction(1, 4)))
    assert tell("show", "house", "--json").json["caps"][0]["reserved"] == "0"
    ledger.reserve(rooms(["lab"], Fraction(1, 8)))
    cap = tell("show", "house", "--json").json["caps"][0]
    assert (cap["spent"], cap["reserved"]) == ("5/8", "1/8")


def test_show_tells_delta_and_rho_apart_from_epsilon(tell: Tell) -> None:
    numbers = ("--cap", "1", "--delta", "1e-6", "--rho", "0.5")
    tell("init", "house", "--dataset", "house", "--unit", "row", *numbers)
    with Ledger.open("house") as ledger:
        ledger.settle(ledger.reserve(priced((Scope({"room": "a"}), Approximate(Fraction(1, 4), Fraction(1, 10**7))))))
        ledger.settle(ledger.reserve(priced((Scope({"room": "b"}), ZeroConcentrated(Fraction(1, 8))))))
    caps = tell("show", "house", "--json").json["caps"]
    spent = {cap["measure"]: Fraction(cap["spent"]) for cap in caps}
    assert spent == {"epsilon": Fraction(1, 4), "delta": Fraction(1, 10**7), "rho": Fraction(1, 8)}


def test_show_answers_for_one_scope_and_one_audience(tell: Tell) -> None:
    split = ("--audience", "team=0.5", "--audience", "public=0.3")
    tell("init", "house", "--dataset", "house", "--unit", "row", "--cap", "1", *split)
    with Ledger.open("house") as ledger:
        ledger.settle(ledger.reserve(rooms(["hall"], Fraction(1, 4)), audience="team"))
    on_the_hall = tell("show", "house", "--scope", "room=hall", "--audience", "team", "--json").json
    assert (on_the_hall["left"], on_the_hall["scope"]) == ("1/4", {"room": {"among": ["hall"]}})
    assert tell("show", "house", "--scope", "room=lab", "--audience", "team", "--json").json["left"] == "1/2"
    assert [cap["audience"] for cap in on_the_hall["caps"]] == [None, "team"]
    told = tell("show", "house", "--audience", "teem")
    assert told.code == 2
    assert "it knows public, team" in told.err


def test_show_says_so_when_the_unit_cannot_keep_a_scope_apart(tell: Tell) -> None:
    tell("init", "house", "--dataset", "house", "--unit", "(person, day)", "--cap", "1")
    told = tell("show", "house", "--scope", "room=hall, 1<=day<2")
    assert "On 1 <= day < 2, epsilon 1 is left at every point." in told.out
    assert "may have rows at several other points" in told.out


def test_a_terminal_gets_bars_and_colour_and_no_color_only_bars(
    tell: Tell, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    spend(ledger, "0.5")
    spend(ledger, "0.25", settle=False)
    assert "\033" not in tell("show", "house").out
    on_a_terminal(monkeypatch)
    assert "\033[38;5;141m" + "█" * 8 + "▒" * 4 + "\033[0m" in tell("show", "house").out
    monkeypatch.setenv("NO_COLOR", "1")
    plain = tell("show", "house").out
    assert "█" * 8 + "▒" * 4 + "·" * 4 in plain
    assert "\033" not in plain


def test_a_bar_never_looks_emptier_than_the_budget_is(monkeypatch: pytest.MonkeyPatch) -> None:
    on_a_terminal(monkeypatch)
    monkeypatch.setenv("NO_COLOR", "1")
    assert ui.bar(Fraction(1, 1000), Fraction(0), Fraction(1)).count("█") == 1
    assert ui.bar(Fraction(0), Fraction(0), Fraction(1)).count("█") == 0
    assert ui.bar(Fraction(0), Fraction(0), Fraction(0)).count("█") == ui.BAR


def test_a_name_cannot_write_on_the_terminal(tell: Tell, ledger: Ledger) -> None:
    ledger.reserve(rooms(["\033[2Jhall\n"], Fraction(1, 4)))
    for act in ("show", "entries", "report"):
        shown = tell(act, "house").out
        assert "\\x1b[2Jhall\\n" in shown
        assert "\033" not in shown


def test_entries_are_listed_in_words(tell: Tell, ledger: Ledger) -> None:
    spend(ledger)
    with pytest.raises(BudgetError):
        ledger.reserve(flat(2), who="carl")
    told = tell("entries", "house")
    assert [line.split()[0] for line in told.out.splitlines()] == ["entry", "1", "2", "3", "4"]
    assert "priced: at most 0.25 on each of 2 scopes" in told.out
    assert "reservation 2, as it was reserved" in told.out
    assert "2 of epsilon asked, 0.75 left on everything" in told.out
    assert tell("entries", "house", "--since", "3").out.count("\n") == 2


def test_entries_as_json_are_lines_that_can_be_read_again(tell: Tell, ledger: Ledger) -> None:
    spend(ledger)
    assert read_entries(tell("entries", "house", "--json").out.splitlines()) == list(ledger.entries())
    assert tell("entries", "house", "--json", "--since", "3").out == ""


# Proof


def test_verify_is_0_when_fine_and_4_when_not(tell: Tell, ledger: Ledger) -> None:
    spend(ledger)
    fine = tell("verify", "house")
    assert fine.code == 0
    assert "Without an exported head" in fine.out
    with sqlite3.connect("house") as connection:
        connection.execute("DROP TRIGGER entries_refuse_update")
        connection.execute("UPDATE entries SET who = 'eve' WHERE number = 2")
    connection.close()
    wrong = tell("verify", "house", "--json")
    assert wrong.code == 4
    assert (wrong.json["louver"], wrong.json["ok"], wrong.json["entry"]) == ("ledger verify", False, 2)


def test_an_exported_head_shows_that_the_end_was_cut_off(tell: Tell, ledger: Ledger) -> None:
    spend(ledger)
    assert tell("export", "house", "--to", "head.json").code == 0
    assert "lead to every exported head" in tell("verify", "house", "--head", "head.json").out
    with sqlite3.connect("house") as connection:
        connection.execute("DROP TRIGGER entries_refuse_delete")
        connection.execute("DELETE FROM entries WHERE number = 3")
    connection.close()
    told = tell("verify", "house", "--head", "head.json")
    assert told.code == 4
    assert "Entries 3 to 3 are cut off" in told.out


def test_printed_heads_can_be_kept_in_one_file(tell: Tell, ledger: Ledger) -> None:
    heads = [tell("export", "house", "--json").out]
    spend(ledger)
    heads.append(tell("export", "house").out)
    Path("heads").write_text("".join(heads))
    told = tell("verify", "house", "--head", "heads", "--json")
    assert (told.code, told.json["compared_with_head"]) == (0, True)


def test_two_heads_of_one_entry_that_differ_are_two_histories(tell: Tell, ledger: Ledger) -> None:
    head = ledger.head().to_dict()
    for lines in ([{**head, "link": "0" * 64}, head], [head, {**head, "link": "0" * 64}]):
        Path("heads").write_text("".join(json.dumps(line) + "\n" for line in lines))
        told = tell("verify", "house", "--head", "heads")
        assert told.code == 4
        assert "Two of the heads are of entry 1 and differ" in told.err


def test_a_head_of_another_data_set_is_refused(tell: Tell, tokens: dict[str, str]) -> None:
    assert tokens
    tell("init", "other", "--dataset", "other", "--unit", "row", "--cap", "1")
    tell("export", "other", "--to", "head.json")
    told = tell("verify", "house", "--head", "head.json")
    assert told.code == 4
    assert "head of the data set 'other'" in told.err


def test_progress_is_shown_on_a_terminal_after_two_seconds(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [0.0]
    monkeypatch.setattr("louver.cli.ui.time.monotonic", lambda: now[0])
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with ui.Progress("entries") as progress:
        progress(1, 9000)
        assert capsys.readouterr().err == ""
        now[0] = 2.5
        progress(5000, 9000)
        progress(5001, 9000)
        assert capsys.readouterr().err == "\r5,000 of 9,000 entries"
    assert capsys.readouterr().err == "\r\033[K"


def test_the_report_is_text_markdown_or_json(tell: Tell, ledger: Ledger) -> None:
    spend(ledger)
    assert "PRIVACY REPORT ON HOUSE" in tell("report", "house").out
    assert tell("report", "house", "--out", "report.md").out == ""
    assert Path("report.md").read_text().startswith("# Privacy report on house\n")
    plain = tell("report", "house", "--json", "--year", "1999").json
    assert (plain["louver"], plain["format"], plain["who_asked"]) == ("ledger report", 1, [])
    assert "charges" not in plain
    assert len(tell("report", "house", "--json", "--keys").json["charges"]) == 2
    assert "cannot be written" in tell("report", "house", "--out", "no/folder").err


# Owners


def test_raising_a_cap_takes_two_owners(tell: Tell, tokens: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LOUVER_SECOND_TOKEN")
    alone = tell("cap", "house", "2")
    assert alone.code == 3
    assert "two different owners" in alone.err
    Path("bob").write_text(tokens["bob"] + "\n")
    assert tell("cap", "house", "2", "--token-file", "bob").code == 0
    with Ledger.open("house") as ledger:
        assert ledger.caps == [Cap(2)]


def test_a_cap_keeps_the_numbers_that_are_not_given(tell: Tell, ledger: Ledger) -> None:
    told = tell("cap", "house", "1, delta 1e-6", "--json")
    assert told.json["before"] == Cap(1).to_dict()
    assert "The cap is epsilon 0.5, delta 1e-06. It was epsilon 1, delta 1e-06." in tell("cap", "house", "0.5").out
    assert ledger.caps == [Cap(Fraction(1, 2), Fraction(1, 10**6))]


def test_a_cap_says_where_it_holds(tell: Tell, ledger: Ledger) -> None:
    assert tell("cap", "house", "0.2", "where", "room=clinic").code == 0
    assert Cap(Fraction(1, 5), scope=Scope({"room": "clinic"})) in ledger.caps


def test_without_a_token_nothing_is_changed(tell: Tell, ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LOUVER_TOKEN")
    monkeypatch.delenv("LOUVER_SECOND_TOKEN")
    for words in (["cap", "house", "2"], ["person", "house", "eve", "--role", "owner"], ["recover", "house"]):
        told = tell(*words)
        assert told.code == 3
        assert "LOUVER_TOKEN" in told.err
    assert ledger.head().number == 1


def test_a_new_person_gets_a_token_that_works(tell: Tell, ledger: Ledger) -> None:
    told = tell("person", "house", "dora", "--role", "analyst")
    assert "not shown again" in told.out
    assert ledger.person(told.out.split()[-1]).name == "dora"
    assert ledger.person(tell("person", "house", "eli", "--role", "owner", "--json").json["token"]).role == "owner"


# After a copy or a restore


def test_a_copy_counts_as_spent_until_an_owner_recovers_it(tell: Tell, ledger: Ledger) -> None:
    ledger.close()
    copied("house", "copy")
    told = tell("show", "copy")
    assert "! Everything counts as spent, because it was copied or restored from a backup." in told.out
    plain = tell("show", "copy", "--json").json
    assert (plain["left"], plain["caps"][0]["left"]) == ("0", "0")
    refused = tell("export", "copy", "--to", "head.json")
    assert refused.code == 4
    assert not Path("head.json").exists()
    assert tell("verify", "copy").code == 4
    assert "begins epoch 2" in tell("recover", "copy").out
    assert tell("verify", "copy").code == 0
    assert tell("show", "copy", "--json").json["left"] == "1"


def test_an_older_backup_needs_the_entries_that_came_after_it(tell: Tell, ledger: Ledger) -> None:
    ledger.close()
    shutil.copy("house", "backup")
    spend(ledger)
    tell("export", "house", "--to", "head.json", "--entries", "entries.jsonl")
    ledger.close()
    copied("house", "lost")
    shutil.copy("backup", "lost")
    alone = tell("recover", "lost", "--head", "head.json")
    assert alone.code == 4
    assert "supply the newer ones too" in alone.err
    told = tell("recover", "lost", "--head", "head.json", "--entries", "entries.jsonl", "--json")
    assert (told.code, told.json["added"], told.json["head"]["epoch"]) == (0, 2, 2)
    assert Fraction(tell("show", "lost", "--json").json["left"]) == Fraction(3, 4)


def copied(where: str, to: str) -> None:
    """The ledger, its key and its witness under another name."""
    for end in ("", ".key", ".key.witness"):
        shutil.copy(where + end, to + end)


# The command line itself


def test_a_mistyped_act_gets_a_suggestion(tell: Tell) -> None:
    for words, says in ((["shwo", "house"], "'show'"), (["show", "house", "--scop", "x"], "'--scope'")):
        told = tell(*words)
        assert told.code == 2
        assert f"did you mean {says}?" in told.err


def test_without_an_act_the_help_is_shown(tell: Tell) -> None:
    told = tell()
    assert told.code == 0
    assert "recover" in told.out


def test_help_loads_nothing_heavy() -> None:
    code = "import sys; from louver.cli import main\ntry: main(sys.argv[1:])\nfinally: print(*sys.modules)"
    for words in (["--help"], ["ledger", "--help"], ["ledger", "show", "--help"]):
        shown = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=True).stdout
        assert not set(shown.split()) & {"louver.ledger", "louver.privacy", "numpy", "sqlite3", "urllib.request"}


def test_no_token_is_shown_again_by_any_act(tell: Tell, ledger: Ledger, tokens: dict[str, str]) -> None:
    spend(ledger, settle=False)
    shown = ""
    for words in (
        ["show", "house"],
        ["entries", "house"],
        ["verify", "house"],
        ["export", "house"],
        ["report", "house", "--keys"],
        ["cap", "house", "2"],
        ["cap", "house", "x"],
        ["person", "house", "carl", "--role", "analyst"],
        ["recover", "house", "--entries", "nothing"],
        ["recover", "house"],
    ):
        for form in ([], ["--json"]):
            told = tell(*words, *form)
            shown += told.out + told.err
    assert not any(token in shown for token in tokens.values())


def test_a_password_in_an_address_is_never_shown(tell: Tell) -> None:
    for address in (
        "postgresql://ada:hunter2@localhost:1/d",
        "mysql://ada:hunter2@h/d",
        "postgresql://ada:hunter2@:x/",
    ):
        for act in ("show", "verify", "report"):
            told = tell(act, address)
            assert told.code in (2, 4)
            assert "hunter2" not in told.out + told.err


def test_a_missing_ledger_is_one_sentence_and_exit_code_4(tell: Tell) -> None:
    told = tell("show", "nowhere")
    assert (told.code, told.out) == (4, "")
    assert told.err == "louver ledger show: There is no ledger at nowhere; make one with: louver ledger init.\n"


def test_a_reader_that_leaves_early_gets_no_traceback(ledger: Ledger) -> None:
    for _ in range(50):
        ledger.reserve(flat(0))
    command = f"{sys.executable} -m louver ledger entries house --json | head -1"
    shown = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)  # noqa: S602
    assert shown.stdout.count("\n") == 1
    assert shown.stderr == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")
def test_an_output_that_is_full_is_one_sentence(ledger: Ledger) -> None:
    command = [sys.executable, "-m", "louver", "ledger", "entries", ledger.address]
    with Path("/dev/full").open("w") as full:
        shown = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert shown.returncode == 1
    assert shown.stderr == "louver ledger entries: The operating system refused: No space left on device.\n"
