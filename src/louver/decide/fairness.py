"""How unequal an answer is to its keys: who paid more, and whose errors are more likely.

Prices differ because keys near their threshold need clearer looks. Error rates differ because a promise bounds the
worst case: keys far away are hardly ever wrong. Prices are released with a gradual answer; error rates are reckoned
from public or paid margins (`louver.decide.choose`), never from the true ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

import numpy as np
from numpy.typing import ArrayLike, NDArray

from louver import parameters
from louver.decide.shown import up
from louver.decide.values import written
from louver.errors import ParameterError


def fairness(prices: Sequence[parameters.Number], error_rates: Sequence[parameters.Number] = ()) -> str:
    """One or two sentences on how charged prices, and error rates where they are given, spread over keys.

    >>> print(fairness([0.01] * 9 + [0.41], [0, 0.05]))
    Keys were charged from 0.0100 to 0.4100, at the median 0.0100; the dearest tenth paid 82% of all. \
An error had a chance from 0% to 5%, at the median 2.5%.
    """
    exact = sorted(written(f"prices[{at}]", price) for at, price in enumerate(prices))
    paid = _numbers("prices", prices)
    if not exact:
        raise ParameterError("prices must have at least one number.")
    if exact[0] == exact[-1]:
        sentence = f"All keys were charged {up(exact[0])}."
    else:
        dearest = np.sort(paid)[::-1][: max(1, round(len(paid) / 10))].sum() / paid.sum()
        sentence = (
            f"Keys were charged from {up(exact[0])} to {up(exact[-1])}, at the median {up(median(exact))}; "
            f"the dearest tenth paid {dearest:.0%} of all."
        )
    wrong = 100 * _numbers("error_rates", error_rates)
    if not wrong.size:
        return sentence
    return (
        f"{sentence} An error had a chance from {wrong.min():.3g}% to {wrong.max():.3g}%, "
        f"at the median {np.median(wrong):.3g}%."
    )


def _numbers(name: str, values: ArrayLike | Sequence[parameters.Number]) -> NDArray[np.float64]:
    numbers = [float(parameters.fraction(f"{name}[{at}]", value)) for at, value in enumerate(values)]  # type: ignore[arg-type]
    if any(number < 0 for number in numbers):
        raise ParameterError(f"{name} must be 0 or more.")
    return np.array(numbers)
