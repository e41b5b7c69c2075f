"""`louver publish stream` as people use it: files in a folder, one command after the other."""

from __future__ import annotations

import csv
import json
import xml.etree.ElementTree as Xml
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pytest

from louver import cli
from louver.cli import publish_clock
from louver.errors import DataError
from louver.watch.targets import File
from tests.cli.asking import Told
from tests.cli.clocks import Clocks
from tests.cli.publishing import DESCRIBED, HOUR, LOUD, RANGE, Publish, refused, spent
from tests.ledger.server import Server
from tests.sense.feeds.broker import Mosquitto
from tests.stream.published import TICKS, TRUTH, rows


def read(path: str) -> list[tuple[Any, ...]]:
    """The rows of a file, by DuckDB, without the band."""
    with duckdb.connect() as connection:
        return connection.execute(f"SELECT room, epoch(tick::TIMESTAMPTZ), value FROM '{path}'").fetchall()


def test_a_stream_goes_to_a_csv_file_and_its_ledger_is_made(publish: Publish) -> None:
    told = publish(*LOUD, "--to", "counts.csv", "--budget", "600")
    assert told.code == 0, told.err
    assert told.out.startswith("Protected: everything recorded about one person during one slot")
    assert "stream count by room, every 5 minutes from 2018-02-01 09:00 to 2018-02-01 10:00 UTC" in told.words
    assert "price epsilon 500.0000 at most, entry 2 of house.ledger; 100.0000 remains where most is used" in told.words
    assert "published counts.csv again with --key" in told.words
    assert "Made the ledger" in told.err
    with Path("counts.csv").open() as file:
        found = list(csv.DictReader(file))
    assert [int(row["value"]) for row in found] == TRUTH.ravel().tolist()


@pytest.mark.parametrize("name", ["counts.parquet", "counts.json"])
def test_parquet_and_json_hold_the_same_as_csv(publish: Publish, name: str) -> None:
    publish(*LOUD, "--to", "counts.csv", "--budget", "600", "--key", "a")
    assert publish(*LOUD, "--to", name, "--key", "a").code == 0
    if name.endswith("json"):
        columns = json.loads(Path(name).read_text())["columns"]
        assert columns["value"] == TRUTH.ravel().tolist()
        assert columns["tick"][0] == "2018-02-01T09:00:00+00:00"
    else:
        assert read(name) == read("counts.csv")
    assert spent() == 500


def test_without_a_file_the_output_is_csv_and_the_words_are_beside_it(publish: Publish) -> None:
    told = publish(*LOUD, "--budget", "600")
    assert told.out.splitlines()[0] == "room,tick,value,low,high"
    assert len(told.out.splitlines()) == 1 + 2 * TICKS
    assert "price      epsilon 500.0000" in told.err


def test_it_says_how_to_go_on(publish: Publish) -> None:
    told = publish(*HOUR, "--epsilon", "1", "--budget", "3.5", "--to", "a.csv", "--key", "monday")
    assert "2.5000 remains where most is used, enough for 2 more like it" in told.words
    assert "again with --key 'monday' and the same words, this stream is had again for nothing" in told.words
    told = publish(*HOUR, "--epsilon", "2", "--mechanism", "sum", "--to", "b.csv")
    assert "\nwhy " in told.out
    assert "0.5000 remains where most is used, too little for another like it" in told.words


def test_json_is_for_programs(publish: Publish) -> None:
    plain = publish(*LOUD, "--budget", "600", "--json").json
    assert (plain["louver"], plain["dry_run"], plain["kind"], plain["ticks"]) == ("publish stream", False, "pure", 12)
    assert plain["columns"]["value"] == TRUTH.ravel().tolist()
    dry = publish(*LOUD, "--dry-run", "--json").json
    assert (dry["dry_run"], dry["worst"], dry["regions"], dry["refused"][:10]) == (True, "500", 2, "The budget")
    elsewhere = publish(*HOUR, "--epsilon", "1", "--json", "--to", "a.csv").json
    assert "columns" not in elsewhere
    assert elsewhere["to"] == "a.csv"


