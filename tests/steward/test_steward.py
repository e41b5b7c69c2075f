"""The steward: the order of its acts, what it says when something fails, and what it never says."""

from __future__ import annotations

import json
import math
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import pytest

from louver.decide import Progressive, Shift
from louver.errors import BudgetError, DataError, LedgerError, LouverError, ParameterError
from louver.ledger import Cap, Ledger
from louver.noise import Bits
from louver.privacy import Charge, Outcome, Plan, Scope, Unit, ZeroConcentrated, largest_total
from louver.privacy.plan import _MECHANISMS, registered
from louver.source import Bound, Reading, Table, View, rows
from louver.steward import Steward
from tests.counting import counting
from tests.steward.house import LIMITS, ROWS, House, house, recorded

PLAN = counting(Shift, "room", LIMITS, unit=Unit.row(), miss_rate=0.05, slack=10)
GRADUAL = counting(Progressive, "room", LIMITS, unit=Unit.row(), miss_rate=0.05, slack=10)
PRICE = largest_total(PLAN.worst).price
TRUE_COUNT = "300"


@dataclass(frozen=True, init=False)
class Broken(Shift):
    """A mechanism of tests, which does something else than it should."""

    mechanism: ClassVar[str] = "broken"
    behaviour: ClassVar[Callable[[View], Outcome]]

    def run(self, view: View, bits: Bits) -> Outcome:  # noqa: ARG002
        return type(self).behaviour(view)


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[View], Outcome]], Plan]:
    monkeypatch.setattr("louver.privacy.plan._MECHANISMS", dict(_MECHANISMS))
    registered("broken")(Broken)

    def make(behaviour: Callable[[View], Outcome]) -> Plan:
        monkeypatch.setattr(Broken, "behaviour", staticmethod(behaviour), raising=False)
        return counting(Broken, "room", LIMITS, unit=Unit.row(), miss_rate=0.05, slack=10)

    return make


def test_a_release_says_what_came_out_and_what_it_cost(tmp_path: Path) -> None:
    with house(tmp_path) as made:
        release = made.steward.run(PLAN)
        assert release.answer == {"flagged": ["hall"], "keys": 2}
        assert (release.promise, release.protected) == (PLAN.promise, Unit.row().sentence())
        assert release.worst == release.charged == made.ledger.spent() == PRICE
        assert json.loads(json.dumps(release.to_dict()))["charged"] == str(PRICE)
        assert str(release).splitlines() == [
            "Answer: flagged: hall; keys: 2",
            PLAN.promise,
            Unit.row().sentence(),
            f"Charged: 0.4148 of the 0.4148 that were reserved as number {release.number}.",
        ]


def test_a_gradual_plan_charges_what_it_reached(tmp_path: Path) -> None:
    with house(tmp_path) as made:
        release = made.steward.run(GRADUAL)
        (grid,), (levels,) = GRADUAL.grids, release.answer["levels"]
        assert release.charged == max(grid.levels[level] for level in levels)
        assert made.ledger.spent() == release.charged
        for key, level in zip(LIMITS, levels, strict=True):
            assert made.ledger.spent(Scope({"room": key})) == grid.levels[level]


