from __future__ import annotations

import json
import math
import re
import xml.etree.ElementTree as Xml
from collections import Counter
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from louver.decide import payers
from louver.decide.answer import Answer, Surveyed
from louver.decide.charged import charged
from louver.decide.planning import plan
from louver.decide.progressive import Progressive
from louver.decide.shown import down, up
from louver.decide.spread import Margins
from louver.decide.zones import FOUND, FREE, QUIET, panels
from louver.errors import DataError, ParameterError
from louver.noise.bits import SYSTEM
from louver.privacy import Unit, largest_total, min_entropy, plan_from_dict, plan_to_dict, total_at
from louver.question import classes, col, count, count_distinct, question, sum_, to_python, to_sql, values
from louver.source.description import Source
from louver.source.domain import Domain
from louver.source.measures import Bound, View
from louver.source.table import Table
from louver.steward import Release

ROOMS = Domain({"room": ["hall", "lab", "attic"], "limit": [180, 24, 50]}, keys=["room"])
CROWDED = count().by("room") > col("limit")
MARGINS, THIRD = Margins({-100: 20}), Fraction(1, 3)
FAR = 5000  # from a threshold: wrong with probability under 1e-300


def planned(asked: Any, domain: Domain = ROOMS, unit: Unit | None = None, **promise: Any) -> Any:
    chosen = unit or Unit.row()
    bound = None if chosen.is_row else Bound(2)
    source = Source(Table("presence.csv", dataset="house", unit=chosen), domains=domain, bound=bound)
    return plan(source, asked, **{"miss_rate": 0.05, "slack": 10, **promise})


def answered(made: Any, *measures: list[int], **given: Any) -> Answer:
    """The answer that a steward would release for these true values."""
    outcome = made.run(View(tuple(np.array(each, dtype=np.int64) for each in measures)), SYSTEM)
    worst = largest_total(made.worst).price
    paid = worst if outcome.charges is None else largest_total(outcome.charges).price
    plain = json.loads(json.dumps(outcome.answer))
    return Answer(made, Release(plain, made.promise, made.unit.sentence(), worst, paid, 7), **given)


@pytest.fixture
def crowded() -> Answer:
    return answered(planned(CROWDED), [180 + FAR, 24 - FAR, 50 + FAR], remaining=Fraction(1, 3))


def test_the_first_line_of_an_answer_says_what_is_protected(crowded: Answer) -> None:
    lines = str(crowded).splitlines()
    assert lines[0] == "Protected: one row, not one person; the costs of one person's rows add up."
    assert lines[1] == "Flagged: hall, attic (2 of 3)"
    assert lines[2].startswith("Promise: A room whose count is above its limit is missed in at most 1 of 20 cases.")
    assert lines[3] == "Price: epsilon 0.4148 at most, entry 7 of the ledger; 0.3333 remains where most is used"


def test_an_answer_gives_its_keys_as_they_are_in_the_domain() -> None:
    days = Domain({"day": [date(2014, 1, 31), date(2014, 2, 1)], "n": [1, 2]}, keys=["day", "n"])
    found = answered(planned(count().by("day", "n") > 50, days), [FAR, -FAR])
    assert found.flagged == ((date(2014, 1, 31), 1),)
    assert "Flagged: 2014-01-31, 1 (1 of 2)" in str(found)
    assert found.to_dict()["answer"]["flagged"] == [["2014-01-31", 1]]


def test_nothing_flagged_is_said() -> None:
    assert "Flagged: none (0 of 3)" in str(answered(planned(CROWDED), [-FAR, -FAR, -FAR]))


def test_a_long_list_is_cut_and_counted() -> None:
    many = Domain({"room": range(60)}, keys=["room"])
    assert re.search(
        r"Flagged: 0, 1, .*, 49 and 10 more \(60 of 60\)",
        str(answered(planned(count().by("room") > 5, many), [FAR] * 60)),
    )


