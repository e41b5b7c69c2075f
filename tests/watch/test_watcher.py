from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from louver.errors import DataError, LouverError
from louver.ledger import Ledger
from louver.sense.feeds import open_feed
from louver.sense.feeds.batch import Batch
from louver.sense.store import Store
from louver.steward import Steward
from louver.watch.absence import THERE
from louver.watch.deciding import Decided, Decider
from louver.watch.journal import Journal
from louver.watch.pipeline import Pipeline
from louver.watch.rules import WALL, Rules
from tests.watch.made import (
    EMPTY,
    FIRE_LIMIT,
    FULL,
    MINUTE,
    NINE,
    STEP,
    Given,
    events,
    house,
    lines,
    paid_keys,
    told,
    watched,
)

PENDING_2 = """
[rule.fire-limit]
having = "count(*) > capacity"
miss_rate = 0.05
slack = 10
pending = 2
clear_after = 2
"""


def run(rules: Rules, *batches: Any, **options: Any) -> Any:
    return asyncio.run(watched(rules, Given(*batches), **options))


def test_a_region_over_its_limit_fires_and_is_clear_again(tmp_path: Path) -> None:
    rules = house(tmp_path, PENDING_2)
    full, empty = {"aula": FULL, "lab": 1}, {"lab": 1}
    (tmp_path / "events.ndjson").write_text(lines(empty, full, full, full, empty, empty, empty))
    made = asyncio.run(watched(rules, open_feed(str(tmp_path / "events.ndjson"))))
    assert told(rules) == [("fire-limit", "aula", "firing", 2), ("fire-limit", "aula", "clear", 5)]
    assert (made.slots, made.undecided, made.tally["accepted"]) == (7, 0, 3 * FULL + 7)


def test_an_alarm_says_what_it_rests_on_and_nothing_private(tmp_path: Path) -> None:
    rules = house(tmp_path, PENDING_2)
    run(rules, events(*[{"aula": FULL}] * 3))
    with Journal.open(rules.journal) as journal:
        (alarm,) = [each.alarm for each in journal.alarms()]
    assert (alarm.key, alarm.limit, alarm.counted, alarm.slots, alarm.since) == ("aula", 200, "devices", 2, NINE)
    assert "over 2 slots in a row, together in at most 1 of 20 cases" in alarm.promise
    assert alarm.price is not None
    assert 0.5 < alarm.price < 0.6
    assert str(FULL) not in str(alarm.to_dict())


def test_each_slot_is_paid_once_under_its_own_key_and_slots_are_parallel(tmp_path: Path) -> None:
    rules = house(tmp_path)
    run(rules, events(*[{"aula": 1}] * 4))
    assert paid_keys(rules) == [f"fire-limit/2026-03-02T09:{minute:02}:00+00:00" for minute in (0, 5, 10, 15)]
    with Ledger.open(rules.ledger) as ledger:
        assert ledger.spent() < Fraction(1, 2)


def test_a_batch_is_acknowledged_after_its_events_are_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rules, acts = house(tmp_path), []
    kept = Store.open(rules.store)
    kept.close()
    append = type(kept).append

    def stored(self: Any, given: Any) -> Any:
        made = append(self, given)
        acts.append(f"stored after {len(feed.acknowledged)} acknowledgements")
        return made

    monkeypatch.setattr(type(kept), "append", stored)
    feed = Given(events({"aula": 1}), events({"aula": 1}, start=NINE + STEP))
    asyncio.run(watched(rules, feed))
    assert acts == ["stored after 0 acknowledgements", "stored after 1 acknowledgements"]
    assert feed.acknowledged == [0, 1]
    assert feed.closed


def test_what_cannot_be_stored_is_not_acknowledged_and_stops_the_watch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = house(tmp_path)
    with Store.open(rules.store) as store:
        kind = type(store)

    def full(*_: Any) -> Any:
        raise DataError("The disk is full.")

    monkeypatch.setattr(kind, "append", full)
    feed = Given(events({"aula": 1}))
    with pytest.raises(DataError, match="disk is full"):
        asyncio.run(watched(rules, feed))
    assert feed.acknowledged == []
    assert feed.closed


