"""A building from `building.toml`: what it knows, and what it refuses with one sentence."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from louver.errors import DataError, LouverError, ParameterError
from louver.sense.building import Building, Floor, Region, Room

HOUSE = """
[building]
id = "house"
name = "The house"
timezone = "Europe/Vienna"
roles = ["staff", "guest"]
devices_per_person = 1.3

[floor.1]
name = "Ground floor"

[floor.2]

[region.hall]
floor = "1"
access_points = ["ap-1", "ap-2"]
rooms.aula = 300
rooms.foyer = { capacity = 60, name = "The foyer" }

[region.lab]
floor = 2
capacity = 20
access_points = ["ap-3"]
open_to = ["staff"]
rooms.bench = 12
rooms.store = { capacity = 4, open_to = [] }
"""


def house(tmp_path: Path, text: str = HOUSE) -> Building:
    (tmp_path / "building.toml").write_text(text, encoding="utf-8")
    return Building.read(tmp_path / "building.toml")


def test_capacities_roll_up_and_an_own_one_wins(tmp_path: Path) -> None:
    built = house(tmp_path)
    assert [built.domain(level).numbers("capacity") for level in ("room", "region", "floor", "building")] == [
        tuple(map(Fraction, capacities)) for capacities in ((300, 60, 12, 4), (360, 20), (360, 20), (380,))
    ]


def test_a_domain_has_the_columns_above_for_roll_ups(tmp_path: Path) -> None:
    rooms = house(tmp_path).domain("room")
    assert rooms.keys == ("room",)
    assert rooms.columns == ("room", "capacity", "devices", "region", "floor", "building")
    assert rooms.column("region") == ("hall", "hall", "lab", "lab")
    assert rooms.column("floor") == ("1", "1", "2", "2")
    assert set(rooms.column("building")) == {"house"}


def test_a_calibrated_building_has_thresholds_in_devices(tmp_path: Path) -> None:
    assert house(tmp_path).domain("region").numbers("devices") == (Fraction(468), Fraction(26))
    bare = house(tmp_path, HOUSE.replace("devices_per_person = 1.3", ""))
    assert "devices" not in bare.domain("region").columns


def test_words_say_whether_devices_or_people_are_counted(tmp_path: Path) -> None:
    built = house(tmp_path)
    assert built.counted == "people, by the building's calibration of 1.3 devices each"
    assert built.people(13) == 10
    bare = house(tmp_path, HOUSE.replace("devices_per_person = 1.3", ""))
    assert bare.counted == "devices"
    with pytest.raises(ParameterError, match="counts are of devices and not of people"):
        bare.people(13)


def test_loads_roll_up_where_every_place_has_one_and_an_own_one_wins(tmp_path: Path) -> None:
    text = HOUSE.replace('["ap-1", "ap-2"]', '["ap-1", "ap-2"]\nload = 12.5\nsensors = ["m-1", "m-2"]')
    built = house(tmp_path, text)
    assert "load" not in built.domain("region").columns
    assert built.sensors == {"hall": "hall", "lab": "lab", "m-1": "hall", "m-2": "hall"}
    text = text.replace('["ap-3"]', '["ap-3"]\nload = 30').replace('id = "house"', 'id = "house"\nload = 40')
    built = house(tmp_path, text)
    assert built.domain("region").numbers("load") == (Fraction(25, 2), Fraction(30))
    assert built.domain("floor").numbers("load") == (Fraction(25, 2), Fraction(30))
    assert built.domain("building").numbers("load") == (Fraction(40),)
    (tmp_path / "again.toml").write_text(built.to_toml())
    assert Building.read(tmp_path / "again.toml") == built


def test_an_access_point_leads_to_its_region(tmp_path: Path) -> None:
    built = house(tmp_path)
    assert [built.region_of(point) for point in ("ap-2", "ap-3", "ap-9")] == ["hall", "lab", None]


def test_who_may_enter_is_the_rooms_word_before_the_regions(tmp_path: Path) -> None:
    built = house(tmp_path)
    assert built.may_enter("guest", "hall")
    assert not built.may_enter("guest", "lab")
    assert built.may_enter("staff", "lab", "bench")
    assert not built.may_enter("staff", "lab", "store")
    with pytest.raises(ParameterError, match=r"no role 'guests' \(did you mean 'guest'\?\)"):
        built.may_enter("guests", "hall")


def test_a_building_is_written_as_it_is_read(tmp_path: Path) -> None:
    built = house(tmp_path)
    assert house(tmp_path, built.to_toml()) == built


names = st.text(
    st.characters(exclude_categories=("Cs", "Cc", "Zs", "Zl", "Zp", "Cf", "Co", "Cn")), min_size=1, max_size=8
)


@given(st.lists(names, min_size=2, max_size=6, unique=True), st.integers(0, 2**20), st.decimals(1, 9, places=3))
def test_any_building_is_written_as_it_is_read(
    tmp_path_factory: pytest.TempPathFactory, ids: list[str], capacity: int, each: object
) -> None:
    rooms = tuple(Room(id_, capacity, name=ids[0] + '" \\ [x]') for id_ in ids[1:])
    floor = Floor(ids[0], (Region(ids[0], rooms, access_points=tuple(ids), open_to=(ids[1],)),))
    built = Building(ids[-1], (floor,), roles=tuple(ids), devices_per_person=Fraction(str(each)))
    assert house(tmp_path_factory.mktemp("any"), built.to_toml()) == built


REFUSED = {
    "an unknown floor": ('floor = "1"', 'floor = "11"', "'floor' in [region.hall] names no floor of this file"),
    "a near miss": ("[floor.1]", "[floor.first]", "names no floor of this file"),
    "no floor": ('floor = "1"\n', "", "'floor' in [region.hall] is missing"),
    "a region in itself": ('floor = "1"', 'floor = "hall"', "names no floor of this file"),
    "a region inside a room": ('floor = "1"', 'inside = "aula"', "'inside' in [region.hall] is not known here"),
    "a capacity in words": ("rooms.aula = 300", 'rooms.aula = "many"', "[region.hall.rooms] aula: The cap"),
    "a capacity of half a person": ("capacity = 20", "capacity = 20.5", "[region.lab] capacity: The capacity"),
    "a negative capacity": ("capacity = 20", "capacity = -1", "The capacity must be between 0"),
    "a capacity that is true": ("capacity = 20", "capacity = true", "The capacity must be a whole number"),
    "an endless capacity": ("capacity = 20", "capacity = inf", "The capacity must be a whole number"),
    "a room without capacity": ("{ capacity = 60, name", "{ name", "in [region.hall.rooms.foyer] is missing"),
    "a mistyped word": ("access_points = [\"ap-3", "acess_points = [\"ap-3", "(did you mean 'access_points'?)"),
    "an unknown role": ('open_to = ["staff"]', 'open_to = ["stuff"]', "(did you mean 'staff'?)"),
    "an access point twice": ('"ap-3"', '"ap-1"', "There are two access points 'ap-1'"),
    "a room twice": ("rooms.bench", "rooms.aula", "There are two rooms 'aula'"),
    "a room named as another region": ("rooms.bench", "rooms.hall", "There are a region and a room 'hall'"),
    "a floor without region": ("[floor.2]", "[floor.2]\n[floor.3]", "Floor '3' has no region"),
    "a zone nobody knows": ("Europe/Vienna", "Europe/Wien", "There is no time zone 'Europe/Wien'"),
    "a calibration of nothing": ("person = 1.3", "person = 0", "devices_per_person must be greater than 0"),
    "a calibration of thousands": ("person = 1.3", "person = 1300", "devices_per_person must be between 0 and 100"),
    "a calibration in words": ("person = 1.3", 'person = "few"', "devices_per_person must be a number"),
    "no id": ('id = "house"', "", "'id' in [building] is missing"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_refuses_in_one_sentence(tmp_path: Path, what: str) -> None:
    old, new, said = REFUSED[what]
    assert old in HOUSE
    with pytest.raises(ParameterError) as caught:
        house(tmp_path, HOUSE.replace(old, new, 1))
    assert said in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path / "building.toml"))
    assert str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (HOUSE + "\n[region.hall]\nfloor = '1'\n", r"line \d+, column \d+; a name stands twice"),
        (HOUSE.replace("rooms.foyer", "rooms.aula"), r"line \d+, column \d+; a name stands twice"),
        (HOUSE + "\n[region\n", r"cannot be read as TOML at line \d+"),
    ],
)
def test_what_is_not_toml_is_said_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(DataError, match=said):
        house(tmp_path, text)


def test_a_missing_or_unreadable_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="There is no file"):
        Building.read(tmp_path / "none.toml")
    (tmp_path / "latin.toml").write_bytes(b'[building]\nid = "caf\xe9"\n')
    with pytest.raises(DataError, match="UTF-8"):
        Building.read(tmp_path / "latin.toml")
    with pytest.raises(DataError, match="cannot be read"):
        Building.read(tmp_path)


def test_an_unknown_level_or_place_gets_a_suggestion(tmp_path: Path) -> None:
    built = house(tmp_path)
    with pytest.raises(ParameterError, match=r"no level 'rooms' \(did you mean 'room'\?\)"):
        built.domain("rooms")
    with pytest.raises(ParameterError, match=r"no region 'hal' \(did you mean 'hall'\?\)"):
        built.above("region", "hal")
    assert built.above("room", "store") == {"region": "lab", "floor": "2", "building": "house"}


def test_a_building_without_rooms_is_asked_about_by_region() -> None:
    bare = Building("bare", (Floor("1", (Region("yard", own_capacity=9),)),))
    assert bare.domain("region").numbers("capacity") == (Fraction(9),)
    with pytest.raises(LouverError, match="lists no rooms"):
        bare.domain("room")
