"""Membership with everything else known: how much does a mechanism lose for sure, beside what it promises?

The attacker knows every row but those of one unit, so two data sets are left, and he says from a release which it was.
Here both are released many times. On a quarter of the releases `scores` are learned, on another quarter the most
telling `events` are chosen, and on the other half they are counted. By Clopper and Pearson an event happens in a share
of at least p of the releases of one data set and at most q of those of the other, and `losses` says what follows for
epsilon, for epsilon at a delta, and for rho.

All bounds hold together but for a probability `false_alarm`, over all that is random, whatever the mechanism is. So one
that keeps its promise is accused no more often. One that is not accused may still break it: at other data, in events
that nobody looked at, or so rarely that it takes more releases.

Where what is charged depends on what came out, `paid` says it, and an event's loss is compared with its own charge.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from louver import parameters
from louver.attack.clopper_pearson import at_least, at_most
from louver.attack.events import EVENTS, Event, Paid, chosen, excess
from louver.attack.losses import delta_of, least_epsilon, least_loss, least_rho, stated
from louver.attack.scores import LEARNED, Learn, Rows
from louver.errors import ParameterError
from louver.noise.bits import SYSTEM, Bits
from louver.privacy import Pure
from louver.privacy.guarantee import Guarantee

FALSE_ALARM = 1e-6
TRIALS = 40_000
FEWEST_TRIALS = 64

Draw: TypeAlias = "Callable[[int, Bits], Rows]"
"""So many independent releases of one data set, one a row."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What was lost at least, in the number that the promise has, and what was promised for it.

    `often` and `rarely` are the two chances of the event that shows it. `epsilon`, at the promise's `delta`, and `rho`
    are the largest that any of the events shows.
    """

    lost: float
    promised: float
    often: float
    rarely: float
    epsilon: float
    rho: float
    delta: float
    trials: int
    false_alarm: float
    most: float
    """What so many releases could have shown at most, had they had nothing in common."""

    @property
    def is_broken(self) -> bool:
        """Whether more is lost than was promised; wrong with probability `false_alarm` at most."""
        return self.lost > self.promised

    def __str__(self) -> str:
        verdict = "more than" if self.is_broken else "of"
        return (
            f"Lost at least {self.lost:.3f}, {verdict} the {self.promised:.3f} that is promised, by {self.trials:,} "
            f"releases of each data set; the probability of a false alarm is at most {self.false_alarm:.0e}."
        )


def measure(
    without: Draw,
    having: Draw,
    promise: Guarantee,
    *,
    trials: int = TRIALS,
    scores: Sequence[Learn] = LEARNED,
    paid: Paid | None = None,
    false_alarm: float = FALSE_ALARM,
    bits: Bits = SYSTEM,
) -> Measured:
    """What a mechanism loses between two data sets, without and with one unit, from so many releases of each."""
    trials = parameters.count("trials", trials, FEWEST_TRIALS)
    if paid is not None and not isinstance(promise, Pure):
        raise ParameterError("Only pure prices are charged by what came out.")
    if not 0 < false_alarm < 1:
        raise ParameterError("false_alarm must be greater than 0 and less than 1.")
    learning, choosing, testing = (
        (drawn(without, size, bits), drawn(having, size, bits)) for size in (trials // 4, trials // 4, trials // 2)
    )
    learned = [learn(*learning) for learn in scores]
    events = chosen(learned, *choosing, promise, paid)
    level = false_alarm / (2 * max(1, len(events)))
    found = [_chances(event, *testing, paid, level) for event in events] or [(0.0, 1.0)]
    often, rarely = (np.array(each) for each in zip(*found, strict=True))
    lost = least_loss(often, rarely, promise)
    due = np.array([stated(promise) if event.charge is None else event.charge for event in events] or [stated(promise)])
    best = max(range(len(due)), key=lambda place: excess(float(lost[place]), float(due[place])))
    delta = delta_of(promise)
    return Measured(
        float(lost[best]),
        float(due[best]),
        float(often[best]),
        float(rarely[best]),
        float(least_epsilon(often, rarely, delta).max()),
        float(least_rho(often, rarely).max()),
        delta,
        trials,
        false_alarm,
        most_shown(trials, promise, false_alarm),
    )


def most_shown(trials: int, promise: Guarantee, false_alarm: float = FALSE_ALARM) -> float:
    """The loss that is shown by an event that always happens here and never there: what is above it goes unseen.

    >>> round(most_shown(64, Pure(1)), 2), round(most_shown(1000, Pure(1)), 2)
    (0.39, 3.39)
    """
    counted, level = trials // 2, false_alarm / (2 * EVENTS)
    often, rarely = at_least(counted, counted, level), at_most(0, counted, level)
    return float(least_loss(np.array([often]), np.array([rarely]), promise)[0])


def releases(mechanism: Callable[[Any, Bits], Any], data: Any) -> Draw:
    """Any mechanism: a function of data and bits that gives a number, or an array of always the same shape."""

    def draw(count: int, bits: Bits) -> Rows:
        try:
            return np.array([np.ravel(mechanism(data, bits)) for _ in range(count)])
        except ValueError:
            raise ParameterError("Every release must be a number, or an array of always the same shape.") from None

    return draw


def one_after_the_other(first: Draw, second: Draw) -> Draw:
    """Two releases in one row: the first, and how far the second is from it. Noise that comes again cancels out."""

    def draw(count: int, bits: Bits) -> Rows:
        before = drawn(first, count, bits)
        return np.concatenate((before, drawn(second, count, bits) - before), axis=1)

    return draw


def drawn(draw: Draw, count: int, bits: Bits) -> Rows:
    """So many releases, one a row."""
    rows = np.asarray(draw(count, bits))
    if rows.ndim == 1:
        rows = rows[:, np.newaxis]
    if rows.ndim != 2 or len(rows) != count or rows.dtype.kind not in "biuf":
        raise ParameterError("Releases must be an array of numbers with one row for each release.")
    return rows.astype(np.int64) if rows.dtype.kind == "b" else rows


def _chances(event: Event, without: Rows, having: Rows, paid: Paid | None, level: float) -> tuple[float, float]:
    """How often the event happens at least where it is likelier, and at most where it is not."""
    here, there = (having, without) if event.is_likelier_with else (without, having)
    often = at_least(event.times(here, paid), len(here), level)
    rarely = at_most(event.times(there, paid), len(there), level)
    return often, rarely
