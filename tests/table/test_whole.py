"""Laws are compared with the false-alarm probability `laws.FALSE_ALARM`, 1e-9, and audits with that of `tools`."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from louver.errors import LouverError
from louver.table import Invariants, WholeTable
from louver.table.completion import Law
from tests.misuse import NOT_POSITIVE
from tests.noise.laws import assert_follows, assert_rejects
from tests.table.tools import lattice_law, margins, seeded, sum_zero_cell, surely_lost

RELEASES = 1_000_000


@pytest.mark.parametrize(
    ("cells", "rate", "variance", "at_zero"),
    [(3, Fraction(1), 0.66123, 0.47937), (4, Fraction(6, 5), 0.55501, 0.39750)],
)
def test_a_million_releases_keep_the_total_and_have_the_stated_moments(
    cells: int, rate: Fraction, variance: float, at_zero: float
) -> None:
    """Variance and chance of no noise as computed exactly; the draws are within 6.5 standard errors of both."""
    noise = WholeTable(Invariants.total(cells), epsilon=2 * rate, bits=seeded(1)).draw(RELEASES)
    assert not noise.sum(axis=1).any()
    exact = lattice_law([[1] * cells], lambda entry: math.exp(-float(rate) * abs(entry)), 30 if cells == 3 else 16)
    assert exact((0,) * cells) == pytest.approx(at_zero, abs=6e-6)
    assert sum_zero_cell(cells, float(rate))[0] == pytest.approx(variance, abs=6e-6)
    assert abs((~noise.any(axis=1)).mean() - at_zero) < 6.5 * math.sqrt(at_zero * (1 - at_zero) / RELEASES)
    squares = noise[:, 0].astype(float) ** 2
    assert abs(squares.mean() - variance) < 6.5 * squares.std() / math.sqrt(RELEASES)


def test_a_million_releases_keep_every_group_total() -> None:
    groups = Invariants.groups(["a", "b", "a", None, "c", "b", "b"])
    noise = WholeTable(groups, epsilon=1, bits=seeded(2)).draw(RELEASES)
    assert not groups.of(noise).any()
    assert not noise[:, 4].any()
    assert noise[:, [0, 1, 3]].any(axis=0).all()


@pytest.mark.parametrize(("cells", "tries"), [(4, 3.1), (64, 14), (1024, 55)])
def test_completing_one_free_vector_takes_as_many_tries_as_stated(cells: int, tries: float) -> None:
    """(1-a)/(1+a) over the chance that n free cells sum to 0, at rate 1/2: why totals have a sampler of their own.

    At 1,024 cells it is 55, by the exact law and by the central limit, tanh(1/4) sqrt(2 pi n variance). Where 51 is
    stated, draws were averaged: tries are geometric, so that the mean of 200 scatters by 4.
    """
    found = math.tanh(0.25) / sum_zero_cell(cells, 0.5)[1]
    assert found == pytest.approx(tries, rel=0.03)


@pytest.mark.parametrize("law", ["laplace", "gaussian"])
def test_groups_follow_the_exact_law_wherever_their_cells_stand(law: Law) -> None:
    """Cells 0 and 3 are one group, 1, 2 and 5 another, and 4 is free."""
    matrix = [[1, 0, 0, 1, 0, 0], [0, 1, 1, 0, 0, 1]]
    invariants = Invariants(matrix, name="two totals")
    price = {"epsilon": Fraction(3)} if law == "laplace" else {"rho": Fraction(1)}
    draws = WholeTable(invariants, noise=law, bits=seeded(3), **price).draw(100_000)  # type: ignore[arg-type]

    def exact(factor: float) -> object:
        if law == "laplace":
            return lattice_law(matrix, lambda entry: math.exp(-1.5 * factor * abs(entry)), 4)
        return lattice_law(matrix, lambda entry: math.exp(-entry * entry * factor / 2), 4)

    near = draws[(np.abs(draws) <= 4).all(axis=1)]
    assert len(near) > 0.9 * len(draws)
    assert_follows(near, exact(1))  # type: ignore[arg-type]
    assert_rejects(near, exact(1.15))  # type: ignore[arg-type]


def test_an_audit_of_all_outcomes_finds_the_price_and_more_where_noise_is_halved() -> None:
    """The exact law at neighbours: one record moves, the total stays."""
    for factor in (1, 2):
        rate = WholeTable(Invariants.total(3), epsilon=1).parameter * factor
        law = lattice_law([[1, 1, 1]], lambda entry, rate=rate: math.exp(-float(rate) * abs(entry)), 12)  # type: ignore[misc]
        worst = max(
            math.log(law((x, y, -x - y)) / law((x - 1, y + 1, -x - y)))
            for x, y in itertools.product(range(-4, 5), repeat=2)
        )
        assert worst == pytest.approx(factor)


@pytest.mark.parametrize("invariants", [Invariants.total(2), margins(2, 2)])
def test_releases_of_neighbours_are_told_apart_by_no_more_than_the_price(invariants: Invariants) -> None:
    """The first cell reaches the larger of the two counts; halved noise is found out."""
    one_move = np.array([1, -1]) if invariants.cells == 2 else np.array([1, -1, -1, 1])
    table = np.arange(invariants.cells) + 5

    def reaches(counts: NDArray[np.int64], factor: int, seed: int) -> NDArray[np.bool_]:
        mechanism = WholeTable(invariants, epsilon=factor, moved=invariants.cells // 2, bits=seeded(seed))
        return np.asarray((counts + mechanism.draw(200_000))[:, 0] >= 6)

    assert surely_lost(reaches(table + one_move, 1, 4), reaches(table, 1, 5)) <= 1
    assert surely_lost(reaches(table + one_move, 2, 6), reaches(table, 2, 7)) > 1


def test_releases_are_whole_unbiased_and_never_clipped() -> None:
    """Means of 40,000 releases are within 6.5 standard errors; empty cells come out below 0 as often as above."""
    mechanism = WholeTable(Invariants.total(4), epsilon=Fraction(1, 2), bits=seeded(8))
    noise = mechanism.draw(40_000)
    release = mechanism.release([0, 0, 1, 99])
    assert release.dtype == np.int64
    assert release.sum() == 100
    assert (np.abs(noise.mean(axis=0)) < 6.5 * noise.std(axis=0) / 200).all()
    assert abs((noise[:, 0] < 0).mean() - (noise[:, 0] > 0).mean()) < 6.5 / 200


def test_ten_thousand_cells_need_no_basis() -> None:
    table = np.arange(10_000) % 7
    release = WholeTable(Invariants.total(10_000), epsilon=1, bits=seeded(9)).release(table)
    assert release.sum() == table.sum()
    assert (release != table).mean() > 0.5


def test_answers_of_queries_carry_noise_measured_by_what_one_record_does_to_them() -> None:
    """Row sums and the whole: a moved record can change two row sums, and the whole is exact."""
    queries = [[1, 1, 0, 0], [0, 0, 1, 1], [1, 1, 1, 1]]
    whole = Invariants([[0, 0, 1], [1, 1, 0]], name="the whole")
    mechanism = WholeTable(whole, epsilon=1, queries=queries, bits=seeded(10))
    assert mechanism.parameter == Fraction(1, 2)
    release = mechanism.release([1, 2, 3, 4])
    assert release[2] == release[:2].sum() == 10


def test_the_price_names_the_invariants() -> None:
    states = Invariants.groups([0, 0, 1, 1], name="the state totals")
    price = WholeTable(states, epsilon=Fraction(1, 2)).price()
    assert (price.epsilon, price.delta) == (Fraction(1, 2), Fraction(0))
    assert price.invariants == "the state totals"
    assert price.sentence().startswith("Exact, and so not protected: the state totals.")
    smooth = WholeTable(states, rho=Fraction(1, 50), noise="gaussian").price(1e-6)
    assert 0.8 < smooth.epsilon < 1


def test_two_records_that_move_together_need_twice_the_noise() -> None:
    total = Invariants.total(5)
    assert WholeTable(total, epsilon=1, moved=2).parameter == WholeTable(total, epsilon=1).parameter / 2
    smooth = [WholeTable(total, rho=1, noise="gaussian", moved=moved).parameter for moved in (1, 2)]
    assert smooth == [1, 4]


def test_where_no_single_record_can_move_unseen_that_is_said() -> None:
    with pytest.raises(LouverError, match=r"^No single record can move without the margins showing it"):
        WholeTable(margins(2, 3), epsilon=1)
    with pytest.raises(LouverError, match=r"^No single record can move"):
        WholeTable(Invariants.groups(["a", "b", None]), epsilon=1)
    with pytest.raises(LouverError, match=r"so there is nothing to protect\.$"):
        WholeTable(Invariants.groups(["a", "b"]), epsilon=1, moved=2)


def test_a_table_that_contradicts_declared_totals_is_not_released() -> None:
    known = Invariants.total(3, name="the headcount", totals=[100])
    mechanism = WholeTable(known, epsilon=1)
    assert mechanism.release([99, 1, 0]).sum() == 100
    with pytest.raises(LouverError, match=r"does not agree"):
        mechanism.release([99, 1, 1])


@pytest.mark.parametrize("bad", NOT_POSITIVE)
def test_what_is_no_price_is_refused(bad: object) -> None:
    with pytest.raises(LouverError, match=r"^epsilon .*\.$"):
        WholeTable(Invariants.total(3), epsilon=bad)  # type: ignore[arg-type]
    with pytest.raises(LouverError, match=r"^rho .*\.$"):
        WholeTable(Invariants.total(3), rho=bad, noise="gaussian")  # type: ignore[arg-type]


def test_other_bad_input_is_refused() -> None:
    total = Invariants.total(3)
    for attempt, sentence in (
        (lambda: WholeTable(total, epsilon=1, rho=1), "rho is for"),
        (lambda: WholeTable(total, epsilon=1, noise="gaussian"), "priced by rho"),
        (lambda: WholeTable(total, epsilon=1, noise="pink"), "^noise must be"),  # type: ignore[arg-type]
        (lambda: WholeTable(total, epsilon=1, moved=0), "^moved must be"),
        (lambda: WholeTable([[1, 1]], epsilon=1), "^Say what stays exact"),  # type: ignore[arg-type]
        (lambda: WholeTable(total, epsilon=1, queries=[[1, 1]]), "must have 1 columns"),
        (lambda: WholeTable(total, epsilon=1).release([1.5, 2, 3]), "signed whole numbers"),
        (lambda: WholeTable(total, epsilon=1).release([1, 2]), "must have 3 cells"),
    ):
        with pytest.raises(LouverError, match=sentence):
            attempt()
