"""How often a costly test tries: a little in each run, thoroughly with `script/test --all`."""

from __future__ import annotations

import os

THOROUGH = os.environ.get("LOUVER_THOROUGH") == "1"


def often(usually: int, thoroughly: int) -> int:
    return thoroughly if THOROUGH else usually
