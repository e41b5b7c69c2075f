"""Where events come from: files, standard input and MQTT brokers, as asynchronous iterators of batches.

A batch is acknowledged with `await batch.done()` once its events are stored. Reading goes no further ahead than a
bound, so a slow store slows its feed instead of filling the memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from louver.lazy import lazily

if TYPE_CHECKING:
    from louver.sense.feeds.batch import Batch, Feed
    from louver.sense.feeds.broker import Broker
    from louver.sense.feeds.files import Replay
    from louver.sense.feeds.link import Link
    from louver.sense.feeds.mqtt import MQTT
    from louver.sense.feeds.opening import open_feed
    from louver.sense.feeds.publishing import Publisher, publish

__all__ = ["MQTT", "Batch", "Broker", "Feed", "Link", "Publisher", "Replay", "open_feed", "publish"]
_HOMES = {
    "Batch": "batch",
    "Broker": "broker",
    "Feed": "batch",
    "Link": "link",
    "MQTT": "mqtt",
    "Publisher": "publishing",
    "Replay": "files",
    "open_feed": "opening",
    "publish": "publishing",
}
__getattr__ = lazily("louver.sense.feeds", _HOMES)


def __dir__() -> list[str]:
    return __all__
