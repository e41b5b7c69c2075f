"""What a rule says of a key in each state, by what it asks: a limit, another condition, or a number with noise.

Only a question for more than a threshold finds that a limit is crossed. Other conditions are met, whatever they are. A
number says that a limit may be crossed: the rule fires from the limit on, less what the number may be off.
"""

from __future__ import annotations

from typing import NamedTuple

from louver.watch.alarms.alarm import Alarm
from louver.watch.journal_states import (
    CLEAR,
    FIRING,
    FIRING_UNDECIDED,
    NO_DATA,
    PENDING,
    UNDECIDED,
    UNWATCHED,
)


class Wording(NamedTuple):
    """The sentences of one kind of question, by state, with {where} and {what}; and how its alarms are to be taken."""

    said: dict[str, str]
    as_if: str
    firing: str
    clear: str


def _of_flags(cross: str, crosses: str) -> dict[str, str]:
    return {
        FIRING: f"{{where}} is found to {cross} {{what}}",
        UNDECIDED: f"it is not known whether {{where}} {crosses} {{what}}",
        FIRING_UNDECIDED: f"{{where}} was found to {cross} {{what}}, and it is not known whether it still does",
        PENDING: f"{{where}} was flagged, and not yet for long enough to say that it {crosses} {{what}}",
        NO_DATA: "nothing is known about {where}",
        CLEAR: f"{{where}} is no longer found to {cross} {{what}}",
        UNWATCHED: f"whether {{where}} {crosses} {{what}} is not asked any more",
    }


_FALSE = "The promise below says how often such an alarm is false."
_RARE = "The promise below says how rarely {} is missed"
LIMIT = Wording(_of_flags("cross", "crosses"), "the limit were crossed", _FALSE, _RARE.format("a crossed limit"))
CONDITION = Wording(_of_flags("meet", "meets"), "the condition were met", _FALSE, _RARE.format("a met condition"))
NUMBER = Wording(
    {
        FIRING: "{where} may be above {what}",
        UNDECIDED: "it is not known whether {where} is above {what}",
        FIRING_UNDECIDED: "{where} may have been above {what}, and it is not known whether it still is",
        PENDING: "{where} was flagged, and not yet for long enough to say that it may be above {what}",
        NO_DATA: "nothing is known about {where}",
        CLEAR: "{where} is now found not to be above {what}",
        UNWATCHED: "whether {where} is above {what} is not asked any more",
    },
    "it were above the limit",
    "How often such an alarm is false is not promised.",
    "The promise below says how far the number may be off",
)
NO_LIMIT = NUMBER._replace(
    said={
        **NUMBER.said,
        UNDECIDED: "the number of {where} is not known",
        UNWATCHED: "the number of {where} is not asked for any more",
    },
    as_if="something were wrong",
)


def wording(alarm: Alarm) -> Wording:
    if alarm.within is None:
        return LIMIT if alarm.over else CONDITION
    return NUMBER if alarm.over else NO_LIMIT
