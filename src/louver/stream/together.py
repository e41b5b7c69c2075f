"""What several changes cost together where Gaussian noise hides them: less than a group, if their cells are different.

A cell is a tick of a region. Changing one cell moves the whole numbers that get noise by a column c_t of some matrix,
and rho is in proportion to the squared length of what is moved. m changes of one cell move m c_t, which costs m^2 times
as much. m changes of different cells cost what this file says, which is between m times and m^2 times as much.

For factorisations, c_t has the coefficients F_0 >= F_1 >= ... >= 0 from row t on. Let h_j = <c_1, c_(1+j)>.

- h_j falls with j, because F does, and <c_t, c_(t+j)> <= h_j, because its sum ends earlier.
- Let the ticks be t_1 < ... < t_m. Then t_b - t_a >= b - a, so <c_(t_a), c_(t_b)> <= h_(b-a).
- So |c_(t_1) + ... + c_(t_m)|^2 <= m h_0 + 2 sum over 0 < j < m of (m - j) h_j. Smaller changes, and ones of different
  signs, move less, because nothing here is negative; and different regions have no product at all.

The first m ticks come within the few terms that end earlier of this bound. Divided by m it never falls as m grows.
That is what lets a ledger cap windows: of w cells, those in one stream lose at most their share of its price, so all
lose at most the mean of what is charged at each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import TypeVar

from louver.errors import ParameterError
from louver.privacy import ZeroConcentrated
from louver.stream.mechanism import Mechanism

EACH_LAG, LAGS_A_BLOCK = 64, 32
_TRIES, _LESS = 8, Fraction(999, 1000)

Sum = TypeVar("Sum", int, float)


def squared_length(changes: int, product: Callable[[int], Sum]) -> Sum:
    """m h_0 + 2 sum of (m - j) h_j, `product` giving h_j; from lag 64 on, it stands for a few later lags as well."""
    found = changes * product(0)
    for first, end in _blocks(changes):
        weights = (end - first) * (2 * changes - first - end + 1)  # twice the sum of changes - lag
        found += weights * product(first)
    return found


def _blocks(changes: int) -> Iterator[tuple[int, int]]:
    lag = 1
    while lag < changes:
        end = lag + 1 if lag < EACH_LAG else min(lag + lag // LAGS_A_BLOCK, changes)
        yield lag, end
        lag = end


def rho_of_one(make: Callable[[Fraction], Mechanism], rho: Fraction, different: int, again: int) -> Fraction:
    """The price of one change for which `different` cells, each changed `again` times, pay at most rho together.

    A chain of `again` streams leads from one neighbour to the other, each with one change in each of the cells. How
    much more they pay than one does depends a little on how a mechanism rounds, and that on its price.
    """
    if different == 1:
        return rho / again**2
    one = rho / (different * again**2)
    for _ in range(_TRIES):
        price = make(one).price_of(different)
        if not isinstance(price, ZeroConcentrated):
            raise ParameterError("Only Gaussian noise has a price in rho.")
        found = price.rho * again**2
        if found <= rho:
            return one
        one = one * rho / found if one == rho / (different * again**2) else one * rho / found * _LESS
    return rho / (different * again) ** 2
