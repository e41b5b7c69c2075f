"""A released map as JSON: small, the same again, and refused when it is not a map; and as GeoJSON."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from louver.errors import ParameterError
from louver.space.bounds import Bounds
from louver.space.decomposition import Decomposition
from louver.space.field import Field
from louver.space.geojson import heatmap_geojson, leaves_geojson
from louver.space.metrics import flip_ratio, jaccard
from louver.space.recipient import heatmap
from louver.space.released import Map
from louver.space.uniform import Uniform
from tests.space.fields import bump, readings, seeded

RELEASED = Decomposition(1).release(bump(50_000, atoms=256), bits=seeded(1))
PLAIN = json.loads(json.dumps(RELEASED.to_dict()))


def test_a_map_is_the_same_after_json() -> None:
    again = Map.from_dict(PLAIN)
    assert np.array_equal(again.counts, RELEASED.counts)
    assert np.array_equal(again.sums, RELEASED.sums)
    assert np.array_equal(heatmap(again, 80, 50), heatmap(RELEASED, 80, 50))
    assert again.bounds == RELEASED.bounds
    assert again.price == RELEASED.price


def test_a_map_is_small() -> None:
    assert len(json.dumps(PLAIN)) < 50 * len(RELEASED.parents) + 1000


def test_a_map_holds_nothing_but_what_was_released() -> None:
    assert set(PLAIN) == {
        *("format", "kind", "epsilon", "bounds", "atoms", "values", "centre"),
        *("variances", "law", "parents", "rectangles", "counts", "sums"),
    }


def drop(name: str) -> Callable[[dict[str, Any]], None]:
    return lambda plain: plain.pop(name)


def put(name: str, value: object) -> Callable[[dict[str, Any]], None]:
    return lambda plain: plain.update({name: value})


def change(name: str, place: int, value: object) -> Callable[[dict[str, Any]], None]:
    return lambda plain: plain[name].__setitem__(place, value)


@pytest.mark.parametrize(
    "harm",
    [
        *(drop(name) for name in PLAIN),
        put("format", 2),
        put("epsilon", "-1"),
        put("epsilon", "x"),
        put("bounds", None),
        put("atoms", [256]),
        put("atoms", [0, 256]),
        put("values", {"low": "0", "high": "0", "step": "1"}),
        put("centre", -1),
        put("counts", []),
        put("parents", []),
        put("rectangles", [[0, 0, 1, 1]]),
        change("counts", 0, None),
        change("counts", 0, float("nan")),
        change("counts", 0, "many"),
        change("parents", 1, 7),
        change("parents", 0, 5),
        change("parents", 0, -2),
        change("law", 0, 99),
        change("law", 0, -1),
        change("variances", 0, [0.0, 1.0]),
        change("rectangles", 1, [0, 0, 1, 1]),
        change("rectangles", 1, [5, 0, 4, 1]),
        change("rectangles", 0, [0, 0, 999, 999]),
        change("rectangles", 0, [0.5, 0, 1, 1]),
        put("epsilon", "1e999999999"),
        put("epsilon", "1" + 400 * "0"),
        put("epsilon", 1.5),
        put("values", {"low": "0", "high": "1e999999999", "step": "1"}),
        put("values", {"low": "0", "high": "10", "step": "1e-99999999"}),
        put("bounds", {**PLAIN["bounds"], "degrees": "no"}),
        put("bounds", {**PLAIN["bounds"], "crs": 4326}),
        put("bounds", {**PLAIN["bounds"], "north": None}),
        put("rounds", ["1e999999999"]),
        put("rounds", 4),
        change("counts", 0, 1e308),
        change("variances", 0, [1e308, 1.0]),
        change("variances", 0, [1e-160, 1.0]),
        put("marks", 4),
    ],
)
def test_what_is_no_map_is_refused_with_a_sentence(harm: Callable[[dict[str, Any]], None]) -> None:
    plain = copy.deepcopy(PLAIN)
    harm(plain)
    with pytest.raises(ParameterError, match=r"\.$"):
        Map.from_dict(plain)


def test_children_that_do_not_stand_together_are_refused() -> None:
    plain = copy.deepcopy(PLAIN)
    parents = plain["parents"]
    one = len(parents) - 1
    other = parents.index(parents[one]) - 1
    for name in ("parents", "rectangles", "counts", "sums", "law"):
        plain[name][one], plain[name][other] = plain[name][other], plain[name][one]
    with pytest.raises(ParameterError, match="build it again"):
        Map.from_dict(plain)


@pytest.mark.parametrize("structure", [Uniform(1, readings=50_000), Decomposition(1)])
def test_cells_that_overlap_or_leave_holes_are_refused(structure: Uniform | Decomposition) -> None:
    """One cell twice, and another of the same size nowhere: areas add up."""
    released = structure.release(bump(50_000, atoms=256), bits=seeded(1))
    plain = json.loads(json.dumps(released.to_dict()))
    Map.from_dict(plain)
    sides = plain["rectangles"]
    alike: dict[tuple[int, ...], list[int]] = {}
    for node, (parent, (west, south, east, north)) in enumerate(zip(plain["parents"], sides, strict=True)):
        alike.setdefault((parent, east - west, north - south), []).append(node)
    one, other, *_ = max(alike.values(), key=len)
    sides[other] = sides[one]
    with pytest.raises(ParameterError, match="overlap or leave holes"):
        Map.from_dict(plain)


def test_children_that_lie_in_the_place_of_others_are_refused() -> None:
    """Two halves that hold each other's quarters."""
    plain = Uniform(1, readings=0).release(bump(10, atoms=4), bits=seeded(1)).to_dict()
    halves, quarters = [[0, 0, 2, 4], [2, 0, 4, 4]], [[0, 0, 2, 2], [0, 2, 2, 4], [2, 0, 4, 2], [2, 2, 4, 4]]
    plain["parents"], plain["law"] = [-1, -1, 0, 0, 1, 1], [0] * 6
    plain["counts"], plain["sums"] = [1] * 6, [1] * 6
    Map.from_dict({**plain, "rectangles": [*halves, *quarters]})
    with pytest.raises(ParameterError, match="overlap or leave holes"):
        Map.from_dict({**plain, "rectangles": [*halves, *quarters[2:], *quarters[:2]]})


