"""What every mechanism must do, whatever it releases. A new mechanism adds itself to `MECHANISMS`."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from louver.decide import Adaptive, Bands, Naive, Progressive, Shift, Sparse, Survey, Within
from louver.errors import BudgetError, ParameterError
from louver.noise import Bits
from louver.privacy import ExPost, Outcome, Plan, Unit, largest_total, plan_from_dict, plan_to_dict
from louver.question.nodes import COUNT, Aggregate, Classes, Comparison, Flag, Threshold, Values
from louver.source.domain import Domain
from louver.source.measures import Bound, Reading, View
from louver.space.bounds import Bounds
from louver.space.located import Located
from louver.space.plan import MapPlan
from louver.stream.measured import Measured
from louver.stream.plan import StreamPlan
from louver.stream.tail_plan import TailPlan
from louver.stream.ticks import Ticks
from louver.table.plan import TablePlan
from tests.misuse import NOT_NUMBERS, assert_made_or_refused
from tests.steward.house import LIMITS, house, recorded
from tests.steward.house import ROWS as HOUSE

UNITS = [
    (Unit.row(), None),
    (Unit("device", "room"), Bound(3)),
    (Unit("device"), Bound(3)),
    (Unit("device"), Bound(2, keys=3)),
]
ROWS = Aggregate(COUNT, keys=("room",))
OVER = Flag(Comparison(ROWS, ">", Threshold(column="limit")), ("room",))
CROWDED = Classes(ROWS, (Threshold(Fraction(50)), Threshold(column="limit")), ("quiet", "busy", "crowded"), ("room",))
COUNTED = Values((ROWS,), ("room",))
PROMISED = {"miss_rate": Fraction(1, 20), "slack": 10}


@dataclass(frozen=True)
class Mechanism:
    """Its plan for a question, what the plan is made with, and which of that are error rates, lengths and counts."""

    make: Callable[..., Plan]
    question: Flag | Classes | Values | Measured | Located | None = OVER
    given: Mapping[str, Any] = field(default_factory=lambda: PROMISED)
    rates: tuple[str, ...] = ("miss_rate", "false_alarm_rate")
    lengths: tuple[str, ...] = ("slack",)
    counts: tuple[str, ...] = ()
    prices: tuple[str, ...] = ()
    rows: str = HOUSE

    def plan(self, unit: Unit = UNITS[0][0], bound: Bound | None = None, **changed: Any) -> Plan:
        given = {**self.given, **changed}
        limits = given.pop("limits", LIMITS)
        domain = Domain({"room": list(limits), "limit": list(limits.values())}, keys=["room"])
        return self.make(
            given.pop("question", self.question), given.pop("domain", domain), **{"unit": unit, "bound": bound, **given}
        )

    def plans(self) -> Iterator[Plan]:
        return (self.plan(unit, bound) for unit, bound in UNITS)


HOUR = Ticks("time", "2018-02-01T09:00", "2018-02-01T10:00", "15m")
TIMED = "device,room,time\n" + "".join(f"d{number},hall,2018-02-01T09:{number % 60:02}:00\n" for number in range(300))
PLACED = "device,room,x,y,value\n" + "".join(f"d{n},hall,{n % 10},{n % 7},{n % 90}\n" for n in range(300))

MECHANISMS = {
    "shift": Mechanism(Shift),
    "progressive": Mechanism(Progressive, counts=("levels",)),
    "adaptive": Mechanism(Adaptive, counts=("levels",)),
    "sparse": Mechanism(Sparse, given={**PROMISED, "slack": 20}, counts=("alarms",)),
    "bands": Mechanism(Bands, CROWDED),
    "within": Mechanism(
        Within, COUNTED, {"miss_rate": Fraction(1, 20), "distance": 10}, rates=("miss_rate",), lengths=("distance",)
    ),
    "naive": Mechanism(Naive, given={"epsilon": Fraction(1, 2)}, rates=(), lengths=(), prices=("epsilon",)),
    "stream": Mechanism(
        lambda measured, domain, **named: StreamPlan(measured, domain, HOUR, **named),
        Measured(),
        {"epsilon": Fraction(1, 2)},
        rates=(),
        lengths=(),
        counts=("window",),
        prices=("epsilon",),
        rows=TIMED,
    ),
    "tail": Mechanism(
        lambda measured, domain, factor=2, **named: TailPlan(
            StreamPlan(measured, domain, HOUR, kernel="truncated", tick_bound=64, **named), factor
        ),
        Measured(),
        {"epsilon": Fraction(1, 2)},
        rates=(),
        lengths=(),
        counts=("window",),
        prices=("epsilon",),
        rows=TIMED,
    ),
    "map": Mechanism(
        lambda located, domain, **named: MapPlan(located, **named),  # noqa: ARG005 maps have no domain
        Located.of("x", "y", "value", Bounds(0, 0, 10, 10), high=100),
        {"epsilon": Fraction(1, 2), "atoms": 16},
        rates=(),
        lengths=(),
        counts=("atoms",),
        prices=("epsilon",),
        rows=PLACED,
    ),
    "table": Mechanism(
        lambda _, domain, **named: TablePlan(domain, **named),  # a table counts, and is asked nothing else
        None,
        {"epsilon": Fraction(1, 2)},
        rates=(),
        lengths=(),
        prices=("epsilon",),
    ),
    "survey": Mechanism(Survey, given={**PROMISED, "rate": Fraction(1, 2)}, prices=("rate",)),
}

# Other forms of registered mechanisms, under the same contract.
VARIANTS = {
    f"stream {words}": Mechanism(
        lambda measured, domain, **named: StreamPlan(measured, domain, HOUR, **named),
        Measured(),
        given,
        rates=rates,
        lengths=lengths,
        counts=(),
        prices=(),
        rows=TIMED,
    )
    for words, given, rates, lengths in (
        (
            "of limits",
            {"above": 40, "miss_rate": Fraction(1, 20), "slack": 10, "last": 3},
            ("miss_rate",),
            ("slack",),
        ),
        ("with totals", {"epsilon": Fraction(1, 2), "totals": ["room"]}, (), ()),
        (
            "of a mean",
            {"epsilon": Fraction(1, 2), "kernel": "window-mean", "tick_bound": 64, "options": {"over": 2}},
            (),
            (),
        ),
        (
            "of a mean of what is there",
            {"epsilon": Fraction(1, 2), "kernel": "present-mean", "tick_bound": 64},
            (),
            (),
        ),
        ("histogram", {"epsilon": Fraction(1, 2), "kernel": "histogram", "options": {"bins": "10, 50"}}, (), ()),
    )
}


def plans_without_data(mechanism: Mechanism, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("A plan must not open anything.")

    with monkeypatch.context() as patch:
        patch.setattr("duckdb.connect", refuse)
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
        assert plan_from_dict(json.loads(json.dumps(plan_to_dict(plan)))) == plan
        again = plan_from_dict(json.loads(json.dumps(plan_to_dict(plan), sort_keys=True)))
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
    wrong_values: list[tuple[str, Any]] = []
    wrong_values += [(name, wrong) for name in mechanism.rates for wrong in [*NOT_NUMBERS, 0, -1, 0.5, 1]]
    wrong_values += [
        (name, wrong) for name in mechanism.lengths for wrong in [*NOT_LENGTHS, -1, 2**41, Fraction(-1, 2)]
    ]
    wrong_values += [
        (name, wrong) for name in mechanism.counts for wrong in [*NOT_NUMBERS, 0, -1, 2.5, Fraction(3), 2**41]
    ]
    wrong_values += [(name, wrong) for name in mechanism.prices for wrong in [*NOT_NUMBERS, 0, -1, 10**6]]
    compares = isinstance(mechanism.question, Flag | Classes)
    wrong_values += [("limits", {"hall": wrong}) for wrong in NOT_NUMBERS] if compares else []
    wrong_values += [("limits", wrong) for wrong in ({}, {"\ud800": 1}, {1.5: 3}, {None: 1}, {"a": 1, 2: 1})]
    wrong_values += [("unit", wrong) for wrong in ("row", None, 3)]
    if mechanism.question is not None:
        others = (None, "SELECT 1", 3, OVER.condition, _other(mechanism.question))
        wrong_values += [("question", wrong) for wrong in others]
    # A map has no domain at all.
    wrong_values += (
        [] if isinstance(mechanism.question, Located) else [("domain", wrong) for wrong in (LIMITS, ["hall"], 3)]
    )
    # Without a domain a stream is one of all rows.
    wrong_values += [] if isinstance(mechanism.question, Measured | Located) else [("domain", None)]
    for wrong in (3, (1, 2), "1"):
        with pytest.raises(ParameterError, match="Bound"):
            mechanism.plan(Unit("device"), wrong)  # type: ignore[arg-type]
    for name, wrong in wrong_values:
        if wrong is None and name == "false_alarm_rate":  # it is then the miss rate
            continue
        with pytest.raises(ParameterError) as caught:
            mechanism.plan(**{name: wrong})
        assert str(caught.value).endswith(".")
        assert len(str(caught.value)) < 250


# Lengths may also come as a list, one for each comparison.
NOT_LENGTHS = [wrong for wrong in NOT_NUMBERS if not (isinstance(wrong, list | tuple) and wrong)]


def _other(question: object) -> object:
    return COUNTED if question is not COUNTED else OVER


def settles_at_most_the_reservation(mechanism: Mechanism) -> None:
    dice = np.random.default_rng(3)
    for plan in mechanism.plans():
        for _ in range(50):
            assert isinstance(plan.reading, Reading)
            sizes = [len(plan.reading.keys[measure.keys]) for measure in plan.reading.measures]
            outcome = plan.run(View(tuple(dice.integers(0, 400, size) for size in sizes)), Bits())
            assert isinstance(outcome, Outcome)
            assert json.loads(json.dumps(outcome.answer)) == outcome.answer
            if outcome.charges is None:
                continue
            assert plan.gradual
            ExPost(plan.worst, outcome.charges)


def reserves_before_it_reads(mechanism: Mechanism, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    with house(folder, mechanism.rows) as made, monkeypatch.context() as patch:
        acts: list[str] = []
        recorded(patch, made.ledger, acts)
        release = made.steward.run(mechanism.plan())
        assert acts == ["checked", "reserve", "read", "settle"]
        assert release.charged <= release.worst
        assert made.ledger.spent() == release.charged


def reads_nothing_over_the_cap(mechanism: Mechanism, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    with house(folder, mechanism.rows, cap=0.1) as made, monkeypatch.context() as patch:
        acts: list[str] = []
        recorded(patch, made.ledger, acts)
        with pytest.raises(BudgetError):
            made.steward.run(mechanism.plan())
        assert "read" not in acts
        assert made.ledger.spent() == 0


def works_on_an_empty_table_and_on_one_key(mechanism: Mechanism, folder: Path) -> None:
    with house(folder, mechanism.rows.splitlines()[0] + "\n") as made:
        plan = mechanism.plan(limits={"hall": 200})
        release = made.steward.run(plan)
        assert json.loads(json.dumps(release.to_dict())) == release.to_dict()
