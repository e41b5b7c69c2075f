"""The parts of a question, as plain values: what the planner reads and what SQL and Python are written from.

A question is one of `Flag` (which keys meet a condition), `Values` (the aggregates themselves, each within so much) and
`Classes` (which of several bands an aggregate is in). Nothing here knows about data or prices.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from louver.source.filters import EVERY_ROW, Filter

COUNT, COUNT_DISTINCT, SUM, AVG, MIN, MAX, MEDIAN = "count", "count_distinct", "sum", "avg", "min", "max", "median"
KINDS = (COUNT, COUNT_DISTINCT, SUM, AVG, MIN, MAX, MEDIAN)
SIGNS = ("=", "<>", "<", "<=", ">", ">=")

Condition: TypeAlias = "Comparison | All | Any | Not"
Question: TypeAlias = "Flag | Values | Classes"


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One number per key. `keys` are the columns it is grouped by.

    The values of a sum or an average are clamped to [low, high]; bounds that are None come from the source's
    declaration. The other kinds have no bounds.
    """

    kind: str
    column: str | None = None
    low: Fraction | None = None
    high: Fraction | None = None
    where: Filter = EVERY_ROW
    keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Threshold:
    """A public number per key: factor * column + constant, the column being one of the domain; None is none."""

    constant: Fraction = Fraction(0)
    column: str | None = None
    factor: Fraction = Fraction(1)


@dataclass(frozen=True, slots=True)
class Against:
    """Another aggregate to compare with: factor * aggregate + constant. Private, unlike a threshold."""

    aggregate: Aggregate
    factor: Fraction = Fraction(1)
    constant: Fraction = Fraction(0)


@dataclass(frozen=True, slots=True)
class Comparison:
    """An aggregate against a threshold or another aggregate. `slack` is the comparison's own, if it has one."""

    left: Aggregate
    sign: str
    right: Threshold | Against
    slack: Fraction | None = None


@dataclass(frozen=True, slots=True)
class All:
    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Any:
    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Not:
    part: Condition


@dataclass(frozen=True, slots=True)
class Flag:
    """Which keys meet the condition. Each aggregate's keys are among the question's keys."""

    condition: Condition
    keys: tuple[str, ...]
    table: str | None = None
    domain: str | None = None


@dataclass(frozen=True, slots=True)
class Values:
    """The aggregates of each key, each within a stated distance with a stated probability.

    `names` are what the aggregates are called, None where the question does not say; or empty, where it never does.
    """

    aggregates: tuple[Aggregate, ...]
    keys: tuple[str, ...]
    table: str | None = None
    domain: str | None = None
    names: tuple[str | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Classes:
    """Which band each key's aggregate is in: names[0] up to and with cuts[0], names[1] above it, and so on.

    `name` is what the column of classes is called, if the question says so.
    """

    aggregate: Aggregate
    cuts: tuple[Threshold, ...]
    names: tuple[str, ...]
    keys: tuple[str, ...]
    table: str | None = None
    domain: str | None = None
    name: str | None = None
