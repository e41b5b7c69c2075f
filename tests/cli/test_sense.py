"""`louver sense`, really run: raw events become tables that `louver ask` can ask, and nothing else is told."""

from __future__ import annotations

import json
import re
import shlex
import stat
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from louver import cli
from louver.errors import DataError
from louver.sense import Batch, Door, Rule, instant, table_file
from louver.sense.building import Building
from tests.sense.formats.malformed import malformed

Shown = pytest.CaptureFixture[str]
STOPS = "place\nnorth\nsouth\n"
PLACES = "place,region\nm1,east\nm2,east\nm3,west\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words: object) -> int:
    return cli.main(["sense", *map(str, words)])


def rows(path: str | Path, columns: str = "*") -> list[tuple[object, ...]]:
    with duckdb.connect() as engine:
        return engine.execute(f"SELECT {columns} FROM '{path}' ORDER BY ALL").fetchall()


def flagged_in(said: str) -> int:
    """How many keys an answer of `louver ask --json` flags."""
    return len(json.loads(said)["answer"]["flagged"])


def meters(count: int = 40) -> None:
    """The meters of the east read 9 and the one of the west 1, every minute."""
    lines = [
        json.dumps({"unit": f"u{n}", "place": place, "time": f"2026-03-02T09:{minute:02}:00Z", "value": value})
        for n in range(count)
        for place, value in (("m1", 9), ("m3", 1))
        for minute in (0, 1)
        if n % 2 == (place == "m3")
    ]
    Path("readings.ndjson").write_text("\n".join(lines) + "\n")
    Path("places.csv").write_text(PLACES)


READ = ("readings.ndjson", "--as", "readings", "--places", "places.csv", "--lower", "0", "--upper", "10")


def test_simulated_temperatures_can_be_asked_about(capsys: Shown) -> None:
    """On both sides of the threshold the truth is more than 40 times the noise's scale away: false below 1e-15."""
    assert cli.main(["simulate", "--preset", "demo", "--days", "1", "--people", "50", "--out", "."]) == 0
    words = ("temperature.parquet", "--as", "readings", "--fields", "sensors", "--building", "building.toml")
    assert run(*words, "--slot", "15m", "--lower", 10, "--upper", 40, "--to", "t.parquet", "--describe", "l.toml") == 0
    question = "SELECT region FROM readings GROUP BY region HAVING avg(value)"
    assert capsys.readouterr().out.splitlines()[-5:] == [
        "Wrote t.parquet: region, slot, day, value.",
        "Malformed messages: none.",
        "How many events were accepted is not shown; add --counts to check that places and fields match.",
        "Ask, for example:",
        f'louver ask l.toml "{question} > 25" --miss-rate 0.05 --slack 150 --budget 3',
    ]
    for threshold, flagged in ((12, 22), (38, 0)):
        asked = f"{question} > {threshold}"
        assert (
            cli.main(["ask", "l.toml", asked, "--miss-rate", "0.05", "--slack", "60", "--budget", "9", "--json"]) == 0
        )
        assert flagged_in(capsys.readouterr().out) == flagged


def test_the_example_that_is_shown_can_be_asked(capsys: Shown) -> None:
    meters()
    assert run(*READ, "--to", "t.parquet", "--describe", "louver.toml", "--json") == 0
    example = json.loads(capsys.readouterr().out)["example"]
    words = ["--miss-rate", "0.05", "--slack", example["slack"], "--budget", "1"]
    assert cli.main(["ask", "louver.toml", example["question"], *words]) == 0


