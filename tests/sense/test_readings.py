"""Readings become one value for each unit and slot, in batch and as a stream, whatever the order."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from louver.errors import DataError, ParameterError
from louver.sense import Admitted, Door, Rule, Tally
from louver.sense.readings import Readings
from louver.sense.readings_batch import ReadingsBatch
from louver.sense.readings_rows import WAYS, Combining, ReadingRows
from tests.sense.slowly import MINUTE, REGIONS

DOOR = Door(b"a salt of sixteen")
LATENESS = 3 * MINUTE
RULE = Rule(lateness=LATENESS)
Row = tuple[int, int, str, float]


class Read(NamedTuple):
    unit: int
    place: str
    time: int
    value: float


def admitted(readings: list[Read]) -> Admitted:
    if not readings:
        return Admitted.none()
    return Admitted.of(*(list(column) for column in zip(*readings, strict=True)))


def listed(rows: ReadingRows) -> list[Row]:
    columns = rows.person.tolist(), rows.slot.tolist(), rows.names().tolist(), rows.value.tolist()
    return list(zip(*columns, strict=True))


def slowly(readings: list[Read], combining: Combining) -> list[Row]:
    """The same, as plainly as it can be written."""
    known = {(each.unit, each.place, each.time): each for each in reversed(readings) if each.place in REGIONS}
    sorted_places = {place: number for number, place in enumerate(REGIONS)}
    numbers = {region: number for number, region in enumerate(sorted(set(REGIONS.values())))}
    cells: dict[tuple[int, int], list[Read]] = {}
    for each in sorted(known.values(), key=lambda r: (r.time, REGIONS[r.place], sorted_places[r.place])):
        unit = numbers[REGIONS[each.place]] if combining.by_region else each.unit
        cells.setdefault((each.time // RULE.slot * RULE.slot, unit), []).append(each)
    found = []
    for (slot, unit), inside in sorted(cells.items()):
        region = REGIONS[inside[-1].place]
        values = [each.value for each in inside if REGIONS[each.place] == region]
        made = {"last": values[-1], "sum": sum(values), "max": max(values), "mean": sum(values) / len(values)}
        found.append((unit, slot, region, min(max(made[combining.way], combining.lower), combining.upper)))
    return found


readings_lists = st.lists(
    st.builds(
        Read,
        st.integers(1, 3),
        st.sampled_from([*REGIONS, "nowhere"]),
        st.integers(0, 40).map(lambda half: half * MINUTE // 2),
        st.integers(-3, 12).map(float),
    ),
    max_size=30,
    unique_by=lambda each: each[:3],
)
combinings = st.builds(Combining, st.sampled_from(WAYS), st.just(0), st.just(9), st.booleans())


@given(readings_lists, combinings)
def test_the_batch_follows_the_rule(readings: list[Read], combining: Combining) -> None:
    assert listed(ReadingsBatch(admitted(readings), RULE, REGIONS, combining).rows()) == slowly(readings, combining)


@settings(max_examples=40)
@given(readings_lists, combinings, st.data())
def test_the_stream_equals_the_batch_in_any_order_within_the_lateness(
    readings: list[Read], combining: Combining, data: st.DataObject
) -> None:
    delays = data.draw(st.lists(st.integers(0, LATENESS), min_size=len(readings), max_size=len(readings)))
    arrived = [each for _, each in sorted(zip(delays, readings, strict=True), key=lambda pair: pair[0] + pair[1].time)]
    stream = Readings(RULE, REGIONS, combining)
    found: list[Row] = []
    for number in range(0, len(arrived), 4):
        stream.add(admitted(arrived[number : number + 4]))
        stream.add(admitted(arrived[number : number + 1]))  # once more
        found += listed(stream.advance().rows)  # type: ignore[arg-type]
    found += listed(stream.finish().rows)  # type: ignore[arg-type]
    batch = ReadingsBatch(admitted(readings), RULE, REGIONS, combining)
    assert found == listed(batch.rows())
    assert stream.tally["accepted"] == batch.tally()["accepted"]
    assert stream.tally["late"] + stream.tally["duplicate"] + stream.tally["unknown place"] == (
        stream.tally.total - stream.tally["accepted"]
    )


@given(readings_lists, combinings, st.integers(0, 5))
def test_a_stream_that_was_stopped_goes_on_as_if_it_had_not(
    readings: list[Read], combining: Combining, slots: int
) -> None:
    events, begin = admitted(sorted(readings, key=lambda each: each.time)), slots * RULE.slot
    whole = Readings(RULE, REGIONS, combining, by_clock=True)
    whole.add(events)
    restored = Readings(RULE, REGIONS, combining, by_clock=True)
    restored.restore(events, begin)
    end = 30 * MINUTE
    after = [row for row in listed(whole.advance(end).rows) if row[1] >= begin]  # type: ignore[arg-type]
    assert listed(restored.advance(end).rows) == after  # type: ignore[arg-type]


def test_a_slot_is_final_when_its_end_is_behind_the_watermark_and_not_before() -> None:
    stream = Readings(Rule(lateness=0), REGIONS, Combining("mean", 0, 9), by_clock=True)
    stream.add(admitted([Read(1, "a1", 4 * MINUTE, 5.0)]))
    assert len(stream.advance(5 * MINUTE - 1)) == 0
    assert [slot for slot, _ in stream.advance(5 * MINUTE)] == [0]
    assert stream.next_slot == 5 * MINUTE


def test_by_the_clock_no_reading_makes_others_late() -> None:
    stream = Readings(Rule(lateness=0), REGIONS, Combining("mean", 0, 9), by_clock=True)
    assert stream.add(admitted([Read(1, "a1", 90 * MINUTE, 5.0), Read(2, "a1", MINUTE, 5.0)])).tolist() == [True, True]


def test_what_has_no_value_is_no_reading_and_moves_no_clock() -> None:
    stream = Readings(RULE, REGIONS, Combining("mean", 0, 9))
    odd = [Read(1, "a1", 90 * MINUTE, value) for value in (np.nan, np.inf, 1e300)]
    assert not stream.add(admitted(odd)).any()
    assert stream.add(admitted([Read(1, "a1", MINUTE, 5.0)])).all()
    assert stream.tally == Tally({"accepted": 1, "no value": 3})
    assert ReadingsBatch(admitted(odd), RULE, REGIONS, Combining("mean", 0, 9)).tally() == Tally({"no value": 3})


def test_late_future_and_unknown_readings_have_the_outcomes_of_events() -> None:
    stream = Readings(RULE, REGIONS, Combining("mean", 0, 9))
    stream.add(admitted([Read(1, "a1", 20 * MINUTE, 1.0)]), now=20 * MINUTE)
    more = [Read(1, "a1", 20 * MINUTE, 2.0), Read(1, "a1", MINUTE, 1.0), Read(1, "a1", 60 * MINUTE, 1.0)]
    stream.add(admitted([*more, Read(1, "nowhere", 20 * MINUTE, 1.0)]), now=20 * MINUTE)
    assert stream.tally == Tally({"accepted": 1, "duplicate": 1, "late": 1, "from the future": 1, "unknown place": 1})


def test_of_two_values_at_one_instant_the_first_counts_in_batch_and_stream(tmp_path: Path) -> None:
    readings = [Read(1, "a1", MINUTE, 7.0), Read(1, "a1", MINUTE, 3.0), Read(1, "a1", MINUTE, 8.0)]
    stream = Readings(RULE, REGIONS, Combining("sum", 0, 99))
    stream.add(admitted(readings))
    file = tmp_path / "readings.csv"
    file.write_text("device,place,time,value\n" + "".join(f"1,a1,1970-01-01T00:01:00Z,{r.value}\n" for r in readings))
    batches = [
        ReadingsBatch(admitted(readings), RULE, REGIONS, Combining("sum", 0, 99)),
        ReadingsBatch(file, RULE, REGIONS, Combining("sum", 0, 99), DOOR),
    ]
    assert [batch.rows().value.tolist() for batch in batches] == [[7.0], [7.0]]
    assert stream.finish().rows.value.tolist() == [7.0]  # type: ignore[attr-defined]
    assert all(batch.tally() == Tally({"accepted": 1, "duplicate": 2}) for batch in batches)


def test_one_unit_has_one_row_in_a_slot_wherever_it_goes() -> None:
    sent = admitted([Read(1, "a1", 0, 9.0), Read(1, "b1", MINUTE, 3.0), Read(1, "b1", 2 * MINUTE, 5.0)])
    assert listed(ReadingsBatch(sent, RULE, REGIONS, Combining("mean", 0, 9)).rows()) == [(1, 0, "bar", 4.0)]


def test_a_region_as_the_unit_has_one_row_of_all_its_sensors() -> None:
    sent = admitted([Read(1, "a1", 0, 2.0), Read(2, "a2", MINUTE, 4.0), Read(3, "b1", MINUTE, 1.0)])
    rows = ReadingsBatch(sent, RULE, REGIONS, Combining("sum", 0, 99, by_region=True)).rows()
    assert [(region, value) for _, _, region, value in listed(rows)] == [("atrium", 6.0), ("bar", 1.0)]


def test_positions_of_the_last_reading_stay() -> None:
    sent = Admitted.of([1, 1], ["a1", "a1"], [2, 1], [1.0, 3.0], [(5.0, 6.0), (7.0, 8.0)])
    batch = ReadingsBatch(sent, RULE, REGIONS, Combining("mean", 0, 9)).rows()
    stream = Readings(RULE, REGIONS, Combining("mean", 0, 9))
    stream.add(sent)
    for rows in (batch, stream.finish().rows.at(0)):
        assert isinstance(rows, ReadingRows)
        assert rows.position is not None
        assert rows.position.tolist() == [[5.0, 6.0]]


def test_forgetting_a_unit_drops_what_is_held_of_it() -> None:
    stream = Readings(RULE, REGIONS, Combining("mean", 0, 9))
    stream.add(admitted([Read(1, "a1", 0, 2.0), Read(2, "a1", 0, 4.0)]))
    stream.forget(1)
    assert [row[0] for row in listed(stream.finish().rows)] == [2]  # type: ignore[arg-type]


def test_a_parquet_file_of_meters_is_read_in_the_engine(tmp_path: Path) -> None:
    path = tmp_path / "meters.parquet"
    with duckdb.connect() as engine:
        engine.execute(
            "COPY (SELECT 'a1' AS meter, TIMESTAMP '1970-01-01 00:01:00' AS time, x AS reading "
            f"FROM (VALUES (2.5), (NULL)) AS v(x)) TO '{path}' (FORMAT parquet)"
        )
    columns = {"device": "meter", "place": "meter", "value": "reading"}
    batch = ReadingsBatch(path, RULE, REGIONS, Combining("mean", 0, 9), DOOR, columns=columns)
    assert listed(batch.rows()) == [(DOOR.person("a1"), 0, "atrium", 2.5)]
    assert batch.tally() == Tally({"accepted": 1, "no value": 1})


def test_values_that_are_no_numbers_are_refused_by_their_type(tmp_path: Path) -> None:
    path = tmp_path / "events.parquet"
    with duckdb.connect() as engine:
        engine.execute(
            "COPY (SELECT 'd' AS device, 'a1' AS place, TIMESTAMP '1970-01-01 00:01:00' AS time, true AS value) "
            f"TO '{path}' (FORMAT parquet)"
        )
    with pytest.raises(DataError, match="value of an event is a number"):
        ReadingsBatch(path, RULE, REGIONS, Combining("mean", 0, 9), DOOR).rows()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("men", 0, 1), "cannot be combined by 'men' \\(did you mean 'mean'"),
        (("mean", 1, 1), "must be below"),
        (("mean", 0, 2**60), "within 2\\^53"),
    ],
)
def test_a_way_or_bounds_that_are_none_are_refused(given: tuple[str, float, float], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        Combining(*given)


def test_the_text_of_rows_shows_nothing() -> None:
    assert repr(ReadingRows.none(("a",))) == "<rows of readings>"
