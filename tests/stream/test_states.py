"""Several target states: a region of its own for each region and state, and what somebody in several of them pays."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from louver.ledger import Cap, Ledger
from louver.noise.bits import SYSTEM
from louver.privacy import Pure
from louver.source import Bound, Domain, Source, Table
from louver.stream.planning import stream
from louver.stream.publishing import publish
from tests.stream.published import HOUR, SLOTTED

STATES = Domain.product(room=["hall", "lab"], state=["sitting", "standing"])
ASKED: dict[str, Any] = {**HOUR, "by": ["room", "state"], "mechanism": "pegasus"}


def described(path: Path | str, rows: int) -> Source:
    return Source(Table(path, dataset="house", unit=SLOTTED), domains=STATES, bound=Bound(rows))


@pytest.mark.parametrize("states", [1, 3])
def test_whoever_is_in_m_states_of_a_tick_pays_for_m(states: int) -> None:
    plan = stream(described("presence.csv", states), epsilon=1, **ASKED)
    made = plan.made(SYSTEM)
    assert made.regions == 4
    assert plan.price == Pure(1)
    assert made.price == plan.cell_price == Pure(Fraction(1, states))


def test_each_state_has_its_own_stream(tmp_path: Path) -> None:
    lines = ["person,room,state,time"]
    lines += [
        f"p{person},hall,sitting,2018-02-01T09:{minute:02}:00" for person in range(40) for minute in range(0, 60, 5)
    ]
    lines += [
        f"q{person},hall,standing,2018-02-01T09:{minute:02}:00" for person in range(7) for minute in range(30, 60, 5)
    ]
    (tmp_path / "rows.csv").write_text("\n".join(lines))
    ledger, _ = Ledger.create(tmp_path / "l", dataset="house", unit=SLOTTED, caps=[Cap(epsilon=2000)])
    with ledger:
        found = publish(described(tmp_path / "rows.csv", 1), ledger=ledger, epsilon=2000, **ASKED)
        assert ledger.spent() == 2000
    assert found.plan.regions[:2] == (("hall", "sitting"), ("hall", "standing"))
    expected = [[40, 0, 0, 0]] * 6 + [[40, 7, 0, 0]] * 6
    np.testing.assert_allclose(found.released.values, expected, atol=1e-6)
