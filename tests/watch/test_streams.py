"""Streams beside the rules of a watch: each slot is one tick, released once, whatever happens to the feed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from louver.errors import BudgetError, DataError, LouverError
from louver.ledger import Ledger
from louver.privacy import Between, Scope
from louver.sense.events import Event, instant
from louver.sense.pseudonyms import Door
from louver.steward import Steward, key_of_parts
from louver.watch.journal import Journal
from louver.watch.pipeline import Pipeline
from louver.watch.ranged import PART
from louver.watch.rules import Rules
from louver.watch.streams import folder_of
from tests.stream.smoothing import seeded
from tests.watch.made import FIRE_LIMIT, FULL, MINUTE, NINE, STEP, events, paid_keys, told
from tests.watch.streamed import DAILY, LOUD, ROOMS, published, run, streamed

DAY = 288 * STEP
MISSING = {"aula": None, "cafe": None, "lab": None}
TEN = NINE + 12 * STEP
HOURLY = DAILY.replace("1d", "1h")
SEGMENT = ROOMS.replace('"laplace"', '"segment"').replace(str(LOUD), "1")


def counts(**there: int) -> dict[str, int]:
    return {"aula": 0, "cafe": 0, "lab": 0, **there}


def wall(rules: Rules, now: list[int], journal: Journal) -> Pipeline:
    return Pipeline.open(rules, journal, now=lambda: now[0])


def minutes(rules: Rules, span: range, away: tuple[int, int] | None = None, why: str = "It was not there") -> None:
    """A live watch that sees one device in the aula every minute, but for some minutes of which it knows nothing."""
    now = [NINE + span[0] * MINUTE]
    with Journal.open(rules.journal) as journal, wall(rules, now, journal) as pipeline:
        for minute in span:
            if away is not None and away[0] <= minute < away[1]:
                continue
            now[0] = NINE + minute * MINUTE
            pipeline.take([Event("ann", "ap-aula", now[0])])
            if away is not None and minute == away[1]:
                pipeline.away(NINE + away[0] * MINUTE, now[0], why)
            pipeline.advance(by_clock=True)


def test_each_slot_is_a_tick_beside_the_rules(tmp_path: Path) -> None:
    rules = streamed(tmp_path)
    made = run(rules, events({"aula": 3, "lab": 1}, {"aula": FULL}, {"cafe": 2}, {}, {"lab": 1}))
    assert (made.slots, made.ticks, made.missing) == (5, 5, 0)
    assert published(tmp_path) == {
        "09:00": counts(aula=3, lab=1),
        "09:05": counts(aula=FULL),
        "09:10": counts(cafe=2),
        "09:15": counts(),
        "09:20": counts(lab=1),
    }
    assert told(rules) == [("fire-limit", "aula", "firing", 1), ("fire-limit", "aula", "clear", 2)]
    assert key_of_parts("stream rooms") in paid_keys(rules)


def test_rules_and_streams_pay_into_one_ledger(tmp_path: Path) -> None:
    rules = streamed(tmp_path)
    run(rules, events({"aula": 3}))
    with Ledger.open(rules.ledger) as ledger:
        nine, later = (
            ledger.spent(Scope({"slot": Between(instant(slot), instant(slot + 1))})) for slot in (NINE, NINE + STEP)
        )
    assert later == LOUD
    assert round(float(nine - later), 4) == 0.4148


def test_several_streams_by_other_levels_come_from_the_same_slots(tmp_path: Path) -> None:
    floors = ROOMS.replace("stream.rooms", "stream.floors").replace("rooms.csv", "floors.csv") + 'by = "floor"\n'
    all_of_it = ROOMS.replace("stream.rooms", "stream.all").replace("rooms.csv", "all.csv") + "by = []\n"
    rules = streamed(tmp_path, ROOMS + floors + all_of_it, cap=3 * LOUD + 1)
    run(rules, events({"aula": 3, "cafe": 2, "lab": 1}))
    assert published(tmp_path)["09:00"] == {"aula": 3, "cafe": 2, "lab": 1}
    assert [line.split(",")[2] for line in (tmp_path / "floors.csv").read_text().splitlines()[1:]] == ["3", "3"]
    assert (tmp_path / "all.csv").read_text().splitlines()[1].split(",")[1] == "6"


def test_a_tick_of_which_nothing_is_known_is_missing_and_its_slot_undecided(tmp_path: Path) -> None:
    rules = streamed(tmp_path)
    minutes(rules, range(50), away=(17, 28))
    found = published(tmp_path)
    assert {tick for tick, values in found.items() if values == MISSING} == {"09:00", "09:20", "09:25", "09:30"}
    assert {found[tick]["aula"] for tick in ("09:05", "09:10", "09:15", "09:35", "09:40")} == {1}
    decided = {key[-14:-9] for key in paid_keys(rules) if key.startswith("fire")}
    assert decided == {tick for tick, values in found.items() if values != MISSING}


def test_which_ticks_are_missing_does_not_depend_on_who_is_there(tmp_path: Path) -> None:
    """One more person, at any time, also while the feed is away, changes no mark."""
    marks = []
    for more in (False, True):
        folder = tmp_path / str(more)
        folder.mkdir()
        rules = streamed(folder)
        now = [NINE]
        with Journal.open(rules.journal) as journal, wall(rules, now, journal) as pipeline:
            for minute in (*range(17), *range(28, 45)):
                now[0] = NINE + minute * MINUTE
                pipeline.take([Event("ann", "ap-lab", now[0])] if more else [])
                if minute == 28:
                    pipeline.away(NINE + 17 * MINUTE, now[0])
                pipeline.advance(by_clock=True)
        marks.append([tick for tick, values in published(folder).items() if values == MISSING])
    assert marks[0] == marks[1]
    assert marks[0]


def test_a_clock_that_is_set_makes_ticks_missing_and_none_comes_twice(tmp_path: Path) -> None:
    rules, now = streamed(tmp_path), [NINE]
    with Journal.open(rules.journal) as journal, wall(rules, now, journal) as pipeline:
        # Set forward by twenty minutes at 9:16, and back by ten at 9:46, as a watcher tells its pipeline.
        for minute in (*range(17), *range(37, 47), *range(37, 60)):
            before, now[0] = now[0], NINE + minute * MINUTE
            if abs(now[0] - before) > MINUTE:
                pipeline.away(min(before, now[0]), max(before, now[0]), "The clock was set")
            pipeline.take([Event("ann", "ap-aula", now[0])])
            pipeline.advance(by_clock=True)
    found = published(tmp_path)
    assert list(found) == [f"09:{minute:02}" for minute in range(0, 60, 5)][: len(found)]
    gone = [tick for tick, values in found.items() if values == MISSING]
    assert {"09:20", "09:25", "09:30", "09:35", "09:45"} <= set(gone)
    assert found["09:10"] == counts(aula=1)
    assert found["09:55"] == counts(aula=1)


def test_data_that_comes_too_late_is_a_missing_tick(tmp_path: Path) -> None:
    rules, now = streamed(tmp_path, watch='late_after = "10 minutes"'), [NINE]
    with Journal.open(rules.journal) as journal, wall(rules, now, journal) as pipeline:
        now[0] = NINE + 32 * MINUTE
        pipeline.advance(by_clock=True)
    found = published(tmp_path)
    assert {tick: values == MISSING for tick, values in found.items()} == {
        "09:00": True,
        "09:05": True,
        "09:10": True,
        "09:15": True,
        "09:20": True,
        "09:25": False,
        "09:30": False,
    }


def test_slots_soon_after_pseudonyms_change_are_missing(tmp_path: Path) -> None:
    rules = replace(streamed(tmp_path, watch='rotate = "30 minutes"'), begin=NINE, end=NINE + 9 * STEP)
    run(rules, events(*[{"aula": 2}] * 9))
    assert [tick for tick, values in published(tmp_path).items() if values == MISSING] == ["09:00", "09:30"]


def test_a_watch_that_begins_late_has_missed_the_ticks_before(tmp_path: Path) -> None:
    rules = streamed(tmp_path)
    minutes(rules, range(31, 50))
    found = published(tmp_path)
    assert [tick for tick, values in found.items() if values == MISSING] == [f"09:{at:02}" for at in range(0, 40, 5)]
    assert found["09:40"] == counts(aula=1)


def test_slots_before_and_after_a_stream_are_none_of_its_ticks(tmp_path: Path) -> None:
    rules = replace(streamed(tmp_path), begin=NINE - 3 * STEP, end=NINE + 15 * STEP)
    run(rules, events(*[{"aula": 1}] * 18, start=NINE - 3 * STEP))
    found = published(tmp_path)
    assert (len(found), next(iter(found)), list(found)[-1]) == (12, "09:00", "09:55")
    assert len([key for key in paid_keys(rules) if key.startswith("fire")]) == 18


def test_what_is_over_leaves_no_private_state_and_is_not_begun_again(tmp_path: Path) -> None:
    rules = replace(streamed(tmp_path), begin=NINE, end=NINE + 12 * STEP)
    run(rules, events(*[{"aula": 1}] * 12))
    assert [each.name for each in folder_of(rules).iterdir()] == ["rooms.spool"]
    assert (folder_of(rules) / "rooms.spool").read_text() == ""
    assert folder_of(rules).stat().st_mode & 0o077 == 0
    text = (tmp_path / "rooms.csv").read_text()
    made = run(replace(rules, end=NINE + 14 * STEP), events(*[{"aula": 1}] * 14))
    assert made.ticks == 0
    assert (tmp_path / "rooms.csv").read_text() == text


def test_each_part_is_a_stream_of_its_own_and_pays_for_its_own_slots(tmp_path: Path) -> None:
    rules = streamed(tmp_path, DAILY.replace("1d", "1h"))
    late = NINE + 10 * STEP
    made = run(replace(rules, begin=late, end=late + 4 * STEP), events(*[{"aula": 1}] * 4, start=late))
    assert (made.ticks, made.missing) == (14, 10)
    names = [key_of_parts(f"stream rooms 2026-03-02T{hour}:00") for hour in ("09", "10")]
    assert [key for key in paid_keys(rules) if key in names] == names
    with Ledger.open(rules.ledger) as ledger:
        assert LOUD <= ledger.spent() < LOUD + 1  # nobody pays for two parts
        assert len(ledger.reservations()) == 1  # the second one, which goes on


def test_a_part_whose_end_nobody_saw_is_brought_to_its_end_when_the_next_begins(tmp_path: Path) -> None:
    rules = streamed(tmp_path, DAILY.replace("1d", "1h"))
    run(replace(rules, begin=NINE, end=NINE + 2 * STEP), events({"aula": 1}, {"aula": 2}))
    assert [each.name for each in folder_of(rules).glob("*.state")] == [f"rooms@{NINE}.state"]
    ten = NINE + 12 * STEP
    run(replace(rules, begin=ten + STEP, end=ten + 2 * STEP), events({"aula": 3}, start=ten + STEP))
    found = published(tmp_path)
    assert {tick: values["aula"] for tick, values in found.items() if values != MISSING} == {
        "09:00": 1,
        "09:05": 2,
        "10:05": 3,
    }
    assert (list(found), len(found)) == (sorted(found), 14)
    assert [each.name for each in folder_of(rules).glob("*.state")] == [f"rooms@{ten}.state"]


def test_a_stream_that_cannot_be_paid_rests_and_the_rules_go_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = streamed(tmp_path, DAILY)
    other = rules.streams[0]
    part = other.part(NINE - STEP, rules.zone, STEP)
    assert part is not None
    with Ledger.open(rules.ledger) as ledger, Journal.open(rules.journal) as journal:
        with wall(rules, [NINE - 5 * DAY], journal) as pipeline:
            plan = other.plan(part, pipeline._decider._tables.empty(), rules.building, STEP)
        ledger.reserve(plan.with_(epsilon=LOUD // 2), key="of somebody else")
    made = run(rules, events({"aula": FULL}, {"lab": 1}))
    assert (made.slots, made.ticks) == (2, 0)
    assert told(rules)[0][2] == "firing"
    said = capsys.readouterr().err
    assert said.count("The stream rooms rests: The budget does not suffice") == 1
    with Ledger.open(rules.ledger) as ledger:
        assert sum(entry.act == "denied" for entry in ledger.entries()) == 1


def test_a_tick_that_fails_is_told_and_missing_and_the_rules_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    advance = Steward._advance

    def fails(self: Steward, plan: Any, number: int, *rest: Any, **named: Any) -> Any:
        if number == 1 and not named["missing"]:
            raise LouverError("Part 1 failed.")
        return advance(self, plan, number, *rest, **named)

    monkeypatch.setattr(Steward, "_advance", fails)
    rules = streamed(tmp_path)
    run(rules, events({"aula": 1}, {"aula": FULL}, {"aula": 3}))
    assert published(tmp_path) == {"09:00": counts(aula=1), "09:05": MISSING, "09:10": counts(aula=3)}
    assert told(rules)[0] == ("fire-limit", "aula", "firing", 1)
    assert "The stream rooms has no tick of this slot: Part 1 failed." in capsys.readouterr().err


def test_without_rules_a_stream_that_fails_ends_the_watch(tmp_path: Path) -> None:
    rules = streamed(tmp_path, rules="")
    (tmp_path / "rooms.csv").write_text("something,else\n")
    with pytest.raises(DataError, match="is there already and holds something else"):
        run(rules, events({"aula": 1}))
    assert paid_keys(rules) == []


def test_a_stream_alone_that_does_not_fit_is_refused_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(BudgetError, match="The budget does not suffice"):
        run(streamed(tmp_path, rules="", cap=LOUD - 1), events({"aula": 1}))


def test_a_changed_stream_does_not_go_on_under_the_old_key(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rules = streamed(tmp_path, cap=2 * LOUD)
    run(rules, events({"aula": 1}))
    changed = replace(rules.streams[0], asked={**rules.streams[0].asked, "epsilon": LOUD - 1})
    run(replace(rules, streams=(changed,)), events({}, {"aula": 1}))
    assert "was used for another plan" in capsys.readouterr().err
    assert list(published(tmp_path)) == ["09:00"]


def slots_from(rules: Rules, begin: int, **there: int) -> None:
    """Two slots of a recording, with the same people in both."""
    run(replace(rules, begin=begin, end=begin + 2 * STEP), events(there, there, start=begin))


def states(rules: Rules) -> list[str]:
    return sorted(each.name for each in folder_of(rules).iterdir() if ".state" in each.name)


def of_part(name: str, begin: int) -> list[str]:
    return [f"{name}@{begin}.state", f"{name}@{begin}.state.lock"]


@pytest.mark.parametrize("changed", [{"epsilon": LOUD - 1}, {"epsilon": LOUD, "window": 2}])
@pytest.mark.parametrize("beside", [FIRE_LIMIT, ""])
def test_a_part_of_another_rule_holds_up_no_later_one_and_leaves_no_state(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], beside: str, changed: dict[str, int]
) -> None:
    rules = streamed(tmp_path, HOURLY, rules=beside, cap=3 * LOUD)
    slots_from(rules, NINE, aula=1)
    (rule,) = rules.streams
    other = replace(rules, streams=(replace(rule, asked={**rule.asked, **changed}),))
    slots_from(other, TEN, aula=2)
    found = published(tmp_path)
    assert {tick: values["aula"] for tick, values in found.items()} == {"09:00": 1, "09:05": 1, "10:00": 2, "10:05": 2}
    said = capsys.readouterr().err
    assert said.count("The part of the stream rooms from 2026-03-02 09:00 UTC has no end: ") == 1
    assert states(rules) == of_part("rooms", TEN)


def test_a_damaged_state_holds_up_no_later_part_and_is_gone_after_a_day(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = streamed(tmp_path, HOURLY, rules="")
    slots_from(rules, NINE, aula=1)
    (folder_of(rules) / of_part("rooms", NINE)[0]).write_text("{}")
    slots_from(rules, TEN, aula=2)
    assert published(tmp_path)["10:00"] == counts(aula=2)
    assert "09:00 UTC has no end: " in capsys.readouterr().err
    assert states(rules) == [*of_part("rooms", NINE), *of_part("rooms", TEN)]
    slots_from(rules, TEN + DAY, aula=3)
    assert states(rules) == of_part("rooms", TEN + DAY)


def test_a_part_that_ended_as_its_process_died_leaves_no_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rules = streamed(tmp_path, HOURLY, rules="")
    with monkeypatch.context() as dying:
        dying.setattr("louver.watch.streams.forget", lambda _: None)
        slots_from(rules, TEN - 2 * STEP, aula=1)
    assert states(rules) == of_part("rooms", NINE)
    slots_from(rules, TEN, aula=2)
    assert states(rules) == of_part("rooms", TEN)


def test_the_state_of_a_stream_that_is_taken_out_is_gone_when_its_part_is_over(tmp_path: Path) -> None:
    rules = streamed(tmp_path, HOURLY)
    slots_from(rules, NINE, aula=1)
    without = replace(rules, streams=())
    slots_from(without, NINE + 2 * STEP)
    assert states(rules) == of_part("rooms", NINE)  # for whoever puts it back
    slots_from(without, TEN)
    assert states(rules) == []


def test_what_a_renamed_stream_did_not_send_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rules = streamed(tmp_path, HOURLY)
    slots_from(rules, NINE, aula=1)
    (folder_of(rules) / "rooms.spool").write_text("something")
    renamed = replace(rules.streams[0], name="halls", to=str(tmp_path / "halls.csv"))
    slots_from(replace(rules, streams=(renamed,)), TEN, aula=1)
    assert "rooms.spool holds ticks that were not sent, of a stream that is not in the" in capsys.readouterr().err
    assert states(rules) == of_part("halls", TEN)


def test_whoever_is_erased_is_in_no_later_tick(tmp_path: Path) -> None:
    slots = 2 * PART
    until = ROOMS.replace("10:00:00Z", "12:00:00Z")
    rules = replace(streamed(tmp_path, until), begin=NINE, end=NINE + slots * STEP)
    gone = Door.open(rules.salt).person("aula 0")

    def asked(_: object) -> bool:
        with Journal.open(rules.journal) as journal:
            journal.erasures.ask([gone], NINE)
        return False

    run(rules, events(*[{"aula": 2}] * slots), until=asked)
    values = [each["aula"] or 0 for each in published(tmp_path).values()]
    assert values == sorted(values, reverse=True)
    assert (values[0], values[-1], len(values)) == (2, 1, slots)


def test_restarts_between_all_slots_publish_what_one_run_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slots = [{"aula": 3 + at % 3, "lab": at} for at in range(8)]
    texts = []
    for restarting in (False, True):
        folder = tmp_path / str(restarting)
        folder.mkdir()
        rules = streamed(folder, SEGMENT, rules="", cap=1)
        monkeypatch.setattr("louver.steward.SYSTEM", seeded(7))
        if restarting:
            for at in range(1, 9):
                run(replace(rules, begin=NINE, end=NINE + at * STEP), events(*slots[:at]))
        else:
            run(replace(rules, begin=NINE, end=NINE + 8 * STEP), events(*slots))
        texts.append((folder / "rooms.csv").read_text())
        with Ledger.open(rules.ledger) as ledger:
            assert ledger.spent() == 1
            assert ledger.verify().ok
    assert texts[0] == texts[1]
    assert texts[0].count("\n") == 1 + 8 * 3


# Publishes a range, and says how far it is.
PROGRAM = """
import asyncio, sys
from dataclasses import replace
from pathlib import Path
from louver.watch.rules import Rules
from tests.watch.made import Given, NINE, STEP, events, watched

