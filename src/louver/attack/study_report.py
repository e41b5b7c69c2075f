"""A study as a report: parameters at equal utility, then what each attacker found, as Figures 4.7 to 4.9 of the thesis.

It is for the owner of the data: how many guesses were right is known from the truth only.
"""

from __future__ import annotations

from collections.abc import Iterator

from louver.attack.classes import NAMES
from louver.attack.figures import Bar, ClassAreas, ClassBars, Panel
from louver.attack.parts import PARTS
from louver.attack.report import Cell, Evidence, Report, Table
from louver.attack.study import LIKELIER, NOTHING, Found, Study
from louver.attack.tune import Tuned
from louver.attack.worst_case import worst_posterior

TIMES = {"day": ("7:00", "13:00", "19:00"), "night": ("19:00", "1:00", "7:00")}
NOT_TRIED = (
    "Attackers who watch several ticks together: each was attacked by itself, so that more could be learned than this.",
    "Attackers who know each person's own habits: one prior was used for everybody.",
    "Repeated studies of other days, and other buildings.",
)
BEFORE = (0.02, 0.1, 0.5)  # how sure of the place before the release
_SHOWN = {NOTHING: "true counts"}


def report_of(study: Study, about: str) -> Report:
    """The page of a study; `about` says what data it is of."""
    facts = (
        ("data", about),
        ("size", f"{study.days:,} days, {study.regions:,} regions, {study.ticks:,} ticks a day"),
        ("runs", f"{study.runs:,} of each mechanism that draws noise"),
        ("posterior", "of all regions together" if study.joint else "of each region by itself"),
    )
    evidence = (_tuning(study), _promise(study), *_attackers(study), *_knowledge(study))
    not_tried = NOT_TRIED if study.joint else (*NOT_TRIED, "All regions together (--joint): each one was judged alone.")
    return Report("What attackers learn from occupancy", verdict_of(study), evidence, not_tried, facts)


def verdict_of(study: Study) -> str:
    """In one sentence: how many are found at the highest utility, by the attacker and in the part where it is worst."""
    most, known = max(study.targets), max(each.known for each in study.found)
    shares: dict[str, float] = {}
    for each in study.found:
        if each.setting.target in (None, most) and each.known == known:
            name = each.setting.mechanism
            shares[name] = max(shares.get(name, 0.0), each.likelier_than_not)
    listed = [f"{100 * share:.1f}% under {name}" for name, share in shares.items() if name != NOTHING]
    under = f"{', '.join(listed[:-1])} and {listed[-1]}" if len(listed) > 1 else "".join(listed) or "nobody"
    return (
        f"Where {100 * most:g}% of the use is kept, an attacker who knows where {known:.0%} of the others are comes to "
        f"think the right place likelier than not for at most {under}, and for "
        f"{100 * shares[NOTHING]:.1f}% of the people from true counts."
    )


def tuned_rows(study_tuned: tuple[Tuned, ...] | list[Tuned]) -> tuple[tuple[Cell, ...], ...]:
    """Utility, part, mechanism, parameter, its interval, and the utility that was measured there."""
    return tuple(
        (
            f"{100 * each.target:g}%",
            each.part,
            each.mechanism,
            _parameter(each),
            _between(each),
            f"{100 * each.utility.mean:.1f}%",
            f"{100 * each.utility.low:.1f}% to {100 * each.utility.high:.1f}%",
        )
        for each in study_tuned
    )


TUNED_HEADS = ("target", "part", "mechanism", "parameter", "is between", "measured", "with 95% confidence")


def _parameter(each: Tuned) -> str:
    if each.value is None:
        return "not reached"
    return f"{each.value:g} s" if each.parameter == "seconds" else f"{each.parameter} {each.value:g}".strip()


def _between(each: Tuned) -> str:
    if each.value is None:
        return f"above {each.low:g}"
    return f"at most {each.high:g}" if each.low is None else f"{each.low:g} and {each.high:g}"


def _tuning(study: Study) -> Evidence:
    missing = sorted({each.mechanism for each in study.tuned if each.value is None})
    said = (
        f"Each mechanism was tuned until its release keeps the same share of the use ({study.task}), on the week "
        "before the day that is attacked."
    )
    if missing:
        said += f" Not reached, and left out there: {', '.join(missing)}."
    return Evidence("Parameters at equal utility", said, Table(TUNED_HEADS, tuned_rows(study.tuned)))


def _promise(study: Study) -> Evidence:
    """The worst case, as Figure 4.5 of the thesis, but with the two counts that change when somebody moves."""
    rows = tuple(
        (
            f"{100 * each.target:g}%",
            each.part,
            each.mechanism,
            *(_percent(float(worst_posterior(before, each.value))) for before in BEFORE),
        )
        if each.parameter == "epsilon" and each.value is not None
        else (f"{100 * each.target:g}%", each.part, each.mechanism, *("no bound" for _ in BEFORE))
        for each in study.tuned
    )
    sentence = (
        "However much somebody knows besides, and however it is used, at one tick nobody becomes surer than this of "
        "where a person is; a person who stays for several ticks is held to it at each of them, and all together can "
        "tell more. Without noise there is no bound."
    )
    heads = ("target", "part", "mechanism", *(f"from {before:.0%}" for before in BEFORE))
    return Evidence("What the price itself allows", sentence, Table(heads, rows))


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%" if share < 0.9995 else "100%"


