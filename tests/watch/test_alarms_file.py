"""Alarms in a file and on a terminal."""

from __future__ import annotations

import asyncio
import fcntl
import io
import json
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from louver.watch.alarms import File, LaterError, Notice, Terminal, text
from tests.watch.alarms_made import alarm

NOTICE = Notice(alarm(key="Hörsaal\n1"))
LINE = NOTICE.line() + b"\n"


def append(path: Path, notice: Notice = NOTICE) -> None:
    asyncio.run(File(path).deliver(notice))


def test_a_line_is_a_record(tmp_path: Path) -> None:
    path = tmp_path / "alarms.ndjson"
    append(path)
    append(path, Notice(alarm("clear")))
    first, second = path.read_bytes().splitlines()
    assert json.loads(first) == NOTICE.to_dict()
    assert json.loads(second)["state"] == "clear"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_line_is_on_disk_before_it_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[bytes] = []
    path = tmp_path / "alarms.ndjson"
    path.touch()
    monkeypatch.setattr("os.fsync", lambda _: synced.append(path.read_bytes()))
    append(path)
    assert synced == [LINE]


@pytest.mark.parametrize("length", [1, 5, 18, 40, len(LINE) // 2, len(LINE) - 2])
def test_half_a_line_is_cut_off(tmp_path: Path, length: int) -> None:
    path = tmp_path / "alarms.ndjson"
    path.write_bytes(LINE + LINE[:length])
    append(path)
    assert path.read_bytes() == LINE + LINE


def test_a_whole_line_that_lost_its_end_gets_it(tmp_path: Path) -> None:
    path = tmp_path / "alarms.ndjson"
    path.write_bytes(LINE[:-1])
    append(path)
    assert path.read_bytes() == LINE + LINE


def test_what_others_wrote_is_not_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "alarms.ndjson"
    path.write_bytes(b"notes of the porter")
    append(path)
    assert path.read_bytes() == b"notes of the porter\n" + LINE


def test_a_file_that_was_moved_away_is_begun_anew(tmp_path: Path) -> None:
    path = tmp_path / "alarms.ndjson"
    sink = File(path)
    asyncio.run(sink.deliver(NOTICE))
    path.rename(tmp_path / "archive")
    asyncio.run(sink.deliver(NOTICE))
    assert path.read_bytes() == LINE


def test_a_file_that_cannot_be_written_is_tried_again_later(tmp_path: Path) -> None:
    with pytest.raises(LaterError, match="cannot be written"):
        append(tmp_path / "missing" / "alarms.ndjson")
    with pytest.raises(LaterError, match="cannot be written"):
        append(tmp_path)


def test_a_disk_that_fills_up_leaves_a_file_that_mends_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, real = tmp_path / "alarms.ndjson", os.write

    def filling(file: int, data: bytes) -> int:
        if len(data) < len(LINE):
            raise OSError(28, "No space left on device")
        return real(file, bytes(data)[:100])

    with monkeypatch.context() as patched:
        patched.setattr("os.write", filling)
        with pytest.raises(LaterError, match="No space left"):
            append(path)
    assert path.read_bytes() == LINE[:100]
    append(path)
    assert path.read_bytes() == LINE


def test_two_processes_write_whole_lines(tmp_path: Path) -> None:
    path = tmp_path / "alarms.ndjson"
    code = (
        "import asyncio, sys; from pathlib import Path\n"
        "from louver.watch.alarms import File, Notice; from tests.watch.alarms_made import alarm\n"
        "for _ in range(50): asyncio.run(File(Path(sys.argv[1])).deliver(Notice(alarm())))\n"
    )
    root = Path(__file__).parents[2]
    both = [subprocess.Popen([sys.executable, "-c", code, str(path)], cwd=root) for _ in range(2)]
    assert [each.wait() for each in both] == [0, 0]
    assert len({json.loads(line)["id"] for line in path.read_bytes().splitlines()}) == 100


def test_nobody_mends_what_another_is_writing(tmp_path: Path) -> None:
    path = tmp_path / "alarms.ndjson"

    async def work() -> None:
        with path.open("ab") as other:
            fcntl.flock(other, fcntl.LOCK_EX)
            other.write(LINE[:100])
            other.flush()
            waiting = asyncio.create_task(File(path).deliver(NOTICE))
            await asyncio.sleep(0.2)
            other.write(LINE[100:])
        await waiting

    asyncio.run(work())
    assert path.read_bytes() == LINE + LINE


def test_a_terminal_shows_the_words() -> None:
    stream = io.StringIO()
    asyncio.run(Terminal(stream).deliver(NOTICE))
    assert stream.getvalue() == text(NOTICE) + "\n\n"


def test_many_alarms_are_a_line_each_in_a_file(tmp_path: Path) -> None:
    made = [Notice(alarm(key=f"room {number}")) for number in range(20)]
    path = tmp_path / "alarms.ndjson"
    path.write_bytes(b'{"louver": "alarm", "format": 1, "id"')
    asyncio.run(File(path).deliver_many(made))
    assert path.read_bytes() == b"".join(each.line() + b"\n" for each in made)


def test_many_alarms_on_a_terminal_say_once_what_they_share() -> None:
    stream = io.StringIO()
    made = [Notice(alarm(key=f"room {number}")) for number in range(20)]
    made += [Notice(alarm("clear", key="Ca\x1b[2Jfe"))]
    asyncio.run(Terminal(stream).deliver_many(made))
    said = stream.getvalue()
    assert said.startswith("21 alarms at once. 20 FIRING, 1 CLEAR: region room 0, region room 1, region room 2 and 18")
    assert said.count("To do:") == 2
    assert said.count("- ") == 21
    assert "\x1b" not in said
    assert "louver watch ack ID" in said


def test_a_terminal_without_the_letters_shows_escapes() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    asyncio.run(Terminal(stream).deliver(NOTICE))
    assert b"H\\xf6rsaal\\n1" in raw.getvalue()


def test_standard_output_is_looked_up_when_it_is_needed(capsys: pytest.CaptureFixture[str]) -> None:
    asyncio.run(Terminal().deliver(NOTICE))
    assert "FIRING" in capsys.readouterr().out


def test_a_terminal_that_is_halted_halts_nothing_else() -> None:
    released = threading.Event()

    class Halted(io.StringIO):
        def write(self, said: str) -> int:
            released.wait(30)
            return super().write(said)

    async def work() -> str:
        stream = Halted()
        waiting = asyncio.create_task(Terminal(stream).deliver(NOTICE))
        await asyncio.sleep(0.05)
        assert not waiting.done()
        released.set()
        await waiting
        return stream.getvalue()

    assert "FIRING" in asyncio.run(work())


def test_a_closed_terminal_means_later() -> None:
    stream = io.StringIO()
    stream.close()
    with pytest.raises(LaterError, match="closed"):
        asyncio.run(Terminal(stream).deliver(NOTICE))
