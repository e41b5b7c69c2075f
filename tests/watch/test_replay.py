from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from louver.errors import ParameterError
from louver.watch.journal_records import Released
from louver.watch.journal_states import UNDECIDED
from louver.watch.replay import Fire, tried
from louver.watch.states import BURNING, FLAGGED, NOT_FLAGGED, advanced


def flags(*values: bool) -> list[Released]:
    return [Released(slot, "aula", value) for slot, value in enumerate(values)]


def test_other_pending_slots_are_tried_on_the_same_flags() -> None:
    released = flags(True, False, True, True, True, False, False)
    assert [fire.fired for fire in tried(released, step=1).fires] == [0, 2]
    assert tried(released, step=1, pending=3).fires == (Fire("aula", 2, 4, 5),)
    assert tried(released, step=1, pending=4).fires == ()


def test_what_still_fires_has_no_end() -> None:
    assert tried(flags(False, True), step=1, clear_after=2).fires == (Fire("aula", 1, 1, None),)


def test_a_slot_that_was_not_decided_is_a_gap_and_one_without_an_answer_is_none() -> None:
    released = [Released(0, "aula", True), Released(2, "aula", True)]
    assert tried(released, step=1, pending=2).fires == ()
    assert tried(released, step=1, pending=2, decided={0, 2}).fires == ()
    assert tried(released, step=1, pending=2, decided={0, 1, 2}).fires == (Fire("aula", 0, 2, None),)


SLOTS = st.lists(st.sampled_from([FLAGGED, NOT_FLAGGED, UNDECIDED, None]), max_size=30)


@given(SLOTS, st.integers(1, 3), st.integers(1, 3))
def test_the_rules_own_numbers_fire_when_the_rule_did(slots: list[str | None], pending: int, clear_after: int) -> None:
    """None is a slot that was not decided, as outside of a rule's hours."""
    state, last, fired = None, -1, []
    for slot, outcome in enumerate(slots):
        if outcome is not None:
            gap = last >= 0 and slot != last + 1
            new = advanced(state, outcome, slot, pending=pending, clear_after=clear_after, gap=gap)
            if new.state in BURNING and (state is None or state.state not in BURNING):
                fired.append((new.since, slot))
            state, last = new, slot
    answered = [(at, each == FLAGGED) for at, each in enumerate(slots) if each in (FLAGGED, NOT_FLAGGED)]
    found = tried(
        [Released(at, "aula", flag) for at, flag in answered],
        step=1,
        pending=pending,
        clear_after=clear_after,
        decided={at for at, each in enumerate(slots) if each is not None},
    )
    assert [(fire.since, fire.fired) for fire in found.fires] == fired


def test_numbers_are_tried_with_another_limit() -> None:
    released = [Released(slot, "aula", value) for slot, value in enumerate([20, 35, 50])]
    fires = {
        limit: [
            fire.fired for fire in tried(released, step=1, limits={"aula": Fraction(limit)}, within=Fraction(5)).fires
        ]
        for limit in (24, 40, 54, 55)
    }
    assert fires == {24: [0], 40: [2], 54: [2], 55: []}


def test_numbers_that_waver_fire_once_with_a_hysteresis() -> None:
    released = [Released(slot, "aula", value) for slot, value in enumerate([90, 97, 93, 96, 92, 84])]

    def fires(hysteresis: int) -> list[tuple[int, int | None]]:
        limits = {"aula": Fraction(100)}
        found = tried(released, step=1, limits=limits, within=Fraction(5), hysteresis=Fraction(hysteresis))
        return [(fire.fired, fire.cleared) for fire in found.fires]

    assert fires(0) == [(1, 2), (3, 4)]
    assert fires(10) == [(1, 5)]


def test_another_limit_for_flags_is_refused() -> None:
    with pytest.raises(ParameterError, match="takes a new question"):
        tried(flags(True), step=1, limits={"aula": Fraction(3)})


@given(st.lists(st.booleans(), max_size=30), st.integers(1, 3))
def test_fewer_pending_slots_never_fire_less(values: list[bool], pending: int) -> None:
    eager, patient = (tried(flags(*values), step=1, pending=each).fires for each in (pending, pending + 1))
    assert len(patient) <= len(eager)
    assert {fire.since for fire in patient} <= {fire.since for fire in eager}
