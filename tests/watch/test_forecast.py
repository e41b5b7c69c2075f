from __future__ import annotations

import asyncio
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from louver.errors import BudgetError
from louver.ledger import Ledger
from louver.watch.forecast import Forecast
from louver.watch.pipeline import prepared
from louver.watch.rules import Rules
from tests.watch.made import FIRE_LIMIT, NINE, STEP, Given, events, house, paid_keys, watched

SECOND = FIRE_LIMIT.replace("fire-limit", "second")


def foreseen(rules: Rules, start: int = NINE) -> Forecast:
    with Ledger.open(rules.ledger) as ledger:
        return prepared(rules, ledger, start).forecast


def test_a_rule_says_what_a_slot_costs_and_what_is_promised_over_the_pending_ones(tmp_path: Path) -> None:
    said = foreseen(house(tmp_path, f"{FIRE_LIMIT}pending = 2\nclear_after = 3\n"))
    (sentence,) = said.rules
    assert sentence == (
        "fire-limit: each slot costs at most 0.5382 for each person and slot; a region over its limit in 2 slots in a "
        "row fires except in at most 1 of 20 cases."
    )
    assert said.budget == (
        "Every slot has a budget of its own: 0.5382 of 1.0000 is used at most, for as long as you like."
    )
    assert said.ends is None


def test_rules_that_do_not_fit_into_a_slot_together_are_refused(tmp_path: Path) -> None:
    rules = house(tmp_path, FIRE_LIMIT + SECOND, cap=0.8)
    with pytest.raises(BudgetError, match=r"fire-limit and second cost 0\.8296 together and 0\.8000 is left"):
        foreseen(rules)


def test_rules_with_hours_of_their_own_need_not_fit_together(tmp_path: Path) -> None:
    rules = house(tmp_path, f'{FIRE_LIMIT}hours = "07:00-12:00"\n{SECOND}hours = "12:00-18:00"\n', cap=0.8)
    assert "0.4148 of 0.8000" in foreseen(rules).budget


def test_a_closer_question_is_counted_as_if_every_slot_had_one(tmp_path: Path) -> None:
    rules = house(tmp_path, f"{FIRE_LIMIT}closer = {{ slack = 3, miss_rate = 0.05 }}\n", cap=1.5)
    with pytest.raises(BudgetError, match=r"fire-limit costs 1\.566. and 1\.5000 is left"):
        foreseen(rules)


def test_for_a_person_and_day_it_says_until_which_time_the_budget_lasts(tmp_path: Path) -> None:
    rules = house(tmp_path, f'{FIRE_LIMIT}hours = "08:00-18:00"\n', cap=4.2, unit="(person, day)")
    said = foreseen(rules)
    # Ten slots of 0.4148 fit, so the eleventh does not: fifty minutes after eight, and today after nine.
    assert said.budget == (
        "On 2026-03-02 the 4.2000 that is left may be used up at 09:50. "
        "Each day's budget of 4.2000 may be used up at 08:50; slots after that are undecided."
    )
    assert said.ends is not None
    assert f"{said.ends:%Y-%m-%d %H:%M}" == "2026-03-02 09:50"


def test_the_rest_of_a_day_may_suffice_where_a_whole_day_does_not(tmp_path: Path) -> None:
    rules = house(tmp_path, f'{FIRE_LIMIT}hours = "08:00-18:00"\n', cap=4.2, unit="(person, day)")
    said = foreseen(rules, NINE + 8 * 12 * STEP + 6 * STEP)
    assert said.budget.startswith("Each day's budget of 4.2000 may")
    assert said.ends is not None
    assert f"{said.ends:%Y-%m-%d %H:%M}" == "2026-03-03 08:50"


def test_days_on_which_the_budget_ends_are_named_where_they_are_not_all(tmp_path: Path) -> None:
    short = f'{FIRE_LIMIT}hours = "08:00-18:00"\ndays = ["wed", "fri", "sat"]\n'
    rules = house(tmp_path, short, cap=4.2, unit="(person, day)")
    assert foreseen(rules).budget == (
        "On Wednesdays, Fridays and Saturdays the day's budget of 4.2000 may be used up at 08:50; slots after that are "
        "undecided."
    )


