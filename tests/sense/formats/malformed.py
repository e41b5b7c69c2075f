"""Messages that are no events, of many kinds, the same ones for the same seed."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from typing import Any

GOOD = {"device": "aa:bb:cc:dd:ee:ff", "place": "ap-3", "time": "2026-03-02T09:00:00Z"}


def _with(**changes: Any) -> bytes:
    return json.dumps(GOOD | changes).encode()


def _without(field: str) -> bytes:
    return json.dumps({name: value for name, value in GOOD.items() if name != field}).encode()


def _raw(field: str, text: str) -> bytes:
    """The good message with a text put in the place of one value, which need not be JSON."""
    return json.dumps(GOOD | {field: "@"}).replace('"@"', text).encode()


def _cut(source: random.Random) -> bytes:
    whole = _with()
    return whole[: source.randrange(1, len(whole) - 1)]


def _bits(source: random.Random) -> bytes:
    """Bytes that are no UTF-8: the first is a continuation."""
    return bytes([source.randrange(0x80, 0xC0)]) + source.randbytes(source.randrange(200))


KINDS: dict[str, tuple[str, Callable[[random.Random], bytes]]] = {
    "nothing": ("empty", lambda _: b""),
    "blanks": ("empty", lambda s: s.choice([b" ", b"\t", b"\n", b"\r\n"]) * s.randrange(1, 50)),
    "too many bytes": ("too long", lambda s: b"x" * ((1 << 20) + s.randrange(1, 9))),
    "a long record": ("too long", lambda s: _with(note="x" * s.randrange(1 << 14, 1 << 15))),
    "a long device": ("too long", lambda s: _with(device="x" * s.randrange(257, 5000))),
    "a long place": ("too long", lambda s: _with(place="é" * s.randrange(257, 5000))),
    "a long time": ("too long", lambda s: _with(time="2" * s.randrange(41, 5000))),
    "no UTF-8": ("not text", _bits),
    "a NUL": ("not text", lambda _: _with() + b"\0"),
    "a NUL in a device": ("not text", lambda _: _with(device="a\0b")),
    "half a surrogate pair": ("not text", lambda _: _raw("device", '"\\ud800"')),
    "a control character": ("not text", lambda s: _with(place="ap\x1b" + chr(s.randrange(1, 32)) + "3")),
    "cut short": ("not JSON", _cut),
    "words": ("not JSON", lambda s: " ".join(s.choices(["device", "ap", "time"], k=s.randrange(1, 9))).encode()),
    "single quotes": ("not JSON", lambda _: str(GOOD).encode()),
    "a comma at the end": ("not JSON", lambda _: _with()[:-1] + b",}"),
    "NaN": ("not JSON", lambda s: _raw("time", s.choice(["NaN", "Infinity", "-Infinity"]))),
    "a number of many digits": ("not JSON", lambda s: _raw("time", "9" * s.randrange(5000, 9000))),
    "two values": ("not JSON", lambda _: _with() + b" " + _with()),
    "XML": ("not JSON", lambda _: b"<event device='a'/>"),
    "deep lists": ("too deep", lambda s: _raw("note", "[" * (d := s.randrange(17, 3000)) + "]" * d)),
    "deep objects": ("too deep", lambda s: b'{"a":' * (d := s.randrange(17, 3000)) + b"1" + b"}" * d),
    "deep and open": ("too deep", lambda s: b"[" * s.randrange(17, 10_000)),
    "a list of numbers": ("not an object", lambda s: json.dumps([s.random()]).encode()),
    "a number": ("not an object", lambda s: str(s.randrange(10**9)).encode()),
    "a text": ("not an object", lambda _: b'"device"'),
    "null": ("not an object", lambda _: b"null"),
    "true": ("not an object", lambda s: s.choice([b"true", b"false"])),
    "a field twice": ("a field twice", lambda _: b'{"device": "b", ' + _with()[1:]),
    "a field twice, deeper": ("a field twice", lambda _: _raw("note", '{"a": 1, "a": 2}')),
    "no device": ("no device", lambda _: _without("device")),
    "an empty device": ("no device", lambda s: _with(device=" " * s.randrange(9))),
    "device null": ("no device", lambda _: _with(device=None)),
    "no place": ("no place", lambda _: _without("place")),
    "no time": ("no time", lambda _: _without("time")),
    "an empty list": ("empty", lambda _: b"[]"),
    "device true": ("a wrong type", lambda s: _with(device=s.choice([True, False]))),
    "device a list": ("a wrong type", lambda _: _with(device=["aa"])),
    "place an object": ("a wrong type", lambda _: _with(place={"ap": 3})),
    "device a fraction": ("a wrong type", lambda s: _with(device=s.random())),
    "time true": ("a wrong type", lambda s: _with(time=s.choice([True, False]))),
    "time a list": ("a wrong type", lambda _: _with(time=[2026, 3, 2])),
    "a huge device": ("no number", lambda s: _with(device=10 ** s.randrange(18, 400))),
    "a day that is none": ("no time", lambda s: _with(time=f"2026-02-{s.randrange(29, 99)}T09:00:00Z")),
    "an hour that is none": ("no time", lambda s: _with(time=f"2026-03-02T{s.randrange(25, 99)}:00:00Z")),
    "a time in words": ("no time", lambda _: _with(time="yesterday")),
    "no zone": ("time without a zone", lambda s: _with(time=f"2026-03-02T09:{s.randrange(10, 60)}:00")),
    "year 0": ("no time", lambda _: _with(time="0000-01-01T00:00:00Z")),
    "year 1": ("time out of range", lambda _: _with(time="0001-01-01T00:00:00+14:00")),
    "year 9999": ("time out of range", lambda _: _with(time="9999-12-31T23:59:59-14:00")),
    "before sensors": ("time out of range", lambda s: _with(time=f"19{s.randrange(10, 90)}-03-02T09:00:00Z")),
}  # fmt: skip


def malformed(count: int, seed: int) -> Iterator[tuple[bytes, str]]:
    """Messages and the names of their faults; each kind comes before any comes again."""
    source = random.Random(seed)
    kinds = list(KINDS.values())
    for number in range(count):
        if number % len(kinds) == 0:
            source.shuffle(kinds)
        fault, make = kinds[number % len(kinds)]
        yield make(source), fault
