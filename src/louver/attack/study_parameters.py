"""The first tables of a study's report: what each mechanism needs for a target, and what its price allows by itself."""

from __future__ import annotations

from collections.abc import Sequence

from louver.attack.parts import HOURS
from louver.attack.report import Cell, Evidence, Table
from louver.attack.study_values import Study
from louver.attack.tune import Tuned
from louver.attack.worst_case import worst_posterior

BEFORE = (0.02, 0.1, 0.5)  # how sure of the place before the release
TUNED_HEADS = (
    "target",
    "part",
    "all zeros",
    "pure noise",
    "mechanism",
    "parameter",
    "is between",
    "measured",
    "with 95% confidence",
)


def tuned_rows(tuned: Sequence[Tuned]) -> tuple[tuple[Cell, ...], ...]:
    """Target, part, what zeros and noise reach, mechanism, parameter, its interval, and the utility measured there."""
    return tuple(
        (
            f"{100 * each.target:g}%",
            each.part,
            _percent(each.zeros),
            _percent(each.noise),
            each.mechanism,
            _parameter(each),
            _between(each),
            _percent(each.utility.mean),
            f"{_percent(each.utility.low)} to {_percent(each.utility.high)}"
            if each.utility.samples > 1
            else "not drawn",
        )
        for each in tuned
    )


def reached_by_nothing(tuned: Sequence[Tuned]) -> str:
    """A sentence on targets that are no higher than what a release without any data reaches; empty where none are."""
    low = list(
        dict.fromkeys(
            f"{100 * each.target:g}% by {each.part}" for each in tuned if each.target <= max(each.zeros, each.noise)
        )
    )
    return f"Nothing but zeros, or pure noise, reaches {', '.join(low)} too: such a target says nothing." if low else ""


def tuning(study: Study) -> Evidence:
    missing = sorted({f"{each.mechanism} by {each.part}" for each in study.tuned if each.value is None})
    said = (
        f"Each mechanism was tuned to the target ({study.task}) on days before the one that is attacked; how useful it "
        "is on that day was not measured. Intervals are of the noise: other days may need other parameters. All zeros "
        "and pure noise say how much of a target needs no data at all."
    )
    if nothing := reached_by_nothing(study.tuned):
        said += f" {nothing}"
    if missing:
        said += f" Not reached, and left out there: {', '.join(missing)}."
    return Evidence("Parameters at equal utility", said, Table(TUNED_HEADS, tuned_rows(study.tuned)))


def promise(study: Study) -> Evidence:
    """The worst case, as Figure 4.5 of the thesis, but with the two counts that change when somebody moves.

    A price is for one person at one tick, in all that is released. Smoothed streams use a count at many ticks, so that
    one release of theirs says something of all of them.
    """
    ticks = max(2, round(study.ticks / HOURS))  # an hour, where ticks are shorter
    long = f"{ticks} ticks"
    rows = tuple(
        (
            f"{100 * each.target:g}%",
            each.part,
            each.mechanism,
            *(
                _percent(float(worst_posterior(before, each.value, changed=2 * many)))
                for many in (1, ticks)
                for before in BEFORE
            ),
        )
        if each.parameter == "epsilon" and each.value is not None
        else (f"{100 * each.target:g}%", each.part, each.mechanism, *("no bound" for _ in (*BEFORE, *BEFORE)))
        for each in study.tuned
    )
    sentence = (
        "Whoever knows where everybody else is, and where a person is at all other ticks, becomes no surer than this "
        f"of where the person is at one tick, from all that is released; or at {long}, where the person stays in one "
        "place for these. Somebody who stays longer may be told more surely. Under Laplace noise one release tells of "
        "its own tick alone. A smoothed stream (pegasus, segment) uses a count at many ticks: there even one release "
        "may tell of all of them together, and the bound of one tick is only for whoever knows the others. Without "
        "noise there is no bound."
    )
    heads = tuple(f"{many}, from {before:.0%}" for many in ("1 tick", long) for before in BEFORE)
    return Evidence("What the price itself allows", sentence, Table(("target", "part", "mechanism", *heads), rows))


def _parameter(each: Tuned) -> str:
    if each.value is None:
        return "not reached"
    return f"{each.value:g} s" if each.parameter == "seconds" else f"{each.parameter} {each.value:g}".strip()


def _between(each: Tuned) -> str:
    if each.value is None:
        return f"above {each.low:g}"
    return f"at most {each.high:g}" if each.low is None else f"{each.low:g} and {each.high:g}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%" if share < 0.9995 else "100%"
