"""How a live feed stands with whoever sends: whether it is there, and whether it missed something."""

from __future__ import annotations

from typing import NamedTuple


class Link(NamedTuple):
    """What a feed knows of its connection; none of it depends on how many events come.

    `connections` counts those that were made, and `losses` those of them that began without what was sent since the
    one before. `session` names what the other side keeps for this feed while it is away; it is empty where nothing is
    kept. `heartbeats` counts signs of life of the sensors. `heard` is the time, by `time.monotonic`, of which is proven
    that everything sent before it came and was taken; None where a feed proves no such thing.
    """

    connected: bool
    connections: int = 1
    losses: int = 1
    session: str = ""
    heartbeats: int = 0
    heard: float | None = None
