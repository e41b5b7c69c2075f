"""Alarms: what they say, and where they go."""

from __future__ import annotations

from typing import TYPE_CHECKING

from louver.lazy import lazily

if TYPE_CHECKING:
    from louver.watch.alarms.alarm import Alarm, Closer, Notice
    from louver.watch.alarms.file import File
    from louver.watch.alarms.mail import Mail
    from louver.watch.alarms.mqtt import MQTT
    from louver.watch.alarms.settings import channels
    from louver.watch.alarms.signing import sign, verify
    from louver.watch.alarms.sink import Channel, LaterError, RefusedError, Sink
    from louver.watch.alarms.terminal import Terminal
    from louver.watch.alarms.webhook import Webhook
    from louver.watch.alarms.words import subject, text

__all__ = [
    "MQTT",
    "Alarm",
    "Channel",
    "Closer",
    "File",
    "LaterError",
    "Mail",
    "Notice",
    "RefusedError",
    "Sink",
    "Terminal",
    "Webhook",
    "channels",
    "sign",
    "subject",
    "text",
    "verify",
]
_HOMES = {
    "Alarm": "alarm",
    "Channel": "sink",
    "Closer": "alarm",
    "File": "file",
    "LaterError": "sink",
    "MQTT": "mqtt",
    "Mail": "mail",
    "Notice": "alarm",
    "RefusedError": "sink",
    "Sink": "sink",
    "Terminal": "terminal",
    "Webhook": "webhook",
    "channels": "settings",
    "sign": "signing",
    "subject": "words",
    "text": "words",
    "verify": "signing",
}
__getattr__ = lazily("louver.watch.alarms", _HOMES)


def __dir__() -> list[str]:
    return __all__
