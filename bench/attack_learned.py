"""What a classifier learns: whose trail it is under pseudonyms, and who is there from released counts.

`python -m bench.attack_learned [FILE]`: an invented building; FILE, ending in .html, gets the report as a page.
"""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np

from louver.attack.learned_identity import HOURS, Trails, identified
from louver.attack.learned_presence import Lived, told
from louver.attack.learned_score import Score
from louver.attack.report import Report, save
from louver.attack.report_evidence import of_scores
from louver.sense.simulate import simulate
from louver.sense.simulate.simulated import Coded, Simulated
from louver.stream.laplace import Laplace

DAYS, PEOPLE, TRAIL_DAYS, KNOWN_DAYS = 112, 400, 40, 28
RELEASES = 10  # of each price; their scores are averaged


def main() -> None:
    made = simulate("demo", days=DAYS, people=PEOPLE, seed=7)
    trails, presence = identities(made), presences(made)
    print(f"{'attack':52} {'score':>6} {'95% interval':>15} {'chance':>7} {'control':>8} {'cases':>6} {'days':>5}")
    for each in (*trails, *presence):
        span = f"{each.low:.3f} to {each.high:.3f}"
        against = f"{each.chance:7.3f} {each.control:8.3f} {each.cases:6} {each.days:5}"
        print(f"{each.what:52} {each.value:6.3f} {span:>15} {against}")
    if len(sys.argv) > 1:
        save(sys.argv[1], _report(trails, presence).html())


def identities(made: Simulated) -> list[Score]:
    """Who, and in which role, from trails of sightings under pseudonyms that are renewed."""
    device, place = made.tables["events"]["device"], made.tables["events"]["place"]
    assert isinstance(device, Coded)
    assert isinstance(place, Coded)
    time = made.column("events", "time")
    hour = ((time - time.min().astype("datetime64[D]")) // np.timedelta64(1, "h")).astype(np.int64)
    kept = hour < TRAIL_DAYS * HOURS
    owner, role = made.column("truth/devices", "person"), made.column("truth/people", "role").astype(str)
    roles = role[owner]
    scores = []
    for renewed in (24, 6, 1):
        trails = Trails.of(
            device.codes[kept].astype(np.int64), place.codes[kept].astype(np.int64), hour[kept], renewed=renewed
        )
        every = "day" if renewed == 24 else "hour" if renewed == 1 else f"{renewed} hours"
        staff = trails.where(roles[trails.who] == "staff")
        scores.append(identified(staff, KNOWN_DAYS, what=f"which of staff, new pseudonym each {every}"))
        if renewed == 24:
            scores.append(identified(trails, KNOWN_DAYS, least=12, what="which of all who come often, each day"))
            scores.append(identified(trails, KNOWN_DAYS, least=1, labels=roles, what="which role, each day"))
    return scores


def presences(made: Simulated) -> list[Score]:
    """Whether a member of staff is there on a day, from counts of each half hour, with and without own rows."""
    lived = Lived.of(made)
    counts = lived.counts()
    _, days, ticks, regions = lived.shape
    start = made.column("truth/stays", "start").min().astype("datetime64[D]")
    weekday = (start + np.arange(days)).astype("datetime64[D]").view("int64") % 7  # 1970-01-01 was a Thursday
    open_days = np.flatnonzero((weekday != 2) & (weekday != 3) & (counts.sum(axis=(1, 2)) > 0))
    staff = np.flatnonzero(made.column("truth/people", "role").astype(str) == "staff")
    prices = {"epsilon 1 each half hour": 1, "epsilon 0.1 each half hour": 0.1, "epsilon 1 each day": 1 / ticks}
    flat, scores = counts.reshape(-1, regions), []
    for name, epsilon in {"true counts": None, **prices}.items():
        releases = [flat] if epsilon is None else [Laplace(epsilon, regions).run(flat) for _ in range(RELEASES)]
        for left_out in (False, True):
            runs = [told(lived, each.reshape(counts.shape), staff, open_days, left_out=left_out) for each in releases]
            scores.append(_mean(runs, f"{name}{', own rows left out' if left_out else ''}"))
    return scores


def _mean(runs: list[Score], what: str) -> Score:
    """One score for several releases: each of its numbers in the mean."""
    value, low, high, control = np.mean([(run.value, run.low, run.high, run.control) for run in runs], axis=0).tolist()
    return replace(runs[0], what=what, value=value, low=low, high=high, control=control)


def _report(trails: list[Score], presence: list[Score]) -> Report:
    return Report(
        "What a classifier learns in an invented building",
        "Pseudonyms do not hide habits, and counts hide a day of somebody only where the price is for the day.",
        (
            of_scores("Identity from trails", "A classifier names the owner of a trail far above chance.", trails),
            of_scores(
                "Presence from counts",
                "What is above the score without own rows is what somebody's own rows give away.",
                presence,
            ),
        ),
        ("Neural networks, and attackers who know other people's days.",),
        (("data", f"invented, {DAYS} days, {PEOPLE} people, seed 7"),),
    )


if __name__ == "__main__":
    main()
