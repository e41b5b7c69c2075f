"""The study of Ghayyur's thesis (chapter 4) on the simulated building: parameters beside Table 4.2, what attackers
find, and how long it takes.

The building has 64 regions, 144 ticks a day and 89 days, of which the last is attacked: three attackers who know 0, 50
or 90% of the others, five mechanisms at two utilities, by day and by night, 30 runs. The thesis had another building,
so that its figures are beside ours and not the same. Times are seconds of one core, of all processes together.

Run: script/bench attack_study, or with fewer runs: script/bench attack_study 5
"""

from __future__ import annotations

import resource
import sys
import time

from bench.clock import seconds
from louver.attack import prior_of, single_posterior
from louver.attack.mechanisms import MECHANISMS
from louver.attack.study import PRICES, UTILITIES, attackers_of, equally_useful, study
from louver.attack.study_report import likelier_rows
from louver.attack.study_values import NOTHING, Study
from louver.attack.truth import Truth
from louver.sense.simulate import simulate

JOBS = 2
DAY_OF_POSTERIORS = 0.5  # seconds, with a known law
STUDY = 240  # seconds of one core: two minutes of two
PUBLISHED = {  # Table 4.2: by part and utility, epsilon of Laplace noise and PeGaSus, seconds of a pseudonym
    ("day", 0.75): {"laplace": 0.1, "pegasus": 0.04, "ttl": 1},
    ("day", 0.9): {"laplace": 0.66, "pegasus": 15, "ttl": 120},
    ("night", 0.75): {"laplace": 0.18, "pegasus": 0.00001, "ttl": 1},
    ("night", 0.9): {"laplace": 1.675, "pegasus": 4, "ttl": 1},
}


def parameters(truth: Truth, made: Study) -> None:
    """Table 4.2 beside both readings of heat colours."""
    same = equally_useful(truth, ["laplace", "ttl", "ttl-device"], "heat-colours", UTILITIES, jobs=JOBS)
    strict = {(each.mechanism, each.part, each.target): each.value for each in same}
    heads = f"{'parameter':34} {'Table 4.2':>10} {'heat-steps':>10} {'is between':>18}"
    print(f"{heads} {'heat-colours':>13} {'zeros reach':>12}")
    for each in made.tuned:
        published = PUBLISHED[each.part, each.target].get(each.mechanism)
        between = f"{each.low or 0:g} and {each.high:g}" if each.high is not None else "not reached"
        name = f"{each.mechanism}, {each.part}, {each.target:.0%} ({each.parameter})"
        other = strict.get((each.mechanism, each.part, each.target))
        ours = f"{name:34} {_shown(published):>10} {_shown(each.value):>10} {between:>18}"
        print(f"{ours} {_shown(other):>13} {each.zeros:12.0%}")
    print()


def found(made: Study) -> None:
    heads, rows = likelier_rows(made)
    print("Of 100 people, the right place thought likelier than not: average over runs (worst run)")
    print("".join(f"{head:<16}" for head in heads))
    for row in rows:
        print("".join(f"{cell:<16}" for cell in row))
    errors = [float(each.likelier.standard_error) for each in made.found if each.likelier.runs > 1]
    print(f"standard errors of the averages: at most {100 * max(errors, default=0.0):.2f}\n")


def prices(made: Study) -> None:
    """Figures 4.4 and 4.6: at fixed prices, and how much is lost where the law is learned."""
    print("The same in a whole day under Laplace noise, by the outsider: known law, and learned law (standard errors)")
    shares = sorted({each.known for each in made.priced})
    print(f"{'':16}" + "".join(f"{f'knows {share:.0%}':<34}" for share in shares))
    seen = {
        (each.setting.value, each.setting.learned, each.known): f"{100 * float(each.likelier.average):5.2f} "
        f"({100 * float(each.likelier.standard_error):.2f})"
        for each in made.priced
        if each.setting.mechanism != NOTHING
    }
    for price in PRICES:
        cells = [f"{seen[price, False, share]}, {seen[price, True, share]}" for share in shares]
        print(f"{f'epsilon {price:g}':16}" + "".join(f"{cell:<34}" for cell in cells))
    print()


def posterior_of_a_day(truth: Truth) -> float:
    """The last day, 64 regions and 144 ticks, where the law is known."""
    prior, day = prior_of(truth.counts[:-1].sum(axis=0)), truth.counts[-1]
    law = MECHANISMS["laplace"].law(0.66)
    assert law is not None
    released = MECHANISMS["laplace"].releases(truth, slice(truth.days - 1, truth.days), 0.66)[0, 0]
    return seconds(lambda: single_posterior(released, prior, day.sum(axis=1), law))


def main(runs: int) -> None:
    began, used = time.perf_counter(), _used()
    truth = Truth.simulated(simulate("building"))
    print(f"{truth}; attackers: {', '.join(each.name for each in attackers_of(truth))}")
    invented, began_study = _used() - used, _used()
    made = study(truth, runs=runs, jobs=JOBS)
    spent, took = _used() - began_study, time.perf_counter() - began
    parameters(truth, made)
    found(made)
    prices(made)
    print(f"{'':44} {'here':>8} {'at most':>8}")
    print(f"{'a day of posteriors, known law: seconds':44} {posterior_of_a_day(truth):8.3f} {DAY_OF_POSTERIORS:8.1f}")
    print(f"{f'the study, {runs} runs: seconds of one core':44} {spent:8.0f} {STUDY:8.0f}")
    print(f"{'to invent the building and count it':44} {invented:8.0f}")
    print(f"{f'from beginning to end in {JOBS} processes':44} {took:8.0f}")


def _used() -> float:
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in both)


def _shown(value: float | None) -> str:
    return "-" if value is None else f"{value:g}"


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 30)
