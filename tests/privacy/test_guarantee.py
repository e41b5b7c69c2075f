from __future__ import annotations

import itertools
import math
import subprocess
import sys
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from louver.errors import LouverError, ParameterError
from louver.parameters import LARGEST_COUNT
from louver.privacy.guarantee import Approximate, Guarantee, Pure, Subspace, ZeroConcentrated, compose
from tests.misuse import assert_made_or_refused

HALF = Fraction(1, 2)
PRICES = st.fractions(0, 50, max_denominator=10**9)
DELTAS = st.fractions(Fraction(1, 10**12), Fraction(1, 10), max_denominator=10**12)
SAFE_DELTA_SHARE = Fraction(1, 1000)
SLIGHTLY_MORE = 1 + Fraction(1, 2**60)
# Relative error of `exp` below: far under what 64 kept bits can show.
TINY = Fraction(1, 10**60)


def exp(exponent: Fraction) -> Fraction:
    with localcontext() as context:
        context.prec = 80
        return Fraction((Decimal(exponent.numerator) / Decimal(exponent.denominator)).exp())


def gaussian_log_delta(epsilon: float, rho: float) -> float:
    """ln of the exact delta of Gaussian noise with that rho at an epsilon (Balle and Wang 2018, Theorem 8)."""
    shift = math.sqrt(2 * rho)
    near, far = special.log_ndtr(shift / 2 - epsilon / shift), special.log_ndtr(-shift / 2 - epsilon / shift)
    return float(near + np.log1p(-np.exp(epsilon + far - near)))


@settings(deadline=None)
@given(PRICES, st.fractions(0, 1, max_denominator=10**9))
def test_the_largest_posterior_is_rounded_up_and_hardly(epsilon: Fraction, prior: Fraction) -> None:
    posterior = Pure(epsilon).posterior(prior)
    exact = prior / (prior + exp(-epsilon) * (1 - prior))

    assert prior <= posterior <= 1
    assert exact * (1 - TINY) <= posterior <= exact * SLIGHTLY_MORE


def test_the_posterior_is_reached_by_randomized_response() -> None:
    # The truth with probability e/(e+1): the loss of either answer is exactly 1.
    told_truly = exp(Fraction(1)) / (exp(Fraction(1)) + 1)
    prior = Fraction(1, 5)
    believed = prior * told_truly / (prior * told_truly + (1 - prior) * (1 - told_truly))

    assert believed * (1 - TINY) <= Pure(1).posterior(prior) <= believed * SLIGHTLY_MORE


def test_who_is_certain_before_stays_certain() -> None:
    assert Pure(3).posterior(0) == 0
    assert Pure(3).posterior(1) == 1


def test_an_enormous_price_lets_a_guess_become_certain_without_ado() -> None:
    assert Pure(2**4000).posterior(HALF) == 1
    assert "100%" in Pure(2**4000).sentence()
    assert Approximate(2**4000, Fraction(1, 10)).right_guesses() == 1
    assert ZeroConcentrated(2**4000).right_guesses() == 1


@pytest.mark.parametrize(
    ("epsilon", "percent"),
    [(HALF, "62.3%"), (1, "73.2%"), (Fraction(1, 10), "52.5%"), (Fraction(1, 10**9), "50.1%"), (10, "99.996%")],
)
def test_the_sentence_of_a_pure_guarantee_rounds_up(epsilon: Fraction, percent: str) -> None:
    sentence = Pure(epsilon).sentence()

    assert f"from 50% to at most {percent}, whatever comes out" in sentence
    assert "does not hide what many units show together" in sentence


def test_a_price_of_zero_promises_that_nothing_changes() -> None:
    assert Pure(0).sentence() == "Nothing about any unit changes what comes out."
    assert Pure(0).posterior(Fraction(1, 3)) == pytest.approx(1 / 3, abs=1e-18)


@pytest.mark.parametrize(
    ("guarantee", "formula"),
    [
        (Pure(HALF), "P[M(D) in O] <= exp(0.5) * P[M(D') in O]"),
        (Pure(0.1), "P[M(D) in O] <= exp(0.1) * P[M(D') in O]"),
        (Pure(0), "P[M(D) in O] <= exp(0) * P[M(D') in O]"),
        (Pure(Fraction(1, 3)), "P[M(D) in O] <= exp(1/3) * P[M(D') in O]"),
        (Pure(Fraction(10**20 + 1, 3 * 10**20)), "P[M(D) in O] <= exp(0.3333334) * P[M(D') in O]"),
        (Pure(2**4000), "P[M(D) in O] <= exp(1.318205e+1204) * P[M(D') in O]"),
        (Approximate(1, Fraction(1, 10**6)), "P[M(D) in O] <= exp(1) * P[M(D') in O] + 1e-06"),
        (ZeroConcentrated(Fraction(1, 8)), "D_a(M(D) || M(D')) <= 0.125 * a for every order a > 1"),
    ],
)
def test_the_formula_shows_numbers_exactly_or_rounded_up(guarantee: Guarantee, formula: str) -> None:
    assert guarantee.formula() == formula


