"""`louver publish stream rules.toml`: from a feed to a stream, in one command that can be stopped and started again."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from louver import cli
from louver.ledger import Ledger
from louver.sense.store import Store
from louver.watch.alone import alone
from louver.watch.rules import Rules
from louver.watch.stream_rules import DAY, StreamRule
from tests.cli.asking import VARIABLES, Told
from tests.stream.smoothing import seeded
from tests.watch.made import FIRE_LIMIT, house, lines
from tests.watch.streamed import LOUD, ROOMS, published

RANGE = ("--every", "5m", "--from", "2026-03-02T09:00", "--until", "2026-03-02T10:00")
HOUR = ("rules.toml", "--by", "region", *RANGE, "--key", "rooms")
LOUDLY = (*HOUR, "--mechanism", "laplace", "--epsilon", str(LOUD))
COUNTS = [{"aula": 3 + at % 4, "lab": at} for at in range(12)]
ROOMS_OF = {f"09:{5 * at:02}": {"aula": 3 + at % 4, "cafe": 0, "lab": at} for at in range(12)}

EMPTY = StreamRule(name="rooms", each=DAY, to="rooms.csv")

Publish = Callable[..., Told]


@pytest.fixture
def publish(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Publish:
    """Runs `louver` with the given words, in a folder with rules without a rule, a ledger and an hour of events."""
    monkeypatch.chdir(tmp_path)
    for variable in VARIABLES:
        monkeypatch.delenv(f"LOUVER_{variable}", raising=False)
    house(tmp_path, FIRE_LIMIT, cap=LOUD + 1, watch='feed = "events.ndjson"')
    Path("rules.toml").write_text(Path("rules.toml").read_text().replace(FIRE_LIMIT, ""))
    Path("events.ndjson").write_text(lines(*COUNTS))

    def run(*words: str) -> Told:
        capsys.readouterr()
        try:
            code = cli.main(["publish", "stream", *words])
        except SystemExit as left:
            code = int(left.code or 0)
        shown = capsys.readouterr()
        return Told(code, shown.out, shown.err)

    return run


def spent() -> float:
    with Ledger.open("watch.ledger") as ledger:
        return float(ledger.spent())


def refused(told: Told, code: int, said: str) -> None:
    assert told.code == code, told.err
    assert said in told.err
    assert told.err.startswith("louver publish stream: ")
    assert told.err.count("\n") == 1
    assert told.out == ""


def test_a_recording_becomes_a_stream(publish: Publish, tmp_path: Path) -> None:
    told = publish(*LOUDLY, "--to", "rooms.csv")
    assert told.code == 0, told.err
    assert published(tmp_path) == ROOMS_OF
    assert "stream     count by region, every 5 minutes from 2026-03-02 09:00 to 2026-03-02 10:00 UTC" in told.err
    assert "Published 12 ticks, 0 of them missing.\nThe stream is over.\n" in told.err
    assert (told.out, spent()) == ("", LOUD)


def test_on_the_output_each_tick_is_a_line(publish: Publish) -> None:
    told = publish(*LOUDLY)
    ticks = [json.loads(line) for line in told.out.splitlines()]
    assert [tick["number"] for tick in ticks] == list(range(12))
    assert [region["value"] for region in ticks[2]["regions"]] == [5, 0, 2]


def test_a_stream_of_a_feed_is_that_of_the_table_which_sense_writes(
    publish: Publish, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same events and the same bits, by both ways."""
    monkeypatch.setattr("louver.steward.SYSTEM", seeded(3))
    feed = publish(*HOUR, "--epsilon", "1")
    sensed = ["sense", "events.ndjson", "--as", "occupancy", "--building", "building.toml", "--validity", "5m"]
    assert cli.main([*sensed, "--to", "occupancy.parquet", "--describe", "louver.toml"]) == 0
    monkeypatch.setattr("louver.steward.SYSTEM", seeded(3))
    live = ("--live", "--key", "rooms", "--state", "state", "--budget", "1", "--epsilon", "1")
    table = publish("occupancy", "--by", "region", *RANGE, *live)
    assert feed.out == table.out
    assert len(feed.out.splitlines()) == 12


