"""One look: the promise at its worst case, who pays, and an audit that notices noise that is too small."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from louver.decide import OneShotCounts, one_shot
from louver.errors import ParameterError
from louver.noise import Bits, reaches
from louver.privacy import Between, Scope, Unit, largest_total, tslm
from louver.source import View

TWENTIETH = Fraction(1, 20)
ROW, PLACE, DEVICE = Unit.row(), Unit("device", "room"), Unit("device")
THRESHOLD = 50
# A true rate leaves a band of 6 standard errors with probability 2e-9.
STANDARD_ERRORS = 6
MANY = {f"room {number}": THRESHOLD for number in range(50_000)}
TRIALS = 20 * len(MANY)


def plan(unit: Unit = ROW, rows_per_unit: int = 1, **changed: object) -> OneShotCounts:
    given: dict[str, object] = {"thresholds": {"hall": 180, "lab": 40}, "miss_rate": TWENTIETH, "slack": 10, **changed}
    return OneShotCounts("room", unit=unit, rows_per_unit=rows_per_unit, **given)  # type: ignore[arg-type]


def flagged_share(many: OneShotCounts, count: int) -> float:
    """How often a key with this count is flagged, in a million trials: equal keys are independent."""
    view = View(np.full(len(MANY), count))
    return sum(len(many.run(view, Bits()).answer["flagged"]) for _ in range(TRIALS // len(MANY))) / TRIALS


@pytest.mark.parametrize(("unit", "bound"), [(ROW, 1), (PLACE, 3), (DEVICE, 3)])
def test_a_million_keys_at_the_worst_case_keep_the_promise_as_computed(unit: Unit, bound: int) -> None:
    many = plan(unit, bound, thresholds=MANY)
    for count, kept in ((THRESHOLD + 1, 1 - TWENTIETH), (THRESHOLD - 10, TWENTIETH)):
        exactly = many.test.acceptance(count - THRESHOLD)
        assert exactly.lower >= kept if count > THRESHOLD else exactly.upper <= kept
        spread = math.sqrt(0.05 * 0.95 / TRIALS)
        assert abs(flagged_share(many, count) - float(exactly.upper)) < STANDARD_ERRORS * spread


def least_loss(many: OneShotCounts, count: int, moved: int) -> float:
    """What the loss between two neighbouring counts is at least, but for a chance of 2e-9 by bad luck."""
    near, far = flagged_share(many, count), flagged_share(many, count + moved)
    error = math.sqrt((1 - near) / near / TRIALS + (1 - far) / far / TRIALS)
    return abs(math.log(far / near)) - STANDARD_ERRORS * error


@pytest.mark.parametrize(("unit", "bound"), [(ROW, 1), (PLACE, 3), (DEVICE, 3)])
def test_an_audit_finds_no_more_than_the_price_and_notices_halved_noise(
    unit: Unit, bound: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The count is one that is flagged in about 1 of 10 cases, where the loss is all of the price."""
    many = plan(unit, bound, thresholds=MANY)
    price = float(largest_total(many.worst).price)
    assert 0.9 * price < least_loss(many, THRESHOLD - 9, bound) < price

    monkeypatch.setattr(
        one_shot, "reaches", lambda margins, rate, cut, *, bits: reaches(margins, 2 * rate, cut, bits=bits)
    )
    assert least_loss(many, THRESHOLD - 9, bound) > 1.2 * price


def test_the_exact_loss_of_one_unit_is_the_price() -> None:
    """A unit of three rows that are in one key, or in three: the outcome in which every key is flagged."""
    apart, together = plan(PLACE, 3), plan(DEVICE, 3)
    for asked, losses in ((apart, [(0, 3)]), (together, [(0, 3)]), (together, [(0, 1)] * 3)):
        price = float(largest_total(asked.worst).price)
        ratio = sum(
            math.log(asked.test.acceptance(low + moved - 20).upper / asked.test.acceptance(low - 20).lower)
            for low, moved in losses
        )
        assert ratio == pytest.approx(price, rel=1e-9)


def test_each_key_pays_on_its_own_scope_where_the_unit_fixes_it() -> None:
    within = Scope({"hour": Between(9, 10)})
    by_row = plan(within=within).worst
    assert [str(charge.scope) for charge in by_row] == ["9 <= hour < 10, room = hall", "9 <= hour < 10, room = lab"]
    by_place = plan(PLACE, within=within).worst
    assert [str(charge.scope) for charge in by_place] == ["room = hall", "room = lab"]


