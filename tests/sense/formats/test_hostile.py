"""Whatever a message is, a format names what is wrong with it; it raises nothing and repeats nothing."""

from __future__ import annotations

import json
import random
import struct
from collections import Counter
from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from louver.sense.events import FAULTS, Event, Rejected
from louver.sense.formats import (
    CSV,
    GENERIC,
    METERS,
    NDJSON,
    SENSORS,
    TAPS,
    Cells,
    Compact,
    Format,
    Radius,
    Syslog,
    crowd,
    pack,
)
from tests.sense.formats.malformed import GOOD, KINDS, malformed

NOW = 1_772_442_000_000_000
CELLS = Cells(16.2, 48.1, 16.6, 48.4, 10, 10)
EVERY: list[Format] = [
    NDJSON(),
    NDJSON(GENERIC),
    NDJSON(METERS),
    NDJSON(SENSORS),
    NDJSON(TAPS),
    NDJSON(crowd(CELLS)),
    CSV(),
    CSV(columns=("device", "place", "time")),
    Compact(),
    Syslog(),
    Radius(),
]


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_malformed_message_has_its_name(kind: str) -> None:
    fault, make = KINDS[kind]
    for seed in range(20):
        assert NDJSON()(make(random.Random(seed))) == [Rejected(fault)]


def test_ten_thousand_malformed_messages_are_counted_and_named_and_nothing_stops() -> None:
    expected: Counter[str] = Counter()
    found: Counter[str] = Counter()
    for message, fault in malformed(10_000, seed=7):
        expected[fault] += 1
        for each in NDJSON()(message):
            assert isinstance(each, Rejected)
            found[each.kind] += 1
    assert found == expected
    assert found.total() == 10_000
    assert len(found) > 10


@pytest.mark.parametrize("reader", EVERY, ids=repr)
def test_no_format_raises_whatever_comes(reader: Format) -> None:
    for message, _ in malformed(600, seed=8):
        outcomes = reader(message, NOW)
        assert outcomes
        assert all(isinstance(each, Rejected) and each.kind in FAULTS for each in outcomes)


@pytest.mark.parametrize("reader", EVERY, ids=repr)
@given(message=st.one_of(st.binary(max_size=300), st.text(max_size=300)))
def test_no_format_raises_on_any_bytes_or_text(reader: Format, message: bytes | str) -> None:
    assert all(isinstance(each, Event | Rejected) for each in reader(message, NOW))


def test_the_good_message_that_the_malformed_ones_are_made_of_is_good() -> None:
    assert NDJSON()(json.dumps(GOOD)) == [Event(GOOD["device"], GOOD["place"], NOW)]


def test_a_rejection_has_room_for_its_name_only() -> None:
    assert [field.name for field in fields(Rejected)] == ["kind"]


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ("NaN", "no number"),
        ("inf", "no number"),
        ("1e400", "no number"),
        ("1_000", "no number"),
        ("٣", "no number"),
        ("", "no value"),
        ("9" * 65, "too long"),
        (True, "a wrong type"),
        ([], "a wrong type"),
        (10**400, "no number"),
        (1e300, "no number"),
        (None, "no value"),
    ],
)
def test_a_value_that_is_no_number_is_rejected(value: object, fault: str) -> None:
    record = {"unit": "u", "place": "p", "time": GOOD["time"], "value": value}
    assert NDJSON(GENERIC)(json.dumps(record)) == [Rejected(fault)]


def test_one_stray_quote_costs_one_line() -> None:
    outcomes = CSV()(f'device,place,time\n"a,ap,{GOOD["time"]}\nb,ap,{GOOD["time"]}\n')
    assert outcomes == [Rejected("unknown format"), Event("b", "ap", NOW)]


@pytest.mark.parametrize(
    "damage",
    [
        lambda good: good[:-1],
        lambda good: good + b"x",
        lambda good: good[:4],
        lambda good: good[:4] + b"\2" + good[5:],
        lambda good: good[:5] + struct.pack("<III", 2**32 - 1, 1, 1) + good[17:],
        lambda good: good[:5] + struct.pack("<III", 1, 2**32 - 1, 1) + good[17:],
        lambda good: good[:5] + struct.pack("<III", 1, 1, 2**32 - 1) + good[17:],
        lambda good: good[:17] + b"\xff" + good[18:],
        lambda good: good[:-14] + struct.pack("<I", 9) + good[-10:],
        lambda good: good[:-10] + struct.pack("<H", 9) + good[-8:],
    ],
)
def test_a_packed_message_whose_parts_do_not_fit_has_no_events(damage) -> None:  # type: ignore[no-untyped-def]
    assert Compact()(damage(pack([Event("d", "p", NOW)]))) == [Rejected("unknown format")]


def test_a_packed_time_or_value_or_name_is_checked_as_any_other() -> None:
    good = pack([Event("d", "p", NOW, 1.0)])
    assert Compact()(good[:-8] + struct.pack("<d", float("nan"))) == [Rejected("no number")]
    assert Compact()(good[:-16] + struct.pack("<qd", 5, 1.0)) == [Rejected("time out of range")]
    assert Compact()(good.replace(b"\1d", b"\1\xff")) == [Rejected("not text")]
    assert Compact()(good.replace(b"\1d", b"\1 ")) == [Rejected("no device")]


LONG = 8_000
TIRING = [
    '"' + '\\"' * (LONG // 2),
    "{" + '"' * LONG,
    "Acct-Status-Type=" + "a" * LONG,
    "a" * LONG,
    "a-" * (LONG // 2),
    "Acct-Status-Type = Start, " + 'x = "' * (LONG // 5),
    "Mar  2 09:00:00 h STA " + "aa:" * (LONG // 3) + " IEEE 802.11: associated",
    "Mar " * (LONG // 4),
    "CEF:0|Ubiquiti|x|x|400|WiFi Client Connected|1|" + "UNIFIa=" * (LONG // 7),
    "CEF:0|Ubiquiti|x|x|400|WiFi Client Connected|1|" + "UNIFIa= " * (LONG // 8),
    "User Authentication Successful MAC=aa:bb:cc:dd:ee:ff " + " AP" * (LONG // 3),
    "%CLIENT_ORCH_LOG- " + "MAC: aa:bb:cc:dd:ee:ff, IP " * (LONG // 27),
    "Assoc success: " * (LONG // 15),
    "joined with ssid (" * (LONG // 18) + "CLIENT_ADDED_TO_RUN_STATE",
    "\n" * LONG,
    "a = b\n" * (LONG // 6),
]


@pytest.mark.parametrize("reader", EVERY, ids=repr)
@pytest.mark.parametrize("text", TIRING)
def test_no_text_makes_a_format_slow(reader: Format, text: str) -> None:
    """A pattern that took the square of the length would take minutes for these and stop the run."""
    outcomes = reader("\n".join([text] * 20), NOW)
    assert not any(isinstance(each, Event) for each in outcomes)
