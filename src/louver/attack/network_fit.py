"""How strongly the attacker should trust friends, found from the public reports alone.

Without circles, averages of the reports say it. With circles they would count the same answers again and again: so the
lean and the pull are chosen that foretell best. The reports of half of the people are put aside and foretold from those
of the other half.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from louver.attack.network_belief import propagated
from louver.attack.network_graph import Network
from louver.attack.network_prior import Prior, Pulled, averaged, log_odds
from louver.local import YesNo

PULLS = (0.0, 0.05, 0.1, 0.2, 0.35, 0.5)  # of that which friends as alike would have without circles
LEANS = (1.0, 0.6, 0.3, 0.1, 0.0)  # of the log odds of the share
ROUNDS = 30


def learnt(network: Network, reports: NDArray[np.bool_], mechanism: YesNo, seed: int = 0) -> Prior:
    """What somebody who knows the network and the mechanism believes of friends after the reports of everybody."""
    plain = averaged(network, reports, mechanism)
    if network.is_forest or not plain.alike:
        return plain
    aside = np.random.default_rng(seed).random(network.people) < 0.5
    most, odds = 2 * float(np.arctanh(plain.alike)), log_odds(plain.share)
    tried = [Pulled(plain.share, lean * odds, pull * most) for pull in PULLS for lean in LEANS]
    return max(tried, key=lambda prior: foretold(network, prior, reports, mechanism, aside))


def foretold(
    network: Network, prior: Prior, reports: NDArray[np.bool_], mechanism: YesNo, aside: NDArray[np.bool_]
) -> float:
    """The log probability of the reports that were put aside, given the others, in the mean."""
    found = propagated(network, prior, reports, mechanism, silent=aside, rounds=ROUNDS).friends[aside]
    law = mechanism.law()[:, reports[aside].astype(int)]
    return float(np.log((1 - found) * law[0] + found * law[1]).mean())
