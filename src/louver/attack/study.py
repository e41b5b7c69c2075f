"""The study of Ghayyur's thesis (chapter 4): what attackers learn under several mechanisms that are equally useful.

The last day is attacked. All days before it make the prior, and teach the laws of mechanisms whose law is not known;
the last week of them, or their later half, is what parameters are tuned on. Each tick is attacked by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.attack.classes import over_runs
from louver.attack.law import Law
from louver.attack.learned_law import learn_law
from louver.attack.mechanisms import MECHANISMS, Mechanism, named
from louver.attack.open_regions import Attacker, administrator, outsider, with_role
from louver.attack.parts import PARTS, WHOLE_DAY, hours_of, ticks_of
from louver.attack.prior import prior_of
from louver.attack.scene import View, views_of
from louver.attack.study_values import LIKELIER, NOTHING, Found, Setting, Study
from louver.attack.truth import Truth
from louver.attack.tune import Trials, Tuned, search
from louver.attack.utility import Utility, task
from louver.attack.workers import on_all
from louver.errors import DataError, ParameterError

Whole = NDArray[np.int64]
Shown = Callable[[str, int, int], None]
BANDWIDTH = 0.1  # of kernels, in deviations: as in the thesis's comparison
TUNED_DAYS = 7
PAST_DAYS = 3  # at least, so that a region has colours: after one day every deviation is 0
COMPARED = ("laplace", "pegasus", "segment", "ttl", "ttl-device")
UTILITIES = (0.75, 0.9)
KNOWN = (0.0, 0.5, 0.9)
RUNS = 30
LEAST = 10  # people to guess, over the ticks of a part: shares of fewer say nothing but who they are
MOST_RUNS = 10_000
PRICES = (0.1, 1.0, 5.0)  # of Laplace noise, in Figures 4.3 to 4.6
PRICED_RUNS = 10


def attackers_of(truth: Truth) -> tuple[Attacker, ...]:
    """An outsider, and where a building says who may enter what, a student and an administrator."""
    if truth.building is None:
        return (Attacker("outsider", (False,) * len(truth.regions)),)
    roles = [role for role in truth.building.roles if role == "student"]
    inside = (with_role(truth.building, role) for role in roles)
    return (outsider(truth.building), *inside, administrator(truth.building))


def equally_useful(
    truth: Truth,
    mechanisms: Sequence[str],
    utility: str | Callable[[Whole], Utility] = "heat-steps",
    targets: Sequence[float] = UTILITIES,
    parts: Sequence[str] = PARTS,
    *,
    jobs: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> list[Tuned]:
    """The parameter of each mechanism at each target in each part of the day, tuned on days before the last one.

    `utility` is a task's name, or makes a utility function of past counts.
    """
    _check_days(truth)
    made = task(utility) if isinstance(utility, str) else utility
    chosen = [named(name) for name in mechanisms]
    work = _Tuning(replace(truth, building=None), made, tuple(targets), tuple(parts))
    return [each for found in on_all(_tune, work, chosen, jobs, progress) for each in found]


def study(
    truth: Truth,
    *,
    mechanisms: Sequence[str] = COMPARED,
    utility: str = "heat-steps",
    targets: Sequence[float] = UTILITIES,
    attackers: Sequence[Attacker] | None = None,
    known: Sequence[float] = KNOWN,
    runs: int = RUNS,
    joint: bool = False,
    jobs: int = 1,
    seed: int = 1,
    progress: Shown | None = None,
) -> Study:
    """Tunes, releases the last day in `runs` runs, and attacks each. Mechanisms that reach no target are left out, and
    so are attackers who see every region, or who have hardly anybody to guess in a part of the day.

    Noise is drawn as in real releases, so that no two studies are alike; `seed` is for who is known to whom.
    """
    _check_days(truth)
    shares = [float(parameters.probability("The share of others known", share)) for share in dict.fromkeys(known)]
    wanted = list(dict.fromkeys(targets))
    asked = attackers_of(truth) if attackers is None else attackers
    if not shares or not wanted or not asked:
        raise ParameterError("A study needs a target, an attacker, and a share of others known, at least one of each.")
    who = [each for each in asked if len(each.closed)]
    if not who:
        raise ParameterError("Every attacker sees every region, so that nobody is left to guess.")
    views = views_of(who, shares, prior_of(truth.counts[:-1].sum(axis=0)), truth.counts[-1], seed)
    every = {part: [view.at(ticks_of(part, truth.ticks)) for view in views] for part in PARTS}
    by_part = {part: [view for view in inside if view.people.sum() >= LEAST] for part, inside in every.items()}
    parts = [part for part in PARTS if by_part[part]]
    if not parts:
        raise DataError("Hardly anybody is there on the last day, which is attacked; leave it out of the events.")
    many = parameters.integer("runs", runs, 1, MOST_RUNS)
    compared = [name for name in dict.fromkeys(mechanisms) if name != NOTHING]
    if any(name.startswith("ttl") for name in compared) and not truth.has_events:
        raise DataError("Rotating pseudonyms need events; leave ttl out of the mechanisms.")
    tuned = equally_useful(truth, compared, utility, wanted, parts, jobs=jobs, progress=_named("searched", progress))
    settings = [Setting(each.mechanism, each.value, each.part, each.target) for each in tuned if each.value is not None]
    settings += [Setting(NOTHING, 1.0, part) for part in parts]
    by_part[WHOLE_DAY] = [view for view in views if view.attacker == by_part[parts[0]][0].attacker]
    alone = replace(truth, building=None)
    settings += _priced()
    different = list(dict.fromkeys((each.mechanism, each.value, each.learned) for each in settings))
    laws = on_all(_law, alone, different, jobs, _named("learned", progress))
    scene = _Scene(alone, by_part, dict(zip(different, laws, strict=True)), joint)
    tasks = [(setting, run) for setting in settings for run in range(_runs(setting, many))]
    results = on_all(_attack, scene, tasks, jobs, _named("attacked", progress))
    found = [
        each
        for setting in settings
        for each in _scored(
            setting,
            by_part[setting.part],
            [result for (of, _), result in zip(tasks, results, strict=True) if of == setting],
        )
    ]
    before = {
        (view.attacker, view.share, part): tuple(_share(view.found_before(), view).tolist())
        for part in (*parts, WHOLE_DAY)
        for view in by_part[part]
    }
    return Study(
        utility,
        tuple(wanted),
        tuple(parts),
        many,
        joint,
        truth.days,
        len(truth.regions),
        truth.ticks,
        tuple(tuned),
        tuple(each for each in found if each.setting.part in PARTS),
        tuple(each for each in found if each.setting.part == WHOLE_DAY),
        before,
        (
            *(f"{each.name}, who sees every region" for each in asked if each not in who),
            *dict.fromkeys(
                f"{view.attacker} by {part}, who has hardly anybody to guess"
                for part in PARTS
                for view in every[part]
                if view not in by_part[part]
            ),
        ),
    )


@dataclass(frozen=True, eq=False)
class _Tuning:
    truth: Truth
    task: Callable[[Whole], Utility]
    targets: tuple[float, ...]
    parts: tuple[str, ...]


def _tune(work: _Tuning, mechanism: Mechanism) -> list[Tuned]:
    truth = work.truth
    before = truth.days - 1
    start = max(PAST_DAYS, before // 2, before - TUNED_DAYS)
    past, days = truth.counts[:start], slice(start, before)
    measured = {part: (part, work.task(past[:, ticks_of(part, truth.ticks)])) for part in work.parts}
    trials = Trials(truth, mechanism, measured, days)
    return [search(trials, part, target, part=part) for target, part in product(work.targets, work.parts)]


def _priced() -> list[Setting]:
    """A whole day of Laplace noise at fixed prices, and of true counts."""
    noisy = [Setting("laplace", price, WHOLE_DAY, None, learned) for learned in (False, True) for price in PRICES]
    return [*noisy, Setting(NOTHING, 1.0, WHOLE_DAY)]


def _runs(setting: Setting, runs: int) -> int:
    if not MECHANISMS[setting.mechanism].is_random:
        return 1
    return min(runs, PRICED_RUNS) if setting.part == WHOLE_DAY else runs


def _law(truth: Truth, which: tuple[str, float, bool]) -> Law:
    """The law that the attacker uses: the known one, or what past releases teach."""
    name, value, is_learned = which
    mechanism = MECHANISMS[name]
    known = mechanism.law(value)
    if known is not None and not is_learned:
        return known
    (released,) = mechanism.releases(truth, slice(0, truth.days - 1), value)
    return learn_law(truth.counts[:-1], released, bandwidth=BANDWIDTH)


@dataclass(frozen=True, eq=False)
class _Scene:
    truth: Truth
    views: dict[str, list[View]]
    laws: dict[tuple[str, float, bool], Law]
    joint: bool


def _attack(scene: _Scene, work: tuple[Setting, int]) -> list[Whole]:
    """One release of the last day, seen by every attacker: (ticks, 6) for each."""
    setting, _ = work
    truth = scene.truth
    last = slice(truth.days - 1, truth.days)
    released = MECHANISMS[setting.mechanism].releases(truth, last, setting.value)[0, 0]
    inside = released[ticks_of(setting.part, truth.ticks)]
    law = scene.laws[setting.mechanism, setting.value, setting.learned]
    return [view.found(inside, law, joint=scene.joint) for view in scene.views[setting.part]]


def _scored(setting: Setting, views: Sequence[View], runs: Sequence[Sequence[Whole]]) -> list[Found]:
    found = []
    for view, of_view in zip(views, zip(*runs, strict=True), strict=True):
        shares = np.stack([_share(each, view) for each in of_view])
        likelier = over_runs(shares[:, LIKELIER].sum(axis=1))
        by_hour = over_runs(np.stack([_by_hour(each, view, hours_of(setting.part)) for each in of_view]))
        found.append(Found(setting, view.attacker, view.share, by_hour, over_runs(shares), likelier))
    return found


def _by_hour(found: Whole, view: View, hours: int) -> NDArray[np.float64]:
    """Of the people to guess in each hour, or at each tick where those are longer, the share in each class."""
    first = np.unique(np.arange(hours) * view.ticks // hours)
    people = np.add.reduceat(view.people, first)
    return np.asarray(np.add.reduceat(found, first) / np.maximum(people, 1)[:, np.newaxis], dtype=np.float64)


def _share(found: Whole, view: View) -> NDArray[np.float64]:
    return np.asarray(found.sum(axis=0) / max(int(view.people.sum()), 1), dtype=np.float64)


def _named(what: str, progress: Shown | None) -> Callable[[int, int], None] | None:
    return None if progress is None else lambda done, all_of: progress(what, done, all_of)


def _check_days(truth: Truth) -> None:
    if truth.days < PAST_DAYS + 2:
        raise ParameterError("A study needs five days at least: three to learn from, one to tune on, one to attack.")