def test_out_of_budget_is_undecided_and_told_once_for_all_keys(tmp_path: Path) -> None:
    rules = house(tmp_path, unit="(person)", cap=1)
    made = run(rules, events(*[{"aula": FULL}] * 6))
    assert made.slots == 6
    assert made.undecided == 4
    assert told(rules) == [("fire-limit", "aula", "firing", 0), ("fire-limit", "region", "undecided", 2)]
    with Journal.open(rules.journal) as journal:
        assert journal.state("fire-limit", "aula").state == "firing and undecided"  # type: ignore[union-attr]
        assert journal.state("fire-limit", "lab").state == "undecided"  # type: ignore[union-attr]
        (_, alarm) = [each.alarm for each in journal.alarms()]
    assert alarm.reason.startswith("The budget does not suffice")
    with Ledger.open(rules.ledger) as ledger:
        assert ledger.spent() <= 1


def test_a_question_that_fails_is_undecided_and_the_next_slot_decides_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules, asked = house(tmp_path), []
    steward_run = Steward.run

    def fails_once(self: Any, plan: Any, **named: Any) -> Any:
        asked.append(named["key"])
        if len(asked) == 2:
            raise LouverError("It failed.")
        return steward_run(self, plan, **named)

    monkeypatch.setattr(Steward, "run", fails_once)
    run(rules, events(*[{"aula": 1}] * 4))
    assert told(rules) == [("fire-limit", "region", "undecided", 1), ("fire-limit", "region", "clear", 2)]


def test_a_rule_outside_of_its_hours_asks_nothing(tmp_path: Path) -> None:
    rules = house(tmp_path, f'{PENDING_2}hours = "09:05-09:15"\n')
    run(rules, events(*[{"aula": 1}] * 5))
    assert [key[-14:-9] for key in paid_keys(rules)] == ["09:05", "09:10"]


def test_keys_that_begin_to_fire_get_a_closer_question_at_its_own_price(tmp_path: Path) -> None:
    rules = house(tmp_path, f"{PENDING_2}closer = {{ slack = 3, miss_rate = 0.05 }}\n", cap=2)
    run(rules, events({"lab": 1}, {"aula": FULL}, {"aula": FULL}))
    assert [key.removeprefix("fire-limit/2026-03-02T") for key in paid_keys(rules)] == [
        "09:00:00+00:00",
        "09:05:00+00:00",
        "09:10:00+00:00",
        "09:10:00+00:00/closer",
    ]
    with Journal.open(rules.journal) as journal:
        (alarm,) = [each.alarm for each in journal.alarms()]
    assert alarm.closer is not None
    assert alarm.closer.flagged is True
    assert alarm.closer.price is not None
    assert alarm.closer.price > 1


def test_a_closer_question_that_cannot_be_paid_leaves_the_first_answer_standing(tmp_path: Path) -> None:
    closer = f"{PENDING_2}closer = {{ slack = 3, miss_rate = 0.05 }}\n"
    rules = house(tmp_path, closer, cap=2, unit="(person)")
    run(rules, events({"aula": FULL}, {"aula": FULL}))
    with Journal.open(rules.journal) as journal:
        (alarm,) = [each.alarm for each in journal.alarms()]
    assert alarm.state == "firing"
    assert alarm.closer is not None
    assert alarm.closer.flagged is None
    assert [key.endswith("/closer") for key in paid_keys(rules)] == [False, False]


def test_numbers_are_released_and_flagged_where_the_truth_may_be_above_the_limit(tmp_path: Path) -> None:
    number = '[rule.crowd]\nvalues = true\nwithin = 10\nmiss_rate = 0.05\nlimit = "capacity"\n'
    rules = house(tmp_path, number)
    run(rules, events({"aula": FULL, "lab": 1}, {"aula": FULL, "lab": 1}))
    assert told(rules) == [("crowd", "aula", "firing", 0)]
    with Journal.open(rules.journal) as journal:
        released = {(row.slot, row.key): row.value for row in journal.released("crowd")}
        (alarm,) = [each.alarm for each in journal.alarms()]
    assert len(released) == 2 * 3
    assert abs(released[NINE, "aula"] - FULL) < 100  # type: ignore[operator]
    assert alarm.value == released[NINE, "aula"]


@pytest.mark.parametrize("how", ['strategy = "progressive"', 'strategy = "adaptive"', 'objective = "mean"'])
def test_a_rule_may_look_step_by_step_and_then_pays_less_than_it_reserved(tmp_path: Path, how: str) -> None:
    rules = house(tmp_path, f"{FIRE_LIMIT}{how}\n", cap=3)
    made = run(rules, events({"lab": 1}, {"aula": FULL}))
    assert told(rules) == [("fire-limit", "aula", "firing", 1)]
    with Ledger.open(rules.ledger) as ledger:
        (price,) = {
            Fraction(charge["price"]["epsilon"])
            for entry in ledger.entries()
            if entry.act == "reserved"
            for charge in entry.body["charges"]
        }
    assert made.paid < price


