"""Min-entropy of predicate-wise prices: how unsure an attacker must remain about which key a record belongs to.

The price ε_i of key i and the attacker's prior weight q_i keep the attacker's belief p_i between
q_i exp(-ε_i)/Σ q exp(ε) and q_i exp(ε_i)/Σ q exp(-ε) (MIDE lemma A.1). The metric is the least Σ -p ln p over such
beliefs with Σ p = 1 (MIDE definition 5.4). It ranks sets of prices; what is promised is the prices themselves.

The sum is concave, so an optimum is a vertex: each belief at an end of its interval, except at most one, the pivot.
At some optimum no exchange of mass between the pivot, at p in [l, u], and a key with interval [a, b] helps. Hence
  if a > l and b > u, the key is at its upper end; if a < l and b < u, at its lower end;
  if [a, b] is inside [l, u], it is at its lower end only if p >= b, and at its upper end only if p <= a;
  if [a, b] is around [l, u], it may be at either end.
So a vertex is a pivot, a gap between the intervals inside the pivot's, and an end for each key around the pivot.
The search branches on those ends, best bound first; keys with the same interval form one group.

Under a uniform prior intervals nest, and `nested` searches with a bound of its own; `pivots` does all other priors.

Arithmetic is in floats. `Intervals.doubt` bounds what rounding can do; the result is widened by it on both sides.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from louver import parameters
from louver.privacy.entropy.beliefs import ROUNDING, intervals, read_prices, read_prior
from louver.privacy.entropy.nested import search_nested
from louver.privacy.entropy.pivots import search_pivots

LARGEST_NODE_LIMIT = 10**8


@dataclass(frozen=True, slots=True)
class MinEntropy:
    """The least entropy, in nats, that the attacker's belief over the keys can have.

    lower <= true minimum <= value, rounding included. Where exact, rounding alone separates the two; otherwise value
    is the best vertex found before the search gave up.
    """

    value: float
    lower: float
    exact: bool
    keys: int
    nodes: int

    @property
    def normalised(self) -> float:
        """The share of the largest uncertainty, ln(keys), that is left; 0 for one key, where nothing is uncertain."""
        return min(self.value / math.log(self.keys) * (1 + 4 * ROUNDING), 1.0) if self.keys > 1 else 0.0

    @property
    def lower_normalised(self) -> float:
        return self.lower / math.log(self.keys) * (1 - 4 * ROUNDING) if self.keys > 1 else 0.0


def min_entropy(prices: object, prior: object = None, node_limit: object = 2_000) -> MinEntropy:
    """Min-entropy of one price per key, under a uniform prior or one positive weight per key.

    The search gives up after bounding `node_limit` branches, in about a second, with what it has proved so far; 0 asks
    for the first bound only.

    >>> found = min_entropy([0.1, 0.5, 1])
    >>> round(found.value, 9), found.exact
    (0.682224786, True)
    """
    limit = parameters.integer("node_limit", node_limit, 0, LARGEST_NODE_LIMIT)
    price = read_prices(prices)
    weight = read_prior(prior, price.size)
    if price.size == 1:
        return MinEntropy(0.0, 0.0, True, 1, 0)
    find = search_nested if weight.min() == weight.max() else search_pivots
    found = find(intervals(price, weight), limit)
    return MinEntropy(
        value=min(found.best + found.doubt, math.nextafter(math.log(price.size), math.inf)),
        lower=max(min(found.best, found.bound) - found.doubt, 0.0),
        exact=found.bound >= found.best - found.doubt,
        keys=price.size,
        nodes=found.nodes,
    )
