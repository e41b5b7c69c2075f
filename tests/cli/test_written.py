"""Numbers, scopes and caps as they are written on a command line."""

from __future__ import annotations

from datetime import UTC, datetime
from fractions import Fraction

import pytest

from louver.cli.ledger.written import audience_cap, cap_parts, number, scope
from louver.errors import ParameterError
from louver.ledger import Cap
from louver.privacy import Between, Scope

JANUARY = Between(datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC))


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("room=clinic", {"room": "clinic"}),
        (" room = lab 1.02 ", {"room": "lab 1.02"}),
        ("room=101", {"room": "101"}),
        ("floor=int(3)", {"floor": 3}),
        ("room in a|b", {"room": {"a", "b"}}),
        ("room in {a, b c}", {"room": {"a", "b c"}}),
        ('room in "a|b"|c', {"room": {"a|b", "c"}}),
        ('room="Research, and more", 9<=hour<10', {"room": "Research, and more", "hour": Between(9, 10)}),
        ("room=a and hour<10", {"room": "a", "hour": Between(None, 10)}),
        ("brand=sandy", {"brand": "sandy"}),
        ("-5 <= level", {"level": Between(-5, None)}),
        ("2026-01-01<=time<2026-02-01", {"time": JANUARY}),
        ("2026-01-01T01:00+01:00<=time<2026-02-01T00:00Z", {"time": JANUARY}),
    ],
)
def test_conditions_are_read(written: str, meant: dict[str, object]) -> None:
    assert scope(written) == Scope(meant)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "meant",
    [
        {"room": {"a", "b"}, "hour": Between(9, 10)},
        {"time": JANUARY, "room": "clinic"},
        {"time": Between(datetime(2026, 1, 1, 9, 30, 15, tzinfo=UTC), None)},
    ],
)
def test_a_scope_is_read_as_it_is_shown(meant: dict[str, object]) -> None:
    whole = Scope(meant)  # type: ignore[arg-type]
    assert scope(str(whole)) == whole


@pytest.mark.parametrize(
    "wrong",
    [
        *("", " ", "room", "room=", "=a", "hour<=10", "9<hour<10", "hour>=9", "room=a,,", "room=a|b", "room in a|"),
        *("room=a=b", "room=a, room=b", "9<=hour<9", "time<2026-02-30", "room in {}", "room=Research and Development"),
        *("9<=time<2026-01-01", 'room="a', "room in {a"),
    ],
)
def test_what_is_no_condition_gets_one_sentence(wrong: str) -> None:
    with pytest.raises(ParameterError, match=r"^[^\n]*\.$"):
        scope(wrong)


@pytest.mark.parametrize(("written", "meant"), [("0.1", "1/10"), ("1/3", "1/3"), ("1e-6", "1/1000000"), ("2", "2")])
def test_numbers_are_exact(written: str, meant: str) -> None:
    assert number("A price", written) == Fraction(meant)


@pytest.mark.parametrize("wrong", ["", "x", "-1", "1/0", "inf", "nan", "1e999999999", "0x10", "1_000", "1,5", "9" * 99])
def test_what_is_no_number_gets_one_sentence(wrong: str) -> None:
    with pytest.raises(ParameterError, match=r"^A price [^\n]*\.$"):
        number("A price", wrong)


def test_a_cap_has_numbers_and_a_place() -> None:
    assert cap_parts("0.5") == ({"epsilon": Fraction(1, 2)}, Scope.everything())
    numbers, place = cap_parts("epsilon 1, delta 1e-6, rho 0.25 where room=clinic")
    assert numbers == {"epsilon": 1, "delta": Fraction(1, 10**6), "rho": Fraction(1, 4)}
    assert place == Scope({"room": "clinic"})


@pytest.mark.parametrize("wrong", ["1, 2", "gamma 1", "0.1 where", "where room=a", "1 room=a", "1 where room"])
def test_what_is_no_cap_gets_one_sentence(wrong: str) -> None:
    with pytest.raises(ParameterError, match=r"^[^\n]*\.$"):
        cap_parts(wrong)


def test_an_audience_has_a_name_and_a_cap() -> None:
    assert audience_cap("public=0.3") == Cap(Fraction(3, 10), audience="public")
    assert audience_cap("public=0.3 where room=a") == Cap(
        Fraction(3, 10), scope=Scope({"room": "a"}), audience="public"
    )
