"""The study: attackers against mechanisms that are equally useful, scored by the truth."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from louver.attack.classes import EDGES
from louver.attack.law import DiscreteLaplace, NoNoise
from louver.attack.mechanisms import MECHANISMS, TrueCounts
from louver.attack.open_regions import Attacker
from louver.attack.prior import prior_of
from louver.attack.scene import View, views_of
from louver.attack.study import Study, attackers_of, study
from louver.attack.study_report import likelier_rows, report_of
from louver.attack.truth import Truth
from louver.attack.tune import Interval, Tuned
from louver.attack.utility import TASKS, Utility
from louver.attack.workers import on_all
from louver.errors import DataError, ParameterError
from louver.noise.bits import SYSTEM, Bits
from louver.sense.simulate import simulate

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
NOBODY_INSIDE = Attacker("outsider", (False,) * 3)
STUDENT = Attacker("student", (True, False, False))
COUNTS = np.array([[4, 5, 1], [0, 2, 6], [0, 0, 0]])
PRIOR = prior_of(COUNTS + 2)


def invented(days: int = 6, seed: int = 1) -> Truth:
    made = np.random.default_rng(seed)
    level = made.uniform(0, 12, (24, 3))
    return Truth(made.poisson(level, (days, 24, 3)), ("hall", "lab", "office"), date(2026, 1, 5))


@cache
def small() -> Study:
    return study(
        invented(), mechanisms=["laplace", "pegasus"], targets=[0.9], attackers=[NOBODY_INSIDE, STUDENT], runs=3
    )


class Watched(TrueCounts):
    """True counts whose law has to be learned; remembers which days were asked for."""

    def __init__(self) -> None:
        super().__init__("watched")
        object.__setattr__(self, "asked", [])

    asked: list[slice]

    def releases(self, truth: Truth, days: slice, value: float, runs: int = 1, bits: Bits = SYSTEM) -> Floats:
        self.asked.append(days)
        return super().releases(truth, days, value, runs, bits)

    def law(self, value: float) -> None:  # noqa: ARG002
        return None


def squared(shared: int, given: int) -> int:
    return shared + given**2


@pytest.mark.parametrize("share", [0, 0.5, 0.9])
def test_everybody_is_guessed_once_whatever_is_known_of_others(share: float) -> None:
    view = View.of(NOBODY_INSIDE, share, PRIOR, COUNTS, seed=1)
    assert view.people.tolist() == [10, 8, 0]
    assert (view.counts + view.known == COUNTS[view.tick]).all()


def test_whoever_stands_in_an_open_region_is_not_guessed() -> None:
    view = View.of(STUDENT, 0, PRIOR, COUNTS, seed=1)
    assert view.people.tolist() == [6, 8, 0]
    assert view.prior.sum(axis=1) == pytest.approx(1)


def test_a_part_of_the_day_is_seen_by_itself() -> None:
    view = View.of(NOBODY_INSIDE, 0.5, PRIOR, COUNTS, seed=1)
    part = view.at(np.array([1, 2]))
    assert part.people.tolist() == [8, 0]
    released = COUNTS.astype(float)
    assert (part.found(released[1:], NoNoise()) == view.found(released, NoNoise())[1:]).all()


def test_from_true_counts_the_largest_crowd_is_found_with_its_share() -> None:
    found = View.of(NOBODY_INSIDE, 0, np.full((3, 3), 1 / 3), COUNTS, seed=1).found(COUNTS.astype(float), NoNoise())
    assert found.tolist() == [[0] * 6, [0, 0, 0, 6, 0, 0], [0] * 6]  # 5 of 10 is in the prior's class; 6 of 8 is not


def test_whoever_knows_all_others_finds_everybody_from_true_counts() -> None:
    found = View.of(NOBODY_INSIDE, 1, PRIOR, COUNTS, seed=1).found(COUNTS.astype(float), NoNoise())
    assert found[:, -1].tolist() == [10, 8, 0]


def test_more_noise_finds_fewer_on_average() -> None:
    """In 40 runs of 24 ticks the two differ by hundreds of people, and scatter by tens."""
    truth = invented()
    prior = prior_of(truth.counts[:-1].sum(axis=0))
    (view,) = views_of([NOBODY_INSIDE], [0.9], prior, truth.counts[-1], seed=1)
    found = []
    for rate in (4, 0.05):
        law = DiscreteLaplace(rate)
        found.append(sum(view.found(law.draw(truth.counts[-1]), law)[:, 3:].sum() for _ in range(40)))
    assert found[0] > 2 * found[1]


def test_a_joint_attack_is_possible() -> None:
    view = View.of(NOBODY_INSIDE, 0.5, PRIOR, COUNTS, seed=1)
    alone, together = (view.found(COUNTS.astype(float), DiscreteLaplace(20), joint=joint) for joint in (False, True))
    assert together.shape == alone.shape == (3, len(EDGES))


def test_a_study_has_every_mechanism_attacker_share_and_part() -> None:
    made = small()
    keys = {(each.setting.mechanism, each.setting.part, each.attacker, each.known) for each in made.found}
    assert len(keys) == len(made.found) == 3 * 2 * 2 * 3
    assert all(each.by_tick.average.shape == (12, 6) for each in made.found)
    assert {each.by_tick.runs for each in made.found if each.setting.mechanism == "laplace"} == {3}
    assert {each.by_tick.runs for each in made.found if each.setting.mechanism == "none"} == {1}


def test_shares_are_of_the_people_who_are_guessed() -> None:
    for each in small().found:
        assert 0 <= each.likelier_than_not <= float(each.likelier.worst) + 1e-12
        assert each.of_all.average.sum() <= 1 + 1e-12


def test_the_attacked_day_is_in_no_prior_no_tuning_and_no_law(monkeypatch: pytest.MonkeyPatch) -> None:
    truth = invented(days=12)
    watched, pasts, priors = Watched(), [], []

    def task_of(past: Whole) -> Utility:
        pasts.append(past)
        return lambda _released, _true: 0.5

    def prior_of_past(counts: Whole) -> Floats:
        priors.append(counts)
        return prior_of(counts)

    monkeypatch.setitem(MECHANISMS, "watched", watched)
    monkeypatch.setitem(TASKS, "watched", task_of)
    monkeypatch.setattr("louver.attack.study.prior_of", prior_of_past)
    study(truth, mechanisms=["watched"], utility="watched", targets=[0.5], attackers=[NOBODY_INSIDE], known=[0])
    tuned, learned, *attacked = dict.fromkeys((each.start, each.stop) for each in watched.asked)
    assert (tuned, learned, attacked) == ((4, 11), (0, 11), [(11, 12)])
    assert [past.shape for past in pasts] == [(4, 12, 3)] * 2
    assert (priors[0] == truth.counts[:-1].sum(axis=0)).all()


def test_the_last_day_is_what_is_attacked() -> None:
    """From true counts everybody is found by whoever knows all others, whatever the days before were."""
    truth = invented()
    truth.counts[-1, :, 1:] = 0
    truth.counts[-1, :, 0] = 1
    made = study(truth, mechanisms=[], attackers=[NOBODY_INSIDE], known=[1])
    assert [each.likelier_than_not for each in made.found] == [1, 1]
    assert [each.by_tick.average.sum() for each in made.found] == [12, 12]


def test_a_study_of_a_building_has_its_three_attackers_and_pseudonyms() -> None:
    truth = Truth.simulated(simulate("demo", days=4, people=150))
    assert [each.name for each in attackers_of(truth)] == ["outsider", "student", "administrator"]
    made = study(truth, mechanisms=["laplace", "ttl", "ttl-device"], targets=[0.8], known=[0], runs=2)
    assert {each.mechanism for each in made.tuned} == {"laplace", "ttl", "ttl-device"}


def test_pseudonyms_without_events_are_refused() -> None:
    with pytest.raises(DataError, match="leave ttl out"):
        study(invented(), mechanisms=["ttl"])


def test_too_few_days_are_refused() -> None:
    with pytest.raises(ParameterError, match="three days"):
        study(invented(days=2))


def test_the_report_has_parameters_attackers_and_what_was_not_tried() -> None:
    report = report_of(small(), "invented counts")
    titles = [each.title for each in report.evidence]
    assert titles == [
        "Parameters at equal utility",
        "What the price itself allows",
        "Outsider, day",
        "Outsider, night",
        "Student, day",
        "Student, night",
        "Knowing others",
    ]
    assert all(each.table is not None for each in report.evidence)
    assert len(report.not_tried) == 4
    assert report.verdict.endswith("from true counts.")
    assert json.loads(report.json())["evidence"][2]["figure"]["kind"] == "class areas"
    assert "<svg" in report.html()


def test_the_report_says_what_a_price_allows_and_that_pseudonyms_have_none() -> None:
    seen = Interval(0.9, 0.9, 0.9, 1)
    tuned = (
        Tuned("laplace", "epsilon", "day", 0.9, 1.0, 0.9, 1.1, seen),
        Tuned("ttl", "seconds", "day", 0.9, 1.0, None, 1.0, seen),
    )
    allowed = report_of(replace(small(), tuned=tuned), "invented counts").evidence[1].table
    assert allowed is not None
    assert allowed.rows == (
        ("90%", "day", "laplace", "13.1%", "45.1%", "88.1%"),  # odds times e^2
        ("90%", "day", "ttl", "no bound", "no bound", "no bound"),
    )


def test_a_study_can_guess_from_all_regions_together() -> None:
    made = study(invented(), mechanisms=["laplace"], targets=[0.9], attackers=[STUDENT], known=[0], runs=1, joint=True)
    assert made.joint
    assert len(report_of(made, "invented counts").not_tried) == 3


def test_a_row_says_what_each_attacker_thinks_likelier_than_not() -> None:
    heads, rows = likelier_rows(small())
    assert heads == ("part", "utility", "mechanism", "outsider", "student")
    assert len(rows) == 3 * 2
    assert all(len(row) == len(heads) for row in rows)


@pytest.mark.parametrize("jobs", [1, 2])
def test_work_is_done_in_order_in_one_process_or_in_two(jobs: int) -> None:
    said: list[tuple[int, int]] = []
    assert on_all(squared, 1, [1, 2, 3], jobs, lambda done, all_of: said.append((done, all_of))) == [2, 5, 10]
    assert said == [(1, 3), (2, 3), (3, 3)]
