"""Presets `building` and `demo`: Wi-Fi events of a university building, with the truth behind them.

The building preset is like the data set of Ghayyur's thesis: 64 access points, 89 days from February to April 2018,
3.9 million events of the devices of 36,000 people.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction

import numpy as np

from louver.sense.simulate import dates
from louver.sense.simulate import hall as halls
from louver.sense.simulate.connecting import Connections, connections
from louver.sense.simulate.dates import DAY, Incident
from louver.sense.simulate.day import World, people_in_rooms, stays_of_day, the_event, visits_of
from louver.sense.simulate.dice import Dice, Whole
from louver.sense.simulate.hall import Hall, hall
from louver.sense.simulate.people import KINDS, Devices, devices, people, written_address
from louver.sense.simulate.readings import EVERY, readings_of_day
from louver.sense.simulate.simulated import Coded, Column, Simulated, microseconds, spanned
from louver.sense.simulate.stays import Stays
from louver.sense.simulate.timetable import timetable

SLOT, VALIDITY = 5 * 60_000, 10 * 60_000
PEOPLE, DEVICES, TIMETABLE, VISITS, DAYS, CONNECTIONS, READINGS = (
    1,
    2,
    3,
    4,
    1 << 20,
    2 << 20,
    3 << 20,
)  # streams of dice
SHARES = (0.008, 0.42)  # of staff and students among everybody who comes within three months
SMALL_SHARES = (0.06, 0.55)


@dataclass(slots=True)
class _Day:
    """One day's rows, with times since the first midnight."""

    stays: Stays
    heard: Connections
    breaches: tuple[Whole, ...]
    watts: Whole
    tenths: Whole
    heard_for: int


def building(days: int, people_count: int, seed: int, start: date, progress: Callable[[int, int], None]) -> Simulated:
    return _simulated(hall(halls.CAMPUS_HALL, "Hall 7"), SHARES, "class-a", days, people_count, seed, start, progress)


def demo(days: int, people_count: int, seed: int, start: date, progress: Callable[[int, int], None]) -> Simulated:
    return _simulated(
        hall(halls.SMALL_HALL, "Small hall"), SMALL_SHARES, "library", days, people_count, seed, start, progress
    )


def _simulated(
    made: Hall,
    shares: tuple[float, float],
    broken: str,
    days: int,
    people_count: int,
    seed: int,
    start: date,
    progress: Callable[[int, int], None],
) -> Simulated:
    crowd = people(people_count, shares, made, Dice(seed, PEOPLE))
    carried = devices(crowd, Dice(seed, DEVICES))
    ids = [region.id for region in made.building.regions]
    silent = next(number for number, id_ in enumerate(ids) if id_.endswith(broken))
    fault = dates.fault(silent, days)
    courses = timetable(made, crowd, Dice(seed, TIMETABLE))
    visits = visits_of(crowd, courses, start, days, Dice(seed, VISITS))
    world = World(made, crowd, courses, visits, start, days, the_event(made, start, days))
    done: list[_Day] = []
    for number in range(days):
        done.append(_day(world, carried, fault, number, seed))
        progress(number + 1, days)
    return _collected(world, carried, fault, done)


def _day(world: World, carried: Devices, fault: Incident, number: int, seed: int) -> _Day:
    made = world.hall
    stays = stays_of_day(world, number, Dice(seed, DAYS + number))
    in_rooms = people_in_rooms(stays, len(made.capacities), SLOT)
    in_regions = np.add.reduceat(
        in_rooms, np.searchsorted(made.region_of_room, np.arange(len(made.floor_of_region))), axis=0
    )
    watts, tenths = readings_of_day(made, in_regions, SLOT, Dice(seed, READINGS + number))
    stays = replace(stays, start=stays.start + number * DAY, end=stays.end + number * DAY)
    heard = connections(stays, carried, made, fault, Dice(seed, CONNECTIONS + number))
    capacities = np.array([region.capacity for region in made.building.regions])
    over = np.concatenate([in_rooms, in_regions])
    limits = np.concatenate([made.capacities, capacities])
    place, slot = np.nonzero(over > limits[:, np.newaxis])
    breaches = (place, slot * SLOT + number * DAY, over[place, slot], limits[place])
    return _Day(stays, heard, breaches, watts, tenths, _heard_for(heard))


def _heard_for(heard: Connections) -> int:
    """How long devices count as present, ten minutes after each was heard; over people's time, the calibration."""
    order = np.lexsort((heard.time, heard.device))
    device, time = heard.device[order], heard.time[order]
    same = device[1:] == device[:-1]
    return int(np.where(same, np.minimum(np.diff(time), VALIDITY), VALIDITY).sum()) + VALIDITY * bool(len(time))


