"""Step by step: the promise at its worst case, what stopping early charges, and an audit that notices small noise."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from louver.decide import GradualCounts, OneShotCounts, gradual
from louver.errors import ParameterError
from louver.noise import Bits, levels
from louver.privacy import Between, Scope, Unit, largest_total
from louver.source import View

TWENTIETH = Fraction(1, 20)
ROW, PLACE, DEVICE = Unit.row(), Unit("device", "room"), Unit("device")
THRESHOLD = 50
# A true rate leaves a band of 6 standard errors with probability 2e-9.
STANDARD_ERRORS = 6
MANY = {f"room {number}": THRESHOLD for number in range(50_000)}
TRIALS = 20 * len(MANY)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Charges for 50,000 keys take seconds; tests of the law do without, and have the levels that were reached."""
    monkeypatch.setattr(GradualCounts, "charges", lambda *_: ())


def plan(unit: Unit = ROW, rows_per_unit: int = 1, **changed: object) -> GradualCounts:
    given: dict[str, object] = {"thresholds": {"hall": 180, "lab": 40}, "miss_rate": TWENTIETH, "slack": 10, **changed}
    return GradualCounts("room", unit=unit, rows_per_unit=rows_per_unit, **given)  # type: ignore[arg-type]


def outcomes(many: GradualCounts, count: int) -> Counter[tuple[int, bool]]:
    """How often a key with this count stops at each level, flagged or not, in a million trials."""
    found: Counter[tuple[int, bool]] = Counter()
    for _ in range(TRIALS // len(MANY)):
        answer = many.run(View(np.full(len(MANY), count)), Bits()).answer
        flagged = set(answer["flagged"])
        found.update((level, key in flagged) for key, level in zip(MANY, answer["levels"], strict=True))
    return found


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(("unit", "bound"), [(ROW, 1), (PLACE, 3), (DEVICE, 3)])
def test_a_million_keys_at_the_worst_case_keep_the_promise(unit: Unit, bound: int) -> None:
    """`miss` bounds every rule that picks levels; walking them all and stopping at the first decision fails less."""
    many = plan(unit, bound, thresholds=MANY)
    for count, wrong, proved in ((THRESHOLD + 1, False, many.grid.miss), (THRESHOLD - 10, True, many.grid.false_alarm)):
        assert proved <= TWENTIETH
        share = sum(times for (_, flagged), times in outcomes(many, count).items() if flagged is wrong) / TRIALS
        spread = STANDARD_ERRORS * math.sqrt(0.05 * 0.95 / TRIALS)
        assert 0.5 * float(proved) < share < float(proved) + spread


def largest_excess(many: GradualCounts, count: int, moved: int, steps: int) -> float:
    """By how much the loss of some outcome is over its charge at least, but for a chance of 1e-7 by bad luck."""
    near, far = outcomes(many, count), outcomes(many, count + moved)
    excess = [-math.inf]
    for outcome in near.keys() & far.keys():
        if min(near[outcome], far[outcome]) >= 100:
            error = math.sqrt(1 / near[outcome] + 1 / far[outcome])
            loss = abs(math.log(near[outcome] / far[outcome])) - STANDARD_ERRORS * error
            excess.append(loss - steps * float(many.grid.levels[outcome[0]]))
    return max(excess)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(("unit", "bound", "steps"), [(ROW, 1, 1), (PLACE, 3, 1), (DEVICE, 3, 3)])
def test_an_audit_finds_no_more_than_the_charges_and_notices_halved_noise(
    unit: Unit, bound: int, steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = plan(unit, bound, thresholds=MANY)
    assert largest_excess(many, THRESHOLD - 8, bound, steps) < 0
    monkeypatch.setattr(
        gradual, "levels", lambda rates, count, *, bits: levels([2 * rate for rate in rates], count, bits=bits)
    )
    assert largest_excess(many, THRESHOLD - 8, bound, steps) > 0


def test_each_key_is_charged_the_level_at_which_it_stopped() -> None:
    asked = plan(within=Scope({"hour": Between(9, 10)}))
    outcome = asked.run(View(np.array([10**6, 40])), Bits())
    assert outcome.charges is not None
    assert [charge.price for charge in outcome.charges] == [
        asked.grid.levels[level] for level in outcome.answer["levels"]
    ]
    assert [charge.scope for charge in outcome.charges] == [charge.scope for charge in asked.worst]
    # A million over its limit: not decided by the first look with probability under 1e-1000.
    assert outcome.answer["levels"][0] == 0


def test_keys_that_a_unit_does_not_keep_apart_are_charged_the_clearest_level_together() -> None:
    asked = plan(DEVICE, 3)
    for counts in ([10**6, 0], [10**6, 35]):
        outcome = asked.run(View(np.array(counts)), Bits())
        assert outcome.charges is not None
        (charge,) = outcome.charges
        assert charge.scope == Scope.everything()
        assert charge.price == 3 * asked.grid.levels[max(outcome.answer["levels"])]


def test_a_unit_spread_over_keys_loses_at_most_the_charge() -> None:
    """Three keys moved by one each: every level's loss is at most its rate, so three times the clearest covers them."""
    asked = plan(DEVICE, 3)
    for reached in ([0, 0, 0], [0, 3, 6], [6, 6, 6]):
        losses = [asked.grid.levels[level] for level in reached]
        (charge,) = asked.charges(losses)
        assert sum(losses) <= charge.price <= largest_total(asked.worst).price


@pytest.mark.usefixtures("quick")
def test_keys_far_from_their_thresholds_are_cheap() -> None:
    """50,000 keys 500 over: the mean charge is a fifteenth of what one look costs."""
    many = plan(thresholds=MANY, slack=21)
    one_look = OneShotCounts("room", {"hall": THRESHOLD}, unit=ROW, miss_rate=TWENTIETH, slack=21)
    reached = many.run(View(np.full(len(MANY), THRESHOLD + 500)), Bits()).answer["levels"]
    mean = sum(many.grid.levels[level] for level in reached) / len(reached)
    assert mean < largest_total(one_look.worst).price / 15


def test_the_worst_price_is_that_of_the_grid() -> None:
    for asked in (plan(), plan(PLACE, 3), plan(levels=1), plan(levels=3)):
        assert largest_total(asked.worst).price == asked.grid.worst_price
    assert largest_total(plan(levels=1).worst).price < largest_total(plan().worst).price


def test_what_would_fit_costs_at_most_the_price() -> None:
    fits = plan().cheaper(Fraction(1, 5))
    assert fits == ("a slack of 29",)
    assert largest_total(plan(miss_rate=Fraction(34, 100)).worst).price <= Fraction(1, 5)
    assert largest_total(plan(miss_rate=Fraction(33, 100)).worst).price > Fraction(1, 5)
    assert largest_total(plan(slack=29).worst).price <= Fraction(1, 5) < largest_total(plan(slack=28).worst).price


def test_an_impossible_number_of_levels_is_refused() -> None:
    for wrong in (0, 33, 2.5, True, None):
        with pytest.raises(ParameterError, match="levels"):
            plan(levels=wrong)