def test_a_dry_run_reads_and_makes_nothing(publish: Publish) -> None:
    Path("presence.csv").write_text("person,room,time,watts\n")
    told = publish(*HOUR, "--epsilon", "1", "--dry-run", "--to", "a.csv", "--budget", "0.5")
    assert told.code == 0
    assert "price epsilon 1.0000 at most; nothing was reserved and no row was read" in told.words
    assert "refused a run would be: The budget does not suffice" in told.words
    assert not list(Path.cwd().glob("*.ledger*")) + list(Path.cwd().glob("a.*"))
    refused(publish(*HOUR, "--epsilon", "1", "--dry-run", "--sum", "watt"), 2, "needs bounds")
    refused(publish(*HOUR, "--epsilon", "1", "--dry-run", "--time", "tiem"), 4, "has no column 'tiem'")


def test_an_accuracy_gives_the_price(publish: Publish) -> None:
    told = publish(*HOUR, "--mechanism", "laplace", "--within", "5", "--miss-rate", "0.05", "--dry-run")
    assert "Each count of a tick and room is within 5 of the truth, except in at most 1 of 20 cases." in told.words
    assert "price epsilon 0.5382 at most" in told.words


def test_a_window_and_sums_and_people_are_asked_for(publish: Publish) -> None:
    told = publish(*HOUR, "--epsilon", "1", "--window", "30m", "--distinct", "person", "--dry-run")
    assert "and any 6 of these together" in told.words
    assert "price epsilon 1.0000 at most for any 6 of these units together; nothing was reserved" in told.words
    assert "number of different values of person by room" in told.words
    told = publish(*HOUR, "--epsilon", "1", "--sum", "watts", "--mechanism", "kary", "--arity", "4", "--dry-run")
    assert "Released is the sum of watts of all ticks so far by room" in told.words
    told = publish("presence", *RANGE, "--epsilon", "1", "--mechanism", "pegasus", "--split", "optimal", "--dry-run")
    assert "12 ticks of 1 region, by pegasus" in told.words


def test_a_bare_file_needs_its_unit_and_its_domain(publish: Publish) -> None:
    Path("louver.toml").unlink()  # which describes it
    Path("rooms.csv").write_text("room,capacity\nhall,1\nlab,2\n")
    bare = ("presence.csv", "--by", "room", *RANGE, "--epsilon", "1")
    refused(publish(*bare), 2, "A bare file needs --unit")
    refused(publish(*bare, "--unit", "row"), 2, "--domain")
    told = publish(*bare, "--unit", "row", "--domain", "rooms.csv", "--budget", "1")
    assert told.code == 0
    assert told.err.splitlines()[3].startswith("Protected: one row")


def test_the_ledger_pays_until_it_refuses_and_proposes_what_fits(publish: Publish) -> None:
    publish(*HOUR, "--epsilon", "1", "--budget", "1.5", "--to", "a.csv")
    refused(publish(*HOUR, "--epsilon", "1", "--to", "b.csv"), 3, "What would fit: epsilon 0.5")
    assert not Path("b.csv").exists()
    again = publish(*HOUR, "--mechanism", "laplace", "--within", "3", "--miss-rate", "0.05", "--to", "b.csv")
    refused(again, 3, "a distance of ")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--to", "a.xlsx"), 2, ".csv, .json or .parquet"),
        (("--to", "nowhere/a.csv"), 4, "cannot be written"),
        (("--to", "postgresql://localhost/x"), 2, "after a #"),
        (("--to", "mqtt://127.0.0.1:1/counts"), 4, "broker"),
        (("--plot", "a.png"), 2, ".svg"),
        (("--plot", "a.svg", "--dry-run"), 2, "dry run has none"),
        (("--plot", "nowhere/a.svg"), 2, "no folder"),
        (("--mechanism", "tree", "--rho", "1"), 2, "one way"),
        (("--mechanism", "truncated"), 2, "--tick-bound"),
        (("--window", "soon"), 2, "whole minutes"),
        (("--by", "floor"), 2, "floor"),
    ],
)
def test_mistakes_are_refused_before_anything_is_paid(
    publish: Publish, words: tuple[str, ...], code: int, said: str
) -> None:
    refused(publish(*HOUR, "--epsilon", "1", "--budget", "1", *words), code, said)
    assert not Path("house.ledger").exists()


def test_a_file_that_is_there_is_kept_unless_forced(publish: Publish) -> None:
    Path("a.csv").write_text("mine")
    refused(publish(*LOUD, "--to", "a.csv", "--budget", "600"), 4, "--force")
    assert Path("a.csv").read_text() == "mine"
    assert publish(*LOUD, "--to", "a.csv", "--budget", "600", "--force").code == 0
    assert Path("a.csv").read_text() != "mine"