@settings(deadline=None)
@given(PRICES, DELTAS)
def test_an_approximate_guess_is_right_no_more_often_than_said(epsilon: Fraction, delta: Fraction) -> None:
    exact = (exp(epsilon) + delta) / (exp(epsilon) + 1)

    assert exact * (1 - TINY) <= Approximate(epsilon, delta).right_guesses() <= exact * SLIGHTLY_MORE


@settings(deadline=None)
@given(st.fractions(Fraction(1, 10**6), 10, max_denominator=10**6))
def test_a_zero_concentrated_guess_is_right_no_more_often_than_said(rho: Fraction) -> None:
    # Gaussian noise has exactly this rho, and a distance of 2 Phi(sqrt(rho / 2)) - 1.
    reached = special.ndtr(math.sqrt(rho / 2))
    assert reached < ZeroConcentrated(rho).right_guesses() <= 1


def test_the_other_sentences_say_what_can_go_wrong() -> None:
    approximate = Approximate(1, Fraction(1, 10**6)).sentence()
    assert "right in at most 73.2% of cases" in approximate
    assert "probability at most 1 in 1,000,000." in approximate
    assert "1 in 10^40" in Approximate(1, Fraction(1, 10**40)).sentence()
    assert Approximate(1, 0).sentence() == Pure(1).sentence()
    assert "single outcomes can tell more" in ZeroConcentrated(1).sentence()


@settings(deadline=None)
@given(st.lists(PRICES, min_size=1, max_size=6))
def test_guarantees_of_one_kind_add_up_exactly(prices: list[Fraction]) -> None:
    assert compose(*map(Pure, prices)) == Pure(sum(prices))
    assert compose(*map(ZeroConcentrated, prices)) == ZeroConcentrated(sum(prices))
    small = [Approximate(price, SAFE_DELTA_SHARE) for price in prices]
    assert compose(*small) == Approximate(sum(prices), len(prices) * SAFE_DELTA_SHARE)


def test_guarantees_of_two_kinds_have_no_sum_as_they_are() -> None:
    kinds: list[Any] = [Pure(1), Approximate(1, 0), ZeroConcentrated(1)]
    for one, other in itertools.permutations(kinds, 2):
        with pytest.raises(ParameterError, match=f"{one.kind} and one that is {other.kind} have no sum as they are"):
            compose(one, other)


def test_a_sum_that_promises_nothing_is_refused() -> None:
    with pytest.raises(ParameterError, match="nothing is promised"):
        compose(Approximate(1, HALF), Approximate(1, HALF))


def test_a_pure_guarantee_converts_exactly() -> None:
    assert Pure(HALF).as_approximate() == Approximate(HALF, 0)
    assert Pure(HALF).as_zero_concentrated() == ZeroConcentrated(Fraction(1, 8))


@settings(deadline=None)
@given(st.fractions(Fraction(1, 100), 8, max_denominator=1000), st.floats(1.01, 1000))
def test_randomized_response_keeps_the_converted_guarantee_at_every_order(epsilon: Fraction, order: float) -> None:
    true = -math.log1p(math.exp(-epsilon))
    false = true - float(epsilon)
    moment = np.logaddexp(order * true + (1 - order) * false, order * false + (1 - order) * true)

    assert moment / (order - 1) <= float(Pure(epsilon).as_zero_concentrated().rho) * order


@settings(max_examples=300, deadline=None)
@given(
    st.one_of(st.fractions(Fraction(1, 10**6), 100, max_denominator=10**6), st.sampled_from([Fraction(10**6)])),
    st.one_of(DELTAS, st.sampled_from([Fraction(1, 10**100), Fraction(9, 10)])),
)
def test_a_converted_guarantee_lies_between_the_gaussian_curve_and_the_textbook_bound(
    rho: Fraction, delta: Fraction
) -> None:
    converted = ZeroConcentrated(rho).as_approximate(delta)

    assert converted.delta == delta
    textbook = float(rho) + 2 * math.sqrt(-rho * math.log(delta))
    assert converted.epsilon <= textbook * (1 + 1e-12)
    assert gaussian_log_delta(float(converted.epsilon), float(rho)) <= math.log(delta) + 1e-9


