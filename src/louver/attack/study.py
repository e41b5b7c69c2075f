"""The study of Ghayyur's thesis (chapter 4): what attackers learn under several mechanisms that are equally useful.

The last day is attacked. All days before it make the prior, and teach the laws of mechanisms whose law is not known;
the last week of them is what parameters are tuned on. Each tick is attacked by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from louver import parameters
from louver.attack.classes import Over, over_runs
from louver.attack.law import Law
from louver.attack.learned_law import learn_law
from louver.attack.mechanisms import MECHANISMS, Mechanism, named
from louver.attack.open_regions import Attacker, administrator, outsider, with_role
from louver.attack.parts import PARTS, ticks_of
from louver.attack.prior import prior_of
from louver.attack.scene import View, views_of
from louver.attack.truth import Truth
from louver.attack.tune import Trials, Tuned, search
from louver.attack.utility import Utility, task
from louver.attack.workers import on_all
from louver.errors import DataError, ParameterError

Whole = NDArray[np.int64]
Shown = Callable[[str, int, int], None]
BANDWIDTH = 0.1  # of kernels, in deviations: as in the thesis's comparison
TUNED_DAYS = 7
COMPARED = ("laplace", "pegasus", "segment", "ttl", "ttl-device")
UTILITIES = (0.75, 0.9)
KNOWN = (0.0, 0.5, 0.9)
RUNS = 30
NOTHING = "none"
MOST_RUNS = 10_000
LIKELIER = slice(3, None)  # the classes above one half


@dataclass(frozen=True, slots=True)
class Setting:
    """A mechanism at one value, in one part of the day; true counts have no target."""

    mechanism: str
    value: float
    part: str
    target: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """What one attacker finds in one setting: people in each class at each tick of the part, (ticks, 6), over runs.

    `of_all` is the share of people to guess, over all ticks, who are found in each class: (6,). `likelier` is the share
    of those whose place is rightly thought likelier than not, in a class above the prior's.
    """

    setting: Setting
    attacker: str
    known: float
    by_tick: Over
    of_all: Over
    likelier: Over

    @property
    def likelier_than_not(self) -> float:
        return float(self.likelier.average)


@dataclass(frozen=True, slots=True, eq=False)
class Study:
    """`tuned` are the parameters, `found` what each attacker found in each setting.

    `before` is what the prior alone finds, by attacker, share known and part, as shares of the people in each class.
    """

    task: str
    targets: tuple[float, ...]
    runs: int
    joint: bool
    days: int
    regions: int
    ticks: int
    tuned: tuple[Tuned, ...]
    found: tuple[Found, ...]
    before: dict[tuple[str, float, str], tuple[float, ...]]


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
    """The parameter of each mechanism at each target in each part of the day, tuned on the week before the last day.

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
    """Tunes, releases the last day in `runs` runs, and attacks each. Mechanisms that reach no target are left out.

    Noise is drawn as in real releases, so that no two studies are alike; `seed` is for who is known to whom.
    """
    _check_days(truth)
    for share in known:
        parameters.probability("The share of others known", share)
    many = parameters.integer("runs", runs, 1, MOST_RUNS)
    compared = [name for name in dict.fromkeys(mechanisms) if name != NOTHING]
    if any(name.startswith("ttl") for name in compared) and not truth.has_events:
        raise DataError("Rotating pseudonyms need events; leave ttl out of the mechanisms.")
    tuned = equally_useful(truth, compared, utility, targets, jobs=jobs, progress=_named("searched", progress))
    settings = [Setting(each.mechanism, each.value, each.part, each.target) for each in tuned if each.value is not None]
    settings += [Setting(NOTHING, 1.0, part) for part in PARTS]
    past, day = truth.counts[:-1], truth.counts[-1]
    prior = prior_of(past.sum(axis=0))
    views = views_of(attackers_of(truth) if attackers is None else attackers, known, prior, day, seed)
    by_part = {part: [view.at(ticks_of(part, truth.ticks)) for view in views] for part in PARTS}
    alone = replace(truth, building=None)
    different = list(dict.fromkeys((each.mechanism, each.value) for each in settings))
    laws = on_all(_law, alone, different, jobs, _named("learned", progress))
    scene = _Scene(alone, by_part, dict(zip(different, laws, strict=True)), joint)
    tasks = [
        (setting, run) for setting in settings for run in range(many if MECHANISMS[setting.mechanism].is_random else 1)
    ]
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
        for part, inside in by_part.items()
        for view in inside
    }
    return Study(
        utility,
        tuple(targets),
        many,
        joint,
        truth.days,
        len(truth.regions),
        truth.ticks,
        tuple(tuned),
        tuple(found),
        before,
    )


@dataclass(frozen=True, eq=False)
class _Tuning:
    truth: Truth
    task: Callable[[Whole], Utility]
    targets: tuple[float, ...]
    parts: tuple[str, ...]


def _tune(work: _Tuning, mechanism: Mechanism) -> list[Tuned]:
    truth = work.truth
    start = max(1, truth.days - 1 - TUNED_DAYS)
    past, days = truth.counts[:start], slice(start, truth.days - 1)
    measured = {part: (part, work.task(past[:, ticks_of(part, truth.ticks)])) for part in work.parts}
    trials = Trials(truth, mechanism, measured, days)
    return [search(trials, part, target, part=part) for target, part in product(work.targets, work.parts)]


def _law(truth: Truth, which: tuple[str, float]) -> Law:
    """The law that the attacker uses: the known one, or what past releases teach."""
    name, value = which
    mechanism = MECHANISMS[name]
    known = mechanism.law(value)
    if known is not None:
        return known
    (released,) = mechanism.releases(truth, slice(0, truth.days - 1), value)
    return learn_law(truth.counts[:-1], released, bandwidth=BANDWIDTH)


@dataclass(frozen=True, eq=False)
class _Scene:
    truth: Truth
    views: dict[str, list[View]]
    laws: dict[tuple[str, float], Law]
    joint: bool


def _attack(scene: _Scene, work: tuple[Setting, int]) -> list[Whole]:
    """One release of the last day, seen by every attacker: (ticks, 6) for each."""
    setting, _ = work
    truth = scene.truth
    last = slice(truth.days - 1, truth.days)
    released = MECHANISMS[setting.mechanism].releases(truth, last, setting.value)[0, 0]
    inside = released[ticks_of(setting.part, truth.ticks)]
    law = scene.laws[setting.mechanism, setting.value]
    return [view.found(inside, law, joint=scene.joint) for view in scene.views[setting.part]]


def _scored(setting: Setting, views: Sequence[View], runs: Sequence[Sequence[Whole]]) -> list[Found]:
    found = []
    for view, of_view in zip(views, zip(*runs, strict=True), strict=True):
        shares = np.stack([_share(each, view) for each in of_view])
        likelier = over_runs(shares[:, LIKELIER].sum(axis=1))
        by_tick = over_runs(np.stack(of_view))
        found.append(Found(setting, view.attacker, view.share, by_tick, over_runs(shares), likelier))
    return found


def _share(found: Whole, view: View) -> NDArray[np.float64]:
    return np.asarray(found.sum(axis=0) / max(int(view.people.sum()), 1), dtype=np.float64)


def _named(what: str, progress: Shown | None) -> Callable[[int, int], None] | None:
    return None if progress is None else lambda done, all_of: progress(what, done, all_of)


def _check_days(truth: Truth) -> None:
    if truth.days < 3:
        raise ParameterError("A study needs three days at least: to learn from, to tune on, and to attack.")
