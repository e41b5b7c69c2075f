"""Pictures of streams: nothing is lost or joined that is not so, and whoever cannot see them is told."""

from __future__ import annotations

import itertools
import re
import xml.etree.ElementTree as Xml
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from louver.privacy import Unit
from louver.source import Domain, Source, Table
from louver.source.measures import View
from louver.steward import Release
from louver.stream.answer import Stream
from louver.stream.picture import AMBER, EDGE, LETTER, MOST_PANELS, WIDTH, Frame, _areas, _line, _marks
from louver.stream.planning import stream
from tests.stream.published import HOUR
from tests.stream.smoothing import seeded

SVG = "{http://www.w3.org/2000/svg}"
PANEL = Frame(70, 20, 600, 100, -10, 90)


def drawn(rooms: list[str], *, path: Path | None = None, truth: bool = False, **asked: Any) -> Xml.Element:
    """The picture of a stream of these rooms, in which seven are at every tick."""
    domain = Domain({"room": rooms}, keys=["room"])
    described = Source(Table("presence.csv", dataset="house", unit=Unit.row()), domains=domain)
    plan = stream(described, **{**HOUR, "epsilon": 1, **asked})
    shape = len(plan.ticks), len(rooms)
    answer = plan.run(View((np.full(shape[0] * shape[1], 7, dtype=np.int64),)), seeded(1)).answer
    release = Release(answer, plan.promise, plan.protected, Fraction(1), Fraction(1), 2)
    made = Stream(plan, release, ("room",)).plot(path, truth=np.full(shape, 7) if truth else None)
    return Xml.fromstring(made)  # noqa: S314


def words(picture: Xml.Element) -> list[str]:
    return [str(each.text) for each in picture.iter(f"{SVG}text")]


def places(path: str) -> list[tuple[float, float]]:
    found = re.search(r'd="M([^"]*?)Z?"', path)
    assert found is not None
    return [(float(x), float(y)) for x, y in (point.split() for point in found[1].split("L"))]


@pytest.mark.parametrize("count", [1, 4, 5, 22, 40])
def test_every_panel_is_inside_the_picture_up_to_the_most_that_are_drawn(count: int) -> None:
    picture = drawn([f"room {number}" for number in range(count)])
    panels = list(picture.iter(f"{SVG}g"))
    assert len(panels) == min(count, MOST_PANELS)
    assert (f"and {count - MOST_PANELS} more" in words(picture)) == (count > MOST_PANELS)
    height = float(picture.attrib["viewBox"].split()[3])
    for text in picture.iter(f"{SVG}text"):
        assert 0 <= float(text.attrib["x"]) <= WIDTH - EDGE
        assert 0 < float(text.attrib["y"]) < height


def test_it_says_what_it_shows_to_those_who_cannot_see_it() -> None:
    picture = drawn(["hall"])
    assert picture.attrib["role"] == "img"
    assert picture[0].text == "count by room, 12 ticks from 2018-02-01 09:00 to 2018-02-01 10:00 UTC"
    assert str(picture[1].text).startswith("Protected: one row")
    assert [panel[0].text for panel in picture.iter(f"{SVG}g")] == ["hall"]


def test_title_price_and_unit_can_be_seen() -> None:
    title, told = words(drawn(["hall", "lab"], epsilon=Fraction(1, 3)))[:2]
    assert title == "count by room, 12 ticks from 2018-02-01 09:00 to 2018-02-01 10:00 UTC"
    assert told.startswith("epsilon 0.3334. Protected: one row")
    assert told.endswith("Each panel has a scale of its own.")
    assert "scale" not in words(drawn(["hall"]))[1]


