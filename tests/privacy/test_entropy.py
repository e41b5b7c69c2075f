"""Min-entropy of prices: against brute force over all vertices, in floats and in 50 digits."""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from louver.errors import LouverError
from louver.privacy.entropy import MinEntropy, beliefs, min_entropy, pivots, published_min_entropy
from tests.misuse import NOT_COUNTS, NOT_NUMBERS, anything

Floats = NDArray[np.float64]
# What rounding may leave between value and lower at these sizes and prices.
ROUNDING = 1e-9

LAWS: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "uniform to 3": lambda dice, keys: dice.uniform(0, 3, keys),
    "uniform to 0.3": lambda dice, keys: dice.uniform(0, 0.3, keys),
    "log-uniform": lambda dice, keys: 10 ** dice.uniform(-4, 1, keys),
    "four levels": lambda dice, keys: dice.choice(np.array([0.1, 0.5, 1.0, 2.0]), keys),
    "levels at random": lambda dice, keys: dice.choice(10 ** dice.uniform(-2, 0.5, 4), keys),
    "nothing or all": lambda dice, keys: dice.choice(np.array([0.0, 0.5, 20.0]), keys),
    "nearly equal": lambda dice, keys: 1 + dice.uniform(0, 1e-3, keys),
    "nearly nothing": lambda dice, keys: dice.uniform(0, 1e-12, keys),
}


def instances(count: int, most_keys: int, seed: int) -> list[tuple[Floats, Floats]]:
    """Prices by every law in turn, and a prior to go with them."""
    dice = np.random.default_rng(seed)
    laws = list(LAWS.values())
    found = []
    for number in range(count):
        prices = laws[number % len(laws)](dice, int(dice.integers(2, most_keys + 1)))
        prior = (
            dice.dirichlet(np.ones(prices.size)) if number % 2 else dice.choice(np.array([1.0, 2.0, 3.0]), prices.size)
        )
        found.append((prices, prior))
    return found


def ends(prices: Sequence[float] | Floats, prior: Sequence[float] | Floats | None) -> tuple[Floats, Floats]:
    price = np.asarray(prices, dtype=float)
    weight = np.ones(price.size) if prior is None else np.asarray(prior, dtype=float)
    up, down = weight * np.exp(price), weight * np.exp(-price)
    return down / up.sum(), up / down.sum()


def least_entropy(prices: Sequence[float] | Floats, prior: Sequence[float] | Floats | None = None) -> float:
    """Brute force: every pivot, every choice of ends for the others."""
    low, high = ends(prices, prior)
    others = low.size - 1
    choice = ((np.arange(2**others)[:, None] >> np.arange(others)) & 1).astype(bool)
    best = math.inf
    for pivot in range(low.size):
        rest = np.delete(np.arange(low.size), pivot)
        belief = np.where(choice, high[rest], low[rest])
        own = 1 - belief.sum(axis=1)
        feasible = (own >= low[pivot] * (1 - 1e-12)) & (own <= high[pivot] * (1 + 1e-12))
        whole = np.column_stack([belief[feasible], own[feasible]])
        best = min(best, float(np.min(-(whole * np.log(whole)).sum(axis=1), initial=math.inf)))
    return best


def least_entropy_to_50_digits(prices: Sequence[float | Fraction], prior: Sequence[float] | None) -> Decimal:
    """The same, so precisely that it can judge a certificate; a vertex infeasible by 1e-40 passes for feasible."""
    with decimal.localcontext(prec=50, Emin=-(10**7), Emax=10**7):
        price = [Decimal(Fraction(p).numerator) / Fraction(p).denominator for p in prices]
        weight = [Decimal(1)] * len(price) if prior is None else [Decimal(w) for w in prior]
        up = [w * p.exp() for w, p in zip(weight, price, strict=True)]
        down = [w * (-p).exp() for w, p in zip(weight, price, strict=True)]
        low, high = [d / sum(up) for d in down], [u / sum(down) for u in up]
        terms = [[-end * end.ln() for end in pair] for pair in zip(low, high, strict=True)]
        best, nearly = Decimal("inf"), Decimal("1e-40")
        for pivot in range(len(price)):
            partial = [(Decimal(1), Decimal(0))]
            for key in range(len(price)):
                if key != pivot:
                    partial = [
                        (own - end, total + term)
                        for own, total in partial
                        for end, term in zip((low[key], high[key]), terms[key], strict=True)
                        if own - end > -nearly
                    ]
            for own, total in partial:
                if low[pivot] - nearly <= own <= high[pivot] + nearly and own > 0:
                    best = min(best, total - own * own.ln())
        return best


