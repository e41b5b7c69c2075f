"""`louver map` as people use it: build, show, ask and combine, one command after the other."""

from __future__ import annotations

import json
import math
import random
import sys
import xml.etree.ElementTree as Xml
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as parquet
import pytest

from louver.ledger import Ledger
from louver.space import read_map, region
from tests.cli.asking import VARIABLES, Told, refused_by, told

DESCRIBED = """
[source.air]
table = "readings.csv"
dataset = "town"
unit = "(person, day)"
ledger = "town.ledger"
rows_per_unit = 1
[source.air.columns]
day = "day(time)"
[source.air.values]
pm25 = { low = 0, high = 150 }
"""
PLACES = ("--x", "lon", "--y", "lat", "--value", "pm25", "--bounds", "8.44,47.32,8.63,47.44")
BARE = ("readings.csv", *PLACES, "--range", "0,150", "--unit", "row")
# At this price there is no noise on counts but once in 10^40 draws.
LOUD = (*BARE, "--epsilon", "500", "--budget", "1000", "--to", "map.json")
COARSE = (*LOUD, "--readings", "10")  # 13 x 12 cells
REGIONS = {
    "type": "FeatureCollection",
    "features": [
        {
            "type": "Feature",
            "properties": {"name": name},
            "geometry": {
                "type": "Polygon",
                "coordinates": [[[west, 47.32], [east, 47.32], [east, 47.44], [west, 47.44], [west, 47.32]]],
            },
        }
        for name, west, east in (("west", 8.44, 8.535), ("east", 8.535, 8.63))
    ],
}
Map = Callable[..., Told]


def rows() -> str:
    """3,000 readings on three days, 1,000 a day, smoky in the middle."""
    dice, lines = random.Random(5), ["person,time,lon,lat,pm25"]
    for number in range(3000):
        lon, lat = dice.uniform(8.44, 8.63), dice.uniform(47.32, 47.44)
        smoke = 100 * math.exp(-(((lon - 8.535) / 0.04) ** 2) - ((lat - 47.38) / 0.03) ** 2)
        lines.append(f"{number % 1000},2026-03-{1 + number // 1000:02}T09:00:00,{lon},{lat},{10 + smoke}")
    return "\n".join(lines) + "\n"


