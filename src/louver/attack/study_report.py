"""A study as a report: parameters at equal utility, then what each attacker found, as Figures 4.3 to 4.9 of the thesis.

It is for the owner of the data: how many guesses were right is known from the truth only. It has shares of people by
the hour, in whole percents, and no numbers of people: from true counts these would be the counts themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from louver.attack.classes import NAMES
from louver.attack.figures import Bar, ClassAreas, ClassBars, Panel
from louver.attack.parts import WHOLE_DAY
from louver.attack.report import Cell, Evidence, Report, Table
from louver.attack.study_parameters import promise, tuning
from louver.attack.study_values import LIKELIER, NOTHING, Found, Study

TIMES = {WHOLE_DAY: ("0:00", "12:00", "24:00"), "day": ("7:00", "13:00", "19:00"), "night": ("19:00", "1:00", "7:00")}
GIVEN = (
    "the exact number of people in the regions that they do not see, the true counts of all days before, and the law "
    "of the noise, or else what each mechanism made of those days"
)
NOT_TRIED = (
    "Attackers who watch several ticks together, or average them: each was attacked by itself, so more can be learned.",
    "Attackers who know each person's own habits: one prior was used for everybody, and for every weekday.",
    "Membership, differencing, reconstruction, timing, friends who are alike, and classifiers: louver.attack has them.",
    "Whether the mechanisms keep their promises: louver audit mechanisms tries that, and this report does not.",
    "How useful releases are on the day that is attacked, and what attackers find who are given less than these.",
    "Repeated studies of other days, and other buildings.",
)
BY_HOUR, UNIT = "Found in each hour, on average over runs", "percent of the people to guess"
_SHOWN = {NOTHING: "true counts"}


def report_of(study: Study, about: str) -> Report:
    """The page of a study; `about` says what data it is of."""
    facts = (
        ("data", about),
        ("size", f"{study.days:,} days, {study.regions:,} regions, {study.ticks:,} ticks a day"),
        ("runs", f"{study.runs:,} of each mechanism that draws noise"),
        ("posterior", "of all regions together" if study.joint else "of each region by itself"),
        ("attackers are given", GIVEN),
        *((("left out", "; ".join(study.left_out)),) if study.left_out else ()),
    )
    evidence = (tuning(study), promise(study), *_attackers(study), *_knowledge(study), _prices(study))
    not_tried = NOT_TRIED if study.joint else (*NOT_TRIED, "All regions together (--joint): each one was judged alone.")
    return Report("What attackers learn from occupancy", verdict_of(study), evidence, not_tried, facts)


def verdict_of(study: Study) -> str:
    """In one sentence: how many are found at the highest target, by the attacker and in the part where it is worst."""
    most, known = max(study.targets), max(each.known for each in study.found)
    shares: dict[str, tuple[float, float, int]] = {}
    for each in study.found:
        if each.setting.target in (None, most) and each.known == known:
            name = each.setting.mechanism
            average, worst, _ = shares.get(name, (0.0, 0.0, 1))
            now = max(average, each.likelier_than_not), max(worst, float(each.likelier.worst))
            shares[name] = *now, each.likelier.runs
    under = [f"{_share(*found)} under {name}" for name, found in shares.items() if name != NOTHING]
    zeros = {each.part: f"{100 * each.zeros:.0f}% by {each.part}" for each in study.tuned}
    reached = f" (all zeros reach {' and '.join(zeros.values())})" if zeros else ""
    missed = [f"{each.mechanism} by {each.part}" for each in study.tuned if each.value is None and each.target == most]
    return (
        f"At {100 * most:g}% of {study.task}{reached}, and where {known:.0%} of the others are known, the attacker who "
        f"learns most, by {' or by '.join(study.parts)}, rightly comes to think a place likelier than not for "
        f"so many of the people to guess: {_listed([*under, f'{_share(*shares[NOTHING])} from true counts'])}"
        f"{f'; not reached by {_listed(missed)}' if missed else ''}."
    )


def _share(average: float, worst: float, runs: int) -> str:
    return f"{100 * average:.1f}%" + (f" on average ({100 * worst:.1f}% in the worst run)" if runs > 1 else "")


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)


def found_rows(study: Study, attacker: str, part: str) -> tuple[tuple[Cell, ...], ...]:
    """Mechanism, utility, then the share of people found in each class, on average, and the worst run above half."""
    return tuple(
        (
            _SHOWN.get(each.setting.mechanism, each.setting.mechanism),
            None if each.setting.target is None else f"{100 * each.setting.target:g}%",
            *_percents(each.of_all.average.tolist()),
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
    rows: dict[tuple[str, str, str], dict[str, str]] = {}
    for each in study.found:
        if each.known == most:
            target = "" if each.setting.target is None else f"{100 * each.setting.target:g}%"
            name = _SHOWN.get(each.setting.mechanism, each.setting.mechanism)
            said = f"{100 * each.likelier_than_not:.2f} ({100 * float(each.likelier.worst):.2f})"
            rows.setdefault((each.setting.part, target, name), {})[each.attacker] = said
    heads = ("part", "utility", "mechanism", *everybody)
    return heads, [(*head, *(cells.get(who, "-") for who in everybody)) for head, cells in rows.items()]


def _of(study: Study, attacker: str, part: str) -> list[Found]:
    least = min(each.known for each in study.found)
    return [
        each for each in study.found if each.attacker == attacker and each.setting.part == part and each.known == least
    ]


def _attackers(study: Study) -> Iterator[Evidence]:
    for attacker in dict.fromkeys(each.attacker for each in study.found):
        for part in study.parts:
            inside = _of(study, attacker, part)
            if not inside:
                continue
            noisy = [each for each in inside if each.setting.mechanism != NOTHING]
            true = next(each for each in inside if each.setting.mechanism == NOTHING)
            sentence = (
                f"In percent of the people whom the {attacker} has to guess, found rightly and above the prior's "
                f"class. Likelier than not: {100 * true.likelier_than_not:.1f}% from true counts"
            )
            if noisy:
                worst = max(noisy, key=lambda each: each.likelier_than_not)
                said = _share(worst.likelier_than_not, float(worst.likelier.worst), worst.likelier.runs)
                sentence += f", and {said} under {_label(worst)}, the most of all mechanisms"
            figure = ClassAreas(BY_HOUR, NAMES, tuple(_panel(_label(each), each) for each in inside), TIMES[part], UNIT)
            table = Table(FOUND_HEADS, found_rows(study, attacker, part))
            yield Evidence(f"{attacker.capitalize()}, {part}", f"{sentence}.", table, figure)


def _knowledge(study: Study) -> Iterator[Evidence]:
    """How much more is found by whoever knows where others are: the outsider at the highest utility, by day."""
    shares = sorted({each.known for each in study.found})
    if len(shares) < 2:
        return
    part = study.parts[0]
    first = next(each.attacker for each in study.found if each.setting.part == part)
    inside = [
        each
        for each in study.found
        if each.attacker == first and each.setting.part == part and each.setting.target in (None, max(study.targets))
    ]
    bars = tuple(
        Bar(
            f"knows {each.known:.0%} of the others",
            tuple((100 * each.of_all.average).round(1).tolist()),
            _SHOWN.get(each.setting.mechanism, each.setting.mechanism),
        )
        for each in inside
    )
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            _SHOWN.get(each.setting.mechanism, each.setting.mechanism),
            f"{each.known:.0%}",
            *_percents(each.of_all.average.tolist()),
            round(100 * sum(study.before[first, each.known, part][LIKELIER]), 2),
        )
        for each in inside
    )
    heads = ("mechanism", "others known", *_SURE, "above 50% by the prior")
    sentence = (
        f"The {first} by {part}, at {100 * max(study.targets):g}% of {study.task}, who knows where some of the others "
        "are."
    )
    figure = ClassBars("Found rightly, by how sure", NAMES, bars, "of 100 people")
    yield Evidence("Knowing others", sentence, Table(heads, rows), figure)


def _prices(study: Study) -> Evidence:
    """Figures 4.3 to 4.6 of the thesis: by the prior alone, at fixed prices, and with a law that is learned."""
    first = study.priced[0].attacker
    before = [(share, found) for (who, share, part), found in study.before.items() if (who, part) == (first, WHOLE_DAY)]
    rows: list[tuple[Cell, ...]] = [
        ("the prior alone", None, f"{share:.0%}", *_percents(found), round(100 * sum(found[LIKELIER]), 2))
        for share, found in before
    ]
    for each in study.priced:
        law = "learned" if each.setting.learned else "known"
        worst = round(100 * float(each.likelier.worst), 2)
        rows.append((_priced(each), law, f"{each.known:.0%}", *_percents(each.of_all.average.tolist()), worst))
    ends = {min(each.known for each in study.priced), max(each.known for each in study.priced)}
    panels = tuple(
        _panel(f"{_priced(each)}, knows {each.known:.0%}", each)
        for each in study.priced
        if each.known in ends and not each.setting.learned
    )
    sentence = (
        f"In percent of the people whom the {first} has to guess in the whole day, by what each of them knows of the "
        "others; the prior's own guesses are all that are right, and the others only those above its class."
    )
    figure = ClassAreas(BY_HOUR, NAMES, panels, TIMES[WHOLE_DAY], UNIT)
    heads = ("noise", "law", "others known", *_SURE, "above 50%, worst run")
    return Evidence("Laplace noise at fixed prices", sentence, Table(heads, tuple(rows)), figure)


def _panel(label: str, each: Found) -> Panel:
    """In whole percents of an hour: at a tick, digits of a share could be turned into counts."""
    return Panel(label, tuple(tuple(row) for row in (100 * each.by_hour.average).round().tolist()))


def _priced(each: Found) -> str:
    return "true counts" if each.setting.mechanism == NOTHING else f"epsilon {each.setting.value:g}"


def _percents(shares: Sequence[float]) -> list[float]:
    """Without the lowest class, which is no better than a guess."""
    return [round(100 * share, 2) for share in shares[1:]]


def _label(each: Found) -> str:
    name = _SHOWN.get(each.setting.mechanism, each.setting.mechanism)
    return name if each.setting.target is None else f"{name}, {100 * each.setting.target:g}%"