def assert_certified(found: MinEntropy, truth: Decimal) -> None:
    slop = Decimal("1e-37")  # vertices infeasible by 1e-40 count in the brute force
    assert Decimal(found.lower) - slop <= truth <= Decimal(found.value) + slop
    assert 0 <= found.lower <= found.value
    assert 0 <= found.lower_normalised <= found.normalised <= 1


@pytest.mark.parametrize(
    ("prices", "expected"),
    [
        ([0.1, 0.5, 1], 0.682224786),
        ([0.2, 0.4, 1], 0.660219984),
        ([1, 1, 1], 0.365592847),
        ([math.log(10)] * 476, 1.702068),
    ],
)
def test_known_values_come_out(prices: list[float], expected: float) -> None:
    found = min_entropy(prices)
    assert found.exact
    assert found.value == pytest.approx(expected, abs=5e-10 if len(prices) < 10 else 5e-7)
    assert found.value - found.lower < ROUNDING


def test_of_the_two_examples_in_the_thesis_the_first_is_the_more_private() -> None:
    assert min_entropy([0.1, 0.5, 1]).lower > min_entropy([0.2, 0.4, 1]).value


def test_the_normalised_value_matches_the_plots_of_the_thesis() -> None:
    assert min_entropy([math.log(10)] * 420).normalised == pytest.approx(0.264, abs=5e-4)


def test_the_search_finds_the_brute_force_minimum_with_few_nodes() -> None:
    most_nodes = 0
    for prices, _ in instances(320, 14, seed=1):
        found = min_entropy(prices)
        assert found.exact
        assert found.value == pytest.approx(least_entropy(prices), abs=ROUNDING), prices.tolist()
        most_nodes = max(most_nodes, found.nodes)
    assert most_nodes <= 40


def test_the_search_finds_the_brute_force_minimum_under_any_prior() -> None:
    most_nodes = 0
    for prices, prior in instances(320, 12, seed=2):
        found = min_entropy(prices, prior)
        assert found.exact
        assert found.value == pytest.approx(least_entropy(prices, prior), abs=ROUNDING), (prices, prior)
        most_nodes = max(most_nodes, found.nodes)
    assert most_nodes <= 100


@pytest.mark.parametrize("node_limit", [0, 1, 2_000])
def test_the_certificate_holds_to_50_digits(node_limit: int) -> None:
    for prices, prior in instances(240, 7, seed=3 + node_limit):
        for weights in (None, prior.tolist()):
            truth = least_entropy_to_50_digits(prices.tolist(), weights)
            assert_certified(min_entropy(prices, weights, node_limit), truth)


@pytest.mark.parametrize(
    "prices",
    [
        [50.0, 50.0],
        [700.0, 0.0],
        [700.0, 700.0, 700.0],
        [700.0, 50.0, 1.0, 1e-12, 0.0],
        [1e6, 1e6, 0.0],
        [1e-12, 2e-12, 3e-12],
        [5e-324, 0.0],
        [0.0, 0.0, 1e-300, 3.0],
        [1.0, math.nextafter(1.0, 2.0), math.nextafter(1.0, 0.0)],
    ],
)
def test_the_certificate_holds_at_extreme_prices(prices: list[float]) -> None:
    for weights in (None, [1e-300, *[1.0] * (len(prices) - 1)], [3.0, *[1e300] * (len(prices) - 1)]):
        found = min_entropy(prices, weights)
        assert_certified(found, least_entropy_to_50_digits(prices, weights))
        assert found.exact
        assert found.value - found.lower < (1e-5 if max(prices) > 1000 else 1e-7)


