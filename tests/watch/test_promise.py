"""The promise of a watch at its worst case: how often a key that is one over its limit is missed."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from louver.ledger import Ledger
from louver.sense.feeds import open_feed
from tests.watch.made import house, lines, told, watched

FALSE_ALARM = 1e-6  # of each comparison below: how often it fails though all is well
MISS_RATE = 0.05
OVER = tuple(f"over-{number}" for number in range(20))
BELOW = tuple(f"below-{number}" for number in range(10))
WORST_CASE = """
[rule.fire-limit]
having = "count(*) > capacity"
miss_rate = 0.05
slack = 10
pending = 2
"""


def most(trials: int, rate: float) -> int:
    """More than so many of these trials would be too many for this rate."""
    return int(binom.isf(FALSE_ALARM, trials, rate))


def least(trials: int, rate: float) -> int:
    return int(binom.ppf(FALSE_ALARM, trials, rate))


def worst_day(folder: Path, windows: int) -> tuple[int, int, int, int]:
    """Breaches and how many were missed, keys at the end of the slack and how many of their windows fired.

    Keys are one over their limit for two slots and empty for two, again and again: no breach is harder to see.
    """
    rules = house(folder, WORST_CASE, regions=(*OVER, *BELOW), capacity=60)
    crowd = {**dict.fromkeys(OVER, 61), **dict.fromkeys(BELOW, 50)}
    (folder / "events.ndjson").write_text(lines(*([crowd, crowd, {OVER[0]: 1}, {OVER[0]: 1}] * windows)))
    made = asyncio.run(watched(rules, open_feed(str(folder / "events.ndjson"))))
    assert made.undecided == 0
    fired = {(key, slot // 4) for _, key, state, slot in told(rules) if state == "firing" and slot % 4 == 1}
    breaches = [(key, window) for key in OVER for window in range(windows)]
    alarms = [(key, window) for key in BELOW for window in range(windows)]
    with Ledger.open(rules.ledger) as ledger:
        assert ledger.spent() <= 1
    return len(breaches), len(set(breaches) - fired), len(alarms), len(set(alarms) & fired)


def days(folder: Path, runs: int, windows: int) -> tuple[int, ...]:
    found = []
    for run in range(runs):
        (folder / str(run)).mkdir()
        found.append(worst_day(folder / str(run), windows))
        shutil.rmtree(folder / str(run))
    return tuple(np.array(found).sum(axis=0).tolist())


def check_worst_case(folder: Path, runs: int, windows: int) -> None:
    breaches, missed, chances, alarms = days(folder, runs, windows)
    assert least(breaches, 1 - (1 - MISS_RATE / 2) ** 2) <= missed <= most(breaches, MISS_RATE)
    # Both slots of a window must be flagged, each with a probability of at most the false-alarm rate.
    assert alarms <= most(chances, (MISS_RATE / 2) ** 2)


def test_a_breach_of_one_over_the_limit_is_missed_as_often_as_promised(tmp_path: Path) -> None:
    check_worst_case(tmp_path, runs=2, windows=5)


@pytest.mark.slow
def test_a_breach_of_one_over_the_limit_is_missed_as_often_as_promised_over_many_days(tmp_path: Path) -> None:
    check_worst_case(tmp_path, runs=30, windows=6)


def test_a_watch_with_too_much_noise_would_be_found_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test must be able to fail: keys that are not flagged one time in four are noticed."""
    from louver.watch import answers

    read = answers._read

    def forgetful(asked: object, release: object) -> object:
        outcomes, released = read(asked, release)  # type: ignore[arg-type]
        dice = np.random.default_rng(release.number)  # type: ignore[attr-defined]
        return {key: "not flagged" if dice.random() < 0.25 else each for key, each in outcomes.items()}, released

    monkeypatch.setattr(answers, "_read", forgetful)
    with pytest.raises(AssertionError):
        check_worst_case(tmp_path, runs=1, windows=4)
