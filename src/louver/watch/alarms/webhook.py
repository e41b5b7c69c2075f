"""Alarms to a web server: a signed JSON body, over TLS that is checked, without following redirects."""

from __future__ import annotations

import asyncio
import socket
import ssl
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC
from email.utils import parsedate_to_datetime
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import louver
from louver.errors import ParameterError
from louver.watch.alarms.alarm import Notice
from louver.watch.alarms.signing import HEADER, sign
from louver.watch.alarms.sink import LONGEST_WAIT, LaterError, RefusedError
from louver.watch.alarms.tls import LOCAL, tls_context

AGAIN: Final = frozenset({408, 425, 429})  # the 4xx that say: not now
SHORTEST_SECRET: Final = 16


class Webhook:
    """Posts each notice to an address, which is never shown: people put tokens into it.

    `patience` is how many seconds one try may take in all.
    """

    def __init__(
        self,
        address: str,
        secret: str,
        *,
        ca: Path | None = None,
        patience: float = 10.0,
        now: Callable[[], float] = time.time,
    ) -> None:
        try:
            parts = urlsplit(address)
            self._host, self._port = parts.hostname or "", parts.port
        except ValueError:
            raise ParameterError("The address of a webhook is https://host/path.") from None
        if parts.scheme not in ("https", "http") or not self._host or not address.isascii() or " " in address:
            raise ParameterError("The address of a webhook is https://host/path.")
        if parts.username is not None:
            raise ParameterError("The address of a webhook has no user and password; its messages are signed.")
        if parts.scheme == "http" and self._host not in LOCAL:
            raise ParameterError("A webhook on another machine needs https://.")
        if len(secret) < SHORTEST_SECRET:
            raise ParameterError(f"The secret of a webhook has at least {SHORTEST_SECRET} letters.")
        self._target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        self._context = tls_context(ca) if parts.scheme == "https" else None
        self._secret, self._patience, self._now = secret, patience, now

    async def deliver(self, notice: Notice) -> None:
        connection = self._connection()
        try:
            async with asyncio.timeout(self._patience):
                status, after = await asyncio.to_thread(self._post, connection, notice)
        except TimeoutError:
            raise LaterError(f"{self._host} did not answer within {self._patience:g} seconds.") from None
        finally:
            _cut(connection)
        if status in AGAIN or status >= 500:
            raise LaterError(f"{self._host} answered with status {status}.", after)
        if 300 <= status < 400:
            raise RefusedError(f"{self._host} answered with a redirect ({status}), which is not followed.")
        if not 200 <= status < 300:
            raise RefusedError(f"{self._host} refused it with status {status}.")

    def _connection(self) -> HTTPConnection:
        if self._context is None:
            return HTTPConnection(self._host, self._port, timeout=self._patience)
        return HTTPSConnection(self._host, self._port, timeout=self._patience, context=self._context)

    def _post(self, connection: HTTPConnection, notice: Notice) -> tuple[int, float | None]:
        body = notice.line()
        headers = {
            "Content-Type": "application/json",
            "User-Agent": f"Louver/{louver.__version__}",
            "Idempotency-Key": notice.id,
            HEADER: sign(self._secret, body, int(self._now())),
        }
        try:
            connection.request("POST", self._target, body, headers)
            with connection.getresponse() as response:
                return response.status, self._wait(response.headers.get("Retry-After"))
        except ssl.SSLCertVerificationError:
            raise LaterError(
                f"The certificate of {self._host} is not signed by a known authority or is for another host."
            ) from None
        except (OSError, HTTPException):  # a time-out too
            raise LaterError(f"{self._host} cannot be reached, or broke off.") from None
        finally:
            connection.close()

    def _wait(self, written: str | None) -> float | None:
        """The seconds that a server asks for, as a number or as a date: an hour at most."""
        if written is None:
            return None
        text = written.strip()
        if text.isascii() and text.isdecimal():
            return min(float(text), LONGEST_WAIT)
        try:
            date = parsedate_to_datetime(text)
            until = (date if date.tzinfo is not None else date.replace(tzinfo=UTC)).timestamp()
        except (ValueError, TypeError, OverflowError):  # also days and years that there are not
            return None
        return min(max(until - self._now(), 0.0), LONGEST_WAIT)

    async def close(self) -> None:
        """Each notice has a connection of its own."""


def _cut(connection: HTTPConnection) -> None:
    """Ends what a thread may still be waiting for, however slowly the other side drips."""
    sock = connection.sock
    if sock is not None:
        with suppress(OSError):
            sock.shutdown(socket.SHUT_RDWR)
