"""A rule tried on what was already released: free, because nothing is asked and no row is read.

Flags are replayed with another `pending` or `clear_after`, numbers also with another limit or hysteresis.
A slot that was decided and released nothing about a key is undecided for it, as it was; one that was not decided is a
gap.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from louver.errors import ParameterError
from louver.watch.answers import number_outcome
from louver.watch.journal_records import Released
from louver.watch.journal_states import UNDECIDED
from louver.watch.states import BURNING, FLAGGED, NOT_FLAGGED, Standing, advanced


@dataclass(frozen=True, slots=True)
class Fire:
    """A key that fired: since when it was flagged, when it began to fire, and when it was clear (None: not yet)."""

    key: str
    since: int
    fired: int
    cleared: int | None


@dataclass(frozen=True, slots=True)
class Tried:
    """What a rule would have told of so many slots."""

    slots: int
    fires: tuple[Fire, ...]


def tried(
    released: Iterable[Released],
    *,
    step: int,
    pending: int = 1,
    clear_after: int = 1,
    limits: Mapping[str, Fraction | None] | None = None,
    within: Fraction | None = None,
    hysteresis: Fraction = Fraction(0),
    decided: Collection[int] = frozenset(),
) -> Tried:
    """The alarms that these releases would have raised; `limits`, `within` and `hysteresis` are for numbers.

    `decided` are the slots that were decided, also without an answer.

    >>> from louver.watch.journal_records import Released
    >>> flags = [Released(slot, "hall", flagged) for slot, flagged in enumerate([True, False, True, True, False])]
    >>> tried(flags, step=1, pending=2).fires
    (Fire(key='hall', since=2, fired=3, cleared=4),)
    """
    states: dict[str, Standing] = {}
    last: dict[str, int] = {}
    fires: dict[tuple[str, int], Fire] = {}
    slots: set[int] = set()
    for slot, key, value in released:
        slots.add(slot)
        burned = key in states and states[key].state in BURNING
        gap = False
        for between in range(last[key] + step, slot, step) if key in last else ():
            if between in decided:
                states[key] = advanced(states[key], UNDECIDED, between, clear_after=clear_after, gap=gap)
            gap = between not in decided
        old = states.get(key)
        outcome = _outcome(value, None if limits is None else limits.get(key), within, hysteresis)
        new = advanced(old, outcome, slot, pending=pending, clear_after=clear_after, gap=gap)
        states[key], last[key] = new, slot
        burns = new.state in BURNING
        if burns and not burned:
            fires[key, new.since] = Fire(key, new.since, slot, None)
        elif burned and not burns and old is not None:
            began = fires[key, old.since]
            fires[key, old.since] = Fire(key, began.since, began.fired, slot)
    return Tried(len(slots), tuple(sorted(fires.values(), key=lambda fire: (fire.fired, fire.key))))


def _outcome(value: object, limit: Fraction | None, within: Fraction | None, hysteresis: Fraction) -> str:
    if isinstance(value, bool):
        if limit is not None:
            raise ParameterError("Flags were released, and no numbers; another limit takes a new question.")
        return FLAGGED if value else NOT_FLAGGED
    if not isinstance(value, int | float) or within is None:
        raise ParameterError("What was released is neither flags nor numbers of this rule; was the rule changed?")
    return number_outcome(value, limit, within, hysteresis)
