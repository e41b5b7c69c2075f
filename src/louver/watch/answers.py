"""What one slot says of every key of a rule: the steward's release, or why there is none.

A question is paid under a key made of the rule and the slot. So after a crash the same answer comes again for nothing,
and one that was paid and never answered stays undecided.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from louver.errors import LouverError
from louver.sense.events import instant
from louver.steward import Release, Steward
from louver.watch.alarms.alarm import Closer
from louver.watch.journal_states import UNDECIDED
from louver.watch.questions import Asked
from louver.watch.states import BETWEEN, FLAGGED, NOT_FLAGGED

WHO = "watch"


@dataclass(frozen=True, slots=True)
class Answer:
    """An outcome for each key, what was released of it, what that cost, and why keys have no answer."""

    outcomes: Mapping[str, str]
    released: Mapping[str, bool | int | float] = field(default_factory=dict)
    price: Fraction | None = None
    promise: str = ""
    reason: str = ""
    closer: Mapping[str, Closer] = field(default_factory=dict)

    @property
    def paid(self) -> Fraction:
        """The price, with that of the closer question."""
        return (self.price or Fraction(0)) + max(
            (each.price or Fraction(0) for each in self.closer.values()), default=0
        )


def answered(asked: Asked, slot: int, steward: Steward, begins: Callable[[Mapping[str, str]], list[str]]) -> Answer:
    """Pay and ask; whatever is refused or fails is undecided.

    `begins` says which keys begin to fire by their outcomes: only of these something is told, so only of these it is
    worth to ask more closely.
    """
    name = f"{asked.rule.name}/{instant(slot).isoformat()}"
    made = asked.at(slot)
    try:
        release = steward.run(made, who=WHO, key=name)
    except LouverError as fault:
        return unanswered(asked, UNDECIDED, str(fault))
    outcomes, released = _read(asked, release)
    fired = begins(outcomes) if asked.closer is not None else []
    closer = _closer(asked, slot, steward, f"{name}/closer", fired) if fired else {}
    left = sum(outcome == UNDECIDED for outcome in outcomes.values())
    reason = f"{left} of {len(outcomes)} keys come after the slot's last alarm and got no answer." if left else ""
    return Answer(outcomes, released, release.charged, asked.promise(made), reason, closer)


def unanswered(asked: Asked, outcome: str, reason: str) -> Answer:
    """Nothing is known of any key."""
    return Answer(dict.fromkeys(asked.keys, outcome), reason=reason)


def _read(asked: Asked, release: Release) -> tuple[dict[str, str], dict[str, bool | int | float]]:
    """What was released of each key, and what that says."""
    if asked.rule.within is not None:
        numbers = dict(zip(asked.keys, release.answer["values"][0], strict=True))
        return {
            key: number_outcome(number, asked.thresholds[key], asked.rule.within, asked.rule.hysteresis)
            for key, number in numbers.items()
        }, numbers
    flagged = set(map(str, release.answer["flagged"]))
    reached = asked.keys[: release.answer.get("answered", len(asked.keys))]
    flags = {key: key in flagged for key in reached}
    outcomes = {key: (FLAGGED if flags[key] else NOT_FLAGGED) if key in flags else UNDECIDED for key in asked.keys}
    return outcomes, dict(flags)


def number_outcome(number: float, limit: Fraction | None, within: Fraction, hysteresis: Fraction = Fraction(0)) -> str:
    """A number is flagged where the truth may be above the limit: no further below it than the noise may reach.

    Down to `hysteresis` below that it is between: neither flagged nor clear.
    """
    if limit is None:
        return NOT_FLAGGED
    if number > limit - within:
        return FLAGGED
    return BETWEEN if number > limit - within - hysteresis else NOT_FLAGGED


def _closer(asked: Asked, slot: int, steward: Steward, name: str, fired: Collection[str]) -> dict[str, Closer]:
    """What the second question says of the keys that begin to fire; it is told and changes no state."""
    made = asked.closer_at(slot, fired)
    try:
        release = steward.run(made, who=WHO, key=name)
    except LouverError:
        return {key: Closer(flagged=None, promise=asked.promise_of(made)) for key in fired}
    found = set(map(str, release.answer["flagged"]))
    return {key: Closer(flagged=key in found, promise=asked.promise_of(made), price=release.charged) for key in fired}