def test_the_example_for_occupancy_is_about_one_slot_and_whoever_asks_names_it(capsys: Shown) -> None:
    assert cli.main(["simulate", "--preset", "demo", "--days", "1", "--people", "20", "--out", "."]) == 0
    for kind, own in (("occupancy", "2018-02-01 17:30:00"), ("presence", "2018-02-01")):
        capsys.readouterr()
        words = ("--building", "building.toml", "--to", f"{kind}.parquet", "--describe", f"{kind}.toml", "--json")
        assert run("events.parquet", "--as", kind, *words) == 0
        example = json.loads(capsys.readouterr().out)["example"]
        asked = re.sub(r"YYYY-MM-DD( HH:MM:SS)?", own, example["question"])
        assert asked != example["question"]
        assert ("count(*) > devices" in asked) == (kind == "occupancy")
        promise = ["--miss-rate", "0.05", "--slack", example["slack"], "--budget", "3"]
        assert cli.main(["ask", f"{kind}.toml", asked, *promise]) == 0


OCCUPANCY = ("events.parquet", "--as", "occupancy", "--building", "building.toml")
STREAM = ("--by", "region", "--every", "15m", "--from", "2018-02-01", "--until", "2018-02-02", "--epsilon", "1")


@pytest.mark.parametrize("table", ["o.parquet", "o.csv"])
def test_a_window_of_an_hour_is_paid_end_to_end_because_slots_have_a_length(table: str, capsys: Shown) -> None:
    assert cli.main(["simulate", "--preset", "demo", "--days", "1", "--people", "20", "--out", "."]) == 0
    assert run(*OCCUPANCY, "--to", table, "--describe", "louver.toml") == 0
    assert 'unit = "(person, slot(slot, 5))"' in Path("louver.toml").read_text()
    capsys.readouterr()
    paid = ("--window", "1h", "--budget", "1", "--to", "counts.csv", "--json")
    assert cli.main(["publish", "stream", "louver.toml", *STREAM, *paid]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["window"], said["ticks"], said["remaining"]) == (12, 96, "0")
    assert "any 12 of these together" in said["protected"]


def test_each_slot_of_a_description_pays_for_itself(capsys: Shown) -> None:
    assert cli.main(["simulate", "--preset", "demo", "--days", "1", "--people", "20", "--out", "."]) == 0
    assert run(*OCCUPANCY, "--to", "o.parquet", "--describe", "louver.toml") == 0
    left = []
    for slot in ("17:30", "17:35", "17:35"):
        capsys.readouterr()
        where = f"WHERE slot = TIMESTAMP '2018-02-01 {slot}:00' GROUP BY region HAVING count(*) > devices"
        words = ("--miss-rate", "0.05", "--slack", "10", "--budget", "1", "--json")
        assert cli.main(["ask", "louver.toml", f"SELECT region FROM occupancy {where}", *words]) == 0
        left.append(json.loads(capsys.readouterr().out)["remaining_epsilon"])
    assert left[0] == left[1] > left[2]


def test_a_description_whose_slots_have_no_length_goes_on_with_its_ledger(capsys: Shown) -> None:
    """As it was written before slots had one: a window is a number of them, and no length of time."""
    assert cli.main(["simulate", "--preset", "demo", "--days", "1", "--people", "20", "--out", "."]) == 0
    assert run(*OCCUPANCY, "--to", "o.parquet", "--describe", "louver.toml") == 0
    text = Path("louver.toml").read_text()
    bare = text.replace("slot(slot, 5))", "slot)").replace('\n[source.occupancy.columns]\nslot = "slot(slot, 5)"\n', "")
    assert "slot(" not in bare
    Path("louver.toml").write_text(bare)
    words = ["publish", "stream", "louver.toml", *STREAM]
    assert cli.main([*words, "--window", "12", "--budget", "2", "--to", "counts.csv"]) == 0
    assert cli.main([*words, "--window", "12", "--to", "again.csv"]) == 0
    assert cli.main([*words, "--window", "1h", "--to", "third.csv"]) == 2
    assert "needs units that are slots of time" in capsys.readouterr().err
    Path("louver.toml").write_text(text)
    assert cli.main([*words, "--window", "1h", "--to", "third.csv"]) == 2
    assert "The table's unit is (person, slot(slot, 5)), but the ledger's is (person, slot)" in capsys.readouterr().err