def test_the_same_words_again_give_the_same_stream_and_pay_nothing_more(publish: Publish) -> None:
    publish(*LOUDLY, "--to", "rooms.csv")
    before = Path("rooms.csv").read_text()
    for place in ("rooms.csv", "other.csv"):
        told = publish(*LOUDLY, "--to", place)
        assert (told.code, Path(place).read_text(), spent()) == (0, before, LOUD)
        assert "price nothing this time: entry 2 of the ledger paid for it" in " ".join(told.err.split())
        assert "The stream was over before, and is published again for nothing." in told.err
    assert Path("rooms.csv").read_text() == before


def test_what_is_published_again_is_not_left_out_unsaid(publish: Publish) -> None:
    """A file only grows: one with later ticks, or with others of the same time, is refused."""
    publish(*LOUDLY, "--to", "rooms.csv")
    text = Path("rooms.csv").read_text()
    for found, said in (("2027-03", "or later ones, already"), ("2026-03", "has other ticks of this time already")):
        other = text.replace("2026-03", found).replace(",3,", ",4,")
        Path("other.csv").write_text(other)
        refused(publish(*LOUDLY, "--to", "other.csv", "--json"), 4, said)
        assert Path("other.csv").read_text() == other


def test_what_was_not_sent_is_part_of_what_is_published_again(publish: Publish, tmp_path: Path) -> None:
    publish(*LOUDLY, "--to", "rooms.csv")
    whole = Path("rooms.csv").read_text()
    (spool,) = tmp_path.glob("*.streams/*.spool")
    told = publish(*LOUDLY)
    spool.write_text(told.out.splitlines(keepends=True)[-1])
    assert publish(*LOUDLY, "--to", "other.csv").code == 0
    assert Path("other.csv").read_text() == whole
    assert not spool.exists()


def test_where_a_process_still_sends_its_last_ticks_nothing_is_published_again(publish: Publish) -> None:
    publish(*LOUDLY, "--to", "rooms.csv")
    with alone(Rules.read("rules.toml", (EMPTY,)).journal):
        told = publish(*LOUDLY, "--to", "other.csv")
    assert told.code == 4
    assert "Another watcher is at work" in told.err
    assert not Path("other.csv").exists()


@pytest.mark.parametrize("words", [("--epsilon", "0.1"), ("--until", "2026-03-02T09:30"), ("--last", "3")])
@pytest.mark.parametrize("dry", [(), ("--dry-run",)])
def test_a_key_of_other_words_is_refused(publish: Publish, words: tuple[str, ...], dry: tuple[str, ...]) -> None:
    publish(*HOUR, "--epsilon", "1", "--to", "rooms.csv")
    told = publish(*HOUR, "--epsilon", "1", "--to", "rooms.csv", *words, *dry)
    refused(told, 2, "--key 'rooms' was used for another plan")
    assert spent() == 1


def test_a_second_stream_of_the_same_time_needs_a_store_of_its_own(publish: Publish) -> None:
    publish(*HOUR, "--epsilon", "1", "--to", "rooms.csv")
    again = (*HOUR[:-1], "other", "--epsilon", "1", "--to", "other.csv")
    told = publish(*again)
    assert told.code == 2
    assert "was read before, up to 2026-03-02 10:00 UTC" in told.err
    assert spent() == 1


@pytest.mark.parametrize("lines_before", [1, 6])
def test_a_command_that_is_killed_goes_on_with_the_same_words(publish: Publish, lines_before: int) -> None:
    words = [sys.executable, "-m", "louver", "publish", "stream", *LOUDLY]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        first = [json.loads(process.stdout.readline()) for _ in range(lines_before)]
        process.send_signal(signal.SIGKILL)
        rest = [line for line in process.stdout.read().splitlines(keepends=True) if line.endswith("\n")]
    told = publish(*LOUDLY)
    assert told.code == 0, told.err
    ticks = [*first, *map(json.loads, rest), *map(json.loads, told.out.splitlines())]
    by_number = {tick["number"]: tick for tick in ticks}
    assert sorted(by_number) == list(range(12))
    assert all(by_number[tick["number"]] == tick for tick in ticks)  # what comes twice is the same
    assert spent() == LOUD
    with Ledger.open("watch.ledger") as ledger:
        assert sum(entry.act == "reserved" for entry in ledger.entries()) == 1 + 12


