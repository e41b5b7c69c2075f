"""Files and standard input as feeds."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from louver.errors import DataError, LouverError, ParameterError
from louver.sense.events import Event, Tally
from louver.sense.feeds import Replay, open_feed
from louver.sense.feeds.background import Background
from louver.sense.feeds.batch import Batch
from louver.sense.feeds.pace import TICK, Pace
from louver.sense.feeds.reading import LONGEST_REST, whole_records
from louver.sense.formats import Fields
from louver.sense.formats.limits import TOO_LONG
from tests.sense.formats.malformed import malformed

NINE = 1_772_442_000_000_000
SECOND = 1_000_000


def line(event: Event) -> str:
    record = {"device": event.device, "place": event.place, "time": event.time}
    return json.dumps(record)


BY_MICROSECONDS = Fields(clock="us")
EVENTS = [Event(f"d{number % 5}", "ap", NINE + number * SECOND) for number in range(50)]


async def taken(feed: Replay) -> list[Batch]:
    return [batch async for batch in feed]


def events_of(feed: Replay) -> tuple[list[Event], Tally]:
    batches = asyncio.run(taken(feed))
    faults = Tally()
    for batch in batches:
        faults = faults + batch.faults
    return [event for batch in batches for event in batch.events], faults


def written(path: Path, lines: list[str]) -> Path:
    path.write_text("\n".join(lines) + "\n")
    return path


def to_parquet(path: Path, query: str) -> None:
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({query}) TO '{path}' (FORMAT parquet)")


def test_a_file_comes_in_the_order_of_its_times(tmp_path: Path) -> None:
    path = written(tmp_path / "e.ndjson", [line(event) for event in reversed(EVENTS)])
    assert events_of(Replay(path, fields=BY_MICROSECONDS)) == (EVENTS, Tally())


def test_a_window_sorts_what_it_can_hold(tmp_path: Path) -> None:
    swapped = [event for pair in zip(EVENTS[1::2], EVENTS[::2], strict=True) for event in pair]
    path = written(tmp_path / "e.ndjson", [line(event) for event in swapped])
    assert events_of(Replay(path, fields=BY_MICROSECONDS, window=2))[0] == EVENTS
    assert events_of(Replay(path, fields=BY_MICROSECONDS, window=0))[0] == swapped


def test_csv_has_its_header_on_the_first_line(tmp_path: Path) -> None:
    lines = [f"{event.time},{event.device},{event.place}" for event in EVENTS]
    path = written(tmp_path / "e.csv", ["time,device,place", *lines])
    assert events_of(Replay(path, fields=BY_MICROSECONDS)) == (EVENTS, Tally())


def test_csv_without_a_needed_column_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "e.csv", ["time,who,place", "1,2,3"])
    with pytest.raises(ParameterError, match="lack 'device'"):
        events_of(Replay(path))


@pytest.mark.parametrize(
    ("column", "clock"),
    [
        ("make_timestamp(time)", "iso"),
        ("make_timestamp(time)::TIMESTAMP_NS", "iso"),
        ("make_timestamptz(time)", "iso"),
        ("time", "us"),
        ("time // 1000000", "s"),
        ("strftime(make_timestamp(time), '%Y-%m-%dT%H:%M:%SZ')", "iso"),
    ],
)
def test_parquet_is_sorted_and_read_by_its_columns(tmp_path: Path, column: str, clock: Any) -> None:
    path = tmp_path / "e.parquet"
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'America/New_York'")
        connection.execute("CREATE TABLE e (device TEXT, place TEXT, time BIGINT, watts DECIMAL(9, 2))")
        rows = [(event.device, event.place, event.time, 2.5) for event in reversed(EVENTS)]
        connection.executemany("INSERT INTO e VALUES (?, ?, ?, ?)", rows)
        connection.execute(f"COPY (SELECT device, place, {column} AS \"t\", watts FROM e) TO '{path}'")
    found, faults = events_of(Replay(path, fields=Fields(time="t", value="watts", clock=clock)))
    assert found == [Event(event.device, event.place, event.time, 2.5) for event in EVENTS]
    assert faults == Tally()


def test_rows_of_parquet_that_are_no_events_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "e.parquet"
    to_parquet(
        path,
        "SELECT * FROM (VALUES ('a', 'ap', TIMESTAMP '2026-03-02 09:00:00'), (NULL, 'ap', now()::TIMESTAMP), "
        "('a', '', TIMESTAMP '2026-03-02 09:00:00'), ('a', 'ap', NULL), ('a', 'ap', TIMESTAMP '1900-01-01')) "
        "AS e(device, place, time)",
    )
    found, faults = events_of(Replay(path))
    assert found == [Event("a", "ap", NINE)]
    assert faults == Tally({"no device": 1, "no place": 1, "no time": 1, "time out of range": 1})


def test_a_file_that_cannot_be_read_is_refused_in_one_sentence(tmp_path: Path) -> None:
    wrong: list[tuple[Callable[[], Replay], str]] = [
        (lambda: Replay(tmp_path / "none.csv"), "There is no file 'none.csv'"),
        (lambda: Replay(written(tmp_path / "e.txt", ["x"])), "name the format"),
        (lambda: Replay(written(tmp_path / "e.parquet", ["x"])), "cannot be read as a Parquet file"),
        (lambda: Replay(written(tmp_path / "e.csv", ["x"]), format="cvs"), "did you mean 'csv'"),
        (lambda: Replay(written(tmp_path / "e.csv", ["x"]), speed=0), "speed must be greater than 0"),
    ]
    for make, sentence in wrong:
        with pytest.raises(LouverError, match=sentence):
            events_of(make())
    path = tmp_path / "f.parquet"
    to_parquet(path, "SELECT 'a' AS devise, 'ap' AS place, now() AS time")
    with pytest.raises(DataError, match="did you mean 'devise'"):
        events_of(Replay(path))


def test_ten_thousand_malformed_lines_are_counted_among_good_ones(tmp_path: Path) -> None:
    """Each bad line between two good ones; none of the good ones is lost, whatever stands beside it."""
    bad = [
        (message, fault)
        for message, fault in malformed(10_000, seed=3)
        if b"\n" not in message and message.strip() and len(message) < 100_000
    ]
    path = tmp_path / "e.ndjson"
    with path.open("wb") as file:
        for number, (message, _) in enumerate(bad):
            file.write(message + b"\n" + line(EVENTS[number % 50]).encode() + b"\n")
    found, faults = events_of(Replay(path, fields=BY_MICROSECONDS, window=0))
    assert len(bad) > 9000
    assert found == [EVENTS[number % 50] for number in range(len(bad))]
    assert faults.total == len(bad)


def test_a_record_without_an_end_is_one_fault_and_the_next_is_read() -> None:
    pieces = [b"good\n", *[b"x" * 100_000] * 20, b"tail\ngood\n", b"goo", b"d\nlast"]
    assert list(whole_records(pieces, b"\n")) == [b"good\n", TOO_LONG, b"good\n", b"good\n", b"last"]
    blocks = [b"a\n1\n\n", *[b"x\n" * 50_000] * 20, b"tail\n\nb\n2\n\n"]
    assert list(whole_records(blocks, b"\n\n")) == [b"a\n1\n\n", TOO_LONG, b"b\n2\n\n"]
    assert LONGEST_REST < 2_000_000


@pytest.mark.parametrize("cut", [1, 2, 3, 7])
def test_records_are_the_same_however_the_bytes_are_cut(cut: int) -> None:
    text = b"one\r\ntwo\n\nthree\r\n"
    pieces = [text[start : start + cut] for start in range(0, len(text), cut)]
    joined = b"".join(part for part in whole_records(pieces, b"\n") if isinstance(part, bytes))
    assert [part for part in joined.replace(b"\r", b"").split(b"\n") if part] == [b"one", b"two", b"three"]


class Clock:
    """A clock that only moves when somebody sleeps."""

    def __init__(self) -> None:
        self.time = 100.0

    def now(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.time += seconds


def test_a_replay_keeps_the_speed_that_was_asked_for(tmp_path: Path) -> None:
    path = written(tmp_path / "e.ndjson", [line(event) for event in EVENTS])
    clock = Clock()
    seen: list[tuple[float, int]] = []

    async def watch() -> None:
        pace = Pace(2, now=clock.now, sleep=clock.sleep)
        async for batch in Replay(path, fields=BY_MICROSECONDS, pace=pace):
            seen.extend((clock.time, event.time) for event in batch.events)

    asyncio.run(watch())
    assert [time for _, time in seen] == [event.time for event in EVENTS]
    for moment, time in seen:
        due = 100 + (time - NINE) / SECOND / 2
        assert due <= moment <= due + TICK + 1e-6


def test_events_of_one_tick_go_together_and_none_comes_before_its_time(tmp_path: Path) -> None:
    path = written(tmp_path / "e.ndjson", [line(event) for event in EVENTS])
    clock = Clock()
    sizes: list[int] = []

    async def watch() -> None:
        pace = Pace(100, now=clock.now, sleep=clock.sleep)
        async for batch in Replay(path, fields=BY_MICROSECONDS, pace=pace):
            sizes.append(len(batch.events))
            assert all(100 + (event.time - NINE) / SECOND / 100 <= clock.time + 1e-9 for event in batch.events)

    asyncio.run(watch())
    assert sum(sizes) == 50
    assert max(sizes) == 5


def test_reading_goes_no_further_ahead_than_its_bound() -> None:
    made: list[int] = []

    def numbers() -> Iterator[int]:
        for number in range(1000):
            made.append(number)
            yield number

    async def watch() -> None:
        background = Background(numbers, ahead=4)
        async for number in background:
            await asyncio.sleep(0.01)
            assert len(made) <= number + 1 + 4
            if number == 20:
                break
        background.stop()

    asyncio.run(watch())
    assert len(made) < 30


def test_what_goes_wrong_while_reading_reaches_who_reads() -> None:
    def broken() -> Iterator[int]:
        yield 1
        raise DataError("The disk is gone.")

    async def watch() -> None:
        async for _ in Background(broken):
            pass

    with pytest.raises(DataError, match="disk is gone"):
        asyncio.run(watch())


STDIN = """
import asyncio, sys
from louver.sense.feeds import Replay
from louver.sense.formats import Fields