def test_a_threshold_below_the_slack_is_warned_of() -> None:
    found = answered(planned(count().by("room") > 5), [FAR, -FAR, -FAR])
    assert any("may be flagged; take less slack" in warning for warning in found.warnings)
    assert "\nWarning: " in str(found)
    assert found.to_dict()["warnings"] == list(found.warnings)


def test_key_columns_are_headed_by_the_names_that_the_source_declares() -> None:
    hours = Domain({"hour(time)": [9, 10]}, keys=["hour(time)"])
    found = answered(planned(count().by("hour(time)") > 50, hours), [FAR, -FAR], names={"hour(time)": "hour"})
    assert found.columns == {"hour": [9, 10], "flagged": [True, False]}
    assert list(found.to_frame("pandas").columns) == ["hour", "flagged"]
    assert found.to_dict()["answer"]["columns"] == ["hour"]
    assert found.keys.columns == ("hour(time)",)


def test_numbers_are_headed_by_the_names_that_the_question_gives() -> None:
    asked = "SELECT room, count(*) AS n, count(*) FILTER (WHERE floor = 1) FROM presence GROUP BY room"
    made = planned(asked, within=10, slack=None)
    found = answered(made, [1, 2, 3], [1, 2, 3])
    assert list(found.columns) == ["room", "n", "count"]
    assert list(found.to_frame("polars").columns) == ["room", "n", "count"]
    assert found.to_dict()["answer"]["names"] == ["n", "count"]
    assert "COUNT(*) AS n" in to_sql(made.question)
    again: Any = plan_from_dict(plan_to_dict(made))
    assert again.question == made.question
    by_hand = values(
        count().by("room"), count().by("room").where(col("floor") == 1), names=["n", None], table="presence"
    )
    assert by_hand == made.question
    assert eval(to_python(by_hand), {"values": values, "count": count, "col": col}) == by_hand  # noqa: S307 it is our own


@pytest.mark.parametrize("names", [["n", "m"], "n", 5, [3], [" n"]])
def test_odd_names_of_numbers_are_refused(names: Any) -> None:
    with pytest.raises(ParameterError):
        values(count().by("room"), names=names)


def test_counted_columns_are_headed_by_declared_names_too() -> None:
    asked = values(count_distinct("day(time)").by("room"))
    found = answered(planned(asked, within=10), [1, 2, 3], names={"day(time)": "day"})
    assert list(found.columns) == ["room", "number of different values of day"]


@pytest.mark.parametrize(("name", "head"), [("level", "level"), (None, "class"), ("room", "room 2")])
def test_classes_are_headed_by_the_name_that_the_question_gives(name: str | None, head: str) -> None:
    asked = classes(count().by("room"), [90], ["low", "high"], name=name)
    found = answered(planned(asked), [FAR, -FAR, -FAR])
    assert found.to_frame("polars").columns == ["room", head]
    assert found.columns[head] == ["high", "low", "low"]
    assert found.to_dict()["answer"]["name"] == head
    assert "Classes: hall: high; lab: low; attic: low" in str(found)


def test_bounds_that_can_bind_are_said_with_the_promise() -> None:
    found = answered(planned(CROWDED, unit=Unit("device")), [FAR, -FAR, -FAR])
    assert "misses caused by that are not covered" in found.promise


def test_plain_values_hold_no_more_than_an_analyst_may_see() -> None:
    found = answered(planned(CROWDED, strategy="progressive"), [180 + FAR, 24 - FAR, 50])
    plain = json.loads(json.dumps(found.to_dict()))
    assert set(plain) == {
        *("protected", "answer", "promise", "warnings", "strategy", "number", "again"),
        *("worst", "worst_epsilon", "remaining", "remaining_epsilon", "survey", "survey_epsilon"),
        *("charged", "charged_epsilon", "spent", "spent_epsilon", "meaning"),
    }
    assert set(plain["answer"]) == {"columns", "flagged", "keys"}
    assert Fraction(plain["worst"]) == found.worst
    assert set(found.to_dict(owner=True)) - set(plain) == {"owner"}


