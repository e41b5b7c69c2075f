"""Alarms as e-mail in plain text, over a connection that is encrypted and checked."""

from __future__ import annotations

import asyncio
import hashlib
import os
import smtplib
import socket
import ssl
from collections.abc import Mapping, Sequence
from contextlib import suppress
from email.message import EmailMessage
from email.utils import formatdate
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from louver.errors import ParameterError
from louver.watch.alarms.alarm import Notice
from louver.watch.alarms.digest import digest, digest_subject
from louver.watch.alarms.secret_file import secret
from louver.watch.alarms.sink import LaterError, RefusedError
from louver.watch.alarms.tls import LOCAL, tls_context
from louver.watch.alarms.words import subject, text

PASSWORD: Final = "LOUVER_SMTP_PASSWORD"  # noqa: S105 the name of a variable
PERMANENT: Final = 500  # replies from here on are final


class Mail:
    """Sends through a server: `smtp://host[:587]`, which must offer STARTTLS, or `smtps://host[:465]`.

    A server on this machine may do without TLS. The password is in a file that only its owner can read, or in
    LOUVER_SMTP_PASSWORD.
    """

    def __init__(
        self,
        server: str,
        sender: str,
        to: Sequence[str],
        *,
        user: str | None = None,
        password_file: Path | None = None,
        ca: Path | None = None,
        patience: float = 30.0,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        try:
            parts = urlsplit(server)
            self._host, port = parts.hostname or "", parts.port
        except ValueError:
            raise ParameterError("A mail server is smtp://host or smtps://host.") from None
        if parts.scheme not in ("smtp", "smtps") or not self._host or parts.path not in ("", "/"):
            raise ParameterError("A mail server is smtp://host or smtps://host.")
        if parts.username is not None:
            raise ParameterError("A mail server's user goes into user, and the password into password_file.")
        for address in (sender, *to):
            _check_address(address)
        if not to:
            raise ParameterError("An e-mail needs somebody to go to.")
        given = os.environ if environment is None else environment
        self._wrapped = parts.scheme == "smtps"
        self._port = port or (465 if self._wrapped else 587)
        self._sender, self._to = sender, list(to)
        self._user = user
        self._password = secret(password_file) if password_file is not None else given.get(PASSWORD)
        if user is not None and self._password is None:
            raise ParameterError(f"The mail server's user needs a password; name password_file, or set {PASSWORD}.")
        self._context, self._patience = tls_context(ca), patience

    async def deliver(self, notice: Notice) -> str | None:
        return await self._delivered(self._message(notice.id, subject(notice), text(notice)))

    async def deliver_many(self, notices: Sequence[Notice]) -> str | None:
        # The same for the same notices, whenever they are sent again.
        ids = hashlib.sha256("\n".join(each.id for each in notices).encode()).hexdigest()[:32]
        return await self._delivered(self._message(ids, digest_subject(notices), digest(notices)))

    async def _delivered(self, message: EmailMessage) -> str | None:
        opened: list[smtplib.SMTP] = []
        try:
            async with asyncio.timeout(self._patience):
                refused = await asyncio.to_thread(self._send, message, opened)
        except TimeoutError:
            raise LaterError(f"{self._host} did not take it within {self._patience:g} seconds.") from None
        finally:
            for smtp in opened:
                _cut(smtp)
        if not refused:
            return None
        return f"{self._host} took the e-mail, but not for {refused} of its {len(self._to)} addresses."

    def _send(self, message: EmailMessage, opened: list[smtplib.SMTP]) -> int:
        """How many of the addresses were refused."""
        try:
            with self._connected() as smtp:
                opened.append(smtp)
                smtp.ehlo_or_helo_if_needed()
                if not self._wrapped and (smtp.has_extn("starttls") or self._host not in LOCAL):
                    smtp.starttls(context=self._context)
                if self._user is not None:
                    smtp.login(self._user, self._password or "")
                return len(smtp.send_message(message, self._sender, self._to))
        except smtplib.SMTPNotSupportedError:
            raise RefusedError(f"{self._host} offers no STARTTLS, or no way to sign in.") from None
        except smtplib.SMTPRecipientsRefused as fault:
            raise _failure(self._host, min(code for code, _ in fault.recipients.values())) from None
        except smtplib.SMTPConnectError:
            raise LaterError(f"{self._host} takes no mail now.") from None
        except smtplib.SMTPResponseException as fault:
            raise _failure(self._host, fault.smtp_code) from None
        except ssl.SSLCertVerificationError:
            raise LaterError(
                f"The certificate of {self._host} is not signed by a known authority or is for another host."
            ) from None
        except (OSError, smtplib.SMTPException):
            raise LaterError(f"{self._host} cannot be reached, or broke off.") from None

    def _connected(self) -> smtplib.SMTP:
        if self._wrapped:
            return smtplib.SMTP_SSL(self._host, self._port, timeout=self._patience, context=self._context)
        return smtplib.SMTP(self._host, self._port, timeout=self._patience)

    def _message(self, name: str, headline: str, said: str) -> EmailMessage:
        message = EmailMessage()
        message["From"], message["To"] = self._sender, ", ".join(self._to)
        message["Subject"] = headline
        message["Date"] = formatdate()
        # The same whenever it is sent again, so that a mailbox can tell.
        message["Message-ID"] = f"<{name}@{self._sender.rpartition('@')[2]}>"
        message["Auto-Submitted"] = "auto-generated"
        message.set_content(said + "\n")
        return message

    async def close(self) -> None:
        """Each notice has a connection of its own."""


def _failure(host: str, code: int) -> LaterError | RefusedError:
    kind = RefusedError if code >= PERMANENT else LaterError
    return kind(f"{host} answered the e-mail with {code}.")


def _check_address(address: str) -> None:
    name, at, domain = address.rpartition("@")
    if not (name and at and domain) or not address.isprintable() or any(sign in address for sign in ' ,;<>"'):
        raise ParameterError(f"{address[:80]!r} is no e-mail address; write it like desk@example.org.")


def _cut(smtp: smtplib.SMTP) -> None:
    """Ends what a thread may still be waiting for, however slowly the other side drips."""
    sock = smtp.sock
    if sock is not None:
        with suppress(OSError):
            sock.shutdown(socket.SHUT_RDWR)
