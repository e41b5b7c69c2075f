from __future__ import annotations

import numpy as np
import pytest

from louver.attack.learned_presence import Lived, ranked, told
from louver.errors import DataError, ParameterError
from louver.sense.simulate import simulate
from louver.stream.laplace import Laplace
from tests.table.tools import seeded

DAYS, TICKS, REGIONS, PEOPLE = 90, 10, 12, 24


def house(seed: int) -> Lived:
    """People who come on half of the days, each for the whole day, two to a room; nobody's day depends on others."""
    there = np.random.default_rng(seed).random((PEOPLE, DAYS)) < 0.5
    person, day = np.nonzero(there)
    row = np.repeat(np.arange(len(person)), TICKS)
    tick = np.tile(np.arange(TICKS), len(person))
    return Lived(person[row], day[row], tick, person[row] % REGIONS, (PEOPLE, DAYS, TICKS, REGIONS))


def released(lived: Lived, epsilon: float) -> np.ndarray:
    flat = lived.counts().reshape(-1, REGIONS)
    noisy = Laplace(epsilon, REGIONS, bits=seeded(3)).run(flat)
    return np.asarray(noisy).reshape(DAYS, TICKS, REGIONS)


def test_true_counts_tell_who_is_there_and_counts_without_own_rows_do_not() -> None:
    """With one other in the room, whose coming is a coin, 7 of 8 pairs of days are in the right order.

    Scores scatter by 0.013 and 0.025; the bounds here and below are 5.5 times that away, or more.
    """
    lived = house(1)
    found = told(lived, lived.counts(), range(PEOPLE), range(DAYS))
    without = told(lived, lived.counts(), range(PEOPLE), range(DAYS), left_out=True)
    assert found.value == pytest.approx(7 / 8, abs=0.08)
    assert found.beats_chance
    assert without.value < 0.65


def test_noise_for_one_tick_does_not_hide_a_day_and_noise_for_the_day_does() -> None:
    """Ten ticks of epsilon 1 are a day at 10; a day at 1/2 is a twentieth of each tick."""
    lived = house(2)
    tick = told(lived, released(lived, 1), range(PEOPLE), range(DAYS))
    day = told(lived, released(lived, 1 / 20), range(PEOPLE), range(DAYS))
    assert tick.value > 0.75
    assert day.value < 0.65


@pytest.mark.parametrize(("days", "share"), [(30, 0.85), (20, 0.5)])
def test_intervals_hold_chance_where_people_come_and_go_together(days: int, share: float) -> None:
    """Scores of a day are alike and know nothing; 95% of intervals hold 1/2. More than 20 of 80 miss it in under 1e-8
    of cases; where only days there are drawn again, 30 of them do."""
    missed = 0
    for seed in range(80):
        dice = np.random.default_rng(seed)
        truth = (dice.random(days) < share) ^ (dice.random((PEOPLE, days)) < 0.03)
        truth = truth[truth.any(axis=1) & ~truth.all(axis=1)]
        scores = dice.normal(0, 1, days) + dice.normal(0, 0.5, truth.shape)
        _, low, high = ranked(scores, truth, seed)
        missed += not low <= 0.5 <= high
    assert missed <= 20


def test_areas_are_those_of_each_person_in_the_mean() -> None:
    """The first is right in all of 4 pairs; the second in 1 of 3, and a tie counts half."""
    scores = np.array([[1.0, 3, 2, 4], [5.0, 5, 1, 9]])
    truth = np.array([[False, True, False, True], [True, False, False, False]])
    assert ranked(scores, truth, 1)[0] == pytest.approx((4 / 4 + 1.5 / 3) / 2)


def test_the_control_that_learns_mixed_up_labels_is_at_chance() -> None:
    """Each of 40 mixed-up labellings points the right or the wrong way; their mean scatters by 0.043 around 1/2."""
    lived = house(3)
    assert abs(told(lived, lived.counts(), range(PEOPLE), range(DAYS)).control - 0.5) < 0.25


def test_the_days_that_are_guessed_are_not_learnt_from() -> None:
    """Counts that are turned around on the last third lead the attacker astray; learning from them, it would notice."""
    lived = house(4)
    counts = lived.counts()
    counts[2 * DAYS // 3 :] = 2 - counts[2 * DAYS // 3 :]
    assert told(lived, counts, range(PEOPLE), range(DAYS)).value < 0.25


def test_counts_of_a_simulated_building_are_those_of_its_stays() -> None:
    made = simulate("demo", days=2, people=80, seed=7)
    lived = Lived.of(made, step=60)
    counts = lived.counts()
    assert lived.shape[0] == 80
    assert counts.sum() == len(lived.person)
    assert np.array_equal(sum(lived.counts(person) for person in range(80)), counts)
    start, end = (made.column("truth/stays", name) for name in ("start", "end"))
    noon = np.datetime64("2018-02-01T12:00")
    assert counts[0, 12].sum() == ((start <= noon) & (noon < end)).sum()


def test_somebody_who_never_leaves_cannot_be_asked_about() -> None:
    lived = house(6)
    always = Lived(np.zeros(DAYS, int), np.arange(DAYS), np.zeros(DAYS, int), np.zeros(DAYS, int), lived.shape)
    with pytest.raises(DataError, match="too few"):
        told(always, always.counts(), [0], range(DAYS))


def test_counts_of_another_shape_are_refused() -> None:
    lived = house(7)
    with pytest.raises(ParameterError, match="each day"):
        told(lived, lived.counts()[1:], range(PEOPLE), range(DAYS))


def test_what_was_lived_shows_nothing_of_itself() -> None:
    assert repr(house(8)) == "<lived>"
