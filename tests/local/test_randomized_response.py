"""Laws are compared with the false-alarm probability `laws.FALSE_ALARM`, 1e-9; audits state theirs in `tools`."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from louver.errors import LouverError
from louver.local import Choice, Unary, YesNo
from tests.misuse import NOT_POSITIVE, anything, assert_made_or_refused
from tests.noise.laws import assert_follows, assert_rejects, coin
from tests.table.tools import seeded, surely_lost

PEOPLE = 200_000


def test_the_coin_of_the_talk_costs_ln_3_and_says_yes_for_half_the_share_plus_a_quarter() -> None:
    mechanism = YesNo.coin(bits=seeded(1))
    assert float(mechanism.price.epsilon) == pytest.approx(math.log(3), abs=1e-15)
    assert (
        Fraction(math.log(3)) - Fraction(1, 2**50)
        < mechanism.price.epsilon
        < Fraction(math.log(3)) + Fraction(1, 2**50)
    )
    assert mechanism.law().tolist() == [[0.75, 0.25], [0.25, 0.75]]
    reports = mechanism.report(np.arange(PEOPLE) < PEOPLE * 3 // 10)
    assert_follows(reports[: PEOPLE * 3 // 10], coin(3 / 4))
    assert_follows(reports[PEOPLE * 3 // 10 :], coin(1 / 4))
    assert_rejects(reports[: PEOPLE * 3 // 10], coin(0.77))


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(3)])
def test_the_law_of_each_mechanism_loses_just_its_price(epsilon: Fraction) -> None:
    """An exact audit: the largest log ratio of two answers' laws, over all reports."""
    symmetric, optimised = Unary(5, epsilon, optimised=False), Unary(5, epsilon)
    for mechanism in (YesNo(epsilon), Choice(7, epsilon), symmetric, optimised):
        assert epsilon <= mechanism.loss() <= epsilon + Fraction(1, 2**50)
        assert mechanism.price.epsilon == epsilon
    for law in (YesNo(epsilon).law(), Choice(7, epsilon).law()):
        assert law.sum(axis=1) == pytest.approx(1)
        assert np.log(law.max(axis=0) / law.min(axis=0)).max() == pytest.approx(float(epsilon))
    for p, q in (symmetric.law(), optimised.law()):
        assert math.log(p * (1 - q) / (q * (1 - p))) == pytest.approx(float(epsilon))


@pytest.mark.parametrize("factor", [1, 2])
def test_an_audit_of_reports_finds_halved_noise(factor: int) -> None:
    """Lower bounds on the log ratio of one report's chances: at most the price 1, unless noise is halved."""
    zeros = np.zeros(PEOPLE, dtype=np.int64)
    yes, choice = YesNo(factor, bits=seeded(2)), Choice(3, factor, bits=seeded(3))
    unary = [Unary(2, factor, optimised=optimised, bits=seeded(4)) for optimised in (True, False)]
    losses = [
        surely_lost(yes.report(zeros == 0), yes.report(zeros == 1)),
        surely_lost(choice.report(zeros) == 0, choice.report(zeros + 1) == 0),
        *(surely_lost(*(told[:, 0] & ~told[:, 1] for told in (u.report(zeros), u.report(zeros + 1)))) for u in unary),
    ]
    assert all((loss > 1) == (factor == 2) for loss in losses)


def test_choices_follow_the_law_and_not_one_10_percent_off() -> None:
    mechanism = Choice(4, 1, bits=seeded(5))
    reports = mechanism.report(np.full(PEOPLE, 2))
    truth = math.e / (math.e + 3)
    assert_follows(reports, lambda said: truth if said == 2 else (1 - truth) / 3)
    assert_rejects(reports, lambda said: truth * 1.1 if said == 2 else (1 - truth * 1.1) / 3)


@pytest.mark.parametrize("optimised", [True, False])
def test_unary_bits_follow_the_law_and_are_independent(optimised: bool) -> None:
    mechanism = Unary(3, Fraction(3, 2), optimised=optimised, bits=seeded(6))
    p, q = mechanism.law()
    assert (p == 0.5) == optimised
    reports = mechanism.report(np.full(PEOPLE, 1)).astype(np.int64)

    def joint(bits: tuple[int, ...], own: float = p) -> float:
        return math.prod(chance if bit else 1 - chance for bit, chance in zip(bits, (q, own, q), strict=True))

    assert_follows(reports, joint)
    assert_rejects(reports, lambda bits: joint(bits, p * 0.95))


def test_the_optimised_encoding_estimates_rare_answers_better() -> None:
    rare = [Unary(50, 1, optimised=optimised).estimate(np.zeros((100, 50), dtype=bool)) for optimised in (True, False)]
    assert rare[0][0].standard_error < rare[1][0].standard_error


