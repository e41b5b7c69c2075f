"""Small real servers on this machine: one takes webhooks, one takes mail."""

from __future__ import annotations

import base64
import email
import email.policy
import socketserver
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Request:
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Hook:
    """What came, and what to answer: status and headers one after the other, the last one from then on."""

    port: int = 0
    answers: list[tuple[int, dict[str, str]]] = field(default_factory=lambda: [(200, {})])
    got: list[Request] = field(default_factory=list)
    hang: threading.Event | None = None
    drop: bool = False

    def url(self, scheme: str = "http") -> str:
        return f"{scheme}://127.0.0.1:{self.port}/alarms?desk=7"


@contextmanager
def hook(tls: ssl.SSLContext | None = None) -> Iterator[Hook]:
    kept = Hook()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            kept.got.append(Request(self.path, dict(self.headers.items()), body))
            if kept.drop:
                return
            if kept.hang is not None:
                self.wfile.write(b"HTTP/1.1 2")
                kept.hang.wait(30)
                return
            status, headers = kept.answers.pop(0) if len(kept.answers) > 1 else kept.answers[0]
            self.send_response(status)
            for name, value in {"Content-Length": "0", **headers}.items():
                self.send_header(name, value)
            self.end_headers()

        do_GET = do_POST  # noqa: N815 a followed redirect would come as one

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.handle_error = lambda *_: None  # type: ignore[method-assign]
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    kept.port = server.server_port
    with serving(server):
        yield kept


@dataclass
class Office:
    """A mail server: `codes` are the replies to addresses, `user` and `password` whom it lets in."""

    port: int = 0
    got: list[EmailMessage] = field(default_factory=list)
    envelopes: list[tuple[str, list[str]]] = field(default_factory=list)
    codes: dict[str, int] = field(default_factory=dict)
    data_code: int = 250
    login: tuple[str, str] | None = None
    encrypted: list[bool] = field(default_factory=list)
    hang: threading.Event | None = None


@contextmanager
def office(
    *,
    starttls: ssl.SSLContext | None = None,
    wrapped: ssl.SSLContext | None = None,
    login: tuple[str, str] | None = None,
) -> Iterator[Office]:
    kept = Office(login=login)

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            if kept.hang is not None:
                kept.hang.wait(30)
                return
            if wrapped is not None:
                self._encrypt(wrapped)
            sender, to, known = "", list[str](), kept.login is None
            self._say("220 here")
            while line := self.rfile.readline().decode().strip():
                verb, _, rest = line.partition(" ")
                verb = verb.upper()
                if verb == "EHLO":
                    offers = [*(["STARTTLS"] if starttls and not self._is_encrypted() else [])]
                    offers += ["AUTH PLAIN"] if kept.login else []
                    self._say("250-here", *(f"250-{each}" for each in offers), "250 8BITMIME")
                elif verb == "STARTTLS" and starttls is not None:
                    self._say("220 go on")
                    self._encrypt(starttls)
                elif verb == "AUTH":
                    _, user, password = base64.b64decode(rest.split()[1]).decode().split("\0")
                    known = (user, password) == kept.login
                    self._say("235 welcome" if known else "535 no")
                elif verb == "MAIL":
                    sender, to = rest, []
                    self._say("250 ok" if known else "530 sign in first")
                elif verb == "RCPT":
                    address = rest.split("<")[1].split(">")[0]
                    code = kept.codes.get(address, 250)
                    to += [address] if code == 250 else []
                    self._say(f"{code} so")
                elif verb == "DATA":
                    self._say("354 go on")
                    lines = list(iter(lambda: self.rfile.readline(), b".\r\n"))
                    if kept.data_code == 250:
                        text = b"".join(line.removeprefix(b".") if line.startswith(b"..") else line for line in lines)
                        message = email.message_from_bytes(text, policy=email.policy.default)
                        assert isinstance(message, EmailMessage)
                        kept.got.append(message)
                        kept.envelopes.append((sender, to))
                        kept.encrypted.append(self._is_encrypted())
                    self._say(f"{kept.data_code} so")
                elif verb == "QUIT":
                    self._say("221 bye")
                    return
                else:
                    self._say("250 ok" if verb in ("RSET", "NOOP") else "502 what")

        def _say(self, *lines: str) -> None:
            self.wfile.write("".join(f"{line}\r\n" for line in lines).encode())

        def _is_encrypted(self) -> bool:
            return isinstance(self.connection, ssl.SSLSocket)

        def _encrypt(self, context: ssl.SSLContext) -> None:
            self.rfile.close()
            self.connection = context.wrap_socket(self.connection, server_side=True)
            self.request = self.connection  # what the server closes at the end
            self.rfile = self.connection.makefile("rb")
            self.wfile = socketserver._SocketWriter(self.connection)  # type: ignore[attr-defined]

        def finish(self) -> None:
            super().finish()
            self.connection.close()

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True
        allow_reuse_address = True

        def handle_error(self, *_: Any) -> None:
            pass

    server = Server(("127.0.0.1", 0), Handler)
    kept.port = server.server_address[1]
    with serving(server):
        yield kept


@contextmanager
def serving(server: socketserver.BaseServer) -> Iterator[None]:
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
