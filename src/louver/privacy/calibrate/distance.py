"""From a distance to a rate: the least noise that keeps a released number near enough, often enough."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any

from louver.errors import ParameterError
from louver.noise.enclosure import ln
from louver.noise.laplace import LARGEST_RATE, SMALLEST_RATE
from louver.privacy.calibrate.certain import at_most, decay, dyadic_step, least, rounded_up, working_bits


@lru_cache(maxsize=256)
def least_rate(distance: int, miss_rate: Fraction) -> Fraction:
    """The least rate, to about 40 bits, at which discrete Laplace noise is seldom enough farther off than the distance.

    P(|X| > d) = 2 a^(d+1) / (1 + a), a = exp(-rate).
    """
    enough = rounded_up(lambda bits: -ln(miss_rate / 2, bits) / (distance + 1), working_bits(miss_rate))
    step = dyadic_step(enough)

    def suffices(count: int) -> bool:
        rate = count * step

        def beyond(bits: int) -> Any:
            a = decay(rate, bits)
            return 2 * a ** (distance + 1) / (1 + a)

        return at_most(beyond, miss_rate, working_bits(rate * miss_rate))

    found = step * least(suffices, int(enough / step) + 1)
    if not SMALLEST_RATE <= found <= LARGEST_RATE:
        raise ParameterError(
            "There is no exact noise for such a distance; take one that is not so far, or not so near."
        )
    return found
