"""Pictures and pages of maps: they show the heatmap's own cells, and bring everything that they need."""

from __future__ import annotations

import json
import re
import struct
import xml.etree.ElementTree as Xml
import zlib
from dataclasses import replace

import numpy as np
import pytest

from louver.errors import ParameterError
from louver.space import Cut, Decomposition, Map, averages, cells, heatmap, page, png, region, svg
from louver.space.picture import EMPTY, INK, Drawn, ramp
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
    shown, drawn = pixels(png(map_, 60, 20)), Drawn.of(map_, 60, 20, "mean", 3)
    size, colours = len(shown[0]) // 20, [*ramp(), EMPTY]
    middles = [
        [shown[(19 - row) * size + size // 2][column * size + size // 2] for column in range(20)] for row in range(20)
    ]
    assert middles == [[colours[shade] for shade in row] for row in drawn.shades.tolist()]
    inked = np.array([[pixel == INK for pixel in row] for row in shown])
    around = np.kron(np.flipud(drawn.flags), np.ones((size, size), dtype=bool))
    assert inked.any()
    assert not (inked & ~around).any()


def test_an_svg_is_well_formed_and_says_how_many_cells_are_above() -> None:
    map_ = replace(released(), about={"value": "<heat & dust>"})
    picture = Xml.fromstring(svg(map_, 60, 25))  # noqa: S314 our own
    flagged = int(heatmap(map_, 60, 25).sum())
    assert picture.attrib["aria-label"] == f"average of <heat & dust> above 60: {flagged} of 625 cells"
    path = next(each.attrib["d"] for each in picture.iter() if each.tag.endswith("path") and "h1" in each.attrib["d"])
    turned = np.pad(heatmap(map_, 60, 25), 1)
    sides = (turned[1:] != turned[:-1]).sum() + (turned[:, 1:] != turned[:, :-1]).sum()
    assert path.count("M") == sides


@pytest.mark.parametrize("structure", STRUCTURES)
def test_a_page_holds_averages_that_are_above_exactly_where_the_heatmap_is(structure: Cut | Decomposition) -> None:
    map_ = released(structure)
    data = json.loads(re.findall(r'<script id="data" type="application/json">(.*?)</script>', page(map_, 60, 20))[0])
    shown = np.array([np.nan if each is None else each for each in data["averages"]]).reshape(20, 20)
    exact = averages(map_, 20, sure=3)
    for threshold in (30, 60, 80):
        far = ~(np.abs(exact - threshold) < 0.1)  # four digits are shown
        np.testing.assert_array_equal((shown > threshold)[far], heatmap(map_, threshold, 20)[far])


def test_a_page_needs_nothing_from_outside_and_no_word_can_break_out_of_it() -> None:
    bad = "</script><script>alert(1)</script>"
    text = page(replace(released(), about={"value": bad, "protected": bad, "x": bad}), 60)
    assert not re.search(r"https?://|src=|@import|url\(", text)
    assert "<script>alert" not in text
    assert text.count("</script>") == 2
    assert "prefers-color-scheme: dark" in text


def test_the_error_of_one_cell_is_that_of_its_region() -> None:
    for structure in STRUCTURES:
        map_ = released(structure)
        found = cells(map_, 4, sure=0)
        asked = region(map_, (25, 50, 50, 75))
        assert found.counts[2, 1] == pytest.approx(asked.count.value)
        assert found.averages[2, 1] == pytest.approx(asked.average.value)
        assert found.errors[2, 1] == pytest.approx(asked.average.error)


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
