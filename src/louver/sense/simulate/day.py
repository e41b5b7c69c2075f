"""One day of the building: who comes, when and why, as stays in rooms.

Lectures follow the timetable, meetings are called, people have lunch at noon and leave in the evening; on closed days
only a few are there. An activity has the room `OUTSIDE` where somebody is away in between.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np

from louver.sense.simulate import dates
from louver.sense.simulate.dates import BREAK, CLOSED, DAY, HOUR, TEACHING, Incident
from louver.sense.simulate.dice import Dice, Whole
from louver.sense.simulate.hall import (
    AULA,
    CAFE,
    LOBBY,
    LOUNGE,
    MEETING,
    STAFF,
    STUDENT,
    STUDY,
    VISITOR,
    Hall,
)
from louver.sense.simulate.people import MINUTE, People
from louver.sense.simulate.stays import OUTSIDE, Stays, settled
from louver.sense.simulate.timetable import LENGTH, Timetable

SHORTEST = MINUTE
COMING = {TEACHING: 1.0, BREAK: 0.55, CLOSED: 0.06}  # of those who would come on a day of teaching
LECTURES_ATTENDED = (0.86, 0.55)  # at the beginning and at the end of the term
EVENT_LENGTH = 150 * MINUTE
CROWD = 1.9  # of the hall's capacity come to the event
MEETINGS_EACH = 0.16  # on a day for each member of staff
AGAIN = 0.45  # of the visits of a few hours are followed by another


@dataclass(frozen=True, slots=True)
class World:
    """All that stays the same from day to day; `visits` are pairs of a person and a day."""

    hall: Hall
    crowd: People
    timetable: Timetable
    visits: tuple[Whole, Whole]
    start: date
    days: int
    event: Incident | None

    def kind(self, number: int) -> str:
        return dates.kind_of_day(self.start + timedelta(days=number))


def the_event(hall: Hall, start: date, days: int) -> Incident | None:
    """An evening at the largest hall to which more come than it holds."""
    day = dates.event_day(start, days)
    if day is None:
        return None
    begins = day * DAY + 17 * HOUR + 30 * MINUTE
    return Incident(int(hall.rooms(AULA)[0]), begins, begins + EVENT_LENGTH)


def stays_of_day(world: World, number: int, dice: Dice) -> Stays:
    """Where everybody is on one day, in milliseconds since its midnight; nobody in two rooms at a time."""
    mood = int(dice.normal(1000, 60, 1)[0]) / 1000  # a rainy day, or a fine one
    coming = COMING[world.kind(number)] * mood
    base = Stays.joined([_regulars(world, coming, dice), _visitors(world, number, dice)])
    lectures = _lectures(world, number, mood, dice)
    activities = [lectures, _lunch(world, base, dice), _breaks(world, base, dice)]
    if world.kind(number) != CLOSED:
        activities.append(_meetings(world, base, dice))
    if world.event is not None and world.event.start // DAY == number:
        activities.append(_event(world, world.event, dice))
    everything = Stays.joined(activities)
    base = Stays.joined([base, _around_lectures(world, lectures, base, dice)])
    made = settled(_within_day(everything), _within_day(base), SHORTEST)
    return _walked(world.hall, made, dice)


def _regulars(world: World, coming: float, dice: Dice) -> Stays:
    """Staff at their desks, and students who study here."""
    crowd = world.crowd
    who = np.flatnonzero(crowd.regular)
    who = who[dice.chance(np.minimum(crowd.keen[who] * coming, 1000.0) / 1000.0, len(who))]
    start = dice.normal(crowd.arrives[who], 20 * MINUTE, len(who))
    length = np.maximum(dice.normal(crowd.stays[who], 50 * MINUTE, len(who)), 25 * MINUTE)
    return Stays(who, crowd.home[who], start, start + length)


def visits_of(crowd: People, courses: Timetable, start: date, days: int, dice: Dice) -> tuple[Whole, Whole]:
    """On which days each of those comes who neither works nor studies here: on one, and some on a few more."""
    weights = [round(1000 * COMING[dates.kind_of_day(start + timedelta(days=number))]) for number in range(days)]
    ends = np.cumsum(weights)
    casual = ~crowd.regular
    casual[courses.student] = False
    who = waiting = np.flatnonzero(casual)
    while len(waiting) and len(who) < len(crowd) * 8:
        waiting = waiting[dice.chance(AGAIN, len(waiting))]
        who = np.concatenate([who, waiting])
    on = np.searchsorted(ends, dice.below(int(ends[-1]), len(who)), side="right")
    once = np.unique(np.stack([on, who]), axis=1)
    return once[1], once[0]


def _visitors(world: World, number: int, dice: Dice) -> Stays:
    who = world.visits[0][world.visits[1] == number]
    room = _somewhere(world.hall, (CAFE, STUDY, LOUNGE, LOBBY), dice, len(who))
    start = np.clip(dice.normal(12 * HOUR + 45 * MINUTE, 150 * MINUTE, len(who)), 7 * HOUR, 20 * HOUR)
    return Stays(who, room, start, start + dice.between(12, 110, len(who)) * MINUTE)


def _lectures(world: World, number: int, mood: float, dice: Dice) -> Stays:
    table = world.timetable
    if world.kind(number) != TEACHING:
        return Stays.joined([])
    meeting = table.meeting((world.start + timedelta(days=number)).weekday())
    enrolled = np.flatnonzero(np.isin(table.enrolled_in, meeting))
    first, last = LECTURES_ATTENDED
    attended = (first + (last - first) * number / max(world.days, 60)) * mood
    enrolled = enrolled[dice.chance(attended, len(enrolled))]
    course, size = table.enrolled_in[enrolled], len(enrolled)
    start = table.begins[course] + np.clip(dice.normal(-3, 4, size), -9, 15) * MINUTE + dice.below(MINUTE, size)
    end = table.begins[course] + LENGTH + dice.between(-2 * MINUTE, 4 * MINUTE, size)
    return Stays(table.student[enrolled], table.room[course], start, end)


def _around_lectures(world: World, lectures: Stays, base: Stays, dice: Dice) -> Stays:
    """Who comes for a lecture is there a little earlier, and some stay on to read or for a coffee."""
    inside = lectures.where(~np.isin(lectures.person, base.person)).ordered()
    if not len(inside):
        return inside
    person, first = np.unique(inside.person, return_index=True)
    last = np.append(first[1:], len(inside)) - 1
    size = len(person)
    linger = np.where(dice.chance(0.22, size), dice.between(15, 75, size), 0) * MINUTE
    start = inside.start[first] - dice.between(0, 6 * MINUTE, size)
    return Stays(person, _somewhere(world.hall, (STUDY, CAFE), dice, size), start, inside.end[last] + linger)


def _lunch(world: World, base: Stays, dice: Dice) -> Stays:
    """At noon, in the cafe or outside, for whoever is there before and after."""
    there = base.where((base.start < 12 * HOUR) & (base.end > 13 * HOUR))
    there = there.where(dice.chance(0.85, len(there)))
    size = len(there)
    cafe = world.hall.rooms(CAFE)
    start = dice.normal(12 * HOUR + 20 * MINUTE, 25 * MINUTE, size)
    room = np.where(dice.chance(0.45, size), cafe[dice.below(len(cafe), size)], OUTSIDE)
    return Stays(there.person, room, start, start + dice.between(22, 50, size) * MINUTE)


def _breaks(world: World, base: Stays, dice: Dice) -> Stays:
    """A few minutes in a lounge or the cafe, morning and afternoon."""
    there = base.where(base.end - base.start > 2 * HOUR)
    there = there.where(np.repeat(np.arange(len(there)), 2))
    there = there.where(dice.chance(0.55, len(there)))
    size = len(there)
    start = there.start + dice.between(
        30 * MINUTE, np.maximum(there.end - there.start - 20 * MINUTE, 30 * MINUTE), size
    )
    room = _somewhere(world.hall, (LOUNGE, CAFE), dice, size)
    return Stays(there.person, room, start, start + dice.between(5, 14, size) * MINUTE)


def _meetings(world: World, base: Stays, dice: Dice) -> Stays:
    """Meetings on the hour, of staff who are there with now and then a student or a visitor."""
    staff = base.where(world.crowd.role[base.person] == 0)
    rooms = world.hall.rooms(MEETING)
    number = int(len(staff) * MEETINGS_EACH)
    # A room holds one meeting at a time.
    hours = np.array([9, 10, 11, 13, 14, 15, 16], dtype=np.int64)
    places = np.array([(room, hour) for room in rooms for hour in hours], dtype=np.int64)
    places = places[dice.order(len(places))[:number]]
    wanted = np.minimum(dice.between(3, 12, len(places)), world.hall.capacities[places[:, 0]] - 1)
    invited = np.repeat(np.arange(len(places)), wanted)
    if not len(staff) or not len(invited):
        return Stays.joined([])
    who = base.person[dice.below(len(base), len(invited))]
    who = np.where(dice.chance(0.8, len(invited)), staff.person[dice.below(len(staff), len(invited))], who)
    start = (
        places[invited, 1] * HOUR
        + np.clip(dice.normal(0, 2, len(invited)), -5, 8) * MINUTE
        + dice.below(MINUTE, len(invited))
    )
    length = np.where(dice.chance(0.3, len(places)), 100, 50)[invited] * MINUTE
    return Stays(who, places[invited, 0], start, start + length)


def _event(world: World, event: Incident, dice: Dice) -> Stays:
    """The event's crowd: visitors and students, who come one after the other and leave within a quarter of an hour."""
    guests = np.concatenate([world.crowd.numbers(VISITOR), world.crowd.numbers(STUDENT), world.crowd.numbers(STAFF)])
    size = min(int(world.hall.capacities[event.place] * CROWD), len(guests))
    visitors = world.crowd.numbers(VISITOR)
    chosen = np.concatenate([visitors[dice.order(len(visitors))], guests[len(visitors) :]])[:size]
    start = event.start % DAY
    arrives = start + dice.normal(-8, 9, size) * MINUTE + dice.below(MINUTE, size)
    leaves = (
        start + EVENT_LENGTH - dice.between(0, 15 * MINUTE, size) - np.where(dice.chance(0.1, size), 50 * MINUTE, 0)
    )
    return Stays.of(chosen, event.place, arrives, leaves)


