"""The signature of a webhook: `t=<seconds>,v1=<hex>`, HMAC-SHA256 over the time, a dot and the body.

The time is signed too, so that nobody can send an old alarm again later.
"""

from __future__ import annotations

import hashlib
import hmac
import time

HEADER = "Louver-Signature"
TOLERANCE = 300  # seconds that clocks may differ and a message may travel


def sign(secret: str, body: bytes, seconds: int) -> str:
    """The header for a body sent at this time, in seconds since 1970.

    >>> sign("a secret of sixteen letters", b"{}", 1_514_764_800)[:19]
    't=1514764800,v1=d3a'
    """
    return f"t={seconds},v1={_digest(secret, body, str(seconds))}"


def verify(secret: str, header: str, body: bytes, *, now: float | None = None, tolerance: float = TOLERANCE) -> bool:
    """Whether whoever has the secret signed this body, not longer ago than the tolerance. For receivers.

    >>> header = sign("a secret of sixteen letters", b"{}", 1_514_764_800)
    >>> verify("a secret of sixteen letters", header, b"{}", now=1_514_764_810)
    True
    >>> verify("a secret of sixteen letters", header, b"{ }", now=1_514_764_810)
    False
    """
    parts = [part.strip().partition("=") for part in header.split(",")]
    times = [value for name, _, value in parts if name == "t"]
    if len(times) != 1 or not times[0].isascii() or not times[0].isdecimal() or len(times[0]) > 15:
        return False
    if abs((time.time() if now is None else now) - int(times[0])) > tolerance:
        return False
    expected = _digest(secret, body, times[0]).encode()
    return any(hmac.compare_digest(expected, value.encode()) for name, _, value in parts if name == "v1")


def _digest(secret: str, body: bytes, seconds: str) -> str:
    return hmac.new(secret.encode(), f"{seconds}.".encode() + body, hashlib.sha256).hexdigest()
