"""How many events a second each format reads on one core, beside `json.loads` of the same events, in one run.

Run: python -m bench.feeds
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from bench.clock import seconds
from louver.sense.events import Event
from louver.sense.feeds.publishing import as_packed
from louver.sense.formats import CSV, NDJSON, Compact, Fields, Radius, Syslog

COUNT = 5_000
ROUNDS = 30
START = 1_772_442_000_000_000
RECEIVED = START + 86_400_000_000
EVENTS = [
    Event(f"aa:bb:cc:{n % 97:02x}:{n % 89:02x}:{n % 83:02x}", f"ap-{n % 64}", START + n * 50_000) for n in range(COUNT)
]


def iso(event: Event) -> str:
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=event.time)).isoformat()


def stamp(event: Event) -> str:
    return datetime.fromtimestamp(event.time // 1_000_000, UTC).strftime("%b %e %H:%M:%S")


def messages() -> dict[str, tuple[Callable[[bytes], list[object]], list[bytes]]]:
    """Each format with its messages: one event a message, or as many as the name says."""
    json_iso = [json.dumps({"device": e.device, "place": e.place, "time": iso(e)}).encode() for e in EVENTS]
    json_us = [json.dumps({"device": e.device, "place": e.place, "time": e.time}).encode() for e in EVENTS]
    lines = [f"{e.device},{e.place},{e.time}".encode() for e in EVENTS]
    syslog = [f"<30>{stamp(e)} {e.place} hostapd: wlan0: AP-STA-CONNECTED {e.device}".encode() for e in EVENTS]
    radius = [
        f'Acct-Status-Type = Start, Calling-Station-Id = "{e.device}", Called-Station-Id = "00-14-22-67-89-AB:campus", '
        f"Event-Timestamp = {e.time // 1_000_000}".encode()
        for e in EVENTS
    ]
    by_us = Fields(clock="us")
    read_syslog = Syslog()
    made: dict[str, tuple[Callable[[bytes], object], list[bytes]]] = {
        "json.loads": (json.loads, json_iso),
        "NDJSON, ISO times": (NDJSON(), json_iso),
        "NDJSON, microseconds": (NDJSON(by_us), json_us),
        "NDJSON, 1,000 lines a message": (NDJSON(), joined(json_iso)),
        "compact text": (Compact("us"), lines),
        "compact text, 1,000 lines a message": (Compact("us"), joined(lines)),
        "packed, 1,000 events a message": (Compact(), as_packed(EVENTS)),
        "CSV, 1,000 lines a message": (CSV(by_us, ("device", "place", "time")), joined(lines)),
        "syslog (hostapd)": (lambda message: read_syslog(message, RECEIVED), syslog),
        "RADIUS, one line": (Radius(), radius),
    }
    return made  # type: ignore[return-value]


def joined(lines: list[bytes]) -> list[bytes]:
    return [b"\n".join(lines[start : start + 1000]) for start in range(0, len(lines), 1000)]


def main() -> None:
    given = messages()
    loads, floor_messages = given.pop("json.loads")
    print(f"{'format':38} {'events/s':>10} {'of json.loads':>14}")
    for name, (read, own) in given.items():
        found = [each for message in own for each in read(message)]
        assert len(found) == COUNT
        assert all(isinstance(each, Event) for each in found)
        best = floor = float("inf")
        for _ in range(ROUNDS):  # in turns, so that other programs slow both alike
            floor = min(floor, seconds(lambda: run(loads, floor_messages), repeats=1))
            best = min(best, seconds(lambda read=read, own=own: run(read, own), repeats=1))  # type: ignore[misc]
        print(f"{name:38} {COUNT / best:10,.0f} {floor / best:14.2f}")


def run(read: Callable[[bytes], object], given: list[bytes]) -> None:
    for message in given:
        read(message)


if __name__ == "__main__":
    main()
