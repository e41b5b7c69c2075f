"""What a reader is told before paying, and which questions are refused because their answer would tell nothing."""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from typing import Any

import pytest

import louver
from louver.decide.met import can_be_met, verdict
from louver.decide.shift import Shift
from louver.decide.tree import NO, OPEN, YES
from louver.errors import ParameterError
from louver.privacy import Unit
from louver.question import avg, classes, col, count, max_, sum_, values
from louver.question.nodes import All
from louver.source import Domain, Source, Table
from louver.source.filters import Both, Compare, Either, Missing, Not, OneOf
from louver.source.measures import Keys
from tests.decide.asked import Shape, is_
from tests.decide.asked import count as counted

ROOMS = Domain({"room": ["hall", "lab", "attic", "cellar", "roof"], "limit": [180, 5, 0, 3, 7]}, keys=["room"])
ROOM = Keys(("room",), (("hall",), ("lab",)))
PROMISE: dict[str, Any] = {"miss_rate": 0.05, "slack": 10}
VALUES = {"watts": (0, 8, 1)}


def planned(asked: object, domain: Domain = ROOMS, **promise: Any) -> Any:
    table = Table("presence.csv", dataset="house", unit=Unit.row(), values=VALUES)
    return louver.plan(Source(table, domains=domain), asked, **{**PROMISE, **promise})


def warned(asked: object, domain: Domain = ROOMS, **promise: Any) -> str:
    return " ".join(planned(asked, domain, **promise).warnings)


def test_keys_whose_threshold_is_within_the_slack_of_no_rows_are_named() -> None:
    said = warned(count().by("room") > col("limit"))
    assert said == (
        "Without any rows, lab, attic, cellar and 1 more are within the slack of the threshold and may be flagged; "
        "ask for rows as well, as in AND slack(count(*) > 20, 20)."
    )
    one = Domain({"room": ["hall", "lab"], "limit": [180, 5]}, keys=["room"])
    assert "Without any rows, lab is within the slack" in warned(count().by("room") > col("limit"), one)
    assert warned(count().by("room") > 5).startswith("Without any rows, all 5 keys are within")
    assert warned(count() > 5).startswith("Without any rows, the table is within")


def test_keys_are_named_by_all_their_values() -> None:
    floors = Domain({"floor": [1, 2], "room": ["a", "b"], "limit": [90, 5]}, keys=["floor", "room"])
    assert "Without any rows, (2, b) is within" in warned(count().by("floor", "room") > col("limit"), floors)
    numbers = Domain({"floor": [1, 2], "limit": [90, 5]}, keys=["floor"])
    assert "Without any rows, key 2 is within" in warned(count().by("floor") > col("limit"), numbers)


@pytest.mark.parametrize(("threshold", "slack"), [(10, 10), (50, 10), (5, 5), (5, 0)])
def test_a_threshold_beyond_the_slack_is_not_warned_of(threshold: int, slack: int) -> None:
    assert warned(count().by("room") > threshold, slack=slack) == ""


def test_classes_are_put_above_a_threshold_and_not_flagged() -> None:
    asked = classes(count().by("room"), [5, 90], ["few", "some", "many"])
    assert warned(asked) == (
        "Without any rows, all 5 keys are within the slack of a threshold between classes and may be put above it; "
        "take less slack."
    )


def test_two_aggregates_without_rows_are_not_told_that_a_threshold_is_too_low() -> None:
    asked = count().where(col("guest") == True).by("room") > 1.2 * count().by("room")  # noqa: E712
    said = warned(asked)
    assert "all 5 keys are within the slack of what is compared and may be flagged; ask for rows as well" in said
    assert "threshold" not in said


@pytest.mark.parametrize(
    "asked",
    [
        avg("watts").by("room") > 3,
        count().where(col("guest") == 1).by("room") > 1.2 * count().by("room"),
        count().by("room") > 0,
    ],
)
def test_asking_for_rows_as_well_keeps_keys_without_rows_away(asked: Any) -> None:
    assert "Without any rows" in warned(asked)
    assert "Without any rows" not in warned(asked & (count().by("room") > 20).slack(20))


def test_a_condition_that_keeps_empty_keys_away_needs_no_warning() -> None:
    assert "Without any rows" not in warned((count().by("room") > 5) & (sum_("watts").by("room") > 100))
    assert "meeting the condition" in warned((count().by("room") > 5) | (sum_("watts").by("room") > 100))


def test_keys_without_rows_that_meet_a_condition_are_warned_of() -> None:
    assert "Keys without any rows meet a condition" in warned(max_("watts").by("room") < 5, slack=3)


def test_asking_whether_there_are_rows_needs_no_warning_of_keys_without_any() -> None:
    """Without slack that is asked as well."""
    for asked in (max_("watts").by("room") < 5, avg("watts").by("room") >= 5):
        assert "Keys without any rows meet" not in warned(asked, slack=0)
        assert "Keys without any rows meet" in warned(asked, slack=3)


