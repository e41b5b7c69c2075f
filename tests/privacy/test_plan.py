"""Plans as plain values: what is stored comes back, and what was changed is refused."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from louver.decide import Shift
from louver.errors import ParameterError
from louver.privacy import (
    Approximate,
    Between,
    Charge,
    Plan,
    Pure,
    Scope,
    Subspace,
    Unit,
    ZeroConcentrated,
    plan_from_dict,
    plan_to_dict,
)
from louver.privacy.plan import charges_from_list, charges_to_list
from tests.counting import counting
from tests.misuse import anything, assert_made_or_refused

PLAN = counting(Shift, "room", {"hall": 180, "lab": 40}, unit=Unit.row(), miss_rate=0.05, slack=10)

amounts = st.fractions(0, 3, max_denominator=50)
deltas = st.fractions(0, Fraction(1, 2), max_denominator=50)
guarantees = st.one_of(
    st.builds(Pure, amounts),
    st.builds(Approximate, amounts, deltas),
    st.builds(ZeroConcentrated, amounts),
    st.builds(Subspace, amounts, deltas, st.sampled_from(["totals", "rows per day"])),
)
scopes = st.builds(
    Scope,
    st.fixed_dictionaries(
        {},
        optional={
            "room": st.sets(st.sampled_from(["a", "b", "c"]), min_size=1),
            "floor": st.sets(st.integers(0, 3), min_size=1),
            "open": st.sets(st.booleans(), min_size=1),
            "hour": st.integers(0, 9).map(lambda start: Between(start, start + 1)),
        },
    ),
)


@given(st.lists(st.builds(Charge, scopes, guarantees), max_size=12))
def test_charges_come_back_from_json(charges: list[Charge]) -> None:
    stored = json.loads(json.dumps(charges_to_list(charges)))
    again = charges_from_list(stored)
    assert Counter(again) == Counter(charges)


def test_charges_that_differ_in_one_category_share_a_line() -> None:
    rooms = [Charge(Scope({"room": f"room {number}", "hour": Between(9, 10)}), 1) for number in range(64)]
    (line,) = charges_to_list(rooms)
    assert line["each"] == {"room": [f"room {number}" for number in range(64)]}
    assert charges_from_list([line]) == rooms


def test_true_and_one_stay_apart() -> None:
    charges = [Charge(Scope({"open": True}), 1), Charge(Scope({"open": 1}), 1)]
    again = charges_from_list(json.loads(json.dumps(charges_to_list(charges))))
    assert [type(value) for charge in again for _, kept in charge.scope.ranges for value in kept.values] == [bool, int]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "stored",
    [
        None,
        {},
        [None],
        [{}],
        [{"price": {"kind": "pure", "epsilon": "1"}}],
        [{"price": {"kind": "pure", "epsilon": 1}, "scope": {}}],
        [{"price": {"kind": "pure", "epsilon": "1/0"}, "scope": {}}],
        [{"price": {"kind": "pure", "epsilon": "-1"}, "scope": {}}],
        [{"price": {"kind": "pure"}, "scope": {}}],
        [{"price": {"kind": "pure", "rho": "1"}, "scope": {}}],
        [{"price": {"kind": "free", "epsilon": "1"}, "scope": {}}],
        [{"price": {"kind": "subspace", "epsilon": "1", "delta": "0"}, "scope": {}}],
        [{"price": {"kind": "pure", "epsilon": "1"}, "scope": {"room": 1}}],
        [{"price": {"kind": "pure", "epsilon": "1"}, "scope": {}, "each": {"a": ["b"], "c": ["d"]}}],
        [{"price": {"kind": "pure", "epsilon": "1"}, "scope": {}, "each": {"a": "b"}}],
        [{"price": {"kind": "pure", "epsilon": "1"}, "scope": {}, "more": 1}],
    ],
)
def test_charges_that_were_not_stored_so_are_refused(stored: object) -> None:
    with pytest.raises(ParameterError):
        charges_from_list(stored)


def test_a_plan_is_a_plan() -> None:
    assert isinstance(PLAN, Plan)
    assert not isinstance(object(), Plan)


def test_a_stored_plan_shows_what_follows_from_its_parameters() -> None:
    stored = plan_to_dict(PLAN)
    assert set(stored) == {"format", "mechanism", "parameters", "unit", "sensitivity", "gradual", "promise", "worst"}
    assert (stored["unit"], stored["sensitivity"], stored["promise"]) == ("row", "1", PLAN.promise)
    assert charges_from_list(stored["worst"]) == list(PLAN.worst)


@pytest.mark.parametrize(
    "changed", [{"format": 2}, {"mechanism": "free counts"}, {"mechanism": None}, {"parameters": None}, {"worst": []}]
)
def test_a_plan_of_another_form_is_refused(changed: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        plan_from_dict({**plan_to_dict(PLAN), **changed})


def test_parameters_that_promise_more_cannot_keep_the_old_price() -> None:
    stored = plan_to_dict(PLAN)
    cheated = {**stored, "parameters": {**stored["parameters"], "miss_rate": "1/1000"}}
    with pytest.raises(ParameterError, match="make it again"):
        plan_from_dict(cheated)


@given(st.one_of(anything, st.dictionaries(st.sampled_from(["format", "mechanism", "parameters"]), anything)))
def test_anything_else_gets_one_sentence(stored: object) -> None:
    assert_made_or_refused(lambda: plan_from_dict(stored))


@given(st.sampled_from(sorted(PLAN.parameters())), anything)
def test_any_other_parameter_gets_one_sentence(name: str, value: object) -> None:
    stored = plan_to_dict(PLAN)
    assert_made_or_refused(lambda: plan_from_dict({**stored, "parameters": {**stored["parameters"], name: value}}))