def test_keys_after_the_last_alarm_of_a_sparse_rule_are_undecided(tmp_path: Path) -> None:
    sparse = f'{PENDING_2}strategy = "sparse"\nalarms = 1\n'.replace("pending = 2", "pending = 1")
    rules = house(tmp_path, sparse, cap=4)
    run(rules, events({"lab": 1}, {"aula": FULL, "lab": FULL}))
    assert told(rules) == [("fire-limit", "aula", "firing", 1), ("fire-limit", "region", "undecided", 1)]
    with Journal.open(rules.journal) as journal:
        states = {key: state.state for key, state in journal.states("fire-limit").items()}
    assert states == {"aula": "firing", "cafe": "undecided", "lab": "undecided", "region": "undecided"}


def test_several_levels_are_one_question_each_and_add_up_for_a_person(tmp_path: Path) -> None:
    levels = FIRE_LIMIT.replace("having", 'level = ["floor", "building"]\nhaving')
    rules = house(tmp_path, levels)
    run(rules, events({"cafe": 2 * FULL}))
    assert told(rules) == [("fire-limit.floor", "2", "firing", 0), ("fire-limit.building", "house", "firing", 0)]
    with Ledger.open(rules.ledger) as ledger:
        assert Fraction(8, 10) < ledger.spent() < 1


def test_slots_of_one_day_add_up_and_the_next_day_has_a_budget_of_its_own(tmp_path: Path) -> None:
    rules = house(tmp_path, unit="(person, day)", cap=0.9)
    before_midnight = NINE + (15 * 12 - 3) * STEP  # 23:45
    made = run(rules, events(*[{"aula": 1}] * 6, start=before_midnight))
    paid = [key.removeprefix("fire-limit/2026-03-")[:8] for key in paid_keys(rules)]
    assert paid == ["02T23:45", "02T23:50", "03T00:00", "03T00:05"]
    assert made.undecided == 2


def test_late_duplicate_and_unknown_events_are_counted_and_change_nothing(tmp_path: Path) -> None:
    rules = house(tmp_path)
    first = events({"aula": 1}, {"aula": 1}, {"aula": 1})
    late = events({"aula": FULL})
    made = run(rules, [*first, first[-1]], late)
    assert made.tally.to_dict() == {"accepted": 3, "duplicate": 1, "late": FULL}
    assert told(rules) == []


def test_a_watch_goes_on_where_it_ended(tmp_path: Path) -> None:
    rules = house(tmp_path, PENDING_2)
    full = {"aula": FULL}
    run(rules, events(full, {"lab": 1}, full))
    run(rules, events(full, full, start=NINE + 3 * STEP))
    assert told(rules) == [("fire-limit", "aula", "firing", 3)]
    assert len(paid_keys(rules)) == 5
    with Store.open(rules.store) as store:
        assert store.next_slot == NINE + 5 * STEP
        assert len(store.rows(NINE + STEP)) == 1


def test_the_same_file_again_decides_and_pays_nothing_twice(tmp_path: Path) -> None:
    rules = house(tmp_path)
    run(rules, events({"aula": FULL}, {"aula": FULL}))
    again = run(rules, events({"aula": FULL}, {"aula": FULL}))
    assert again.slots == 0
    assert len(paid_keys(rules)) == 2
    assert len(told(rules)) == 1


