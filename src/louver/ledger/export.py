"""The head out of the ledger's folder: to a file, to a webhook, or printed; and all entries to a file.

A head that is kept elsewhere proves later that nothing before it was cut off or rewritten, also by somebody with the
key. So a file that holds a head is replaced only by a ledger that leads to that head.
"""

from __future__ import annotations

import ipaddress
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPException
from pathlib import Path
from typing import IO, Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

from louver import __version__
from louver.errors import LedgerError, ParameterError
from louver.ledger.ledger import Ledger
from louver.ledger.model import Head

TIMEOUT = 10.0  # seconds


def current_head(ledger: Ledger) -> Head:
    """The head, unless the ledger may be an older copy: that must not pass for the newest."""
    doubt = ledger.doubt()
    if doubt is not None:
        raise LedgerError(f"No head of {ledger.address} is exported, because {doubt}; run louver ledger recover first.")
    return ledger.head()


def head_to_file(ledger: Ledger, path: str | Path) -> Head:
    """Write the head, in place of an older one of this ledger and of nothing else."""
    head, target = current_head(ledger), Path(path)
    for before in _kept_heads(target):
        _check_leads_to(ledger, before, f"the head in {target}")
    with _replacing(target, 0o644) as file:
        file.write(json.dumps(head.to_dict()) + "\n")
    return head


def head_to_webhook(ledger: Ledger, url: str, timeout: float = TIMEOUT) -> Head:
    """Send the head as JSON with one POST; any answer but success is an error."""
    address = _checked(url)
    head = current_head(ledger)
    request = Request(  # noqa: S310 the scheme was checked
        url,
        data=json.dumps(head.to_dict()).encode("ascii"),
        headers={"Content-Type": "application/json", "User-Agent": f"louver/{__version__}"},
        method="POST",
    )
    proxies = [ProxyHandler({})] if address.startswith("http:") else []
    try:
        with build_opener(_NoRedirect, *proxies).open(request, timeout=timeout):
            return head
    except HTTPError as answer:
        answer.close()
        moved = "; give the address it leads to" if 300 <= answer.code < 400 else ""
        reason = f"it answered {answer.code}{moved}"
    except (HTTPException, UnicodeError, ValueError):
        reason = "it gave no answer that a web server gives"
    except (URLError, OSError) as fault:
        reason = _reason(getattr(fault, "reason", fault), timeout)
    raise LedgerError(f"The head did not reach {address}: {reason}.")


def entries_to_file(ledger: Ledger, path: str | Path) -> int:
    """Write all entries as JSON lines, in place of older ones of this ledger; returns how many."""
    target, count = Path(path), 0
    before = _last_kept_entry(target)
    if before is not None:
        _check_leads_to(ledger, before, f"the last entry in {target}")
    with _replacing(target, 0o600) as file:
        for entry in ledger.entries():
            file.write(json.dumps(entry.to_dict()) + "\n")
            count += 1
    return count


def read_heads(lines: Iterable[str], dataset: str, where: str) -> list[Head]:
    """Exported heads of one data set: one, or one a line, also as `louver ledger export --json` prints them."""
    listed = list(lines)
    try:
        plain = [json.loads("\n".join(listed))]
    except ValueError:
        try:
            plain = [json.loads(line) for line in listed if line.strip()]
        except ValueError:
            raise LedgerError(f"{where} holds no exported head; make one with: louver ledger export.") from None
    heads = [Head.from_dict(each["head"] if isinstance(each, dict) and "head" in each else each) for each in plain]
    if not heads:
        raise LedgerError(f"{where} holds no exported head; make one with: louver ledger export.")
    for head in heads:
        if head.dataset != dataset:
            raise LedgerError(f"{where} holds a head of the data set {head.dataset!r}, and not of {dataset!r}.")
    return heads


def _kept_heads(target: Path) -> list[Head]:
    """What a file already holds; refused when it is something else."""
    kept = _kept(target)
    if kept is None:
        return []
    try:
        return [Head.from_dict(json.loads(kept))]
    except (ValueError, ParameterError):
        raise LedgerError(f"{target} is there and holds no head of a ledger; choose another file.") from None


def _last_kept_entry(target: Path) -> Head | None:
    kept = _kept(target)
    if kept is None:
        return None
    try:
        first, last = (json.loads(kept.splitlines()[place]) for place in (0, -1))
        return Head(first["body"]["dataset"], last["epoch"], last["number"], last["link"])
    except (ValueError, KeyError, TypeError, IndexError):
        raise LedgerError(f"{target} is there and holds no entries of a ledger; choose another file.") from None


def _kept(target: Path) -> str | None:
    try:
        return target.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        return ""
    except (OSError, ValueError) as fault:
        raise LedgerError(f"{target} cannot be read: {_system(fault)}.") from None


def _check_leads_to(ledger: Ledger, before: Head, what: str) -> None:
    if before.dataset != ledger.dataset:
        raise LedgerError(f"{what.capitalize()} is of the data set {before.dataset!r}; choose another file.")
    entry = next(ledger.entries(before.number - 1), None)
    if entry is None:
        raise LedgerError(
            f"The ledger {ledger.address} ends before {what}, which is of entry {before.number}: "
            "it is an older copy, or was cut off. The file was left as it is."
        )
    if entry.link != before.link:
        raise LedgerError(
            f"The ledger {ledger.address} does not lead to {what}: its entry {before.number} is another one. "
            "The file was left as it is."
        )


@contextmanager
def _replacing(target: Path, mode: int) -> Iterator[IO[str]]:
    """A file that takes the name of the old one when it is complete and on disk, or not at all."""
    aside = target.with_name(f".{target.name}.{os.getpid()}.new")
    try:
        number = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
        try:
            with os.fdopen(number, "w", encoding="ascii") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            aside.replace(target)
        finally:
            with suppress(OSError):
                aside.unlink(missing_ok=True)
    except (OSError, ValueError) as fault:
        raise LedgerError(f"{target} cannot be written: {_system(fault)}.") from None


def _checked(url: str) -> str:
    """The scheme and host of a webhook, which is all that errors may show: the rest may be a secret."""
    malformed = ParameterError("A webhook is written https://host/path, with no name or password before the host.")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise malformed from None
    if parts.scheme not in ("http", "https") or not host or "@" in parts.netloc or not url.isprintable() or " " in url:
        raise malformed
    if parts.scheme == "http" and not _is_loopback(host):
        raise ParameterError("A webhook on another machine needs https, so that nobody on the way can change the head.")
    shown = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{shown}" + (f":{port}" if port else "")


def _is_loopback(host: str) -> bool:
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost"


class _NoRedirect(HTTPRedirectHandler):
    """A head goes where it was sent and nowhere else."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _reason(fault: object, timeout: float) -> str:
    if isinstance(fault, TimeoutError):
        return f"no answer came within {timeout:g} seconds"
    if "CERTIFICATE_VERIFY_FAILED" in str(fault):
        return "its certificate is not one that this machine trusts"
    return _system(fault)


def _system(fault: object) -> str:
    """What the operating system said, without anything that was sent."""
    return getattr(fault, "strerror", None) or "the operating system gave no reason"