@pytest.mark.parametrize(
    ("unit", "cap", "protected", "sure"),
    [
        ("(person, slot)", 1, "one person during one slot", "60.3%"),  # 0.4148 of it
        ("(person, day)", 0.9, "one person on one day", "69.7%"),  # two slots; the cap is less than a third more
        ("(person)", 0.9, "one person", "71.1%"),  # the whole cap, though two slots do not use it up
    ],
)
def test_what_is_protected_and_what_the_price_means_is_said(
    tmp_path: Path, unit: str, cap: float, protected: str, sure: str
) -> None:
    said = foreseen(house(tmp_path, f'{FIRE_LIMIT}hours = "10:00-10:10"\n', cap=cap, unit=unit))
    assert said.protected.startswith(f"Protected: everything recorded about {protected}")
    assert said.meaning.startswith(f"Meaning: whoever gave even odds that something recorded about {protected} is in")
    assert said.meaning.endswith(f"can be at most {sure} sure afterwards.")
    assert str(said).splitlines() == [said.protected, *said.rules, said.budget, said.meaning]


def test_a_sparse_rule_says_that_it_is_cheaper_without(tmp_path: Path) -> None:
    (said,) = foreseen(house(tmp_path, f'{FIRE_LIMIT}strategy = "sparse"\n', cap=9)).rules
    assert "keys after the last alarm of a slot are undecided. " in said
    assert 'Without strategy = "sparse" a slot costs at most 0.4148, and every key is decided.' in said


def test_a_number_is_said_to_fire_below_its_limit(tmp_path: Path) -> None:
    (said,) = foreseen(
        house(tmp_path, "[rule.crowd]\nvalues = true\nwithin = 10\nmiss_rate = 0.05\nlimit = 300\n")
    ).rules
    assert said.endswith("except in at most 1 of 20 cases; a number fires from 10 below the limit on.")


def test_what_was_spent_today_is_missing_today_and_on_no_other_day(tmp_path: Path) -> None:
    rules = house(tmp_path, f'{FIRE_LIMIT}hours = "09:00-10:00"\n', cap=5, unit="(person, day)")
    assert foreseen(rules).budget == "Every day has a budget of its own, which suffices for the whole day."
    asyncio.run(watched(rules, Given(events(*[{"aula": 1}] * 6))))
    said = foreseen(rules)
    # Six of its slots were paid, so six of the twelve that the forecast begins with again can be.
    assert said.budget == (
        "On 2026-03-02 the 2.5113 that is left may be used up at 09:30. Slots of that day after that are undecided. "
        "Every other day's budget suffices."
    )


@pytest.mark.parametrize("zone", ["Asia/Kathmandu", "America/New_York", "Pacific/Chatham"])
def test_days_are_those_of_the_building_also_where_slots_do_not_begin_with_them(tmp_path: Path, zone: str) -> None:
    rules = house(
        tmp_path, f'{FIRE_LIMIT}hours = "00:00-12:00"\n', cap=1, unit="(person, day)", watch='slot = "1 hour"'
    )
    building = tmp_path / "building.toml"
    building.write_text(building.read_text().replace('id = "house"', f'id = "house"\ntimezone = "{zone}"'))
    said = foreseen(Rules.read(rules.path))
    assert said.ends is not None
    assert said.ends.utcoffset() == said.ends.astimezone(ZoneInfo(zone)).utcoffset()
    begin = datetime(said.ends.year, said.ends.month, said.ends.day, tzinfo=ZoneInfo(zone))
    slots = [hour for hour in range(int(begin.timestamp()), int(said.ends.timestamp())) if hour % 3600 == 0]
    today = begin.timestamp() < NINE // 1_000_000
    assert len([each for each in slots if not today or each >= NINE // 1_000_000]) == 2  # two of 0.4148 fit into 1


def test_a_day_that_fits_is_said_to_suffice(tmp_path: Path) -> None:
    rules = house(tmp_path, f'{FIRE_LIMIT}hours = "08:00-08:30"\n', cap=3, unit="(person, day)")
    assert foreseen(rules).budget == "Every day has a budget of its own, which suffices for the whole day."


def test_for_a_person_it_says_until_when_the_budget_lasts(tmp_path: Path) -> None:
    # 6 slots a day, 0.4148 each: 300 slots are 50 days.
    rules = house(tmp_path, f'{FIRE_LIMIT}hours = "08:00-08:30"\n', cap=124.5, unit="(person)")
    said = foreseen(rules)
    assert said.ends is not None
    assert f"{said.ends:%Y-%m-%d %H:%M}" == "2026-04-22 08:00"


@pytest.mark.parametrize("cap", [1, 2.5, 7])
def test_the_budget_lasts_exactly_so_long_as_it_was_said_to(tmp_path: Path, cap: float) -> None:
    rules = house(tmp_path, cap=cap, unit="(person)")
    ends = foreseen(rules).ends
    assert ends is not None
    made = asyncio.run(watched(rules, Given(events(*[{"aula": 1}] * 20))))
    paid = len(paid_keys(rules))
    assert made.undecided == 20 - paid
    assert (int(ends.timestamp()) * 1_000_000 - NINE) // STEP == paid == int(Fraction(cap) / made.paid)
