"""The state of one key under one rule, slot by slot: a pure function of what was released.

- `clear`: not flagged.
- `pending`: flagged, in fewer slots in a row than the rule asks for.
- `firing`: flagged in as many slots in a row as the rule asks for, until it is not flagged in as many as it asks for.
- `undecided`: there is no answer, because it was denied, could not be paid or failed. It is never shown as clear.
- `firing and undecided`: it was firing, and there is no answer now.
- `no data`: the feed was not there in time.

Answers are released before they come here, so whatever is done with them costs nothing: pending and clearing late are
free. A slot without an answer neither adds to flagged slots in a row nor breaks them, and always breaks those that are
not flagged. A gap between slots, as outside of a rule's hours, breaks both.
"""

from __future__ import annotations

from dataclasses import dataclass

from louver.errors import ParameterError
from louver.watch.journal_states import CLEAR, FIRING, FIRING_UNDECIDED, NO_DATA, PENDING, UNDECIDED

BURNING = (FIRING, FIRING_UNDECIDED)

FLAGGED, NOT_FLAGGED = "flagged", "not flagged"
OUTCOMES = (FLAGGED, NOT_FLAGGED, UNDECIDED, NO_DATA)


@dataclass(frozen=True, slots=True)
class Standing:
    """A state, the slot since which it holds (of a firing key: since which it is flagged), and slots in a row.

    `streak` counts flagged slots in a row, `clear_streak` those that are not.
    """

    state: str
    since: int
    streak: int = 0
    clear_streak: int = 0


def advanced(
    old: Standing | None, outcome: str, slot: int, *, pending: int = 1, clear_after: int = 1, gap: bool = False
) -> Standing:
    """The state after one more slot. `gap` says that the slot does not directly follow the one before.

    >>> first = advanced(None, FLAGGED, 0, pending=2)
    >>> first.state, advanced(first, FLAGGED, 300, pending=2)
    ('pending', Standing(state='firing', since=0, streak=2, clear_streak=0))
    >>> advanced(first, UNDECIDED, 300, pending=2).state
    'undecided'
    """
    if outcome not in OUTCOMES:
        raise ParameterError(f"What a slot says of a key is one of {', '.join(OUTCOMES)}.")
    was = old.state if old is not None else CLEAR
    streak = 0 if old is None or gap else old.streak
    clear_streak = 0 if old is None or gap else old.clear_streak
    if outcome in (UNDECIDED, NO_DATA):
        state = FIRING_UNDECIDED if was in BURNING else outcome
        return Standing(state, _since(old, state, slot), streak, 0)
    if outcome == FLAGGED:
        state = FIRING if was in BURNING or streak + 1 >= pending else PENDING
        return Standing(state, _since(old, state, slot), streak + 1, 0)
    still = was in BURNING and clear_streak + 1 < clear_after
    state = FIRING if still else CLEAR
    return Standing(state, _since(old, state, slot), 0, clear_streak + 1)


def _since(old: Standing | None, state: str, slot: int) -> int:
    """When the state began; firing begins with the first of its flagged slots, and no missing answer ends it."""
    if old is None:
        return slot
    goes_on = state == old.state or (state in BURNING and old.state in BURNING)
    becomes_firing = state == FIRING and old.state == PENDING
    return old.since if goes_on or becomes_firing else slot
