"""Plans of running sums that choose themselves, of means and histograms, and of thresholds that cost a delta."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from louver.errors import BudgetError, LouverError
from louver.ledger import Cap, Ledger
from louver.noise.bits import SYSTEM
from louver.privacy import Approximate, Pure, Unit, ZeroConcentrated, plan_from_dict, plan_to_dict
from louver.source import Bound
from louver.source.measures import View
from louver.steward import Steward
from louver.stream.choose import choose
from louver.stream.kernels import KERNELS, Shape, made
from louver.stream.publishing import publish
from louver.stream.ticks import Ticks
from tests.stream.living import lived, made_ledger
from tests.stream.published import HOUR, SLOTTED, TICKS, TRUTH, assert_goes_on, house, planned, source, values_of
from tests.stream.smoothing import seeded

SEEN = View((TRUTH.T.reshape(-1),))
CUT: dict[str, Any] = {"tick_bound": 64, "options": {"lag": 3}}
SMOOTH: dict[str, Any] = {"mechanism": "truncated", "tick_bound": 64, "options": {"lag": 3, "threshold": "smooth"}}


def test_the_running_sum_with_the_least_error_is_taken() -> None:
    plan = planned(mechanism="sum", epsilon=1)
    best = choose(TICKS, epsilon=1, adaptive=False)
    assert plan.spread.mean == best.rms_error
    assert plan.why() == best.why
    others = [planned(mechanism=name, epsilon=1).spread.mean for name in ("tree", "kary", "signed")]
    assert plan.spread.mean <= 1.01 * min(others)


def test_a_live_stream_takes_none_that_is_private_only_beforehand() -> None:
    plan = planned(mechanism="sum", epsilon=1, live=True, end="2018-02-01T21:00")
    assert KERNELS[plan.kernel].is_live
    assert plan.kernel == "kary"
    assert "A signed tree would have" in (plan.why(live=True) or "")
    assert plan.why() is None
    assert planned(mechanism="sum", epsilon=1, end="2018-02-01T21:00").kernel == "signed"


def test_with_rho_a_factorisation_is_taken() -> None:
    plan = planned(mechanism="sum", rho=1, end="2018-02-02T21:00")
    assert plan.kernel in ("buffered", "toeplitz")
    assert plan_from_dict(plan_to_dict(plan)) == plan
    assert plan.with_(kernel="tree").why() is None
    assert planned().why() is None


def test_what_is_chosen_takes_no_options() -> None:
    with pytest.raises(LouverError, match="takes no options"):
        planned(mechanism="sum", epsilon=1, options={"arity": 3})


def test_a_running_mean_is_the_released_sum_over_the_ticks_so_far() -> None:
    mean = values_of(planned(mechanism="running-mean", epsilon=1, **CUT).run(SEEN, seeded(3)).answer)
    sums = values_of(planned(mechanism="truncated", epsilon=1, **CUT).run(SEEN, seeded(3)).answer)
    for tick in range(2, TICKS):
        np.testing.assert_allclose(mean[tick].astype(float), sums[tick].astype(float) / (tick + 1), atol=1e-3)


def test_a_window_mean_is_a_difference_of_released_sums() -> None:
    over: dict[str, Any] = {"tick_bound": 64, "options": {"lag": 3, "over": 4}}
    plan = planned(mechanism="window-mean", epsilon=1, **over)
    mean = values_of(plan.run(SEEN, seeded(3)).answer)
    sums = values_of(planned(mechanism="truncated", epsilon=1, **CUT).run(SEEN, seeded(3)).answer)
    for tick in range(6, TICKS):
        expected = (sums[tick].astype(float) - sums[tick - 4].astype(float)) / 4
        np.testing.assert_allclose(mean[tick].astype(float), expected, atol=1e-3)
    assert "the mean count of the last 4 ticks by room" in plan.promise


def test_ticks_without_rows_are_missing_from_the_mean_of_what_is_there(tmp_path: Path) -> None:
    """The lab has nobody in every third tick, and one or two people in the others."""
    with house(tmp_path, cap=10**5, seed=2) as made:
        here, of_all = (
            values_of(made.steward.run(planned(mechanism=name, epsilon=4000, **CUT)).answer)[-1, 1]
            for name in ("present-mean", "running-mean")
        )
    assert here == pytest.approx(1.5, abs=0.05)
    assert of_all == pytest.approx(1.0, abs=0.05)


def test_a_sum_of_nothing_is_told_from_a_sum_of_zeros(tmp_path: Path) -> None:
    """In the hall a tick is 6, or 0, or has no number; the mean of what is there knows the 0 and not the other."""
    watts = ["6", "0", "none"]
    lines = [f"a,hall,2018-02-01T09:{5 * tick:02}:00,{watts[tick % 3]}" for tick in range(TICKS)]
    with house(tmp_path, cap=10**5, seed=2, text="\n".join(["person,room,time,watts", *lines])) as made:
        plan = planned(mechanism="present-mean", sum_of="watts", epsilon=4000, **CUT)
        assert values_of(made.steward.run(plan).answer)[-1, 0] == pytest.approx(3, abs=0.05)


def test_a_tick_of_which_nothing_is_known_is_missing_from_the_mean_of_what_is_there() -> None:
    plan = planned(mechanism="present-mean", epsilon=4000, **CUT)
    state: Any = None
    released: Any = None
    for tick in range(TICKS):
        view = None if tick % 2 else View((np.array([20, 20]),))
        released, state = plan.advance(state, view, seeded(tick))
    assert [region[0] for region in released["values"]] == pytest.approx([20, 20], abs=0.5)


def test_a_plan_of_the_mean_of_what_is_there_reads_no_more_than_it_must() -> None:
    counted = planned(mechanism="present-mean", **CUT).reading
    summed = planned(mechanism="present-mean", sum_of="watts", **CUT).reading
    assert counted is not None
    assert summed is not None
    assert [each.kind for each in counted.measures] == ["count"]
    assert [(each.kind, each.column) for each in summed.measures] == [("sum", "watts"), ("count", "watts")]


def test_a_histogram_counts_the_ticks_of_each_region_by_bins(tmp_path: Path) -> None:
    with house(tmp_path, cap=10**5) as made:
        asked: dict[str, Any] = {**HOUR, "mechanism": "histogram", "epsilon": 10**4, "options": {"bins": "1, 2, 35"}}
        found = publish(made.source, ledger=made.ledger, **asked)
    assert found.plan.keys == ("room", "bin")
    assert [region[1] for region in found.plan.regions[:4]] == ["below 1", "1 up to 2", "2 up to 35", "35 or more"]
    edges = [-1, 0, 1, 34, 10**6]
    counted = [np.histogram(TRUTH[:, room], np.array(edges) + 0.5)[0].tolist() for room in (0, 1)]
    assert found.released.values[-1].tolist() == counted[0] + counted[1]
    assert list(found.columns) == ["room", "bin", "tick", "value", "low", "high"]
    assert "how many ticks so far had a count in each bin by room" in found.promise


def test_bins_of_large_numbers_have_names_of_their_own() -> None:
    plan = planned(mechanism="histogram", options={"bins": "1000000000001, 1000000000002, 1000000000003"}, by=())
    assert [region[0] for region in plan.regions] == [
        "below 1000000000001",
        "1000000000001 up to 1000000000002",
        "1000000000002 up to 1000000000003",
        "1000000000003 or more",
    ]


def test_a_changed_tick_is_in_two_bins_and_pays_for_both() -> None:
    plan = planned(mechanism="histogram", epsilon=1, options={"bins": "5"})
    made: Any = plan.made(SYSTEM)
    assert plan.price == made.price == Pure(1)
    assert made._counts.price == Pure(Fraction(1, 2))


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"mechanism": "histogram"}, "needs the edges"),
        ({"mechanism": "histogram", "options": {"bins": "5, 3"}}, "above the one before"),
        ({"mechanism": "histogram", "options": {"bins": "a"}}, "like 10, 20, 50"),
        ({"mechanism": "histogram", "options": {"bins": "1e999999999"}}, "like 10, 20, 50"),
        ({"mechanism": "histogram", "options": {"bins": "1, 1.5, 2"}}, "nearer than the step"),
        ({"mechanism": "histogram", "options": {"bins": "0.1000000000001, 0.1000000000002"}}, "the same to twelve"),
        ({"mechanism": "window-mean", "tick_bound": 64}, "needs its option over"),
        ({"mechanism": "running-mean"}, "tick_bound"),
        ({"mechanism": "truncated", **CUT, "delta": 1e-6}, "delta is for"),
        ({"mechanism": "truncated", "tick_bound": 64, "options": {"factor": 2}}, "for the threshold 'smooth'"),
        ({"mechanism": "truncated", "tick_bound": 64, "options": {"threshold": "best"}}, "threshold must be one of"),
        ({**SMOOTH, "delta": 1}, "delta"),
    ],
)
def test_what_makes_no_such_stream_is_refused_with_one_sentence(asked: dict[str, Any], said: str) -> None:
    with pytest.raises(LouverError, match=said) as refused:
        planned(epsilon=1, **asked)
    assert str(refused.value).endswith(".")


def test_a_smooth_threshold_costs_a_delta_for_all_changes_of_a_unit() -> None:
    one = planned(SLOTTED, Bound(1), epsilon=1, **SMOOTH)
    assert one.price == one.made(SYSTEM).price == Approximate(1, Fraction(1, TICKS**2))
    many = planned(SLOTTED, Bound(2), epsilon=1, delta=Fraction(1, 10**6), window=3, **SMOOTH)
    assert many.cell_price == many.made(SYSTEM).price
    price: Any = many.price
    assert price.epsilon == 1
    assert Fraction(999_999, 10**12) < price.delta <= Fraction(1, 10**6)
    assert price == many.cell_price.for_group(6)


def test_the_ledger_must_have_a_delta_to_pay_one(tmp_path: Path) -> None:
    plan = planned(SLOTTED, Bound(1), epsilon=1, delta=Fraction(1, 10**6), **SMOOTH)
    made = source(tmp_path)
    for name, delta in (("none", 0), ("some", Fraction(1, 10**5))):
        caps = [Cap(epsilon=2, delta=delta)]
        ledger, _ = Ledger.create(
            tmp_path / name, dataset="house", unit=SLOTTED, caps=caps, key=tmp_path / f"{name}.key"
        )
        with ledger:
            if not delta:
                with pytest.raises(BudgetError, match="of delta is asked for"):
                    Steward(made.table, ledger).run(plan)
                continue
            Steward(made.table, ledger).run(plan)
            assert (ledger.spent(), ledger.spent_delta()) == (Fraction(1), Fraction(1, 10**6))


LIVE: dict[str, dict[str, Any]] = {
    "running-mean": CUT,
    "window-mean": {"tick_bound": 64, "options": {"lag": 3, "over": 2}},
    "present-mean": CUT,
    "histogram": {"options": {"bins": "2, 35"}},
    "sum": {"live": True},
}


@pytest.mark.parametrize("name", LIVE)
def test_a_restart_before_every_tick_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    plan = planned(SLOTTED, Bound(1), mechanism=name, epsilon=1, **LIVE[name])
    assert_goes_on(plan, TRUTH)
    told = []
    for restarting in (False, True):
        folder = tmp_path / str(restarting)
        folder.mkdir()
        monkeypatch.setattr("louver.steward.SYSTEM", seeded(4))
        with made_ledger(folder) as ledger:
            told.append(lived(plan, ledger, folder, restarting=restarting))
    assert list(dict.fromkeys(told[1])) == told[0]


@pytest.mark.parametrize("mechanism", ["kary", "tree", "buffered", "toeplitz", "signed"])
def test_a_unit_that_moves_a_tick_by_more_than_a_tick_may_have_is_refused_in_words(mechanism: str) -> None:
    kernel = KERNELS[mechanism]
    price = Pure(1) if kernel.pure else ZeroConcentrated(1)
    with pytest.raises(LouverError, match=r"fewer rows of a unit.*\.$"):
        made(mechanism, price, Shape(1, TICKS, 2**35, 2**34), {}, SYSTEM)


@pytest.mark.parametrize("unit", [Unit("person", "time"), Unit("person", "day(time)"), Unit.row()])
def test_a_stream_ends_before_the_calendar_does(unit: Unit) -> None:
    """A day more than its last one must be a day too."""
    with pytest.raises(LouverError, match=r"9999\.$"):
        Ticks("time", "9999-12-31", "9999-12-31T01:00", "5m")
    assert Ticks("time", "9999-12-30", "9999-12-31", "1h").ranges(unit)
