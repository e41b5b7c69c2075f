"""The way out of a stream: everything at least once and in order, and nobody waits for a target that is away."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from louver.errors import DataError, ParameterError
from louver.stream.tick import Tick
from louver.watch import stream_outlet
from louver.watch.stream_outlet import Outlet
from louver.watch.targets import Target, target
from louver.watch.targets_growing import GrowingFile

NINE = datetime(2018, 2, 1, 9, tzinfo=UTC)


def tick(number: int, *, missing: bool = False) -> Tick:
    values = (None, None) if missing else (number, 7.5)
    bands = (None, None) if missing else (2.0, None)
    start = NINE + number * timedelta(minutes=5)
    return Tick(number, start, ("region",), (("hall",), ("lab",)), values, bands, missing)


class Place(Target):
    """A target that fails until it is mended, and remembers what came."""

    def __init__(self, *, works: bool = True) -> None:
        self.works, self.came, self.tried = works, list[int](), threading.Event()

    def check(self, plan: object) -> None: ...

    def write(self, stream: object) -> str:
        raise NotImplementedError

    def ticks(self, ticks: Sequence[Tick]) -> None:
        self.tried.set()
        if not self.works:
            raise DataError("Nobody is there.")
        self.came += [each.number for each in ticks]


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream_outlet, "FIRST_WAIT", 0.01)


def test_ticks_go_out_in_their_order_and_leave_the_spool(tmp_path: Path) -> None:
    place, said = Place(), list[str]()
    outlet = Outlet("rooms", place, tmp_path / "spool", said.append)
    for number in range(20):
        outlet.put(tick(number))
    outlet.close()
    assert place.came == list(range(20))
    assert (tmp_path / "spool").read_text() == ""
    assert said == []


def test_a_target_that_is_away_is_told_once_and_gets_everything_when_it_is_back(tmp_path: Path) -> None:
    place, said = Place(works=False), list[str]()
    outlet = Outlet("rooms", place, tmp_path / "spool", said.append)
    for number in range(3):
        outlet.put(tick(number))  # returns at once
    for _ in range(3):
        place.tried.clear()
        assert place.tried.wait(60)
    place.works = True
    outlet.close()
    assert place.came == [0, 1, 2]
    assert said == [
        "The stream rooms waits, and is tried again: Nobody is there.",
        "The stream rooms is published again.",
    ]


def test_what_was_not_sent_is_sent_by_the_next_process(tmp_path: Path) -> None:
    away, said = Place(works=False), list[str]()
    first = Outlet("rooms", away, tmp_path / "spool", said.append)
    first.put(tick(0))
    first.put(tick(1, missing=True))
    first.close()
    assert said[-1] == "2 ticks of the stream rooms wait to be sent, and are when it is started again."
    with (tmp_path / "spool").open("a") as file:
        file.write('{"tick": "2018')  # as a process that died leaves it
    place = Place()
    second = Outlet("rooms", place, tmp_path / "spool", said.append)
    second.put(tick(2))
    second.close()
    assert place.came == [0, 1, 2]


@pytest.mark.parametrize("is_full", [False, True])
def test_half_a_line_on_a_full_disk_spoils_no_other_tick(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_full: bool
) -> None:
    """The disk takes half of a line; then the rest, or nothing."""
    write, came = os.write, list[int]()

    def half(file: int, data: bytes) -> int:
        came.append(len(data))
        if is_full and len(came) == 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(file, data[: len(data) // 2] if len(came) == 1 else data)

    first = Outlet("rooms", Place(works=False), tmp_path / "spool", print)
    first.put(tick(0))
    monkeypatch.setattr(os, "write", half)
    if is_full:
        with pytest.raises(DataError, match="No space left on device"):
            first.put(tick(1))
    first.put(tick(1))
    first.put(tick(2))
    monkeypatch.undo()
    first.close()
    place = Place()
    Outlet("rooms", place, tmp_path / "spool", print).close()
    assert place.came == [0, 1, 2]


def test_a_spool_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "spool").write_text("rooms\n")
    with pytest.raises(DataError, match="holds no ticks of a stream"):
        Outlet("rooms", Place(), tmp_path / "spool", print)


def test_a_file_grows_and_has_each_tick_once(tmp_path: Path) -> None:
    path = tmp_path / "rooms.csv"
    place = GrowingFile(path)
    place.ticks([tick(0), tick(1, missing=True)])
    place.ticks([tick(1, missing=True), tick(2)])
    assert path.read_text().splitlines() == [
        "region,tick,value,low,high",
        "hall,2018-02-01T09:00:00+00:00,0,-2,2",
        "lab,2018-02-01T09:00:00+00:00,7.5,,",
        "hall,2018-02-01T09:05:00+00:00,,,",
        "lab,2018-02-01T09:05:00+00:00,,,",
        "hall,2018-02-01T09:10:00+00:00,2,0,4",
        "lab,2018-02-01T09:10:00+00:00,7.5,,",
    ]


@pytest.mark.parametrize("cut", range(1, 80, 7))
def test_a_line_that_was_cut_off_is_written_anew(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "rooms.csv"
    GrowingFile(path).ticks([tick(0), tick(1)])
    whole = path.read_text()
    path.write_text(whole[:-cut])
    GrowingFile(path).ticks([tick(0), tick(1)])
    assert path.read_text() == whole


def again(path: Path, *ticks: Tick) -> str:
    place = GrowingFile(path)
    place.check_again(ticks)
    place.ticks(ticks)
    return path.read_text()


def test_a_stream_that_is_had_again_is_whole_in_its_file(tmp_path: Path) -> None:
    path = tmp_path / "rooms.csv"
    GrowingFile(path).ticks([tick(0)])  # of a stream before
    whole = again(path, tick(1), tick(2), tick(3))
    for text in (whole, whole[:-20], "".join(whole.splitlines(keepends=True)[:4])):
        path.write_text(text)
        assert again(path, tick(1), tick(2), tick(3)) == whole


@pytest.mark.parametrize("there", [[tick(9)], [tick(2)], [tick(1, missing=True)], [tick(1), tick(2), tick(9)]])
def test_a_stream_that_is_had_again_does_not_go_where_others_are(tmp_path: Path, there: list[Tick]) -> None:
    path = tmp_path / "rooms.csv"
    GrowingFile(path).ticks(there)
    text = path.read_text()
    with pytest.raises(DataError, match="has other ticks of this time already; name another file"):
        again(path, tick(1), tick(2), tick(3))
    assert path.read_text() == text


def test_a_file_of_something_else_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "rooms.csv"
    for text in ("name,age\nann,7\n", "region,tick,value,low,high\nhall,noon,1,1,1\nlab,noon,1,1,1\n"):
        path.write_text(text)
        with pytest.raises(DataError, match="holds something else"):
            GrowingFile(path).ticks([tick(0)])
        assert path.read_text() == text


def test_a_place_for_whole_streams_and_one_that_grows_refuse_each_others_work_with_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="as a whole, not tick by tick"):
        target(str(tmp_path / "a.json")).ticks([])
    with pytest.raises(ParameterError, match="grows tick by tick"):
        GrowingFile(tmp_path / "a.csv").write(None)  # type: ignore[arg-type]