def test_counts_are_true_and_say_so_and_no_table_is_written(capsys: Shown) -> None:
    lines = ["device,place,time", *(f"d{n},{place},2026-03-02T09:00:00Z" for n, place in enumerate(("north", "NORTH")))]
    Path("events.csv").write_text("\n".join([*lines, "d9,north,"]) + "\n")
    Path("stops.csv").write_text(STOPS)
    before = sorted(Path().iterdir())
    assert run("events.csv", "--as", "occupancy", "--places", "stops.csv", "--counts") == 0
    said = capsys.readouterr().out
    assert re.findall(r"^(\S.*?)  +(\d+)$", said, re.MULTILINE) == [
        ("accepted", "1"),
        ("no time", "1"),
        ("unknown place", "1"),
    ]
    assert "true counts" in said
    assert "do not publish them" in said
    assert sorted(Path().iterdir()) == before
    assert run("events.csv", "--as", "occupancy", "--places", "stops.csv", "--counts", "--to", "t.csv", "--json") == 0
    assert json.loads(capsys.readouterr().out)["counts"] == {"accepted": 1, "no time": 1, "unknown place": 1}


def test_places_that_do_not_match_are_found_by_counting(capsys: Shown) -> None:
    assert cli.main(["simulate", "--preset", "demo", "--days", "1", "--people", "20", "--out", "."]) == 0
    building = Path("building.toml")
    building.write_text(building.read_text().replace('"ap-', '"AP_'))
    assert run("events.parquet", "--as", "occupancy", "--building", "building.toml", "--counts") == 0
    assert "No event was accepted: compare the names of places" in capsys.readouterr().out


def test_a_table_or_counts_are_asked_for(capsys: Shown) -> None:
    assert run("e.csv", "--as", "occupancy", "--places", "p.csv") == 2
    assert "--to TABLE; or look what becomes of the events, with --counts." in capsys.readouterr().err


def test_a_building_without_access_points_is_told_which_line_it_needs(capsys: Shown) -> None:
    Path("street.toml").write_text('[building]\nid = "s"\n[floor.1]\n[region.east]\nfloor = "1"\ncapacity = 4\n')
    assert run("e.csv", "--as", "occupancy", "--building", "street.toml", "--to", "o.csv") == 2
    assert "street.toml has no access_points; write for each region those" in capsys.readouterr().err


def test_a_mistake_is_told_before_a_table_that_is_there(capsys: Shown) -> None:
    meters()
    Path("t.parquet").write_text("mine")
    assert run("readings.ndjson", "--as", "readings", "--places", "places.csv", "--to", "t.parquet") == 2
    assert "Readings need --lower and --upper" in capsys.readouterr().err


def test_readings_are_one_row_for_a_unit_and_slot(capsys: Shown) -> None:
    meters(2)
    assert run(*READ, "--combine", "sum", "--to", "t.csv") == 0
    text = Path("t.csv").read_text()
    assert text.splitlines()[0] == "unit,region,slot,day,value"
    found = rows("t.csv", "region, CAST(slot AS VARCHAR), CAST(day AS VARCHAR), value")
    assert [(region, str(day), value) for region, _, day, value in found] == [
        ("east", "2026-03-02", 10.0),  # 18, clamped
        ("west", "2026-03-02", 2.0),
    ]
    assert "u0" not in text + capsys.readouterr().out


