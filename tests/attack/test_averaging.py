"""Bits are seeded, so that shares are the same in each run."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas
import pytest

from louver.attack.averaging import asked, averaged, fresh
from louver.decide.within import Within
from louver.errors import LouverError
from louver.ledger import Cap, Ledger
from louver.privacy import Pure, Unit
from louver.question import nodes
from louver.question.nodes import Aggregate, Values
from louver.source import Domain, Table
from louver.steward import Steward
from tests.attack.broken import seeded

TRUTH = 40
COUNT = Values((Aggregate(nodes.COUNT, keys=("room",)),), ("room",))


def test_with_fresh_noise_17_answers_of_epsilon_1_give_the_count_away() -> None:
    """Of 5,000 attackers; after one answer a share of P(noise = 0) = 0.462 knows, within 6.5 standard deviations."""
    found = averaged(fresh(1, TRUTH, 5000, 40, bits=seeded(1)), TRUTH)
    assert found.needed == 17
    assert found.right[0] == pytest.approx(0.4621, abs=0.046)


@pytest.mark.parametrize("certain", [0.5, 0.95])
def test_half_the_rate_takes_about_four_times_the_answers(certain: float) -> None:
    rates = Fraction(1, 8), Fraction(1, 4)
    many, few = (averaged(fresh(rate, TRUTH, 400, 1000, bits=seeded(2)), TRUTH, certain).needed for rate in rates)
    assert many is not None
    assert few is not None
    assert 2.5 < many / few < 6


@pytest.fixture
def steward(tmp_path: Path) -> Steward:
    rows = pandas.DataFrame({"room": ["hall"] * TRUTH})
    table = Table(rows, dataset="house", unit=Unit.row())
    ledger, _ = Ledger.create(tmp_path / "house.ledger", dataset="house", unit=Unit.row(), caps=[Cap(epsilon=3)])
    return Steward._with_bits(table, ledger, seeded(3))


def plan() -> Within:
    return Within(COUNT, Domain({"room": ["hall"]}, ["room"]), unit=Unit.row(), miss_rate=Fraction(1, 20), distance=4)


def test_the_same_key_gets_the_same_answer_for_nothing_so_the_attack_stalls(steward: Steward) -> None:
    answers = asked(
        lambda attacker, _: steward.run(plan(), key=f"attacker {attacker}").answer["values"][0][0], attackers=1, most=12
    )
    assert len(set(answers[0].tolist())) == 1
    assert [entry.act for entry in steward._ledger.entries()].count("reserved") == 1
    assert averaged(answers, TRUTH).answers[-1] == 12


def test_with_new_keys_the_ledger_refuses_before_the_count_is_known(steward: Steward) -> None:
    """0.654 of a budget of 3 each: four answers, and then none."""
    answers = asked(
        lambda attacker, time: steward.run(plan(), key=f"{attacker} {time}").answer["values"][0][0],
        attackers=1,
        most=12,
    )
    assert np.isnan(answers[0]).tolist() == [False] * 4 + [True] * 8
    price = plan().worst[0].guarantee
    assert isinstance(price, Pure)
    needed = averaged(fresh(price.epsilon, TRUTH, 2000, 60, bits=seeded(4)), TRUTH).needed
    assert needed is not None
    assert needed > 4


def test_a_verdict_is_a_sentence() -> None:
    answers = fresh(1, TRUTH, 2000, 40, bits=seeded(5))
    assert "are enough for 95% of attackers" in str(averaged(answers, TRUTH))
    assert "are not enough" in str(averaged(answers[:, :3], TRUTH))


@pytest.mark.parametrize("answers", [np.zeros((0, 3)), np.zeros(3), np.full((2, 2), np.nan)])
def test_no_answers_are_refused(answers: object) -> None:
    with pytest.raises(LouverError, match=r"\.$"):
        averaged(answers, TRUTH)  # type: ignore[arg-type]
