"""A classifier that tells who somebody is from where a nameless device went: pseudonyms do not hide habits.

The attacker has the trails of some days with names, as whoever runs the network or sat in the lobby has, and then sees
the trails of later days under pseudonyms that are new each day, or each few hours. A trail is where and at which hours
a pseudonym was seen. Louver releases no trails; this is what it replaces. After the end of Gao's talk (2023), where a
model learns identity from occupancy sensing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.attack.learned_score import Score, interval, sklearn
from louver.errors import DataError

Whole = NDArray[np.int64]
HOURS = 24
MOST_NAMES = 400  # a forest keeps a number for each name in each of its nodes


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Trails:
    """One row for each pseudonym: whose it is in truth, its day, and how often it was seen where and at which hour."""

    who: Whole
    day: Whole
    features: NDArray[np.float32]

    @classmethod
    def of(cls, who: Whole, place: Whole, hour: Whole, *, renewed: int = HOURS) -> Trails:
        """From sightings: hours are counted from the first midnight, and pseudonyms are renewed after so many."""
        length = parameters.integer("renewed", renewed, 1, HOURS)
        pieces = -(-HOURS // length)
        day, of_day = hour // HOURS, hour % HOURS
        last = int(day.max(initial=0)) + 1
        codes, row = np.unique((who * last + day) * pieces + of_day // length, return_inverse=True)
        places = int(place.max(initial=-1)) + 1
        seen = np.zeros((len(codes), places + HOURS + 7), dtype=np.float32)
        np.add.at(seen, (row, place), 1)
        np.add.at(seen, (row, places + of_day), 1)
        days = codes // pieces % last
        seen[np.arange(len(codes)), places + HOURS + days % 7] = 1  # habits differ by weekday
        return cls(codes // pieces // last, days, np.sqrt(seen))

    def where(self, chosen: NDArray[np.bool_]) -> Trails:
        return Trails(self.who[chosen], self.day[chosen], self.features[chosen])

    def __len__(self) -> int:
        return len(self.who)

    def __repr__(self) -> str:
        return "<trails>"


def forest(seed: int) -> Any:
    """The attacker unless another is given: trees that vote."""
    return sklearn("ensemble").ExtraTreesClassifier(n_estimators=60, random_state=seed)


def identified(
    trails: Trails,
    known_days: int,
    *,
    least: int = 5,
    seed: int = 0,
    labels: NDArray[Any] | None = None,
    what: str = "whose trail it is",
    classifier: Callable[[int], Any] = forest,
) -> Score:
    """How often the attacker names the owner of a trail of a later day, learnt from the first `known_days`.

    Owners with trails on at least `least` known days count, the most frequent `MOST_NAMES` of them. With `labels`,
    one for each owner, the label is guessed instead, such as a role; each label then counts alike. Chance is to name
    whoever comes most often on those later days.
    """
    learns = trails.day < known_days
    often = np.bincount(
        np.unique(np.stack([trails.who[learns], trails.day[learns]]), axis=1)[0], minlength=_size(trails)
    )
    names = np.sort(np.argsort(-often, kind="stable")[:MOST_NAMES])
    names = names[often[names] >= least]
    chosen = np.isin(trails.who, names)
    past, later = trails.where(chosen & learns), trails.where(chosen & ~learns)
    if not len(later) or len(names) < 2:
        raise DataError("There are too few days: two owners or more must be there on known days and on later ones.")
    called = np.arange(_size(trails)) if labels is None else np.asarray(labels)
    truth = called[later.who]
    weights = np.ones(len(later)) if labels is None else _even(truth)
    right = classifier(seed).fit(past.features, called[past.who]).predict(later.features) == truth
    # The control learns under names that are mixed up among all trails.
    mixed = np.random.default_rng(seed).permutation(called[past.who])
    control = classifier(seed).fit(past.features, mixed).predict(later.features) == truth
    days, at = np.unique(later.day, return_inverse=True)
    sums, of_day = (np.bincount(at, each).astype(np.float64) for each in (right * weights, weights))
    return Score(
        what,
        float(sums.sum() / of_day.sum()),
        *interval(sums, of_day, seed),
        chance=float(np.bincount(np.unique(truth, return_inverse=True)[1], weights).max() / weights.sum()),
        control=float(np.average(control, weights=weights)),
        cases=len(later),
        days=len(days),
    )


def _size(trails: Trails) -> int:
    return int(trails.who.max(initial=0)) + 1


def _even(truth: NDArray[Any]) -> NDArray[np.float64]:
    """Weights that make each label count alike, however many have it."""
    _, at, counts = np.unique(truth, return_inverse=True, return_counts=True)
    return np.asarray(1 / counts[at], dtype=np.float64)