def test_a_region_can_be_the_unit(capsys: Shown) -> None:
    meters()
    assert run(*READ, "--unit", "(region, slot)", "--to", "t.parquet", "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert 'unit = "(region, slot(slot, 5))"' in said["description"]
    assert rows("t.parquet", "region, value") == [("east", 9.0), ("west", 1.0)]


@pytest.mark.parametrize("form", ["parquet", "csv", "ndjson"])
def test_occupancy_is_that_of_the_batch_whatever_the_format(form: str) -> None:
    assert (
        cli.main(["simulate", "--preset", "demo", "--days", "1", "--people", "60", "--out", ".", "--format", form]) == 0
    )
    assert (
        run(f"events.{form}", "--as", "occupancy", "--building", "building.toml", "--salt", "s", "--to", "o.parquet")
        == 0
    )
    if form != "parquet":
        cli.main(["simulate", "--preset", "demo", "--days", "1", "--people", "60", "--out", "again"])
    events = "events.parquet" if form == "parquet" else "again/events.parquet"
    expected = Batch(events, Rule(), Building.read("building.toml").access_points, Door.open("s")).occupancy()
    listed = zip(expected.person.tolist(), expected.names().tolist(), expected.slot.tolist(), strict=True)
    assert rows("o.parquet", "person, region, slot") == sorted(
        (person, region, instant(slot).replace(tzinfo=None)) for person, region, slot in listed
    )


def test_presence_over_midnight_is_a_row_for_each_day() -> None:
    Path("events.csv").write_text("device,place,time\nd,north,2026-03-02T23:55:00Z\n")
    Path("stops.csv").write_text(STOPS)
    assert run("events.csv", "--as", "presence", "--places", "stops.csv", "--to", "p.parquet") == 0
    found = rows("p.parquet", "region, CAST(day AS VARCHAR), minutes")
    assert found == [("north", "2026-03-02", 5.0), ("north", "2026-03-03", 5.0)]


def test_taps_become_trips_that_can_be_asked_about(capsys: Shown) -> None:
    """A hundred trips in one direction: a wrong answer has probability below 1e-15 at this slack and price."""
    lines = ["card,stop,time,tap"]
    for n in range(100):
        lines += [f"c{n},north,2026-03-02T09:00:00Z,on", f"c{n},south,2026-03-02T09:12:00Z,off"]
    Path("taps.csv").write_text("\n".join([*lines, "c1,south,2026-03-02T09:13:00Z,off"]) + "\n")
    Path("stops.csv").write_text(STOPS)
    words = ("taps.csv", "--as", "trips", "--places", "stops.csv", "--rows-per-unit", 1, "--to", "t.parquet")
    assert run(*words, "--describe", "louver.toml") == 0
    assert "unmatched" not in capsys.readouterr().out
    asked = "SELECT origin, destination FROM trips GROUP BY origin, destination HAVING count(*) > 50"
    promise = ("--domain", "ways", "--miss-rate", "0.05", "--slack", "5", "--budget", "9", "--json")
    assert cli.main(["ask", "louver.toml", asked, *promise]) == 0
    assert flagged_in(capsys.readouterr().out) == 1
    assert {row[-1] for row in rows("t.parquet", "origin, destination, minutes")} == {12.0}


def test_crowd_readings_keep_their_positions() -> None:
    line = {"unit": "u", "lon": 16.25, "lat": 48.2, "time": "2026-03-02T09:00:00Z", "value": 3}
    Path("crowd.ndjson").write_text(json.dumps(line))
    words = ("--as", "readings", "--cells", "16.2,48.1,16.6,48.4,4,3", "--lower", "0", "--upper", "10")
    assert run("crowd.ndjson", *words, "--to", "c.parquet") == 0
    assert rows("c.parquet", "region, value, x, y") == [("r1c0", 3.0, 16.25, 48.2)]
    assert Path("c-regions.csv").read_text().splitlines()[:2] == ["region,x,y", "r0c0,16.25,48.15"]


def test_one_kind_of_reading_is_taken_of_a_feed_that_brings_several() -> None:
    reading = {"place": "m1", "time": "2026-03-02T09:00:00Z"}
    kinds = ({"kind": "temperature", "value": 4}, {"kind": "power", "value": 7})
    Path("both.ndjson").write_text("\n".join(json.dumps(reading | kind) for kind in kinds))
    Path("places.csv").write_text(PLACES)
    with duckdb.connect() as engine:
        engine.execute("COPY (FROM 'both.ndjson') TO 'both.parquet' (FORMAT parquet)")
    for form in ("ndjson", "parquet"):
        words = ("--fields", "sensors", "--only", "kind=power", "--to", f"{form}.csv")
        assert run(f"both.{form}", *READ[1:], *words) == 0
        assert rows(f"{form}.csv", "region, value") == [("east", 7.0)]


def test_files_are_for_their_owner_alone() -> None:
    meters()
    assert run(*READ, "--to", "t.parquet", "--describe", "louver.toml") == 0
    assert {stat.S_IMODE(Path(name).stat().st_mode) for name in ("t.parquet", "t-regions.csv", "louver.toml")} == {
        0o600
    }


def test_a_table_that_cannot_be_written_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch, capsys: Shown) -> None:
    meters()
    before = sorted(Path().iterdir())

    def full(*_: object) -> None:
        raise DataError("The disk is full.")

    monkeypatch.setattr(table_file, "_write_table", full)
    assert run(*READ, "--to", "t.parquet", "--describe", "louver.toml") == 4
    assert sorted(Path().iterdir()) == before
    assert capsys.readouterr().err == "louver sense: The disk is full.\n"


