"""What friends' randomized answers give away: by network, by number of friends, by how alike they are; and the speed.

`python -m bench.attack_network`: the coin of Gao's talk, at a price of ln 3. Speeds are beside NumPy's exp on as many
numbers as there are messages.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from bench.clock import seconds
from louver.attack.network import LOOKS, exposed
from louver.attack.network_belief import exact, propagated, worst_leak
from louver.attack.network_graph import Network, blocks, small_world, tree
from louver.attack.network_prior import Friends
from louver.attack.network_spread import Truths, alike, caught, followed
from louver.local import YesNo

RUNS, SHARE, PEOPLE = 5, 0.3, 2000
COIN = YesNo.coin()


def main() -> None:
    print(
        "The talk: 3/4 of somebody's friends say yes, or 1/4; share 0.3; how sure of a yes, by how alike friends are."
    )
    talk()
    print(f"\nRight guesses among {PEOPLE:,} people of whom 3 in 10 have it, {RUNS} runs; in brackets standard errors.")
    networks()
    print(
        "\nSomebody with friends who do not know each other (exact), by how alike they are; 10,000 such circles each."
    )
    growing()
    checks()
    speed()


def talk() -> None:
    print(f"{'alike':>6} {'friends':>8} {'own yes only':>13} {'3/4 yes':>8} {'1/4 yes':>8} {'own no, 3/4 yes':>16}")
    for likeness in (0.2, 0.4, 0.6):
        for friends in (4, 12, 40):
            prior, star = Friends(SHARE, likeness), Network.of(friends + 1, [(0, at + 1) for at in range(friends)])
            found = [
                propagated(star, prior, np.array([own, *(at < many for at in range(friends))]), COIN)
                for own, many in ((True, friends * 3 // 4), (True, friends // 4), (False, friends * 3 // 4))
            ]
            sure = [found[0].own[0], *(each.both[0] for each in found)]
            print(f"{likeness:6} {friends:8} {sure[0]:13.3f} {sure[1]:8.3f} {sure[2]:8.3f} {sure[3]:16.3f}")


def networks() -> None:
    made: dict[str, Callable[[int], Network]] = {
        "circles of 50, 10 friends": lambda seed: blocks([50] * (PEOPLE // 50), 0.185, 0.00025, seed),
        "small world, 4 friends": lambda seed: small_world(PEOPLE, 4, 0.1, seed),
        "small world, 8 friends": lambda seed: small_world(PEOPLE, 8, 0.1, seed),
        "small world, 16 friends": lambda seed: small_world(PEOPLE, 16, 0.1, seed),
        "tree": lambda seed: tree(PEOPLE, seed),
    }
    spread: dict[str, Callable[[Network, int], Truths]] = {
        "caught": lambda network, seed: caught(network, SHARE, 0.2, seed),
        "followed": lambda network, seed: followed(network, SHARE, 0.4, seed),
    }
    looks = " ".join(f"{look:>18}" for look in LOOKS)
    print(f"{'network':28} {'spread':9} {'alike':>6} {looks} {'above 90%':>10} {'of them right':>14} {'beyond':>7}")
    for name, network_of in made.items():
        for how, truth_of in spread.items():
            runs = []
            for seed in range(RUNS):
                network = network_of(seed)
                truth = truth_of(network, seed)
                runs.append(exposed(network, truth, COIN.report(truth), COIN))
            likeness, beyond = np.mean([run.alike for run in runs]), np.mean([run.beyond for run in runs])
            right = [[run.by(look).right for run in runs] for look in LOOKS]
            cells = " ".join(f"{np.mean(each):9.3f} ({np.std(each, ddof=1) / math.sqrt(RUNS):.4f})" for each in right)
            both = [run.by(LOOKS[-1]) for run in runs]
            sure, trusty = np.mean([each.sure for each in both]), np.nanmean([each.trusty for each in both])
            print(f"{name:28} {how:9} {likeness:6.2f} {cells} {sure:10.3f} {trusty:14.3f} {beyond:7.3f}")


def growing() -> None:
    print(f"{'alike':>6} {'friends':>8} {'right, own':>11} {'right, all':>11} {'sure, right':>12} {'worst ratio':>12}")
    circles = 10_000
    for likeness in (0.0, 0.2, 0.4, 0.6):
        for friends in (1, 3, 10, 30):
            prior, dice = Friends(SHARE, likeness), np.random.default_rng(friends)
            centre = np.arange(circles) * (friends + 1)
            pairs = np.stack([np.repeat(centre, friends), np.repeat(centre, friends)], axis=1)
            pairs[:, 1] += np.tile(np.arange(1, friends + 1), circles)
            network = Network.of(circles * (friends + 1), pairs)
            truth = np.zeros(network.people, dtype=np.bool_)
            truth[centre] = dice.random(circles) < SHARE
            truth[pairs[:, 1]] = dice.random(len(pairs)) < prior.given()[truth[pairs[:, 0]].astype(int)]
            found = propagated(network, prior, COIN.report(truth), COIN)
            own, both = found.own[centre], found.both[centre]
            right = (both > 0.5) == truth[centre]
            sure = (np.maximum(both, 1 - both) > 0.9) & right
            first = ((own > 0.5) == truth[centre]).mean()
            leak = worst_leak(friends, prior, COIN)
            print(f"{likeness:6} {friends:8} {first:11.3f} {right.mean():11.3f} {sure.mean():12.3f} {leak:12.2f}")


def checks() -> None:
    dice, trees, circles, moved = np.random.default_rng(1), [], [], []
    for seed in range(20):
        said = dice.random(12) < 0.5
        one, prior = tree(12, seed), Friends(SHARE, 0.6)
        trees.append(np.abs(propagated(one, prior, said, COIN).both - exact(one, prior, said, COIN).both).max())
        other, weaker = small_world(12, 4, 0.2, seed), Friends(SHARE, 0.2)
        truth = exact(other, weaker, said, COIN)
        circles.append(np.abs(propagated(other, weaker, said, COIN).both - truth.both).mean())
        odds = [np.log(each / (1 - each)) for each in (truth.both, truth.friends)]
        moved.append(np.abs(odds[0] - odds[1]).max())
    print(f"\nPropagation against enumeration: {max(trees):.1e} at most on 20 trees of 12 people;")
    print(f"{np.mean(circles):.3f} in the mean on 20 small worlds of 12 with circles, friends 0.2 alike.")
    print(
        f"The own report moved the log odds by at most {max(moved):.6f}; the price is {float(COIN.price.epsilon):.6f}."
    )


def speed() -> None:
    network, prior = small_world(100_000, 8, 0.1, 1), Friends(SHARE, 0.1)
    said = COIN.report(alike(network, prior, 1, sweeps=5))
    rounds, many = 10, 2 * len(network.one)
    took = seconds(lambda: propagated(network, prior, said, COIN, rounds=rounds), 2) / rounds
    floor = seconds(lambda: np.exp(np.linspace(-1, 1, many)), 3)
    print(f"\n100,000 people, {many:,} messages: a round takes {took / floor:.1f} times NumPy's exp of as many numbers")
    print(f"({took * 1000:.0f} ms).")


if __name__ == "__main__":
    main()
