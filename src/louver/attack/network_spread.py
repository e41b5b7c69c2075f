"""How an attribute comes to be shared by friends: invented truths, from a seed.

`caught` spreads from a few people along friendships (susceptible, infected). `followed` is taken up by whoever sees
enough friends with it (Granovetter 1978). `alike` is a draw from the attacker's own model, so that posteriors from it
are as right as they can be.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.attack.network_graph import Network, Whole
from louver.attack.network_prior import Prior

Truths = NDArray[np.bool_]
MOST_ROUNDS = 10_000


def caught(network: Network, share: float, chance: float, seed: int, first: float = 0.01) -> Truths:
    """Round by round each friendship passes it on with this chance, until at least this share of people have it.

    It starts with the share `first`, and new ones start where it can spread no further.
    """
    dice, wanted = np.random.default_rng(seed), _wanted(network, share)
    begin = max(1, round(float(parameters.probability("first", first)) * network.people))
    passing = float(parameters.probability("chance", chance))
    has = np.zeros(network.people, dtype=np.bool_)
    start, to = network.directed
    while has.sum() < wanted:
        has[dice.choice(np.flatnonzero(~has), min(begin, wanted - int(has.sum())), replace=False)] = True
        for _ in range(MOST_ROUNDS):
            reached = np.unique(to[has[start] & ~has[to] & (dice.random(len(to)) < passing)])
            has[dice.permutation(reached)[: wanted - int(has.sum())]] = True
            if has.sum() >= wanted or not (has[start] & ~has[to]).any() or not passing:
                break
    return has


def followed(network: Network, share: float, need: float, seed: int) -> Truths:
    """Some begin by themselves; whoever sees at least this share of friends with it follows, until nobody does.

    As many begin, in steps of one in a hundred, as it takes for the wanted share.
    """
    dice, wanted = np.random.default_rng(seed), _wanted(network, share)
    enough = np.maximum(float(parameters.probability("need", need)) * network.degrees, 1)
    order, (start, to) = dice.permutation(network.people), network.directed
    has = np.zeros(network.people, dtype=np.bool_)
    step, begun = max(1, network.people // 100), 0
    while has.sum() < wanted:
        has[order[begun : begun + step]] = True
        begun += step
        while True:
            follows = ~has & (np.bincount(to[has[start]], minlength=network.people) >= enough)
            if not follows.any() or has.sum() >= wanted:
                break
            has[dice.permutation(np.flatnonzero(follows))[: wanted - int(has.sum())]] = True
    return has


def alike(network: Network, prior: Prior, seed: int, sweeps: int = 200) -> Truths:
    """A draw from the model of the attacker, by Gibbs sampling: all people of one colour at once, none of them friends.

    `sweeps` must be enough for the start to be forgotten; where friends are very alike, more are needed.
    """
    dice, (start, to) = np.random.default_rng(seed), network.directed
    bonds = prior.bonds()
    pulls = bonds[:, 1] - bonds[:, 0]  # of a friend without and with it, on the odds of having it
    colours = _colours(network)
    groups = [np.flatnonzero(colours == colour) for colour in range(int(colours.max()) + 1)]
    ends = [(start[chosen], to[chosen]) for chosen in (colours[to] == colour for colour in range(len(groups)))]
    has = dice.random(network.people) < prior.share
    for _ in range(parameters.integer("sweeps", sweeps, 1, 10**6)):
        for group, (friend, person) in zip(groups, ends, strict=True):
            odds = prior.lean + np.bincount(person, pulls[has[friend].astype(int)], network.people)[group]
            has[group] = dice.logistic(size=len(group)) < odds
    return has


def _wanted(network: Network, share: float) -> int:
    return round(float(parameters.probability("share", share)) * network.people)


def _colours(network: Network) -> Whole:
    """A colour for everybody, so that no two friends have the same: the least that is free."""
    start, to = network.directed
    order = np.argsort(start, kind="stable")
    friends, begins = to[order].tolist(), np.concatenate([[0], np.cumsum(network.degrees)]).tolist()
    colour = [-1] * network.people
    for person in range(network.people):
        taken = {colour[friend] for friend in friends[begins[person] : begins[person + 1]]}
        free = 0
        while free in taken:
            free += 1
        colour[person] = free
    return np.array(colour, dtype=np.int64)
