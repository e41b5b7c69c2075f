"""A building: floors, regions and rooms with capacities, which access point covers which region, and who may enter.

It is public, described once in `building.toml`, and gives questions their domains: the keys of a level, with the
capacities as thresholds and the columns above for roll-ups.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from louver import parameters
from louver.errors import ParameterError
from louver.source.names import instead_of

if TYPE_CHECKING:
    from louver.source.domain import Domain

LEVELS = ("building", "floor", "region", "room")
MOST_DEVICES = 100  # of one person; more is a mistake in the calibration


@dataclass(frozen=True, slots=True)
class Room:
    """One room. `open_to` are the roles that may enter; none named means those of its region."""

    id: str
    capacity: int
    name: str | None = None
    open_to: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Region:
    """What access points can tell apart: some rooms, or a space of its own. Its capacity is its own, or its rooms'.

    `sensors` are its meters, thermometers and the like, and `load` is what these may come to together, in their unit.
    """

    id: str
    rooms: tuple[Room, ...] = ()
    access_points: tuple[str, ...] = ()
    own_capacity: int | None = None
    name: str | None = None
    open_to: tuple[str, ...] | None = None
    sensors: tuple[str, ...] = ()
    load: Fraction | None = None

    @property
    def capacity(self) -> int:
        return sum(room.capacity for room in self.rooms) if self.own_capacity is None else self.own_capacity


@dataclass(frozen=True, slots=True)
class Floor:
    """One floor. Its capacity is its own, or its regions'; and so is its load."""

    id: str
    regions: tuple[Region, ...]
    own_capacity: int | None = None
    name: str | None = None
    own_load: Fraction | None = None

    @property
    def capacity(self) -> int:
        return sum(region.capacity for region in self.regions) if self.own_capacity is None else self.own_capacity

    @property
    def load(self) -> Fraction | None:
        return _together(region.load for region in self.regions) if self.own_load is None else self.own_load


