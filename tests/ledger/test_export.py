"""The head out of the folder: files that are never spoiled, and a webhook on a real server."""

from __future__ import annotations

import json
import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from louver.errors import LedgerError, ParameterError
from louver.ledger import Cap, Head, Ledger
from louver.ledger.export import entries_to_file, head_to_file, head_to_webhook, read_heads
from louver.ledger.verify import read_entries
from louver.privacy import Unit
from tests.ledger.plans import flat


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    made = new(tmp_path / "house")
    yield made
    made.close()


def new(path: Path, dataset: str = "house") -> Ledger:
    return Ledger.create(path, dataset=dataset, unit=Unit.row(), caps=[Cap(1)])[0]


# Files


def test_a_head_in_a_file_is_the_ledgers_own(ledger: Ledger, tmp_path: Path) -> None:
    head = head_to_file(ledger, tmp_path / "head")
    assert head == ledger.head()
    assert read_heads((tmp_path / "head").read_text().splitlines(), "house", "head") == [head]


def test_a_newer_head_takes_the_place_of_an_older_one(ledger: Ledger, tmp_path: Path) -> None:
    head_to_file(ledger, tmp_path / "head")
    ledger.reserve(flat(0))
    assert head_to_file(ledger, tmp_path / "head").number == 2
    assert json.loads((tmp_path / "head").read_text())["number"] == 2


def test_a_newer_head_of_the_same_ledger_is_never_overwritten(ledger: Ledger, tmp_path: Path) -> None:
    later = Head("house", 1, 7, "f" * 64)
    (tmp_path / "head").write_text(json.dumps(later.to_dict()))
    with pytest.raises(LedgerError, match=r"ends before the head in .*, which is of entry 7"):
        head_to_file(ledger, tmp_path / "head")
    assert json.loads((tmp_path / "head").read_text()) == later.to_dict()


def test_a_head_that_the_ledger_does_not_lead_to_is_never_overwritten(ledger: Ledger, tmp_path: Path) -> None:
    ledger.reserve(flat(0))
    other = Head("house", 1, 1, "f" * 64)
    (tmp_path / "head").write_text(json.dumps(other.to_dict()))
    with pytest.raises(LedgerError, match="does not lead to the head"):
        head_to_file(ledger, tmp_path / "head")
    assert json.loads((tmp_path / "head").read_text()) == other.to_dict()


@pytest.mark.parametrize("content", ["", "my diary", "{}", "[1]", "\xff"])
def test_a_file_that_holds_something_else_is_never_overwritten(ledger: Ledger, tmp_path: Path, content: str) -> None:
    (tmp_path / "other").write_text(content, encoding="latin-1")
    with pytest.raises(LedgerError, match="choose another file"):
        head_to_file(ledger, tmp_path / "other")
    with pytest.raises(LedgerError, match="choose another file"):
        entries_to_file(ledger, tmp_path / "other")
    assert (tmp_path / "other").read_text(encoding="latin-1") == content


def test_the_head_of_another_data_set_is_never_overwritten(ledger: Ledger, tmp_path: Path) -> None:
    with new(tmp_path / "second", "other") as other:
        head_to_file(other, tmp_path / "head")
    with pytest.raises(LedgerError, match="is of the data set 'other'"):
        head_to_file(ledger, tmp_path / "head")


def test_a_ledger_in_doubt_exports_no_head(ledger: Ledger, tmp_path: Path) -> None:
    ledger.close()
    for end in ("", ".key", ".key.witness"):
        shutil.copy(tmp_path / f"house{end}", tmp_path / f"copy{end}")
    with Ledger.open(tmp_path / "copy") as copy, pytest.raises(LedgerError, match="louver ledger recover first"):
        head_to_file(copy, tmp_path / "head")
    assert not (tmp_path / "head").exists()


def test_a_file_that_cannot_be_written_is_one_sentence(ledger: Ledger, tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match=r"cannot be written: No such file or directory\.$"):
        head_to_file(ledger, tmp_path / "no" / "folder")
    with pytest.raises(LedgerError, match=r"cannot be read: Is a directory\.$"):
        head_to_file(ledger, tmp_path)


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    head_to_file(ledger, out / "head")
    before = (out / "head").read_text()
    ledger.reserve(flat(0))

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(LedgerError, match="No space left on device"):
        head_to_file(ledger, out / "head")
    assert [(path.name, path.read_text()) for path in out.iterdir()] == [("head", before)]


def test_entries_in_a_file_are_all_of_them_and_for_their_owner_only(ledger: Ledger, tmp_path: Path) -> None:
    ledger.reserve(flat(0))
    assert entries_to_file(ledger, tmp_path / "entries") == 2
    assert read_entries((tmp_path / "entries").read_text().splitlines()) == list(ledger.entries())
    assert (tmp_path / "entries").stat().st_mode & 0o077 == 0