def test_decimals_beside_exact_prices_are_rounded_in_the_safe_direction(crowded: Answer) -> None:
    found = answered(planned(CROWDED), [FAR, FAR, FAR], remaining=Fraction(2, 3), survey=Surveyed(MARGINS, THIRD))
    plain = found.to_dict(owner=True)
    assert (plain["worst_epsilon"], plain["charged_epsilon"]) == (0.4148, 0.4148)
    assert (plain["remaining_epsilon"], plain["survey"], plain["survey_epsilon"]) == (0.6666, "1/3", 0.3334)
    assert plain["owner"]["prices_epsilon"] == [0.4148] * 3
    assert plain["protected"] == "one row, not one person; the costs of one person's rows add up"
    assert crowded.to_dict()["survey"] is None


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_an_answer_becomes_a_frame_of_the_kind_that_came_in(crowded: Answer, kind: str) -> None:
    same = Answer(crowded.plan, crowded.release, frame=kind)
    frame = same.to_frame()
    assert type(frame).__module__.partition(".")[0] == {"arrow": "pyarrow"}.get(kind, kind)
    columns = frame.to_pydict() if kind == "arrow" else {name: list(frame[name]) for name in frame.columns}
    assert columns == {"room": ["hall", "lab", "attic"], "flagged": [True, False, True]}
    assert type(crowded.to_frame(kind)) is type(frame)


def test_a_frame_of_an_unknown_kind_is_refused(crowded: Answer) -> None:
    with pytest.raises(ParameterError, match=r"not 'panda' \(did you mean 'pandas'\?\)\.$"):
        crowded.to_frame("panda")


def test_a_library_that_is_not_there_is_named(crowded: Answer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "polars", None)
    with pytest.raises(DataError, match="pip install polars"):
        crowded.to_frame("polars")


def test_a_key_column_may_be_called_flagged() -> None:
    found = answered(planned(count().by("flagged") > 50, Domain({"flagged": ["a"]}, keys=["flagged"])), [FAR])
    assert found.columns == {"flagged": ["a"], "flagged 2": [True]}


def test_numbers_come_with_their_keys() -> None:
    made = planned(values(count().by("room"), count().by("room").where(col("floor") == 1)), within=10, slack=None)
    found = answered(made, [FAR, 0, -FAR], [1, 2, 3])
    assert list(found.columns) == ["room", "count", "count 2"]
    assert all(abs(near - true) < 200 for near, true in zip(found.columns["count"], [FAR, 0, -FAR], strict=True))
    assert str(found).splitlines()[1].startswith("Values: count, count 2 by room: hall: ")
    assert found.to_dict()["answer"]["listed"] == ["hall", "lab", "attic"]
    assert found.to_dict()["answer"]["names"] == ["count", "count 2"]
    assert repr(found) == "Answer(values of 3 keys, number 7)"
    assert found.flagged == ()


def test_numbers_of_coarser_keys_are_repeated_for_each_key() -> None:
    floors = Domain({"building": ["a", "a", "b"], "floor": [0, 1, 0]}, keys=["building", "floor"])
    asked = values(count().by("building", "floor"), count().by("building"), count().by(), keys=["building", "floor"])
    found = answered(planned(asked, floors, within=10, slack=None), [0, 0, 0], [FAR, -FAR], [FAR])
    assert [value > 0 for value in found.columns["count per building"]] == [True, True, False]
    plain = found.to_dict()["answer"]
    assert plain["listed"] == [["a", 0], ["a", 1], ["b", 0]]
    assert plain["names"] == ["count", "count per building", "count in all"]
    assert [len(each) for each in plain["values"]] == [3, 3, 3]
    assert len(set(plain["values"][2])) == 1
    assert "Each count per building is within 10 of the truth" in found.promise
    assert "The count of all keys together is within 10 of the truth" in found.promise


def test_keys_after_the_last_alarm_have_no_answer() -> None:
    found = answered(planned(CROWDED, strategy="sparse"), [FAR, -FAR, FAR])
    assert found.columns["flagged"] == [True, None, None]
    assert "Flagged: hall (1 of the first 1 of 3)" in str(found)
    assert [str(value) for value in found.to_frame("polars")["flagged"]] == ["True", "None", "None"]


