"""The tables [alarm.NAME] of `rules.toml`: where alarms go."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final, TextIO

from louver.errors import ParameterError
from louver.source.toml import Section
from louver.watch.alarms.sink import DAY, Channel, Sink
from louver.watch.alarms.terminal import Terminal
from louver.watch.durations import duration

TERMINAL: Final = "terminal"
KINDS: Final = ("webhook", "file", "email", "mqtt")
_COMMON: Final = ("repeat", "give_up", "snooze")
_BESIDE: Final = {"webhook": ("secret_file", "ca"), "file": (), "email": (), "mqtt": ("retained",)}
_OF_AN_EMAIL: Final = ("server", "from", "to", "user", "password_file", "ca")


def channels(tables: Section | None, *, stream: TextIO | None = None) -> dict[str, Channel]:
    """Every channel by its name, with `terminal`, which is always there and writes to the stream.

    Secrets are read now, so that a missing one is noticed before the first alarm. Paths are relative to the file.
    """
    made = {TERMINAL: Channel(TERMINAL, Terminal(stream))}
    for name in [] if tables is None else tables.names():
        made[name] = _channel(name, tables.section(name), stream)  # type: ignore[union-attr]
    return made


def _channel(name: str, given: Section, stream: TextIO | None) -> Channel:
    kinds = [kind for kind in KINDS if kind in given]
    if name == TERMINAL:
        given.allow(*_COMMON)
        kind = TERMINAL
    elif len(kinds) != 1:
        given.allow(*KINDS, *_COMMON, *(word for words in _BESIDE.values() for word in words))
        raise given.wrong(" or ".join(KINDS), "is needed, one of them: a channel goes to one place")
    else:
        kind = kinds[0]
        given.allow(kind, *_BESIDE[kind], *_COMMON)
    retained = _flag(given, "retained", False)
    repeat, give_up = _length(given, "repeat"), _length(given, "give_up")
    with given.said():
        sink = Terminal(stream) if kind == TERMINAL else _MAKERS[kind](given)
    # What is retained is a state and not a notice, so no snooze holds it back.
    snoozes = _flag(given, "snooze", not retained)
    return Channel(name, sink, repeat, DAY if give_up is None else give_up, snoozes)


def _webhook(given: Section) -> Sink:
    from louver.watch.alarms.secret_file import secret
    from louver.watch.alarms.webhook import SHORTEST_SECRET, Webhook

    address = given.needed("webhook", '"https://desk.example.org/alarms"')
    signed = secret(_path(given, given.needed("secret_file", '"hook.secret"')), shortest=SHORTEST_SECRET)
    return Webhook(address, signed, ca=_file(given, "ca"))


def _to_file(given: Section) -> Sink:
    from louver.watch.alarms.file import File

    path = _path(given, given.needed("file", '"alarms.ndjson"'))
    if not path.parent.is_dir():
        raise given.wrong("file", f"is in {path.parent}, which is no folder; make it first")
    if path.is_dir() or not os.access(path if path.exists() else path.parent, os.W_OK):
        raise given.wrong("file", f"names {path}, which cannot be written")
    return File(path)


def _email(given: Section) -> Sink:
    from louver.watch.alarms.mail import Mail

    inner = given.section("email")
    inner.allow(*_OF_AN_EMAIL)
    to = inner.texts("to")
    if to is None:
        raise inner.wrong("to", 'is missing; write for example to = ["desk@example.org"]')
    with inner.said():
        return Mail(
            inner.needed("server", '"smtps://mail.example.org"'),
            inner.needed("from", '"louver@example.org"'),
            to,
            user=inner.text("user"),
            password_file=_file(inner, "password_file"),
            ca=_file(inner, "ca"),
        )


def _mqtt(given: Section) -> Sink:
    try:
        from louver.watch.alarms.mqtt import MQTT
    except ModuleNotFoundError:
        raise ParameterError("A broker needs one more package; run: pip install 'louver[mqtt]'.") from None
    return MQTT(given.needed("mqtt", '"mqtt://broker/alarms"'), retained=_flag(given, "retained", False))


_MAKERS: Final = {"webhook": _webhook, "file": _to_file, "email": _email, "mqtt": _mqtt}


def _flag(given: Section, name: str, otherwise: bool) -> bool:
    found = given.raw(name)
    if found is None:
        return otherwise
    if not isinstance(found, bool):
        raise given.wrong(name, "must be true or false")
    return found


def _length(given: Section, name: str) -> int | None:
    if name not in given:
        return None
    with given.said(name):
        length = duration("It", given.raw(name))
        if length <= 0:
            raise ParameterError("It must be longer than nothing.")
        return length


def _path(given: Section, written: str) -> Path:
    return given.file.parent / written


def _file(given: Section, name: str) -> Path | None:
    written = given.text(name)
    return None if written is None else _path(given, written)
