"""The state of one key under one rule, slot by slot: a pure function of what was released.

- `clear`: not flagged.
- `pending`: flagged, in fewer slots in a row than the rule asks for.
- `firing`: flagged in as many slots in a row as the rule asks for, until it is not flagged in as many as it asks for.
- `undecided`: there is no answer, because it was denied, could not be paid or failed. It is never shown as clear.
- `firing and undecided`: it was firing, and there is no answer now.
- `no data`: the feed was not there in time.

Answers are released before they come here, so whatever is done with them costs nothing: pending and clearing late are
free. A slot without an answer neither adds to flagged slots in a row nor breaks them, and always breaks those that are
not flagged. A gap between slots, as outside of a rule's hours, breaks both. A number between the line at which it is
flagged and a lower one at which it is clear keeps what fires firing, and is not flagged otherwise.

Since when a state holds:

- `pending`: since the first of its flagged slots in a row, also where slots without an answer lie between them.
- `firing` and `firing and undecided`: since the first of the flagged slots in a row with which it began to fire. A
  missing answer, a gap, and slots too few to clear it do not begin it anew.
- `clear`: since the slot that made it clear, the last of those that it took.
- `undecided` and `no data`: since the first slot in this state.

A state that goes on over a gap keeps its beginning, but for `pending`: a gap breaks its row, so it begins anew.
"""

from __future__ import annotations

from dataclasses import dataclass

from louver.errors import ParameterError
from louver.watch.journal_states import CLEAR, FIRING, FIRING_UNDECIDED, NO_DATA, PENDING, UNDECIDED

BURNING = (FIRING, FIRING_UNDECIDED)

FLAGGED, NOT_FLAGGED, BETWEEN = "flagged", "not flagged", "between"
OUTCOMES = (FLAGGED, NOT_FLAGGED, BETWEEN, UNDECIDED, NO_DATA)


@dataclass(frozen=True, slots=True)
class Standing:
    """A state, the slot since which it holds, and slots in a row.

    `streak` counts flagged slots in a row, of which `first` is the first, `clear_streak` those that are not flagged.
    """

    state: str
    since: int
    streak: int = 0
    clear_streak: int = 0
    first: int | None = None


def advanced(
    old: Standing | None, outcome: str, slot: int, *, pending: int = 1, clear_after: int = 1, gap: bool = False
) -> Standing:
    """The state after one more slot. `gap` says that the slot does not directly follow the one before.

    >>> first = advanced(None, FLAGGED, 0, pending=2)
    >>> first.state, advanced(first, FLAGGED, 300, pending=2)
    ('pending', Standing(state='firing', since=0, streak=2, clear_streak=0, first=0))
    >>> advanced(first, UNDECIDED, 300, pending=2).state
    'undecided'
    """
    if outcome not in OUTCOMES:
        raise ParameterError(f"What a slot says of a key is one of {', '.join(OUTCOMES)}.")
    was = old.state if old is not None else CLEAR
    streak, clear_streak, first = (0, 0, None) if old is None or gap else (old.streak, old.clear_streak, old.first)
    if outcome in (UNDECIDED, NO_DATA):
        state = FIRING_UNDECIDED if was in BURNING else outcome
        return Standing(state, _since(old, state, slot), streak, 0, first)
    if outcome == FLAGGED:
        state = FIRING if was in BURNING or streak + 1 >= pending else PENDING
        first = slot if first is None else first
        began = old.since if old is not None and was in BURNING else first
        return Standing(state, began, streak + 1, 0, first)
    if outcome == BETWEEN and was in BURNING:
        return Standing(FIRING, _since(old, FIRING, slot))
    still = was in BURNING and clear_streak + 1 < clear_after
    state = FIRING if still else CLEAR
    return Standing(state, _since(old, state, slot), 0, clear_streak + 1)


def _since(old: Standing | None, state: str, slot: int) -> int:
    """When a state that no flag brings began: before, where it goes on."""
    goes_on = old is not None and (state == old.state or (state in BURNING and old.state in BURNING))
    return old.since if old is not None and goes_on else slot
