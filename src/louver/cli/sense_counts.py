"""`louver sense FILE ... --counts`: what became of the events, in true counts, for whoever keeps them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from louver.cli import ui

if TYPE_CHECKING:
    from louver.sense.events import Tally

TRUE = "These are true counts, for whoever keeps the raw events. They tell who was there: do not publish them."
NONE = (
    "No event was accepted: compare the names of places in the events with those in the list, and the names of fields "
    "with --fields."
)
NOT_SHOWN = "How many events were accepted is not shown; add --counts to check that places and fields match."
UNKNOWN = "An unknown place is one that the list does not have; its events count nowhere."


def show(tally: Tally) -> None:
    """Every outcome that occurred, and what to do where nothing fits."""
    from louver.sense.events import ACCEPTED

    counts = {ACCEPTED: 0, **tally.to_dict()}
    ui.print_table(("outcome", "messages"), [(outcome, f"{count:,}") for outcome, count in counts.items()])
    if not counts[ACCEPTED]:
        print(NONE)
    elif "unknown place" in counts:
        print(UNKNOWN)
    print(TRUE)
