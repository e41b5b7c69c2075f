from __future__ import annotations

import math
import random
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from louver.errors import LouverError, ParameterError
from louver.privacy import overlap, predicatewise
from louver.privacy.guarantee import Approximate, Guarantee, Pure, Subspace, ZeroConcentrated
from louver.privacy.predicatewise import Charge, ExPost, Peak, compose, largest_total, refinement, spent, total_at
from louver.privacy.ranges import Among, Between, Range, Value
from louver.privacy.scope import Point, Scope
from louver.privacy.unit import Unit
from tests.misuse import assert_made_or_refused

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "who-is-protected.md"
START = datetime(2026, 1, 1, tzinfo=UTC)
TENTH = Fraction(1, 10)


def hour(number: int) -> datetime:
    return START + timedelta(hours=number)


# One kind of column each: its values, and its ranges. None is a value that no range names, or none at all.
VALUES: dict[str, list[Value | None]] = {
    "text": [*"abcde", None],
    "truth": [True, False, None],
    "number": [*range(-1, 5), None],
    "time": [*map(hour, range(-1, 5)), None],
}


def intervals(edges: list[Any]) -> st.SearchStrategy[Range]:
    pairs = st.tuples(st.sampled_from([None, *edges]), st.sampled_from([None, *edges]))
    return pairs.filter(lambda ends: None in ends or ends[0] < ends[1]).map(lambda ends: Between(*ends))


RANGES: dict[str, st.SearchStrategy[Range]] = {
    "text": st.sets(st.sampled_from("abcde"), min_size=1).map(Among),
    "truth": st.sets(st.booleans(), min_size=1).map(Among),
    "number": intervals([0, 1, 2, 3, 4]),
    "time": intervals([hour(number) for number in range(5)]),
}
# The last prices need more than 64 bits over their common denominator.
PRICES = st.one_of(
    st.builds(Fraction, st.integers(0, 6), st.sampled_from([1, 2, 3, 10])),
    st.builds(Fraction, st.integers(0, 6), st.sampled_from([2**70, 3**50])),
)
FEW_COLUMNS = st.lists(st.sampled_from(sorted(VALUES)), min_size=1, max_size=3)


def charges_over(kinds: list[str], most: int = 10) -> st.SearchStrategy[list[Charge]]:
    columns: dict[str, st.SearchStrategy[Range]] = {
        f"{kind} {number}": RANGES[kind] for number, kind in enumerate(kinds)
    }
    scopes = st.fixed_dictionaries({}, optional=columns).map(Scope)
    return st.lists(st.builds(Charge, scopes, PRICES), max_size=most)


def points_over(kinds: list[str]) -> list[Point]:
    names = [f"{kind} {number}" for number, kind in enumerate(kinds)]
    return [dict(zip(names, values, strict=True)) for values in product(*(VALUES[kind] for kind in kinds))]


@contextmanager
def halving_at(table: int, pieces: float) -> Iterator[None]:
    """With small tables even a few boxes are halved; with few pieces categories are gone through one by one."""
    with (
        patch.object(overlap, "TABLE", table),
        patch.object(overlap, "TABLE_OF_BIG_INTEGERS", table),
        patch.object(overlap, "PIECES_PER_BOX", pieces),
    ):
        yield


WAYS = st.tuples(st.sampled_from([1, 12, 2**15]), st.sampled_from([1, 1.5, 4, 1000]))


def agrees_with_all_points(kinds: list[str], way: tuple[int, float], charges: list[Charge], less: list[Charge]) -> None:
    def total(point: Point) -> Fraction:
        return total_at(charges, point) - total_at(less, point)

    with halving_at(*way):
        price, point = largest_total(charges, less)
    full = {**points_over(kinds)[0], **point}
    assert price == max(map(total, points_over(kinds)))
    assert total(full) == price


@settings(max_examples=400, deadline=None)
@given(st.data(), FEW_COLUMNS, WAYS)
def test_the_largest_total_is_the_largest_over_all_points(data: Any, kinds: list[str], way: tuple[int, float]) -> None:
    agrees_with_all_points(kinds, way, data.draw(charges_over(kinds)), [])


