"""Totals of floors and of the building: a tree from the domain's columns, one price for all levels, exact sums."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from louver.errors import LouverError, ParameterError
from louver.noise.bits import SYSTEM
from louver.privacy import Pure, Unit
from louver.source import Bound, Domain, Source, Table
from louver.source.measures import View
from louver.stream.hierarchy import Hierarchy
from louver.stream.places import tree
from louver.stream.plan import StreamPlan
from louver.stream.planning import stream
from louver.stream.publishing import publish
from tests.stream.living import lived, made_ledger
from tests.stream.published import HOUR, SLOTTED, TICKS, TRUTH, assert_goes_on, house, planned
from tests.stream.smoothing import seeded

FLOORS = Domain(
    {"room": ["hall", "lab", "attic"], "floor": ["ground", "ground", "top"], "limit": [30, 9, 5]}, keys=["room"]
)
NODES = ((None, None), ("ground", None), ("top", None), ("ground", "hall"), ("ground", "lab"), ("top", "attic"))
COUNTS = np.concatenate((TRUTH, np.arange(TICKS)[:, None]), axis=1)
SUMS = np.stack((COUNTS.sum(axis=1), COUNTS[:, :2].sum(axis=1), *COUNTS[:, [2, 0, 1, 2]].T), axis=1)


def floors(unit: Unit = SLOTTED, bound: Bound | None = None, **asked: Any) -> StreamPlan:
    source = Source(Table("presence.csv", dataset="house", unit=unit), domains=FLOORS, bound=bound)
    return stream(source, **{**HOUR, "by": ["floor", "room"], "totals": True, "epsilon": 1, **asked})


def released(plan: StreamPlan, seed: int = 1) -> NDArray[Any]:
    return np.array(plan.run(View((COUNTS.T.reshape(-1),)), seeded(seed)).answer["values"]).T


def test_the_tree_comes_from_the_columns_and_only_keys_are_read() -> None:
    plan = floors()
    assert plan.regions == NODES
    assert plan.keys == ("floor", "room")
    assert plan.places.parents == (None, 0, 0, 1, 1, 2)
    assert plan.reading is not None
    assert plan.reading.keys[0].columns == ("room", "slot(time, 5)")
    assert len(plan.reading.keys[0]) == 3 * TICKS
    assert "floor" not in dict(plan.scope.ranges)


def test_levels_that_are_keys_are_read_too() -> None:
    both = Domain({"floor": [0, 0, 1], "room": ["a", "b", "a"]}, keys=["floor", "room"])
    plan = floors(domain=both)
    assert plan.reading is not None
    assert plan.reading.keys[0].columns[:2] == ("floor", "room")
    assert plan.regions == ((None, None), (0, None), (1, None), (0, "a"), (0, "b"), (1, "a"))


def test_one_column_has_its_regions_and_their_total() -> None:
    assert planned(totals=True).regions == ((None,), ("hall",), ("lab",))


@pytest.mark.parametrize("name", ["segment", "laplace", "pegasus"])
def test_the_parts_of_a_total_sum_to_it_as_published(name: str) -> None:
    values = released(floors(mechanism=name, last=3))
    np.testing.assert_allclose(values[:, 0], values[:, 1] + values[:, 2], atol=1e-9)
    np.testing.assert_allclose(values[:, 1], values[:, 3] + values[:, 4], atol=1e-9)
    np.testing.assert_allclose(values[:, 2], values[:, 5], atol=1e-9)


def test_at_a_high_price_every_level_is_true() -> None:
    np.testing.assert_allclose(released(floors(mechanism="laplace", epsilon=10**4)), SUMS, atol=1e-9)


def test_one_price_is_for_all_levels_and_each_has_its_share() -> None:
    plan = floors(SLOTTED, Bound(2), window=2, mechanism="laplace", epsilon=Fraction(3))
    made = plan.made(SYSTEM)
    assert isinstance(made, Hierarchy)
    assert plan.price == plan.worst[0].guarantee == Pure(3)
    assert made.price == plan.cell_price == Pure(Fraction(3, 4))
    assert made.rate == Fraction(1, 4)
    assert "One unit is counted at 3 levels, and the price is for all of them." in plan.promise
    assert "of each floor and of all" in plan.promise


def test_joining_makes_totals_more_exact_than_their_own_noise() -> None:
    """Of 2,000 drawn streams; the floor's own noise has variance 2/(1/3)^2 = 18, joined 12 or so."""
    plan = floors(mechanism="laplace")
    errors = np.concatenate([released(plan, seed)[:, 1] - SUMS[:, 1] for seed in range(2000)])
    assert 8 < errors.var() < 15
    assert abs(errors.mean()) < 6 * np.sqrt(15 / len(errors))


def test_bands_are_known_for_totals_and_hold() -> None:
    """At 2,000 streams of 12 ticks; they are too wide where joining helps, so far more than 19 of 20 hold."""
    plan = floors(mechanism="laplace")
    half = plan.band(0.95, np.array(plan.run(View((COUNTS.T.reshape(-1),)), seeded(0)).answer["deviations"]).T)
    assert half is not None
    held = np.mean([np.abs(released(plan, seed) - SUMS) <= half for seed in range(500)], axis=(0, 1))
    assert held.min() >= 0.95
    assert plan.band_at(3, 0.95, np.full((1, 6), 2.0)) is not None


def test_a_restart_before_every_tick_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = planned(SLOTTED, Bound(1), totals=True, last=3, mechanism="pegasus", options={"smoother": "average"})
    assert_goes_on(plan, TRUTH)
    told = []
    for restarting in (False, True):
        folder = tmp_path / str(restarting)
        folder.mkdir()
        monkeypatch.setattr("louver.steward.SYSTEM", seeded(4))
        with made_ledger(folder) as ledger:
            told.append(lived(plan, ledger, folder, restarting=restarting))
    assert list(dict.fromkeys(told[1])) == told[0]
    assert told[0][0].to_dict()["regions"][0]["room"] is None


def test_a_published_total_has_no_value_in_the_columns_below_it(tmp_path: Path) -> None:
    with house(tmp_path, cap=10**5) as made:
        found = publish(made.source, ledger=made.ledger, totals=True, mechanism="laplace", epsilon=8000, **HOUR)
        lines = found.to_csv().splitlines()
        assert [line.split(",")[0] for line in lines[1:4]] == ["", "hall", "lab"]
        assert found.columns["value"][:3] == [30, 30, 0]
        assert "total" in found.plot()


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"by": ()}, "no regions"),
        ({"mechanism": "kary"}, "Totals are for the mechanisms"),
        ({"above": 3, "miss_rate": 0.05}, "where there are totals"),
        ({"by": ["flor", "room"]}, "no key column 'flor'"),
        ({"by": ["floor"]}, "over keys of the domain"),
        ({"options": {"smoother": "median"}}, "does not take smoother"),
    ],
)
def test_what_has_no_totals_is_refused_with_one_sentence(asked: dict[str, Any], said: str) -> None:
    with pytest.raises(LouverError, match=said) as refused:
        floors(**asked)
    assert str(refused.value).endswith(".")


def test_a_level_must_be_known_for_every_region() -> None:
    holes = Domain({"room": ["a", "b"], "floor": ["1", None]}, keys=["room"])
    with pytest.raises(ParameterError, match="missing for some region"):
        floors(domain=holes)
    assert tree((("a",),))[1] == (None, 0)
