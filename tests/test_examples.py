"""Every example runs, on the data that comes with Louver and on files of one's own, good and bad."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
PRESENCE = "device,room\n" + "".join(f"d{number},hall\n" for number in range(300))
ROOMS = "room,limit\nhall,100\nattic,200\n"


def run(name: str, folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(EXAMPLES / name), *map(str, arguments)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=120)


def which_rooms(
    folder: Path, presence: str | bytes, rooms: str | bytes, *arguments: object
) -> subprocess.CompletedProcess[str]:
    paths = folder / "presence.csv", folder / "rooms.csv"
    for path, text in zip(paths, (presence, rooms), strict=True):
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return run("which_rooms.py", folder, *paths, *arguments)


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.glob("*.py")))
def test_the_example_runs_without_arguments(name: str, tmp_path: Path) -> None:
    done = run(name, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout
    assert not done.stderr


def test_which_rooms_reads_files_of_ones_own(tmp_path: Path) -> None:
    plain, marked = which_rooms(tmp_path, PRESENCE, ROOMS), which_rooms(tmp_path, "\ufeff" + PRESENCE, "\ufeff" + ROOMS)
    for done in (plain, marked):
        # 200 over and 200 below: wrong with probability under 1e-30.
        assert "Flagged: hall (1 of 2)\n" in done.stdout
        assert "Price: epsilon 0.4148" in done.stdout
    assert "0.1704 remains" in marked.stdout


def test_which_rooms_is_refused_when_the_budget_is_used_up(tmp_path: Path) -> None:
    first = which_rooms(tmp_path, PRESENCE, ROOMS, "--ledger", "mine.ledger", "--cap", "0.5")
    assert "keep the token of its owner" in first.stdout
    assert (tmp_path / "mine.ledger").exists()
    refused = which_rooms(tmp_path, PRESENCE, ROOMS, "--ledger", "mine.ledger")
    assert (refused.returncode, refused.stdout) == (3, "")
    assert "What would fit: a slack of" in refused.stderr
    for other in (["--dataset", "another"], ["--cap", "many"]):
        assert which_rooms(tmp_path, PRESENCE, ROOMS, "--ledger", "mine.ledger", *other).returncode == 2


def test_a_device_counts_once_in_a_room(tmp_path: Path) -> None:
    # 300 times the same device is 99 below the limit: flagged with probability under 1e-15.
    done = which_rooms(tmp_path, "device,room\n" + "d,hall\n" * 300, ROOMS)
    assert "Flagged: none (0 of 2)\n" in done.stdout


@pytest.mark.parametrize("presence", [PRESENCE + "\n,\nx\ny,hall,z\n", PRESENCE.encode() + b"\xe9,\xe9\n"])
def test_odd_private_rows_are_left_out_in_silence(tmp_path: Path, presence: str | bytes) -> None:
    done = which_rooms(tmp_path, presence, ROOMS)
    assert "Flagged: hall (1 of 2)\n" in done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("presence", "rooms", "code", "said"),
    [
        ("", ROOMS, 4, "names of its columns"),
        ("room;device\n", ROOMS, 4, "has no column 'device'"),
        (PRESENCE, "room,capacity\nhall,9\n", 2, "no column 'limit'"),
        (PRESENCE, "", 4, "rooms.csv"),
        (PRESENCE, "room,limit\n", 4, "at least one key"),
        (PRESENCE, ROOMS + "hall,9\n", 4, "room = hall comes twice"),
        (PRESENCE, ROOMS + "den,many\n", 2, "Column 'limit' must be a number"),
    ],
)
def test_a_file_that_cannot_be_used_gets_one_sentence(
    tmp_path: Path, presence: str, rooms: str, code: int, said: str
) -> None:
    done = which_rooms(tmp_path, presence, rooms)
    assert said in done.stderr
    assert done.returncode == code
    assert "Flagged" not in done.stdout
    assert done.stderr.count("\n") == 1


def test_missing_files_and_wrong_promises_get_one_sentence(tmp_path: Path) -> None:
    missing = run("which_rooms.py", tmp_path, tmp_path / "none.csv", tmp_path / "none.csv")
    assert (missing.returncode, missing.stderr.count("\n")) == (4, 1)
    assert "There is no file" in missing.stderr
    impossible = run("which_rooms.py", tmp_path, "--miss-rate", "0")
    assert impossible.returncode == 2
    assert impossible.stderr.startswith("miss_rate must be greater than 0")
    for wrong in (["one.csv"], ["--miss-rate", "5%"], ["--miss-rate", "1/0"]):
        assert run("which_rooms.py", tmp_path, *wrong).returncode == 2


def own_file(folder: Path, head: str, *groups: str) -> Path:
    """A file with 300 rows of each group, in which {} is the number of the row."""
    file = folder / "own.csv"
    file.write_text("\n".join([head, *(row.format(number) for row in groups for number in range(1, 301))]))
    return file


def test_vessels_watches_the_cells_of_ones_own_file(tmp_path: Path) -> None:
    head = "area,vessel_id,time,lat,lon"
    harbour = "ny_harbor,{},2020-12-01 06:05:00,40.675,-74.025"
    elsewhere = "virginia,9000{},2020-12-01 06:05:00,40.675,-73.925"  # other ships, in a cell of the grid all the same
    later = "ny_harbor,1,2020-12-01 06:25:00,40.4,-74.3"  # a slot is decided when something later has come
    done = run("vessels.py", tmp_path, own_file(tmp_path, head, harbour, elsewhere, later), "--check")
    # 290 over the limit: missed with probability under 1e-30. Empty cells may be flagged.
    assert "0 of 1 true breaches were missed" in done.stdout, done.stderr
    assert "2 slots were decided, 0 of them not for every cell" in done.stdout
    assert not list(tmp_path.glob("*.ledger"))


def test_wifi_campaign_counts_people_once_an_hour(tmp_path: Path) -> None:
    head, row = "time,user_id,building,floor", "2013-06-20 09:{}:00,{{}},1,2"
    file = own_file(tmp_path, head, row.format("05"), row.format("07"), "2013-06-20 11:05:00,7,0,0")
    done = run("wifi_campaign.py", tmp_path, file, "--check")
    # 296 over the limit: missed with probability under 1e-30.
    (hour,) = [line for line in done.stdout.splitlines() if line.startswith("09:00")]
    assert "building 1 floor 2" in hour
    assert "0 of 1 true breaches were missed" in done.stdout  # one phone that scans 300 times is one person
    assert not run("wifi_campaign.py", tmp_path, file, "--day", "2013-06-21", "--check").stderr


def test_flights_counts_the_listed_airports(tmp_path: Path) -> None:
    atlanta, unlisted = "2001-01-01 09:05:00,ATL", "2001-01-01 09:05:00,XYZ"
    later = "2001-01-01 10:05:00,ATL"  # its own slot is not over
    done = run("flights.py", tmp_path, own_file(tmp_path, "time,origin", atlanta, unlisted, later), "--check")
    # 220 or more over the limits: missed with probability under 1e-9.
    assert done.stdout.count("ATL (1)") == 3, done.stderr
    assert done.stdout.count("missed 0 of 1 true breaches") == 3
    assert "XYZ" not in done.stdout


def test_room_counts_counts_the_listed_rooms_of_ones_own_file(tmp_path: Path) -> None:
    head, hall, attic = "time,device,room", "2018-02-01 08:55:00,d{},hall", "2018-02-01 08:55:00,d9{},attic"
    again = "2018-02-01 08:58:00,d{},hall"  # the same devices, once more
    own = own_file(tmp_path, head, hall, attic, again)
    asked = (own, "--rooms", "hall,cellar", "--epsilon", "400", "--cap", "500", "--out", tmp_path, "--check")
    done = run("room_counts.py", tmp_path, *asked)
    assert "keep the token of its owner" in done.stdout, done.stderr
    assert "09:00 hall 300 \N{PLUS-MINUS SIGN}0, cellar 0 " in done.stdout  # there is noise in under 1e-100 of runs
    assert "inside the band at 100.0%" in done.stdout
    assert "attic" not in done.stdout + (tmp_path / "room_counts.csv").read_text()
    assert (tmp_path / "room_counts.svg").read_text().startswith("<svg")
    refused = run("room_counts.py", tmp_path, *asked)
    assert (refused.returncode, refused.stdout, refused.stderr.count("\n")) == (3, "", 1)
    for wrong in ([own], ["--rooms", "hall"], ["--epsilon", "1/0"]):
        assert run("room_counts.py", tmp_path, *wrong).returncode == 2


def test_room_counts_pays_nothing_where_it_cannot_write(tmp_path: Path) -> None:
    own = own_file(tmp_path, "time,device,room", "2018-02-01 08:55:00,d{},hall")
    done = run("room_counts.py", tmp_path, own, "--rooms", "hall", "--out", tmp_path / "nowhere")
    assert done.returncode == 2
    assert "nothing was read or paid" in done.stderr
    assert not list(tmp_path.glob("*.ledger"))


def test_headcount_counts_the_listed_rooms_and_keeps_their_total(tmp_path: Path) -> None:
    file = own_file(tmp_path, "room", "hall", "attic")
    asked = (file, "--rooms", "hall,cellar", "--epsilon", "1")
    done = run("headcount.py", tmp_path, *asked)
    assert "keep the token of its owner" in done.stdout, done.stderr
    assert "together       300  exactly" in done.stdout
    assert "attic" not in done.stdout
    assert run("headcount.py", tmp_path, *asked).returncode == 0
    refused = run("headcount.py", tmp_path, *asked)
    assert (refused.returncode, refused.stdout, refused.stderr.count("\n")) == (3, "", 1)
    other = run(
        "headcount.py", tmp_path, file, "--rooms", "hall,attic"
    )  # another total, which has no sum with this one
    assert "already paid for tables with exact totals" in other.stderr


def test_headcount_makes_no_ledger_for_a_file_that_does_not_fit(tmp_path: Path) -> None:
    done = run("headcount.py", tmp_path, own_file(tmp_path, "place", "hall"), "--rooms", "hall,cellar")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (4, "", 1)
    assert "has no column 'room'" in done.stderr
    assert not (tmp_path / "headcount.ledger").exists()


def test_counties_reads_a_file_of_ones_own(tmp_path: Path) -> None:
    file = tmp_path / "own.csv"
    file.write_text("state,county,births\nx,a,10\nx,b,20\ny,c,5\n")
    done = run("counties.py", tmp_path, file, "--of", "births")
    assert "together, exactly                 30" in done.stdout, done.stderr
    assert "1 of the exact totals is of a single" in done.stdout


def test_counties_writes_files_to_publish_from_and_over_none(tmp_path: Path) -> None:
    assert "Wrote" in run("counties.py", tmp_path, "--files", "census").stdout
    assert sorted(path.name for path in (tmp_path / "census").iterdir()) == ["counties.parquet", "louver.toml"]
    assert "51 states" in run("counties.py", tmp_path, "census/counties.parquet").stdout
    again = run("counties.py", tmp_path, "--files", "census")
    assert (again.returncode, again.stderr) == (4, "census/counties.parquet is there already; name another folder.\n")


def test_counties_says_that_a_file_is_not_there(tmp_path: Path) -> None:
    done = run("counties.py", tmp_path, "none.csv")
    assert (done.returncode, done.stderr) == (4, "There is no file none.csv.\n")


@pytest.mark.parametrize("name", ["vessels.py", "wifi_campaign.py", "flights.py", "room_counts.py"])
@pytest.mark.parametrize("file", ["none.parquet", "none.csv", "odd.parquet", "odd.csv"])
def test_a_record_that_cannot_be_read_gets_one_sentence(tmp_path: Path, name: str, file: str) -> None:
    for odd in ("odd.parquet", "odd.csv"):
        (tmp_path / odd).write_text("something,else\n1,2\n")
    rooms = ("--rooms", "hall") if name == "room_counts.py" else ()
    done = run(name, tmp_path, file, *rooms)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (4, "", 1)
    assert f"{file} cannot be read; it needs the columns" in done.stderr
