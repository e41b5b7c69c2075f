"""Streams of a watch as its rules write them: their parts, and what is refused."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from louver.errors import BudgetError, LouverError, ParameterError
from louver.ledger import Ledger
from louver.sense.events import instant, microseconds
from louver.steward import key_of_parts
from louver.watch.pipeline import prepared
from louver.watch.stream_rules import DAY, Part, StreamRule
from louver.watch.stream_toml import OF_A_STREAM
from louver.watch.tables import Tables
from tests.watch.made import NINE, STEP
from tests.watch.streamed import DAILY, LOUD, ROOMS, streamed

VIENNA = ZoneInfo("Europe/Vienna")
HOUR = 12 * STEP
DAILY_RULE = StreamRule(name="rooms", each=DAY, to="rooms.csv")


def at(text: str) -> int:
    return microseconds(datetime.fromisoformat(text).replace(tzinfo=UTC))


def parts(rule: StreamRule, begin: int, end: int, zone: ZoneInfo = VIENNA) -> list[Part]:
    """The parts of all slots of a time, each once."""
    found = [rule.part(slot, zone, STEP) for slot in range(begin, end, STEP)]
    return list(dict.fromkeys(part for part in found if part is not None))


def test_a_stream_with_an_end_is_one_part() -> None:
    rule = StreamRule(name="rooms", begin=NINE, end=NINE + HOUR, to="rooms.csv")
    assert parts(rule, NINE - HOUR, NINE + 3 * HOUR) == [Part(NINE, NINE + HOUR)]
    assert rule.key_of(Part(NINE, NINE + HOUR)) == "stream rooms"


@pytest.mark.parametrize(("window", "units"), [("1h", 12), (7, 7)])
def test_a_window_that_lasts_some_time_has_a_unit_in_each_slot(tmp_path: Path, window: Any, units: int) -> None:
    rules = streamed(tmp_path)
    rule = StreamRule(name="rooms", each=DAY, to="rooms.csv", asked={"epsilon": 1, "window": window})
    plan = rule.plan(Part(NINE, NINE + HOUR), Tables(rules).empty(), rules.building, STEP)
    assert plan.window == units


def test_every_key_of_a_stream_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "watch.md").read_text()
    table = page.partition("| `[stream.NAME]` |")[2].partition("\n\n")[0]
    assert [key for key in OF_A_STREAM if f"`{key}`" not in table] == []


@pytest.mark.parametrize(
    ("day", "hours"), [("2026-03-28", 24), ("2026-03-29", 23), ("2026-03-30", 24), ("2026-10-25", 25)]
)
def test_a_day_is_that_of_the_building_also_where_clocks_change(day: str, hours: int) -> None:
    midnight = microseconds(datetime.fromisoformat(day).replace(tzinfo=VIENNA))
    (part,) = parts(DAILY_RULE, midnight, midnight + hours * HOUR)
    assert part == Part(midnight, midnight + hours * HOUR)
    assert DAILY_RULE.key_of(part) == f"stream rooms {instant(midnight):%Y-%m-%dT%H:%M}"


@pytest.mark.parametrize("zone", ["Europe/Vienna", "Asia/Kathmandu", "America/St_Johns", "UTC"])
@pytest.mark.parametrize("each", [DAY, 6 * HOUR, HOUR, STEP])
def test_parts_follow_each_other_without_a_gap_or_a_slot_in_two(zone: str, each: int) -> None:
    rule = StreamRule(name="rooms", each=each, to="rooms.csv")
    for begin in (at("2026-03-27"), at("2026-10-23")):
        found = parts(rule, begin, begin + 4 * DAY, ZoneInfo(zone))
        assert all(first.end == second.begin for first, second in pairwise(found))
        assert len({rule.key_of(part) for part in found}) == len(found)
        assert all(part.begin % STEP == part.end % STEP == 0 and part.begin < part.end for part in found)


def test_parts_end_where_the_stream_does() -> None:
    rule = StreamRule(name="rooms", each=DAY, begin=NINE, end=NINE + 2 * DAY, to="rooms.csv")
    found = parts(rule, NINE - DAY, NINE + 4 * DAY, ZoneInfo("UTC"))
    assert (found[0].begin, found[-1].end, len(found)) == (NINE, NINE + 2 * DAY, 3)


def test_a_stream_reads_as_it_is_written(tmp_path: Path) -> None:
    (rule,) = streamed(tmp_path).streams
    assert (rule.name, rule.by, rule.begin, rule.end) == ("rooms", ("region",), NINE, NINE + HOUR)
    assert (rule.asked["mechanism"], rule.asked["epsilon"]) == ("laplace", LOUD)
    assert rule.to == str(tmp_path / "rooms.csv")


def test_a_watch_may_have_streams_alone(tmp_path: Path) -> None:
    rules = streamed(tmp_path, rules="")
    assert (rules.rules, len(rules.streams)) == ((), 1)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("epsilom = 1", "did you mean 'epsilon'"),
        ('by = "rom"', "there is no 'rom'"),
        ('by = "floor,region"', r'write a list: \["floor", "region"\]'),
        ('by = ["region", "region"]', "names each of its levels once"),
        ('every = "10m"', "another length than the watch's slot, 5 minutes"),
        ('each = "7h"', "hours or minutes that divide one"),
        ('to = "-"', "cannot be the output"),
        ('to = "rooms.parquet"', "which grows"),
        ('to = "rooms.txt"', "is published to a file"),
        ('epsilon = "much"', "epsilon"),
        ("from = 2026-03-02T11:00:00Z", "must end after it begins"),
    ],
)
def test_what_is_wrong_in_a_stream_is_said_with_its_place(tmp_path: Path, line: str, said: str) -> None:
    name = line.partition(" ")[0]
    text = "\n".join(each for each in ROOMS.splitlines() if not each.startswith(f"{name} ="))
    with pytest.raises(ParameterError, match=said) as refused:
        streamed(tmp_path, f"{text}\n{line}\n")
    assert "stream.rooms" in str(refused.value)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('mechanism = "signed"\nepsilon = 1', "kary"),
        ('mechanism = "segmnt"\nepsilon = 1', "segmnt"),
        ("epsilon = 1\nwithin = 5\nmiss_rate = 0.05", "in one way"),
        ('sum = "value"\nepsilon = 1', "needs bounds"),
        ("epsilon = 1\nfrom = 2026-03-02T09:02:00Z", "counted from midnight UTC"),
    ],
)
def test_a_stream_that_cannot_be_planned_is_refused_before_anything_is_paid(
    tmp_path: Path, line: str, said: str
) -> None:
    kept = [each for each in ROOMS.splitlines() if each.partition(" ")[0] not in ("mechanism", "epsilon")]
    if "from" in line:
        kept = [each for each in kept if not each.startswith("from")]
    rules = streamed(tmp_path, "\n".join([*kept, line, ""]))
    with Ledger.open(rules.ledger) as ledger:
        with pytest.raises(LouverError, match=said) as refused:
            prepared(rules, ledger, NINE)
        assert "[stream.rooms]" in str(refused.value)
        assert ledger.spent() == 0


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("rooms.csv", "../{folder}/rooms.csv"),
        ("mqtt://broker/rooms", "mqtt://broker/rooms"),
        ("postgresql://ann@host/house#rooms", "postgres://bob:secret@host/house#rooms"),
    ],
)
def test_two_streams_do_not_go_to_one_place(tmp_path: Path, one: str, other: str) -> None:
    first = ROOMS.replace("rooms.csv", one)
    second = ROOMS.replace("stream.rooms", "stream.people")
    with pytest.raises(ParameterError, match="The streams rooms and people go to one place"):
        streamed(tmp_path, first + second.replace("rooms.csv", other.format(folder=tmp_path.name)))
    (tmp_path / "apart").mkdir()
    streamed(tmp_path / "apart", first + second.replace("rooms.csv", other.replace("rooms", "people")))


def test_totals_do_not_go_to_a_table_and_that_is_said_before_anything_is_paid(tmp_path: Path) -> None:
    to = "postgresql://nobody@127.0.0.1:1/house#rooms"
    rules = streamed(tmp_path, ROOMS.replace("rooms.csv", to) + 'by = ["floor", "region"]\ntotals = true\n')
    with Ledger.open(rules.ledger) as ledger, pytest.raises(ParameterError, match="cannot have totals") as refused:
        prepared(rules, ledger, NINE)
    assert "[stream.rooms]" in str(refused.value)


def test_a_stream_without_an_end_needs_parts(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match='from and until, or each = "1d"'):
        streamed(tmp_path, '[stream.rooms]\nepsilon = 1\nto = "rooms.csv"\n')


def test_units_of_a_day_have_no_stream(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="needs units that are in one slot each"):
        streamed(tmp_path, unit="(person, day)")


@pytest.mark.parametrize("slot", ["30 seconds", "90 seconds"])
def test_slots_that_are_no_ticks_are_refused(tmp_path: Path, slot: str) -> None:
    with pytest.raises(ParameterError, match="the watch's slots, which then last minutes that divide a day"):
        streamed(tmp_path, DAILY, watch=f'slot = "{slot}"')


def foreseen(rules: Any) -> str:
    with Ledger.open(rules.ledger) as ledger:
        return str(prepared(rules, ledger, NINE).forecast)


def test_the_forecast_says_what_rules_and_streams_cost_together(tmp_path: Path) -> None:
    said = foreseen(streamed(tmp_path, DAILY.replace(str(LOUD), "1"), cap=2))
    assert "rooms: a stream of the count by region in each slot, by laplace" in said
    assert "each day of it costs at most 1.0000 for each person and slot, paid before its first slot" in said
    assert "Every slot has a budget of its own: 1.4148 of 2.0000 is used at most" in said
    assert "can be at most 80.5% sure afterwards" in said


def test_rules_and_streams_that_do_not_fit_together_are_refused(tmp_path: Path) -> None:
    rules = streamed(tmp_path, DAILY.replace(str(LOUD), "1"), cap=1.2)
    with pytest.raises(BudgetError, match=r"The rules and streams do not fit .* fire-limit and rooms cost 1.4148"):
        foreseen(rules)


def test_a_stream_of_next_month_must_fit_too(tmp_path: Path) -> None:
    later = ROOMS.replace("2026-03", "2026-04").replace(str(LOUD), "1")
    assert "1.4148 of 2.0000" in foreseen(streamed(tmp_path, later, cap=2))
    (tmp_path / "b").mkdir()
    with pytest.raises(BudgetError, match="do not fit into a slot's budget"):
        foreseen(streamed(tmp_path / "b", later, cap=1.2))


def test_a_stream_in_rho_does_not_go_with_rules(tmp_path: Path) -> None:
    rho = ROOMS.replace("laplace", "kary").replace("epsilon", "rho")
    with pytest.raises(BudgetError, match="no proved sum"):
        foreseen(streamed(tmp_path, rho))


def test_what_a_stream_paid_is_not_asked_for_again(tmp_path: Path) -> None:
    rules = streamed(tmp_path, DAILY.replace(str(LOUD), "1"), cap=1.5)
    (rule,) = rules.streams
    part = rule.part(NINE, rules.zone, STEP)
    assert part is not None
    with Ledger.open(rules.ledger) as ledger:
        made = rule.plan(part, prepared(rules, ledger, NINE).tables.empty(), rules.building, STEP)
        ledger.reserve(made, who="watch", key=key_of_parts(rule.key_of(part)))
        ready = prepared(rules, ledger, NINE)
    assert "1.4148 of 1.5000 is used at most" in ready.forecast.budget