def test_rho_needs_a_ledger_that_pays_it(publish: Publish) -> None:
    gaussian = (*HOUR, "--mechanism", "toeplitz", "--rho", "0.5")
    refused(publish(*gaussian, "--budget", "1"), 4, "`louver ledger init house.ledger --dataset house --unit")
    assert (
        cli.main(
            [
                "ledger",
                "init",
                "house.ledger",
                "--dataset",
                "house",
                "--unit",
                "(person, slot(time, 5))",
                "--cap",
                "1",
                "--rho",
                "1",
            ]
        )
        == 0
    )
    told = publish(*gaussian, "--to", "a.csv")
    assert "price rho 0.5000 at most, entry 2 of house.ledger; 0.5000 remains" in told.words


def test_what_fails_after_paying_can_be_had_again_for_nothing(
    publish: Publish, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> str:
        raise DataError("The disk is full.")

    with monkeypatch.context() as patch:
        patch.setattr(File, "write", full)
        told = publish(*LOUD, "--to", "a.csv", "--budget", "600")
    assert told.code == 4
    assert "The disk is full; the stream is paid for and kept, and costs nothing again with --key 'publish " in told.err
    key = told.err.rpartition("--key ")[2].strip().strip(".").strip("'")
    again = publish(*LOUD, "--to", "a.csv", "--key", key)
    assert "nothing this time: entry 2 of house.ledger has the stream" in again.words
    assert spent() == 500


def test_the_picture_is_written(publish: Publish) -> None:
    told = publish(*HOUR, "--epsilon", "1", "--budget", "1", "--plot", "a.svg", "--to", "a.csv")
    assert told.code == 0
    assert "published a.csv and a.svg" in told.words
    assert Xml.fromstring(Path("a.svg").read_text()).tag.endswith("svg")  # noqa: S314


@pytest.fixture(scope="module")
def mosquitto() -> Iterator[Mosquitto]:
    broker = Mosquitto()
    yield broker
    broker.remove()


def test_a_broker_gets_a_message_for_each_tick(publish: Publish, mosquitto: Mosquitto) -> None:
    import threading

    import paho.mqtt.client as mqtt
    from paho.mqtt.enums import CallbackAPIVersion

    heard: list[dict[str, Any]] = []
    ready, enough = threading.Event(), threading.Event()
    client = mqtt.Client(CallbackAPIVersion.VERSION2)
    client.on_subscribe = lambda *_: ready.set()

    def hear(_: object, __: object, message: Any) -> None:
        heard.append(json.loads(message.payload))
        if len(heard) == TICKS:
            enough.set()

    client.on_message = hear
    client.connect("127.0.0.1", mosquitto.port)
    client.subscribe("counts", qos=1)
    client.loop_start()
    assert ready.wait(30)
    told = publish(*LOUD, "--budget", "600", "--to", mosquitto.address("counts"))
    assert "published 12 messages again with --key" in told.words
    assert enough.wait(30)
    client.loop_stop()
    client.disconnect()
    assert heard[0]["tick"] == "2018-02-01T09:00:00+00:00"
    assert [message["number"] for message in heard] == list(range(TICKS))
    assert [[each["value"] for each in message["regions"]] for message in heard] == TRUTH.tolist()
    live = publish(*LIVE, "--ledger", "other.ledger", "--budget", "600")
    assert heard == [json.loads(line) for line in live.out.splitlines()]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.remove()


def test_a_table_gets_a_row_for_each_tick_and_region(publish: Publish, server: Server) -> None:
    address = server.new_database()
    to = ("--to", f"{address}#counts")
    told = publish(*LOUD, "--budget", "1000", *to)
    assert "published 24 rows in counts again with --key" in told.words, told.err
    with psycopg.connect(address) as connection:
        found = connection.execute("SELECT room, tick, value FROM counts ORDER BY tick, room").fetchall()
        assert [value for _, _, value in found] == TRUTH.ravel().tolist()
        assert found[0][:2] == ("hall", datetime(2018, 2, 1, 9, tzinfo=UTC))
        connection.execute("CREATE TABLE other (x int)")
    refused(publish(*LOUD, *to), 4, "The table counts has numbers of these ticks already")
    live = (*LIVE, "--ledger", "other.ledger", "--budget", "600", *to)
    refused(publish(*live), 4, "or write over them with --force; nothing was spent.")
    assert publish(*LOUD, *to, "--force").code == 0
    refused(publish(*LOUD, "--to", f"{address}#other"), 4, "it has other columns")
    assert spent() == 1000
    away = publish(*LOUD, "--to", "postgresql:///x?host=/nowhere&password=hunter2#counts")
    refused(away, 4, "no database answers there")
    assert "hunter2" not in away.err


def test_a_table_without_its_primary_key_is_refused_before_anything_is_paid(publish: Publish, server: Server) -> None:
    address = server.new_database()
    with psycopg.connect(address) as connection:
        connection.execute("CREATE TABLE bare (room text, tick timestamptz, value float8, low float8, high float8)")
    refused(publish(*LOUD, "--budget", "600", "--to", f"{address}#bare"), 4, "as the primary key")
    assert not Path("house.ledger").exists()


def test_a_table_that_is_there_needs_no_right_to_make_one(publish: Publish, server: Server) -> None:
    address = server.new_database()
    assert publish(*LOUD, "--budget", "1000", "--to", f"{address}#counts").code == 0
    with psycopg.connect(address) as connection:
        connection.execute("CREATE ROLE writer LOGIN")
        connection.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
        connection.execute("GRANT SELECT, INSERT, UPDATE ON counts TO writer")
    told = publish(*LOUD, "--to", f"{address.replace('louver@', 'writer@')}#counts", "--force")
    assert told.code == 0, told.err


def test_a_region_with_a_percent_sign_in_its_name_goes_to_a_table(publish: Publish, server: Server) -> None:
    address = server.new_database()
    Path("presence.csv").write_text(rows().replace("room", "full %s", 1))
    Path("louver.toml").write_text(DESCRIBED.replace("{ room =", '{ "full %s" ='))
    asked = ("presence", "--by", "full %s", *LOUD[3:], "--to", f"{address}#counts")
    told = publish(*asked, "--budget", "600")
    assert told.code == 0, told.err
    with psycopg.connect(address) as connection:
        found = connection.execute('SELECT "full %s", value FROM counts ORDER BY tick, "full %s"').fetchall()
    assert [value for _, value in found] == TRUTH.ravel().tolist()


def test_a_simulated_day_goes_from_events_to_a_stream_near_the_truth(
    publish: Publish, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["simulate", "--preset", "demo", "--days", "1", "--out", "hall"]) == 0
    sensed = ["--as", "occupancy", "--building", "hall/building.toml", "--to", "hall/occupancy.parquet"]
    assert cli.main(["sense", "hall/events.parquet", *sensed, "--describe", "hall/louver.toml"]) == 0
    capsys.readouterr()
    day = ("--by", "region", "--every", "15m", "--from", "2018-02-01", "--until", "2018-02-02", "--epsilon", "1")
    told = publish("hall/louver.toml", *day, "--budget", "1", "--to", "counts.parquet", "--plot", "day.svg")
    assert told.code == 0, told.err
    off = duckdb.execute(
        "WITH truth AS (SELECT region, time_bucket(INTERVAL 15 minutes, slot) AS tick, count(*) AS n "
        "FROM 'hall/occupancy.parquet' GROUP BY ALL) "
        "SELECT avg(abs(value - coalesce(n, 0))), count(*) FROM 'counts.parquet' AS made LEFT JOIN truth "
        "ON made.region = truth.region AND made.tick = truth.tick AT TIME ZONE 'UTC'"
    ).fetchall()
    assert off[0][1] == 96 * 22
    assert off[0][0] < 5  # noise alone is off by 0.85 on average, smoothing by a little more where counts jump


LIVE = (*LOUD, "--live", "--state", "state", "--key", "rooms")


def ticks(told: Told) -> list[tuple[int, list[int]]]:
    found = [json.loads(line) for line in told.out.splitlines()]
    return [(each["number"], [region["value"] for region in each["regions"]]) for each in found]


def test_a_live_stream_stops_and_goes_on_and_pays_once(publish: Publish) -> None:
    first = publish(*LIVE, "--ticks", "5", "--budget", "600")
    assert first.code == 0, first.err
    assert ticks(first) == [(number, TRUTH[number].tolist()) for number in range(5)]
    said = " ".join(first.err.split())
    assert "price epsilon 500.0000 at most for the whole stream, entry 2 of the ledger; 100.0000 remains" in said
    assert said.endswith("5 of 12 ticks are published; with the same words the stream goes on.")
    rest = publish(*LIVE)
    assert ticks(rest) == [(number, TRUTH[number].tolist()) for number in range(4, TICKS)]
    assert rest.err.endswith("The stream is over.\n")
    assert "price nothing this time: entry 2 of the ledger paid for it" in " ".join(rest.err.split())
    assert spent() == 500


def test_a_live_stream_that_is_over_is_had_again_for_nothing(publish: Publish) -> None:
    first = publish(*LIVE, "--budget", "600")
    Path("state").unlink()
    again = publish(*LIVE)
    assert (again.code, again.out, spent()) == (0, first.out, 500)
    assert again.err.endswith("The stream is over; its 12 ticks are published again.\n")


def test_a_state_that_is_lost_ends_a_live_stream(publish: Publish) -> None:
    publish(*LIVE, "--ticks", "5", "--budget", "600")
    Path("state").unlink()
    told = publish(*LIVE)
    assert told.code == 4
    assert "Tick 0 of this stream was published before" in told.err


def test_a_live_stream_fills_a_file_that_grows(publish: Publish) -> None:
    live = (*LIVE, "--to", "a.csv")
    assert publish(*live, "--budget", "600", "--ticks", "7").code == 0
    assert publish(*live).code == 0
    whole = publish(*LOUD, "--ledger", "other.ledger", "--budget", "600", "--to", "b.csv")
    assert whole.code == 0, whole.err
    assert Path("a.csv").read_text() == Path("b.csv").read_text()


def test_a_new_live_stream_takes_no_file_that_has_its_ticks(publish: Publish) -> None:
    assert publish(*LIVE, "--budget", "1200", "--ticks", "2", "--to", "a.csv").code == 0
    before = Path("a.csv").read_text()
    told = publish(*LIVE, "--key", "other", "--state", "other", "--to", "a.csv")
    refused(told, 4, "a.csv has ticks of this time, or later ones, already; name another file; nothing was spent.")
    assert (Path("a.csv").read_text(), spent()) == (before, 500)


def test_a_live_stream_that_is_refused_shows_no_price(publish: Publish) -> None:
    publish(*LIVE, "--ticks", "1", "--budget", "1200")
    refused(publish(*LIVE, "--last", "3"), 2, "--key 'rooms' was used for another plan")
    for dry in ((), ("--dry-run",)):
        hour = ("--live", "--key", "other", "--state", "other", "--epsilon", "1", *dry)
        refused(publish(*HOUR, *hour, "--every", "1m"), 2, "needs units that are in one tick each")
        refused(publish(*HOUR, *hour, "--mechanism", "signed"), 2, "take 'kary'")
        refused(publish(*HOUR, *hour, "--late", "5s"), 2, "--late lasts whole minutes")


def test_a_live_stream_says_when_its_next_tick_comes_and_what_it_published(
    publish: Publish, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publish_clock, "LiveClock", Clocks(datetime(2018, 2, 1, 8, 0, tzinfo=UTC)).live)
    told = publish(*LIVE, "--ticks", "2", "--late", "1m", "--budget", "600", "--to", "a.csv")
    assert told.err.splitlines()[-4:] == [
        "Tick 1 of 12 is published at 2018-02-01 09:06 UTC.",
        "Published tick 1 of 12, 2018-02-01 09:00 UTC.",
        "Published tick 2 of 12, 2018-02-01 09:05 UTC.",
        "2 of 12 ticks are published; with the same words the stream goes on.",
    ]


def test_the_ledger_shows_a_live_stream_by_its_key(publish: Publish, capsys: pytest.CaptureFixture[str]) -> None:
    publish(*LIVE, "--ticks", "5", "--budget", "600")
    assert cli.main(["ledger", "show", "house.ledger"]) == 0
    shown = capsys.readouterr().out
    assert "Never settled" not in shown
    assert "Live streams that are not over: 1." in shown
    assert "rooms" in shown.splitlines()[-1]


def test_a_live_stream_fills_a_table(publish: Publish, server: Server) -> None:
    address = server.new_database()
    live = (*LIVE, "--to", f"{address}#counts")
    assert publish(*live, "--budget", "600", "--ticks", "7").code == 0
    assert publish(*live).code == 0
    with psycopg.connect(address) as connection:
        found = connection.execute("SELECT value, low, high FROM counts ORDER BY tick, room").fetchall()
    assert [value for value, _, _ in found] == TRUTH.ravel().tolist()
    assert all(low == value == high for value, low, high in found)


def test_a_tick_is_not_read_before_it_is_over(publish: Publish, monkeypatch: pytest.MonkeyPatch) -> None:
    clocks = Clocks(datetime(2018, 2, 1, 9, 4, tzinfo=UTC))
    monkeypatch.setattr(publish_clock, "LiveClock", clocks.live)
    assert publish(*LIVE, "--ticks", "2", "--late", "1m", "--budget", "600").code == 0
    assert sum(clocks.naps) == 7 * 60  # until 9:06, and until 9:11
    assert max(clocks.naps) <= publish_clock.LONGEST_NAP


def test_a_clock_that_leaps_ahead_releases_no_tick_before_it_is_over(
    publish: Publish, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin = datetime(2018, 2, 1, 9, 4, tzinfo=UTC)
    clocks = Clocks(begin, leaps={120: timedelta(days=3650)})
    monkeypatch.setattr(publish_clock, "LiveClock", clocks.live)
    told = publish(*LIVE, "--ticks", "3", "--budget", "600")
    assert [number for number, _ in ticks(told)] == [0, 1, 2]
    assert sum(clocks.naps) == 11 * 60  # tick 2 is over at 9:15, whatever the clock says
    assert "start the stream again" in told.err


def test_what_is_made_up_for_at_the_start_is_said(publish: Publish, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publish_clock, "LiveClock", Clocks(datetime(2018, 2, 1, 9, 17, tzinfo=UTC)).live)
    told = publish(*LIVE, "--ticks", "4", "--budget", "1000")
    assert "By the clock of this machine, 2018-02-01 09:17 UTC, 3 ticks are over; they come first." in told.err
    rest = publish(*LIVE, "--key", "other", "--state", "other", "--ticks", "2")
    assert "4 ticks are over; the first 2 of them come now." in rest.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--live", "--state", "state"), "needs --key"),
        (("--live", "--key", "a"), "--state"),
        (("--state", "state"), "add --live"),
        (("--live", "--key", "a", "--state", "state", "--to", "a.json"), "written as a whole"),
        (("--live", "--key", "a", "--state", "state", "--plot", "a.svg"), "leave it out"),
        (("--live", "--key", "a", "--state", "state", "--ticks", "0"), "1 or more"),
    ],
)
def test_what_a_live_stream_needs_is_said(publish: Publish, words: tuple[str, ...], said: str) -> None:
    told = publish(*LOUD, "--budget", "600", *words)
    assert told.code == 2
    assert said in told.err