@dataclass(frozen=True, slots=True)
class Building:
    """A building with its floors, the lowest first.

    >>> hall = Region("hall", rooms=(Room("aula", 300), Room("foyer", 60)), access_points=("ap-1",))
    >>> house = Building("house", floors=(Floor("ground", regions=(hall,)),), devices_per_person=Fraction(13, 10))
    >>> house.region_of("ap-1"), house.domain("room").numbers("capacity")
    ('hall', (Fraction(300, 1), Fraction(60, 1)))
    >>> house.counted
    "people, by the building's calibration of 1.3 devices each"
    """

    id: str
    floors: tuple[Floor, ...]
    name: str | None = None
    own_capacity: int | None = None
    timezone: str = "UTC"
    roles: tuple[str, ...] = ()
    devices_per_person: Fraction | None = None
    plan: Path | None = None
    own_load: Fraction | None = None
    _floor: Mapping[str, str] = field(init=False, repr=False, compare=False)
    _region: Mapping[str, str] = field(init=False, repr=False, compare=False)
    _access_point: Mapping[str, str] = field(init=False, repr=False, compare=False)
    _sensor: Mapping[str, str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.floors:
            raise ParameterError(f"Building {self.id!r} needs at least one floor.")
        regions = [region for floor in self.floors for region in floor.regions]
        _check_once("building", [self.id])
        _check_once("floor", (floor.id for floor in self.floors))
        _check_once("region", (region.id for region in regions))
        _check_once("room", (room.id for region in regions for room in region.rooms))
        points = [(point, region.id) for region in regions for point in region.access_points]
        _check_once("access point", (point for point, _ in points))
        sensors = [(sensor, region.id) for region in regions for sensor in region.sensors]
        _check_once("sensor", (sensor for sensor, _ in sensors))
        self._check_shared_ids(regions)
        self._check_capacities(regions)
        self._check_roles(regions)
        _check_timezone(self.timezone)
        if self.devices_per_person is not None:
            exact = parameters.positive("devices_per_person", self.devices_per_person)
            parameters.within("devices_per_person", exact, 0, MOST_DEVICES)
            object.__setattr__(self, "devices_per_person", exact)
        maps = {
            "_floor": {region.id: floor.id for floor in self.floors for region in floor.regions},
            "_region": {room.id: region.id for region in regions for room in region.rooms},
            "_access_point": dict(points),
            "_sensor": {region.id: region.id for region in regions} | dict(sensors),
        }
        for name, made in maps.items():
            object.__setattr__(self, name, MappingProxyType(made))

    @classmethod
    def read(cls, path: str | Path) -> Building:
        """From `building.toml`; what is wrong in it is said in one sentence with its place."""
        from louver.sense.building_toml import read

        return read(Path(path))

    def to_toml(self) -> str:
        """The building as a file that `read` takes."""
        from louver.sense.building_toml import written

        return written(self)

    @property
    def capacity(self) -> int:
        return sum(floor.capacity for floor in self.floors) if self.own_capacity is None else self.own_capacity

    @property
    def load(self) -> Fraction | None:
        """What all sensors may come to together: the building's own, or that of its floors where each has one."""
        return _together(floor.load for floor in self.floors) if self.own_load is None else self.own_load

    @property
    def regions(self) -> tuple[Region, ...]:
        return tuple(region for floor in self.floors for region in floor.regions)

    @property
    def rooms(self) -> tuple[Room, ...]:
        return tuple(room for region in self.regions for room in region.rooms)

    @property
    def access_points(self) -> Mapping[str, str]:
        """The region of each access point."""
        return self._access_point

    @property
    def sensors(self) -> Mapping[str, str]:
        """The region of each sensor. One that is not listed may say its region's id instead of its own."""
        return self._sensor

    def region_of(self, access_point: str) -> str | None:
        """The region that an access point covers; None for one that the building does not know."""
        return self._access_point.get(access_point)

    def above(self, level: str, id_: str) -> dict[str, str]:
        """The places that a place lies in, by level: the region, floor and building of a room."""
        self._check_level(level)
        known: Mapping[str, Iterable[str]] = {
            "building": (self.id,),
            "floor": [floor.id for floor in self.floors],
            "region": self._floor,
            "room": self._region,
        }
        if id_ not in known[level]:
            raise ParameterError(f"Building {self.id!r} has no {level} {id_!r}{instead_of(id_, known[level])}.")
        found = {}
        if level == "room":
            found["region"] = id_ = self._region[id_]
        if level in ("room", "region"):
            found["floor"] = self._floor[id_]
        return found | ({} if level == "building" else {"building": self.id})

    def domain(self, level: str = "region") -> Domain:
        """The places of one level as the keys of a question, with their capacity and the columns above for roll-ups.

        `load` is a column where every place of the level has one. Where the building is calibrated, `devices` is the
        number of devices that a full place holds: capacity in people times devices per person, exactly.
        """
        from louver.source.domain import Domain

        self._check_level(level)
        places = self._places(level)
        columns: dict[str, list[object]] = {level: [place.id for place in places]}
        columns["capacity"] = [place.capacity for place in places]
        if self.devices_per_person is not None:
            columns["devices"] = [place.capacity * self.devices_per_person for place in places]
        loads = [None if isinstance(place, Room) else place.load for place in places]
        if None not in loads:
            columns["load"] = list(loads)
        above = [self.above(level, place.id) for place in places]
        for name in above[0]:
            columns[name] = [each[name] for each in above]
        return Domain(columns, keys=[level])

    def may_enter(self, role: str, region: str, room: str | None = None) -> bool:
        """Whether a role may enter a region, or a room of it; where no roles are named, everybody may."""
        if role not in self.roles:
            raise ParameterError(f"Building {self.id!r} has no role {role!r}{instead_of(role, self.roles)}.")
        self.above("region", region)
        found = next(each for each in self.regions if each.id == region)
        open_to = found.open_to
        if room is not None:
            inside = {each.id: each for each in found.rooms}
            if room not in inside:
                raise ParameterError(f"Region {region!r} has no room {room!r}{instead_of(room, inside)}.")
            open_to = inside[room].open_to if inside[room].open_to is not None else open_to
        return open_to is None or role in open_to

    @property
    def counted(self) -> str:
        """What a count of this building's presence counts, in words: a device is not a person."""
        if self.devices_per_person is None:
            return "devices"
        return f"people, by the building's calibration of {decimal(self.devices_per_person)} devices each"

    def people(self, devices: int | Fraction) -> Fraction:
        """A released number of devices as people, by the calibration; refused where there is none."""
        if self.devices_per_person is None:
            raise ParameterError(
                f"Building {self.id!r} has no devices_per_person, so its counts are of devices and not of people."
            )
        return Fraction(devices) / self.devices_per_person

    def svg(self) -> str:
        """The floor plan: the building's own file, made safe and checked against its rooms, or a drawn grid."""
        from louver.sense.floor_plan import drawn
        from louver.sense.floor_plan_file import read

        return drawn(self) if self.plan is None else read(self.plan, self).svg

    def _places(self, level: str) -> tuple[Building, ...] | tuple[Floor, ...] | tuple[Region, ...] | tuple[Room, ...]:
        if level == "building":
            return (self,)
        if level == "floor":
            return self.floors
        places = self.regions if level == "region" else self.rooms
        if not places:
            raise ParameterError(f"Building {self.id!r} lists no rooms; ask about its regions.")
        return places

    def _check_level(self, level: str) -> None:
        if level not in LEVELS:
            raise ParameterError(f"A building has no level {level!r}{instead_of(level, LEVELS)}.")

    def _check_shared_ids(self, regions: Iterable[Region]) -> None:
        """A region of one room may share its id with it; otherwise a floor plan could not tell them apart."""
        own = {region.id: region for region in regions}
        for region in own.values():
            for room in region.rooms:
                if room.id in own and (room.id != region.id or len(region.rooms) > 1):
                    raise ParameterError(f"There are a region and a room {room.id!r}; give the room another id.")

    def _check_capacities(self, regions: Iterable[Region]) -> None:
        for floor in self.floors:
            if not floor.regions:
                raise ParameterError(f"Floor {floor.id!r} has no region; a floor is made of at least one.")
        for region in regions:
            if region.own_capacity is None and not region.rooms:
                raise ParameterError(f"Region {region.id!r} needs a capacity, or rooms that have one.")
            for room in region.rooms:
                parameters.count(f"The capacity of room {room.id!r}", room.capacity)
        floors = [(floor.id, floor.own_capacity) for floor in self.floors]
        for id_, capacity in [
            (self.id, self.own_capacity),
            *floors,
            *((each.id, each.own_capacity) for each in regions),
        ]:
            if capacity is not None:
                parameters.count(f"The capacity of {id_!r}", capacity)
        loads = [(self.id, self.own_load), *((floor.id, floor.own_load) for floor in self.floors)]
        for id_, load in [*loads, *((region.id, region.load) for region in regions)]:
            if load is not None:
                parameters.positive(f"The load of {id_!r}", load)

    def _check_roles(self, regions: Iterable[Region]) -> None:
        for region in regions:
            for id_, open_to in [(region.id, region.open_to), *((room.id, room.open_to) for room in region.rooms)]:
                for role in open_to or ():
                    if role not in self.roles:
                        raise ParameterError(
                            f"{id_!r} is open to the role {role!r}, which the building does not list"
                            f"{instead_of(role, self.roles)}."
                        )


def _together(loads: Iterable[Fraction | None]) -> Fraction | None:
    """All of them, where each is known."""
    known = [(load is not None, load or Fraction(0)) for load in loads]
    return sum((load for _, load in known), Fraction(0)) if all(is_known for is_known, _ in known) else None


def decimal(number: Fraction) -> str:
    """A number as people write it: 1.3 where it is that, else to three places."""
    return f"{float(number):.3f}".rstrip("0").rstrip(".")


def _check_once(what: str, ids: Iterable[object]) -> None:
    seen: set[str] = set()
    for id_ in ids:
        if not isinstance(id_, str) or not id_ or not id_.isprintable():
            raise ParameterError(f"The id of a {what} must be a text that can be printed and is not empty.")
        if id_ in seen:
            raise ParameterError(f"There are two {what}s {id_!r}; an id is given once.")
        seen.add(id_)


def _check_timezone(name: str) -> None:
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise ParameterError(
            f"There is no time zone {name!r}; write it like 'Europe/Vienna' or 'UTC', as the system's list has it."
        ) from None