@settings(max_examples=400, deadline=None)
@given(st.data(), FEW_COLUMNS, WAYS)
def test_the_largest_difference_is_the_largest_over_all_points(
    data: Any, kinds: list[str], way: tuple[int, float]
) -> None:
    agrees_with_all_points(kinds, way, data.draw(charges_over(kinds)), data.draw(charges_over(kinds)))


@settings(max_examples=40, deadline=None)
@given(st.data(), st.lists(st.sampled_from(sorted(VALUES)), min_size=4, max_size=4), WAYS)
def test_the_largest_total_over_four_columns_is_the_largest_over_all_points(
    data: Any, kinds: list[str], way: tuple[int, float]
) -> None:
    agrees_with_all_points(kinds, way, data.draw(charges_over(kinds, 6)), data.draw(charges_over(kinds, 3)))


@pytest.mark.slow
@settings(max_examples=5000, deadline=None)
@given(st.data(), FEW_COLUMNS, WAYS)
def test_the_largest_difference_is_the_largest_over_all_points_many_times(
    data: Any, kinds: list[str], way: tuple[int, float]
) -> None:
    agrees_with_all_points(kinds, way, data.draw(charges_over(kinds, 14)), data.draw(charges_over(kinds)))


@settings(max_examples=300, deadline=None)
@given(st.data(), FEW_COLUMNS)
def test_what_was_spent_in_a_scope_is_the_largest_total_over_its_points(data: Any, kinds: list[str]) -> None:
    charges, [within, *_] = data.draw(charges_over(kinds)), data.draw(charges_over(kinds).filter(bool))
    price, point = spent(charges, within.scope)
    inside = [each for each in points_over(kinds) if within.scope.contains(each)]

    assert price == max(total_at(charges, each) for each in inside)
    assert within.scope.contains(point)
    assert total_at(charges, point) == price
    assert spent(charges, Scope.everything()).price == largest_total(charges).price


@settings(deadline=None)
@given(st.data(), FEW_COLUMNS)
def test_another_charge_never_lowers_a_total(data: Any, kinds: list[str]) -> None:
    charges = data.draw(charges_over(kinds).filter(bool))
    for number in range(len(charges)):
        fewer = charges[:number] + charges[number + 1 :]
        assert largest_total(fewer).price <= largest_total(charges).price


@settings(deadline=None)
@given(st.lists(PRICES, min_size=1, max_size=8))
def test_disjoint_scopes_take_the_largest_price_and_equal_ones_the_sum(prices: list[Fraction]) -> None:
    rooms = [Charge(Scope({"room": number}), price) for number, price in enumerate(prices)]
    hours = [Charge(Scope({"hour": Between(number, number + 1)}), price) for number, price in enumerate(prices)]
    same = [Charge(Scope({"room": 1}), price) for price in prices]

    assert largest_total(rooms).price == max(prices)
    assert largest_total(hours).price == max(prices)
    assert largest_total(same).price == sum(prices)
    assert largest_total(rooms + hours).price == 2 * max(prices)


def test_a_category_that_can_win_by_one_only_is_still_looked_at() -> None:
    charges = [
        Charge(Scope({"area": "a", "hour": Between(1, 2)}), 2),
        Charge(Scope({"area": "a", "hour": Between(3, 4)}), 2),
        Charge(Scope({"area": "b", "hour": Between(1, 2)}), 3),
    ]
    with halving_at(1, 0.5):
        assert largest_total(charges) == Peak(Fraction(3), {"area": "b", "hour": 1})


def test_nothing_charged_is_nothing_spent() -> None:
    assert largest_total([]) == Peak(Fraction(0), {})
    assert spent([], Scope({"room": "a"})) == Peak(Fraction(0), {"room": "a"})
    assert largest_total([Charge(Scope({"room": "a"}), 0)]).price == 0


def test_what_is_nowhere_positive_is_zero_where_nothing_applies() -> None:
    reserved = [Charge(Scope({"room": "a"}), 1)]

    assert largest_total([], less=reserved) == Peak(Fraction(0), {"room": None})
    assert largest_total([], less=[Charge(Scope.everything(), 1)]) == Peak(Fraction(-1), {})


