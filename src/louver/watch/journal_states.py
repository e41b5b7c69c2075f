"""The states that a key of a rule can be in, by name."""

from __future__ import annotations

from typing import Final

CLEAR: Final = "clear"
PENDING: Final = "pending"
FIRING: Final = "firing"
UNDECIDED: Final = "undecided"
FIRING_UNDECIDED: Final = "firing and undecided"
NO_DATA: Final = "no data"
STATES: Final = (CLEAR, PENDING, FIRING, UNDECIDED, FIRING_UNDECIDED, NO_DATA)

WITHOUT_ANSWER: Final = (UNDECIDED, FIRING_UNDECIDED, NO_DATA)
UNWATCHED: Final = "no longer watched"  # of an alarm only: nobody asks about its key any more
TOLD: Final = (*STATES, UNWATCHED)
# An alarm in one of these is open until its key leaves them, or a newer one takes its place.
LOUD: Final = (FIRING, *WITHOUT_ANSWER)
