"""A feed from one word, as a command line gives it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from louver.errors import ParameterError
from louver.sense.formats.names import named, named_fields

if TYPE_CHECKING:
    from louver.sense.feeds.batch import Feed


def open_feed(source: str, **options: Any) -> Feed:
    """`mqtt://host/topic` or `mqtts://` for a broker, `-` for standard input, anything else for a file.

    Options go to `MQTT` or `Replay`; `fields` may be the name of usual ones, for both. Nothing is connected or read
    before the first batch is asked for.
    """
    fields = options.pop("fields", None)
    if isinstance(fields, str):
        fields = named_fields(fields)
    if not source.startswith(("mqtt://", "mqtts://")):
        if "://" in source:
            raise ParameterError("A feed is a file, - for standard input, or an address mqtt://host/topic.")
        from louver.sense.feeds.files import Replay

        return Replay(source, **options, **({} if fields is None else {"fields": fields}))
    try:
        from louver.sense.feeds.mqtt import MQTT
    except ModuleNotFoundError:
        raise ParameterError("A broker needs one more package; run: pip install 'louver[mqtt]'.") from None
    written = options.pop("format", "ndjson")
    if isinstance(written, str) and fields is not None:
        written = named(written, fields=fields)
    return MQTT(source, format=written, **options)