def test_the_witness_before_the_first_moment_is_a_missing_time() -> None:
    ever = Charge(Scope({"at": Between(datetime.min.replace(tzinfo=UTC), None)}), 1)

    assert largest_total([], less=[ever]) == Peak(Fraction(0), {"at": None})


def test_the_thesis_example_composes_to_six_tenths_and_not_to_one() -> None:
    one, other = Scope({"location": "room 1"}), Scope({"location": "room 2"})
    first = [Charge(one, 1 * TENTH), Charge(other, 5 * TENTH)]
    second = [Charge(one, 5 * TENTH), Charge(other, 1 * TENTH)]

    assert compose(first, second) == [Charge(one, 6 * TENTH), Charge(other, 6 * TENTH)]
    assert largest_total(first + second).price == 6 * TENTH
    assert largest_total(first).price + largest_total(second).price == 1


def test_a_row_unit_keeps_rooms_and_days_apart_and_a_person_adds_them_up() -> None:
    charges = [
        Charge(Scope({"room": room, "day": Between(day, day + 1)}), TENTH)
        for room in ("a", "b", "c")
        for day in range(4)
    ]

    def total(unit: Unit) -> Fraction:
        return largest_total([charge.for_unit(unit) for charge in charges]).price

    assert total(Unit.row()) == TENTH
    assert total(Unit("person", "day")) == 3 * TENTH
    assert total(Unit("person", "room")) == 4 * TENTH
    assert total(Unit("person")) == 12 * TENTH


def test_filters_that_are_disjoint_pay_the_largest_price_and_the_same_rows_the_sum() -> None:
    # Two conditions, slack 1, miss rate .05: each pays ln(1/.05) if the miss rate is shared, ln(1/.1) if it is not.
    shared, alone = Fraction(math.log(20)), Fraction(math.log(10))
    halves = [Scope({"side": "left"}), Scope({"side": "right"})]

    assert float(largest_total([Charge(half, shared) for half in halves]).price) == pytest.approx(2.996, abs=5e-4)
    assert float(largest_total([Charge(half, alone) for half in halves]).price) == pytest.approx(2.303, abs=5e-4)
    assert float(largest_total([Charge(halves[0], shared)] * 2).price) == pytest.approx(5.991, abs=5e-4)


def random_range(source: random.Random) -> Between:
    start, end = sorted(source.sample(range(10**9), 2))
    return Between(start, end)


def random_boxes(count: int, columns: int, seed: int) -> list[Charge]:
    source = random.Random(seed)
    return [
        Charge(
            Scope({f"c{number}": random_range(source) for number in range(columns)}),
            Fraction(source.randint(1, 1000), 1000),
        )
        for _ in range(count)
    ]


def edges_and_prices(charges: list[Charge], signs: list[int]) -> tuple[Any, Any]:
    ranges = [[kept for _, kept in charge.scope.ranges] for charge in charges]
    ends = np.array([[(kept.start, kept.end) for kept in row if isinstance(kept, Between)] for row in ranges])
    return ends, np.array([int(charge.price * 1000) * sign for charge, sign in zip(charges, signs, strict=True)])


def largest_by_sweeping(charges: list[Charge], signs: list[int]) -> Fraction:
    """All positions of one column kept side by side, while the other column is swept: O(n²)."""
    ends, prices = edges_and_prices(charges, signs)
    across = np.searchsorted(np.unique(ends[:, 1]), ends[:, 1])
    depth = np.zeros(2 * len(charges) + 1, dtype=np.int64)
    events = sorted((int(ends[box, 0, side]), box, -1 if side else 1) for box in range(len(charges)) for side in (0, 1))
    best = 0
    for number, (at, box, sign) in enumerate(events):
        depth[across[box, 0] : across[box, 1]] += sign * prices[box]
        if number + 1 == len(events) or events[number + 1][0] > at:
            best = max(best, int(depth.max()))
    return Fraction(best, 1000)


