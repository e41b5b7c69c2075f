"""The study: attackers against mechanisms that are equally useful, scored by the truth."""

from __future__ import annotations

import json
import re
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
from louver.attack.parts import ticks_of
from louver.attack.prior import prior_of
from louver.attack.scene import View, views_of
from louver.attack.study import attackers_of, study
from louver.attack.study_report import likelier_rows, report_of, verdict_of
from louver.attack.study_values import Study
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
BEFORE = ("2%", "10%", "50%")


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
    assert all(each.by_hour.average.shape == (12, 6) for each in made.found)
    assert {each.by_hour.runs for each in made.found if each.setting.mechanism == "laplace"} == {3}
    assert {each.by_hour.runs for each in made.found if each.setting.mechanism == "none"} == {1}


def test_a_study_has_laplace_noise_at_fixed_prices_by_a_known_law_and_a_learned_one() -> None:
    priced = small().priced
    assert {each.attacker for each in priced} == {"outsider"}
    noisy = [(each.setting.value, each.setting.learned) for each in priced if each.setting.mechanism == "laplace"]
    assert sorted(set(noisy)) == [(price, learned) for price in (0.1, 1, 5) for learned in (False, True)]
    assert {each.by_hour.average.shape for each in priced} == {(24, 6)}


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
    assert (tuned, learned, attacked) == ((5, 11), (0, 11), [(11, 12)])
    assert [past.shape for past in pasts] == [(5, 12, 3)] * 2
    assert (priors[0] == truth.counts[:-1].sum(axis=0)).all()


def test_the_last_day_is_what_is_attacked() -> None:
    """From true counts everybody is found by whoever knows all others, whatever the days before were."""
    truth = invented()
    truth.counts[-1, :, 1:] = 0
    truth.counts[-1, :, 0] = 1
    made = study(truth, mechanisms=[], attackers=[NOBODY_INSIDE], known=[1])
    assert [each.likelier_than_not for each in made.found] == [1, 1]
    assert [each.by_hour.average.sum() for each in made.found] == [12, 12]


def test_a_study_of_a_building_has_its_three_attackers_and_pseudonyms() -> None:
    truth = Truth.simulated(simulate("demo", days=5, people=150))
    assert [each.name for each in attackers_of(truth)] == ["outsider", "student", "administrator"]
    made = study(truth, mechanisms=["laplace", "ttl", "ttl-device"], targets=[0.8], known=[0], runs=2)
    assert {each.mechanism for each in made.tuned} == {"laplace", "ttl", "ttl-device"}


def test_pseudonyms_without_events_are_refused() -> None:
    with pytest.raises(DataError, match="leave ttl out"):
        study(invented(), mechanisms=["ttl"])


def test_a_study_of_nothing_is_refused() -> None:
    with pytest.raises(ParameterError, match="at least one of each"):
        study(invented(), targets=[], attackers=[NOBODY_INSIDE])


def test_too_few_days_are_refused() -> None:
    with pytest.raises(ParameterError, match="five days"):
        study(invented(days=4))


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
        "Laplace noise at fixed prices",
    ]
    assert all(each.table is not None for each in report.evidence)
    assert len(report.not_tried) == 7
    assert any("Membership, differencing, reconstruction" in each for each in report.not_tried)
    assert "exact number of people" in dict(report.about)["attackers are given"]
    assert json.loads(report.json())["evidence"][2]["figure"]["kind"] == "class areas"
    assert "<svg" in report.html()


def tuned(mechanism: str, parameter: str, value: float | None, zeros: float = 0.5) -> Tuned:
    seen = Interval(0.9, 0.89, 0.91, 3 if parameter == "epsilon" else 1)
    return Tuned(mechanism, parameter, "day", 0.9, value, 0.9, value, seen, zeros, 0.4)


def test_the_report_says_what_a_price_allows_and_that_pseudonyms_have_none() -> None:
    found = (tuned("laplace", "epsilon", 1.0), tuned("ttl", "seconds", 1.0))
    allowed = report_of(replace(small(), tuned=found), "invented counts").evidence[1].table
    assert allowed is not None
    assert allowed.heads[3:] == tuple(f"{many}, from {before}" for many in ("1 tick", "2 ticks") for before in BEFORE)
    assert allowed.rows == (
        ("90%", "day", "laplace", "13.1%", "45.1%", "88.1%", "52.7%", "85.8%", "98.2%"),  # odds times e^2, e^4
        ("90%", "day", "ttl", *(["no bound"] * 6)),
    )


def test_the_report_promises_a_tick_of_a_smoothed_stream_only_to_whoever_knows_the_others() -> None:
    """A segment of 40 alike ticks loses more than one tick's price in its last number alone."""
    said = report_of(small(), "invented counts").evidence[1].sentence
    assert "and where a person is at all other ticks, becomes no surer" in said
    assert "even one release may tell of all of them together" in said
    assert "held to it at each" not in said


def test_a_report_has_no_number_of_people_in_it() -> None:
    """A day of crowds whose sizes are in no report by chance: as counts, or as shares with their digits."""
    truth = invented()
    truth.counts[-1, :, 0] += 1000 + np.arange(24)
    report = report_of(study(truth, mechanisms=[], attackers=[NOBODY_INSIDE], known=[0, 0.5]), "crowds")
    numbers = [each for each in _numbers(json.loads(report.json())) if each > 100]
    assert numbers == []
    for evidence in report.data()["evidence"]:
        if evidence["figure"] is not None and evidence["figure"]["kind"] == "class areas":
            assert all(each == round(each) for each in _numbers(evidence["figure"]["panels"]))
            assert "people to guess" in evidence["figure"]["unit"]
    assert all(round(each, 2) == each for each in _numbers(json.loads(report.json())["evidence"]))