@pytest.mark.parametrize(
    ("rooms", "end", "every", "said"),
    [
        (1, "2018-02-01T10:00", "5m", ["09:00", "09:10", "09:20", "09:30", "09:40", "09:50", "10:00"]),
        (6, "2018-02-01T10:00", "5m", ["09:00", "09:15", "09:30", "09:45", "10:00"]),
        (6, "2018-02-02T09:00", "5m", ["09:00", "18:00", "00:00", "09:00"]),
        (1, "2018-02-04T00:00", "1h", ["09:00", "02-02", "12:00", "02-03", "12:00", "02-04"]),
        (6, "2018-05-01T00:00", "1h", ["09:00", "03-10", "04-11", "05-01"]),
    ],
)
def test_round_times_are_under_the_panels_and_none_is_over_another(
    rooms: int, end: str, every: str, said: list[str]
) -> None:
    picture = drawn([f"room {number}" for number in range(rooms)], end=end, every=every)
    found = [text for text in picture.iter(f"{SVG}text") if re.fullmatch(r"\d\d[:-]\d\d", str(text.text))]
    shown = found[: len(found) // (1 if rooms == 1 else 2)]  # of the first column
    assert [text.text for text in shown] == said
    share = {"start": 0.0, "middle": 0.5, "end": 1.0}
    ends = [
        (x, x + 5 * LETTER)
        for text in shown
        for x in [float(text.attrib["x"]) - share[text.attrib.get("text-anchor", "start")] * 5 * LETTER]
    ]
    assert all(one[1] < other[0] for one, other in itertools.pairwise(ends))


def test_a_limit_is_drawn_in_its_panel_and_in_the_legend() -> None:
    picture = drawn(["hall"], above=40, miss_rate=0.05)
    lines = [path for path in picture.iter(f"{SVG}path") if path.attrib.get("stroke") == AMBER]
    assert len(lines) == 2
    assert "limit" in words(picture)
    assert "40" in words(picture)  # it is inside the panel, however few are there
    assert not [path for path in drawn(["hall"]).iter(f"{SVG}path") if path.attrib.get("stroke") == AMBER]


def test_a_long_name_keeps_both_ends_and_is_whole_in_its_title() -> None:
    names = [f"{'a room in the west wing ' * 10}{number}" for number in range(6)]
    picture = drawn(names)
    shown = [text for text in words(picture) if text.startswith("a room")]
    assert [text[-2:] for text in shown] == [f" {number}" for number in range(6)]
    assert max(map(len, shown)) < 50
    assert [panel[0].text for panel in picture.iter(f"{SVG}g")] == names


def test_only_truth_that_is_handed_in_is_drawn_and_it_is_dashed() -> None:
    dashed = [path for path in drawn(["hall"], truth=True).iter(f"{SVG}path") if "stroke-dasharray" in path.attrib]
    assert len(dashed) == 2  # in the panel and in the legend
    assert not [path for path in drawn(["hall"]).iter(f"{SVG}path") if "stroke-dasharray" in path.attrib]


def test_where_no_band_is_known_that_is_said() -> None:
    assert any("no band" in text for text in words(drawn(["hall"], mechanism="pegasus")))
    assert any("95 of 100 ticks" in text for text in words(drawn(["hall"])))


def test_a_file_has_a_background_of_its_own_and_a_page_lends_its_ink(tmp_path: Path) -> None:
    assert drawn(["hall"], path=tmp_path / "a.svg").attrib["color"] == "#1b2430"
    assert "color" not in drawn(["hall"]).attrib


def test_a_line_is_broken_where_nothing_is_known() -> None:
    values = np.array([np.nan, 1, 2, np.nan, 3, np.nan])
    lines = [places(path) for path in _line(PANEL, values, "")]
    assert [len(set(line)) for line in lines] == [2, 1]
    assert len(list(_areas(PANEL, values - 1, values + 1))) == 2


def test_among_many_ticks_no_peak_is_lost() -> None:
    values = np.zeros(8640)
    values[[1234, 5678]] = 80, -5
    (path,) = _line(PANEL, values, "")
    heights = {y for _, y in places(path)}
    assert {float(PANEL.point(0, value).split()[1]) for value in (80, -5, 0)} == heights
    assert len(places(path)) <= 2 * PANEL.width
    (area,) = _areas(PANEL, values - 1, values + 1)
    assert PANEL.point(0, 81).split()[1] in {point.split()[1] for point in area}


@pytest.mark.parametrize(
    ("low", "high", "marks"),
    [(-5.5, 48.7, [0, 40]), (0, 1, [0, 1]), (-82, 118, [0, -80, 100]), (-3, 0, [0, -3]), (0, 2265, [0, 2000])],
)
def test_the_numbers_at_the_side_are_round_and_inside(low: float, high: float, marks: list[float]) -> None:
    assert _marks(Frame(0, 0, 600, 100, low, high)) == marks