def test_ten_thousand_boxes_over_two_columns_add_up_as_a_plain_sweep_says() -> None:
    charges = random_boxes(10_000, 2, seed=1)
    price, point = largest_total(charges)

    assert price == largest_by_sweeping(charges, [1] * len(charges))
    assert total_at(charges, point) == price


def test_ten_thousand_signed_boxes_add_up_as_a_plain_sweep_says() -> None:
    charges, less = random_boxes(5_000, 2, seed=2), random_boxes(5_000, 2, seed=3)
    price, point = largest_total(charges, less)

    assert price == largest_by_sweeping(charges + less, [1] * 5_000 + [-1] * 5_000)
    assert total_at(charges, point) - total_at(less, point) == price


def test_a_day_of_64_rooms_and_288_slots_adds_up_as_a_plain_table_says() -> None:
    source = np.random.default_rng(4)
    table = source.integers(0, 1000, (64, 288))
    charges = [
        Charge(Scope({"room": f"room {room}", "slot": Between(slot, slot + 1)}), Fraction(int(price), 1000))
        for (room, slot), price in np.ndenumerate(table)
    ]
    for slot, room, price in source.integers(0, (200, 64, 1000), (50, 3)).tolist():
        charges.append(Charge(Scope({"slot": Between(slot, slot + 60)}), Fraction(price, 1000)))
        table[:, slot : slot + 60] += price
        charges.append(Charge(Scope({"room": f"room {room}"}), Fraction(price, 1000)))
        table[room] += price

    best = largest_total(charges)
    assert best.price == Fraction(int(table.max()), 1000)
    room, slot = np.unravel_index(int(table.argmax()), table.shape)
    assert best.point == {"room": f"room {room}", "slot": slot}
    assert spent(charges, Scope({"room": "room 7"})).price == Fraction(int(table[7].max()), 1000)


def test_ten_thousand_sets_of_categories_add_up_as_a_plain_table_says() -> None:
    source = np.random.default_rng(5)
    sets = source.random((10_000, 60)) < 0.5
    starts, prices = source.integers(0, 900, 10_000), source.integers(1, 1000, 10_000)
    charges = [
        Charge(
            Scope({"room": Among(np.flatnonzero(row).tolist()), "at": Between(start, start + 100)}),
            Fraction(price, 1000),
        )
        for row, start, price in zip(sets, starts.tolist(), prices.tolist(), strict=True)
    ]
    table = np.zeros((60, 1001), dtype=np.int64)
    np.add.at(table.T, starts, sets * prices[:, None])
    np.subtract.at(table.T, starts + 100, sets * prices[:, None])

    assert largest_total(charges).price == Fraction(int(table.cumsum(axis=1).max()), 1000)


def test_boxes_over_three_columns_add_up_as_a_plain_table_says() -> None:
    charges = random_boxes(60, 3, seed=6) + random_boxes(60, 3, seed=7)
    signs = [1] * 60 + [-1] * 60
    ends, prices = edges_and_prices(charges, signs)
    ranks = np.stack([np.searchsorted(np.unique(ends[:, axis]), ends[:, axis]) for axis in range(3)], axis=1)
    table = np.zeros((241, 241, 241), dtype=np.int64)
    for box, price in zip(ranks, prices, strict=True):
        table[tuple(slice(low, high) for low, high in box)] += price

    with halving_at(1 << 8, 4):
        assert largest_total(charges[:60], charges[60:]).price == Fraction(int(table.max()), 1000)


def test_prices_beyond_machine_integers_add_up_exactly() -> None:
    charges = [
        Charge(charge.scope, charge.price + Fraction(1, 3 ** (60 + number % 40)))
        for number, charge in enumerate(random_boxes(300, 2, seed=8))
    ]
    with halving_at(64, 4):
        price, point = largest_total(charges)

    assert price.denominator > 2**64
    assert total_at(charges, point) == price
    starts = edges_and_prices(charges[:40], [1] * 40)[0][:, :, 0].tolist()
    corners = product([first for first, _ in starts], [second for _, second in starts])
    assert price >= max(total_at(charges, {"c0": first, "c1": second}) for first, second in corners)


