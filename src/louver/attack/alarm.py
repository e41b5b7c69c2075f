"""The project's own alarm: every mechanism, audited at a pair of neighbours that is as bad as it gets.

Each one is measured twice. *Alone*: a release with the unit against one without it. *Beside* a release of the data
without the unit, which the attacker knows: noise or seeds that come again cancel out there, and the promise is the
same, because the first release has nothing of the unit. The alarm sounds where either lost more than is promised; over
all mechanisms together it is false with probability `false_alarm` at most.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from louver.attack.case import Case
from louver.attack.cases_decide import decide_cases
from louver.attack.cases_other import local_cases, noise_cases, space_cases, table_cases
from louver.attack.cases_stream import stream_cases
from louver.attack.events import excess
from louver.attack.membership import FALSE_ALARM, FEWEST_TRIALS, Measured, measure, one_after_the_other
from louver.noise.bits import SYSTEM, Bits

BESIDE_SHARE = 4  # noise that cancels out shows at once: fewer releases do


@dataclass(frozen=True, slots=True)
class Audit:
    """What was found out about one mechanism."""

    case: Case
    alone: Measured
    beside: Measured

    @property
    def is_broken(self) -> bool:
        return self.alone.is_broken or self.beside.is_broken

    @property
    def share(self) -> float:
        """How much of what is promised was found to be lost: near 1, an audit sees all there is to see."""
        return excess(self.alone.lost, self.alone.promised)

    def __str__(self) -> str:
        worst = max((self.alone, self.beside), key=lambda each: excess(each.lost, each.promised))
        return f"{self.case.name}: {worst}"


def mechanisms() -> tuple[Case, ...]:
    """Every mechanism of the project."""
    every = (decide_cases, stream_cases, space_cases, table_cases, local_cases, noise_cases)
    return tuple(case for cases in every for case in cases())


def audits(
    cases: Iterable[Case] | None = None, *, times: float = 1.0, false_alarm: float = FALSE_ALARM, bits: Bits = SYSTEM
) -> Iterator[Audit]:
    """Audits the mechanisms one after the other, with so many times the releases of a short audit."""
    listed = mechanisms() if cases is None else tuple(cases)
    for case in listed:
        yield audit(case, times=times, false_alarm=false_alarm / max(1, len(listed)), bits=bits)


def audit(case: Case, *, times: float = 1.0, false_alarm: float = FALSE_ALARM, bits: Bits = SYSTEM) -> Audit:
    """One mechanism; half of the false alarms go to each of the two measurements."""
    trials = max(FEWEST_TRIALS, round(case.trials * times))
    fewer = max(FEWEST_TRIALS, trials // BESIDE_SHARE)
    known = one_after_the_other(case.without, case.without)
    secret = one_after_the_other(case.without, case.having)
    half = false_alarm / 2
    alone = measure(
        case.without,
        case.having,
        case.promise,
        trials=trials,
        scores=case.scores,
        paid=case.paid,
        false_alarm=half,
        bits=bits,
    )
    beside = measure(known, secret, case.promise, trials=fewer, scores=case.scores, false_alarm=half, bits=bits)
    return Audit(case, alone, beside)
