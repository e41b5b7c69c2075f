"""MiM's cost model (equations 4 to 7): how many false alarms its two algorithms are expected to raise.

It knows of a data set that about h1 counts are below x1 and h2 between x1 and x2, x1 < x2 < c, and compares the
baseline (one look at ε) with two steps (ε1, then ε, each with half of the miss rate β). Shifts are α = ln(1/(2β))/ε for
the baseline, α1 = ln(1/β)/ε1 and α2 = ln(1/β)/ε for the steps; the exponents' base β in (5) and (6) is right for that.

What is wrong with it:

- (4) puts all h1 + h2 counts at x2. That makes the baseline look worse than it is, the more the larger h1 is.
- (6) multiplies the probabilities of both steps as if their noise were independent. It is correlated, so that who
  passed the first step is more likely to pass the second: the steps look better than they are. It also puts the first
  group at x2 in the second step.
- (5) wants c - α1 between x1 and x2, hence ln(1/β)/(c-x1) < ε1 < ln(1/β)/(c-x2). (7) has the second as its lower bound.
  Solving (6) < (4) gives ε1 > ln(h1/(β(h1-h2)))/(c-x1), which (7) has as its upper bound, with x1 printed for x2 in one
  exponent. As printed the range is empty on all data sets of MiM's table 1, whatever ε.
- In truth the second step, with half of β and so a wider shift, lets in twice as many counts near x2 as the baseline
  does, and the first step does not make up for it: on table 1's data sets the baseline raises about half as many false
  alarms as the two steps that the model prefers (`script/bench strategies`).

`louver.decide.choose` reckons from the exact law instead.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from louver import parameters
from louver.errors import ParameterError
from louver.parameters import Number

BASELINE, TWO_STEPS = "baseline", "two steps"


@dataclass(frozen=True, slots=True, init=False)
class Known:
    """About h1 counts are below x1, and h2 between x1 and x2; the threshold is c."""

    h1: float
    x1: float
    h2: float
    x2: float
    c: float

    def __init__(self, h1: Number, x1: Number, h2: Number, x2: Number, c: Number) -> None:
        for name, value in (("h1", h1), ("x1", x1), ("h2", h2), ("x2", x2), ("c", c)):
            object.__setattr__(self, name, float(parameters.fraction(name, value)))
        if not (self.h1 > 0 and self.h2 >= 0 and self.x1 < self.x2 < self.c):
            raise ParameterError("The cost model needs h1 > 0, h2 >= 0 and x1 < x2 < c.")


def mim_false_alarms_baseline(known: Known, epsilon: Number, beta: Number) -> float:
    """Equation 4.

    >>> round(mim_false_alarms_baseline(Known(240, 10, 28, 25, 100), 0.1, 0.05), 3)
    0.741
    """
    e, b = _rates(epsilon, beta)
    return (known.h1 + known.h2) * _passes(known.c - known.x2, e, 2 * b)


def mim_false_alarms_first_step(known: Known, first_epsilon: Number, beta: Number) -> float:
    """Equation 5: what is left after the first step."""
    e, b = _rates(first_epsilon, beta)
    return known.h1 * _passes(known.c - known.x1, e, b) + known.h2


def mim_false_alarms_progressive(known: Known, first_epsilon: Number, epsilon: Number, beta: Number) -> float:
    """Equation 6: what is left after both steps."""
    e, b = _rates(epsilon, beta)
    return mim_false_alarms_first_step(known, first_epsilon, beta) * _passes(known.c - known.x2, e, b)


def mim_first_epsilon_range(known: Known, beta: Number) -> tuple[float, float]:
    """Where (5) applies and (6) is below (4): equation 7 with its bounds exchanged; empty where low > high."""
    b = float(parameters.error_rate("beta", beta))
    if known.h1 <= known.h2:
        return math.inf, 0.0
    low = math.log(known.h1 / (b * (known.h1 - known.h2))) / (known.c - known.x1)
    return low, math.log(1 / b) / (known.c - known.x2)


def mim_first_epsilon_range_as_printed(known: Known, epsilon: Number, beta: Number) -> tuple[float, float]:
    """Equation 7 as it stands."""
    e, b = _rates(epsilon, beta)
    low = math.log(1 / b) / (known.c - known.x2)
    if known.h1 <= known.h2:
        return low, 0.0
    ratio = (known.h1 - known.h2) / known.h1
    logarithm = math.log(ratio) + e * ((known.c - known.x1) - (known.c - known.x2))
    return low, (math.log(1 / b) - logarithm) / (known.c - known.x1)


def mim_choose(known: Known, epsilon: Number, beta: Number) -> tuple[str, float | None]:
    """The algorithm that the model prefers at this ε, and the first ε in the middle of its range."""
    low, high = mim_first_epsilon_range(known, beta)
    high = min(high, float(parameters.positive("epsilon", epsilon)))
    return (TWO_STEPS, (low + high) / 2) if low < high else (BASELINE, None)


def _rates(epsilon: Number, beta: Number) -> tuple[float, float]:
    return float(parameters.positive("epsilon", epsilon)), float(parameters.error_rate("beta", beta))


def _passes(distance: float, epsilon: float, rate: float) -> float:
    """P(Lap(1/ε) > distance - ln(1/rate)/ε), as the paper has it, for a shift that is less than the distance."""
    return min(math.exp(-epsilon * distance) / rate, 1.0) / 2