def test_prices_without_a_reasonable_common_denominator_are_refused() -> None:
    primes = [number for number in range(2**12, 2**16) if all(number % by for by in range(2, math.isqrt(number) + 1))]
    charges = [Charge(Scope.everything(), Fraction(1, prime)) for prime in primes]

    with pytest.raises(ParameterError, match="round them up to one grid"):
        largest_total(charges)


def test_a_search_that_would_not_end_is_refused() -> None:
    with (
        patch.object(overlap, "LARGEST_SEARCH", 3),
        halving_at(1, 4),
        pytest.raises(LouverError, match="overlap in too many ways"),
    ):
        largest_total(random_boxes(50, 2, seed=9))


@settings(deadline=None)
@given(st.data(), FEW_COLUMNS)
def test_the_refinement_has_disjoint_atoms_with_the_same_totals(data: Any, kinds: list[str]) -> None:
    columns = {f"{kind} {number}": kind for number, kind in enumerate(kinds)}
    within = Scope({column: {*VALUES[kind]} - {None} for column, kind in columns.items() if kind in ("text", "truth")})  # type: ignore[misc]
    charges = data.draw(charges_over(kinds, 6))
    atoms = refinement(charges, within)

    for point in points_over(kinds):
        covering = [atom for atom in atoms if atom.scope.contains(point)]
        assert len(covering) <= 1
        if None not in point.values():
            assert sum((atom.price for atom in covering), Fraction(0)) == total_at(charges, point)
    assert [atom.scope for atom in atoms] == sorted(atom.scope for atom in atoms)
    assert largest_total(atoms).price == spent(charges, within).price


def test_a_refinement_that_needs_all_but_some_categories_asks_for_their_list() -> None:
    charges = [Charge(Scope.everything(), 1), Charge(Scope({"room": "a"}), 2)]

    with pytest.raises(ParameterError, match="list the categories"):
        refinement(charges)
    assert refinement(charges, Scope({"room": {"a", "b"}})) == [
        Charge(Scope({"room": "a"}), 3),
        Charge(Scope({"room": "b"}), 1),
    ]


def test_a_refinement_that_would_explode_is_refused() -> None:
    overlapping = random_boxes(300, 3, seed=10)
    apart = [Charge(Scope({"room": number}), 1) for number in range(50)]

    with patch.object(predicatewise, "LARGEST_REFINEMENT", 40):
        for charges in (overlapping, apart):
            with pytest.raises(ParameterError, match="more than 40 atoms"):
                refinement(charges)


def test_two_partitions_compose_to_their_meetings() -> None:
    halves = [Charge(Scope({"hour": Between(None, 12)}), 1), Charge(Scope({"hour": Between(12, None)}), 2)]
    rooms = [Charge(Scope({"room": room, "hour": Between(9, 18)}), 3) for room in ("a", "b")]
    day = [Charge(Scope({"room": {"a", "b"}, "hour": Between(start, start + 3)}), start) for start in (9, 12, 15)]

    assert compose(halves, [Charge(Scope.everything(), 3)]) == [Charge(half.scope, half.price + 3) for half in halves]
    composed = compose(rooms, day)
    assert len(composed) == 6
    assert largest_total(composed) == largest_total(rooms + day)
    assert largest_total([Charge(charge.scope, 1) for charge in composed]).price == 1


@settings(deadline=None)
@given(st.lists(PRICES, min_size=2, max_size=5), st.lists(PRICES, min_size=2, max_size=5))
def test_composed_partitions_have_the_totals_of_both(first: list[Fraction], second: list[Fraction]) -> None:
    rooms = {f"r{number}" for number in range(len(first))}
    by_room = [Charge(Scope({"room": f"r{number}"}), price) for number, price in enumerate(first)]
    cuts = [None, *range(len(second) - 1), None]
    by_hour = [
        Charge(Scope({"room": rooms, "hour": Between(cuts[number], cuts[number + 1])}), price)
        for number, price in enumerate(second)
    ]
    composed = compose(by_room, by_hour)

    assert len(composed) == len(first) * len(second)
    for room, at in product(sorted(rooms), range(-1, len(second))):
        point: Point = {"room": room, "hour": at}
        assert total_at(composed, point) == total_at(by_room + by_hour, point)


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ([Scope({"room": "a"})], [Scope({"room": {"a", "b"}})], "same part"),
        ([Scope({"room": {"a", "b"}})], [Scope({"room": "a"})], "same part"),
        ([Scope({"room": "a"}), Scope({"room": {"a", "b"}})], [Scope({"room": {"a", "b"}})], "must not overlap"),
        ([Scope.everything()], [Scope({"hour": Between(0, 24)})], "same part"),
        ([Scope({"room": "a"})], [], "same part"),
    ],
)
def test_what_does_not_split_the_same_part_of_the_domain_is_not_composed(
    first: list[Scope], second: list[Scope], said: str
) -> None:
    with pytest.raises(ParameterError, match=said):
        compose([Charge(scope, 1) for scope in first], [Charge(scope, 1) for scope in second])


