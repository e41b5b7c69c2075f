"""Floor plans: a drawn one has every id, and one from a file can do nothing but be looked at."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from louver.errors import DataError, ParameterError
from louver.sense import floor_plan_file
from louver.sense.building import Building, Floor, Region, Room
from louver.sense.floor_plan import drawn

HALL = Region("hall", rooms=(Room("aula", 300), Room("foyer", 60)))
LAB = Region("lab & <co>", own_capacity=20)
HOUSE = Building("house", (Floor("1", (HALL,)), Floor("2", (LAB,))))
START = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 9 9">'
ROOMS = (
    '<rect id="aula" width="3" height="3"/><rect id="foyer" x="3" width="3" height="3"/><path id="lab &amp; &lt;co>"/>'
)


def plan(inside: str, rooms: str = ROOMS) -> floor_plan_file.FloorPlan:
    return floor_plan_file.checked(f"{START}{rooms}{inside}</svg>", HOUSE)


def parsed(svg: str) -> ET.Element:
    return ET.fromstring(svg)  # noqa: S314 made here


def ids(svg: str) -> list[str | None]:
    return [element.get("id") for element in parsed(svg).iter() if element.get("id")]


def test_a_drawn_plan_has_every_region_and_room_once() -> None:
    assert sorted(map(str, ids(drawn(HOUSE)))) == sorted(["hall", "aula", "foyer", "lab & <co>"])


def test_the_highest_floor_is_on_top() -> None:
    shown = drawn(HOUSE)
    assert shown.index("Floor 2") < shown.index("Floor 1")


def test_boxes_of_a_drawn_plan_lie_in_it_and_none_is_empty() -> None:
    regions = tuple(Region(f"r{n}", rooms=tuple(Room(f"r{n}-{m}", m**3) for m in range(n % 14 + 1))) for n in range(40))
    root = parsed(drawn(Building("big", (Floor("1", regions),))))
    width, height = (float(part) for part in str(root.get("viewBox")).split()[2:])
    boxes = [
        [float(str(box.get(name))) for name in ("x", "y", "width", "height")]
        for box in root.iter()
        if box.tag.endswith("rect")
    ]
    assert len(boxes) == 40 + sum(n % 14 + 1 for n in range(40))
    for left, top, wide, high in boxes:
        assert wide > 0
        assert high > 0
        assert left >= 0
        assert left + wide <= width
        assert top + high <= height


def test_a_plan_of_shapes_is_kept() -> None:
    shown = plan('<g fill="#eee" style="stroke: red; fill: url(#paint)"><text x="1" y="2">Aula</text></g>')
    assert shown.removed == ()
    assert "stroke: red; fill: url(#paint)" in shown.svg
    assert ">Aula</text>" in shown.svg


ATTACKS = {
    "<script>": "<script>alert(1)</script>",
    "<foreignObject>": '<foreignObject><body xmlns="http://www.w3.org/1999/xhtml"><script>alert(1)</script></body></foreignObject>',
    "<image>": '<image href="https://evil.example/x.png"/>',
    "<a>": '<a xlink:href="javascript:alert(1)"><text>click</text></a>',
    "<use>": '<use href="https://evil.example/x.svg#a"/>',
    "<style>": "<style>@import url(https://evil.example/x.css);</style>",
    "<set>": '<set attributeName="onclick" to="alert(1)"/>',
    "<animate>": '<animate attributeName="href" values="javascript:alert(1)"/>',
    "<iframe>": '<iframe src="https://evil.example"/>',
    "<handler>": '<handler type="text/ecmascript">alert(1)</handler>',
    "attribute onclick": '<rect onclick="alert(1)"/>',
    "attribute onload": '<g onload="alert(1)"/>',
    "attribute href": '<rect xlink:href="https://evil.example"/>',
    "attribute fill": '<rect fill="url(https://evil.example/x#y)"/>',
    "attribute style": '<rect style="fill: url( https://evil.example)"/>',
    "attribute class": '<rect class="alarm"/>',
    "attribute filter": '<rect filter="url(//evil.example#f)"/>',
}
TRICKS = [
    '<rect style="position: fixed; inset: 0; fill: red"/>',
    '<rect style="fill: u\\72l(https://evil.example)"/>',
    '<rect style="fill: URL(data:text/html;x)"/>',
    '<x:script xmlns:x="http://www.w3.org/2000/svg">alert(1)</x:script>',
    '<h:script xmlns:h="http://www.w3.org/1999/xhtml">alert(1)</h:script>',
    '<SCRIPT>alert(1)</SCRIPT>',
    '<g><g><defs><script href="https://evil.example"/></defs></g></g>',
    "<!-- <script>alert(1)</script> -->",
    '<?xml-stylesheet href="https://evil.example/x.css"?>',
]  # fmt: skip


@pytest.mark.parametrize("what", ATTACKS)
def test_what_could_act_is_left_out_and_named(what: str) -> None:
    shown = plan(ATTACKS[what])
    assert what in shown.removed
    assert "evil" not in shown.svg
    assert "alert" not in shown.svg


@pytest.mark.parametrize("trick", TRICKS)
def test_no_trick_gets_through(trick: str) -> None:
    shown = plan(trick).svg.lower()
    assert not [word for word in ("evil", "alert", "position", "script", "data:", "stylesheet") if word in shown]


def test_letters_after_what_is_left_out_stay() -> None:
    assert ">one two three</text>" in plan("<text>one <a>link</a>two <script/>three</text>").svg


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('<!DOCTYPE svg [<!ENTITY a "b">]><svg xmlns="http://www.w3.org/2000/svg">&a;</svg>', "document type"),
        ("<svg><rect></svg>", "line 1: this is not XML"),
        ("", "not XML"),
        ("<html/>", "no SVG"),
        ('<svg xmlns="http://example.org/other"/>', "no SVG"),
        (f"{START}{'<g>' * 80}{'</g>' * 80}</svg>", "more than 64 deep"),
    ],
)
def test_what_is_no_plan_is_refused(text: str, said: str) -> None:
    with pytest.raises(DataError, match=said):
        floor_plan_file.checked(text, HOUSE)


def test_a_room_that_the_plan_lacks_is_named_with_what_was_perhaps_meant() -> None:
    with pytest.raises(
        ParameterError, match=r"no element with the id 'foyer' \(did you mean 'foyyer'\?\), which is a room"
    ):
        plan("", ROOMS.replace('id="foyer"', 'id="foyyer"'))
    with pytest.raises(ParameterError, match=r"id 'hall'.*which is a region"):
        plan("", ROOMS.replace("aula", "a").replace("foyer", "b"))


def test_a_region_may_stand_for_its_rooms() -> None:
    assert plan("", '<rect id="hall"/><rect id="lab &amp; &lt;co>"/>').removed == ()


def test_an_id_that_comes_twice_is_refused() -> None:
    with pytest.raises(ParameterError, match="two elements with the id 'aula'"):
        plan('<rect id="aula"/>')


def test_the_buildings_own_plan_is_read_from_its_file(tmp_path: Path) -> None:
    text = HOUSE.to_toml().replace('id = "house"', 'id = "house"\nplan = "plan.svg"')
    (tmp_path / "building.toml").write_text(text, encoding="utf-8")
    built = Building.read(tmp_path / "building.toml")
    with pytest.raises(DataError, match="There is no floor plan"):
        built.svg()
    (tmp_path / "plan.svg").write_text(f"{START}{ROOMS}<script/></svg>", encoding="utf-8")
    assert ids(built.svg()) == ["aula", "foyer", "lab & <co>"]
    assert "script" not in built.svg()
    (tmp_path / "plan.svg").write_bytes(b"\xff\xfe")
    with pytest.raises(DataError, match="UTF-8"):
        built.svg()


def test_a_huge_file_is_refused_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(floor_plan_file, "LARGEST", 10)
    (tmp_path / "plan.svg").write_text(START)
    with pytest.raises(DataError, match="may have 10"):
        floor_plan_file.read(tmp_path / "plan.svg", HOUSE)