def _numbers(value: object) -> list[float]:
    if isinstance(value, dict | list):
        return [each for one in (value.values() if isinstance(value, dict) else value) for each in _numbers(one)]
    return [value] if isinstance(value, int | float) and not isinstance(value, bool) else []


def test_what_zeros_and_noise_reach_is_beside_the_target() -> None:
    """Nobody by night on days that are tuned on: zeros are as good as the truth, and a target of 0.9 says nothing."""
    truth = invented()
    truth.counts[:-1, ticks_of("night", 24)] = 0
    made = study(truth, mechanisms=["laplace"], targets=[0.9], attackers=[NOBODY_INSIDE], known=[0], runs=1)
    by_part = {each.part: each for each in made.tuned}
    assert by_part["night"].zeros == 1
    assert by_part["day"].zeros < 0.9
    parameters = report_of(made, "invented counts").evidence[0]
    assert parameters.table is not None
    assert parameters.table.rows[1][1:3] == ("night", "100%")
    assert "reaches 90% by night too: such a target says nothing." in parameters.sentence
    assert "100% by night" in verdict_of(made)


def test_the_verdict_has_the_average_and_the_worst_run() -> None:
    made = small()
    found = [each for each in made.found if each.setting.mechanism == "laplace" and each.known == 0.9]
    average, worst = (max(float(getattr(each.likelier, name)) for each in found) for name in ("average", "worst"))
    assert f"{100 * average:.1f}% on average ({100 * worst:.1f}% in the worst run) under laplace" in verdict_of(made)
    assert "at most" not in verdict_of(made)


def test_the_verdict_names_who_did_not_reach_the_target() -> None:
    missed = replace(small(), tuned=(tuned("pegasus", "epsilon", None),))
    assert verdict_of(missed).endswith("from true counts; not reached by pegasus by day.")


def test_a_verdict_without_mechanisms_is_of_true_counts_alone() -> None:
    made = study(invented(), mechanisms=[], attackers=[NOBODY_INSIDE], known=[0])
    assert "nobody" not in verdict_of(made)
    assert re.search(r"so many of the people to guess: [\d.]+% from true counts\.$", verdict_of(made))


def test_a_last_day_with_nobody_is_refused_and_a_part_with_hardly_anybody_is_left_out() -> None:
    truth = invented()
    truth.counts[-1, ticks_of("night", 24)] = 0
    truth.counts[-1, 0, 0] = 9
    made = study(truth, mechanisms=[], attackers=[NOBODY_INSIDE], known=[0])
    assert (made.parts, made.left_out) == (("day",), ("outsider by night, who has hardly anybody to guess",))
    assert dict(report_of(made, "a day").about)["left out"] == "outsider by night, who has hardly anybody to guess"
    truth.counts[-1] = 0
    with pytest.raises(DataError, match="Hardly anybody is there on the last day"):
        study(truth, mechanisms=[], attackers=[NOBODY_INSIDE], known=[0])


def test_an_attacker_with_hardly_anybody_to_guess_is_left_out_of_that_part_alone() -> None:
    truth = invented()
    truth.counts[-1, ticks_of("night", 24), 1:] = 0
    made = study(truth, mechanisms=[], attackers=[STUDENT, NOBODY_INSIDE], known=[0, 0.5])
    assert made.left_out == ("student by night, who has hardly anybody to guess",)
    assert [row[0] for row in likelier_rows(made)[1]] == ["day", "night"]
    assert likelier_rows(made)[1][1][3] == "-"
    titles = [each.title for each in report_of(made, "a day").evidence]
    assert "Student, day" in titles
    assert "Student, night" not in titles


def test_an_attacker_who_sees_every_region_is_left_out_and_said_to_be() -> None:
    guard = Attacker("guard", (True,) * 3)
    made = study(invented(), mechanisms=[], attackers=[NOBODY_INSIDE, guard], known=[0])
    assert {each.attacker for each in made.found} == {"outsider"}
    assert made.left_out == ("guard, who sees every region",)
    with pytest.raises(ParameterError, match="nobody is left to guess"):
        study(invented(), mechanisms=[], attackers=[guard], known=[0])


def test_an_hour_of_several_ticks_is_a_share_of_all_its_people() -> None:
    counts = np.random.default_rng(2).poisson(5, (6, 48, 3))
    counts[-1, 14:16] = [[10, 0, 0], [0, 30, 0]]
    truth = Truth(counts, ("hall", "lab", "office"), date(2026, 1, 5))
    (day, _) = study(truth, mechanisms=[], attackers=[NOBODY_INSIDE], known=[0]).found
    assert day.by_hour.average.shape == (12, 6)
    assert day.by_hour.average[0].tolist() == [0, 0, 0, 0, 0, 1]


def test_a_study_can_guess_from_all_regions_together() -> None:
    made = study(invented(), mechanisms=["laplace"], targets=[0.9], attackers=[STUDENT], known=[0], runs=1, joint=True)
    assert made.joint
    assert len(report_of(made, "invented counts").not_tried) == 6


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
