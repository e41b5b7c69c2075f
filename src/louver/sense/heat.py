"""Heat: ten classes of a place's occupancy against its own released past at that time of day.

As in section 4.2.1 of Ghayyur's thesis: with mean μ and standard deviation σ of the past, a value above μ + 2σ is class
10, one below μ - 2σ is class 1, and the range between is divided evenly into classes 2 to 9, each σ/2 wide. A value on
an edge belongs to the class above it, and μ + 2σ itself to class 9, since it is not above. Squares are divided by the
number of values for σ.

Only released values may come here: `Heat` takes answers of the steward and nothing else, so that classes are
post-processing and cost nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from math import isqrt
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from louver import parameters
from louver.errors import ParameterError

if TYPE_CHECKING:
    from louver.decide.answer import Answer

CLASSES = 10
MIDDLE = 6  # begins at the mean
LEAST_PAST = 5
_MINUTES = 24 * 60


def heat_class(value: parameters.Number, past: Sequence[parameters.Number], least: int = LEAST_PAST) -> int | None:
    """The class of a released value against released past values; None where there are fewer than `least` of them.

    Where the past never changed (σ = 0), what is above it is class 10, what is below is class 1, and the same is 6.

    >>> past = [40, 44, 48, 52, 56]
    >>> [heat_class(value, past) for value in (30, 40, 48, 56, 60)]
    [1, 3, 6, 8, 10]
    >>> heat_class(7, [5, 5, 5, 5, 5]), heat_class(5, [5, 5, 5, 5, 5]), heat_class(5, [5, 5])
    (10, 6, None)
    """
    exact = [parameters.fraction("A past value", each) for each in past]
    return _class(
        parameters.fraction("The value", value), _Past(len(exact), sum(exact), sum(x * x for x in exact)), least
    )


@dataclass(frozen=True, slots=True)
class _Past:
    """How many values there were, their sum and the sum of their squares."""

    count: int = 0
    total: Fraction | int = 0
    squares: Fraction | int = 0

    def __add__(self, value: Fraction) -> _Past:
        return _Past(self.count + 1, self.total + value, self.squares + value * value)


def _class(value: Fraction, past: _Past, least: int) -> int | None:
    if past.count < max(least, 1):
        return None
    mean = Fraction(past.total, past.count)
    variance = Fraction(past.squares, past.count) - mean * mean
    away = value - mean
    if away * away > 4 * variance:
        return CLASSES if away > 0 else 1
    if away == 0:
        return MIDDLE
    # Steps of half a standard deviation: exactly, without a root that is rounded.
    ratio = 4 * away * away / variance
    whole = isqrt(ratio.numerator // ratio.denominator)
    if away > 0:
        return min(MIDDLE + whole, CLASSES - 1)
    return MIDDLE - whole - (whole * whole < ratio)


@dataclass(slots=True)
class Heat:
    """The released past of places by time of day, in slots of some minutes, and the classes of what comes next.

    `classes` gives each key of an answer its class against what was learnt before; `learn` adds the answer to the past.
    """

    slot: int = 5
    timezone: str = "UTC"
    least: int = LEAST_PAST
    _pasts: dict[tuple[Any, int], _Past] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        parameters.integer("The slot's minutes", self.slot, 1, _MINUTES)
        parameters.integer("The least number of past values", self.least, 1, parameters.LARGEST_COUNT)
        if _MINUTES % self.slot:
            raise ParameterError(f"A day must be a whole number of slots, unlike with slots of {self.slot} minutes.")

    def learn(self, answer: Answer, time: datetime) -> None:
        """Adds an answer about the instant `time`."""
        slot = self._slot(time)
        for key, value in _released(answer):
            self._pasts[key, slot] = self._pasts.get((key, slot), _Past()) + value

    def classes(self, answer: Answer, time: datetime) -> dict[Any, int | None]:
        """The class of each key, against the past at that time of day; None where there is too little past."""
        slot = self._slot(time)
        return {
            key: _class(value, self._pasts.get((key, slot), _Past()), self.least) for key, value in _released(answer)
        }

    def _slot(self, time: object) -> int:
        if not isinstance(time, datetime) or time.tzinfo is None:
            raise ParameterError("The time of an answer is a datetime with a zone, such as datetime.now(UTC).")
        local = time.astimezone(ZoneInfo(self.timezone))
        return (local.hour * 60 + local.minute) // self.slot


def _released(answer: object) -> list[tuple[Any, Fraction]]:
    """The keys and numbers of an answer; a key of one column by itself. Anything else than an answer is refused."""
    from louver.decide.answer import Answer
    from louver.decide.within import Within

    if not isinstance(answer, Answer) or not isinstance(answer.plan, Within) or len(answer.plan.wanted) != 1:
        raise ParameterError(
            "Heat is made of released values only: pass an answer of louver.ask with one number for each key, as "
            "values(count().by('region')) with within=... gives."
        )
    *heads, values = answer.columns.values()
    keys = [key[0] if len(key) == 1 else key for key in zip(*heads, strict=True)]
    return [(key, parameters.fraction("A released value", value)) for key, value in zip(keys, values, strict=True)]
