"""The address of a ledger in PostgreSQL: what the driver needs, the schema, and what people may see of it."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote

from louver.errors import ParameterError
from louver.ledger.store import StoreError

# Only where the address does not say: a server that went away is noticed within a minute and not after hours.
_NETWORK = {"connect_timeout": 10, "keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3}


def parsed(address: str) -> tuple[str, str, str]:
    """Parameters for libpq, the schema, and the address without secrets.

    No error repeats a part of the address: any part may be a piece of a password that was written wrongly.
    """
    try:
        from psycopg import Error
        from psycopg.conninfo import conninfo_to_dict, make_conninfo
    except ImportError:
        raise StoreError(
            "A ledger in PostgreSQL needs psycopg; install it with: pip install 'psycopg[binary]'."
        ) from None
    url, _, name = address.partition("#")
    if name and not re.fullmatch("[a-z][a-z0-9_]{0,39}", name):
        raise ParameterError(
            "The name of a ledger, after the # of its address, begins with a small letter and has small letters, "
            "digits and _ only, 40 at most; a # before it is written %23."
        )
    malformed = ParameterError(
        "The address of a ledger in PostgreSQL is written postgresql://user@host/database, "
        "with %XX for signs that have a meaning in it."
    )
    if not url.startswith(("postgresql://", "postgres://")):
        raise malformed
    try:
        given: dict[str, Any] = conninfo_to_dict(url)
        parameters = make_conninfo("", **{**_NETWORK, **given, "client_encoding": "UTF8"})
    except Error:
        raise malformed from None
    return parameters, f"louver_{name}" if name else "louver", _shown(given, name)


def _shown(given: dict[str, Any], name: str) -> str:
    user, host, port, database = (quote(str(given.get(key, "")), safe="") for key in ("user", "host", "port", "dbname"))
    address = "postgresql://" + (f"{user}@" if user else "")
    if "%" in host:  # a socket's folder, several hosts, an IPv6 address
        address += f"/{database}?host={host}" + (f"&port={port}" if port else "")
    else:
        address += host + (f":{port}" if port else "") + f"/{database}"
    return address + (f"#{name}" if name else "")