def _somewhere(hall: Hall, kinds: tuple[str, ...], dice: Dice, size: int) -> Whole:
    """Rooms of some kinds, larger ones more often."""
    rooms = hall.rooms(*kinds)
    ends = np.cumsum(np.minimum(hall.capacities[rooms], 80))
    return rooms[np.searchsorted(ends, dice.below(int(ends[-1]), size), side="right")]


def _within_day(stays: Stays) -> Stays:
    """The building is open from 6:00 to 23:30, with room for the way in and out."""
    start, end = np.maximum(stays.start, 6 * HOUR), np.minimum(stays.end, 23 * HOUR + 30 * MINUTE)
    return Stays(stays.person, stays.room, start, end).where(end - start >= SHORTEST)


def _walked(hall: Hall, stays: Stays, dice: Dice) -> Stays:
    """The ways between rooms: through the lobby in and out, and through the corridor of a floor to another region."""
    lobby = int(hall.rooms(LOBBY)[0])
    size = len(stays)
    if not size:
        return stays
    far = 8 * MINUTE
    same = stays.person[1:] == stays.person[:-1]
    apart = np.concatenate([[True], ~same | (stays.start[1:] - stays.end[:-1] > far), [True]])
    comes, leaves = stays.where(apart[:-1]), stays.where(apart[1:])
    into = Stays.of(comes.person, lobby, comes.start - dice.between(90_000, 4 * MINUTE, len(comes)), comes.start)
    out = Stays.of(leaves.person, lobby, leaves.end, leaves.end + dice.between(50_000, 3 * MINUTE, len(leaves)))
    region = hall.region_of_room[stays.room]
    moved = np.append(False, same & (region[1:] != region[:-1])) & ~apart[:-1]
    through = moved & (stays.end - stays.start > 5 * MINUTE) & dice.chance(0.6, size)
    takes = np.where(through, dice.between(40_000, 100_000, size), 0)
    corridor = hall.corridor_of_floor[hall.floor_of_region[region]]
    passing = Stays(stays.person, corridor, stays.start, stays.start + takes).where(through)
    rest = Stays(stays.person, stays.room, stays.start + takes, stays.end)
    return Stays.joined([rest, into, out, passing]).ordered()


def people_in_rooms(stays: Stays, rooms: int, slot: int) -> Whole:
    """How many people are in each room at the beginning of each slot of the day: one row a room."""
    slots = DAY // slot
    enters, leaves = -(-stays.start // slot), -(-stays.end // slot)
    changes = np.bincount(stays.room * (slots + 1) + enters, minlength=rooms * (slots + 1))
    changes -= np.bincount(stays.room * (slots + 1) + leaves, minlength=rooms * (slots + 1))
    return np.cumsum(changes.reshape(rooms, slots + 1), axis=1)[:, :-1]