def _collected(world: World, carried: Devices, fault: Incident, done: list[_Day]) -> Simulated:
    """The days as tables, and what is known of the whole."""
    made, start = world.hall, world.start
    there = sum(int((day.stays.end - day.stays.start).sum()) for day in done)
    per_person = Fraction(round(10 * sum(day.heard_for for day in done) / max(there, 1)), 10)
    building = replace(made.building, devices_per_person=per_person or None)
    regions, rooms = [region.id for region in building.regions], [room.id for room in building.rooms]
    points = [region.access_points[0] for region in building.regions]
    addresses = [written_address(int(each)) for each in carried.address]
    heard, stays = [day.heard for day in done], [day.stays for day in done]
    room = np.concatenate([day.room for day in stays])
    tables: dict[str, dict[str, Column]] = {
        "events": {
            "device": Coded(addresses, np.concatenate([day.device for day in heard])),
            "place": Coded(points, np.concatenate([day.region for day in heard])),
            "time": microseconds(np.concatenate([day.time for day in heard]), start),
        },
        "energy": _readings(regions, np.stack([day.watts for day in done]), "power", 1, start),
        "temperature": _readings(regions, np.stack([day.tenths for day in done]), "temperature", 10, start),
        "truth/stays": {
            "person": np.concatenate([day.person for day in stays]),
            "room": Coded(rooms, room),
            "region": Coded(regions, made.region_of_room[room]),
            "start": microseconds(np.concatenate([day.start for day in stays]), start),
            "end": microseconds(np.concatenate([day.end for day in stays]), start),
        },
        "truth/people": {
            "person": np.arange(len(world.crowd)),
            "role": Coded(halls.ROLES, world.crowd.role),
            "devices": np.diff(carried.first),
        },
        "truth/devices": {
            "device": Coded(addresses, np.arange(len(carried))),
            "person": carried.owner,
            "kind": Coded(list(KINDS), carried.kind),
        },
        "truth/breaches": _breaches(rooms, regions, [day.breaches for day in done], start),
    }
    texts = {"building.toml": building.to_toml(), "truth/incidents.json": _incidents(world, fault)}
    seen = len(np.unique(np.concatenate([day.device for day in heard])))
    events = f"{len(tables['events']['time']):,} events of {seen:,} devices at {len(points)} access points"
    return Simulated(tables, texts, f"{events} {spanned(world.days, start)}")


def _readings(regions: list[str], by_day: Whole, kind: str, parts: int, start: date) -> dict[str, Column]:
    """Readings in order of time, then region: (place, time, kind, value)."""
    days, places, slots = by_day.shape
    return {
        "place": Coded(regions, np.tile(np.arange(places), days * slots)),
        "time": microseconds(np.repeat(np.arange(days * slots) * EVERY, places), start),
        "kind": Coded([kind], np.zeros(by_day.size, dtype=np.int64)),
        "value": by_day.transpose(0, 2, 1).reshape(-1) / parts,
    }


def _breaches(rooms: list[str], regions: list[str], by_day: list[tuple[Whole, ...]], start: date) -> dict[str, Column]:
    """Rooms and regions that hold more people than they may, at the beginning of each slot."""
    place, time, counted, limits = (np.concatenate(column) for column in zip(*by_day, strict=True))
    order = np.lexsort((place, time))
    place = place[order]
    return {
        "level": Coded(["room", "region"], (place >= len(rooms)).astype(np.int64)),
        "place": Coded([*rooms, *regions], place),
        "time": microseconds(time[order], start),
        "people": counted[order],
        "capacity": limits[order],
    }


def _incidents(world: World, fault: Incident) -> str:
    building, start = world.hall.building, world.start
    broken = building.regions[fault.place]
    said = [
        {"what": "a broken access point", "place": broken.access_points[0], "region": broken.id, **_span(fault, start)}
    ]
    if world.event is not None:
        region = building.regions[int(world.hall.region_of_room[world.event.place])]
        room = building.rooms[world.event.place]
        said.append(
            {"what": "an overcrowded event", "place": room.id, "region": region.id, **_span(world.event, start)}
        )
    return json.dumps(said, indent=2) + "\n"


def _span(incident: Incident, start: date) -> dict[str, str]:
    midnight = datetime(start.year, start.month, start.day, tzinfo=UTC)
    return {
        name: (midnight + timedelta(milliseconds=value)).isoformat()
        for name, value in (("start", incident.start), ("end", incident.end))
    }