FLOORS = """
[domain.floors]
rows = [{ room = "hall", floor = "ground", limit = 34 }, { room = "lab", floor = "ground", limit = 1 }]
keys = ["room"]
"""


def test_sliding_windows_and_limits_are_columns_at_no_further_cost(publish: Publish) -> None:
    Path("louver.toml").write_text(DESCRIBED + FLOORS)
    asked = (*LOUD, "--domain", "floors", "--last", "10m", "--above", "limit", "--miss-rate", "0.05")
    for name in ("counts.csv", "counts.parquet"):
        assert publish(*asked, "--to", name, "--budget", "600", "--key", "a").code == 0
        with duckdb.connect() as connection:
            found = connection.execute(f"SELECT value, last, above FROM '{name}'").fetchall()
        assert [row[2] for row in found] == [
            count > limit for tick in TRUTH for count, limit in zip(tick, (34, 1), strict=True)
        ]
        assert [row[1] for row in found][2:4] == (TRUTH[0] + TRUTH[1]).tolist()
    assert spent() == 500


def test_limits_give_the_price(publish: Publish) -> None:
    told = publish(*HOUR, "--above", "30", "--miss-rate", "0.05", "--slack", "10", "--dry-run")
    assert "price epsilon 0.4148 at most" in told.words
    assert "A room whose count of a tick is above its limit is missed in at most 1 of 20 cases." in told.words
    refused(publish(*HOUR, "--above", "30", "--slack", "10", "--dry-run"), 2, "--above needs --miss-rate")
    refused(publish(*HOUR, "--above", "limit", "--miss-rate", "0.1", "--epsilon", "1", "--dry-run"), 2, "limit")