def test_it_writes_over_nothing_without_force(capsys: Shown) -> None:
    meters()
    Path("t.parquet").write_text("mine")
    assert run(*READ, "--to", "t.parquet") == 4
    assert "t.parquet is there already" in capsys.readouterr().err
    assert Path("t.parquet").read_text() == "mine"
    assert run(*READ, "--to", "t.parquet", "--force") == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--to", "p.csv", "--describe", "p.csv"), "--to and --describe are the same file, p.csv; name two."),
        (
            ("--to", "p.csv", "--describe", "p-regions.csv"),
            "The list beside the table and --describe are the same file",
        ),
        (("--to", "p.csv", "--describe", "p.ledger"), "The table's ledger and --describe are the same file"),
        (("--to", "p.csv", "--salt", "./p.csv"), "--to and --salt are the same file"),
        (("--to", "places.csv"), "--to and --places are the same file"),
        (("--to", "t.csv", "--describe", "readings.ndjson"), "FILE and --describe are the same file"),
        (("--to", "also.csv"), "FILE and --to are the same file"),
    ],
)
def test_no_file_is_two_things_not_even_with_force(words: tuple[str, ...], said: str, capsys: Shown) -> None:
    meters()
    Path("also.csv").symlink_to("readings.ndjson")
    before = {path: path.read_bytes() for path in Path().iterdir()}
    assert run(*READ, *words, "--force") == 2
    assert said in capsys.readouterr().err
    assert {path: path.read_bytes() for path in Path().iterdir()} == before


def test_the_events_of_a_database_are_never_written_over(capsys: Shown) -> None:
    with duckdb.connect("plant.csv") as engine:
        engine.execute("CREATE TABLE events AS SELECT 'd' AS device, 'north' AS place, TIMESTAMP '2026-03-02' AS time")
    Path("stops.csv").write_text(STOPS)
    assert run("plant.csv#events", "--as", "occupancy", "--places", "stops.csv", "--to", "plant.csv", "--force") == 2
    assert "FILE and --to are the same file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("unit", "again"), [("(unit, slot)", ("--slot", "10m")), ("(unit, day)", ("--building", "b.toml"))]
)
def test_the_same_readings_under_other_slots_or_days_get_no_second_budget(
    unit: str, again: tuple[str, str], capsys: Shown
) -> None:
    meters()
    Path("b.toml").write_text(
        '[building]\nid = "b"\ntimezone = "Asia/Tokyo"\n[floor.1]\n[region.east]\nfloor = "1"\ncapacity = 9\n'
        'sensors = ["m1"]\n'
    )
    words = ("--unit", unit, "--to", "t.parquet", "--describe", "louver.toml", "--force")
    question = ("ask", "louver.toml", "SELECT region FROM readings GROUP BY region HAVING sum(value) > 50")
    promise = ("--miss-rate", "0.05", "--slack", "90000", "--budget", "1")
    for _ in range(2):
        assert run(*READ, *words) == 0
        assert cli.main([*question, *promise]) == 0
    given = READ if again[0] == "--slot" else (*READ[:3], *READ[5:])
    assert run(*given, *words, *again) == 0
    assert cli.main([*question, *promise[:4]]) != 0
    assert "t, " in capsys.readouterr().err