@pytest.mark.parametrize("rho", [Fraction(1, 50), HALF, Fraction(7)])
@pytest.mark.parametrize("delta", [Fraction(1, 10**9), Fraction(1, 10**5), Fraction(1, 100)])
def test_a_conversion_agrees_with_dp_accounting_and_never_falls_below_its_formula(
    rho: Fraction, delta: Fraction
) -> None:
    from dp_accounting import ZCDpEvent, get_epsilon_gaussian
    from dp_accounting.rdp import RdpAccountant

    accountant = RdpAccountant([1 + step / 1000 for step in range(11, 60_000)])
    accountant.compose(ZCDpEvent(float(rho)))
    theirs = accountant.get_epsilon(float(delta))
    ours = float(ZeroConcentrated(rho).as_approximate(delta).epsilon)

    # Both search orders on a grid; 0.1% of epsilon is what the grids can differ by.
    assert ours == pytest.approx(theirs, rel=1e-3)
    assert ours > get_epsilon_gaussian(1 / math.sqrt(2 * rho), float(delta))
    best = min(
        float(rho) * order + math.log1p(-1 / order) - math.log(float(delta) * order) / (order - 1)
        for order in np.linspace(1.001, 100, 200_000)
    )
    assert ours >= best - 1e-6


def test_a_conversion_lies_nearer_to_the_gaussian_than_the_textbook_does() -> None:
    from dp_accounting import get_epsilon_gaussian

    rho, delta = Fraction(1, 8), Fraction(1, 10**6)
    converted = ZeroConcentrated(rho).as_approximate(delta)

    assert get_epsilon_gaussian(2, 1e-6) == pytest.approx(2.25408, abs=1e-5)
    assert float(converted.epsilon) == pytest.approx(2.41909, abs=1e-4)
    assert float(rho) + 2 * math.sqrt(-rho * math.log(delta)) == pytest.approx(2.75326, abs=1e-5)


def test_what_is_almost_nothing_needs_no_epsilon_beside_delta() -> None:
    assert ZeroConcentrated(0).as_approximate(Fraction(1, 10**9)) == Approximate(0, Fraction(1, 10**9))
    assert ZeroConcentrated(Fraction(1, 2**4000)).as_approximate(Fraction(1, 10**99)).epsilon == 0
    assert ZeroConcentrated(Fraction(1, 10**4)).as_approximate(Fraction(1, 100)).epsilon == 0


def test_a_missing_package_is_named_in_the_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("dp_accounting", "dp_accounting.rdp"):
        monkeypatch.setitem(sys.modules, name, None)

    with pytest.raises(LouverError, match=r"pip install 'louver\[accounting\]'\.$"):
        ZeroConcentrated(1).as_approximate(Fraction(1, 10**6))