def test_classes_come_with_their_keys() -> None:
    made = planned(classes(count().by("room"), [0.5 * col("limit"), col("limit")], ["low", "normal", "high"]), slack=3)
    found = answered(made, [FAR, -FAR, FAR])
    assert found.columns["class"] == ["high", "low", "high"]
    assert "Classes: hall: high; lab: low; attic: high" in str(found)
    assert repr(found) == "Answer(classes of 3 keys, number 7)"


def test_an_answer_that_cost_the_same_everywhere_says_so(crowded: Answer) -> None:
    assert set(crowded.owner.prices) == {crowded.release.charged}
    assert crowded.owner.fairness.startswith("All keys were charged 0.4148.")
    assert crowded.owner.levels == ()


def test_each_key_is_charged_for_the_level_at_which_it_stopped() -> None:
    made = planned(CROWDED, strategy="progressive")
    found = answered(made, [180 + FAR, 24 - FAR, 50])
    (grid,) = made.grids
    stopped = found.release.answer["levels"][0]
    assert found.owner.prices == tuple(grid.levels[level] for level in stopped)
    assert found.owner.levels == (Counter(stopped),)
    assert max(found.owner.prices) == found.release.charged
    assert found.owner.min_entropy.value == pytest.approx(
        min_entropy([float(price) for price in found.owner.prices]).value
    )
    several = charged(made, {"flagged": [], "keys": 3, "levels": [[0, 3, 6]]}, Fraction(9))
    assert "Keys were charged from" in several.fairness


def test_levels_are_priced_as_what_one_unit_pays() -> None:
    made = planned(CROWDED, unit=Unit("device"), strategy="progressive")
    found = charged(made, {"flagged": [], "keys": 3, "levels": [[0, 3, 6]]}, Fraction(9))
    assert found.level_prices[0] == tuple(2 * level for level in made.grids[0].levels)
    assert found.prices == (found.level_prices[0][6],) * 3


def test_what_was_charged_is_said_where_less_than_the_worst_price_was() -> None:
    found = answered(planned(CROWDED, strategy="progressive"), [180 + FAR, 24 - FAR, 50 + FAR])
    assert found.release.charged < found.worst
    assert f"Price: epsilon {up(found.release.charged)} of 0.5382 that was reserved, entry 7" in str(found)
    assert found.to_dict()["charged"] == str(found.release.charged)


def test_a_plan_shows_in_a_notebook_what_it_prints() -> None:
    for made in (planned(CROWDED), planned(values(count().by("room")), within=10, slack=None)):
        page = made._repr_html_()
        assert all(head in page for head in ("protected", "promise", "price", "meaning"))
        assert "<svg" not in page


def charges_of(made: Progressive, answer: dict[str, Any]) -> list[Any]:
    return [
        charge
        for look, levels, grid in zip(made.program.looks, answer["levels"], made.grids, strict=True)
        for charge in made.charges(look, levels, grid.levels)
    ]


@pytest.mark.parametrize("levels", [[[0, 3, 6, -1]], [[2, 2, 2, 2]], [[-1, -1, -1, -1]]])
@pytest.mark.parametrize("unit", [Unit.row(), Unit("device", "floor"), Unit("device", "floor", "room"), Unit("device")])
def test_a_key_pays_what_the_ledger_charges_there(unit: Unit, levels: list[list[int]]) -> None:
    domain = Domain.product(floor=[0, 1], room=["a", "b"])
    made = planned(count().by("floor", "room") > 50, domain, unit, strategy="progressive")
    answer = {"flagged": [], "keys": 4, "levels": levels}
    prices = charged(made, answer, Fraction(9)).prices
    for number, price in enumerate(prices):
        point: Any = dict(zip(domain.keys, domain.key(number), strict=True))
        assert price == total_at(charges_of(made, answer), point)


