"""The exact law of threshold tests on a chain of correlated noise, for whatever rule picks the levels.

Levels e_1 < ... < e_G run from noisy to clear. The noise is X_G ~ DL(e_G) and X_g = X_{g+1} + (0 with probability w_g,
else a fresh DL(e_g)), where DL(e) is the discrete Laplace law with weights a^|x|, a = exp(-e), and
w_g = (b/a) ((1-a)/(1-b))^2 for a = a_g, b = a_{g+1}; then X_g ~ DL(e_g). A level fails when X_g <= -t_g.

The probability that some level fails bounds the miss rate of every rule that looks at some of the levels, in any order,
picked by whatever was released before. It has a closed form. Let S_g(x) be the probability that X_g = x and that no
level from g to G failed, and M_g(z) the sum of S_g(x) z^x. S_{g+1} lives right of -t_{g+1} >= -t_g. So at and left of
-t_g its convolution with DL(e_g) is one exponential, (1-a)/(1+a) a^-x M_{g+1}(a), and cutting it off there gives

    M_g(z) = w M_{g+1}(z) + (1-w) [ M_{g+1}(z) P_g(z) - (1-a)/(1+a) M_{g+1}(a) (a/z)^t / (1 - a/z) ]
    P(g is the first to fail, in the order G, G-1, ..., 1) = (1-w) M_{g+1}(a) a^t / (1+a)

with P_g(z) = (1-a)^2 / ((1-az)(1-a/z)), the generating function of DL(e_g). The start is w = 0 and M_{G+1} = 1. M_g is
needed at the points z = a_h, h < g, only: G^2/2 numbers, no state space, however many values the noise can take.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import reduce
from itertools import islice, pairwise

from louver import parameters
from louver.errors import ParameterError
from louver.noise.enclosure import Enclosure
from louver.noise.gradual import same_value
from louver.privacy.calibrate.certain import decay, narrowed

LARGEST_LEVELS = 64
LARGEST_THRESHOLD = 2**128
RESULT_BITS, LARGEST_RESULT_BITS = 96, 2**12
NEVER = Fraction(0)


def failure_probability(
    levels: Sequence[Fraction], thresholds: Sequence[int], coin: Fraction = NEVER, bits: int = RESULT_BITS
) -> Enclosure:
    """The probability that some level g has noise at or below -thresholds[g], to 2**-bits.

    Levels increase, thresholds do not, and both run from the noisiest level to the clearest. At the clearest level,
    noise one step short of its threshold fails with probability `coin`, too.
    """
    exact_levels, exact_thresholds = _checked(levels, thresholds)
    exact_coin = parameters.probability("coin", coin)
    if exact_coin and not exact_thresholds[-1]:
        raise ParameterError("coin must be 0 where the last threshold is 0; nothing is one step short of it.")
    bits = parameters.integer("bits", bits, 1, LARGEST_RESULT_BITS)
    return narrowed(lambda working: total_failure(exact_levels, exact_thresholds, exact_coin, working), bits)


def total_failure(levels: Sequence[Fraction], thresholds: Sequence[int], coin: Fraction, bits: int) -> Enclosure:
    """`failure_probability` without checks, at one working precision."""
    return reduce(Enclosure.__add__, first_failures(levels, thresholds, coin, bits))


def first_failures(
    levels: Sequence[Fraction], thresholds: Sequence[int], coin: Fraction, bits: int
) -> Iterator[Enclosure]:
    """From the clearest level to the noisiest, the probability that it fails and no clearer level does."""
    decays = [decay(level, bits) for level in levels]
    gaps = [decay(clear - noisy, bits) for noisy, clear in pairwise(levels)]
    alive = [Enclosure.of(1, bits)] * len(levels)  # M_{g+1} at the point a_h, for h = 0..g
    for g in range(len(levels) - 1, -1, -1):
        a, last = decays[g], g == len(gaps)
        move = Enclosure.of(1, bits) if last else 1 - same_value(a, decays[g + 1], gaps[g])
        beyond = move * alive[g] / (1 + a)
        yield beyond * _power(a, thresholds[g], coin if last else NEVER)
        ratio = Enclosure.of(1, bits)
        for h in range(g - 1, -1, -1):
            ratio = ratio * gaps[h]  # a_g / a_h
            jump = (1 - a) * (1 - a) / ((1 - a * decays[h]) * (1 - ratio))
            cut_off = (1 - a) * beyond * _power(ratio, thresholds[g], coin if last else NEVER) / (1 - ratio)
            alive[h] = alive[h] * (1 - move + move * jump) - cut_off


def _power(base: Enclosure, exponent: int, coin: Fraction) -> Enclosure:
    """The mean of base**exponent when a coin takes 1 off the exponent."""
    if not coin:
        return base**exponent
    return base ** (exponent - 1) * (base * (1 - coin) + coin)


def _checked(levels: Iterable[object], thresholds: Iterable[object]) -> tuple[list[Fraction], list[int]]:
    exact_levels = [parameters.positive("each level", level) for level in _listed("levels", levels)]
    exact_thresholds = [
        parameters.integer("each threshold", threshold, 0, LARGEST_THRESHOLD)
        for threshold in _listed("thresholds", thresholds)
    ]
    if not exact_levels or len(exact_levels) != len(exact_thresholds):
        raise ParameterError(
            "levels and thresholds must come in pairs, at least one, "
            f"not {len(exact_levels)} levels and {len(exact_thresholds)} thresholds."
        )
    if any(noisy >= clear for noisy, clear in pairwise(exact_levels)):
        raise ParameterError("levels must increase, from the noisiest to the clearest; sort them and drop repeats.")
    if any(noisy < clear for noisy, clear in pairwise(exact_thresholds)):
        raise ParameterError("thresholds must not increase from one level to the next; raise the earlier ones.")
    return exact_levels, exact_thresholds


def _listed(name: str, items: Iterable[object]) -> list[object]:
    try:
        listed = list(islice(items, LARGEST_LEVELS + 1))
    except TypeError:
        raise ParameterError(f"{name} must be a list of numbers, one per level.") from None
    if len(listed) > LARGEST_LEVELS:
        raise ParameterError(f"{name} must be at most {LARGEST_LEVELS}; leave some out.")
    return listed