def test_a_map_that_leaves_a_corner_out_is_refused() -> None:
    plain = Uniform(1, readings=0).release(bump(10, atoms=4), bits=seeded(1)).to_dict()
    plain["rectangles"] = [[0, 0, 4, 3]]
    with pytest.raises(ParameterError, match="overlap or leave holes"):
        Map.from_dict(plain)


def test_a_chain_of_many_nodes_is_refused_before_it_is_followed() -> None:
    plain = copy.deepcopy(PLAIN)
    size = 100_000
    plain["parents"] = list(range(-1, size - 1))
    plain["rectangles"] = [[0, 0, 256, 256]] * size
    plain["counts"], plain["sums"], plain["law"] = [0] * size, [0] * size, [0] * size
    with pytest.raises(ParameterError, match="build it again"):
        Map.from_dict(plain)


@pytest.mark.parametrize("bad", [None, [], "map", 1, {}])
def test_anything_else_is_refused_too(bad: object) -> None:
    with pytest.raises(ParameterError, match="format"):
        Map.from_dict(bad)


TOWN = Bounds(8.44, 47.32, 8.63, 47.44, degrees=True)


def town() -> Map:
    x, y, value = readings(5000)
    longitude, latitude = 8.44 + 0.0019 * x, 47.32 + 0.0012 * y
    return Decomposition(2).release(Field.of(longitude, latitude, value, TOWN, high=100, atoms=64), bits=seeded(2))


def test_leaves_as_geojson_cover_the_bounds() -> None:
    released = town()
    collection = json.loads(json.dumps(leaves_geojson(released)))
    assert len(collection["features"]) == len(released.tree.leaves)
    rings = np.array([feature["geometry"]["coordinates"][0] for feature in collection["features"]])
    assert (rings[:, 0] == rings[:, -1]).all()
    assert rings.min(axis=(0, 1)).tolist() == [TOWN.west, TOWN.south]
    assert rings.max(axis=(0, 1)).tolist() == [TOWN.east, TOWN.north]
    area = sum(feature["properties"]["square_kilometres"] for feature in collection["features"])
    assert area == pytest.approx(TOWN.width * TOWN.height / 1e6, rel=1e-3)
    counts = sum(feature["properties"]["count"] for feature in collection["features"])
    assert counts == pytest.approx(released.counts[0], abs=0.1)


def test_rings_run_against_the_clock() -> None:
    ring = np.array(leaves_geojson(town())["features"][0]["geometry"]["coordinates"][0])
    assert np.sum(ring[:-1, 0] * ring[1:, 1] - ring[1:, 0] * ring[:-1, 1]) > 0


def test_flagged_cells_of_one_row_are_one_polygon() -> None:
    flags = np.array([[True, True, False, True], [False, False, False, False]])
    features = heatmap_geojson(town(), flags)["features"]
    assert len(features) == 2
    assert features[0]["geometry"]["coordinates"][0][2] == [
        pytest.approx((TOWN.west + TOWN.east) / 2),
        pytest.approx((TOWN.south + TOWN.north) / 2),
    ]


def test_a_heatmap_of_numbers_is_refused() -> None:
    with pytest.raises(ParameterError, match="yes and no"):
        heatmap_geojson(town(), np.zeros((2, 2)))  # type: ignore[arg-type]


def test_flip_ratio_and_jaccard_count_cells() -> None:
    truth = np.array([[True, True, False, False]])
    found = np.array([[True, False, True, False]])
    assert flip_ratio(truth, found) == 0.5
    assert jaccard(truth, found) == pytest.approx(1 / 3)


def test_nothing_to_find_and_nothing_found_is_perfect() -> None:
    nothing = np.zeros((2, 2), dtype=np.bool_)
    assert jaccard(nothing, nothing) == flip_ratio(nothing, nothing) == 1
    assert jaccard(nothing, ~nothing) == 0


@pytest.mark.parametrize("bad", [np.zeros(3, dtype=bool), np.zeros((2, 2)), np.zeros((0, 2), dtype=bool)])
def test_heatmaps_that_cannot_be_compared_are_refused(bad: Any) -> None:
    with pytest.raises(ParameterError, match="one shape"):
        jaccard(np.zeros((2, 2), dtype=bool), bad)