def test_a_readable_message_without_a_number_is_not_told_of(capsys: Shown) -> None:
    meters()
    run(*READ, "--to", "t.parquet")
    shown = capsys.readouterr()
    for value in ("", ', "value": null', ', "value": "much"', ', "value": 1e999'):
        with Path("readings.ndjson").open("a") as file:
            file.write(f'{{"unit": "u7", "place": "m1", "time": "2026-03-02T09:03:00Z"{value}}}\n')
    run(*READ, "--to", "t.parquet", "--force")
    assert capsys.readouterr() == shown


def test_one_salt_gives_the_same_pseudonyms_and_none_gives_new_ones() -> None:
    meters()
    for name, salt in (("a", ("--salt", "s")), ("b", ("--salt", "s")), ("c", ())):
        assert run(*READ, *salt, "--to", f"{name}.parquet") == 0
    assert rows("a.parquet", "unit") == rows("b.parquet", "unit")
    assert not set(rows("a.parquet", "unit")) & set(rows("c.parquet", "unit"))


def test_nothing_is_counted_aloud(capsys: Shown) -> None:
    """What is printed is the same for forty units and for two thousand."""
    shown = []
    for count in (40, 2000):
        meters(count)
        assert run(*READ, "--to", "t.parquet", "--force") == 0
        shown.append(capsys.readouterr())
    assert shown[0] == shown[1]


def test_ten_thousand_malformed_messages_are_named_and_nothing_stops(capsys: Shown) -> None:
    good = b'{"device": "d", "place": "north", "time": "2026-03-02T09:00:00Z"}'
    lines = [message for message, _ in malformed(10_000, seed=9) if b"\n" not in message and len(message) < 1 << 16]
    Path("events.ndjson").write_bytes(b"\n".join([*lines, good]) + b"\n")
    Path("stops.csv").write_text(STOPS)
    assert run("events.ndjson", "--as", "occupancy", "--places", "stops.csv", "--to", "o.parquet") == 0
    said = capsys.readouterr().out
    assert "Malformed messages: " in said
    assert "not JSON" in said
    assert not re.search(r"\d", said.partition("Malformed messages: ")[2].partition("\n")[0])
    assert len(rows("o.parquet")) == 2


def test_standard_input_is_read() -> None:
    Path("stops.csv").write_text(STOPS)
    line = b'{"device": "d", "place": "north", "time": "2026-03-02T09:00:00Z"}\n'
    words = ["sense", "-", "--as", "occupancy", "--places", "stops.csv", "--to", "o.parquet"]
    done = subprocess.run([sys.executable, "-m", "louver", *words], input=line, capture_output=True, check=True)
    assert done.stderr == b""
    assert len(rows("o.parquet")) == 2


def test_own_names_of_fields_and_clocks() -> None:
    Path("events.csv").write_text("mac,ap,ts\nd,north,1772442000\n")
    Path("stops.csv").write_text(STOPS)
    words = ("--fields", "device=mac,place=ap,time=ts,clock=s", "--to", "o.parquet")
    assert run("events.csv", "--as", "occupancy", "--places", "stops.csv", *words) == 0
    assert len(rows("o.parquet")) == 2


