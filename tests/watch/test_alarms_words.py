"""What an alarm says, in words and as a record."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from louver.errors import DataError, ParameterError
from louver.watch.alarms import Alarm, Closer, Notice, subject, text
from louver.watch.journal_states import STATES
from tests.watch.alarms_made import NOON, PROMISE, SLOT, alarm


def said(made: Alarm, number: int = 0) -> str:
    return " ".join(text(Notice(made, number)).split())


def test_a_firing_alarm_says_what_where_since_when_and_what_to_do() -> None:
    assert text(Notice(alarm(id="0123456789abcdef"))) == (
        "FIRING: region Aula is found to cross its limit of 180 devices.\n"
        "Since: 13:00 on 2018-03-05 (Europe/Vienna); flagged in 2 slots in a row, last at 13:05.\n"
        "To do: Go and look, and act if it is so. The promise below says how often such an alarm is false.\n"
        "Nobody has to ask again: the rule asks in every slot.\n"
        "Counted: devices, not people: somebody may carry several or none.\n"
        "Promise: A region whose count is above its capacity for 2 slots in a row is missed in at most 1 of\n"
        "20 cases.\n"
        "Paid in this slot: epsilon 0.4148 for each person and slot.\n"
        "Rule: fire-limit, which asks count(*) > capacity.\n"
        "Alarm: 0123456789abcdef. To say that you have seen it: louver watch ack 0123456789abcdef"
    )


def test_undecided_is_not_clear_and_says_why() -> None:
    words = said(alarm("undecided", reason="The budget does not suffice", price=None))
    assert words.startswith("UNDECIDED: it is not known whether region Aula crosses its limit of 180 devices.")
    assert "Undecided is not clear: go and look" in words
    assert "Reason: The budget does not suffice." in words
    assert "Promise: none while nothing is decided; otherwise: A region" in words
    assert "Paid in this slot: nothing." in words


@pytest.mark.parametrize("state", ["undecided", "firing and undecided", "no data"])
def test_without_an_answer_it_is_always_said_that_this_is_not_clear(state: str) -> None:
    assert "not clear" in said(alarm(state))
    assert "Call 4711. " in said(alarm(state, todo="Call 4711"))
    assert "not clear" in said(alarm(state, todo="Call 4711"))
    assert "clear" not in subject(Notice(alarm(state))).lower()


def test_a_rule_says_what_is_to_be_done() -> None:
    assert "To do: Call 4711 and open the doors. Counted" in said(alarm(todo="Call 4711 and open the doors."))


def test_a_rule_that_decides_again_does_not_say_that_all_is_clear() -> None:
    words = said(alarm("clear", key="region", level="any", limit=None))
    assert words.startswith("DECIDED AGAIN: what the rule fire-limit finds about each region is told again.")
    assert "not flagged" not in words


def test_a_closer_answer_is_told_with_its_promise_and_price() -> None:
    closer = Closer(flagged=True, promise="Missed in at most 1 of 100 cases", price=Fraction(3, 2))
    words = said(alarm(closer=closer))
    assert "Closer question: a closer look also flags it. Missed in at most 1 of 100 cases." in words
    assert "epsilon 0.4148 for each person and slot, and epsilon 1.5000 for the closer question." in words
    assert "does not flag it" in said(alarm(closer=Closer(flagged=False, promise="")))
    assert "it could not be decided" in said(alarm(closer=Closer(flagged=None, promise="")))


def test_a_price_is_rounded_up() -> None:
    assert "epsilon 0.3334 for" in said(alarm(price=Fraction(1, 3)))
    assert alarm(price=Fraction(1, 3)).to_dict()["epsilon"] == 0.3334


def test_a_released_number_is_called_noisy() -> None:
    assert "Released number: 1,187, which has noise in it." in said(alarm(value=1187))


def test_a_number_only_may_be_above_its_limit_and_no_rate_of_false_alarms_is_claimed() -> None:
    number: dict[str, Any] = {"value": 506, "limit": 510, "within": 10}
    words = said(alarm(**number))
    assert words.startswith("FIRING: region Aula may be above its limit of 510 devices.")
    assert "506, which has noise in it. It may be off by 10, so the rule flags what is above 500." in words
    assert "How often such an alarm is false is not promised." in words
    assert "promise below says how often" not in words
    assert said(alarm("clear", **number)).startswith("CLEAR: region Aula is now found not to be above its limit of 510")
    assert "it is not known whether region Aula is above" in said(alarm("undecided", **number))


def test_a_number_without_a_limit_has_none_that_could_be_crossed() -> None:
    words = said(alarm("undecided", key="region", level="any", over=False, within=10, limit=None))
    assert words.startswith("UNDECIDED: the number of any region is not known.")
    assert "limit" not in words.replace("fire-limit", "")


@pytest.mark.parametrize("state", STATES)
def test_a_condition_that_is_no_limit_is_met_and_not_crossed(state: str) -> None:
    words = said(alarm(state, over=False, limit=5, question="count(*) < 5", promise="Rare."))
    assert "cross" not in words
    assert "limit" not in words.replace("fire-limit", "")
    if state != "no data":
        assert "meet its condition count(*) < 5" in words.replace("meets", "meet")


def test_a_whole_question_is_shown_where_the_rule_is_and_not_in_the_subject() -> None:
    words = said(alarm(over=False, question="SELECT region FROM occupancy GROUP BY region HAVING count(*) < 5"))
    assert words.startswith("FIRING: region Aula is found to meet its condition.")
    assert "which asks SELECT region FROM" in words


def test_a_rule_with_hours_says_that_it_asks_in_these_only() -> None:
    words = said(alarm(hours="17:00-18:00"))
    assert "the rule asks in every slot of its hours (17:00-18:00), and outside of them this stays as it is." in words


def test_a_limit_of_people_is_also_said_in_the_devices_that_the_promise_counts() -> None:
    words = said(alarm(counted="people", limit=6, devices=Fraction(39, 5)))
    assert "its limit of 6 people." in words
    assert "own ratio; the promise below counts devices, of which the limit is 7.8." in words


def test_where_some_keys_have_an_answer_only_the_others_are_not_known() -> None:
    words = said(alarm("undecided", key="region", level="any", limit=None, part="17 of the 22"))
    assert words.startswith("UNDECIDED: it is not known whether any of 17 of the 22 regions crosses its limit.")


def test_a_record_from_before_there_were_these_fields_is_read() -> None:
    made = alarm()
    plain = made.to_dict()
    for name in ("over", "within", "devices", "hours", "part"):
        del plain[name]
    assert Alarm.from_dict(plain) == made


def test_people_and_other_things_are_called_by_their_names() -> None:
    assert "its limit of 180 people" in said(alarm(counted="people"))
    words = said(alarm(counted="the average of celsius", limit=Fraction(53, 2)))
    assert "its limit of 26.5 (the average of celsius)." in words
    assert "Counted: the average of celsius." in words


def test_a_reminder_says_so() -> None:
    assert subject(Notice(alarm(), 2)).endswith("(reminder 2)")


def test_a_day_that_changes_is_said_and_an_unknown_zone_is_utc() -> None:
    assert "last at 13:00 on 2018-03-06" in said(alarm(slot=NOON + 86_400_000_000))
    assert "Since: 12:00 on 2018-03-05 (UTC)" in said(alarm(zone="Nowhere/At all"))


def test_names_cannot_move_the_cursor() -> None:
    words = text(Notice(alarm(key="\x1b[2JAula\nCLEAR: all is well", rule="r\r\n", todo="a\x07b")))
    assert "\x1b" not in words
    assert "\nCLEAR" not in words
    assert "\x07" not in words
    assert "\\x1b[2JAula\\nCLEAR" in words


def test_the_record_has_a_version_and_no_channels() -> None:
    plain = json.loads(Notice(alarm(to=("desk", "secret place")), 1).line())
    assert (plain["louver"], plain["format"], plain["notice"]) == ("alarm", 1, 1)
    assert (plain["since"], plain["slot"]) == ("2018-03-05T12:00:00Z", "2018-03-05T12:05:00Z")
    assert (plain["price"], plain["epsilon"], plain["limit"]) == ("41477/100000", 0.4148, 180)
    assert plain["text"].startswith(plain["subject"])
    assert "to" not in plain


@given(
    state=st.sampled_from(STATES),
    key=st.text(max_size=20),
    limit=st.none() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.fractions(-10, 10),
    price=st.none() | st.fractions(0, 100),
    closer=st.none() | st.builds(Closer, flagged=st.none() | st.booleans(), promise=st.text(), price=st.just(None)),
    value=st.none() | st.integers(),
    time=st.integers(0, 4_000_000_000_000_000),
)
def test_a_record_comes_back_as_it_was_and_can_always_be_told(
    state: str,
    key: str,
    limit: Fraction | int | None,
    price: Fraction | None,
    closer: Closer | None,
    value: int | None,
    time: int,
) -> None:
    made = alarm(state, key, limit=limit, price=price, closer=closer, value=value, since=time, slot=time + SLOT)
    assert Alarm.from_dict(json.loads(json.dumps(made.to_dict()))) == made
    assert PROMISE in said(made)
    assert b"\n" not in Notice(made).line()


def test_ids_differ() -> None:
    assert len({alarm().id for _ in range(100)}) == 100


def test_what_is_no_alarm_is_refused() -> None:
    with pytest.raises(ParameterError, match="one of clear, pending"):
        alarm("fine")
    with pytest.raises(ParameterError, match="at least one channel"):
        alarm(to=())
    with pytest.raises(DataError, match="no alarm"):
        Alarm.from_dict({**alarm().to_dict(), "format": 2})
