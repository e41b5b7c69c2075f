"""RADIUS accounting: blocks of a detail file and records in one line."""

from __future__ import annotations

from datetime import datetime

import pytest

from louver.sense.events import Event, Rejected, microseconds
from louver.sense.formats import Radius

NINE = microseconds(datetime.fromisoformat("2026-03-02T09:00:00+00:00"))
PLACE = "00:14:22:67:89:ab"
EVENT = Event("AA-BB-CC-DD-EE-FF", PLACE, NINE)


def block(**changes: str | None) -> str:
    attributes: dict[str, str | None] = {
        "User-Name": '"ann"',
        "Acct-Status-Type": "Start",
        "NAS-IP-Address": "127.0.0.1",
        "Calling-Station-Id": '"AA-BB-CC-DD-EE-FF"',
        "Called-Station-Id": '"00-14-22-67-89-AB:campus, north"',
        "Event-Timestamp": '"Mar  2 2026 09:00:00 UTC"',
        "Timestamp": "1772442007",
    }
    attributes.update({name.replace("_", "-"): value for name, value in changes.items()})
    lines = [f"\t{name} = {value}" for name, value in attributes.items() if value is not None]
    return "\n".join(["Mon Mar  2 10:00:03 2026", *lines, "", ""])


@pytest.mark.parametrize("status", ["Start", "Interim-Update", "Alive", "1", "3"])
def test_a_start_and_an_update_are_events(status: str) -> None:
    assert Radius()(block(Acct_Status_Type=status)) == [EVENT]


@pytest.mark.parametrize("status", ["Stop", "2"])
def test_the_end_of_a_session_is_no_event_and_is_counted(status: str) -> None:
    assert Radius()(block(Acct_Status_Type=status)) == [Rejected("a departure")]


@pytest.mark.parametrize("status", ["Accounting-On", "Accounting-Off", "Failed", "", None])
def test_other_records_are_counted(status: str | None) -> None:
    assert Radius()(block(Acct_Status_Type=status)) == [Rejected("unknown message")]


def test_blocks_stand_apart_by_an_empty_line() -> None:
    assert Radius()(block() + block(Acct_Status_Type="Stop") + "\n" + block()) == [
        EVENT,
        Rejected("a departure"),
        EVENT,
    ]
    assert Radius()(block().replace("\n", "\r\n") + block().replace("\n", "\r\n")) == [EVENT] * 2


@pytest.mark.parametrize(
    "line",
    [
        (
            'Acct-Status-Type = Start, Calling-Station-Id = "AA-BB-CC-DD-EE-FF", '
            'Called-Station-Id = "00-14-22-67-89-AB:x", Event-Timestamp = "Mar  2 2026 09:00:00 UTC"'
        ),
        (
            "Acct-Status-Type=Start Calling-Station-Id=AA-BB-CC-DD-EE-FF Called-Station-Id=00:14:22:67:89:ab:x "
            "Event-Timestamp=1772442000"
        ),
        "Acct-Status-Type=3;Calling-Station-Id=AA-BB-CC-DD-EE-FF;Called-Station-Id=001422-6789ab;Timestamp=1772442000",
        (
            "Acct-Status-Type=3,Calling-Station-Id='AA-BB-CC-DD-EE-FF',Called-Station-Id=00142267.89ab,"
            "Event-Timestamp='2026-03-02T10:00:00+01:00'"
        ),
    ],
)
def test_a_record_may_be_one_line(line: str) -> None:
    assert Radius()(line) == [EVENT]
    assert Radius()(f"{line}\n{line}\n") == [EVENT] * 2


def test_the_time_is_when_it_happened_and_not_when_it_was_written() -> None:
    assert Radius()(block(Event_Timestamp=None, Acct_Delay_Time="7")) == [EVENT]
    assert Radius()(block(Event_Timestamp=None, Timestamp=None).replace("10:00:03", "09:00:00")) == [EVENT]
    assert Radius("Europe/Vienna")(block(Event_Timestamp='"Mar  2 2026 10:00:00 CET"')) == [EVENT]
    assert Radius()(block(Event_Timestamp='"soon"')) == [Rejected("no time")]


def test_the_place_is_the_access_point_without_the_network() -> None:
    assert Radius()(block(Called_Station_Id='"lobby-ap"'))[0].place == "lobby-ap"  # type: ignore[union-attr]
    assert Radius()(block(Called_Station_Id=None, NAS_Identifier='"ap-9"'))[0].place == "ap-9"  # type: ignore[union-attr]
    assert Radius()(block(Called_Station_Id=None)) == [Rejected("no place")]


def test_a_record_without_a_device_is_rejected() -> None:
    assert Radius()(block(Calling_Station_Id=None)) == [Rejected("no device")]
    assert Radius()(block(Calling_Station_Id='"' + "x" * 300 + '"')) == [Rejected("too long")]
    assert Radius()("nothing like it") == [Rejected("unknown format")]
    assert Radius()("Acct-Status-Type = Start " + "x" * 20_000) == [Rejected("too long")]
