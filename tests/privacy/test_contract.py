"""Every mechanism passes the contract; one that is registered and not listed fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from louver.privacy import plan
from tests.privacy import contract
from tests.privacy.contract import MECHANISMS, VARIANTS, Mechanism


@pytest.fixture(params=sorted(MECHANISMS | VARIANTS))
def mechanism(request: pytest.FixtureRequest) -> Mechanism:
    return (MECHANISMS | VARIANTS)[request.param]


def test_every_registered_mechanism_is_under_the_contract() -> None:
    ours = {name for name, make in plan._MECHANISMS.items() if make.__self__.__module__.startswith("louver.")}  # type: ignore[attr-defined]
    assert ours == set(MECHANISMS)
    assert all(made.plan().mechanism == name for name, made in MECHANISMS.items())


def test_it_plans_without_data(mechanism: Mechanism, monkeypatch: pytest.MonkeyPatch) -> None:
    contract.plans_without_data(mechanism, monkeypatch)


def test_its_plan_comes_back_from_json(mechanism: Mechanism) -> None:
    contract.comes_back_from_json(mechanism)


def test_an_edited_plan_is_refused(mechanism: Mechanism) -> None:
    contract.refuses_an_edited_plan(mechanism)


def test_an_incomplete_plan_is_refused(mechanism: Mechanism) -> None:
    contract.refuses_what_is_missing(mechanism)


def test_absurd_parameters_get_one_sentence(mechanism: Mechanism) -> None:
    contract.refuses_absurd_parameters(mechanism)


def test_it_settles_at_most_the_reservation(mechanism: Mechanism) -> None:
    contract.settles_at_most_the_reservation(mechanism)


def test_it_reserves_before_it_reads(mechanism: Mechanism, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    contract.reserves_before_it_reads(mechanism, monkeypatch, tmp_path)


def test_a_price_over_the_cap_reads_nothing(
    mechanism: Mechanism, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    contract.reads_nothing_over_the_cap(mechanism, monkeypatch, tmp_path)


def test_it_works_on_an_empty_table_and_on_one_key(mechanism: Mechanism, tmp_path: Path) -> None:
    contract.works_on_an_empty_table_and_on_one_key(mechanism, tmp_path)