def test_totals_go_to_a_file_and_not_to_a_table(publish: Publish) -> None:
    Path("louver.toml").write_text(DESCRIBED + FLOORS)
    by = ("presence", "--by", "floor,room", "--totals", "--domain", "floors", *RANGE, "--mechanism", "laplace")
    asked = (*by, "--epsilon", "3000", "--budget", "4000")
    assert publish(*asked, "--to", "counts.csv", "--plot", "counts.svg").code == 0
    with duckdb.connect() as connection:
        rows = connection.execute("SELECT floor, room, value FROM 'counts.csv'").fetchall()
    assert rows[:4] == [(None, None, 30), ("ground", None, 30), ("ground", "hall", 30), ("ground", "lab", 0)]
    refused(publish(*asked, "--to", "postgresql:///x#counts"), 2, "cannot have totals")


def test_a_running_sum_chooses_itself_and_says_why(publish: Publish) -> None:
    told = publish(*HOUR, "--mechanism", "sum", "--epsilon", "1", "--dry-run")
    assert "the least of 3 mechanisms that are private at this price" in told.words
    assert publish(*HOUR, "--mechanism", "sum", "--epsilon", "1", "--budget", "2", "--to", "a.csv").code == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("running-mean", "--tick-bound", "64", "--lag", "3"),
            "Released is the mean count of all ticks so far by room",
        ),
        (("window-mean", "--tick-bound", "64", "--over", "3"), "the mean count of the last 3 ticks by room"),
        (
            ("present-mean", "--tick-bound", "64"),
            "the mean count of the ticks so far that have rows by room",
        ),
        (("histogram", "--bins", "5, 20"), "how many ticks so far had a count in each bin by room"),
    ],
)
def test_means_and_histograms_are_published(publish: Publish, words: tuple[str, ...], said: str) -> None:
    asked = (*HOUR, "--epsilon", "1", "--budget", "1", "--mechanism", *words)
    assert said in publish(*asked, "--dry-run").words
    assert publish(*asked, "--to", "a.csv").code == 0
    assert len(Path("a.csv").read_text().splitlines()) == 1 + TICKS * (6 if "--bins" in words else 2)