def test_the_days_are_those_of_the_buildings_zone() -> None:
    Path("building.toml").write_text(
        '[building]\nid = "b"\ntimezone = "America/Los_Angeles"\n[floor.1]\n'
        '[region.hall]\nfloor = "1"\ncapacity = 9\naccess_points = ["ap"]\n'
    )
    Path("events.csv").write_text("device,place,time\nd,ap,2026-03-02T07:52:00Z\n")
    assert run("events.csv", "--as", "occupancy", "--building", "building.toml", "--to", "o.parquet") == 0
    assert rows("o.parquet", "CAST(slot AS VARCHAR), CAST(day AS VARCHAR)") == [
        ("2026-03-02 07:55:00", "2026-03-01"),
        ("2026-03-02 08:00:00", "2026-03-02"),
    ]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--as", "ocupancy", "--places", "p.csv"), 2, "Events cannot become 'ocupancy' (did you mean 'occupancy'?)."),
        (("--as", "occupancy"), 2, "Name the public list of places once"),
        (("--as", "occupancy", "--places", "p.csv", "--cells", "0,0,1,1,2,2"), 2, "--cells is for readings"),
        (("--as", "occupancy", "--places", "p.csv", "--fields", "meters"), 2, "gives readings and not presence"),
        (("--as", "readings", "--places", "p.csv"), 2, "Readings need --lower and --upper"),
        (("--as", "occupancy", "--places", "p.csv", "--lower", "0"), 2, "--lower is for readings."),
        (("--as", "trips", "--places", "p.csv", "--unit", "(person)"), 2, "Say how many rows of (person) count"),
        (("--as", "trips", "--places", "p.csv", "--unit", "(card)"), 2, "The unit of trips is one of"),
        (("--as", "trips", "--places", "no.csv"), 4, "cannot be read as a CSV file of places"),
        (("--as", "occupancy", "--places", "p.csv", "--fields", "devise=mac"), 2, "(did you mean 'device'?)"),
        (("--as", "occupancy", "--places", "p.csv", "--slot", "soon"), 2, "--slot is a number of seconds"),
        (("--as", "occupancy", "--places", "p.csv", "--during", "many"), 2, "--during must be a whole number"),
        (("--as", "presence", "--places", "p.csv", "--during", "2"), 2, "--during is for occupancy."),
        (("--as", "trips", "--places", "p.csv", "--only", "kind"), 2, "--only is a field and its value"),
        (("--as", "occupancy", "--places", "p.csv"), 4, "There is no file"),
    ],
)
def test_wrong_words_are_one_sentence(words: tuple[str, ...], code: int, said: str, capsys: Shown) -> None:
    Path("p.csv").write_text(STOPS)
    assert run("none.csv", *words, "--to", "t.parquet") == code
    shown = capsys.readouterr()
    assert said in shown.err
    assert shown.err.count("\n") == 1
    assert not Path("t.parquet").exists()


def test_a_table_ends_in_parquet_or_csv(capsys: Shown) -> None:
    assert run("e.csv", "--as", "occupancy", "--places", "p.csv", "--to", "t.json") == 2
    assert "ends in .parquet or .csv, not to 't.json'" in capsys.readouterr().err


PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "sense.md").read_text(encoding="utf-8")


def test_the_page_about_it_can_be_followed_from_top_to_bottom(capsys: Shown) -> None:
    """Every command of the page, on the files that the page shows; what sense printed there is what it prints."""
    for name, text in re.findall(r"`([\w.-]+)`:\n\n```(?:toml|json|csv)\n(.*?)```", PAGE, re.DOTALL):
        Path(name).write_text(text)
    blocks = re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL)
    commands = [part for block in blocks for part in block.split("$ louver ")[1:]]
    assert len(commands) == 15
    for command in commands:
        line, _, printed = command.partition("\n")
        assert cli.main(shlex.split(line)) == 0, line
        said = capsys.readouterr().out
        if line.startswith("sense"):
            assert said.startswith(printed.partition("...")[0])
    described = Path("louver.toml").read_text()
    assert f"```toml\n{described}```" in PAGE