def test_a_fault_of_the_ledger_is_not_taken_for_one_of_the_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows are held open meanwhile, and what fails there is said in other words."""
    with house(tmp_path) as made:
        recorded(monkeypatch, made.ledger, [], failing=_raise_at("reserve", OSError(28, "No space left on device")))
        with pytest.raises(OSError, match="No space left"):
            made.steward.run(PLAN)


def test_nothing_is_handed_out_before_it_is_settled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with house(tmp_path) as made:
        acts: list[str] = []
        recorded(monkeypatch, made.ledger, acts, failing=_raise_at("settle", LedgerError("The disk is full.")))
        with pytest.raises(LedgerError, match="disk is full"):
            made.steward.run(PLAN)
        assert acts == ["checked", "reserve", "read", "settle"]
        assert made.ledger.spent() == PRICE


def _raise_at(act: str, error: BaseException) -> Callable[[str], None]:
    def failing(now: str) -> None:
        if now == act:
            raise error

    return failing


def test_nothing_is_read_when_it_is_denied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with house(tmp_path, cap=0.5) as made:
        made.steward.run(PLAN)
        acts: list[str] = []
        recorded(monkeypatch, made.ledger, acts)
        with pytest.raises(BudgetError) as caught:
            made.steward.run(PLAN)
        assert acts == ["checked", "reserve"]
        assert "a slack of" in str(caught.value)
        assert made.ledger.spent() == PRICE


@pytest.mark.parametrize("content", [None, b"", b"device;room\n", b"device,zone\n"])
def test_a_table_that_cannot_be_read_costs_nothing(tmp_path: Path, content: bytes | None) -> None:
    with house(tmp_path) as made:
        (tmp_path / "presence.csv").unlink()
        if content is not None:
            (tmp_path / "presence.csv").write_bytes(content)
        with pytest.raises(DataError):
            made.steward.run(PLAN)
        assert made.ledger.spent() == 0
        assert made.ledger.reservations() == []


def test_a_read_that_fails_has_paid_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with house(tmp_path) as made:
        recorded(monkeypatch, made.ledger, [], failing=_raise_at("read", DataError("The file is gone.")))
        with pytest.raises(DataError) as caught:
            made.steward.run(PLAN)
        assert str(caught.value) == "The file is gone; its price stays reserved."
        assert made.ledger.spent() == PRICE
        assert [open_one.charges for open_one in made.ledger.reservations()] == [PLAN.worst]


@pytest.mark.parametrize("fault", [ValueError("count 300"), KeyboardInterrupt()])
def test_whatever_stops_the_reading_keeps_the_reservation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: BaseException
) -> None:
    with house(tmp_path) as made:
        recorded(monkeypatch, made.ledger, [], failing=_raise_at("read", fault))
        with pytest.raises((LouverError, KeyboardInterrupt)) as caught:
            made.steward.run(PLAN)
        assert TRUE_COUNT not in str(caught.value)
        assert made.ledger.spent() == PRICE


def _tells(view: View) -> Outcome:
    raise ValueError(f"count {view.values[0][0]}")


def _tells_in_a_sentence(view: View) -> Outcome:
    raise ParameterError(f"The count {view.values[0][0]} is too large.")


@pytest.mark.parametrize(
    "behaviour",
    [
        _tells,
        _tells_in_a_sentence,
        lambda view: view.values[0][17],
        lambda view: int(view.values[0][0]),
        lambda view: Outcome(view.values[0]),
        lambda view: Outcome(view),
        lambda _: Outcome(math.nan),
        lambda _: None,
        lambda _: Outcome("too much", [Charge(Scope.everything(), 300)]),
        lambda _: Outcome("too little", [Charge(Scope.everything(), 0)]),
        lambda view: Outcome("odd", [view]),
    ],
)
def test_a_mechanism_that_fails_tells_nothing(
    tmp_path: Path, broken: Callable[..., Plan], behaviour: Callable[[View], Outcome]
) -> None:
    with house(tmp_path) as made:
        with pytest.raises(LouverError) as caught:
            made.steward.run(broken(behaviour))
        said = str(caught.value)
        assert said == "The mechanism 'broken' failed and nothing was released; its price stays reserved."
        assert TRUE_COUNT not in "".join(traceback.format_exception(caught.value))
        assert caught.value.__context__ is None
        assert made.ledger.spent() == PRICE


def test_a_plan_that_is_not_registered_never_runs(tmp_path: Path, broken: Callable[..., Plan]) -> None:
    @dataclass(frozen=True, init=False)
    class Cheap(Shift):
        def run(self, view: View, bits: Bits) -> Outcome:  # noqa: ARG002
            return Outcome(view.values[0].tolist())

    class Unheard(Broken):
        mechanism: ClassVar[str] = "unheard"

    broken(_tells)
    with house(tmp_path) as made:
        for made_up in (Cheap, Unheard):
            plan = counting(made_up, "room", LIMITS, unit=Unit.row(), miss_rate=0.05, slack=10)
            with pytest.raises(ParameterError, match="mechanism"):
                made.steward.run(plan)
        for wrong in (None, "plan", {"mechanism": "shift"}, Shift):
            with pytest.raises(ParameterError):
                made.steward.run(wrong)  # type: ignore[arg-type]
        assert made.ledger.spent() == 0


def test_a_plan_for_another_unit_is_refused(tmp_path: Path) -> None:
    other = counting(Shift, "room", LIMITS, unit=Unit("device"), miss_rate=0.05, slack=10)
    with house(tmp_path) as made, pytest.raises(ParameterError, match="unit is"):
        made.steward.run(other)


def test_only_pure_prices_are_gradual(
    tmp_path: Path, broken: Callable[..., Plan], monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = broken(lambda _: Outcome("fine"))
    monkeypatch.setattr(Broken, "gradual", True)
    monkeypatch.setattr(Broken, "worst", (Charge(Scope.everything(), ZeroConcentrated(Fraction(1, 9))),))
    with house(tmp_path) as made, pytest.raises(ParameterError, match="pure prices"):
        made.steward.run(plan)


def test_a_plan_that_asks_for_anything_but_a_reading_is_refused(
    tmp_path: Path, broken: Callable[..., Plan], monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = broken(lambda _: Outcome("fine"))
    monkeypatch.setattr(Broken, "reading", "SELECT * FROM rows")
    with house(tmp_path) as made, pytest.raises(ParameterError, match="reads a Reading"):
        made.steward.run(plan)


def test_a_steward_needs_the_ledger_of_its_table(tmp_path: Path) -> None:
    with house(tmp_path) as made:
        for table, said in (
            (Table("a.csv", dataset="shop", unit=Unit.row()), "belongs to 'house'"),
            (Table("a.csv", dataset="house", unit=Unit("device")), "the ledger's is row"),
        ):
            with pytest.raises(ParameterError, match=said):
                Steward(table, made.ledger)
        with pytest.raises(ParameterError, match="needs a Ledger"):
            Steward(made.table, None)  # type: ignore[arg-type]
        with pytest.raises(ParameterError, match="needs a Table"):
            Steward("a.csv", made.ledger)  # type: ignore[arg-type]


def test_the_same_key_gives_the_same_release_for_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with house(tmp_path) as made:
        first = made.steward.run(GRADUAL, key="monday")
        acts: list[str] = []
        recorded(monkeypatch, made.ledger, acts)
        assert made.steward.run(GRADUAL, key="monday") == first
        assert acts == ["checked", "reserve"]
        assert made.ledger.spent() == first.charged


def test_a_key_whose_act_never_finished_stays_spent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with house(tmp_path) as made:
        with monkeypatch.context() as patch:
            recorded(patch, made.ledger, [], failing=_raise_at("read", DataError("Gone.")))
            with pytest.raises(DataError):
                made.steward.run(PLAN, key="monday")
        with pytest.raises(LouverError, match="never finished; its price stays spent"):
            made.steward.run(PLAN, key="monday")
        assert made.ledger.spent() == PRICE


def test_a_key_for_another_plan_is_refused(tmp_path: Path) -> None:
    with house(tmp_path) as made:
        made.steward.run(PLAN, key="monday")
        with pytest.raises(ParameterError):
            made.steward.run(GRADUAL, key="monday")


def test_the_rows_of_a_unit_are_bounded_with_the_ledgers_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "device,room\n" + "".join(f"d{number % 9},hall\n" for number in range(900))
    unit = Unit("device")
    seen: list[bytes] = []
    original = rows.read

    def watched(table: Table, reading: Reading, secret: bytes, held: rows.Held | None = None) -> View:
        seen.append(secret)
        return original(table, reading, secret, held)

    monkeypatch.setattr(rows, "read", watched)
    with house(tmp_path, text, unit, cap=10) as made:
        plan = counting(Shift, "room", LIMITS, unit=unit, miss_rate=0.05, slack=10, bound=Bound(2))
        # 18 counted rows are 82 below the limit: flagged with probability under 1e-13.
        assert made.steward.run(plan).answer["flagged"] == []
        assert seen == [made.ledger.secret("contribution bounds")]


@pytest.mark.parametrize(
    "rows_of_all_kinds",
    [
        ROWS + "x\n\n,\n" + '"unclosed,hall\n',
        ROWS.encode() + b"\xff\xfe,hall\n\0\0\0\n",
        ROWS + "d,hall,1,2,3\n" * 1000,
        ROWS + "d," + "9" * 3_000_000 + "\n",
        "room,device\n" + "hall,d\n" * 300,
    ],
)
def test_broken_rows_change_nothing(tmp_path: Path, rows_of_all_kinds: str | bytes) -> None:
    with house(tmp_path, rows_of_all_kinds) as made:
        assert made.steward.run(PLAN).answer["flagged"] == ["hall"]


def test_randomness_comes_through_one_private_door(tmp_path: Path) -> None:
    def source(count: int) -> bytes:
        drawn.append(count)
        return bytes(count)

    drawn: list[int] = []
    with house(tmp_path, bits=Bits._from(source)) as made:
        made.steward.run(PLAN)
        assert drawn
        with pytest.raises(TypeError):
            Steward(made.table, made.ledger, bits=Bits())  # type: ignore[call-arg]


def test_an_audience_pays_from_its_share(tmp_path: Path) -> None:
    with house(tmp_path, audiences={"public": Cap(epsilon=0.5), "team": Cap(epsilon=0.8)}) as made:
        made.steward.run(PLAN, audience="public")
        with pytest.raises(BudgetError):
            made.steward.run(PLAN, audience="public")
        made.steward.run(PLAN, audience="team")
        assert made.ledger.spent() == 2 * PRICE


def test_two_stewards_of_one_ledger_share_the_budget(tmp_path: Path) -> None:
    with house(tmp_path) as made, Ledger.open(tmp_path / "house.ledger", key=tmp_path / "key") as again:
        other = House(made.table, again, made.tokens, Steward(made.table, again))
        made.steward.run(PLAN)
        other.steward.run(PLAN)
        with pytest.raises(BudgetError):
            made.steward.run(PLAN)


def test_a_plain_answer_is_shown_as_it_is(tmp_path: Path, broken: Callable[..., Any]) -> None:
    with house(tmp_path) as made:
        assert str(made.steward.run(broken(lambda _: Outcome(7)))).startswith("Answer: 7\n")
        assert str(made.steward.run(broken(lambda _: Outcome({"flagged": []})))).startswith("Answer: flagged: none\n")
