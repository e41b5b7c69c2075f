"""The timetable of a term: which course meets in which lecture room when, and who is enrolled in it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from louver.sense.simulate.dice import Dice, Whole
from louver.sense.simulate.hall import LECTURE, STUDENT, Hall
from louver.sense.simulate.people import MINUTE, People

LENGTH = 80 * MINUTE
# When lectures begin, in minutes, and the share of rooms that are taught in then.
BEGINS = {480: 0.30, 570: 0.65, 660: 0.70, 750: 0.45, 840: 0.65, 930: 0.50, 1020: 0.25}
PATTERNS = ((0, 2, 4), (1, 3))  # Monday, Wednesday and Friday; Tuesday and Thursday
TAUGHT = 0.30  # of all seats at all times are taken by enrolments
COURSES_EACH = 1.5  # in the mean at most, so that few students do not sit in every lecture


@dataclass(frozen=True, slots=True)
class Timetable:
    """Courses with their room, beginning and days; and enrolments, as pairs of a course and a student."""

    room: Whole
    begins: Whole
    pattern: Whole
    enrolled_in: Whole
    student: Whole

    def meeting(self, weekday: int) -> Whole:
        """The courses that meet on a weekday."""
        return np.flatnonzero([weekday in PATTERNS[pattern] for pattern in self.pattern])


def timetable(hall: Hall, crowd: People, dice: Dice) -> Timetable:
    """Courses until rooms or students run out. Some are overbooked, and full while the term is young."""
    students, rooms = crowd.numbers(STUDENT), hall.rooms(LECTURE)
    begins = np.array(list(BEGINS), dtype=np.int64)
    places = np.array(
        [(room, begin, pattern) for room in rooms for begin in begins for pattern in range(len(PATTERNS))],
        dtype=np.int64,
    )
    taught = dice.chance(np.array([BEGINS[int(begin)] for begin in places[:, 1]]), len(places))
    places = places[dice.order(len(places))[taught]]
    sizes = hall.capacities[places[:, 0]] * dice.between(40, 126, len(places)) // 100
    sizes = np.minimum(sizes, len(students) // 2)
    seats = int(hall.capacities[rooms].sum()) * len(BEGINS) * len(PATTERNS)
    offered = np.cumsum(sizes) <= min(len(students) * COURSES_EACH, seats * TAUGHT)
    places, sizes = places[offered], sizes[offered]
    # Students are dealt out like cards, so that courses are taken evenly and nobody is twice in one.
    dealt = students[dice.order(len(students))[np.arange(int(sizes.sum())) % max(len(students), 1)]]
    return Timetable(
        places[:, 0],
        places[:, 1] * MINUTE,
        places[:, 2],
        np.repeat(np.arange(len(sizes)), sizes),
        dealt,
    )