def test_prices_are_taken_exactly_whatever_their_type() -> None:
    exact = [Fraction(1, 3), Fraction(2, 7), Fraction(5, 3)]
    found = min_entropy(exact)
    assert_certified(found, least_entropy_to_50_digits(exact, None))
    for same in ([float(price) for price in exact], np.array(exact, dtype=float), tuple(exact), np.array(exact)):
        assert min_entropy(same) == found
    assert min_entropy([1, 2, 3]) == min_entropy(np.array([1, 2, 3], dtype=np.uint8)) == min_entropy([1.0, 2.0, 3.0])
    assert min_entropy([Decimal("0.5"), np.float32(0.5), 1]) == min_entropy([0.5, 0.5, 1])


def test_one_key_leaves_nothing_to_be_unsure_about() -> None:
    assert min_entropy([3.0]) == MinEntropy(0.0, 0.0, True, 1, 0)
    assert min_entropy([3.0]).normalised == min_entropy([3.0]).lower_normalised == 0.0


def test_prices_of_zero_leave_the_prior_as_it_was() -> None:
    assert min_entropy([0.0] * 5).value == pytest.approx(math.log(5), abs=ROUNDING)
    assert min_entropy([0.0] * 5).normalised == 1.0
    assert min_entropy([0.0] * 3, [1, 1, 2]).value == pytest.approx(1.5 * math.log(2), abs=ROUNDING)


def test_rounding_the_relaxation_is_not_enough() -> None:
    prices = np.array([0.1, 1.7, 1.7])
    rounded, bound, _ = pivots._relaxation(beliefs.intervals(prices, np.ones(3)))
    exact = min_entropy(prices)
    assert exact.exact
    assert bound < exact.lower - 0.08
    assert rounded > exact.value + 0.08


def test_without_branching_the_result_is_certified_but_not_exact() -> None:
    prices = [0.11, 0.22, 0.04, 0.13, 0.27, 0.08]
    first, exact = min_entropy(prices, node_limit=0), min_entropy(prices)
    assert not first.exact
    assert exact.exact
    assert first.lower < exact.lower
    assert exact.value < first.value


price_lists = st.lists(st.floats(0, 5) | st.sampled_from([0.0, 0.1, 1.0, 30.0]), min_size=2, max_size=9)


@given(price_lists, st.data())
def test_a_larger_price_never_raises_the_min_entropy(prices: list[float], data: st.DataObject) -> None:
    raised = list(prices)
    raised[data.draw(st.integers(0, len(prices) - 1))] += data.draw(st.floats(0, 5))
    prior = data.draw(st.none() | st.lists(st.integers(1, 9), min_size=len(prices), max_size=len(prices)))
    before, after = min_entropy(prices, prior), min_entropy(raised, prior)
    assert after.lower <= before.value
    assert after.value <= before.value + ROUNDING


@given(price_lists, st.randoms(use_true_random=False), st.sampled_from([1e-9, 0.3, 7.0]))
def test_neither_the_order_of_the_keys_nor_the_scale_of_the_prior_matters(
    prices: list[float], dice: Any, scale: float
) -> None:
    prior = [dice.choice([1, 2, 5]) for _ in prices]
    order = list(range(len(prices)))
    dice.shuffle(order)
    shuffled = [prices[key] for key in order]
    assert min_entropy(shuffled) == min_entropy(prices)
    same = min_entropy(shuffled, [scale * prior[key] for key in order])
    assert same.value == pytest.approx(min_entropy(prices, prior).value, abs=ROUNDING)
    assert min_entropy(prices, [scale] * len(prices)).value == pytest.approx(min_entropy(prices).value, abs=ROUNDING)