def test_newer_entries_are_never_overwritten_by_fewer(ledger: Ledger, tmp_path: Path) -> None:
    ledger.close()
    shutil.copy(tmp_path / "house", tmp_path / "backup")
    ledger.reserve(flat(0))
    entries_to_file(ledger, tmp_path / "entries")
    older = Ledger.open(tmp_path / "backup", key=tmp_path / "house.key")
    with older, pytest.raises(LedgerError, match="ends before the last entry in"):
        entries_to_file(older, tmp_path / "entries")
    ledger.reserve(flat(0))
    assert entries_to_file(ledger, tmp_path / "entries") == 3


def test_several_heads_are_read_from_one_file(ledger: Ledger) -> None:
    line = json.dumps(ledger.head().to_dict())
    wrapped = json.dumps({"louver": "ledger export", "format": 1, "head": ledger.head().to_dict()})
    assert read_heads([line, "", wrapped], "house", "log") == [ledger.head()] * 2
    assert read_heads(json.dumps(ledger.head().to_dict(), indent=2).splitlines(), "house", "head") == [ledger.head()]


@pytest.mark.parametrize("lines", [[], ["{"], ["[]"], ["{}"], ["1"], ['{"head": null}'], ['{"louver": "ledger head"}']])
def test_what_is_no_head_is_one_sentence(lines: list[str]) -> None:
    with pytest.raises((LedgerError, ParameterError), match=r"^[^\n]*\.$"):
        read_heads(lines, "house", "head")


# Webhooks


class Hook(HTTPServer):
    """A server that keeps what it is sent and answers as it is told."""

    def __init__(self, code: int = 204, location: str = "") -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.code, self.location = code, location
        self.got: list[tuple[str, str, bytes]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/hook?token=secret"


class _Handler(BaseHTTPRequestHandler):
    server: Hook

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.got.append((self.path, self.headers["Content-Type"], body))
        self.send_response(self.server.code)
        if self.server.location:
            self.send_header("Location", self.server.location)
        self.end_headers()

    def do_GET(self) -> None:
        self.server.got.append((self.path, "GET", b""))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serving(server: Hook) -> Iterator[Hook]:
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_webhook_gets_the_head_as_json(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")  # nothing on this machine goes through a proxy
    with serving(Hook()) as hook:
        assert head_to_webhook(ledger, hook.url) == ledger.head()
    ((path, kind, body),) = hook.got
    assert (path, kind) == ("/hook?token=secret", "application/json")
    assert json.loads(body) == ledger.head().to_dict()


@pytest.mark.parametrize("code", [400, 404, 500, 503])
def test_a_webhook_that_refuses_is_one_sentence_without_its_secret(ledger: Ledger, code: int) -> None:
    with serving(Hook(code)) as hook, pytest.raises(LedgerError, match=f"it answered {code}") as caught:
        head_to_webhook(ledger, hook.url)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_a_redirect_is_never_followed(ledger: Ledger, code: int) -> None:
    refused = pytest.raises(LedgerError, match=f"it answered {code}; give the address it leads to")
    with serving(Hook()) as elsewhere, serving(Hook(code, elsewhere.url)) as hook, refused:
        head_to_webhook(ledger, hook.url)
    assert elsewhere.got == []


def test_a_webhook_that_never_answers_is_left_after_a_while(ledger: Ledger) -> None:
    silent = socket.create_server(("127.0.0.1", 0))
    with silent, pytest.raises(LedgerError, match=r"no answer came within 0\.1 seconds"):
        head_to_webhook(ledger, f"http://127.0.0.1:{silent.getsockname()[1]}/", timeout=0.1)


def test_a_webhook_that_speaks_no_http_is_one_sentence(ledger: Ledger) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(b"SSH-2.0-nonsense\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        with pytest.raises(LedgerError, match="no answer that a web server gives"):
            head_to_webhook(ledger, f"http://127.0.0.1:{server.getsockname()[1]}/", timeout=5)
        thread.join()


def test_a_webhook_that_is_not_there_is_one_sentence(ledger: Ledger) -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    for scheme in ("http", "https"):
        with pytest.raises(LedgerError, match=r"Connection refused\.$"):
            head_to_webhook(ledger, f"{scheme}://127.0.0.1:{port}/")


@pytest.mark.parametrize(
    "url",
    [
        *("http://example.org/hook", "http://10.0.0.1/hook", "http://localhost.example.org/"),
        *("ftp://127.0.0.1/", "file:///etc/hosts", "https://", "https:///path", "https://[::1", "https://h:port/"),
        *("https://ada:hunter2@example.org/", "https://h/a b", "https://h/\r\nX: y", "hook"),
    ],
)
def test_only_https_or_this_machine_is_sent_to(ledger: Ledger, url: str) -> None:
    with pytest.raises(ParameterError, match=r"^A webhook [^\n]*\.$") as caught:
        head_to_webhook(ledger, url)
    assert "hunter2" not in str(caught.value)