def test_a_dry_run_warns_of_times_that_are_texts_and_not_of_times(publish: Publish) -> None:
    told = publish(*HOUR, "--epsilon", "1", "--dry-run")
    assert "Column 'time' holds texts. What is no time like 2026-03-02T08:00 is in no tick" in told.words
    assert "holds texts" in json.loads(publish(*HOUR, "--epsilon", "1", "--dry-run", "--json").out)["warnings"][-1]
    duckdb.sql("COPY (SELECT * FROM 'presence.csv') TO 'presence.parquet'")
    described = Path("louver.toml").read_text().replace("presence.csv", "presence.parquet")
    Path("louver.toml").write_text(described)
    assert "holds texts" not in publish(*HOUR, "--epsilon", "1", "--dry-run").words


def test_a_threshold_with_a_delta_needs_a_ledger_that_has_one(publish: Publish) -> None:
    smooth = ("--mechanism", "truncated", "--tick-bound", "64", "--threshold", "smooth", "--delta", "1e-6")
    asked = (*HOUR, *smooth, "--factor", "1.5", "--share", "0.01", "--epsilon", "1", "--budget", "1")
    told = publish(*asked, "--dry-run")
    assert "price epsilon 1.0000 and delta 1e-06 at most" in told.words
    made = "louver ledger init house.ledger --dataset house --unit '(person, slot(time, 5))' --cap 1 --delta 1e-06"
    assert f"needs a ledger with a cap for it; `{made}` makes one that pays for it once." in told.words
    assert publish(*asked).code != 0
    assert not Path("house.ledger").exists()


def test_a_live_stream_tells_windows_and_limits_with_each_tick(publish: Publish) -> None:
    words = ("--live", "--key", "rooms", "--state", "s", "--last", "10m", "--above", "30", "--miss-rate", "0.05")
    told = publish(*LOUD, *words, "--ticks", "2", "--budget", "600")
    assert told.code == 0, told.err
    first, second = (json.loads(line)["regions"][0] for line in told.out.splitlines())
    assert (first["last"], first["above"]) == (30, False)
    assert (second["last"], second["above"]) == (61, True)
