"""The keyed hash chain: each entry's link is a MAC over the link before it and everything the entry says.

Without the key nobody can change, add, drop or reorder entries so that the links fit again. With the key one could
rewrite everything; a head exported before that shows it. Cutting entries off the end leaves a valid chain, so only a
head or the witness shows it.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from louver.ledger.model import Entry

START = "0" * 64


def link(key: bytes, previous: str, number: int, epoch: int, at: str, who: str, act: str, body: str) -> str:
    said = json.dumps([previous, number, epoch, at, who, act, body], ensure_ascii=True, separators=(",", ":"))
    return hmac.new(key, said.encode("ascii"), hashlib.sha256).hexdigest()


def link_of(key: bytes, previous: str, entry: Entry) -> str:
    return link(key, previous, entry.number, entry.epoch, entry.at, entry.who, entry.act, written(entry.body))


def same(one: str, other: str) -> bool:
    """Whether two links are equal, compared in constant time, whatever texts they are."""
    first, second = (text.encode("utf-8", "surrogatepass") for text in (one, other))
    return hmac.compare_digest(first, second)


def written(body: Mapping[str, Any]) -> str:
    """A body as it is stored: the same text for equal bodies."""
    return json.dumps(body, sort_keys=True, ensure_ascii=True, separators=(",", ":"))


def digest(plain: object) -> str:
    return hashlib.sha256(json.dumps(plain, sort_keys=True, separators=(",", ":")).encode("utf-8")).hexdigest()


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
