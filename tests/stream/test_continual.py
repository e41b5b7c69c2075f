"""What holds for every continual sum. Each of some 330 comparisons fails by chance with probability under 2e-9."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from louver.errors import LouverError, ParameterError
from louver.noise.bits import SYSTEM
from louver.privacy import Pure, ZeroConcentrated
from louver.stream.buffered import Buffered
from louver.stream.kary import KAry
from louver.stream.toeplitz import Toeplitz
from louver.stream.tree import Tree
from tests.misuse import NOT_POSITIVE, anything, assert_made_or_refused
from tests.stream.counting import ALLOWED, KINDS, QUIET, REGIONS, assert_spread, seeded, through_json

EVERY = pytest.mark.parametrize("kind", sorted(KINDS))
HORIZONS = [1, 2, 7, 60, 150, 1000, None]


@EVERY
@settings(max_examples=25)
@given(
    values=st.lists(st.integers(0, 50), min_size=1, max_size=300),
    cuts=st.lists(st.integers(0, 60), max_size=8),
    horizon=st.sampled_from(HORIZONS),
)
def test_without_noise_every_prefix_is_exact_however_ticks_are_batched(
    kind: str, values: list[int], cuts: list[int], horizon: int | None
) -> None:
    stream = KINDS[kind](horizon, price=QUIET)
    released: list[float] = []
    rest = values
    for cut in cuts:
        released += stream.run(np.array(rest[:cut], dtype=np.int64)).tolist()
        rest = rest[cut:]
        if rest:
            released.append(stream.update(rest[0]))
            rest = rest[1:]
    released += stream.run(np.array(rest, dtype=np.int64)).tolist()
    assert np.abs(np.array(released) - np.cumsum(values)).max() < 0.1
    assert stream.ticks == len(values)


@EVERY
def test_regions_are_streams_of_their_own(kind: str) -> None:
    values = np.arange(3 * 70).reshape(70, 3)
    stream = KINDS[kind](100, price=QUIET, regions=3)
    assert np.abs(stream.run(values[:40]) - values[:40].cumsum(axis=0)).max() < 0.1
    assert np.abs(stream.update(values[40]) - values[:41].sum(axis=0)).max() < 0.1


@EVERY
def test_a_restart_at_any_tick_goes_on_as_if_there_had_been_none(kind: str) -> None:
    values = np.random.default_rng(3).integers(0, 9, (150, 2))
    horizon = 60  # two epochs, and for the buffered sum more than one block
    uninterrupted = KINDS[kind](horizon, price=1, regions=2, bits=seeded(5))
    expected = np.array([uninterrupted.update(row) for row in values])
    bits = seeded(5)
    stream = KINDS[kind](horizon, price=1, regions=2, bits=bits)
    released = []
    for row in values:
        stream = through_json(stream, bits)
        released.append(stream.update(row))
    assert np.array_equal(released, expected)


@EVERY
@pytest.mark.parametrize("restarted", [False, True])
def test_tick_by_tick_every_prefix_is_exact_over_several_blocks(kind: str, restarted: bool) -> None:
    values = np.random.default_rng(5).integers(0, 50, (400, 2))
    stream = KINDS[kind](1000, price=QUIET, regions=2)
    for tick, row in enumerate(values):
        if restarted and tick % 37 == 5:
            stream = through_json(stream, SYSTEM)
        assert np.abs(stream.update(row) - values[: tick + 1].sum(axis=0)).max() < 0.1


@EVERY
def test_a_restart_between_batches_goes_on_as_if_there_had_been_none(kind: str) -> None:
    values = np.random.default_rng(4).integers(0, 9, 500)
    bits, other = seeded(6), seeded(6)
    stream, restarted = KINDS[kind](200, price=1, bits=bits), KINDS[kind](200, price=1, bits=other)
    for part in np.split(values, [1, 100, 230, 231]):
        restarted = through_json(restarted, other)
        assert np.array_equal(stream.run(part), restarted.run(part))


@EVERY
@pytest.mark.parametrize("batched", [True, False])
def test_errors_have_the_predicted_spread_at_every_tick_and_over_all(kind: str, batched: bool) -> None:
    regions, ticks, horizon = REGIONS, 150, 100
    stream = KINDS[kind](horizon, price=1, regions=regions)
    zeros = np.zeros((ticks, regions), dtype=np.int64)
    errors = stream.run(zeros) if batched else np.array([stream.update(row) for row in zeros])
    for tick in (1, 2, 26, 63, 64, 99, 100, 101, 150):
        assert_spread(errors[tick - 1], stream.error_at(tick))
    over_all = (errors**2).mean(axis=0)
    off = over_all.mean() - stream.rms_error(ticks) ** 2
    assert abs(off) < ALLOWED * over_all.std() / np.sqrt(regions)


@EVERY
def test_errors_have_the_predicted_spread_where_batches_and_single_ticks_take_turns(kind: str) -> None:
    stream, horizon = KINDS[kind](100, price=1, regions=REGIONS), 150
    zeros = np.zeros((horizon, REGIONS), dtype=np.int64)
    errors = []
    for batch in (0, 7, 1, 18, 0, 37, 60, 9):
        errors += [*stream.run(zeros[:batch]), stream.update(zeros[0])]
    for tick in (1, 8, 9, 28, 32, 64, 66, 100, 101, 128, 130, len(errors)):
        assert_spread(errors[tick - 1], stream.error_at(tick))


@EVERY
@pytest.mark.parametrize("horizon", [1, 5, 64, 200, None])
def test_predicted_errors_are_the_mean_and_the_maximum_over_the_ticks(kind: str, horizon: int | None) -> None:
    stream = KINDS[kind](horizon, price=1)
    for ticks in (1, 2, 50, 333):
        variances = [stream.error_at(tick) ** 2 for tick in range(1, ticks + 1)]
        assert stream.rms_error(ticks) == pytest.approx(np.sqrt(np.mean(variances)))
        assert stream.largest_error(ticks) == pytest.approx(np.sqrt(max(variances)))


@EVERY
def test_noise_halved_would_be_seen(kind: str) -> None:
    regions = REGIONS
    stream = KINDS[kind](100, price=1, regions=regions)
    errors = stream.run(np.zeros((100, regions), dtype=np.int64))
    with pytest.raises(AssertionError, match="deviations from"):
        assert_spread(errors[63] / 2, stream.error_at(64))


@EVERY
def test_a_reset_counts_from_zero_again_with_the_errors_of_a_new_stream(kind: str) -> None:
    regions = REGIONS
    stream = KINDS[kind](50, price=1, regions=regions)
    stream.run(np.full((70, regions), 1000))
    stream.reset()
    assert_spread(stream.run(np.full((50, regions), 7))[-1] - 350, stream.error_at(50))


@EVERY
def test_values_out_of_bounds_are_clamped_and_missing_ticks_count_as_zero(kind: str) -> None:
    stream = KINDS[kind](100, price=QUIET, high=10)
    given_and_counted = [(3, 3), (-5, 0), (99, 10), (None, 0), (float("nan"), 0), (float("inf"), 10), (2**80, 10)]
    released = [stream.update(value) for value, _ in given_and_counted]
    assert np.abs(np.array(released) - np.cumsum([counted for _, counted in given_and_counted])).max() < 0.1


@EVERY
def test_values_may_be_negative_where_the_bounds_say_so(kind: str) -> None:
    values = np.array([-3, 9, -10, -10] * 20)
    stream = KINDS[kind](80, price=QUIET, low=-10, high=10)
    assert np.abs(stream.run(values) - values.cumsum()).max() < 0.1


@EVERY
def test_a_tick_of_another_shape_is_refused_and_changes_nothing(kind: str) -> None:
    stream = KINDS[kind](100, price=QUIET, regions=2)
    for wrong in ([1], [1, 2, 3], 5, [[1, 2]], "ab"):
        with pytest.raises(ParameterError, match="each of 2 regions"):
            stream.update(wrong)
    assert stream.ticks == 0
    assert np.abs(stream.update([4, 5]) - [4, 5]).max() < 0.1


@EVERY
def test_its_representation_shows_no_number(kind: str) -> None:
    stream = KINDS[kind](100, price=1)
    stream.run([7] * 20)
    assert not any(sign.isdigit() for sign in repr(stream))


@EVERY
def test_a_damaged_state_is_refused(kind: str) -> None:
    stream = KINDS[kind](100, price=1)
    stream.run([7] * 20)
    plain = stream.to_dict()
    state = plain["state"]
    for broken in ({**plain, "state": {}}, {**plain, "kind": "other"}, {**plain, "state": {**state, "epoch": {}}}):
        with pytest.raises(LouverError, match=r"\.$"):
            type(stream).from_dict(broken)


def test_prices_are_what_was_asked_for_and_scale_with_the_ticks_of_a_unit() -> None:
    assert Tree(100, epsilon=0.5).price == Pure(0.5)
    assert KAry(100, rho="1/3").price == ZeroConcentrated(Tree(1, rho="1/3").price.rho)  # type: ignore[union-attr]
    assert Tree(100, epsilon=0.5).price.for_group(3) == Pure(1.5)
    assert Buffered(rho=2).price.for_group(3) == ZeroConcentrated(18)


@pytest.mark.parametrize("make", [Toeplitz, Buffered])
def test_gaussian_factorisations_refuse_a_pure_price(make: type[Toeplitz] | type[Buffered]) -> None:
    with pytest.raises(ParameterError, match="no pure price"):
        make(100, epsilon=1)


@pytest.mark.parametrize("make", [Tree, KAry, Toeplitz, Buffered])
def test_a_price_is_one_number(make: type[Tree]) -> None:
    for prices in ({}, {"epsilon": 1, "rho": 1}):
        with pytest.raises(ParameterError, match="one of them"):
            make(100, **prices)


@pytest.mark.parametrize("wrong", [each for each in NOT_POSITIVE if each != "1"])
def test_a_wrong_price_is_refused_in_a_sentence(wrong: Any) -> None:
    for make in (Tree, KAry, Toeplitz, Buffered):
        with pytest.raises(LouverError, match=r"\.$"):
            make(100, rho=wrong)


@settings(max_examples=60)
@given(horizon=anything, price=anything, sensitivity=anything, high=anything)
def test_any_parameters_make_a_stream_or_a_sentence(
    horizon: Any, price: object, sensitivity: object, high: object
) -> None:
    arguments: dict[str, Any] = {"rho": price, "sensitivity": sensitivity, "high": high}
    if not isinstance(horizon, int) or horizon < 10**4:
        for make in (Tree, KAry, Toeplitz, Buffered):
            assert_made_or_refused(partial(make, horizon, **arguments))


@pytest.mark.parametrize(("kind", "most"), [("tree", 1000), ("kary", 2000), ("signed", 2200)])
def test_the_state_of_a_tree_grows_with_the_logarithm_of_the_ticks(kind: str, most: int) -> None:
    """Characters of JSON: ten times as many ticks are one or two levels more, not ten times the state."""
    sizes = []
    for ticks in (10**3, 10**4, 10**5, 10**6):
        stream = KINDS[kind](ticks, price=1)
        stream.run(np.ones(ticks - 1, dtype=np.int64))
        sizes.append(len(json.dumps(stream.to_dict())))
    assert max(np.diff(sizes)) < most
    assert sizes[-1] < 4 * most


def test_the_state_of_a_buffered_sum_does_not_grow() -> None:
    stream = Buffered(rho=1)
    sizes = []
    for _ in range(5):
        stream.run(np.ones(50_000 + 127 - stream.ticks % 128, dtype=np.int64))
        sizes.append(len(json.dumps(stream.to_dict())))
    assert max(sizes) < 1.02 * min(sizes)
    assert max(sizes) < 10_000