@given(price_lists)
def test_a_prior_that_hardly_differs_hardly_matters(prices: list[float]) -> None:
    prior = [1 + 1e-13 * key for key in range(len(prices))]
    assert min_entropy(prices, prior).value == pytest.approx(min_entropy(prices).value, abs=1e-8)


@pytest.mark.parametrize("levels", [1, 4, 31])
def test_a_hundred_thousand_keys_at_few_prices_are_exact(levels: int) -> None:
    prices = np.random.default_rng(levels).choice(np.geomspace(0.05, 3, levels), 100_000)
    found = min_entropy(prices)
    assert found.exact
    assert found.nodes < 100
    assert found.value - found.lower < ROUNDING


@pytest.mark.parametrize(("keys", "gap"), [(1000, 1e-8), (300_000, 1e-6)])
def test_all_distinct_prices_are_exact(keys: int, gap: float) -> None:
    found = min_entropy(np.random.default_rng(keys).uniform(0, 3, keys))
    assert found.exact
    assert found.value - found.lower < gap


def test_a_search_that_gives_up_says_so_and_is_still_tight() -> None:
    prices = np.random.default_rng(1).uniform(0, 0.1, (8, 300))
    found = [min_entropy(row, node_limit=200) for row in prices]
    assert not all(each.exact for each in found)
    assert max(each.nodes for each in found) < 1000
    assert max(each.value - each.lower for each in found) < 1e-5


def test_many_distinct_prices_under_a_prior_come_with_a_gap() -> None:
    dice = np.random.default_rng(7)
    found = min_entropy(dice.uniform(0, 3, 50_000), dice.uniform(1, 2, 50_000))
    assert not found.exact
    assert found.value - found.lower < 1e-2


def test_the_published_recursion_with_the_lower_entropy_is_right_under_a_uniform_prior() -> None:
    for prices, _ in instances(180, 12, seed=4):
        assert published_min_entropy(prices, keep="lower") == pytest.approx(least_entropy(prices), abs=ROUNDING)


def test_the_published_recursion_is_not_right_under_every_prior() -> None:
    prices, prior = [0.0, 0.7, 1.2], [5, 3, 1]
    found = min_entropy(prices, prior)
    assert found.exact
    assert found.value == pytest.approx(least_entropy(prices, prior), abs=ROUNDING)
    assert published_min_entropy(prices, prior, keep="lower") - found.value == pytest.approx(0.0889, abs=5e-5)


def test_the_published_recursion_is_never_below_the_minimum() -> None:
    for prices, prior in instances(100, 9, seed=5):
        lower = published_min_entropy(prices, prior, keep="lower")
        assert min_entropy(prices, prior).lower <= lower
        assert lower <= published_min_entropy(prices, prior, keep="higher") + 1e-12


def test_the_recursion_as_printed_hides_the_difference_it_was_made_to_show() -> None:
    printed = published_min_entropy([0.1, 0.5, 1], keep="higher")
    assert printed == pytest.approx(0.860825, abs=1e-6)
    assert printed - min_entropy([0.1, 0.5, 1]).value > 0.17


def test_rounding_to_three_decimals_as_the_thesis_does_is_rough() -> None:
    few, many = [0.1, 0.5, 1, 2], [math.log(10)] * 476
    assert published_min_entropy(few, keep="lower", decimals=3) == pytest.approx(min_entropy(few).value, abs=0.01)
    assert abs(published_min_entropy(many, keep="lower", decimals=3) - min_entropy(many).value) > 0.01


def test_the_published_recursion_goes_deeper_than_the_stack() -> None:
    prices = [math.log(10)] * 3000
    assert published_min_entropy(prices, keep="lower") == pytest.approx(min_entropy(prices).value, abs=1e-8)


