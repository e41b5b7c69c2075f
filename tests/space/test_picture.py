"""Pictures and pages of maps: they show the heatmap's own cells, and bring everything that they need."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
import struct
import xml.etree.ElementTree as Xml
import zlib
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from louver.errors import ParameterError
from louver.space import Cut, Decomposition, Map, cells, combined, judge, page, png, region, svg
from louver.space.evidence import Evidence
from louver.space.judged import Sheet
from louver.space.picture import EMPTY, HATCH, INK, Drawn, ramp
from tests.space.fields import bump, seeded

STRUCTURES = (Cut(1, readings=20_000), Decomposition(1, centred=True))


def released(structure: Cut | Decomposition = STRUCTURES[0]) -> Map:
    return structure.release(bump(20_000), bits=seeded(3))


def pixels(image: bytes) -> list[list[str]]:
    """The colours of a PNG with a palette, read by hand."""
    assert image.startswith(b"\x89PNG\r\n\x1a\n")
    at, parts = 8, {}
    while at < len(image):
        (length,), name = struct.unpack_from(">I", image, at), image[at + 4 : at + 8]
        content = image[at + 8 : at + 8 + length]
        assert struct.unpack_from(">I", image, at + 8 + length)[0] == zlib.crc32(name + content)
        parts[name], at = content, at + 12 + length
    width, height, depth, kind, *_ = struct.unpack(">IIBBBBB", parts[b"IHDR"])
    assert (depth, kind) == (8, 3)
    colours = [f"#{parts[b'PLTE'][at : at + 3].hex()}" for at in range(0, len(parts[b"PLTE"]), 3)]
    lines = zlib.decompress(parts[b"IDAT"])
    rows = [lines[row * (width + 1) + 1 : (row + 1) * (width + 1)] for row in range(height)]
    return [[colours[each] for each in row] for row in rows]


@pytest.mark.parametrize("structure", STRUCTURES)
def test_a_png_has_the_colour_of_each_average_and_a_line_inside_what_is_above(structure: Cut | Decomposition) -> None:
    map_ = released(structure)
    shown, drawn = pixels(png(map_, 60, 20, rule="mean")), Drawn.of(map_, 60, 20, rule="mean")
    size, colours = len(shown[0]) // 20, [*ramp(), EMPTY]
    middles = [
        [shown[(19 - row) * size + size // 2][column * size + size // 2] for column in range(20)] for row in range(20)
    ]
    assert middles == [[colours[shade] for shade in row] for row in drawn.shades.tolist()]
    inked = np.array([[pixel == INK for pixel in row] for row in shown])
    around = np.kron(np.flipud(drawn.flags), np.ones((size, size), dtype=bool))
    assert inked.any()
    assert not (inked & ~around).any()


def test_a_png_hatches_what_may_be_above_and_nothing_else() -> None:
    map_ = released()
    shown, drawn = pixels(png(map_, 60, 20)), Drawn.of(map_, 60, 20)
    assert drawn.maybe is not None
    assert drawn.maybe.any()
    size = len(shown[0]) // 20
    hatched = np.array([[pixel == HATCH for pixel in row] for row in shown]).reshape(20, size, 20, size)
    np.testing.assert_array_equal(np.flipud(hatched.any(axis=(1, 3))), drawn.maybe)


def test_a_png_says_what_it_is_in_its_description() -> None:
    image = png(replace(released(), about={"value": "dust", "protected": "Protected: all."}), 60)
    assert b"tEXtDescription\0average of dust" in image
    assert b"epsilon 1. Protected: all." in image


def test_an_svg_is_well_formed_and_says_how_much_is_above_what_it_cost_and_who_is_protected() -> None:
    map_ = replace(released(), about={"value": "<heat & dust>", "protected": "Protected: <all>."})
    picture = Xml.fromstring(svg(map_, 60))  # noqa: S314 our own
    drawn = Drawn.of(map_, 60)
    assert drawn.maybe is not None
    sheet = Sheet.of(map_)
    parts = [f"{float(sheet.areas[each].sum()):.1%}" for each in (drawn.flags, drawn.maybe)]
    assert picture.attrib["aria-label"] == (
        f"average of <heat & dust>: {parts[0]} of the area is above 60, {parts[1]} may be"
    )
    words = " ".join(each.text or "" for each in picture.iter() if each.tag.endswith("text"))
    assert "Protected: <all>." in words
    assert "Numbers are noisy: epsilon 1." in words
    assert "called above in at most 1 of 20 cases" in words


def test_a_firm_line_is_around_what_is_clearly_above_and_a_dashed_one_around_what_may_be() -> None:
    map_ = released()
    judged = judge(map_, 60)
    firm, dashed = (sides(each) for each in (judged.above, judged.above | judged.maybe))
    picture = Xml.fromstring(svg(map_, 60))  # noqa: S314 our own
    drawn = {
        "stroke-dasharray" in each.attrib: each.attrib["d"].count("M")
        for each in picture.iter()
        if each.tag.endswith("path") and each.attrib.get("fill") == "none"
    }
    assert drawn == {False: len(firm), True: len(dashed - firm)}
    assert len(dashed - firm) > 0


def sides(flags: NDArray[np.bool_]) -> set[tuple[int, ...]]:
    turned = np.pad(flags, 1)
    flat, upright = turned[1:] != turned[:-1], turned[:, 1:] != turned[:, :-1]
    return {(0, *place) for place in np.argwhere(flat)} | {(1, *place) for place in np.argwhere(upright)}


def test_a_picture_has_the_cells_of_the_map_itself() -> None:
    """A grid of 25 x 25 on 64 atoms has cells of two and three atoms; each is one cell of the picture."""
    map_ = released()
    drawn = Drawn.of(map_, 60)
    assert drawn.flags.size == len(map_.tree.leaves)
    assert drawn.across is not None
    assert set(np.diff(drawn.across)) == {2.0, 3.0}
    assert Drawn.of(map_, 60, 20).flags.shape == (20, 20)


def tails(sizes: NDArray[np.float64], heavy: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    normal = np.array([0.5 * math.erfc(each / math.sqrt(2)) for each in sizes])
    return heavy * np.exp(-math.sqrt(2) * sizes) / 2 + (1 - heavy) * normal, normal


@pytest.mark.parametrize("structure", STRUCTURES)
def test_a_page_judges_cells_as_python_does(structure: Cut | Decomposition) -> None:
    """What the script computes, computed here from the numbers that the page holds."""
    map_ = released(structure)
    data = json.loads(re.findall(r'<script id="data" type="application/json">(.*?)</script>', page(map_, 60))[0])
    rows, columns = len(data["along"]) - 1, len(data["across"]) - 1
    counts, sums, count_squares, sum_squares, count_fourths, sum_fourths = (
        np.broadcast_to(np.array(data["evidence"][name], dtype=np.float64), rows * columns) for name in Evidence._fields
    )
    for threshold in (30, 60, 80):
        level = threshold - data["zero"]
        squares = sum_squares + level**2 * count_squares
        heavy = (sum_fourths + level**4 * count_fourths) / squares**2
        distance, error = sums - level * counts, np.sqrt(squares)
        tail = tails(np.abs(distance) / error, heavy)[0]
        judged = judge(map_, threshold)
        believed = np.where(distance > 0, 1 - tail, tail).reshape(rows, columns)
        np.testing.assert_allclose(believed, judged.probabilities, atol=1e-5)
        left = level**2 / (level**2 + 2 * math.pi**2 * sum_squares)
        nearer = np.maximum(np.abs(distance) - (data["step"] + abs(level) * left) / 2, 0)
        clear = (np.maximum(*tails(nearer / error, heavy)) <= 0.05).reshape(rows, columns) & judged.known
        np.testing.assert_array_equal(clear, judged.above | judged.below)
        shown = np.array([each is not None for each in data["averages"]])
        np.testing.assert_array_equal(shown.reshape(rows, columns), judged.known)


def test_a_page_needs_nothing_from_outside_and_no_word_can_break_out_of_it() -> None:
    bad = "</script><script>alert(1)</script>"
    text = page(replace(released(), about={"value": bad, "protected": bad, "x": bad}), 60)
    assert not re.search(r"https?://|src=|@import|url\(", text)
    assert "<script>alert" not in text
    assert text.count("</script>") == 2
    assert "prefers-color-scheme: dark" in text


def test_a_word_that_looks_like_a_gap_of_the_page_stays_a_word() -> None:
    """Filled in one after the other, the data would break out of the attribute that holds the name."""
    about = {"value": "@DATA@", "x": " onfocus=alert(1) autofocus z=", "protected": "@SCRIPT@"}
    text = page(replace(released(), about=about), 60)
    assert 'aria-label="Map of average of @DATA@"' in text
    assert "@SCRIPT@ Price" in text


def test_only_the_script_of_the_page_may_run() -> None:
    text = page(released(), 60)
    script = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)[0]
    allowed = re.findall(r"script-src 'sha256-([^']+)'", text)[0]
    assert allowed == base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert "default-src 'none'" in text


def test_pictures_and_pages_of_rounds_say_what_one_round_costs_and_counts() -> None:
    rounds = [Cut(Fraction(1, 4), readings=20_000).release(bump(20_000), bits=seeded(seed)) for seed in range(4)]
    said = "epsilon 0.25 in one round, epsilon 1 for somebody who is in all of the 4 rounds"
    text = page(combined(rounds), 60)
    assert f"Price: {said}." in text
    assert '"counted":"readings of one of 4 rounds"' in text
    assert said in Drawn.of(combined(rounds), 60).small_print


def test_the_error_of_one_cell_is_that_of_its_region() -> None:
    for structure in STRUCTURES:
        map_ = released(structure)
        found = cells(map_, 4, sure=0)
        asked = region(map_, (25, 50, 50, 75))
        assert found.counts[2, 1] == pytest.approx(asked.count.value)
        assert found.averages[2, 1] == pytest.approx(asked.average.value)
        assert found.errors[2, 1] == pytest.approx(asked.average.noise)


def test_a_map_without_readings_can_be_drawn() -> None:
    empty = Cut(1, readings=1).release(bump(0), bits=seeded(1))
    assert EMPTY in {colour for row in pixels(png(empty, 60)) for colour in row}
    Xml.fromstring(svg(empty, 60))  # noqa: S314 our own
    assert "null" in page(empty, 60)


@pytest.mark.parametrize("draw", [svg, png, page])
def test_a_threshold_outside_the_range_is_refused(draw: object) -> None:
    with pytest.raises(ParameterError, match="threshold must be between 0 and 100"):
        draw(released(), 101)  # type: ignore[operator]
    with pytest.raises(ParameterError, match="number of columns must be between"):
        draw(released(), 50, 0)  # type: ignore[operator]
