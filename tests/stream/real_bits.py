"""Bits that can be had again: for runs that must draw the same noise."""

from __future__ import annotations

import random

from louver.noise import Bits


def seeded(seed: int) -> Bits:
    return Bits._from(random.Random(seed).randbytes)