def test_a_dry_run_says_the_price_and_makes_nothing(publish: Publish) -> None:
    before = sorted(path.name for path in Path.cwd().iterdir())
    told = publish(*HOUR, "--epsilon", "1", "--to", "rooms.csv", "--dry-run")
    assert told.code == 0
    assert "price      epsilon 1.0000 at most; nothing was reserved and no row was read" in told.out
    assert sorted(path.name for path in Path.cwd().iterdir()) == before
    too_much = publish(*HOUR, "--epsilon", "900", "--dry-run", "--json").json
    assert too_much["refused"].startswith("The budget does not suffice")
    assert spent() == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--key",), "expected one argument"),
        (("--every", "10m"), "are its slots, which last 5 minutes"),
        (("--epsilon", "1", "--unit", "row"), "--unit is for tables"),
        (("--epsilon", "1", "--live"), "--live is for tables"),
        (("--epsilon", "1", "--ledger", "other"), "--ledger is for tables"),
        (("--epsilon", "1", "--to", "rooms.json"), "which grows"),
        (("--epsilon", "1", "--by", "rom"), "there is no 'rom'"),
        (("--epsilon", "1", "--mechanism", "signed"), "may, so take 'kary'"),
        (("--epsilon", "1", "--from", "2026-03-02T09:01"), "counted from midnight UTC"),
        (("--epsilon", "1", "--sum", "value"), "needs bounds"),
        ((), "Say the price in one way"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_paid(publish: Publish, words: tuple[str, ...], said: str) -> None:
    told = publish(*HOUR, "--to", "rooms.csv", *words)
    assert told.code == 2
    assert said in told.err
    assert spent() == 0
    assert not Path("store").exists()


def test_a_stream_needs_a_key(publish: Publish) -> None:
    refused(publish(*HOUR[:-2], "--epsilon", "1"), 2, "needs --key, under which it is paid for")


def test_a_feed_is_named_somewhere(publish: Publish) -> None:
    Path("rules.toml").write_text(Path("rules.toml").read_text().replace('feed = "events.ndjson"', ""))
    refused(publish(*HOUR, "--epsilon", "1"), 2, "Say which feed is published: --feed FEED")
    assert publish(*HOUR, "--epsilon", "1", "--feed", "events.ndjson").code == 0
    refused(publish("presence.csv", *RANGE, "--unit", "row", "--feed", "-"), 2, "--feed is for the rules of a watch")


@pytest.mark.parametrize("more", [FIRE_LIMIT, ROOMS])
def test_rules_that_a_watch_decides_keep_their_store(publish: Publish, more: str) -> None:
    Path("rules.toml").write_text(Path("rules.toml").read_text() + more)
    refused(publish(*HOUR, "--epsilon", "1"), 2, "write this stream beside them as [stream.NAME]")


HOLDS = """
import sys
from louver.sense.store import Store
with Store.open(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_where_a_watch_has_the_store_that_is_said(publish: Publish) -> None:
    words = [sys.executable, "-c", HOLDS, str(Path("store").resolve())]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        process.stdout.readline()
        told = publish(*HOUR, "--epsilon", "1", "--to", "rooms.csv")
        process.stdin.close()
    assert told.code == 4, told.err
    assert "in use by another process" in told.err
    assert "watch" in told.err.splitlines()[-1]
    assert spent() == 0


def test_a_live_feed_of_the_past_is_refused(publish: Publish) -> None:
    told = publish(*HOUR, "--epsilon", "1", "--feed", "-")
    assert told.code == 2
    assert "The range ended at 2026-03-02 10:00 UTC, and a live feed brings what happens now." in told.err
    assert spent() == 0


def test_a_file_of_toml_that_is_no_watch_is_a_source(publish: Publish) -> None:
    Path("louver.toml").write_text("")
    refused(publish("louver.toml", *RANGE, "--epsilon", "1"), 2, "louver.toml describes no source")


def test_the_rows_are_kept_as_a_watch_keeps_them(publish: Publish, tmp_path: Path) -> None:
    publish(*LOUDLY, "--to", "rooms.csv")
    with Store.open(tmp_path / "store") as store:
        assert len(store.events()) == sum(sum(each.values()) for each in COUNTS)
