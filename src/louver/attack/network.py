"""How many people friends' answers give away, while the promise about each own answer holds.

One run: everybody answers by randomized response; the attacker knows the network, learns from the reports themselves
how many have the attribute and how alike friends are, and guesses each person's answer. Truth is used only to score.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from louver.attack.classes import NAMES, confidence_class
from louver.attack.network_belief import Floats, propagated
from louver.attack.network_fit import learnt
from louver.attack.network_graph import Network
from louver.attack.network_prior import Prior, likeness
from louver.errors import ParameterError
from louver.local import YesNo

LOOKS = ("nothing", "own answer", "friends' answers", "all answers")


@dataclass(frozen=True, slots=True)
class Seen:
    """What an attacker achieves by looking at some of the reports, as shares of all people.

    `right` guesses; `classes` are right guesses by their confidence, in the six classes of `louver.attack.classes`, of
    which a guess between two answers has the upper three. `trusty` is the share of right ones among guesses of more
    than 0.9: far below that, the attacker is too sure of itself.
    """

    looks_at: str
    right: float
    classes: tuple[float, ...]
    trusty: float

    @property
    def sure(self) -> float:
        """Right guesses with a confidence of more than 0.9."""
        return self.classes[-1]


@dataclass(frozen=True, slots=True)
class Exposure:
    """One run: how alike friends are in truth, what the attacker took them for, and what each look gives.

    `beyond` is the share of people about whom the attacker is surer, and rightly, than the own report could make
    anybody: what the promise says about one report alone is no bound on what all of them tell.
    """

    alike: float
    prior: Prior
    seen: tuple[Seen, ...]
    beyond: float
    settled: bool

    def by(self, looks_at: str) -> Seen:
        return next(each for each in self.seen if each.looks_at == looks_at)


def exposed(
    network: Network,
    truth: NDArray[np.bool_],
    reports: NDArray[np.bool_],
    mechanism: YesNo,
    prior: Prior | None = None,
) -> Exposure:
    """Scores the attacker on one set of reports; `prior` is learnt from them unless the attacker knows better."""
    if truth.shape != (network.people,):
        raise ParameterError("The truth is one answer for each person of the network.")
    believed = prior or learnt(network, reports, mechanism)
    found = propagated(network, believed, reports, mechanism)
    flat = np.full(network.people, believed.share)
    looks = zip(LOOKS, (flat, found.own, found.friends, found.both), strict=True)
    most = np.maximum(_confidence(found.own).max(), max(believed.share, 1 - believed.share))
    right = (found.both > 0.5) == truth
    beyond = float((right & (_confidence(found.both) > most + 1e-9)).mean())
    seen = tuple(_seen(name, chances, truth) for name, chances in looks)
    return Exposure(likeness(network, truth), believed, seen, beyond, found.settled)


def _seen(looks_at: str, chances: Floats, truth: NDArray[np.bool_]) -> Seen:
    right, confidence = (chances > 0.5) == truth, _confidence(chances)
    classes = confidence_class(confidence)
    shares = tuple(float((right & (classes == number)).mean()) for number in range(len(NAMES)))
    sure = classes == len(NAMES) - 1
    return Seen(looks_at, float(right.mean()), shares, float(right[sure].mean()) if sure.any() else float("nan"))


def _confidence(chances: Floats) -> Floats:
    return np.maximum(chances, 1 - chances)