async def main():
    async for batch in Replay("-", fields=Fields(clock="us")):
        print(len(batch.events), batch.faults.total, flush=True)

asyncio.run(main())
"""


def test_standard_input_is_read_as_it_comes() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", STDIN], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for event in EVENTS[:3]:
            process.stdin.write(line(event) + "\n")
            process.stdin.flush()
            assert process.stdout.readline() == "1 0\n"
        process.stdin.write("nonsense\n")
        process.stdin.close()
        assert process.stdout.readline() == "0 1\n"
        assert process.wait() == 0


def test_old_log_lines_are_placed_by_when_the_file_was_changed(tmp_path: Path) -> None:
    text = "Dec 31 23:59:59 ap-3 hostapd: wlan0: AP-STA-CONNECTED aa:bb:cc:dd:ee:ff"
    path = written(tmp_path / "wifi.log", [text])
    os.utime(path, (1_735_689_700, 1_735_689_700))  # shortly after New Year 2025
    (event,), _ = events_of(Replay(path))
    assert event.time == 1_735_689_599 * SECOND
    (event,), _ = events_of(Replay(path, received=1_767_225_700 * SECOND))
    assert event.time == 1_767_225_599 * SECOND


def test_a_batch_is_acknowledged_once() -> None:
    calls: list[int] = []

    async def acknowledge() -> None:
        calls.append(1)

    async def store() -> None:
        batch = Batch([EVENTS[0]], acknowledge)
        assert not calls
        await batch.done()
        await batch.done()

    asyncio.run(store())
    assert calls == [1]


def test_a_batch_does_not_show_devices() -> None:
    assert "d3" not in repr(Batch([EVENTS[3]]))


def test_a_feed_is_opened_by_one_word(tmp_path: Path) -> None:
    path = written(tmp_path / "e.ndjson", [line(event) for event in EVENTS])
    assert isinstance(open_feed(str(path)), Replay)
    assert type(open_feed("mqtt://127.0.0.1/a/#")).__name__ == "MQTT"
    with pytest.raises(ParameterError, match="mqtt://host/topic"):
        open_feed("kafka://host/topic")