def test_partitions_with_too_many_meetings_are_refused() -> None:
    cells = [Charge(Scope({"room": number}), 1) for number in range(50)]

    with (
        patch.object(predicatewise, "LARGEST_REFINEMENT", 100),
        pytest.raises(ParameterError, match="too many to compose"),
    ):
        compose(cells, cells)


def test_an_act_charges_at_most_what_it_reserved_at_every_point() -> None:
    rooms = [Scope({"room": room}) for room in ("a", "b")]
    worst = [Charge(room, 3 * TENTH) for room in rooms]
    settled = ExPost(worst, [Charge(rooms[0], 3 * TENTH), Charge(rooms[1], 1 * TENTH)])

    assert settled.loss == 3 * TENTH
    assert ExPost(worst, []).loss == 0
    with pytest.raises(ParameterError, match=r"by 0\.1 at room = b; reserve the worst price"):
        ExPost(worst, [Charge(rooms[1], 4 * TENTH)])


def test_a_refusal_stays_short_however_long_the_numbers_are() -> None:
    with pytest.raises(ParameterError, match=r"by 1\.31820e\+1204 at every point") as refusal:
        ExPost([], [Charge(Scope.everything(), 2**4000)])
    assert len(str(refusal.value)) < 200
    many = [Charge(Scope.everything(), Fraction(1, 3**2500 + number)) for number in range(12)]
    with pytest.raises(ParameterError, match="reserve the worst price"):
        ExPost([], many)


def test_a_charge_that_is_small_on_the_whole_may_still_exceed_a_reservation_somewhere() -> None:
    worst = [Charge(Scope({"room": "a"}), 1)]

    with pytest.raises(ParameterError, match="room = b"):
        ExPost(worst, [Charge(Scope({"room": "b"}), TENTH)])
    with pytest.raises(ParameterError, match="room = any other"):
        ExPost(worst, [Charge(Scope.everything(), TENTH)])


def test_a_reservation_for_all_times_does_not_pay_for_rows_without_a_time() -> None:
    times = [Charge(Scope({"hour": Between(None, 12)}), 1), Charge(Scope({"hour": Between(12, None)}), 1)]

    with pytest.raises(ParameterError, match="hour = any other"):
        ExPost(times, [Charge(Scope.everything(), 1)])


@settings(deadline=None)
@given(st.data(), FEW_COLUMNS)
def test_an_outcome_is_accepted_exactly_if_no_point_is_overcharged(data: Any, kinds: list[str]) -> None:
    worst, charged = data.draw(charges_over(kinds, 6)), data.draw(charges_over(kinds, 4))
    sound = all(total_at(charged, point) <= total_at(worst, point) for point in points_over(kinds))

    if sound:
        assert ExPost(worst, charged).loss <= largest_total(worst).price
    else:
        with pytest.raises(ParameterError, match="must not charge more"):
            ExPost(worst, charged)


def gradual_law(first: float, second: float, count: int, size: int) -> Any:
    """P[noisy count at the first level, at the second], for a chain of gradual release on -size .. size."""
    a, b = math.exp(-first), math.exp(-second)
    stay = (b / a) * ((1 - a) / (1 - b)) ** 2
    values = np.arange(-size, size + 1)
    step = (1 - stay) * math.tanh(first / 2) * np.exp(-first * np.abs(values[:, None] - values[None, :]))
    step[np.diag_indices(len(values))] += stay
    return step * math.tanh(second / 2) * np.exp(-second * np.abs(values - count))[None, :]


