"""Plans of tables: what is exact, who is protected, what it costs, and that the rows are paid for before they are read.

Audits have the false-alarm probability `AUDIT_FALSE_ALARM`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import louver
from louver.errors import BudgetError, DataError, LouverError, ParameterError
from louver.ledger import Cap, Ledger
from louver.noise import discrete_gaussian, discrete_laplace
from louver.noise.bits import SYSTEM
from louver.privacy import Pure, Scope, Subspace, Unit, ZeroConcentrated, plan_from_dict, plan_to_dict
from louver.question import count
from louver.source import Bound, Domain, Source, Table
from louver.steward import check
from louver.table import PublishedTable, TablePlan, publish_table, table
from tests.misuse import assert_made_or_refused
from tests.steward.house import recorded
from tests.table.tools import AUDIT_FALSE_ALARM, seeded

COUNTIES = Domain(
    {
        "county": ["a", "b", "c", "d", "e"],
        "state": ["x", "x", "y", "y", "z"],
        "region": ["n", "n", "n", "s", "s"],
        "births": [1, 2, 3, 4, 5],
    },
    keys=["county"],
)
TRUTH = [10, 20, 5, 0, 7]
AGGREGATED = "county,births\n" + "".join(f"{name},{n}\n" for name, n in zip("abcde", TRUTH, strict=True)) + "q,99\n"
PEOPLE = "person,county\n" + "".join(
    f"{name}{n},{name}\n" for name, most in zip("abcde", TRUTH, strict=True) for n in range(most)
)
BIRTHS = Unit.one_of("births")
HALF = Fraction(1, 2)

Publish = Callable[..., PublishedTable]


def plan(unit: Unit | None = None, **asked: Any) -> TablePlan:
    return TablePlan(COUNTIES, unit=unit or Unit.row(), **{"epsilon": HALF, **asked})


@pytest.fixture
def publish(tmp_path: Path) -> Publish:
    """Publishes from a text, paid for by a ledger that allows just what is asked for to be exact."""

    def run(text: str = PEOPLE, unit: Unit | None = None, **asked: Any) -> PublishedTable:
        path = tmp_path / "rows.csv"
        path.write_text(text)
        rows = Table(path, dataset="births", unit=unit or Unit.row())
        source = Source(rows, domains=COUNTIES, ledger=tmp_path / "ledger")
        made = table(source, **{"epsilon": HALF, **asked})
        if not (tmp_path / "ledger").exists():
            exact = [] if made.exact is None else [made.invariants]
            caps = [Cap(epsilon=1000, delta=Fraction(1, 10), rho=1, exact=exact)]
            Ledger.create(tmp_path / "ledger", dataset="births", unit=rows.unit, caps=caps)[0].close()
        return publish_table(source, made)

    return run


# What is published


@pytest.mark.parametrize(
    "asked",
    [
        {"exact": "state"},
        {"exact": ["region", "state"]},
        {"exact": "all"},
        {"exact": "state", "epsilon": None, "rho": HALF, "delta": Fraction(1, 10**6)},
    ],
)
def test_totals_that_are_exact_are_so_in_every_release(publish: Publish, asked: dict[str, Any]) -> None:
    columns = () if asked["exact"] == "all" else [asked["exact"]] if isinstance(asked["exact"], str) else asked["exact"]
    for _ in range(5):
        made = publish(**asked)
        wanted: dict[tuple[Any, ...], int] = {}
        for place, truth in enumerate(TRUTH):
            label = tuple(COUNTIES.column(name)[place] for name in columns)
            wanted[label] = wanted.get(label, 0) + truth
        assert made.totals(*columns) == wanted


def test_nothing_is_exact_unless_it_is_said(publish: Publish) -> None:
    made = publish()
    assert isinstance(made.plan.price, Pure)
    assert not made.is_exact()
    # 60 sums of five noises at rate 1/2: all are 0 with probability under 1e-40.
    assert any(sum(publish().totals().values()) != sum(TRUTH) for _ in range(60))


def test_rows_that_hold_counts_are_added_up_under_the_listed_keys_only(publish: Publish) -> None:
    # At this price there is noise but once in 10^80 draws.
    loud = publish(AGGREGATED, BIRTHS, of="births", exact="state", epsilon=400)
    assert loud.counts.tolist() == TRUTH
    assert loud.plan.protected.startswith("Protected: one of those counted in births, and of that only under which")


def test_a_published_table_comes_as_columns_with_bands_and_totals(publish: Publish) -> None:
    made = publish(exact="state", totals=["state", "region"], epsilon=800)
    columns = made.columns
    assert list(columns) == ["level", "county", "state", "region", "count", "low", "high"]  # and nothing else
    assert columns["level"] == ["county"] * 5 + ["state"] * 3 + ["region"] * 2
    assert columns["count"][:5] == TRUTH
    assert columns["county"][5:] == [None] * 5
    assert columns["state"][5:] == ["x", "y", "z", None, None]
    assert columns["count"][5:] == [30, 5, 7, 35, 7]
    assert columns["low"][5:] == [30, 5, 7, None, None]  # regions cut through a state, so that they have noise
    assert (made.is_exact("state"), made.is_exact("region"), made.is_exact()) == (True, False, True)
    assert made.to_csv().splitlines()[:2] == ["level,county,state,region,count,low,high", "county,a,x,n,10,10,10"]
    assert json.loads(json.dumps(made.to_dict()))["exact"] == made.plan.invariants
    for kind in ("pandas", "polars", "arrow"):
        assert len(made.to_frame(kind)) == 10
    with pytest.raises(ParameterError, match="pandas, polars or arrow"):
        made.to_frame("numpy")


def test_a_count_that_is_a_total_by_itself_is_called_exact(publish: Publish) -> None:
    made = publish(exact="state")
    assert made.columns["low"][4] == made.columns["high"][4] == TRUTH[4]
    assert "1 of the exact totals is of a single county" in made.warnings[0]


def test_exact_totals_that_are_all_0_are_pointed_out(publish: Publish) -> None:
    empty = publish("person,county\n", exact="all")
    assert sum(empty.counts) == 0
    assert empty.warnings == (
        "The exact totals are all 0, so no row has one of these keys; check how they are written.",
    )


@pytest.mark.parametrize("wrong", ["-1", "1.5", "many", "", "1099511627777", "nan"])
def test_what_is_no_count_is_refused_without_a_number(publish: Publish, wrong: str) -> None:
    with pytest.raises(DataError) as refused:
        publish(AGGREGATED + f"b,{wrong}\n", BIRTHS, of="births", exact="state")
    assert not any(sign.isdigit() for sign in str(refused.value).replace("of 0 or more", ""))
    assert "the price stays spent" in str(refused.value)


def test_what_is_no_count_under_another_key_does_not_matter(publish: Publish) -> None:
    assert sum(publish(AGGREGATED + "q,-1\nq,x\n", BIRTHS, of="births", exact="all").counts) == sum(TRUTH)


# Why it is private


@pytest.mark.parametrize(("moved", "bound"), [(1, None), (3, Bound(3)), (6, Bound(2, keys=3))])
def test_what_a_unit_can_move_costs_no_more_than_the_price_and_half_the_noise_would(
    moved: int, bound: Bound | None
) -> None:
    """From the exact law: the ratio at the outcome that tells most of `moved` entries that go from a to b."""
    whole = bound is not None and bound.keys is not None
    domain = Domain({"county": ["a", "b", "c"]}, keys=["county"]) if whole else COUNTIES
    asked = TablePlan(domain, unit=Unit("person") if bound else Unit.row(), bound=bound, exact="all", epsilon=1)
    assert (asked.moved, asked.sensitivity) == (moved, Fraction(2 * moved))
    rate = asked.made(SYSTEM).parameter
    loss = 2 * moved * rate  # |d|_1 times the rate, reached where noise points away
    assert loss == 1
    assert 2 * loss > asked.price.epsilon  # type: ignore[union-attr]


@pytest.mark.parametrize("factor", [1, 2])
def test_an_audit_finds_the_price_kept_and_half_the_noise_not(factor: int) -> None:
    """Noise of two cells is (v, -v), P(v) ~ exp(-2 rate |v|); neighbours moved one row from a to b."""
    asked = plan(exact="state", epsilon=1)
    louder = plan(exact="state", epsilon=factor)
    runs = 40_000
    made = louder.made(seeded(5))
    assert made._whole is not None
    here, there = (count + made._whole.draw(runs)[:, 0] for count in (10, 9))
    first, second = (here >= 10).mean(), (there >= 10).mean()
    margin = math.sqrt(-math.log(AUDIT_FALSE_ALARM / 4) / (2 * runs))
    bound = math.exp(float(asked.price.epsilon))  # type: ignore[union-attr]
    assert (first - margin <= bound * (second + margin)) == (factor == 1)


def test_without_exact_totals_noise_is_as_the_price_says() -> None:
    assert plan(epsilon=1).made(SYSTEM).parameter == 1
    assert plan(Unit("person"), bound=Bound(3), epsilon=1).made(SYSTEM).parameter == Fraction(1, 3)
    assert plan(epsilon=None, rho=HALF).made(SYSTEM).parameter == 1
    assert plan(Unit("person"), bound=Bound(3), epsilon=None, rho=HALF).made(SYSTEM).parameter == 9
    assert plan(Unit("person", "county"), bound=Bound(2, keys=3)).moved == 2  # all its rows are in one county


@pytest.mark.parametrize(
    ("asked", "draw"),
    [({"epsilon": 1}, partial(discrete_laplace, 1)), ({"epsilon": None, "rho": HALF}, partial(discrete_gaussian, 1))],
)
def test_counts_are_off_as_rarely_as_promised(asked: dict[str, Any], draw: Any) -> None:
    reach = plan(**asked).made(SYSTEM).reach(Fraction(19, 20))
    off = (np.abs(draw(200_000, bits=seeded(3))) > reach).mean()
    assert off < 0.05 + 0.003  # six standard errors: wrong with probability under 1e-8
    assert f"within {reach} of the truth" in plan(**asked).promise


def test_two_tables_share_a_name_only_if_the_same_sums_are_exact() -> None:
    others = Domain({"county": ["a", "b", "c", "d", "f"], "state": ["x", "x", "y", "y", "z"]}, keys=["county"])
    regrouped = Domain({"county": ["a", "b", "c", "d", "e"], "state": ["x", "x", "x", "y", "y"]}, keys=["county"])
    numbered = Domain({"county": [1, 2], "state": ["x", "x"]}, keys=["county"])
    texts = Domain({"county": ["1", "2"], "state": ["x", "x"]}, keys=["county"])
    named = [
        plan(exact="state").invariants,
        plan(exact="region").invariants,
        plan(exact="all").invariants,
        plan(Unit("person"), exact="all", bound=Bound(1)).invariants,
        plan(Unit("person"), exact="all", bound=Bound(2)).invariants,
        plan(BIRTHS, of="births", exact="state").invariants,
        *(
            TablePlan(each, unit=Unit.row(), exact="state", epsilon=1).invariants
            for each in (others, regrouped, numbered, texts)
        ),
    ]
    assert len(set(named)) == len(named)
    assert plan(exact="state", epsilon=3, totals=["region"]).invariants == named[0]
    assert all(len(name) <= 128 for name in named)


# Price and ledger


def test_the_price_says_what_is_not_in_it() -> None:
    assert plan().price == Pure(HALF)
    assert plan(epsilon=None, rho=HALF).price == ZeroConcentrated(HALF)
    exact = plan(exact="state")
    assert exact.price == Subspace(HALF, 0, exact.invariants)
    gaussian = plan(exact="state", epsilon=None, rho=HALF, delta=Fraction(1, 10**6)).price
    assert isinstance(gaussian, Subspace)
    assert gaussian.epsilon == ZeroConcentrated(HALF).as_approximate(Fraction(1, 10**6)).epsilon
    assert exact.scope == Scope({"county": ["a", "b", "c", "d", "e"]})
    assert plan(Unit("person"), exact="all").scope == Scope.everything()


def test_rows_are_read_after_the_price_is_reserved(
    publish: Publish, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(exact="state")
    rows = Table(tmp_path / "rows.csv", dataset="births", unit=Unit.row())
    acts: list[str] = []
    with Ledger.open(tmp_path / "ledger") as ledger, monkeypatch.context() as patch:
        recorded(patch, ledger, acts)
        publish_table(Source(rows, domains=COUNTIES), ledger=ledger, exact="state", epsilon=HALF)
    assert acts == ["checked", "reserve", "read", "settle"]


def test_prices_about_the_same_totals_add_up_and_others_are_refused(publish: Publish, tmp_path: Path) -> None:
    publish(exact="state")
    publish(exact="state", totals="region")
    with Ledger.open(tmp_path / "ledger") as ledger:
        assert ledger.spent(kind=f"subspace of {plan(exact='state').invariants}") == 1
    # Also for what no cap allows: an owner who allowed it could not help.
    with pytest.raises(BudgetError, match=r"already paid for tables with exact totals .* have no proved sum"):
        publish(exact="all")
    with pytest.raises(BudgetError, match="no proved sum with answers in epsilon without exact totals"):
        publish()


def test_a_ledger_of_counted_ones_pays_for_nothing_else(publish: Publish, tmp_path: Path) -> None:
    publish(AGGREGATED, BIRTHS, of="births", exact="state")
    counted = Source(Table(tmp_path / "rows.csv", dataset="births", unit=BIRTHS), domains=COUNTIES)
    other = louver.plan(counted, count().by("county") > 9, miss_rate=0.05, slack=3)
    with pytest.raises(ParameterError, match="only a table of them protects"):
        check(counted.table, other)  # type: ignore[arg-type]
    with pytest.raises(LouverError, match="unit is row, but the ledger's is one of births"):
        publish(AGGREGATED, exact="state")


def test_a_cheaper_way_is_a_lower_price() -> None:
    assert plan().cheaper(Fraction(1, 4)) == ("an epsilon of 0.25",)
    assert plan(epsilon=None, rho=1).cheaper(Fraction(1, 3)) == ("a rho of 0.3333",)
    assert plan().cheaper(Fraction(0)) == ()


def test_a_stored_plan_is_made_anew_and_an_edited_one_refused() -> None:
    for made in (plan(exact="all"), plan(exact="state", totals=["region"]), plan(BIRTHS, of="births", exact="state")):
        stored = json.loads(json.dumps(plan_to_dict(made)))
        assert plan_from_dict(stored) == made
        assert "births" not in stored["parameters"]["domain"]["columns"]
        stored["worst"][0]["price"]["invariants"] = "nothing"
        with pytest.raises(ParameterError, match="it was changed"):
            plan_from_dict(stored)
        for name in made.parameters():
            every: tuple[Any, ...] = (None, [], {}, "x", -1, [["x"]])
            for wrong in every:
                changed = {**plan_to_dict(made), "parameters": {**made.parameters(), name: wrong}}
                assert_made_or_refused(partial(plan_from_dict, changed))


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"exact": "stat"}, r"no column 'stat' for exact \(did you mean 'state'\?\); the grand total is 'all'"),
        ({"exact": "county"}, "The whole table follows from the exact totals, so there is nothing to protect"),
        ({"exact": ["state", "state"]}, "exact names each column once"),
        ({"exact": 3}, "exact names columns of the domain"),
        ({"totals": ["stat"]}, "no column 'stat' for totals"),
        ({"rho": 1}, "in one way: epsilon, or rho"),
        ({"epsilon": None}, "in one way: epsilon, or rho"),
        ({"epsilon": None, "rho": 1, "exact": "all"}, "say how small delta is"),
        ({"delta": 0.1}, "leave it out"),
        ({"of": "births"}, "write it as 'one of births', not as 'row'"),
        ({"unit": Unit.one_of("county"), "of": "county"}, "neither a key nor what totals are by"),
        ({"unit": BIRTHS, "totals": ["births"]}, "'births' is counted, so it can be neither a key nor what totals are"),
        ({"unit": BIRTHS, "exact": "births"}, "'births' is counted, so it can be neither a key nor what totals are by"),
        ({"bound": Bound(2)}, "nothing to bound per unit"),
    ],
)
def test_what_does_not_fit_gets_one_sentence(asked: dict[str, Any], said: str) -> None:
    with pytest.raises(ParameterError, match=said) as refused:
        plan(**asked)
    assert str(refused.value).endswith(".")


def test_a_missing_label_of_an_exact_total_is_refused() -> None:
    gaps = Domain({"county": ["a", "b"], "state": ["x", None]}, keys=["county"])
    with pytest.raises(ParameterError, match="must have a value for each key"):
        TablePlan(gaps, unit=Unit.row(), exact="state", epsilon=1)


def test_a_table_by_fewer_columns_than_the_domain_has_needs_keys_that_tell_them_apart(tmp_path: Path) -> None:
    rooms = Domain({"house": ["h", "h", "k"], "room": [1, 2, 1], "city": ["c", "c", "d"]}, keys=["house", "room"])
    source = Source(Table(tmp_path / "x.csv", dataset="x", unit=Unit.row()), domains=rooms)
    assert table(source, by="house", exact="all", epsilon=1).domain.column("house") == ("h", "k")
    with pytest.raises(ParameterError, match="room = 1 comes twice"):
        table(source, by="room", exact="city", epsilon=1)
    with pytest.raises(ParameterError, match="no column 'rom'"):
        table(source, by="rom", epsilon=1)
    with pytest.raises(ParameterError, match="not both"):
        publish_table(source, plan(), epsilon=1)
    with pytest.raises(ParameterError, match="is paid for by a ledger"):
        publish_table(source, epsilon=1)
