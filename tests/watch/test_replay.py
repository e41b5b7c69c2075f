from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from louver.errors import ParameterError
from louver.watch.journal_records import Released
from louver.watch.replay import Fire, tried


def flags(*values: bool) -> list[Released]:
    return [Released(slot, "aula", value) for slot, value in enumerate(values)]


def test_other_pending_slots_are_tried_on_the_same_flags() -> None:
    released = flags(True, False, True, True, True, False, False)
    assert [fire.fired for fire in tried(released, step=1).fires] == [0, 2]
    assert tried(released, step=1, pending=3).fires == (Fire("aula", 2, 4, 5),)
    assert tried(released, step=1, pending=4).fires == ()


def test_what_still_fires_has_no_end() -> None:
    assert tried(flags(False, True), step=1, clear_after=2).fires == (Fire("aula", 1, 1, None),)


def test_a_slot_without_an_answer_is_a_gap() -> None:
    released = [Released(0, "aula", True), Released(2, "aula", True)]
    assert tried(released, step=1, pending=2).fires == ()


def test_numbers_are_tried_with_another_limit() -> None:
    released = [Released(slot, "aula", value) for slot, value in enumerate([20, 35, 50])]
    fires = {
        limit: [
            fire.fired for fire in tried(released, step=1, limits={"aula": Fraction(limit)}, within=Fraction(5)).fires
        ]
        for limit in (24, 40, 54, 55)
    }
    assert fires == {24: [0], 40: [2], 54: [2], 55: []}


def test_another_limit_for_flags_is_refused() -> None:
    with pytest.raises(ParameterError, match="takes a new question"):
        tried(flags(True), step=1, limits={"aula": Fraction(3)})


@given(st.lists(st.booleans(), max_size=30), st.integers(1, 3))
def test_fewer_pending_slots_never_fire_less(values: list[bool], pending: int) -> None:
    eager, patient = (tried(flags(*values), step=1, pending=each).fires for each in (pending, pending + 1))
    assert len(patient) <= len(eager)
    assert {fire.since for fire in patient} <= {fire.since for fire in eager}
