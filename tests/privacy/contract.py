"""What every mechanism must do, whatever it releases. A new mechanism adds itself to `MECHANISMS`."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from louver.decide import GradualCounts, OneShotCounts
from louver.errors import BudgetError, ParameterError
from louver.noise import Bits
from louver.privacy import ExPost, Outcome, Plan, Unit, largest_total, plan_from_dict, plan_to_dict
from louver.source import Counts, View
from tests.misuse import NOT_COUNTS, NOT_NUMBERS, assert_made_or_refused
from tests.steward.house import LIMITS, house, recorded

NEVER_COUNTS = [wrong for wrong in NOT_COUNTS if type(wrong) is not int or not 0 <= wrong <= 2**40]
UNITS = [(Unit.row(), 1), (Unit("device", "room"), 3), (Unit("device"), 3)]


@dataclass(frozen=True)
class Mechanism:
    """How to make its plan for a unit, with some parameters changed, and which of them take numbers and counts."""

    make: Callable[..., Plan]
    numbers: tuple[str, ...]
    counts: tuple[str, ...]

    def plan(self, unit: Unit = UNITS[0][0], rows_per_unit: int = 1, **changed: Any) -> Plan:
        given = {"thresholds": LIMITS, "miss_rate": Fraction(1, 20), "slack": 10, **changed}
        return self.make("room", given.pop("thresholds"), unit=unit, rows_per_unit=rows_per_unit, **given)

    def plans(self) -> Iterator[Plan]:
        return (self.plan(unit, bound) for unit, bound in UNITS)


MECHANISMS = {
    "one-shot counts": Mechanism(OneShotCounts, ("miss_rate", "false_alarm_rate"), ("slack",)),
    "gradual counts": Mechanism(GradualCounts, ("miss_rate", "false_alarm_rate"), ("slack", "levels")),
}


def plans_without_data(mechanism: Mechanism, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("A plan must not open anything.")

    with monkeypatch.context() as patch:
        patch.setattr("louver.source.rows.duckdb.connect", refuse)
        patch.setattr(Path, "open", refuse)
        patch.setattr("builtins.open", refuse)
        for plan in mechanism.plans():
            assert isinstance(plan, Plan)
            assert plan.promise.endswith(".")
            assert plan.sensitivity >= 1
            assert largest_total(plan.worst).price > 0
            assert all(charge.scope == charge.scope.for_unit(plan.unit) for charge in plan.worst)


def comes_back_from_json(mechanism: Mechanism) -> None:
    for plan in mechanism.plans():
        again = plan_from_dict(json.loads(json.dumps(plan_to_dict(plan), sort_keys=True)))
        assert again == plan
        assert plan_to_dict(again) == plan_to_dict(plan)


def refuses_an_edited_plan(mechanism: Mechanism) -> None:
    stored = plan_to_dict(mechanism.plan())
    cheap = copy.deepcopy(stored)
    cheap["worst"][0]["price"]["epsilon"] = "1/1000"
    edits = {"sensitivity": "0", "unit": "(device)", "gradual": not stored["gradual"], "promise": "Never wrong."}
    for edited in (cheap, *({**stored, name: value} for name, value in edits.items())):
        with pytest.raises(ParameterError, match="it was changed"):
            plan_from_dict(edited)


def refuses_what_is_missing(mechanism: Mechanism) -> None:
    stored = plan_to_dict(mechanism.plan())
    for name in stored["parameters"]:
        left = {each: value for each, value in stored["parameters"].items() if each != name}
        with pytest.raises(ParameterError):
            plan_from_dict({**stored, "parameters": left})
        for wrong in (None, [], {}, "x", -1, [["hall"]], {"room": 1}):
            changed = {**stored, "parameters": {**stored["parameters"], name: wrong}}
            assert_made_or_refused(partial(plan_from_dict, changed))


def refuses_absurd_parameters(mechanism: Mechanism) -> None:
    wrong_values: list[tuple[str, Any]] = [
        (name, wrong) for name in mechanism.numbers for wrong in [*NOT_NUMBERS, 0, -1, 0.5, 1]
    ]
    wrong_values += [(name, wrong) for name in mechanism.counts for wrong in NEVER_COUNTS]
    wrong_values += [("thresholds", {"hall": wrong}) for wrong in NEVER_COUNTS]
    wrong_values += [("thresholds", wrong) for wrong in ({}, {1: 2}, {"": 3}, ["hall"], None, {"\ud800": 1})]
    wrong_values += [("unit", wrong) for wrong in ("row", None, 3)]
    wrong_values += [("within", wrong) for wrong in ("room", {"room": 1}, 3)]
    for name, wrong in wrong_values:
        if wrong is None and name not in ("thresholds", "unit"):
            continue
        with pytest.raises(ParameterError) as caught:
            mechanism.plan(**{name: wrong})
        assert str(caught.value).endswith(".")
        assert len(str(caught.value)) < 250


def settles_at_most_the_reservation(mechanism: Mechanism) -> None:
    dice = np.random.default_rng(3)
    for plan in mechanism.plans():
        for _ in range(50):
            outcome = plan.run(View(dice.integers(0, 400, len(LIMITS))), Bits())
            assert isinstance(outcome, Outcome)
            assert json.loads(json.dumps(outcome.answer)) == outcome.answer
            if outcome.charges is None:
                continue
            assert plan.gradual
            ExPost(plan.worst, outcome.charges)


def reserves_before_it_reads(mechanism: Mechanism, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    with house(folder) as made, monkeypatch.context() as patch:
        acts: list[str] = []
        recorded(patch, made.ledger, acts)
        release = made.steward.run(mechanism.plan())
        assert acts == ["check", "reserve", "read", "settle"]
        assert release.charged <= release.worst
        assert made.ledger.spent() == release.charged


def reads_nothing_over_the_cap(mechanism: Mechanism, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    with house(folder, cap=0.1) as made, monkeypatch.context() as patch:
        acts: list[str] = []
        recorded(patch, made.ledger, acts)
        with pytest.raises(BudgetError):
            made.steward.run(mechanism.plan())
        assert "read" not in acts
        assert made.ledger.spent() == 0


def works_on_an_empty_table_and_on_one_key(mechanism: Mechanism, folder: Path) -> None:
    with house(folder, "device,room\n") as made:
        plan = mechanism.plan(thresholds={"hall": 200})
        assert isinstance(plan.reading, Counts)
        release = made.steward.run(plan)
        assert json.loads(json.dumps(release.to_dict())) == release.to_dict()