def test_the_room_starts_without_heavy_packages() -> None:
    code = (
        "import sys, louver.privacy.guarantee, louver.privacy.predicatewise\n"
        "sys.exit(sum(name in sys.modules for name in ('dp_accounting', 'scipy', 'pandas')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@settings(deadline=None)
@given(PRICES, st.integers(1, LARGEST_COUNT))
def test_a_group_pays_for_each_unit_and_in_concentrated_terms_for_its_square(price: Fraction, size: int) -> None:
    assert Pure(price).for_group(size) == Pure(price * size)
    assert ZeroConcentrated(price).for_group(size) == ZeroConcentrated(price * size**2)
    assert Approximate(price, 0).for_group(size) == Approximate(price * size, 0)


@settings(deadline=None)
@given(st.fractions(0, 3, max_denominator=1000), st.fractions(0, Fraction(1, 10**9)), st.integers(1, 6))
def test_an_approximate_group_pays_at_least_the_sum_of_its_chain(epsilon: Fraction, delta: Fraction, size: int) -> None:
    group = Approximate(epsilon, delta).for_group(size)
    chain = sum((delta * exp(step * epsilon) for step in range(size)), Fraction(0))

    assert group.epsilon == size * epsilon
    assert chain * (1 - TINY) <= group.delta <= size * delta * exp((size - 1) * epsilon) * SLIGHTLY_MORE


@pytest.mark.parametrize("size", [30, LARGEST_COUNT])
def test_a_group_that_is_promised_nothing_is_refused(size: int) -> None:
    with pytest.raises(ParameterError, match="promises nothing"):
        Approximate(1, Fraction(1, 10**6)).for_group(size)


def test_guarantees_are_exact_and_cannot_be_changed() -> None:
    assert Pure(0.1).epsilon == Fraction(0.1) != Fraction(1, 10)
    assert Pure(Decimal("0.1")) == Pure(Fraction(1, 10))
    assert len({Pure(1), Pure(1), Approximate(1, 0)}) == 2
    with pytest.raises(AttributeError):
        Pure(1).epsilon = Fraction(0)  # type: ignore[misc]


@pytest.mark.parametrize("price", [-1, -0.1, math.nan, math.inf, -math.inf, True, "1", None, 1j, 2**5000, [1]])
def test_a_price_that_is_no_finite_number_of_zero_or_more_is_refused(price: Any) -> None:
    for make in (Pure, ZeroConcentrated, lambda epsilon: Approximate(epsilon, 0), lambda delta: Approximate(1, delta)):
        with pytest.raises(ParameterError, match=r"\.$"):
            make(price)


@pytest.mark.parametrize("delta", [0, 1, 2, -1, Fraction(1, 10**101), math.nan, None, "1", True])
def test_a_delta_that_cannot_be_converted_to_is_refused(delta: Any) -> None:
    with pytest.raises(ParameterError, match=r"\.$"):
        ZeroConcentrated(1).as_approximate(delta)


def test_a_rho_too_large_to_convert_is_refused() -> None:
    with pytest.raises(ParameterError, match="rho must be between"):
        ZeroConcentrated(10**101).as_approximate(Fraction(1, 10))


ANYTHING = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(2**3000, 2**5000),
    st.floats(),
    st.fractions(),
    st.decimals(),
    st.complex_numbers(),
    st.text(max_size=5),
    st.binary(max_size=5),
    st.lists(st.integers(), max_size=2),
    st.builds(object),
    st.sampled_from([np.float32(0.3), np.int64(2), np.bool_(True), Fraction(1, 2**4000)]),
)


@settings(max_examples=3000, deadline=None)
@given(ANYTHING, ANYTHING)
def test_any_input_makes_a_guarantee_or_gets_one_sentence(first: Any, second: Any) -> None:
    for attempt in (
        lambda: Pure(first).sentence(),
        lambda: Pure(first).formula(),
        lambda: Pure(first).posterior(second),
        lambda: Pure(first).as_zero_concentrated(),
        lambda: Pure(1).for_group(first),
        lambda: Approximate(first, second).sentence(),
        lambda: Approximate(first, second).formula(),
        lambda: Approximate(first, HALF).for_group(second),
        lambda: ZeroConcentrated(first).sentence(),
        lambda: ZeroConcentrated(first).for_group(second),
        lambda: ZeroConcentrated(first).as_approximate(second),
        lambda: compose(Pure(1), first),
        lambda: compose(first, second),
    ):
        assert_made_or_refused(attempt)


def test_a_subspace_guarantee_says_what_it_does_not_protect() -> None:
    guarantee = Subspace(Fraction(1, 2), 0, "the totals by day")
    assert guarantee.sentence().startswith(
        "Exact, and so not protected: the totals by day. Between data sets that agree"
    )
    assert "can go from 50% to at most 62.3%, whatever comes out." in guarantee.sentence()
    rare = Subspace(Fraction(1, 2), Fraction(1, 10**6), "the headcount").sentence()
    assert "is right in at most 62.3% of cases. An outcome that only one of them can cause has probability" in rare
    assert guarantee.formula().endswith("where the totals by day of D and D' agree")


def test_subspace_guarantees_add_up_about_the_same_invariants_only() -> None:
    half = Subspace(Fraction(1, 2), Fraction(1, 10), "totals")
    assert compose(half, half, half) == Subspace(Fraction(3, 2), Fraction(3, 10), "totals")
    with pytest.raises(ParameterError, match="different invariants"):
        compose(half, Subspace(Fraction(1, 2), Fraction(1, 10), "margins"))
    for other in (Pure(1), Approximate(1, 0), ZeroConcentrated(1)):
        with pytest.raises(ParameterError, match="have no sum"):
            compose(half, other)  # type: ignore[type-var]


@pytest.mark.parametrize("invariants", [None, "", "  ", 3, ["totals"], "x" * 129])
def test_invariants_have_a_name(invariants: Any) -> None:
    with pytest.raises(ParameterError, match="invariants must be named"):
        Subspace(1, 0, invariants)
