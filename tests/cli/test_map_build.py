"""`louver map build`: what is said before anything is paid, rounds, trees, counts alone, and coordinate systems."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from louver.ledger import Ledger
from louver.space import files, read_map, region
from tests.cli.asking import VARIABLES, Told, told

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
WHERE = ("--x", "lon", "--y", "lat", "--bounds", "8.44,47.32,8.63,47.44")
COUNTS = ("readings.csv", *WHERE, "--unit", "row", "--epsilon", "1")
BARE = (*COUNTS, "--value", "pm25", "--range", "0,150")
PAID = ("--budget", "1000", "--to", "map.json")
# At this price there is no noise on counts but once in 10^40 draws.
LOUD = ("--epsilon", "500")
ROUNDS = ("--value", "pm25", "--readings", "300", "--rounds", "4", "--epsilon", "1")
Build = Callable[..., Told]


def rows() -> str:
    """900 readings of 300 people on three days, 30 of them far to the north."""
    dice, lines = random.Random(5), ["person,time,lon,lat,pm25"]
    for number in range(900):
        lon, lat = dice.uniform(8.44, 8.63), dice.uniform(47.32, 47.44) + (10 if number < 30 else 0)
        lines.append(f"{number % 300},2026-03-{1 + number // 300:02}T09:00:00,{lon},{lat},{10 + number % 7}")
    return "\n".join(lines) + "\n"


@pytest.fixture
def build(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Build:
    """Runs `louver map build` with the given words, in a folder with readings.csv and its description."""
    monkeypatch.chdir(tmp_path)
    for variable in VARIABLES:
        monkeypatch.delenv(f"LOUVER_{variable}", raising=False)
    Path("readings.csv").write_text(rows())
    Path("louver.toml").write_text(DESCRIBED)

    def run(*words: str) -> Told:
        return told(capsys, "map", "build", *words)

    return run


def plain(told: Told) -> dict[str, Any]:
    assert told.code == 0, told.err
    made: dict[str, Any] = json.loads(told.out)
    return made


def refused(found: Told, said: str) -> None:
    """One sentence, and nothing is paid: there is not even a ledger."""
    assert found.code not in (0, None), found.out
    assert said in found.err
    assert found.err.startswith("louver map build: ")
    assert found.err.endswith(".\n")
    assert found.err.count("\n") == 1
    assert not list(Path().glob("*.ledger"))


def test_a_dry_run_says_how_many_cells_of_what_size_and_how_wrong_they_are(build: Build) -> None:
    told = build(*BARE, "--readings", "40000", "--dry-run")
    assert "area 8.44 to 8.63 degrees east and 47.32 to 47.44 degrees north, 14.3 x 13.3 km" in told.words
    assert "there are about 37 x 35 cells of 391 x 365 m with 29.9 readings each" in told.words
    assert "a count is off by 2.8 (one standard error), and an average of pm25 is within 24.2" in told.words
    assert "of the truth in 19 of 20 cells" in told.words
    assert "Rows outside the area, or without a number in lon, lat or pm25, are left out." in told.words


def test_sides_that_were_exchanged_are_seen_in_the_area(build: Build) -> None:
    told = build(*BARE, "--bounds", "47.32,8.44,47.44,8.63", "--dry-run")
    assert "47.32 to 47.44 degrees east and 8.44 to 8.63 degrees north, 13.2 x 21.1 km" in told.words


def test_a_dry_run_warns_where_a_file_says_nothing_of_types(build: Build) -> None:
    assert (
        "readings.csv says nothing of types: a row without a number in lon, lat or pm25"
        in build(*BARE, "--dry-run").words
    )
    duckdb.execute("COPY (SELECT lon, lat, pm25 FROM read_csv('readings.csv')) TO 'readings.parquet'")
    told = build("readings.parquet", *BARE[1:], "--dry-run", "--json")
    assert plain(told)["warnings"] == []


def test_texts_of_a_schema_are_refused_before_anything_is_paid(build: Build) -> None:
    duckdb.execute("COPY (SELECT *, 'x' AS note FROM read_csv('readings.csv')) TO 'readings.parquet'")
    refused(build("readings.parquet", *BARE[1:], "--value", "note", *PAID), "Column 'note' holds texts")
    refused(build("readings.parquet", *BARE[1:], "--x", "note", *PAID), "Column 'note' holds texts")


def test_the_window_of_rounds_is_in_price_promise_map_and_ledger(build: Build) -> None:
    told = build("air", *WHERE, *ROUNDS, "--budget", "0.25", "--from", "2026-03-01", "--until", "2026-03-02", *PAID[2:])
    assert told.code == 0, told.err
    assert "price epsilon 0.2500 for this round, 1.0000 for somebody who is in all 4, entry 2" in told.words
    assert "of somebody who is in all 4 rounds, 73.2% sure" in told.words
    window = "4 rounds, at epsilon 0.25 each and 1 for somebody who is in all of them"
    assert f"This is one of {window}" in told.words
    assert read_map("map.json").about["window"] == window
    with Ledger.open("town.ledger") as ledger:
        entries = [each.body["plan"]["promise"] for each in ledger.entries() if each.act == "reserved"]
    assert window in entries[0]


def test_it_is_said_that_nothing_stops_a_round_more_where_the_unit_names_its_day(build: Build) -> None:
    told = build("air", *WHERE, *ROUNDS, "--from", "2026-03-01", "--until", "2026-03-02", "--dry-run")
    assert "so nothing stops a round after the 4 that epsilon is for" in told.words
    assert "with the unit (person) and a cap of 1 the ledger would" in told.words


def test_the_cap_of_the_window_refuses_a_round_more_of_a_person(build: Build) -> None:
    person = ("readings.csv", *WHERE, "--range", "0,150", *ROUNDS, "--rounds", "2", "--unit", "(person)")
    paid = ("--rows-per-unit", "1", "--budget", "1", "--force", *PAID[2:])
    for day in (1, 2):
        told = build(*person, *paid, "--from", f"2026-03-0{day}", "--until", f"2026-03-0{day + 1}")
        assert told.code == 0, told.err
    told = build(*person, *paid, "--from", "2026-03-03", "--until", "2026-03-04")
    assert told.code != 0
    assert "The budget does not suffice" in told.err


def test_a_number_of_rounds_that_no_ledger_adds_up_is_rounded_down(build: Build) -> None:
    told = build(*BARE, "--readings", "300", "--rounds", "9973", *LOUD, *PAID)
    assert told.code == 0, told.err


def test_both_rules_that_stop_a_tree_can_be_asked_for(build: Build) -> None:
    tree = (
        *BARE,
        *LOUD,
        "--way",
        "decomposition",
        "--depth",
        "2",
        "--level-share",
        "1/4",
        "--force",
        "--budget",
        "2000",
    )
    leaves = {}
    for stop, least in (("children", "2"), ("count", "2"), ("count", "400"), ("count", "2000")):
        told = build(*tree, *PAID[2:], "--stop", stop, "--least", least)
        assert told.code == 0, told.err
        leaves[stop, least] = len(read_map("map.json").tree.leaves)
    # 870 readings are inside: none is above 2,000, so the first cell is the only one.
    assert leaves["count", "2000"] == 1 < leaves["count", "400"] < leaves["count", "2"]
    assert leaves["children", "2"] > 1
    assert read_map("map.json").depth == 0


def test_a_map_of_counts_alone_needs_no_value(build: Build) -> None:
    told = build(*COUNTS, *LOUD, *PAID, "--readings", "50")
    assert told.code == 0, told.err
    assert "map counts by lon and lat, by uniform" in told.words
    assert "average" not in told.words
    released = read_map("map.json")
    assert "value" not in released.about
    assert region(released).count.value == pytest.approx(870, abs=1e-6)


def test_rows_outside_may_count_at_the_edge(build: Build) -> None:
    told = build(*COUNTS, *LOUD, *PAID, "--readings", "50", "--outside", "clamp")
    assert told.code == 0, told.err
    assert "Rows outside the area count at its nearest edge" in told.words
    assert region(read_map("map.json")).count.value == pytest.approx(900, abs=1e-6)


def test_a_coordinate_system_is_kept_in_the_map_and_refused_for_geojson(build: Build) -> None:
    metres = ("readings.csv", "--x", "lon", "--y", "pm25", "--unit", "row", "--bounds", "0,0,900,600", *COUNTS[-2:])
    told = build(*metres, "--crs", "EPSG:25833", *PAID)
    assert told.code == 0, told.err
    assert "area 0 to 900 east and 0 to 600 north, 900 x 600, in EPSG:25833" in told.words
    assert read_map("map.json").bounds.crs == "EPSG:25833"
    told = build(*metres, "--crs", "EPSG:25833", "--budget", "1000", "--to", "map.geojson")
    assert "GeoJSON has degrees" in told.err
    with Ledger.open("readings.csv.ledger") as ledger:
        assert ledger.spent() == 1
    assert not Path("map.geojson").exists()


def test_geoparquet_without_its_library_is_refused_before_anything_is_paid(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(files, "import_module", missing)
    refused(build(*BARE, "--budget", "1000", "--to", "map.parquet"), "GeoParquet needs pyarrow")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--epsilon", "-1"), "--epsilon must be greater than 0, not -1."),
        (("--epsilon", "0"), "--epsilon must be greater than 0, not 0."),
        (("--depth", "2"), "--stop, --depth, --level-share and --least say how a decomposition is split"),
        (("--way", "decomposition", "--depth", "17"), "--depth must be between 0 and 16"),
        (("--way", "decomposition", "--level-share", "1"), "--level-share must be between 0 and 1"),
        (("--rounds", "2", "--readings", "9", "--way", "adaptive"), "by cut or uniform"),
        (("--crs", "somewhere"), "like EPSG:25833"),
        (("--x", "long"), "did you mean 'lon'?"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence_and_makes_no_ledger(
    build: Build, words: tuple[str, ...], said: str
) -> None:
    refused(build(*BARE, *words, *PAID), said)


def test_a_range_without_values_is_refused(build: Build) -> None:
    refused(build(*COUNTS, "--range", "0,5", *PAID), "name their column with --value")
    refused(build(*COUNTS, "--way", "cut", *PAID), "such as uniform")


def test_semicolons_are_said_to_be_none_that_separate(build: Build) -> None:
    Path("readings.csv").write_text(rows().replace(",", ";"))
    refused(build(*BARE, *PAID), "its values must be separated by commas")
