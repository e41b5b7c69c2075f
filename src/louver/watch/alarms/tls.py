"""What TLS must prove, and where it may be left out."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Final

from louver.errors import AccessError

LOCAL: Final = ("localhost", "127.0.0.1", "::1")  # this machine, where nothing goes over a network


def tls_context(ca: Path | None) -> ssl.SSLContext:
    """The other side's certificate is checked, against the system's authorities or those in the file."""
    try:
        return ssl.create_default_context(cafile=ca)
    except (OSError, ValueError):
        raise AccessError(f"The certificates in {ca} cannot be read.") from None
