"""A classifier that tells from released counts whether somebody was in the building on a day.

The attacker knows, for some days, whether the person was there and where the person usually is at which time. From the
counts of a later day it asks how much fuller than usual those places are at those times, and how full the building is.

A crowd tells by itself: on a day with lectures, students come. That is what counts are for, and no mechanism hides it.
So each attack is made twice: on counts with the person in them, and on counts that leave the person out. What is above
the second is what the person's own rows give away, and only that is what a price bounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.attack.learned_score import DRAWS, LEVEL, Score, sklearn
from louver.attack.tune import student_reach
from louver.errors import DataError, ParameterError

if TYPE_CHECKING:
    from louver.sense.simulate.simulated import Simulated

Whole = NDArray[np.int64]
Floats = NDArray[np.float64]
MINUTES = 24 * 60
MIXED = 40  # times that labels are mixed up: one learnt direction is right or wrong by luck, many are neither


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Lived:
    """The truth to score by: rows of (person, day, tick of the day, region); nobody is in two regions at one tick."""

    person: Whole
    day: Whole
    tick: Whole
    region: Whole
    shape: tuple[int, int, int, int]

    @classmethod
    def of(cls, made: Simulated, step: int = 30) -> Lived:
        """The days of a simulated building, looked at every `step` minutes."""
        ticks = MINUTES // parameters.integer("step", step, 1, MINUTES)
        start, end = (made.column("truth/stays", name).astype("datetime64[ms]") for name in ("start", "end"))
        midnight = start.min().astype("datetime64[D]")
        width = np.timedelta64(step, "m")
        first, last = (-(-(each - midnight) // width) for each in (start, end))
        each = last - first
        row = np.repeat(np.arange(len(each)), each)
        at = np.repeat(first - np.cumsum(each) + each, each) + np.arange(len(row))
        names, region = np.unique(made.column("truth/stays", "region").astype(str), return_inverse=True)
        person = made.column("truth/stays", "person")[row]
        people = len(made.column("truth/people", "person"))
        shape = (people, int(at.max(initial=0)) // ticks + 1, ticks, len(names))
        return cls(person, at // ticks, at % ticks, region[row], shape)

    def counts(self, person: int | None = None) -> Whole:
        """How many people are where, by day, tick and region; of one person only, where asked."""
        counts = np.zeros(self.shape[1:], dtype=np.int64)
        chosen = slice(None) if person is None else np.flatnonzero(self.person == person)
        np.add.at(counts, (self.day[chosen], self.tick[chosen], self.region[chosen]), 1)
        return counts

    def present(self) -> NDArray[np.bool_]:
        """Who was there on which day."""
        there = np.zeros(self.shape[:2], dtype=np.bool_)
        there[self.person, self.day] = True
        return there

    def __repr__(self) -> str:
        return "<lived>"


def told(
    lived: Lived,
    released: NDArray[Any],
    people: Sequence[int] | Whole,
    days: Sequence[int] | Whole,
    *,
    left_out: bool = False,
    seed: int = 0,
    what: str = "who is there",
) -> Score:
    """How often a day on which a person is there looks more like it than a day on which the same person is not.

    That is the area under the ROC curve of each person, in the mean; 1/2 is chance. Of `days`, in their order, the
    first third teaches habits, the second the classifier, and the last is guessed. `left_out` takes each person's own
    rows from the released counts, which has the law of a release without them where noise is added to counts.
    """
    if released.shape != lived.shape[1:]:
        raise ParameterError("Released counts must have a number for each day, tick and region.")
    order, third = np.asarray(days, dtype=np.int64), len(days) // 3
    habits, learns, guesses = order[:third], order[third : 2 * third], order[2 * third :]
    there = lived.present()
    kept = [person for person in people if there[person, guesses].any() and not there[person, guesses].all()]
    if not kept or third < 2:
        raise DataError("There are too few days or people: somebody must be there on some days and away on others.")
    labels, truth = there[kept], there[kept][:, guesses]
    seen = np.stack([_seen(lived, released, person, there[person], habits, left_out) for person in kept])
    known, dice = labels[:, learns], np.random.default_rng(seed)
    value, low, high = ranked(_learnt(seen, known, learns)[:, guesses], truth, seed)
    # Mixed up among all people: within one, labels would still say who came more often than usual.
    shuffled = (dice.permutation(known.ravel()).reshape(known.shape) for _ in range(MIXED))
    mixed = [_learnt(seen, each, learns)[:, guesses] for each in shuffled]
    control = float(np.mean([_areas(scores, truth, np.ones((1, len(guesses)))) for scores in mixed]))
    return Score(what, value, low, high, 0.5, control, truth.size, len(guesses))


def ranked(scores: Floats, truth: NDArray[np.bool_], seed: int) -> tuple[float, float, float]:
    """The mean area under the ROC curve of (person, day), and its 95% interval over days.

    Pairs of days share both of their days, so whole days are drawn again, of both kinds at once. Where somebody is
    nearly always there, the few days away are all that there is to go by: Student's factor is for the rarer kind.
    """
    days = scores.shape[1]
    again = np.random.default_rng(seed).multinomial(days, np.full(days, 1 / days), DRAWS).astype(np.float64)
    value = float(_areas(scores, truth, np.ones((1, days)))[0])
    rarer = min(truth.sum(axis=1).mean(), (~truth).sum(axis=1).mean())
    reach = student_reach(max(round(float(rarer)) - 1, 1), 1 - LEVEL) * float(np.nanstd(_areas(scores, truth, again)))
    return value, max(0.0, value - reach), min(1.0, value + reach)


def _seen(
    lived: Lived, released: NDArray[Any], person: int, there: NDArray[np.bool_], habits: Whole, left_out: bool
) -> Floats:
    """For each day: how much fuller the person's usual places are than usual, and how much the whole building."""
    own = lived.counts(person)
    counts = released - own if left_out else released
    usual = own[habits][there[habits]].sum(axis=0) / max(int(there[habits].sum()), 1)
    mean, variance = counts[habits].mean(axis=0), counts[habits].var(axis=0) + 0.5
    weights = usual / variance
    scale = np.sqrt((usual * weights).sum()) or 1.0
    at_home = ((counts - mean) * weights).sum(axis=(1, 2)) / scale
    whole = counts.sum(axis=(1, 2))
    overall = (whole - whole[habits].mean()) / (whole[habits].std() or 1.0)
    rate = np.full(len(counts), there[habits].mean())
    return np.stack([at_home, overall, rate], axis=1)


