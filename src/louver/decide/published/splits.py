"""How the thesis (chapter 6) splits a miss rate over n conditions joined by AND or OR, and what it pays.

Both rules demand Σ β_j <= β whatever joins the conditions. That is right for AND. For OR each condition may have all of
β, because a key that is missed was missed by the condition that holds for it (`louver.decide.tree`). Theorem 6.1 has
(1-α_j) where (1-β_j) is meant, and "minimise the product" (6.14) must be "maximise"; the split that follows is right.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from louver import parameters
from louver.errors import ParameterError
from louver.parameters import Number
from louver.privacy import tslm

MOST_PARTS = 10**4


def split_naive(beta: Number, parts: int) -> tuple[Fraction, ...]:
    """β/n for each condition (equations 6.13 and 6.20)."""
    size = parameters.integer("parts", parts, 1, MOST_PARTS)
    return (parameters.error_rate("beta", beta) / size,) * size


def split_published(beta: Number, widths: Sequence[Number]) -> tuple[Fraction, ...]:
    """β_j in proportion to 1/u_j (equations 6.17 and 6.21): the cheapest split of a flat AND.

    >>> [str(part) for part in split_published(Fraction(1, 20), [1, 4])]
    ['1/25', '1/100']
    """
    inverses = [1 / width for width in _widths(widths)]
    rate = parameters.error_rate("beta", beta)
    return tuple(rate * each / sum(inverses) for each in inverses)


def split_price(betas: Sequence[Number], widths: Sequence[Number]) -> Fraction:
    """Σ ln(1/(2β_j))/u_j, each rounded up: what algorithms 6 and 7 pay.

    >>> round(float(split_price(split_published(Fraction(1, 20), [1, 4]), [1, 4])), 4)
    3.5037
    """
    exact = _widths(widths)
    if len(betas) != len(exact):
        raise ParameterError("betas and widths must have the same length.")
    return sum((tslm(rate, width).epsilon for rate, width in zip(betas, exact, strict=True)), Fraction(0))


def _widths(widths: Sequence[Number]) -> list[Fraction]:
    exact = [parameters.positive("each width", width) for width in widths]
    if not 1 <= len(exact) <= MOST_PARTS:
        raise ParameterError(f"There must be between 1 and {MOST_PARTS} widths.")
    return exact
