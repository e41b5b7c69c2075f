"""The invented building: a hall of a university with lecture halls below and offices above."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from louver.sense.building import Building, Floor, Region, Room
from louver.sense.simulate.dice import Whole

STAFF, STUDENT, VISITOR = "staff", "student", "visitor"
ROLES = (STAFF, STUDENT, VISITOR)
LOBBY, CORRIDOR, CAFE, AULA = "lobby", "corridor", "cafe", "aula"
LECTURE, STUDY, OFFICE, MEETING, LAB, LOUNGE = "lecture", "study", "office", "meeting", "lab", "lounge"

GROUND, TEACHING, OFFICES = "ground", "teaching", "offices"
CAMPUS_HALL = (GROUND, TEACHING, OFFICES, OFFICES, OFFICES, OFFICES)
SMALL_HALL = (GROUND, OFFICES)

# For each kind of floor its regions: id, name, kind of its rooms, and their capacities.
_PLANS: dict[str, tuple[tuple[str, str, str, tuple[int, ...]], ...]] = {
    GROUND: (
        ("lobby", "Lobby", LOBBY, (200,)),
        ("hall-a", "Lecture hall A", LECTURE, (300,)),
        ("hall-b", "Lecture hall B", LECTURE, (200,)),
        ("hall-c", "Lecture hall C", LECTURE, (120,)),
        ("hall-d", "Lecture hall D", LECTURE, (120,)),
        ("aula", "Aula", AULA, (250,)),
        ("cafe", "Cafe", CAFE, (130,)),
        ("library", "Library", STUDY, (110, 40)),
        ("reading", "Reading room", STUDY, (70,)),
        ("desk", "Service desk", LOUNGE, (30,)),
        ("seminar-g", "Seminar rooms", MEETING, (24, 24)),
        ("corridor-g", "Ground corridor", CORRIDOR, (120,)),
    ),
    TEACHING: (
        ("class-a", "Class room A", LECTURE, (60,)),
        ("class-b", "Class room B", LECTURE, (60,)),
        ("class-c", "Class room C", LECTURE, (60,)),
        ("class-d", "Class room D", LECTURE, (60,)),
        ("class-e", "Class room E", LECTURE, (48,)),
        ("class-f", "Class room F", LECTURE, (48,)),
        ("lab-a", "Computer lab A", LAB, (40,)),
        ("lab-b", "Computer lab B", LAB, (40,)),
        ("lab-c", "Robot lab", LAB, (30,)),
        ("study", "Study lounge", STUDY, (60, 30)),
        ("seminar", "Seminar rooms", MEETING, (30, 20, 12)),
        ("corridor", "Corridor", CORRIDOR, (90,)),
    ),
    OFFICES: (
        *((f"offices-{side}", f"Offices {side.upper()}", OFFICE, (2, 2, 3, 2, 1, 2, 4, 2, 2, 1)) for side in "abcdef"),
        ("meeting", "Meeting rooms", MEETING, (8, 12, 20)),
        ("lab", "Research lab", LAB, (24, 16)),
        ("lounge", "Kitchen and lounge", LOUNGE, (30,)),
        ("corridor", "Corridor", CORRIDOR, (50,)),
    ),
}
_FLOOR_NAMES = {GROUND: "Ground floor", TEACHING: "Teaching floor", OFFICES: "Office floor"}
_OPEN = {OFFICE: (STAFF,), LAB: (STAFF, STUDENT), LOUNGE: None, MEETING: None}


@dataclass(frozen=True, slots=True)
class Hall:
    """The building, and its rooms as numbers: each one's region, kind and capacity, in the order of the building."""

    building: Building
    kinds: tuple[str, ...]
    region_of_room: Whole
    floor_of_region: Whole
    capacities: Whole

    def rooms(self, *kinds: str) -> Whole:
        return np.array([number for number, kind in enumerate(self.kinds) if kind in kinds], dtype=np.int64)

    @property
    def corridor_of_floor(self) -> Whole:
        """A room to pass through on each floor."""
        corridors = self.rooms(CORRIDOR)
        return corridors[np.argsort(self.floor_of_region[self.region_of_room[corridors]], kind="stable")]

    @property
    def neighbour_of_region(self) -> Whole:
        """The next region on the same floor, whose access point hears some of its devices."""
        found = np.arange(len(self.floor_of_region))
        for floor in range(int(self.floor_of_region.max()) + 1):
            regions = np.flatnonzero(self.floor_of_region == floor)
            found[regions] = np.roll(regions, -1)
        return found


def hall(kinds_of_floors: tuple[str, ...], name: str, devices_per_person: Fraction | None = None) -> Hall:
    """A hall with these floors, the lowest first: one access point for each region."""
    floors: list[Floor] = []
    kinds: list[str] = []
    for number, kind in enumerate(kinds_of_floors, start=1):
        regions = tuple(_regions(number, kind, kinds))
        floors.append(
            Floor(str(number), regions, name=f"{_FLOOR_NAMES[kind]} {number}" if number > 1 else "Ground floor")
        )
    building = Building(
        name.lower().replace(" ", "-"), tuple(floors), name=name, roles=ROLES, devices_per_person=devices_per_person
    )
    sizes = [len(region.rooms) for region in building.regions]
    return Hall(
        building,
        tuple(kinds),
        np.repeat(np.arange(len(sizes)), sizes),
        np.repeat(np.arange(len(floors)), [len(floor.regions) for floor in floors]),
        np.array([room.capacity for room in building.rooms], dtype=np.int64),
    )


def _regions(number: int, floor: str, kinds: list[str]) -> Iterator[Region]:
    """The regions of a floor; the kinds of their rooms are appended to `kinds`."""
    next_room = number * 100
    for at, (id_, name, kind, capacities) in enumerate(_PLANS[floor], start=1):
        rooms = tuple(Room(str(next_room + place), capacity) for place, capacity in enumerate(capacities, start=1))
        next_room += len(rooms)
        kinds += [kind] * len(rooms)
        own = id_ if floor == GROUND else f"{number}-{id_}"
        yield Region(own, rooms, (f"ap-{number}-{at:02}",), name=name, open_to=_OPEN.get(kind))