def _learnt(seen: Floats, labels: NDArray[np.bool_], learns: Whole) -> Floats:
    """The score of each person and day after learning from the days to learn from, of all people together."""
    model = (
        sklearn("linear_model")
        .LogisticRegression(solver="newton-cholesky")
        .fit(seen[:, learns].reshape(-1, seen.shape[2]), labels.ravel())
    )
    found = model.decision_function(seen.reshape(-1, seen.shape[2]))
    return np.asarray(found, dtype=np.float64).reshape(seen.shape[:2])


def _areas(scores: Floats, truth: NDArray[np.bool_], times: Floats) -> Floats:
    """How often a day there ranks above a day away, ties counting half, where day d counts times[:, d] times.

    Each person weighs the same; somebody without a day of each kind is left out of that draw.
    """
    won, counted = np.zeros(len(times)), np.zeros(len(times))
    for score, there in zip(scores, truth, strict=True):
        above = (score[there, np.newaxis] > score[~there]) + 0.5 * (score[there, np.newaxis] == score[~there])
        present, away = times[:, there], times[:, ~there]
        pairs = present.sum(axis=1) * away.sum(axis=1)
        won += ((present @ above) * away).sum(axis=1) / np.maximum(pairs, 1)
        counted += pairs > 0
    return np.asarray(np.where(counted > 0, won / np.maximum(counted, 1), np.nan), dtype=np.float64)