def test_looks_at_different_rows_do_not_add_up_where_no_unit_has_both() -> None:
    guests, staff = (count().by("room").where(col("kind") == kind) > 50 for kind in ("guest", "staff"))
    made = planned(guests & staff, strategy="progressive")
    levels = [[6, 6, 6], [6, 6, 6]]
    prices = charged(made, {"flagged": [], "keys": 3, "levels": levels}, Fraction(9)).prices
    assert set(prices) == {largest_total(charges_of(made, {"levels": levels})).price}
    assert prices[0] < sum(grid.levels[6] for grid in made.grids)


def test_too_many_scopes_for_a_ledger_are_charged_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(payers, "MOST_SCOPES", 1)
    made = planned(CROWDED, strategy="progressive")
    prices = charged(made, {"flagged": [], "keys": 3, "levels": [[0, 6, -1]]}, Fraction(9)).prices
    assert set(prices) == {made.grids[0].levels[6]}


def test_what_the_owner_sees_is_plain(crowded: Answer) -> None:
    found = answered(planned(CROWDED, strategy="progressive"), [180 + FAR, 24 - FAR, 50])
    plain = json.loads(json.dumps(found.owner.to_dict()))
    assert [Fraction(price) for price in plain["prices"]] == list(found.owner.prices)
    assert sum(level["keys"] for level in plain["levels"][0]) == 3
    assert all(
        0 <= level["price_epsilon"] - Fraction(level["price"]) < Fraction(1, 10_000) for level in plain["levels"][0]
    )
    assert 0 <= plain["min_entropy_normalised"] <= 1
    assert crowded.owner.to_dict()["levels"] == []


def test_a_price_is_shown_rounded_up_and_what_remains_rounded_down() -> None:
    assert (up(Fraction(1, 3)), up(Fraction(1, 2)), down(Fraction(2, 3))) == ("0.3334", "0.5000", "0.6666")


def test_each_key_has_three_zones(crowded: Answer) -> None:
    (panel,) = panels(crowded.plan, crowded.release.answer)
    assert [(row.label, row.marked) for row in panel.rows] == [("hall", True), ("attic", True), ("lab", False)]
    assert [(start, end, kind) for start, end, kind in panel.rows[0].zones] == [
        (0.0, 170.0, QUIET),
        (170.0, 180.0, FREE),
        (180.0, panel.high, FOUND),
    ]
    assert panel.title == "count > limit"


def test_zones_lie_the_other_way_round_below_a_threshold() -> None:
    found = answered(planned(count().by("room") <= 40), [FAR, FAR, FAR])
    (panel,) = panels(found.plan, found.release.answer)
    assert [zone[2] for zone in panel.rows[0].zones] == [FOUND, FREE, QUIET]
    assert panel.rows[0].zones[1][:2] == (41.0, 51.0)


def test_zones_of_sums_are_in_what_is_summed() -> None:
    found = answered(planned(sum_("watts", 0, 64).by("room") > 1000, slack=200), [10**6, 0, 0])
    (panel,) = panels(found.plan, found.release.answer)
    start, end, _ = panel.rows[0].zones[1]
    assert end == 1000
    assert 200 - 64 <= end - start <= 200


def test_each_comparison_has_a_panel_of_its_own() -> None:
    found = answered(
        planned((count().by("room") > 10) & (count().by("room").where(col("floor") == 1) > 5)), [FAR] * 3, [FAR] * 3
    )
    assert [panel.title for panel in panels(found.plan, found.release.answer)] == ["count > 10", "count > 5"]


def test_comparisons_without_a_threshold_show_how_far_beyond() -> None:
    late, early = (count().by("room").where(col("month") == month) for month in (2, 1))
    found = answered(planned(late > 2 * early), [FAR] * 3, [0] * 3)
    (panel,) = panels(found.plan, found.release.answer)
    assert panel.title == "count: how far beyond its threshold"
    assert panel.rows[0].zones[1][1] == 0


def test_only_so_many_keys_are_drawn_and_flagged_ones_come_first() -> None:
    many = Domain({"room": range(1000)}, keys=["room"])
    found = answered(planned(count().by("room") > 50, many), [-FAR] * 999 + [FAR])
    (panel,) = panels(found.plan, found.release.answer)
    assert (panel.rows[0].label, len(panel.rows), panel.left_out) == ("999", 40, 960)
    assert "and 960 more" in found.plot()


