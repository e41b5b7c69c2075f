"""What a study is made of: settings, what was found in each of them, and all of it together."""

from __future__ import annotations

from dataclasses import dataclass

from louver.attack.classes import Over
from louver.attack.tune import Tuned

NOTHING = "none"
LIKELIER = slice(3, None)  # the classes above one half


@dataclass(frozen=True, slots=True)
class Setting:
    """A mechanism at one value, in one part of the day; where it was not tuned there is no target.

    `learned` is where the attacker learns the law although it is known.
    """

    mechanism: str
    value: float
    part: str
    target: float | None = None
    learned: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """What one attacker finds in one setting, in shares of the people who have to be guessed, over runs.

    `by_hour` has the share in each class of confidence in each hour of the part, (hours, 6); `of_all` the same over all
    its ticks, (6,). `likelier` is the share whose place is rightly thought likelier than not, in a class above the
    prior's. Numbers of people are not kept: under no mechanism they would be true counts.
    """

    setting: Setting
    attacker: str
    known: float
    by_hour: Over
    of_all: Over
    likelier: Over

    @property
    def likelier_than_not(self) -> float:
        return float(self.likelier.average)


@dataclass(frozen=True, slots=True, eq=False)
class Study:
    """`tuned` are the parameters, `found` what each attacker found in each setting.

    `priced` is what the first attacker found in a whole day under Laplace noise at fixed prices, by the known law and
    by a learned one. `before` is what the prior alone finds, by attacker, share known and part, as shares of the people
    in each class. `left_out` says which attackers and parts of the day were not tried, and why.
    """

    task: str
    targets: tuple[float, ...]
    parts: tuple[str, ...]
    runs: int
    joint: bool
    days: int
    regions: int
    ticks: int
    tuned: tuple[Tuned, ...]
    found: tuple[Found, ...]
    priced: tuple[Found, ...]
    before: dict[tuple[str, float, str], tuple[float, ...]]
    left_out: tuple[str, ...] = ()