@pytest.mark.parametrize("kind", ["yes", "coin", "choice", "unary"])
def test_estimates_are_unbiased(kind: str) -> None:
    """100 surveys of 200 people of whom 60 have the answer: their mean is within 6.5 standard errors of 60."""
    people = (np.arange(200) < 60).astype(np.int64)
    values = []
    yes = YesNo(1, bits=seeded(7)) if kind == "yes" else YesNo.coin(bits=seeded(7))
    choice, unary = Choice(5, 1, bits=seeded(8)), Unary(5, 1, bits=seeded(9))
    for _ in range(100):
        if kind in ("yes", "coin"):
            values.append(yes.estimate(yes.report(people == 1)).value)
        else:
            mechanism = choice if kind == "choice" else unary
            values.append(mechanism.estimate(mechanism.report(people))[1].value)
    assert abs(np.mean(values) - 60) < 6.5 * np.std(values) / math.sqrt(100)


@pytest.mark.parametrize("choices", [2, 5, 1000])
def test_the_coin_of_several_answers_tells_the_truth_or_any(choices: int) -> None:
    mechanism = Choice.coin(choices, Fraction(1, 3), bits=seeded(10))
    assert mechanism.truth == pytest.approx(Fraction(1, 3) + Fraction(2, 3) / choices, abs=1e-50)
    assert mechanism.price.epsilon == pytest.approx(math.log(1 + choices / 2), abs=1e-15)
    assert mechanism.loss() <= mechanism.price.epsilon + Fraction(1, 2**50)
    reports = mechanism.report(np.full(PEOPLE, 1))
    truth, other = float(mechanism.truth), float(mechanism.other)
    assert_follows(reports, lambda said: truth if said == 1 else other)


def test_the_coin_of_two_answers_is_that_of_yes_or_no() -> None:
    assert Choice.coin(["yes", "no"]).price == YesNo.coin().price
    assert Choice.coin(2).law().tolist() == YesNo.coin().law().tolist()


@pytest.mark.parametrize("epsilon", [1e-6, 37, 64])
def test_prices_at_the_ends_have_an_exact_law(epsilon: float) -> None:
    exact = Fraction(epsilon)
    for mechanism in (YesNo(epsilon), Choice(2**20, epsilon), Unary(3, epsilon), Unary(3, epsilon, optimised=False)):
        assert exact <= mechanism.loss() <= exact + Fraction(1, 2**50)
    for law in (YesNo(epsilon).law(), Choice(7, epsilon).law()):
        assert math.log(law[0, 0] / law[0, 1]) == pytest.approx(epsilon, rel=1e-9)


@pytest.mark.parametrize("truth", [1e-300, 1e-9, 1 - Fraction(1, 10**30), 0, 1, 2])
def test_coins_that_cost_next_to_nothing_or_nearly_all_are_refused(truth: float | Fraction) -> None:
    for attempt in (lambda: YesNo.coin(truth), lambda: Choice.coin(3, truth)):
        with pytest.raises(LouverError, match=r"^truth must be .*\.$"):
            attempt()


@pytest.mark.parametrize("bad", [*NOT_POSITIVE, 65])
def test_what_is_no_price_is_refused(bad: object) -> None:
    for attempt in (lambda: YesNo(bad), lambda: Choice(3, bad), lambda: Unary(3, bad)):  # type: ignore[arg-type]
        with pytest.raises(LouverError, match=r"^epsilon .*\.$"):
            attempt()


def test_other_bad_input_is_refused() -> None:
    for attempt, sentence in (
        (lambda: YesNo.coin(1), "^truth must be"),
        (lambda: Choice(5000, 1).law(), "^A law of more than 4,096 answers"),
        (lambda: YesNo(1).report([1, 0]), "^Answers must be one list of True and False"),
        (lambda: YesNo(1).report([[True]]), "^Answers must be one list"),
        (lambda: YesNo(1).estimate([]), "^Nobody has reported"),
        (lambda: YesNo(1).estimate([True], level=1), "^level must be"),
        (lambda: Choice(1, 1), "^The number of choices"),
        (lambda: Choice(3, 1).report([0.5]), "signed whole numbers"),
        (lambda: Unary(3, 1).estimate([[True]]), "^Reports must be rows of 3"),
        (lambda: Unary(2**20, 1).report(list(range(300))), "^One call makes at most"),
    ):
        with pytest.raises(LouverError, match=sentence):
            attempt()


@given(anything, st.lists(st.booleans(), max_size=3) | anything)
def test_whatever_is_passed_gives_reports_or_a_sentence(epsilon: object, answers: object) -> None:
    assert_made_or_refused(lambda: YesNo(epsilon).report(answers))  # type: ignore[arg-type]
    assert_made_or_refused(lambda: Choice(3, epsilon).report(answers))  # type: ignore[arg-type]
    assert_made_or_refused(lambda: Unary(3, 1).report(answers))
    assert_made_or_refused(lambda: Unary(3, 1).estimate(answers))
