from __future__ import annotations

import json
import math
import re
from xml.etree import ElementTree

import pytest

from louver.attack.classes import NAMES
from louver.attack.figure_lines import Line, Lines
from louver.attack.figure_spans import Span, Spans
from louver.attack.figures import WIDTH, Bar, ClassAreas, ClassBars, Figure, Panel
from louver.errors import ParameterError

SIX = tuple(NAMES)
NASTY = "a<b> & \"c\" 'd' \x00\x1b ]]>"
BARS = ClassBars(NASTY, SIX, (Bar("Laplace", (22, 55, 26, 20, 8, 4), "student"), Bar(NASTY, (0,) * 6, NASTY)), NASTY)
AREAS = ClassAreas(
    NASTY, SIX, (Panel(NASTY, ((1, 2, 3, 4, 5, 6), (0,) * 6, (2, 2, 2, 2, 2, 2))),) * 3, ("0:00", "24:00")
)
LINES = Lines(NASTY, NASTY, NASTY, (Line(NASTY, (1, 2, 4), (1, 2, 3), (0, 1, 2), (2, 3, 4)),), 1.5, NASTY)
SPANS = Spans(NASTY, (Span(NASTY, 0.5, 0.4, 0.6, 0.1),))
EVERY: tuple[Figure, ...] = (BARS, AREAS, LINES, SPANS)


def parsed(figure: Figure) -> ElementTree.Element:
    return ElementTree.fromstring(figure.svg("key", alone=True))  # noqa: S314


@pytest.mark.parametrize("figure", EVERY)
def test_a_figure_is_well_formed_whatever_texts_it_shows_and_says_what_it_is(figure: Figure) -> None:
    root = parsed(figure)
    assert root.get("role") == "img"
    title = root.find("{http://www.w3.org/2000/svg}title")
    assert title is not None
    assert (title.text or "").startswith("a<b> & \"c\" 'd'")


@pytest.mark.parametrize("figure", EVERY)
def test_a_figure_has_no_script_and_names_nothing_outside_of_it(figure: Figure) -> None:
    drawn = figure.svg("key")
    assert not re.search(r"<script|<image|<foreignObject|\son\w+=|href", drawn)
    assert re.findall(r"url\(([^)]*)\)", drawn).count("#key-hatch") == len(re.findall(r"url\(", drawn))


@pytest.mark.parametrize("figure", EVERY)
def test_everything_that_is_drawn_lies_within_the_picture(figure: Figure) -> None:
    root = parsed(figure)
    tall = float((root.get("viewBox") or "").split()[3])
    for each in root.iter():
        for name, most in (("x", WIDTH), ("cx", WIDTH), ("y", tall), ("cy", tall)):
            assert 0 <= float(each.get(name) or 0) <= most


@pytest.mark.parametrize("figure", EVERY)
def test_the_data_of_a_figure_is_plain_json(figure: Figure) -> None:
    assert json.loads(json.dumps(figure.data(), allow_nan=False))["title"] == NASTY


def test_bars_are_as_long_as_their_numbers() -> None:
    drawn = ClassBars("t", SIX, (Bar("one", (1, 2, 3, 0, 0, 0)),)).svg()
    widths = [float(each) for each in re.findall(r'width="([\d.]+)" height="16" class="class', drawn)]
    assert widths == pytest.approx([widths[0], 2 * widths[0], 3 * widths[0]], abs=0.2)


def test_the_surest_classes_are_told_without_colour() -> None:
    sure = ClassBars("t", SIX, (Bar("one", (0, 0, 0, 0, 0, 5)),)).svg("a")
    unsure = ClassBars("t", SIX, (Bar("one", (5, 0, 0, 0, 0, 0)),)).svg("a")
    assert sure.count("url(#a-hatch)") == unsure.count("url(#a-hatch)") + 1


def test_a_figure_of_three_classes_has_the_colours_of_the_three_surest() -> None:
    assert set(re.findall(r"class-\d", ClassBars("t", SIX[3:], (Bar("one", (1, 1, 1)),)).svg())) == {
        "class-3",
        "class-4",
        "class-5",
    }


def test_each_number_of_a_bar_is_in_its_title() -> None:
    assert "22 up to 10%, 55 10 to 25%" in BARS.svg()


def test_ticks_that_stay_alike_are_one_step() -> None:
    flat = ClassAreas("t", SIX, (Panel("p", ((1, 0, 0, 0, 0, 0),) * 500),), ("a", "b"))
    assert len(flat.svg()) < 4000


def test_lines_are_told_apart_by_dash_and_mark() -> None:
    drawn = Lines("t", "x", "y", tuple(Line(f"{n}", (1, 2), (n, n)) for n in range(4))).svg()
    assert len(set(re.findall(r"stroke-dasharray=\"([^\"]*)\"", drawn))) == 3
    assert all(mark in drawn for mark in ("<circle", "<rect", "l4 4l-4 4l-4 -4Z", "l4 7h-8Z"))


def test_a_logarithmic_axis_puts_ratios_at_even_distances() -> None:
    drawn = Lines("t", "x", "y", (Line("a", (1, 10, 100), (1, 2, 3)),), logarithmic=True).svg()
    left, middle, right = (float(each) for each in re.findall(r'cx="([\d.]+)"', drawn)[:3])
    assert middle - left == pytest.approx(right - middle, abs=0.2)


@pytest.mark.parametrize("top", [1e-9, 0.03, 1.0, 7.3, 1e6])
def test_an_axis_has_from_three_to_eight_round_numbers(top: float) -> None:
    drawn = Lines("t", "x", "y", (Line("a", (1, 2), (0, top)),)).svg()
    assert 4 <= len(re.findall(r'stroke-opacity="0.15"', drawn)) <= 9


def test_figures_that_cannot_be_drawn_are_refused() -> None:
    with pytest.raises(ParameterError):
        ClassBars("t", SIX, (Bar("one", (1, 2)),))
    with pytest.raises(ParameterError):
        ClassBars("t", SIX, (Bar("one", (1, 2, 3, 4, 5, -1)),))
    with pytest.raises(ParameterError):
        ClassBars("t", ("c",) * 7, ())
    with pytest.raises(ParameterError):
        ClassAreas("t", SIX, (Panel("p", ()),), ("a", "b"))
    with pytest.raises(ParameterError):
        Line("l", (1, 2), (1,))
    with pytest.raises(ParameterError):
        Line("l", (1,), (math.nan,))
    with pytest.raises(ParameterError):
        Line("l", (1,), (1,), low=(0,))
    with pytest.raises(ParameterError):
        Lines("t", "x", "y", ())
    with pytest.raises(ParameterError):
        Lines("t", "x", "y", (Line("l", (0, 1), (1, 1)),), logarithmic=True)
    with pytest.raises(ParameterError):
        Span("s", 0.5, 0.6, 0.4, 0.1)


def test_figures_of_nothing_but_zeros_are_drawn() -> None:
    for figure in (
        ClassBars("t", SIX, ()),
        ClassAreas("t", SIX, (Panel("p", ((0,) * 6,)),), ("a", "b")),
        Lines("t", "x", "y", (Line("l", (1,), (0,)),)),
        Spans("t", ()),
    ):
        assert "nan" not in figure.svg(alone=True)
        parsed(figure)
