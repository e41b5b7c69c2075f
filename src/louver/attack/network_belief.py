"""What everybody's randomized answers say about each person: Bayes by enumeration, and belief propagation.

The attacker knows the network, the mechanism and a prior, and sees all reports. Three posteriors for each person: from
the own report only; from everybody else's (so also for somebody who kept silent); from all. The own report moves the
odds by at most the price, whatever else is known: that is the promise, and it holds. What friends' reports move has no
such bound.

`exact` sums over all answers of up to `MOST_EXACT` people, on any network. `propagated` passes messages along
friendships (Pearl 1982) in log odds, all at once: exact where there are no circles; an approximation where there are,
whose messages may count a report again that came around a circle.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.attack.network_graph import Network
from louver.attack.network_prior import Friends, Prior, log_odds
from louver.errors import ParameterError
from louver.local import YesNo

Floats = NDArray[np.float64]
MOST_EXACT = 16
MOST_ROUNDS = 1000
DAMPED = 0.3  # of the old message is kept where there are circles, so that messages do not swing
SETTLED = 1e-9
LARGEST = 600.0  # log odds beyond which nothing changes any more, and within which floats do not overflow


@dataclass(frozen=True, slots=True, eq=False)
class Beliefs:
    """The probability that each person has the attribute, by what the attacker looks at.

    `rounds` of messages were passed, and `settled` says whether they stopped changing; both only for `propagated`.
    """

    own: Floats
    friends: Floats
    both: Floats
    rounds: int = 0
    settled: bool = True


def propagated(
    network: Network,
    prior: Prior,
    reports: NDArray[np.bool_],
    mechanism: YesNo,
    *,
    silent: NDArray[np.bool_] | None = None,
    rounds: int = MOST_ROUNDS,
) -> Beliefs:
    """By belief propagation: work grows with friendships times rounds. Reports of the `silent` are not looked at.

    >>> from louver.attack.network_graph import star
    >>> said = np.array([False] + [True] * 6)
    >>> found = propagated(star(6), Friends(share=0.3, alike=0.4), said, YesNo.coin())
    >>> [round(float(each[0]), 2) for each in (found.own, found.friends, found.both)]
    [0.12, 0.87, 0.7]
    """
    most = parameters.integer("rounds", rounds, 1, 10**6)
    seen = evidence(network, reports, mechanism)
    if silent is not None:
        seen = np.where(silent, 0.0, seen)
    start, to = network.directed
    half = len(network.one)
    bonds, alone = np.exp(prior.bonds()), prior.lean + seen
    messages = np.zeros(2 * half)
    kept = 0.0 if network.is_forest else DAMPED
    done, settled = 0, not half
    while not settled and done < most:
        arrived = np.bincount(to, messages, network.people)
        # What somebody says to a friend leaves out what that friend said.
        without = np.exp(np.clip((alone + arrived)[start] - np.roll(messages, half), -LARGEST, LARGEST))
        sent = np.log((bonds[1, 1] * without + bonds[0, 1]) / (bonds[1, 0] * without + bonds[0, 0]))
        fresh = kept * messages + (1 - kept) * sent
        settled = bool(np.abs(fresh - messages).max() < SETTLED)
        messages, done = fresh, done + 1
    friends = prior.lean + np.bincount(to, messages, network.people).astype(np.float64)
    return Beliefs(chance(log_odds(prior.share) + seen), chance(friends), chance(friends + seen), done, settled)


def exact(network: Network, prior: Prior, reports: NDArray[np.bool_], mechanism: YesNo) -> Beliefs:
    """By Bayes' rule over every combination of answers."""
    if network.people > MOST_EXACT:
        raise ParameterError(f"Every combination of answers is summed for at most {MOST_EXACT} people; propagate them.")
    seen = evidence(network, reports, mechanism)
    answers = np.arange(2**network.people)[:, np.newaxis] >> np.arange(network.people) & 1
    bonds = prior.bonds()
    pairs = bonds[answers[:, network.one], answers[:, network.other]].sum(axis=1)
    everything = pairs + answers @ (prior.lean + seen)
    both, friends = np.empty(network.people), np.empty(network.people)
    for person in range(network.people):
        has = answers[:, person] == 1
        others = everything - answers[:, person] * seen[person]
        both[person] = np.logaddexp.reduce(everything[has]) - np.logaddexp.reduce(everything[~has])
        friends[person] = np.logaddexp.reduce(others[has]) - np.logaddexp.reduce(others[~has])
    return Beliefs(chance(log_odds(prior.share) + seen), chance(friends), chance(both))


def evidence(network: Network, reports: NDArray[np.bool_], mechanism: YesNo) -> Floats:
    """How much each report moves the log odds of its own person: plus or minus the price."""
    if reports.shape != (network.people,) or reports.dtype != np.bool_:
        raise ParameterError("Reports must be one array of True and False, one for each person.")
    logs = np.log(mechanism.law())
    return np.asarray((logs[1] - logs[0])[reports.astype(int)], dtype=np.float64)


def chance(odds: Floats) -> Floats:
    """Probabilities from log odds."""
    return np.asarray(np.exp(-np.logaddexp(0.0, -odds)), dtype=np.float64)


def worst_leak(friends: int, prior: Friends, mechanism: YesNo) -> float:
    """The largest log ratio that all reports together can have for one person with so many friends.

    The friends do not know each other, and nobody beyond them answers. It is the price of the own report, and for
    each friend what that report says about the person: nothing where friends are not alike, and almost the whole price
    again where they are almost twins.

    >>> [round(worst_leak(many, Friends(0.3, 0.6), YesNo.coin()), 2) for many in (0, 1, 10)]
    [1.1, 1.78, 7.87]
    """
    count = parameters.integer("The number of friends", friends, 0, 10**9)
    given = prior.given()
    law = mechanism.law()
    said = np.stack([(1 - given) * law[0, report] + given * law[1, report] for report in (0, 1)])
    own = np.abs(np.log(law[1] / law[0]))
    each = np.abs(np.log(said[:, 1] / said[:, 0]))
    return float((own + count * each).max())