def largest_log_ratio(one: Any, other: Any) -> float:
    return float(np.abs(np.log(one) - np.log(other)).max())


def test_a_gradual_act_loses_what_it_charged_at_the_level_where_it_stopped() -> None:
    first, second, size = 0.3, 1.1, 60
    values = np.arange(-size, size + 1)
    stopped, high = np.abs(values) > 4, values > 4
    laws = [gradual_law(first, second, count, size) for count in (0, 1)]
    noisy = [math.tanh(first / 2) * np.exp(-first * np.abs(values - count)) for count in (0, 1)]
    sharp = [math.tanh(second / 2) * np.exp(-second * np.abs(values - count)) for count in (0, 1)]
    assert np.abs(laws[0].sum(axis=1) - noisy[0])[~stopped].max() < 1e-12

    reserved = [Charge(Scope({"room": "a"}), Fraction(second))]
    early, late = (
        float(ExPost(reserved, [Charge(Scope({"room": "a"}), Fraction(level))]).loss) for level in (first, second)
    )
    assert largest_log_ratio(*(law[stopped] for law in noisy)) == pytest.approx(early, abs=1e-9)
    assert largest_log_ratio(*(law[~stopped] for law in laws)) == pytest.approx(late, abs=1e-9)
    # The same when only the decision and the level are published.
    assert largest_log_ratio(*(law[high].sum() for law in noisy)) == pytest.approx(early, abs=1e-9)
    assert largest_log_ratio(*(law[~stopped][:, high].sum() for law in laws)) == pytest.approx(late, abs=1e-9)
    # Fresh noise at the second level costs both.
    fresh = [np.outer(noisy[count][~stopped], sharp[count]) for count in (0, 1)]
    assert largest_log_ratio(*fresh) == pytest.approx(early + late, abs=1e-9)


def truthful(bit: int, answer: int, price: int) -> Fraction:
    """Randomized response that costs `price` times ln 2."""
    return Fraction(2**price, 2**price + 1) if bit == answer else Fraction(1, 2**price + 1)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["room", "hour", "both", "everything"]), st.integers(1, 3)), min_size=1, max_size=3
    )
)
def test_one_record_changes_every_outcome_by_at_most_the_total_at_its_point(acts: list[tuple[str, int]]) -> None:
    # Each act asks of each part of its own partition whether it is occupied; a point has one record or none.
    points = [{"room": room, "hour": at} for room in ("a", "b") for at in (0, 1)]
    rooms = [Scope({"room": room}) for room in ("a", "b")]
    hours = [Scope({"hour": Between(at, at + 1)}) for at in (0, 1)]
    cells = [Scope({"room": room, "hour": Between(at, at + 1)}) for room in ("a", "b") for at in (0, 1)]
    partitions = {"room": rooms, "hour": hours, "both": cells, "everything": [Scope.everything()]}
    asked = [(scope, price) for name, price in acts for scope in partitions[name]]
    charges = [Charge(scope, price) for scope, price in asked]

    def bits(records: tuple[int, ...]) -> list[int]:
        present = [point for point, there in zip(points, records, strict=True) if there]
        return [int(any(scope.contains(point) for point in present)) for scope, _ in asked]

    for number, point in enumerate(points):
        total = total_at(charges, point)
        reached = Fraction(0)
        for others in product((0, 1), repeat=3):
            without = bits((*others[:number], 0, *others[number:]))
            with_it = bits((*others[:number], 1, *others[number:]))
            # Answers are independent, so the worst outcome is the worst answer to each question.
            ratios = [
                max(truthful(after, answer, price) / truthful(before, answer, price) for answer in (0, 1))
                for before, after, (_, price) in zip(without, with_it, asked, strict=True)
            ]
            worst = math.prod(ratios, start=Fraction(1))
            assert worst <= 2**total
            reached = max(reached, worst)
        assert reached == 2**total