def test_the_published_recursion_refuses_to_explode() -> None:
    prices = np.random.default_rng(6).uniform(0.5, 0.6, 60)
    with pytest.raises(LouverError, match="decimals=3"):
        published_min_entropy(prices, keep="lower")
    assert published_min_entropy(prices, keep="lower", decimals=3) > 0
    with pytest.raises(LouverError, match="at most 10000 keys"):
        published_min_entropy([1.0] * 10_001, keep="lower")


def refused(call: Callable[[], object]) -> str:
    with pytest.raises(LouverError) as caught:
        call()
    sentence = str(caught.value)
    assert sentence.endswith(".")
    assert "\n" not in sentence
    assert len(sentence) < 250
    return sentence


NOT_COLUMNS: list[object] = [
    None, "12", b"12", bytearray(b"1"), 3, 0.5, True, object(), {1: 2}, {1.0}, iter([1]), [], (), np.array([]),
    np.array(1.0), np.ones((2, 2)), np.array([True]), np.array([1j]), np.array(["1"]), np.array(["2020"], "M8[Y]"),
    [[1]], [None], ["1"], [True, 1.0], [np.True_], [1j], [math.nan], [1, math.inf], [10**400], [10**400, Fraction(1)],
    [Decimal("NaN")], [Fraction(10**1000)], np.array([1, None]), np.array([np.nan]), [np.longdouble("1e4000")],
    np.array([np.longdouble("1e4000")]),
]  # fmt: skip


@pytest.mark.parametrize("wrong", NOT_COLUMNS, ids=lambda value: type(value).__name__)
def test_what_is_not_a_column_of_numbers_is_refused(wrong: object) -> None:
    refused(lambda: min_entropy(wrong))
    refused(lambda: published_min_entropy(wrong, keep="lower"))
    if wrong is not None:
        refused(lambda: min_entropy([1.0], wrong))
        refused(lambda: published_min_entropy([1.0], wrong, keep="lower"))


def test_prices_and_weights_out_of_range_are_named() -> None:
    assert "prices[1] is -0.1" in refused(lambda: min_entropy([1, -0.1, 2]))
    assert "prices[2] is 1e+07" in refused(lambda: min_entropy([1, 0, 10**7]))
    assert "prior[0] is 0" in refused(lambda: min_entropy([1, 2], [0, 1]))
    assert "prior[1] is -1" in refused(lambda: min_entropy([1, 2], [1, -1]))
    assert "prior[0] is 0" in refused(lambda: min_entropy([1, 2], [Fraction(1, 10**1000), 1]))
    assert "3 weights for 2 prices" in refused(lambda: min_entropy([1, 2], [1, 2, 3]))


@pytest.mark.parametrize("wrong", NOT_COUNTS, ids=lambda value: type(value).__name__)
def test_a_node_limit_that_is_no_count_is_refused(wrong: object) -> None:
    assert "node_limit" in refused(lambda: min_entropy([1, 2], node_limit=wrong))
    if wrong is not None:
        assert "decimals" in refused(lambda: published_min_entropy([1, 2], keep="lower", decimals=wrong))


@pytest.mark.parametrize("wrong", [*NOT_NUMBERS, "least", "Higher"], ids=lambda value: type(value).__name__)
def test_what_to_keep_is_one_of_two_words(wrong: object) -> None:
    assert "keep" in refused(lambda: published_min_entropy([1, 2], keep=wrong))


columns = anything | st.lists(anything, max_size=4) | st.lists(st.floats(0, 100) | st.integers(0, 9), max_size=4)


@settings(max_examples=4000)
@given(columns, st.none() | columns, st.sampled_from([0, 5, 2_000]) | anything)
def test_any_call_returns_or_says_what_to_do(prices: object, prior: object, node_limit: object) -> None:
    for call in (
        lambda: min_entropy(prices, prior, node_limit),
        lambda: published_min_entropy(prices, prior, keep="higher", decimals=3),
    ):
        try:
            found = call()
        except LouverError as error:
            assert str(error).endswith(".")
            assert len(str(error)) < 250
        else:
            assert isinstance(found, MinEntropy | float)
