"""A feed from one word, as a command line gives it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from louver.errors import ParameterError

if TYPE_CHECKING:
    from louver.sense.feeds.batch import Feed


def open_feed(source: str, **options: Any) -> Feed:
    """`mqtt://host/topic` or `mqtts://` for a broker, `-` for standard input, anything else for a file.

    Options go to `MQTT` or `Replay`. Nothing is connected or read before the first batch is asked for.
    """
    if not source.startswith(("mqtt://", "mqtts://")):
        if "://" in source:
            raise ParameterError("A feed is a file, - for standard input, or an address mqtt://host/topic.")
        from louver.sense.feeds.files import Replay

        return Replay(source, **options)
    try:
        from louver.sense.feeds.mqtt import MQTT
    except ModuleNotFoundError:
        raise ParameterError("A broker needs one more package; run: pip install 'louver[mqtt]'.") from None
    return MQTT(source, **options)