@pytest.mark.parametrize(
    ("step", "within", "is_said"), [(1, 10, True), (1, 501, False), (None, 10, False), (4, 501, True)]
)
def test_values_on_a_coarse_grid_are_said_to_be_rounded(step: int | None, within: int, is_said: bool) -> None:
    bounds = (0, 8) if step is None else (0, 8, step)
    table = Table("presence.csv", dataset="house", unit=Unit.row(), values={"watts": bounds})
    source = Source(table, domains=ROOMS)
    numbers = louver.plan(source, values(sum_("watts").by("room")), miss_rate=0.05, within=within)
    over = louver.plan(source, sum_("watts").by("room") > 5000, miss_rate=0.05, slack=within)
    for made in (numbers, over):
        said = " ".join(made.warnings)
        assert (f"Each value of watts is rounded to a multiple of {step}" in said) is is_said


def test_released_sums_are_said_to_be_near_what_the_bounds_leave() -> None:
    made = planned(values(sum_("watts").by("room")), within=10, slack=None)
    assert "within 10 of the bounded sum of watts (values from 0 to 8), except" in made.promise


def test_released_counts_of_several_rows_per_unit_are_near_the_bounded_count() -> None:
    table = Table("presence.csv", dataset="house", unit=Unit("person", "day"))
    made = louver.plan(
        Source(table, domains=ROOMS), values(count().by("room")), miss_rate=0.05, within=10, rows_per_unit=4
    )
    assert "within 10 of the bounded count (at most 4 rows of each (day, person)), except" in made.promise
    assert "errors caused by that are not covered" in made.promise


def test_a_unit_whose_rows_nobody_counted_is_warned_of() -> None:
    table = Table("presence.csv", dataset="house", unit=Unit("person"))
    for asked in (count().by("room") > 90, values(count().by("room"))):
        within: dict[str, Any] = {"within": 9} if not hasattr(asked, "node") else {"slack": 9}

        def said(unit_rows: int | None, asked: Any = asked, within: dict[str, Any] = within) -> str:
            source = Source(table, domains=ROOMS)
            return " ".join(louver.plan(source, asked, miss_rate=0.05, rows_per_unit=unit_rows, **within).warnings)

        assert "Of each (person) one row is counted, because nothing says how many rows one can have" in said(None)
        assert "one row is counted" not in said(1)


def test_a_slack_that_one_row_can_cross_is_warned_of() -> None:
    said = warned(sum_("watts").by("room") > 500, slack=5)
    assert "A slack of 5 is less than the 8 by which one row can move the sum of watts" in said
    assert "by which one row" not in warned(sum_("watts").by("room") > 500, slack=8)
    assert "A distance of 5 is less than the 8" in warned(values(sum_("watts").by("room")), within=5)
    assert "by which one row" not in warned(count().by("room") > 500, slack=0)


def test_a_price_that_hides_little_is_warned_of() -> None:
    said = warned(count().by("room") > 500, slack=0, miss_rate=0.001)
    assert "A price of epsilon 6.9068 hides little: even odds that one row is in the data can become 99.91%." in said
    assert "hides little" not in warned(count().by("room") > 500, slack=1)


def test_bounds_of_values_are_said_for_sums_in_conditions_and_as_numbers() -> None:
    for asked in (sum_("watts").by("room") > 500, values(sum_("watts").by("room"))):
        within: dict[str, Any] = {"within": 10} if not hasattr(asked, "node") else {}
        assert "values of watts within their declared bounds" in warned(asked, **within)


@pytest.mark.parametrize(
    ("asked", "promise", "said"),
    [
        (
            count().by("room") > 90,
            {"slack": 2.5},
            "A slack of 2.5 is taken as 2, because the count is reckoned in steps",
        ),
        (count().by("room") > 90, {"slack": 0.5}, "A slack of 0.5 is taken as 0,"),
        ((count().by("room") > 90).slack(7.25), {}, "A slack of 7.25 is taken as 7,"),
        (max_("watts").by("room") > 5, {"slack": 2.5}, "A slack of 2.5 is taken as 2, because rows are whole."),
        (values(count().by("room")), {"within": 9.5}, "A distance of 9.5 is taken as 9,"),
        (classes(count().by("room"), [90], ["low", "high"]), {"slack": 2.5}, "A slack of 2.5 is taken as 2,"),
    ],
)
def test_a_slack_that_is_rounded_down_is_said(asked: Any, promise: dict[str, Any], said: str) -> None:
    assert said in warned(asked, **promise)


def test_each_of_several_slacks_is_looked_at() -> None:
    both = (count().by("room") > 90) & (sum_("watts").by("room") > 700)
    assert "taken as" not in warned(both, slack=[2, 30])
    assert warned(both, slack=[2, 30.5]).startswith("A slack of 30.5 is taken as 30, because the sum of watts")


def test_comparisons_that_say_the_same_share_a_leaf_and_are_warned_of_once() -> None:
    shape = Shape(All((is_(counted(), ">", 50), is_(counted(), ">=", 51))), slack=Fraction(5, 2))
    assert shape.plan(Shift).warnings == ("A slack of 2.5 is taken as 2, because the count is reckoned in steps of 1.",)