@pytest.mark.parametrize(
    ("asked", "measures", "promise"),
    [
        (CROWDED, [[FAR, 0, 0]], {}),
        (count().by("room") < 5, [[FAR, 0, 0]], {}),
        (count().by("room") > -3, [[FAR, 0, 0]], {"slack": 0}),
        (classes(count().by("room"), [5, 9], ["<low>", "b", "c"]), [[FAR, 0, 7]], {"slack": 2}),
        (values(count().by("room")), [[FAR, 0, -5]], {"within": 10, "slack": None}),
        (question(count() > 5), [[FAR]], {}),
    ],
)
def test_every_answer_can_be_drawn(asked: Any, measures: list[list[int]], promise: dict[str, Any]) -> None:
    drawn = answered(planned(asked, **promise), *measures).plot()
    root = Xml.fromstring(drawn)  # noqa: S314 it is our own
    assert root.tag.endswith("svg")
    assert "nan" not in drawn
    sizes = [float(shape.get("width", "0")) for shape in root.iter() if shape.tag.endswith("rect")]
    assert all(size >= 0 and math.isfinite(size) for size in sizes)


def test_a_picture_of_classes_shows_the_class_of_each_key_and_no_flags() -> None:
    asked = classes(count().by("room"), [50, 200], ["low", "normal", "high"])
    found = answered(planned(asked), [100, -FAR, FAR])
    (panel,) = panels(found.plan, {"classes": ["normal", "low", "high"]})
    own = {row.label: row.zones[[kind for *_, kind in row.zones].index(FOUND)][:2] for row in panel.rows}
    assert own == {"hall: normal": (50.0, 190.0), "attic: high": (200.0, panel.high), "lab: low": (0.0, 40.0)}
    drawn = found.plot()
    assert "the class it was put in" in drawn
    assert "flagged" not in drawn.partition("</title>")[2]
    assert "\N{BLACK RIGHT-POINTING TRIANGLE}" not in drawn


def test_numbers_on_the_axis_stay_inside_the_picture() -> None:
    found = answered(planned(sum_("watts", 0, 64).by("room") > 898_256, slack=1000), [10**8, 0, 0])
    assert 'text-anchor="end">1,122,820</text>' in found.plot()
    assert "e+" not in found.plot()


@pytest.mark.parametrize("file", ["zones.png", "zones"])
def test_a_picture_goes_into_an_svg_file_only(crowded: Answer, tmp_path: Path, file: str) -> None:
    with pytest.raises(ParameterError, match=r"must end in \.svg, not 'zones"):
        crowded.plot(tmp_path / file)
    assert list(tmp_path.iterdir()) == []


def test_names_in_a_picture_are_written_safely() -> None:
    odd = Domain({"room": ["<script>alert(1)</script>", "a\x00b & c", "x" * 200]}, keys=["room"])
    found = answered(planned(count().by("room") > 50, odd), [FAR, FAR, FAR])
    Xml.fromstring(found.plot())  # noqa: S314 it is our own
    page = found._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


def test_a_picture_shows_nothing_but_what_was_released() -> None:
    """Two sets of true counts with the same answer have the same picture."""
    made = planned(CROWDED)
    assert len({answered(made, [180 + FAR + more, -FAR - more, FAR]).plot() for more in range(5)}) == 1


def test_a_notebook_shows_words_and_picture(crowded: Answer) -> None:
    page = crowded._repr_html_()
    assert page.index("protected") < page.index("flagged") < page.index("promise") < page.index("<svg")


def test_a_picture_is_written_into_a_file(crowded: Answer, tmp_path: Path) -> None:
    crowded.plot(tmp_path / "zones.svg")
    assert (tmp_path / "zones.svg").read_text(encoding="utf-8") == crowded.plot()
    with pytest.raises(DataError, match="cannot be written"):
        crowded.plot(tmp_path / "nowhere" / "zones.svg")