def ticked(name, tick, is_last):
    print(tick.number, flush=True)

rules = replace(Rules.read(Path(sys.argv[1]) / "rules.toml"), begin=NINE, end=NINE + 12 * STEP)
made = events(*[{"aula": at, "lab": 1} for at in range(12)])
asyncio.run(watched(rules, Given(made), ticked=ticked))
"""


def started(folder: Path) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, "-c", PROGRAM, str(folder)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)


def killed(folder: Path, lines: int, delay: float) -> None:
    """A watch that is killed some time after it has said so many lines."""
    with started(folder) as process:
        assert process.stdout is not None
        for _ in range(lines):
            process.stdout.readline()
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)


@pytest.mark.parametrize(("lines", "delay"), [(1, 0.0), (1, 0.03), (1, 0.05), (1, 0.09), (4, 0.02)])
def test_a_killed_watch_goes_on_and_no_tick_is_drawn_lost_or_paid_twice(
    tmp_path: Path, lines: int, delay: float
) -> None:
    rules = streamed(tmp_path)
    killed(tmp_path, lines, delay)
    before = (tmp_path / "rooms.csv").read_text() if (tmp_path / "rooms.csv").exists() else ""
    with Ledger.open(rules.ledger) as ledger:
        known = {
            entry.body["reservation"]: json.dumps(entry.body["release"])
            for entry in ledger.entries()
            if entry.act == "settled"
        }
    with started(tmp_path) as process:
        process.communicate()
    assert process.returncode == 0
    assert published(tmp_path) == {f"09:{5 * at:02}": counts(aula=at, lab=1) for at in range(12)}
    assert (tmp_path / "rooms.csv").read_text().startswith(before[: before.rfind("\n") + 1])
    keys = paid_keys(rules)
    assert len(keys) == len(set(keys)) == 12 + 1 + 12
    with Ledger.open(rules.ledger) as ledger:
        again = {
            entry.body["reservation"]: json.dumps(entry.body["release"])
            for entry in ledger.entries()
            if entry.act == "settled"
        }
        assert LOUD <= ledger.spent() < LOUD + 1
        assert ledger.verify().ok
    assert known.items() <= again.items()


def test_views_of_what_is_released_come_live_too(tmp_path: Path) -> None:
    """The last ticks and what is above a limit, at no further cost than the stream has."""
    views = 'last = 2\nabove = "capacity"\nmiss_rate = 0.05\n'
    rules = streamed(tmp_path, ROOMS + views)
    run(rules, events({"aula": FULL}, {"aula": FULL, "lab": 2}, {"lab": 1}))
    text = (tmp_path / "rooms.csv").read_text().splitlines()
    head, rows = text[0].split(","), [line.split(",") for line in text[1:]]
    assert head == ["region", "tick", "value", "low", "high", "last", "above"]
    assert [(float(row[-2]), row[-1]) for row in rows if row[0] == "aula"] == [
        (FULL, "true"),
        (2 * FULL, "true"),
        (FULL, "false"),
    ]


def test_values_of_readings_are_added_up(tmp_path: Path) -> None:
    total = 'sum = "value"\nby = "building"\n'
    rules = streamed(tmp_path, ROOMS + total, rules="", watch='rows = "readings"\nlower = 0\nupper = 10\n')
    two = {"aula": (3.0, 4.0), "lab": (99.0,)}  # the last one is above its bound
    made = [
        Event(f"{region} {number}", region, NINE + at * STEP, value)
        for at in range(3)
        for region, values in two.items()
        for number, value in enumerate(values)
    ]
    run(replace(rules, begin=NINE, end=NINE + 3 * STEP), made)
    rows = [line.split(",") for line in (tmp_path / "rooms.csv").read_text().splitlines()[1:]]
    # One reading weighs up to 10, so the noise is of a tenth of the rate; beyond 2 once in 10^43 draws.
    assert [round(float(row[2])) for row in rows] == pytest.approx([17] * 3, abs=2)