def found_rows(study: Study, attacker: str, part: str) -> tuple[tuple[Cell, ...], ...]:
    """Mechanism, utility, then the share of people found in each class, on average, and the worst run above half."""
    return tuple(
        (
            _SHOWN.get(each.setting.mechanism, each.setting.mechanism),
            None if each.setting.target is None else f"{100 * each.setting.target:g}%",
            *(round(100 * float(share), 2) for share in each.of_all.average[1:]),
            round(100 * float(each.likelier.worst), 2),
        )
        for each in _of(study, attacker, part)
    )


_SURE = tuple(name.replace(" to ", "\N{EN DASH}") for name in NAMES[1:])  # short, so that tables fit
FOUND_HEADS = ("mechanism", "utility", *_SURE, "above 50%, worst run")


def likelier_rows(study: Study) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Heads and rows: what each attacker, of those who know most of the others, thinks rightly likelier than not."""
    everybody = list(dict.fromkeys(each.attacker for each in study.found))
    most = max(each.known for each in study.found)
    rows: dict[tuple[str, str, str], list[str]] = {}
    for each in study.found:
        if each.known == most:
            target = "" if each.setting.target is None else f"{100 * each.setting.target:g}%"
            name = _SHOWN.get(each.setting.mechanism, each.setting.mechanism)
            said = f"{100 * each.likelier_than_not:.2f} ({100 * float(each.likelier.worst):.2f})"
            rows.setdefault((each.setting.part, target, name), []).append(said)
    return ("part", "utility", "mechanism", *everybody), [(*head, *cells) for head, cells in rows.items()]


def _of(study: Study, attacker: str, part: str) -> list[Found]:
    least = min(each.known for each in study.found)
    return [
        each for each in study.found if each.attacker == attacker and each.setting.part == part and each.known == least
    ]


def _attackers(study: Study) -> Iterator[Evidence]:
    for attacker in dict.fromkeys(each.attacker for each in study.found):
        for part in PARTS:
            inside = _of(study, attacker, part)
            worst = max(inside, key=lambda each: each.likelier_than_not * (each.setting.mechanism != NOTHING))
            true = next(each for each in inside if each.setting.mechanism == NOTHING)
            sentence = (
                f"In percent of the people whom the {attacker} has to guess, found rightly and above the prior's "
                f"class. Likelier than not: {100 * true.likelier_than_not:.1f}% from true counts, and at most "
                f"{100 * worst.likelier_than_not if worst is not true else 0:.1f}% under a mechanism."
            )
            panels = tuple(
                Panel(_label(each), tuple(tuple(row) for row in each.by_tick.average.tolist())) for each in inside
            )
            figure = ClassAreas("People found at each tick, on average over runs", NAMES, panels, TIMES[part])
            table = Table(FOUND_HEADS, found_rows(study, attacker, part))
            yield Evidence(f"{attacker.capitalize()}, {part}", sentence, table, figure)


def _knowledge(study: Study) -> Iterator[Evidence]:
    """How much more is found by whoever knows where others are: the outsider at the highest utility, by day."""
    shares = sorted({each.known for each in study.found})
    if len(shares) < 2:
        return
    first = study.found[0].attacker
    inside = [
        each
        for each in study.found
        if each.attacker == first
        and each.setting.part == PARTS[0]
        and each.setting.target in (None, max(study.targets))
    ]
    bars = tuple(
        Bar(
            f"knows {each.known:.0%} of the others",
            tuple((100 * each.of_all.average).tolist()),
            _SHOWN.get(each.setting.mechanism, each.setting.mechanism),
        )
        for each in inside
    )
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            _SHOWN.get(each.setting.mechanism, each.setting.mechanism),
            f"{each.known:.0%}",
            *(round(100 * float(share), 2) for share in each.of_all.average[1:]),
            round(100 * sum(study.before[first, each.known, PARTS[0]][LIKELIER]), 2),
        )
        for each in inside
    )
    heads = ("mechanism", "others known", *_SURE, "above 50% by the prior")
    sentence = (
        f"The {first} by {PARTS[0]}, where {100 * max(study.targets):g}% of the use is kept, and who knows where some "
        "of the others are."
    )
    figure = ClassBars("Found rightly, by how sure", NAMES, bars, "of 100 people")
    yield Evidence("Knowing others", sentence, Table(heads, rows), figure)


def _label(each: Found) -> str:
    name = _SHOWN.get(each.setting.mechanism, each.setting.mechanism)
    return name if each.setting.target is None else f"{name}, {100 * each.setting.target:g}%"
