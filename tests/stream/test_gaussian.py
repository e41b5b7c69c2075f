"""Fresh Gaussian noise: its law, its band, which is a promise, and segments on top of it."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest

from louver.errors import ParameterError
from louver.privacy import ZeroConcentrated
from louver.stream.gaussian import Gaussian, reach
from louver.stream.segment import Segment
from tests.noise.laws import assert_follows, assert_rejects
from tests.noise.laws import gaussian as law
from tests.stream.smoothing import seeded


@pytest.mark.parametrize(("rho", "sensitivity"), [(Fraction(1, 2), 1), (Fraction(1, 50), 1), (2, 5)])
def test_the_noise_has_the_squared_sensitivity_over_twice_rho_for_a_variance(rho: Fraction, sensitivity: int) -> None:
    stream = Gaussian(rho, 100, sensitivity=sensitivity, bits=seeded(1))
    noise = (stream.run(np.full((1000, 100), 50)) - 50).ravel()
    variance = sensitivity**2 / (2 * float(rho))
    assert_follows(noise, law(variance))
    assert_rejects(noise, law(1.1 * variance))


@pytest.mark.parametrize("variance", [Fraction(1, 100), Fraction(1, 2), Fraction(7), Fraction(5000)])
@pytest.mark.parametrize("share", [Fraction(1, 40), Fraction(1, 2000)])
def test_the_band_is_the_least_that_holds_often_enough(variance: Fraction, share: Fraction) -> None:
    def beyond(steps: int) -> float:
        return math.fsum(law(float(variance))(each) for each in range(steps + 1, steps + 4000))

    found = reach(variance, share)
    assert beyond(found) <= share
    assert found == 0 or beyond(found - 1) > share


def test_the_band_of_wide_noise_is_that_of_the_normal_law() -> None:
    assert reach(Fraction(10**10), Fraction(1, 40)) == pytest.approx(1.959964 * 10**5, abs=2)


def test_a_stream_goes_on_where_it_was_saved() -> None:
    whole, first = Gaussian(Fraction(1, 8), 3, bits=seeded(4)), Gaussian(Fraction(1, 8), 3, bits=seeded(4))
    expected = [whole.update([tick, 2, 3]).tolist() for tick in range(6)]
    bits = seeded(4)
    first = Gaussian(Fraction(1, 8), 3, bits=bits)
    released = [first.update([tick, 2, 3]).tolist() for tick in range(3)]
    again = Gaussian.from_dict(json.loads(json.dumps(first.to_dict())), bits=bits)
    released += [again.update([tick, 2, 3]).tolist() for tick in range(3, 6)]
    assert released == expected
    assert again.price == ZeroConcentrated(Fraction(1, 8))


@pytest.mark.parametrize("stream", [Gaussian, Segment])
def test_a_price_too_small_for_exact_noise_is_refused(stream: type[Gaussian] | type[Segment]) -> None:
    with pytest.raises(ParameterError, match="This price is too small for so large a sensitivity"):
        stream(rho=Fraction(1, 2**60))


def test_segments_have_one_price() -> None:
    for both in ({}, {"epsilon": 1, "rho": 1}):
        with pytest.raises(ParameterError, match="Say the price of a stream"):
            Segment(**both)  # type: ignore[arg-type]


def test_segments_smooth_gaussian_noise_and_are_restored_with_it() -> None:
    """On a constant stream the error is a fraction of the noise's; bits are fixed."""
    bits = seeded(2)
    stream = Segment(rho=Fraction(1, 200), regions=50, bits=bits)
    released = stream.run(np.full((300, 50), 40))
    assert np.abs(released - 40).mean() < 0.4 * 10 * math.sqrt(2 / math.pi)
    again = Segment.from_dict(json.loads(json.dumps(stream.to_dict())), bits=bits)
    assert again.price == ZeroConcentrated(Fraction(1, 200))
    assert again.variances().tolist() == stream.variances().tolist()


def test_the_noise_behind_segments_is_gaussian() -> None:
    stream = Segment(rho=Fraction(1, 18), regions=500, bits=seeded(3))
    stream.run(np.full((40, 500), 5))
    assert_follows((stream.trace.noisy - 5).ravel(), law(9.0))
