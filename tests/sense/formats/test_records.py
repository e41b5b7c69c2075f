"""JSON, CSV, compact and packed payloads, with declared fields."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from louver.errors import ParameterError
from louver.sense.events import Event, Rejected
from louver.sense.formats import CSV, GENERIC, METERS, NDJSON, TAPS, Cells, Compact, Fields, crowd, named, pack
from louver.sense.formats.times import EARLIEST, LATEST

NINE = 1_772_442_000_000_000  # 2 March 2026, 09:00 UTC
EVENT = Event("a", "ap", NINE)

printable = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=60)
times = st.integers(EARLIEST, LATEST - 1)


def record(**changes: object) -> dict[str, object]:
    return {"device": "a", "place": "ap", "time": "2026-03-02T09:00:00Z"} | changes


def test_lines_objects_and_arrays_are_read_alike() -> None:
    one = json.dumps(record())
    assert NDJSON()(one) == [EVENT]
    assert NDJSON()(f"{one}\n{one}\r\n\n{one}".encode()) == [EVENT] * 3
    assert NDJSON()(f"[{one}, {one}]") == [EVENT] * 2
    assert NDJSON()(json.dumps(record(), indent=2)) == [EVENT]
    assert NDJSON()("\ufeff" + one) == [EVENT]


def test_a_bad_line_does_not_spoil_its_neighbours() -> None:
    one = json.dumps(record())
    assert NDJSON()(f'{{"device": \n{one}\nnothing\n{one}') == [
        Rejected("not JSON"),
        EVENT,
        Rejected("not JSON"),
        EVENT,
    ]


def test_fields_have_the_names_that_were_declared() -> None:
    fields = Fields(device="client.mac", place="ap name", time="at", clock="ms")
    message = {"client": {"mac": "a"}, "ap name": "ap", "at": NINE // 1000, "device": "other"}
    assert NDJSON(fields)(json.dumps(message)) == [EVENT]
    assert NDJSON(fields)(json.dumps(message | {"client": "a"})) == [Rejected("no device")]


@pytest.mark.parametrize(
    ("clock", "time"),
    [
        ("iso", "2026-03-02T09:00:00Z"),
        ("iso", "2026-03-02T10:00:00+01:00"),
        ("iso", "2026-03-02 03:30:00-05:30"),
        ("iso", "20260302T090000Z"),
        ("s", NINE // 10**6),
        ("s", NINE / 10**6),
        ("s", str(NINE // 10**6)),
        ("s", f"{NINE // 10**6}.000000"),
        ("ms", NINE // 1000),
        ("us", NINE),
        ("us", str(NINE)),
    ],
)
def test_times_are_read_by_the_declared_clock(clock: str, time: object) -> None:
    assert NDJSON(Fields(clock=clock))(json.dumps(record(time=time))) == [EVENT]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("clock", "time", "fault"),
    [
        ("s", NINE // 1000, "time out of range"),
        ("ms", NINE // 10**6, "time out of range"),
        ("us", NINE // 1000, "time out of range"),
        ("s", "2026-03-02T09:00:00Z", "no time"),
        ("s", "1e9", "no time"),
        ("s", "1_772_442_000", "no time"),
        ("s", "-5", "no time"),
        ("s", True, "a wrong type"),
        ("s", 1e300, "time out of range"),
        ("s", 10**300, "time out of range"),
        ("iso", 5, "a wrong type"),
        ("iso", "2026-03-02T23:59:60Z", "no time"),
    ],
)
def test_a_time_of_another_clock_is_rejected(clock: str, time: object, fault: str) -> None:
    assert NDJSON(Fields(clock=clock))(json.dumps(record(time=time))) == [Rejected(fault)]  # type: ignore[arg-type]


@given(times)
def test_a_fraction_of_a_second_keeps_its_microsecond(time: int) -> None:
    seconds = f"{time // 10**6}.{time % 10**6:06}"
    assert Compact()(f"a,ap,{seconds}") == [Event("a", "ap", time)]
    assert NDJSON(Fields(clock="s"))(f'{{"device":"a","place":"ap","time":{seconds}}}') == [Event("a", "ap", time)]


def test_csv_has_a_header_or_declared_columns() -> None:
    assert CSV()("place,noise,device,time\nap,x,a,2026-03-02T09:00:00Z\r\n") == [EVENT]
    declared = CSV(Fields(clock="s"), columns=("time", "device", "place"), separator=";")
    assert declared(f"{NINE // 10**6};a;ap") == [EVENT]
    assert CSV()('device,place,time\na,"ap, north ""1""",2026-03-02T09:00:00Z') == [Event("a", 'ap, north "1"', NINE)]


def test_csv_without_the_fields_has_no_events() -> None:
    assert CSV()("who,where,when\na,ap,2026-03-02T09:00:00Z") == [Rejected("unknown format")] * 2
    with pytest.raises(ParameterError, match="lack 'place'"):
        CSV(columns=("device", "time"))


