"""`building.toml`: from the file to a building, and back, with one sentence for whatever is wrong in it.

Regions name their floor and rooms stand in their region, so a cycle cannot be written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from louver import parameters
from louver.errors import ParameterError
from louver.sense.building import Building, Floor, Region, Room
from louver.source.names import instead_of
from louver.source.toml import Section
from louver.source.toml_file import parsed

_OF_A_BUILDING = ("id", "name", "capacity", "timezone", "roles", "devices_per_person", "plan", "load")
_OF_A_FLOOR = ("name", "capacity", "load")
_OF_A_REGION = ("name", "floor", "capacity", "access_points", "open_to", "rooms", "sensors", "load")
_OF_A_ROOM = ("name", "capacity", "open_to")
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def read(path: Path) -> Building:
    """The building that a file describes."""
    file = Section(path, "", parsed(path))
    file.allow("building", "floor", "region")
    given = file.section("building")
    given.allow(*_OF_A_BUILDING)
    floors, regions = file.sections("floor"), file.sections("region")
    for section in (file.section("floor"), file.section("region")):
        for name in section.names():
            if not name.strip():
                raise section.wrong(name, "is no id; write letters, digits or words")
    made = {name: _region(name, each) for name, each in regions.items()}
    on_floor = {name: _floor_of(each, floors) for name, each in regions.items()}
    built = tuple(
        _floor(name, each, tuple(made[region] for region in made if on_floor[region] == name))
        for name, each in floors.items()
    )
    plan = given.text("plan")
    id_ = given.needed("id", '"hall-7"')
    with given.said():
        return Building(
            id_,
            built,
            name=given.text("name"),
            own_capacity=_capacity(given),
            timezone=given.text("timezone") or "UTC",
            roles=tuple(_texts(given, "roles") or ()),
            devices_per_person=_number(given, "devices_per_person"),
            plan=None if plan is None else path.parent / plan,
            own_load=_number(given, "load"),
        )


def _floor_of(region: Section, floors: Iterable[str]) -> str:
    found = region.raw("floor")
    name = str(found) if type(found) is int else region.needed("floor", '"1"')
    if name not in floors:
        raise region.wrong("floor", f"names no floor of this file{instead_of(name, floors)}")
    return name


def _floor(name: str, given: Section, regions: tuple[Region, ...]) -> Floor:
    given.allow(*_OF_A_FLOOR)
    return Floor(name, regions, own_capacity=_capacity(given), name=given.text("name"), own_load=_number(given, "load"))


def _region(name: str, given: Section) -> Region:
    given.allow(*_OF_A_REGION)
    listed = given.section("rooms")
    return Region(
        name,
        rooms=tuple(_room(room, listed) for room in listed.names()),
        access_points=tuple(_texts(given, "access_points") or ()),
        own_capacity=_capacity(given),
        name=given.text("name"),
        open_to=_open_to(given),
        sensors=tuple(_texts(given, "sensors") or ()),
        load=_number(given, "load"),
    )


def _room(name: str, listed: Section) -> Room:
    """A room is its capacity, or a table with it and more."""
    if not isinstance(listed.raw(name), dict):
        with listed.said(name):
            return Room(name, parameters.count("The capacity", listed.raw(name)))
    given = listed.section(name)
    given.allow(*_OF_A_ROOM)
    capacity = _capacity(given)
    if capacity is None:
        raise given.wrong("capacity", "is missing; write for example capacity = 24")
    return Room(name, capacity, name=given.text("name"), open_to=_open_to(given))


def _capacity(given: Section) -> int | None:
    if "capacity" not in given:
        return None
    with given.said("capacity"):
        return parameters.count("The capacity", given.raw("capacity"))


def _number(given: Section, name: str) -> Fraction | None:
    if name not in given:
        return None
    with given.said(name):
        return parameters.fraction(name, given.raw(name))


def _texts(given: Section, name: str) -> list[str] | None:
    return None if given.raw(name) == [] else given.texts(name)


def _open_to(given: Section) -> tuple[str, ...] | None:
    """No entry means everybody; an empty list, nobody."""
    return tuple(_texts(given, "open_to") or ()) if "open_to" in given else None


def written(building: Building) -> str:
    """The building as text, with a line of comment for each part; `read` gives the same building back."""
    lines = [
        "# A building: its floors (lowest first), regions and rooms, and which access point covers which region.",
        "# Capacities are people. `louver.sense.Building.read` reads this file.",
        "",
        "[building]",
        *_entries(
            id=building.id,
            name=building.name,
            capacity=building.own_capacity,
            timezone=building.timezone,
            roles=building.roles or None,
            devices_per_person=building.devices_per_person,
            plan=None if building.plan is None else building.plan.name,
            load=building.own_load,
        ),
    ]
    for floor in building.floors:
        lines += ["", f"[floor.{_key(floor.id)}]", *_floor_entries(floor)]
    for floor in building.floors:
        for region in floor.regions:
            lines += ["", f"[region.{_key(region.id)}]", *_region_entries(floor, region)]
    return "\n".join(lines) + "\n"


def _floor_entries(floor: Floor) -> list[str]:
    return _entries(name=floor.name, capacity=floor.own_capacity, load=floor.own_load)


def _region_entries(floor: Floor, region: Region) -> list[str]:
    entries = _entries(
        name=region.name,
        floor=floor.id,
        capacity=region.own_capacity,
        access_points=region.access_points or None,
        open_to=region.open_to,
        sensors=region.sensors or None,
        load=region.load,
    )
    return entries + [f"rooms.{_key(room.id)} = {_room_value(room)}" for room in region.rooms]


def _room_value(room: Room) -> str:
    more = _entries(capacity=room.capacity, name=room.name, open_to=room.open_to)
    return str(room.capacity) if len(more) == 1 else "{ " + ", ".join(more) + " }"


def _entries(**values: Any) -> list[str]:
    return [f"{name} = {_value(value)}" for name, value in values.items() if value is not None]


def _value(value: Any) -> str:
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Fraction):
        return _decimal(value)
    if isinstance(value, str):
        return _text(value)
    return "[" + ", ".join(_text(each) for each in value) + "]"


def _decimal(exact: Fraction) -> str:
    """The decimal that is exactly the number; one that has none is not written as another."""
    found = Decimal(exact.numerator) / Decimal(exact.denominator)
    if Fraction(found) != exact:
        raise ParameterError(f"A building's number is {exact}, which is no decimal number; round it first.")
    plain = format(found, "f")
    return plain if "." in plain else f"{plain}.0"


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _text(name)


def _text(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(sign if sign.isprintable() else f"\\U{ord(sign):08x}" for sign in escaped) + '"'
