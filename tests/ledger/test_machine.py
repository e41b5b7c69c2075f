"""The ledger against a brute-force budget that holds the total at every point of a tiny grid."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from louver.errors import BudgetError, ParameterError
from louver.ledger import Cap, Ledger
from louver.privacy import Approximate, Charge, Pure, Unit, ZeroConcentrated
from tests.ledger.plans import priced
from tests.ledger.points import PART, Box, Grid, Limit, Points, Spent

EVERYTHING = "everything"
AUDIENCES = ("public", "team")
TINY = Grid((("slot", tuple(range(7))),))
# Scopes from one slot to a million, so that the blocks change their length, and scopes that take many blocks.
LONG = Grid((("slot", (0, 1, 2, 7, 8, 64, 65, 1000, 4096, 4097, 2**20, 2**20 + 1, 2**30)),))
FAR = Grid((("slot", (-(2**100), -(2**62) - 1, -(2**62), -1, 0, 1, 2**62 - 1, 2**62, 2**62 + 1, 2**100, 2**128)),))
PLANE = Grid((("slot", (0, 1, 2, 5, 70, 2000)), ("zone", (0, 1, 2, 300))))
FIRST, LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
TIMES = Grid(
    (
        (
            "time",
            (
                FIRST + HOUR / 2,
                FIRST + HOUR,
                NOON,
                NOON + HOUR,
                NOON + 2 * HOUR,
                NOON + 400 * DAY,
                LAST - DAY,
                LAST - HOUR,
                LAST,
            ),
        ),
    )
)


class LedgerMachine(RuleBasedStateMachine):
    """Reserves, settles and changes caps at random, in the ledger and in the model."""

    grid = TINY
    kinds: tuple[str, ...] = ("pure",)

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "ledger.db"
        self.points = Points(self.grid)
        self.limits: list[Limit] = []
        self.open: list[tuple[Any, list[Spent], str, bool]] = []
        self.whole = Box(None, tuple((None, None) for _ in self.grid.columns))

    def teardown(self) -> None:
        if hasattr(self, "ledger"):
            self.ledger.close()
        self.folder.cleanup()

    @initialize(data=st.data())
    def begin(self, data: st.DataObject) -> None:
        rho = 90 if "zero-concentrated" in self.kinds else 0
        delta = 40 if "approximate" in self.kinds else 0
        everywhere = [Limit(self.whole, 120, delta, rho), Limit(self.whole, 100, delta, rho, AUDIENCES[0])]
        everywhere.append(Limit(self.whole, 80, delta // 2, rho, AUDIENCES[1]))
        boxes = data.draw(st.lists(self.grid.boxes(), max_size=2, unique_by=self.grid.scope))
        lower = [Limit(box, 50 + 20 * number, delta, rho) for number, box in enumerate(boxes) if box != self.whole]
        self.limits = [*everywhere, *lower]
        caps = [self.cap(limit) for limit in self.limits]
        self.ledger, self.tokens = Ledger.create(self.path, dataset="house", unit=Unit.row(), caps=caps)

    def cap(self, limit: Limit) -> Cap:
        numbers = limit.epsilon * PART, limit.delta * PART / 1000, limit.rho * PART or None
        return Cap(*numbers, scope=self.grid.scope(limit.box), audience=limit.audience)

    def charge(self, spent: Spent) -> Charge:
        price, delta = spent.price * PART, spent.delta * PART / 1000
        guarantee = (
            ZeroConcentrated(price) if spent.family != "pure" else Approximate(price, delta) if delta else Pure(price)
        )
        return Charge(self.grid.scope(spent.box), guarantee)

    def prices(self, data: st.DataObject) -> list[Spent]:
        kind = data.draw(st.sampled_from(self.kinds))
        boxes = data.draw(st.lists(self.grid.boxes(), min_size=1, max_size=3))
        numbers = [data.draw(st.integers(1, 45)) for _ in boxes]
        deltas = [data.draw(st.integers(0, 15)) if kind == "approximate" else 0 for _ in boxes]
        family = "pure" if kind == "approximate" else kind
        return [Spent(*each, family) for each in zip(boxes, numbers, deltas, strict=True)]

    @rule(data=st.data(), audience=st.sampled_from(AUDIENCES), gradual=st.booleans())
    def reserve(self, data: st.DataObject, audience: str, gradual: bool) -> None:
        spent = self.prices(data)
        gradual = gradual and all(each.family == "pure" and not each.delta for each in spent)
        plan = priced(*map(self.charge, spent), gradual=gradual)
        before = self.ledger.head().number
        if self.points.fits(spent, self.limits, audience):
            reservation = self.ledger.reserve(plan, audience=audience)
            self.points.add(spent, audience)
            self.open.append((reservation, spent, audience, gradual))
            assert reservation.number == before + 1
        else:
            with pytest.raises(BudgetError) as refused:
                self.ledger.reserve(plan, audience=audience)
            if refused.value.requested is not None:
                assert refused.value.difference is not None
                assert refused.value.difference > 0

    @precondition(lambda self: self.open)
    @rule(data=st.data())
    def settle(self, data: st.DataObject) -> None:
        """At the worst price, or, where the plan is gradual, below: less, or on a part of the scope."""
        reservation, spent, audience, gradual = self.open.pop(data.draw(st.integers(0, len(self.open) - 1)))
        if not gradual or data.draw(st.booleans()):
            self.ledger.settle(reservation)
            return
        charged = []
        for each in spent:
            box = data.draw(st.just(each.box) | self.grid.parts(each.box))
            charged.append(Spent(box, data.draw(st.integers(0, each.price))))
        self.ledger.settle(reservation, list(map(self.charge, charged)))
        self.points.add(spent, audience, sign=-1)
        self.points.add(charged, audience)

    @precondition(lambda self: self.open)
    @rule(data=st.data())
    def settle_above(self, data: st.DataObject) -> None:
        reservation, spent, _, _ = data.draw(st.sampled_from(self.open))
        more = [*spent, Spent(data.draw(self.grid.boxes()), 1, 0, spent[0].family)]
        with pytest.raises(ParameterError):
            self.ledger.settle(reservation, list(map(self.charge, more)))

    @rule(data=st.data(), epsilon=st.integers(0, 140))
    def set_cap(self, data: st.DataObject, epsilon: int) -> None:
        number = data.draw(st.integers(0, len(self.limits) - 1))
        before = self.limits[number]
        changed = Limit(before.box, epsilon, before.delta, before.rho, before.audience)
        self.ledger.set_cap(self.cap(changed), list(self.tokens.values()))
        self.limits[number] = changed

    @rule(data=st.data(), audience=st.none() | st.sampled_from(AUDIENCES))
    def look(self, data: st.DataObject, audience: str | None) -> None:
        self.compare(data.draw(self.grid.boxes()), audience)

    @rule()
    def open_again(self) -> None:
        self.ledger.close()
        self.ledger = Ledger.open(self.path)

    @invariant()
    def agree(self) -> None:
        if hasattr(self, "ledger"):
            self.compare(self.whole, None)
            for audience in AUDIENCES:
                self.compare(self.whole, audience)
            verdict = self.ledger.verify()
            assert verdict.ok, verdict.sentence

    def compare(self, box: Box, audience: str | None) -> None:
        scope = self.grid.scope(box)
        for family in {"pure" if kind == "approximate" else kind for kind in self.kinds}:
            spent = self.points.largest(box, family, "price", audience)
            assert self.ledger.spent(scope, audience, family) == spent * PART
            left = self.points.left(box, self.limits, family, audience)
            assert self.ledger.remaining(scope, audience, family) == left * PART
        delta = self.points.largest(box, "pure", "delta", audience)
        assert self.ledger.spent_delta(scope, audience) == delta * PART / 1000


def run(examples: int, grid_: Grid, kinds_: tuple[str, ...] = ("pure",), steps: int = 20) -> None:
    class Machine(LedgerMachine):
        grid = grid_
        kinds = kinds_

    # To shrink a failure takes many minutes, because every try writes to disk; its steps are short enough to read.
    chosen = settings(settings.default, max_examples=examples, stateful_step_count=steps, phases=[Phase.generate])
    run_state_machine_as_test(Machine, settings=chosen)


GRIDS = {"plane": PLANE, "tiny": TINY, "long": LONG, "far": FAR, "times": TIMES}


@pytest.mark.parametrize("name", GRIDS)
def test_the_ledger_agrees_with_a_budget_kept_point_by_point(name: str) -> None:
    run(12 if name == "plane" else 20, GRIDS[name])


@pytest.mark.parametrize("name", ["tiny", "long"])
def test_the_ledger_agrees_where_kinds_of_guarantees_meet(name: str) -> None:
    run(15, GRIDS[name], ("pure", "approximate", "zero-concentrated"))


@pytest.mark.slow
@pytest.mark.parametrize("name", GRIDS)
def test_the_ledger_agrees_over_long_histories(name: str) -> None:
    run(12, GRIDS[name], ("pure", "approximate", "zero-concentrated"), steps=50)
