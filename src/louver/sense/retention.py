"""How long events and rows are kept.

What was released about a slot stays true after its rows are gone, and the ledger still counts what it cost: forgetting
rows gives no budget back.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from louver.sense.presence import MINUTE, duration
from louver.sense.store import Forgotten, Store

SHORTEST = 60 * MINUTE  # slots that are not final yet need their events


@dataclass(frozen=True, slots=True, init=False)
class Retention:
    """Events and rows are kept for `keep`, and gone after `keep` and `every` at the latest; in microseconds.

    To forget means to write the store anew, so it is done at whole multiples of `every` only.

    >>> from datetime import timedelta
    >>> Retention(timedelta(days=30)).before(1_517_443_200_000_000 + 5) == 1_517_443_200_000_000 - 30 * 86_400_000_000
    True
    """

    keep: int
    every: int

    def __init__(self, keep: timedelta | int, every: timedelta | int = 60 * MINUTE) -> None:
        object.__setattr__(self, "keep", duration("The time that rows are kept", keep, SHORTEST))
        object.__setattr__(self, "every", duration("The time between forgetting", every))

    def before(self, now: int) -> int:
        """The time before which everything is to be forgotten."""
        return max(0, (now - self.keep) // self.every * self.every)

    def apply(self, store: Store, now: int) -> Forgotten:
        """Forget what is due, and say how much it was."""
        return store.expire(self.before(now))