@pytest.mark.parametrize(
    "asked",
    [
        count().by("room") != 50,
        ~(count().by("room") == 50),
        (count().by("room") > 90) & (count().by("room") != 50),
        avg("watts").by("room") != 5,
    ],
)
def test_a_difference_with_slack_is_refused_because_everything_could_be_flagged(asked: Any) -> None:
    with pytest.raises(
        ParameterError, match=r"cannot be told with a slack of .* so nothing would be promised; take a slack"
    ):
        planned(asked, slack=[3, 3] if "&" in repr(asked) else 3)


def test_a_difference_without_slack_is_asked() -> None:
    assert planned(count().by("room") != 50, slack=0).mechanism == "shift"
    assert planned(count().by("room") != 50, slack=0.5).mechanism == "shift"
    assert planned(count().by("room") == 50, slack=3).mechanism == "shift"


@pytest.mark.parametrize("strategy", ["shift", "progressive", "naive"])
def test_every_key_may_be_flagged_where_a_difference_has_slack(strategy: str) -> None:
    """Why it is refused: at the number itself no leaf has its false alarms bounded."""
    made = Shape(is_(counted(), "<>", 50)).plan(Shift, slack=1)
    for leaf in made.program.leaves:
        sense = 1 if leaf.comparison.sign == ">" else -1
        assert sense * 50 + leaf.margin.offsets[0] > -leaf.slack
    if strategy == "naive":  # it has no slack, and promises nothing
        assert planned(count().by("room") != 50, slack=1, strategy=strategy, epsilon=1).mechanism == strategy
        return
    with pytest.raises(ParameterError, match="cannot be told with a slack of 1"):
        planned(count().by("room") != 50, slack=1, strategy=strategy)


@pytest.mark.parametrize(
    "where",
    [
        col("room") == "nosuch",
        col("room").isin(["nosuch", "nowhere"]),
        (col("room") == "hall") & (col("room") == "lab"),
        (col("room") == "nosuch") & (col("hour") < 9),
        ~(col("room").isin(["hall", "lab", "attic", "cellar", "roof"])),
        col("room").is_missing(),
        col("room") > "zzz",
    ],
)
def test_a_filter_that_no_key_can_meet_is_refused(where: Any) -> None:
    for asked in (count().where(where).by("room") > 90, values(count().where(where).by("room"))):
        within: dict[str, Any] = {"within": 10} if not hasattr(asked, "node") else {}
        with pytest.raises(
            ParameterError, match=r"No key of the domain can have rows where .* nothing would be counted"
        ):
            planned(asked, **within)


def test_a_refused_filter_names_the_key_that_was_meant() -> None:
    with pytest.raises(ParameterError, match=r"room is compared with hal, .* \(did you mean 'hall'\?\)\.$"):
        planned(count().where(col("room") == "hal").by("room") > 90)


def test_a_value_that_no_key_has_is_warned_of_before_anything_is_paid() -> None:
    found = warned(count().where(col("room").isin(["hall", "labb"])).by("room") > 90)
    assert found == "room is compared with labb, which no key of the domain has (did you mean 'lab'?)."
    days = Domain({"day": [date(2026, 3, 2), date(2026, 3, 3)]}, keys=["day"])
    either = (col("day") == date(2026, 3, 2)) | (col("day") == date(2027, 3, 2))
    assert "day is compared with 2027-03-02, which no key" in warned(count().where(either).by("day") > 90, days)
    one_of_two = count().where(col("room") == "nosuch").by("room") > 2 * count().by("room")
    assert "room is compared with nosuch" in warned(one_of_two)


@pytest.mark.parametrize(
    "where",
    [
        col("room") == "hall",
        col("room") != "hall",
        col("hour") == 9,
        (col("room") == "nosuch") | (col("hour") == 9),
        col("room") == 5,
        col("room") < "i",
    ],
)
def test_a_filter_that_some_key_may_meet_is_asked(where: Any) -> None:
    assert planned(count().where(where).by("room") > 90).mechanism == "shift"


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        (Compare("room", "=", "lab"), YES),
        (Compare("room", "<>", "lab"), NO),
        (Compare("room", "<", "m"), YES),
        (Compare("room", "=", 5), OPEN),
        (Compare("hour", "=", 5), OPEN),
        (OneOf("room", ("hall", "lab")), YES),
        (OneOf("room", (1, 2)), OPEN),
        (Missing("room"), NO),
        (Missing("hour"), OPEN),
        (Not(Compare("room", "=", "lab")), NO),
        (Not(Compare("hour", "=", 5)), OPEN),
        (Both((Compare("room", "=", "lab"), Compare("hour", "=", 5))), OPEN),
        (Either((Compare("room", "=", "lab"), Compare("hour", "=", 5))), YES),
        (Both(), YES),
    ],
)
def test_a_filter_is_decided_as_far_as_the_key_tells(where: Any, expected: int) -> None:
    assert verdict(where, {"room": "lab"}) == expected


def test_with_very_many_keys_nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not can_be_met(Compare("room", "=", "nosuch"), ROOM)
    monkeypatch.setattr("louver.decide.met.MOST_TRIED", 1)
    assert can_be_met(Compare("room", "=", "nosuch"), ROOM)
