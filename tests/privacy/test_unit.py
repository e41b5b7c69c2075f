from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from louver.errors import ParameterError
from louver.privacy.unit import LONGEST_NAME, MOST_COLUMNS, Unit, column_name
from tests.misuse import assert_made_or_refused

NAMES = st.text(min_size=1, max_size=12).filter(
    lambda name: name.isprintable() and name == name.strip() and not any(mark in name for mark in ",()")
)
UNITS = st.one_of(
    st.just(Unit.row()), st.lists(NAMES, min_size=1, max_size=5, unique=True).map(lambda names: Unit(*names))
)
JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.fractions(),
    st.binary(),
    st.text(),
    st.text(min_size=LONGEST_NAME, max_size=LONGEST_NAME * 3),
    st.lists(st.text(), max_size=3),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
    st.builds(object),
    st.just(np.float64("nan")),
)


def test_a_row_unit_says_that_it_protects_a_row_and_not_a_person() -> None:
    assert Unit.row().protected() == "one row, not one person"
    assert Unit.row().sentence() == "Protected: one row, not one person; the costs of one person's rows add up."


@pytest.mark.parametrize(
    ("columns", "phrase"),
    [
        (("person", "day"), "everything recorded about one person on one day"),
        (("person",), "everything recorded about one person"),
        (("slot", "region", "person"), "everything recorded about one person in one region during one slot"),
        (("device_id", "start_hour"), "everything recorded about one device during one start hour"),
        (("badge", "time"), "everything recorded about one badge at one time"),
        (("patient", "doctor"), "everything recorded about one doctor and one patient"),
        (("room", "date"), "everything recorded in one room on one date"),
        (("_",), "everything recorded about one _"),
    ],
)
def test_what_a_unit_protects_is_said_in_the_words_of_its_columns(columns: tuple[str, ...], phrase: str) -> None:
    assert Unit(*columns).protected() == phrase
    assert Unit(*columns).sentence().startswith(f"Protected: {phrase}")


def test_only_a_unit_of_one_column_has_nothing_to_add_up() -> None:
    assert Unit("person").sentence() == "Protected: everything recorded about one person."
    assert "add up" in Unit("person", "day").sentence()


def test_a_row_fixes_every_column_and_other_units_fix_their_own_only() -> None:
    columns = ["person", "day", "room"]

    assert Unit.row().fixed(columns) == {"person", "day", "room"}
    assert Unit("person", "day").fixed(columns) == {"person", "day"}
    assert Unit("person").fixed(columns) == {"person"}


def test_the_order_of_columns_does_not_matter() -> None:
    assert Unit("person", "day") == Unit("day", "person")
    assert len({Unit("person", "day"), Unit("day", "person")}) == 1
    assert str(Unit("person", "day")) == str(Unit("day", "person")) == "(day, person)"


def test_a_column_called_row_is_not_the_row_unit() -> None:
    assert Unit("row") != Unit.row()
    assert (str(Unit("row")), str(Unit.row())) == ("(row)", "row")
    assert Unit.parse("(row)") == Unit("row")
    assert Unit.parse(" row ").is_row


@settings(deadline=None)
@given(UNITS)
def test_the_text_form_of_a_unit_reads_back_as_the_same_unit(unit: Unit) -> None:
    assert Unit.parse(str(unit)) == unit
    assert str(Unit.parse(str(unit))) == str(unit)


@settings(deadline=None)
@given(UNITS)
def test_the_representation_of_a_unit_is_the_code_that_makes_it(unit: Unit) -> None:
    assert eval(repr(unit), {"Unit": Unit}) == unit  # noqa: S307


def test_a_unit_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        Unit("person").columns = ("day",)  # type: ignore[misc]


@pytest.mark.parametrize(
    "columns",
    [(), ("",), ("a", "a"), (" a",), ("a\n",), ("a,b",), ("(a",), ("x" * 129,), tuple(f"c{i}" for i in range(65))],
)
def test_names_that_cannot_be_columns_of_a_unit_are_refused(columns: tuple[str, ...]) -> None:
    with pytest.raises(ParameterError, match=r"\.$"):
        Unit(*columns)


def test_a_unit_takes_as_many_columns_as_it_says() -> None:
    assert len(Unit(*(f"c{i}" for i in range(MOST_COLUMNS))).columns) == MOST_COLUMNS


@pytest.mark.parametrize("text", ["", "rows", "person", "()", "(a", "a)", "(a,)", "(a,,b)", "(a, a)", None, 3, b"row"])
def test_texts_that_are_no_unit_are_refused(text: object) -> None:
    with pytest.raises(ParameterError, match=r"\.$"):
        Unit.parse(text)


@settings(max_examples=3000, deadline=None)
@given(st.lists(JUNK, max_size=4))
def test_any_input_makes_a_unit_or_gets_one_sentence(columns: list[Any]) -> None:
    for attempt in (
        lambda: Unit(*columns),
        lambda: Unit.parse(columns[0] if columns else columns),
        lambda: column_name(columns),
        lambda: Unit("person").fixes(columns[0] if columns else None),  # type: ignore[arg-type]
    ):
        assert_made_or_refused(attempt)


def test_one_of_those_that_a_column_counts_is_a_unit_of_its_own() -> None:
    unit = Unit.one_of("births")
    assert Unit.parse(str(unit)) == unit != Unit.row()
    assert repr(unit) == "Unit.one_of('births')"
    assert unit.sentence() == (
        "Protected: one of those counted in births, one more or one less; the costs of several of these add up, so "
        "that to be counted elsewhere costs twice."
    )
    assert (unit.fixes("county"), unit.fixes("births")) == (True, False)
    with pytest.raises(ParameterError):
        Unit.parse("one of ")