def test_a_slot_that_some_rules_decided_before_a_stop_is_decided_by_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if it died between two rules: the journal has the first one's slot, the store has not the slot's rows."""
    rules = house(tmp_path, FIRE_AND_LOUD, cap=2)
    written = Decider._written

    def dies(self: Any, asked: Any, *given: Any, **named: Any) -> Any:
        if asked.rule.name == "loud":
            raise KeyboardInterrupt
        return written(self, asked, *given, **named)

    with monkeypatch.context() as patched:
        patched.setattr(Decider, "_written", dies)
        with pytest.raises(KeyboardInterrupt):
            run(rules, events({"aula": FULL}, {"aula": FULL}, {"aula": FULL}))
    assert told(rules) == [("fire-limit", "aula", "firing", 0)]
    run(rules, events({"aula": FULL}, start=NINE + 3 * STEP))
    assert told(rules) == [("fire-limit", "aula", "firing", 0), ("loud", "aula", "firing", 0)]
    paid = paid_keys(rules)
    assert len(paid) == len(set(paid)) == 8


FIRE_AND_LOUD = """
[rule.fire-limit]
having = "count(*) > capacity"
miss_rate = 0.05
slack = 10
[rule.loud]
having = "count(*) > 0.8 * capacity"
miss_rate = 0.05
slack = 10
"""


def test_what_was_paid_and_never_answered_is_undecided(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rules = house(tmp_path)

    def dies(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("louver.source.rows.read", dies)
        with pytest.raises(KeyboardInterrupt):
            run(rules, events({"aula": FULL}, {"aula": 1}))
    assert len(paid_keys(rules)) == 1
    run(rules, events({"aula": 1}, start=NINE + 2 * STEP))
    assert told(rules) == [("fire-limit", "region", "undecided", 0), ("fire-limit", "region", "clear", 1)]
    assert len(paid_keys(rules)) == 3


def test_by_the_wall_clock_a_slot_ends_though_nobody_is_there(tmp_path: Path) -> None:
    rules = house(tmp_path)
    clock = iter(range(NINE, NINE + 10_000 * STEP, STEP))
    feed = Given(ends=False)
    made = asyncio.run(
        watched(rules, feed, lambda decided: len(decided) > 4, clock=WALL, now=lambda: next(clock), tick=0.01)
    )
    assert made.slots > 4
    assert told(rules) == []


def test_events_from_beyond_the_clock_do_not_move_it(tmp_path: Path) -> None:
    rules = house(tmp_path)
    made = run(rules, events({"aula": 1}, start=NINE + 1000 * STEP), clock=WALL, now=lambda: NINE)
    assert made.tally.to_dict() == {"from the future": 1}
    assert made.slots == 0


def test_a_watch_by_the_clock_begins_with_no_event_and_asks_when_everybody_can_have_been_heard(tmp_path: Path) -> None:
    rules = house(tmp_path)
    clock = iter(range(NINE + MINUTE, NINE + 10_000 * STEP, MINUTE))
    feed = Given(ends=False)
    asyncio.run(watched(rules, feed, lambda decided: len(decided) > 2, clock=WALL, now=lambda: next(clock), tick=0.01))
    # A minute past nine and the validity of five make ten past the first slot that is complete.
    assert paid_keys(rules)[0] == "fire-limit/2026-03-02T09:10:00+00:00"


def test_a_restart_does_not_end_the_wait_until_everybody_can_have_been_heard(tmp_path: Path) -> None:
    house(tmp_path)
    written = (tmp_path / "rules.toml").read_text()
    (tmp_path / "rules.toml").write_text(written.replace('validity = "5 minutes"', 'validity = "10 minutes"'))
    rules, clock = Rules.read(tmp_path / "rules.toml"), [NINE + MINUTE]
    for now in (NINE + MINUTE, NINE + 8 * MINUTE, NINE + 12 * MINUTE, NINE + 17 * MINUTE):
        with Journal.open(rules.journal) as journal, Pipeline.open(rules, journal, now=lambda: clock[0]) as pipeline:
            clock[0] = now
            pipeline.advance(by_clock=True)
    # From a minute past nine, ten minutes make a quarter past the first slot that is complete.
    assert paid_keys(rules) == ["fire-limit/2026-03-02T09:15:00+00:00"]


def test_another_salt_is_refused(tmp_path: Path) -> None:
    rules = house(tmp_path)
    run(rules, events({"aula": 1}))
    Path(rules.salt).unlink()
    with pytest.raises(DataError, match="The salt is not the one"):
        run(rules, events({"aula": 1}, start=NINE + STEP))


def test_a_feed_that_is_not_connected_is_told_as_no_data_once(tmp_path: Path) -> None:
    rules = house(tmp_path, watch='no_data_after = "0 seconds"')
    run(rules, events({"aula": FULL}, {"aula": FULL}))
    feed = Given(ends=False)
    feed.connected = False
    now = NINE + STEP + 2 * MINUTE
    made = asyncio.run(watched(rules, feed, lambda decided: bool(decided), clock=WALL, now=lambda: now, tick=0.01))
    assert (made.slots, made.alarms) == (0, 1)
    assert [each[:3] for each in told(rules)] == [("fire-limit", "aula", "firing"), ("fire-limit", "region", "no data")]
    with Journal.open(rules.journal) as journal:
        assert journal.state("fire-limit", "aula").state == "firing and undecided"  # type: ignore[union-attr]
        assert journal.state("fire-limit", "cafe").state == "no data"  # type: ignore[union-attr]


def test_data_that_comes_too_late_is_undecided_and_costs_nothing(tmp_path: Path) -> None:
    rules = house(tmp_path, watch='late_after = "20 minutes"')
    run(rules, events({"aula": 1}))
    late = events({"aula": FULL}, {"aula": 1}, {"aula": 1}, start=NINE + STEP)
    with Store.open(rules.store) as store:
        store.remember(THERE, NINE + 6 * STEP)  # so that nothing is missing, and all of it is late
    made = run(rules, late, clock=WALL, now=lambda: NINE + 6 * STEP)
    assert (made.slots, made.undecided) == (5, 1)
    assert told(rules) == [("fire-limit", "region", "undecided", 1), ("fire-limit", "region", "clear", 2)]
    assert len(paid_keys(rules)) == 5


def test_slots_of_which_a_feed_that_was_away_could_have_told_are_undecided_and_cost_nothing(tmp_path: Path) -> None:
    rules = house(tmp_path)
    run(rules, events({"aula": 1}))
    with Journal.open(rules.journal) as journal, Pipeline.open(rules, journal, now=lambda: NINE + 4 * STEP) as pipeline:
        pipeline.away(NINE + STEP, NINE + STEP + MINUTE)
        decided = pipeline.advance(by_clock=True)
    away = [each for each in decided if each.undecided]
    assert [(each.slot - NINE) // STEP for each in away] == [1, 2]
    assert all(each.paid == 0 and "was not there" in each.reason for each in away)
    assert len(decided) > len(away)
    assert len(paid_keys(rules)) == 1 + len(decided) - len(away)


class Blinking(Given):
    """A feed that is away for a while, and back again."""

    looks = 0

    @property
    def connected(self) -> bool:
        self.looks += 1
        return not 20 < self.looks < 30

    @connected.setter
    def connected(self, _: bool) -> None: ...


def test_a_feed_that_comes_back_leaves_slots_undecided(tmp_path: Path) -> None:
    rules = house(tmp_path)
    run(rules, events({"aula": 1}))
    times = iter(range(NINE + STEP, NINE + 10_000 * STEP, MINUTE))

    def enough(decided: list[Decided]) -> bool:
        asked = [each for each in decided if each.of_a_slot]
        return any(each.undecided for each in asked) and not asked[-1].undecided

    feed = Blinking(ends=False)
    made = asyncio.run(watched(rules, feed, enough, clock=WALL, now=lambda: next(times), tick=0.001))
    assert 0 < made.undecided < made.slots


def test_events_that_a_slot_still_needs_are_not_forgotten(tmp_path: Path) -> None:
    rules = house(tmp_path, watch='keep = "1 hour"')
    run(rules, events({"aula": 1}))
    now = NINE + 40 * STEP
    with Journal.open(rules.journal) as journal, Pipeline.open(rules, journal, now=lambda: now) as pipeline:
        pipeline.take(events({"aula": FULL}, start=NINE + STEP))
        pipeline.advance()  # nothing is final, and hours have passed
    with Store.open(rules.store) as store:
        assert len(store.events(NINE + STEP)) == FULL


def test_rows_are_forgotten_after_the_stated_time(tmp_path: Path) -> None:
    rules = house(tmp_path, watch='keep = "1 hour"')
    run(rules, events({"aula": 1}, *[{}] * 30, {"aula": 1}))
    with Store.open(rules.store) as store:
        assert len(store.events()) == 1
        with pytest.raises(DataError, match="expired"):
            store.rows(NINE)


def test_neither_store_journal_nor_ledger_holds_a_device(tmp_path: Path) -> None:
    rules = house(tmp_path)
    run(rules, events({"aula": FULL}, {"aula": EMPTY, "lab": 1}))
    for file in [path for path in tmp_path.rglob("*") if path.is_file() and path.suffix != ".toml"]:
        assert b"aula 1" not in file.read_bytes(), file.name


def test_a_feed_that_fails_is_told_as_no_data_and_ends_the_watch(tmp_path: Path) -> None:
    rules = house(tmp_path)

    class Failing(Given):
        async def __aiter__(self) -> AsyncIterator[Batch]:
            async for batch in super().__aiter__():
                yield batch
            raise DataError("The broker is gone.")

    feed = Failing(events({"aula": 1}, {"aula": 1}, {"aula": 1}))
    with pytest.raises(DataError, match="broker is gone"):
        asyncio.run(watched(rules, feed))
    assert told(rules) == [("fire-limit", "region", "no data", 2)]
    assert feed.closed


def test_a_watch_that_is_stopped_goes_on_later(tmp_path: Path) -> None:
    rules = house(tmp_path)
    batches = [events({"aula": 1}, start=NINE + at * STEP) for at in range(6)]
    first = asyncio.run(watched(rules, Given(*batches), lambda decided: len(decided) == 2))
    assert first.slots == 2
    asyncio.run(watched(rules, Given(*batches)))
    assert len(paid_keys(rules)) == 6