def test_compact_lines_may_have_a_value() -> None:
    assert Compact()(f"a,ap,{NINE // 10**6},2.5") == [Event("a", "ap", NINE, 2.5)]
    assert Compact()("a,ap") == [Rejected("a missing field")]
    assert Compact()("a,ap,1,2,3") == [Rejected("a missing field")]
    assert Compact()(f",ap,{NINE // 10**6}") == [Rejected("no device")]
    assert Compact(clock="iso")("a,ap,2026-03-02T09:00:00Z") == [EVENT]


@given(st.lists(st.tuples(printable, printable, times, st.floats(-1e15, 1e15)), min_size=1, max_size=30), st.booleans())
def test_packed_events_come_out_as_they_went_in(made: list[tuple[str, str, int, float]], valued: bool) -> None:
    events = [Event(device, place, time, value if valued else None) for device, place, time, value in made]
    assert Compact()(pack(events)) == events


def test_what_cannot_be_packed_is_refused() -> None:
    with pytest.raises(ParameterError, match="at most 255 bytes"):
        pack([Event("é" * 200, "ap", NINE)])
    with pytest.raises(ParameterError, match="all events"):
        pack([EVENT, Event("a", "ap", NINE, 1.0)])
    with pytest.raises(ParameterError, match="At most 50,000"):
        pack([EVENT] * 50_001)
    assert Compact()(pack([])) == [Rejected("empty")]


def test_a_meter_is_its_own_place() -> None:
    message = {"meter": 4711, "time": "2026-03-02T09:00:00Z", "reading": 12.5}
    assert NDJSON(METERS)(json.dumps(message)) == [Event("4711", "4711", NINE, 12.5)]


def test_a_reading_without_its_value_is_rejected() -> None:
    message = {"unit": "u", "place": "p", "time": "2026-03-02T09:00:00Z"}
    assert NDJSON(GENERIC)(json.dumps(message)) == [Rejected("no value")]
    assert NDJSON(GENERIC)(json.dumps(message | {"value": "3.5"})) == [Event("u", "p", NINE, 3.5)]


def test_taps_have_words() -> None:
    message = {"card": "c", "stop": "s", "time": "2026-03-02T09:00:00Z"}
    read = NDJSON(TAPS)
    assert read(json.dumps(message | {"tap": "ON"})) == [Event("c", "s", NINE, 1.0)]
    assert read(json.dumps(message | {"tap": "exit"})) == [Event("c", "s", NINE, 0.0)]
    assert read(json.dumps(message | {"tap": "hop"})) == [Rejected("no value")]
    assert read(json.dumps(message | {"tap": 1})) == [Rejected("a wrong type")]


def test_positions_become_cells() -> None:
    cells = Cells(west=16.2, south=48.1, east=16.6, north=48.4, columns=4, rows=3)
    read = NDJSON(crowd(cells))
    message = {"unit": "u", "lon": 16.25, "lat": 48.25, "time": "2026-03-02T09:00:00Z", "value": 3}
    assert read(json.dumps(message)) == [Event("u", "r1c0", NINE, 3.0, (16.25, 48.25))]
    assert "16.25" not in repr(read(json.dumps(message)))
    assert len(cells.centres()) == 12
    assert [cells.place(x, y) for x, y in cells.centres()] == cells.names()
    assert read(json.dumps(message | {"lon": 16.6})) == [Rejected("unknown place")]
    assert read(json.dumps(message | {"lat": 480})) == [Rejected("unknown place")]
    assert read(json.dumps(message | {"lat": None})) == [Rejected("no place")]
    assert read(json.dumps(message | {"lat": "north"})) == [Rejected("no number")]
    assert len(cells.names()) == 12
    assert {cells.place(16.2 + 0.1 * x, 48.1 + 0.1 * y) for x in range(4) for y in range(3)} <= set(cells.names())


@given(st.floats(0, 1, exclude_max=True), st.floats(0, 1, exclude_max=True))
def test_every_position_inside_has_a_cell_of_the_list(x: float, y: float) -> None:
    cells = Cells(0, 0, 1, 1, 7, 3)
    assert cells.place(x, y) in cells.names()


def test_formats_are_found_by_name() -> None:
    assert named("ndjson", fields="meters") == NDJSON(METERS)
    assert named("compact") == Compact()
    with pytest.raises(ParameterError, match="did you mean 'syslog'"):
        named("sylog")
    with pytest.raises(ParameterError, match="did you mean 'meters'"):
        named("csv", fields="meter")


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Fields(clock="minutes"),  # type: ignore[arg-type]
        lambda: Fields(place=("lon", "lat")),
        lambda: Fields(cells=Cells(0, 0, 1, 1, 1, 1)),
        lambda: Fields(words={"on": 1}),
        lambda: Cells(1, 0, 0, 1, 1, 1),
        lambda: Cells(0, 0, 1, 1, 0, 1),
        lambda: CSV(separator=",,"),
        lambda: Compact(clock="h"),  # type: ignore[arg-type]
    ],
)
def test_what_cannot_be_declared_is_refused(wrong) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ParameterError, match=r"\.$|value=\.\.\."):
        wrong()
