"""The project's own alarm: every mechanism, audited at a pair of neighbours that is as bad as it gets.

Each one is measured twice. *Alone*: a release with the unit against one without it. *Beside* a release of the data
without the unit, which the attacker knows: noise or seeds that come again cancel out there, and the promise is the
same, because the first release has nothing of the unit. The alarm sounds where either lost more than is promised; over
all mechanisms together it is false with probability `false_alarm` at most. It also sounds where numbers between whole
ones come out of whole-number noise.

An alarm that cannot sound says nothing by its silence. So a promise is *kept* only by an audit that would have heard
half of the noise; otherwise it *could not tell*, and says why.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from louver.attack.case import Case
from louver.attack.cases_decide import decide_cases
from louver.attack.cases_other import local_cases, noise_cases, table_cases
from louver.attack.cases_space import space_cases
from louver.attack.cases_stream import stream_cases
from louver.attack.events import excess
from louver.attack.floats import all_whole
from louver.attack.membership import FALSE_ALARM, FEWEST_TRIALS, Draw, Measured, drawn, measure, one_after_the_other
from louver.noise.bits import SYSTEM, Bits

BESIDE_SHARE = 4  # noise that cancels out shows at once: fewer releases do
BROKEN, KEPT, COULD_NOT_TELL = "BROKEN", "kept", "could not tell"
ALONE, BESIDE = "alone", "beside a known release"


@dataclass(frozen=True, slots=True)
class Audit:
    """What was found out about one mechanism; `floats` says whether there were numbers that whole noise cannot make."""

    case: Case
    alone: Measured
    beside: Measured
    floats: bool = False

    @property
    def is_broken(self) -> bool:
        return self.floats or self.alone.is_broken or self.beside.is_broken

    @property
    def deaf(self) -> str:
        """Why half of the noise would have gone unheard; empty where it would not."""
        if self.case.deaf:
            return self.case.deaf
        enough = self.case.hears or self.alone.trials
        if self.alone.trials < enough:
            return f"half of the noise is heard from {enough:,} releases on, and there were {self.alone.trials:,}"
        if min(excess(each.most, each.promised) for each in (self.alone, self.beside)) <= 1:
            return f"{self.beside.trials:,} releases beside a known one cannot show a loss as large as is promised"
        return ""

    @property
    def verdict(self) -> str:
        return BROKEN if self.is_broken else COULD_NOT_TELL if self.deaf else KEPT

    @property
    def how(self) -> str:
        """Which of the two measurements lost more of its promise."""
        return max((ALONE, BESIDE), key=lambda name: self._excess[name])

    @property
    def worst(self) -> Measured:
        return self.alone if self.how == ALONE else self.beside

    @property
    def share(self) -> float:
        """How much of what is promised was found to be lost: near 1, an audit sees all there is to see."""
        return self._excess[ALONE]

    @property
    def _excess(self) -> dict[str, float]:
        return {name: excess(each.lost, each.promised) for name, each in ((ALONE, self.alone), (BESIDE, self.beside))}

    def __str__(self) -> str:
        floats = " There were numbers that whole-number noise cannot make." if self.floats else ""
        return f"{self.case.name}, {self.how}: {self.worst}{floats}"


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
    half = false_alarm / 2
    looked_at = _Looked(case)
    alone = measure(
        looked_at(case.without),
        looked_at(case.having),
        case.promise,
        trials=trials,
        scores=case.scores,
        paid=case.paid,
        false_alarm=half,
        bits=bits,
    )
    return Audit(case, alone, _beside(case, trials, half, bits), looked_at.floats)


def _beside(case: Case, trials: int, false_alarm: float, bits: Bits) -> Measured:
    known = one_after_the_other(case.without, case.without)
    secret = one_after_the_other(case.without, case.having)
    fewer = max(FEWEST_TRIALS, trials // BESIDE_SHARE)
    return measure(known, secret, case.promise, trials=fewer, scores=case.scores, false_alarm=false_alarm, bits=bits)


class _Looked:
    """Notices, of all releases that pass, numbers that whole noise cannot make."""

    def __init__(self, case: Case) -> None:
        self._whole, self.floats = case.whole, False

    def __call__(self, draw: Draw) -> Draw:
        def noticed(count: int, bits: Bits) -> object:
            rows = drawn(draw, count, bits)
            self.floats |= self._whole is not None and not all_whole(self._whole(rows))
            return rows

        return noticed  # type: ignore[return-value]