ANYTHING = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(2**3000, 2**5000),
    st.floats(),
    st.fractions(),
    st.decimals(),
    st.text(max_size=5),
    st.binary(max_size=5),
    st.builds(object),
    st.builds(Scope, st.just({})),
    st.builds(Charge, st.just(Scope({"room": "a"})), st.floats(0, 5)),
    st.builds(Charge, st.just(Scope({"room": 1})), st.floats(0, 5)),
    st.builds(Charge, st.just(Scope({"room": Between(1, None)})), st.integers(0, 2**4000)),
)


@settings(max_examples=3000, deadline=None)
@given(st.one_of(ANYTHING, st.lists(ANYTHING, max_size=3)), st.one_of(ANYTHING, st.lists(ANYTHING, max_size=3)))
def test_any_input_is_added_up_or_gets_one_sentence(first: Any, second: Any) -> None:
    for attempt in (
        lambda: Charge(first, 1),
        lambda: Charge(Scope.everything(), first),
        lambda: total_at(first, second),
        lambda: largest_total(first),
        lambda: largest_total(first, second),
        lambda: spent(first, second),
        lambda: compose(first, second),
        lambda: refinement(first),
        lambda: refinement(first, second),
        lambda: ExPost(first, second),
        lambda: Charge(Scope.everything(), 1).for_unit(first),
    ):
        assert_made_or_refused(attempt)


@pytest.mark.parametrize("price", [-1, Fraction(-1, 10**9), math.nan, math.inf, True, "1", None])
def test_a_price_that_is_no_finite_number_of_zero_or_more_is_refused(price: Any) -> None:
    with pytest.raises(ParameterError, match=r"\.$"):
        Charge(Scope.everything(), price)


def test_charges_of_two_kinds_in_one_column_are_refused() -> None:
    with pytest.raises(ParameterError, match="'room' is a set of texts in one scope and a set of whole numbers"):
        largest_total([Charge(Scope({"room": "1"}), 1), Charge(Scope({"room": 1}), 1)])


@pytest.mark.parametrize(
    ("guarantee", "kind", "price", "delta"),
    [
        (Pure(TENTH), "pure", TENTH, 0),
        (Approximate(TENTH, Fraction(1, 100)), "approximate", TENTH, Fraction(1, 100)),
        (ZeroConcentrated(TENTH), "zero-concentrated", TENTH, 0),
        (Subspace(TENTH, Fraction(1, 100), "totals"), "subspace", TENTH, Fraction(1, 100)),
    ],
)
def test_a_charge_is_a_guarantee_on_a_scope(guarantee: Guarantee, kind: str, price: Fraction, delta: Fraction) -> None:
    charge = Charge(Scope({"room": "a", "hour": 9}), guarantee)
    assert (charge.guarantee, charge.kind, charge.price, charge.delta) == (guarantee, kind, price, delta)
    moved = charge.for_unit(Unit("person", "hour"))
    assert (moved.guarantee, moved.scope) == (guarantee, Scope({"hour": 9}))
    assert moved.on(Scope.everything()) == Charge(Scope.everything(), guarantee)


def test_a_number_is_a_pure_price() -> None:
    assert Charge(Scope.everything(), TENTH) == Charge(Scope.everything(), Pure(TENTH))


def test_charges_of_kinds_without_a_proved_sum_are_not_added_up() -> None:
    everywhere = Scope.everything()
    pure, approximate = Charge(everywhere, 1), Charge(everywhere, Approximate(1, TENTH))
    assert largest_total([pure, approximate]).price == 2
    rho, totals = Charge(everywhere, ZeroConcentrated(1)), Charge(everywhere, Subspace(1, 0, "totals"))
    margins = Charge(everywhere, Subspace(1, 0, "margins"))
    assert largest_total([totals, totals]).price == largest_total([rho, rho]).price == 2
    for mixed in ([pure, rho], [pure, totals], [rho, totals], [totals, margins]):
        for add_up in (largest_total, refinement, lambda charges: spent(charges, everywhere)):
            with pytest.raises(ParameterError, match="different kinds have no sum"):
                add_up(mixed)