@pytest.fixture
def louver_map(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Map:
    """Runs `louver map` with the given words, in a folder with readings.csv and its description."""
    monkeypatch.chdir(tmp_path)
    for variable in VARIABLES:
        monkeypatch.delenv(f"LOUVER_{variable}", raising=False)
    Path("readings.csv").write_text(rows())
    Path("louver.toml").write_text(DESCRIBED)
    Path("regions.geojson").write_text(json.dumps(REGIONS))

    def run(*words: str) -> Told:
        return told(capsys, "map", *words)

    return run


def refused(found: Told, said: str) -> None:
    """One sentence and nothing else."""
    refused_by("louver map", found, said)


def asked(told: Told) -> dict[str, Any]:
    assert told.code == 0, told.err
    return {each["region"]: each for each in json.loads(told.out)["regions"]}


def test_a_map_is_built_shown_and_asked(louver_map: Map) -> None:
    built = louver_map("build", *LOUD)
    assert built.code == 0, built.err
    assert built.out.startswith("Protected: one row, not one person")
    assert "map counts and averages of pm25 by lon and lat, by cut" in built.words
    assert "area 8.44 to 8.63 degrees east and 47.32 to 47.44 degrees north, 14.3 x 13.3 km" in built.words
    assert "price epsilon 500.0000, entry 2 of readings.csv.ledger; 500.0000 remains where most is used" in built.words
    assert "Made the ledger" in built.err
    found = asked(louver_map("ask", "map.json", "--json"))["everything"]
    assert round(found["count"]["value"]) == 3000
    shown = louver_map("show", "map.json", "--threshold", "55", "--columns", "40").out.splitlines()
    drawn = [line for line in shown if set(line) <= set("#+. ")]
    assert {len(line) for line in drawn} == {40}
    assert drawn[len(drawn) // 2][20] == "#"
    assert drawn[0][0] in "+. "


def test_text_has_the_cells_of_the_map_and_says_what_its_letters_mean(louver_map: Map) -> None:
    louver_map("build", *COARSE)
    told = louver_map("show", "map.json", "--threshold", "55")
    drawn = [line for line in told.out.splitlines() if set(line) <= set("#+. ")]
    leaves = read_map("map.json").tree.leaves
    assert len(drawn) * (len(drawn[0]) // 2) == len(leaves)
    assert all(line[::2] == line[1::2] for line in drawn)
    assert drawn[len(drawn) // 2][len(drawn[0]) // 2] == "#"
    said = (
        "# average of pm25 above 55, + maybe, . below, blank where readings are too few to tell; a cell at 55 or below "
    )
    assert (
        said + "is called above in at most 1 of 20 cases, and one above is called below in at most 1 of 20"
        in told.words
    )
    surer = louver_map("show", "map.json", "--threshold", "55", "--miss-rate", "0.01", "--false-alarm-rate", "0.001")
    assert "called above in at most 1 of 1,000 cases, and one above is called below in at most 1 of 100" in surer.words
    guess = louver_map("show", "map.json", "--threshold", "55", "--rule", "mean")
    assert "a best guess, however large the noise is" in guess.words
    other = louver_map("show", "map.json", "--threshold", "55", "--columns", "30")
    assert "a best guess, because these are not the map's own cells" in other.words
    assert "at most 1 of 20" not in other.words


def test_regions_of_a_file_and_a_box_are_asked_about(louver_map: Map) -> None:
    louver_map("build", *LOUD)
    found = asked(louver_map("ask", "map.json", "--region", "regions.geojson", "--json"))
    assert list(found) == ["west", "east"]
    assert found["west"]["count"]["value"] + found["east"]["count"]["value"] == pytest.approx(3000, abs=0.1)
    box = asked(louver_map("ask", "map.json", "--box", "8.44,47.32,8.535,47.44", "--json"))
    assert box["8.44,47.32,8.535,47.44"]["count"]["value"] == pytest.approx(found["west"]["count"]["value"])
    table = louver_map("ask", "map.json", "--region", "regions.geojson")
    heads = table.out.splitlines()[0].split()
    assert heads[:7] == ["region", "count", "+-", "average", "of", "pm25", "+-"]
    assert "+- is one standard error: the noise, and what readings in cells that a border cuts may add" in table.words


def test_a_box_within_a_cell_has_no_error(louver_map: Map) -> None:
    louver_map("build", *LOUD)
    small = ("--box", "8.5350,47.3800,8.5351,47.3801")
    told = louver_map("ask", "map.json", *small)
    line = told.out.splitlines()[1].split()
    assert (line[2], line[4], line[5]) == ("-", "-", "100%")
    assert "holds no whole cell of the map" in told.words
    found = asked(louver_map("ask", "map.json", *small, "--json"))[small[1]]
    assert found["count"]["error"] is None
    assert found["count"]["noise"] >= 0
    assert found["cut"] == 1


def test_what_lies_outside_the_map_is_said(louver_map: Map) -> None:
    louver_map("build", *LOUD)
    told = louver_map("ask", "map.json", "--box", "8.535,47.32,8.725,47.44")
    assert "8.535,47.32,8.725,47.44: 50.0% of it lies outside the map" in told.words
    found = asked(louver_map("ask", "map.json", "--box", "8.535,47.32,8.725,47.44", "--json"))
    assert found["8.535,47.32,8.725,47.44"]["outside"] == pytest.approx(0.5)
    assert "outside" not in louver_map("ask", "map.json", "--box", "8.44,47.32,8.63,47.44").out


def test_regions_are_called_by_a_property(louver_map: Map) -> None:
    louver_map("build", *LOUD)
    renamed = json.loads(json.dumps(REGIONS).replace('"name"', '"GEN"'))
    Path("gen.geojson").write_text(json.dumps(renamed))
    assert list(asked(louver_map("ask", "map.json", "--region", "gen.geojson", "--json"))) == ["1", "2"]
    assert list(asked(louver_map("ask", "map.json", "--region", "gen.geojson", "--name", "GEN", "--json"))) == [
        "west",
        "east",
    ]


def test_pictures_pages_and_polygons_are_written(louver_map: Map) -> None:
    louver_map("build", *LOUD)
    for name in ("a.svg", "a.png", "a.html", "a.geojson"):
        told = louver_map("show", "map.json", "--threshold", "55", "--to", name, "--columns", "20")
        assert (told.code, told.words) == (0, f"written {name}")
    Xml.parse("a.svg")  # noqa: S314 our own
    assert Path("a.png").read_bytes().startswith(b"\x89PNG")
    assert "<canvas" in Path("a.html").read_text()
    assert json.loads(Path("a.geojson").read_text())["features"]
    assert louver_map("show", "map.json", "--threshold", "55", "--rule", "cut", "--to", "b.svg").code == 0
    refused(louver_map("show", "map.json", "--threshold", "55", "--to", "a.svg"), "a.svg is there already")
    assert louver_map("show", "map.json", "--threshold", "55", "--to", "a.svg", "--force").code == 0


@pytest.mark.parametrize("name", ["cells.geojson", "cells.parquet"])
def test_the_cells_of_a_stored_map_are_written_for_gis_tools_at_no_price(louver_map: Map, name: str) -> None:
    louver_map("build", *COARSE)
    Path("readings.csv.ledger").rename("away")
    assert louver_map("show", "map.json", "--to", name).words == f"written {name}"
    columns = cells_of(name)
    assert len(columns["count"]) == len(read_map("map.json").tree.leaves)
    assert "shown" not in columns
    assert louver_map("show", "map.json", "--threshold", "55", "--to", name, "--force").code == 0
    columns = cells_of(name)
    assert {*columns["shown"]} >= {"above", "below"}
    assert columns["flagged"] == [each == "above" for each in columns["shown"]]
    assert None not in columns["average_error"]


def cells_of(name: str) -> dict[str, list[Any]]:
    if name.endswith(".parquet"):
        return dict(parquet.read_table(name).to_pydict())
    rows = [each["properties"] for each in json.loads(Path(name).read_text())["features"]]
    return {column: [row[column] for row in rows] for column in rows[0]}


def test_a_map_in_metres_is_no_geojson(louver_map: Map, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("louver.space.files.find_spec", lambda _: None)
    monkeypatch.setitem(sys.modules, "pyproj", None)
    louver_map("build", *LOUD)
    plain = json.loads(Path("map.json").read_text())
    for crs in ("EPSG:25833", None):
        named = {} if crs is None else {"crs": crs}
        bounds = {"west": 390e3, "south": 5810e3, "east": 400e3, "north": 5820e3, "degrees": False, **named}
        Path(f"{crs}.json").write_text(json.dumps({**plain, "bounds": bounds}))
    refused(louver_map("show", "EPSG:25833.json", "--to", "a.geojson"), "this map is in EPSG:25833; write .parquet")
    told = louver_map("show", "EPSG:25833.json", "--to", "a.parquet")
    assert "warning GIS tools must be told the coordinate system; with a named one and pyproj" in told.words
    assert "take GeoJSON for longitude and latitude" in louver_map("show", "None.json", "--to", "a.geojson").words


@pytest.mark.parametrize("name", ["map.geojson", "map.parquet"])
def test_a_map_is_written_for_gis_tools(louver_map: Map, name: str) -> None:
    assert louver_map("build", *LOUD[:-1], name).code == 0
    assert Path(name).stat().st_size > 1000


def test_a_dry_run_reads_and_pays_nothing(louver_map: Map) -> None:
    told = louver_map("build", "air", *PLACES, "--epsilon", "1", "--budget", "2", "--dry-run")
    assert told.code == 0, told.err
    assert "nothing was reserved and no row was read" in told.words
    assert not Path("town.ledger").exists()
    plain = json.loads(
        louver_map("build", "air", *PLACES, "--epsilon", "3", "--budget", "2", "--dry-run", "--json").out
    )
    assert (plain["worst"], plain["way"]) == ("3", "cut")
    assert "does not suffice" in plain["refused"]


def test_rounds_are_paid_for_apart_and_combined_for_nothing(louver_map: Map) -> None:
    for day in (1, 2, 3):
        round_ = ("--from", f"2026-03-0{day}", "--until", f"2026-03-0{day + 1}", "--rounds", "3", "--readings", "1000")
        told = louver_map(
            "build", "air", *PLACES, *round_, "--epsilon", "900", "--budget", "300", "--to", f"{day}.json"
        )
        assert told.code == 0, told.err
        assert "price epsilon 300.0000" in told.words
    told = louver_map("combine", "1.json", "2.json", "3.json", "--to", "all.json")
    assert "epsilon 900.0000 in all for somebody who is in all of the 3 rounds" in told.words
    assert "counts those of one round, not of all 3 rounds together" in told.words
    assert region(read_map("all.json")).count.value == pytest.approx(1000, abs=0.1)
    assert "count: readings of one of 3 rounds." in louver_map("ask", "all.json").words
    refused(louver_map("combine", "1.json", "--to", "x.json"), "Name two rounds or more")
    with Ledger.open("town.ledger") as ledger:
        assert ledger.spent() == 300
    refused(louver_map("combine", "1.json", "1.json", "--to", "x.json"), "named twice")
    refused(louver_map("combine", "all.json", "1.json", "--to", "x.json"), "one of these is there twice")
    refused(
        louver_map("combine", "1.json", "2.json", "--to", "1.json", "--force"), "would write over one of the rounds"
    )
    louver_map("build", *LOUD)
    refused(louver_map("combine", "1.json", "map.json", "--to", "x.json"), "map 2 has cells within cells")


def test_the_same_key_again_costs_nothing(louver_map: Map) -> None:
    louver_map("build", *LOUD, "--key", "march")
    first = Path("map.json").read_text()
    told = louver_map("build", *LOUD, "--key", "march", "--force")
    assert "price nothing this time: entry 2 of readings.csv.ledger has the map" in told.words
    assert Path("map.json").read_text() == first


def test_a_map_that_cannot_be_written_is_kept(louver_map: Map, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("louver.space.files.tempfile.mkstemp", full)
        told = louver_map("build", *LOUD, "--key", "march")
    assert told.code != 0
    assert "the map is paid for and kept, and costs nothing again with --key 'march'." in told.err


def test_bounds_may_begin_with_a_minus(louver_map: Map) -> None:
    south = ("--bounds", "-9.5,-50,8.6,-20.5", "--range", "-5,1e2", "--threshold", "-2.5")
    told = louver_map("build", *BARE, *south, "--epsilon", "1", "--dry-run")
    assert "-9.5 to 8.6 degrees east and -50 to -20.5 degrees north" in told.words


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--bounds", "1,2,3"), "--bounds must be 4 numbers"),
        (("--bounds", "8.63,47.32,8.44,47.44"), "west bound must be below the east"),
        (("--bounds", "8,47,900,48"), "Bounds in degrees must lie between"),
        (("--range", "50,50"), "highest value must be above"),
        (("--range", "0,x"), "--range must be 2 numbers"),
        (("--epsilon", "0"), "--epsilon must be greater than 0"),
        (("--way", "spiral"), "one of these ways"),
        (("--threshold", "500"), "--threshold must be between 0 and 150"),
        (("--readings", "0"), "--readings must be between 1"),
        (("--rounds", "3"), "give --readings"),
        (("--way", "decomposition", "--readings", "9"), "leave --readings out"),
        (("--x", "nope"), "readings.csv has no column 'nope'"),
        (("--from", "2026-03-02"), "give both"),
        (("--rows-per-unit", "2"), "are for units of several rows"),
        (("--to", "map.txt"), "a file .json, .geojson or .parquet"),
        (("--to", "nowhere/map.json"), "There is no folder nowhere"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence_and_makes_no_ledger(
    louver_map: Map, words: tuple[str, ...], said: str
) -> None:
    refused(louver_map("build", *LOUD, *words), said)
    assert not Path("readings.csv.ledger").exists()


def test_what_is_missing_is_said(louver_map: Map) -> None:
    refused(louver_map("build", *LOUD[:-2]), "with --to map.json")
    refused(louver_map("build", *BARE, "--to", "map.json"), "with --epsilon")
    bare = tuple(word for word in BARE if word not in ("--range", "0,150"))
    refused(louver_map("build", *bare, "--epsilon", "1", "--to", "map.json"), "give --range LOW,HIGH")
    Path("town.json").write_text("{}")
    Path("louver.toml").write_text(DESCRIBED.replace("readings.csv", "readings.parquet"))
    refused(louver_map("build", "air", *PLACES, "--epsilon", "1", "--to", "map.json"), "There is no file")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("show", "map.json", "--threshold", "500"), "--threshold must be between 0 and 150"),
        (("show", "map.json", "--threshold", "x"), "--threshold must be a number"),
        (("show", "map.json", "--threshold", "5", "--columns", "0"), "--columns must be between 1 and 256"),
        (("show", "map.json", "--threshold", "5", "--sure", "-1"), "--sure must be between 0 and 100"),
        (("show", "map.json", "--threshold", "5", "--to", "a.txt"), "in a file .svg, .png, .html, .geojson or"),
        (("show", "map.json"), "with --threshold"),
        (("show", "map.json", "--threshold", "5", "--rule", "mean", "--miss-rate", "0.1"), "not both"),
        (("show", "map.json", "--threshold", "5", "--miss-rate", "0.6"), "--miss-rate must be greater than 0"),
        (("show", "map.json", "--threshold", "5", "--false-alarm-rate", "x"), "--false-alarm-rate must be a number"),
        (("show", "map.json", "--threshold", "5", "--rule", "cut", "--to", "a.parquet"), "leave --rule and --columns"),
        (("show", "map.json", "--columns", "5", "--to", "a.geojson"), "with --threshold"),
        (("show", "map.json", "--threshold", "5", "--rule", "cut", "--to", "a.html"), "leave --rule out"),
        (("show", "nope.json", "--threshold", "5"), "There is no file nope.json"),
        (("show", "louver.toml", "--threshold", "5"), "cannot be read as a map"),
        (("show", "regions.geojson", "--threshold", "5"), "This is GeoJSON"),
        (("ask", "map.json", "--box", "1,2,3"), "--box must be 4 numbers"),
        (("ask", "map.json", "--box", "0,0,1,1"), "outside the map's bounds"),
        (("ask", "map.json", "--region", "louver.toml"), "cannot be read as GeoJSON"),
        (("ask", "map.json", "--region", "map.json"), "Polygon or MultiPolygon"),
        (("ask", "map.json", "--name", "GEN"), "give them with --region"),
        (("ask", "map.json", "--region", "regions.geojson", "--name", "GEN"), "has no property 'GEN'"),
        (("combine", "map.json", "b.json", "--to", "a.json", "--sum-drift", "x"), "--sum-drift must be a number"),
    ],
)
def test_what_is_wrong_about_a_map_is_said_in_one_sentence(louver_map: Map, words: tuple[str, ...], said: str) -> None:
    louver_map("build", *LOUD)
    refused(louver_map(*words), said)
