"""Stored plans of maps: what was stored is what comes back, and what nobody stored is refused at once."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from louver.errors import ParameterError
from louver.space import MapPlan, map_plan
from louver.space.ways import TREE
from tests.space.test_plan import AREA, stored

Change = Callable[[dict[str, Any]], object]
# Written out it would have a billion digits.
BOMB = "1e999999999"


def plain(folder: Path, **asked: Any) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(json.dumps(map_plan(stored(folder), **AREA, epsilon=1, **asked).parameters()))
    return made


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"rounds": 3, "readings": 100},
        {"way": TREE, "stop": "count", "least": 30, "depth": 5, "level_share": 0.25},
        {"outside": "clamp", "way": "adaptive"},
    ],
)
def test_a_stored_plan_is_the_same_plan(tmp_path: Path, asked: dict[str, Any]) -> None:
    plan = map_plan(stored(tmp_path), **AREA, epsilon=1, **asked)
    assert MapPlan.from_parameters(json.loads(json.dumps(plan.parameters()))) == plan


@pytest.mark.parametrize(
    "change",
    [
        lambda kept: kept.update(epsilon=BOMB),
        lambda kept: kept.update(count_share=BOMB),
        lambda kept: kept["located"].update(values=["0", BOMB, "1"]),
        lambda kept: kept["splitting"].update(level_share=BOMB),
        lambda kept: kept["splitting"].update(least=BOMB),
        lambda kept: kept.update(epsilon=1),
        lambda kept: kept.update(epsilon="1/0"),
        lambda kept: kept.update(way=None),
        lambda kept: kept.update(rounds=BOMB),
        lambda kept: kept.update(rounds=2),
        lambda kept: kept.update(splitting=[]),
        lambda kept: kept["splitting"].update(more=1),
        lambda kept: kept["splitting"].pop("stop"),
        lambda kept: kept["located"].update(outside="fold"),
        lambda kept: kept["located"].update(value=None),
        lambda kept: kept.pop("rounds"),
    ],
)
def test_what_nobody_stored_is_refused_at_once(tmp_path: Path, change: Change) -> None:
    kept = plain(tmp_path, way=TREE)
    change(kept)
    with pytest.raises(ParameterError) as caught:
        MapPlan.from_parameters(kept)
    assert str(caught.value).endswith(".")