def test_all_keys_pay_together_where_the_unit_does_not_fix_them() -> None:
    (charge,) = plan(DEVICE, 3, within=Scope({"hour": Between(9, 10)})).worst
    assert charge.scope == Scope.everything()
    assert charge.price == 3 * plan().test.epsilon
    (timed,) = plan(Unit("device", "hour"), within=Scope({"hour": Between(9, 10)})).worst
    assert timed.scope == Scope({"hour": Between(9, 10)})


def test_rows_in_one_key_cost_less_than_noise_that_is_so_much_wider() -> None:
    price = largest_total(plan(PLACE, 5).worst).price
    assert largest_total(plan().worst).price < price < 5 * largest_total(plan().worst).price


def test_the_price_is_a_fifth_below_the_published_one() -> None:
    assert float(largest_total(plan().worst).price / tslm(TWENTIETH, Fraction(9, 2)).epsilon) < 0.82


def test_a_float_rate_means_what_it_is_written_as() -> None:
    assert plan(miss_rate=0.05) == plan(miss_rate=TWENTIETH)
    assert plan(miss_rate=0.3).miss_rate == Fraction(0.3) < Fraction(3, 10)
    assert "3 of 10 cases" in plan(miss_rate=0.3).promise


def test_the_promise_says_what_is_counted_and_what_may_happen() -> None:
    said = plan(Unit("device"), 2, false_alarm_rate=Fraction(1, 3), within=Scope({"hour": Between(9, 10)})).promise
    assert said == (
        "A room with more counted rows than its threshold is missed in at most 1 of 20 cases. "
        "A room 10 or more below its threshold is flagged in at most 1 of 3 cases; in between, either may happen. "
        "Counted are rows where 9 <= hour < 10. "
        "Of everything recorded about one device, at most 2 rows are counted."
    )
    strict = OneShotCounts("area", {"a": 1}, unit=ROW, miss_rate=Fraction(1, 10**9 + 1), slack=0).promise
    assert strict == (
        "An area with more counted rows than its threshold is missed in at most 1 of 1,000,000,000 cases. "
        "An area at or below its threshold is flagged in at most 1 of 1,000,000,000 cases."
    )


def test_what_would_fit_costs_at_most_the_price_and_a_little_less_would_not() -> None:
    assert plan().cheaper(Fraction(1, 5)) == ("a miss rate of 0.17", "a slack of 22")
    assert largest_total(plan(miss_rate=Fraction(17, 100)).worst).price <= Fraction(1, 5)
    assert largest_total(plan(miss_rate=Fraction(16, 100)).worst).price > Fraction(1, 5)
    assert largest_total(plan(slack=22).worst).price <= Fraction(1, 5)
    assert largest_total(plan(slack=21).worst).price > Fraction(1, 5)


def test_what_would_fit_counts_all_rows_of_a_unit() -> None:
    assert plan(DEVICE, 3).cheaper(Fraction(3, 5)) == plan().cheaper(Fraction(1, 5))


def test_nothing_fits_a_price_of_nothing() -> None:
    assert plan().cheaper(Fraction(0)) == ()
    assert plan(thresholds={"den": 12}).cheaper(Fraction(1, 5)) == ("a miss rate of 0.17",)
    assert plan(miss_rate=Fraction(1, 10**20), slack=180).cheaper(Fraction(1, 10**6)) == ()


def test_a_slack_for_which_there_is_no_noise_is_not_offered() -> None:
    assert plan(thresholds={"world": 2**40}, miss_rate=Fraction(49, 100)).cheaper(Fraction(1, 2**50)) == ()


def test_a_stored_plan_asks_about_each_key_once() -> None:
    stored = plan().parameters()
    with pytest.raises(ParameterError, match="has one twice"):
        OneShotCounts.from_parameters({**stored, "thresholds": [["hall", 1], ["hall", 2]]})


def test_a_row_is_one_row() -> None:
    with pytest.raises(ParameterError, match="must be 1 where the unit is the row"):
        plan(rows_per_unit=2)


def test_the_key_column_is_restricted_by_its_keys_only() -> None:
    with pytest.raises(ParameterError, match="list fewer keys"):
        plan(within=Scope({"room": "hall"}))
