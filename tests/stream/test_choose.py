from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from louver.errors import ParameterError
from louver.privacy import Pure, ZeroConcentrated
from louver.stream.buffered import Buffered
from louver.stream.choose import choose, rho_for
from louver.stream.kary import KAry
from louver.stream.toeplitz import Toeplitz
from louver.stream.tree import Tree
from tests.stream.counting import seeded


@pytest.mark.parametrize("horizon", [1, 30, 10**4, 10**6, None])
@pytest.mark.parametrize("price", [{"epsilon": 1}, {"rho": 0.5}, {"epsilon": 1, "delta": 1e-6}])
def test_a_stream_that_may_react_never_gets_a_signed_tree(horizon: int | None, price: dict[str, float]) -> None:
    chosen = choose(horizon, **price).mechanism  # type: ignore[arg-type]
    assert not getattr(chosen, "signed", False)


@pytest.mark.parametrize("horizon", [100, 10**4, 10**6])
def test_nothing_else_at_the_price_has_a_smaller_error(horizon: int) -> None:
    pure = choose(horizon, epsilon=1, adaptive=False)
    others = [Tree(horizon, epsilon=1), KAry(horizon, epsilon=1), KAry(horizon, epsilon=1, signed=True, adaptive=False)]
    assert pure.rms_error <= 1.01 * min(other.rms_error() for other in others)
    assert pure.mechanism.price == Pure(1)
    gaussian = choose(horizon, rho=0.5)
    others = [Tree(horizon, rho=0.5), KAry(horizon, rho=0.5), Toeplitz(horizon, rho=0.5), Buffered(horizon, rho=0.5)]  # type: ignore[list-item]
    assert gaussian.rms_error <= 1.01 * min(other.rms_error() for other in others)
    assert gaussian.mechanism.price == ZeroConcentrated(0.5)


def test_the_sentence_says_what_was_taken_and_what_to_expect() -> None:
    chosen = choose(10**6, epsilon=1, adaptive=False)
    assert chosen.why == (
        "A signed tree with 19 children for each node: over 1,000,000 ticks its error is 33.7 (root mean square), and "
        "46.8 at the worst tick, the least of 3 mechanisms that are private at this price."
    )
    assert "does not react to what is released" in choose(10**6, epsilon=1).why
    assert "does not react" not in choose(10**6, rho=0.5).why


def test_errors_are_as_foretold() -> None:
    """The mean of 400 streams' squared errors, within 6.5 of its deviations; bits are fixed."""
    for price in ({"epsilon": 1}, {"rho": 0.5}):
        chosen = choose(500, regions=400, bits=seeded(1), **price)
        errors = (chosen.mechanism.run(np.zeros((500, 400), dtype=np.int64)) ** 2).mean(axis=0)
        assert abs(errors.mean() - chosen.rms_error**2) < 6.5 * errors.std() / 20


def test_values_too_large_for_buffers_get_the_whole_factorisation() -> None:
    assert isinstance(choose(10**6, rho=0.5).mechanism, Buffered)
    assert isinstance(choose(10**6, rho=0.5, high=2**34).mechanism, Toeplitz)


def test_an_unknown_horizon_gets_what_keeps_little() -> None:
    assert isinstance(choose(rho=0.5).mechanism, Buffered)
    assert isinstance(choose(epsilon=1).mechanism, KAry)


def test_a_short_stream_stays_pure_even_where_delta_is_allowed() -> None:
    assert choose(5, epsilon=1, delta=1e-6).mechanism.price == Pure(1)


def test_rho_is_the_most_that_epsilon_and_delta_pay_for() -> None:
    rho = rho_for(1, 1e-6)
    assert ZeroConcentrated(rho).as_approximate(1e-6).epsilon <= 1
    assert ZeroConcentrated(rho * 1001 / 1000).as_approximate(1e-6).epsilon > 1


@pytest.mark.parametrize("prices", [{}, {"epsilon": 1, "rho": 1}, {"delta": 1e-6}, {"rho": 1, "delta": 1e-6}])
def test_a_price_must_be_said_once(prices: dict[str, float]) -> None:
    with pytest.raises(ParameterError, match=r"Say the price.*\.$"):
        choose(100, **prices)  # type: ignore[arg-type]


@pytest.mark.parametrize(("horizon", "published"), [(10**5, 19.3), (10**6, 22.4)])
def test_epsilon_and_delta_are_used_up_by_the_law_of_the_noise(horizon: int, published: float) -> None:
    chosen = choose(horizon, epsilon=1, delta=1e-6)
    assert chosen.rms_error == pytest.approx(published, rel=0.01)
    assert 0.9999 < chosen.mechanism.approximately(1e-6).epsilon <= 1


def test_a_price_that_is_too_small_for_one_mechanism_is_still_one_for_the_others() -> None:
    small = Fraction(1, 10**12)
    with pytest.raises(ParameterError, match="This price is too small"):
        Buffered(864, rho=small)
    chosen = choose(864, rho=small)
    assert chosen.mechanism.price == ZeroConcentrated(small)
    assert not isinstance(chosen.mechanism, Buffered)


def test_a_refusal_of_all_mechanisms_is_told() -> None:
    with pytest.raises(ParameterError, match="rho must be"):
        choose(100, rho=-1)
    with pytest.raises(ParameterError, match="regions must be"):
        choose(100, epsilon=1, regions=0)


def test_a_horizon_needs_no_noise_for_longer_streams() -> None:
    assert isinstance(choose(2016, rho=Fraction(1, 10**5)).mechanism, Buffered)


def test_where_a_price_is_too_small_for_longer_epochs_they_stay_as_long_as_it_has_noise_for() -> None:
    stream = Buffered(864, rho=Fraction(1, 10**10), regions=2, bits=seeded(1))
    lengths = [length for length, _ in zip(stream._lengths(), range(6), strict=False)]
    assert lengths[:2] == [864, 13824]
    assert sorted(lengths) == lengths
    assert lengths[-1] == lengths[-2] < 16 * lengths[1]
    with pytest.raises(ParameterError, match="This price is too small"):
        stream._factor(2 * lengths[-1])
    stream.run(np.zeros((864, 2)))
    assert stream.update([1, 1]).shape == (2,)
