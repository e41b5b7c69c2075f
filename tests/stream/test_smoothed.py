"""What laplace, pegasus, segment and hierarchy have in common: input, state, and batches that equal ticks."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from louver.errors import ParameterError
from louver.noise import Bits
from louver.noise.bits import SYSTEM
from louver.privacy import Pure
from louver.stream.hierarchy import Hierarchy
from louver.stream.laplace import Laplace
from louver.stream.mechanism import Mechanism
from louver.stream.pegasus import Pegasus
from louver.stream.segment import Segment
from tests.misuse import NOT_POSITIVE, anything, assert_made_or_refused
from tests.stream.smoothing import script_noise, seeded

THREE = 3
MAKERS: dict[str, Callable[..., Mechanism]] = {
    "laplace": lambda epsilon, bits=SYSTEM: Laplace(epsilon, THREE, bits=bits),
    "pegasus": lambda epsilon, bits=SYSTEM: Pegasus(epsilon, THREE, bits=bits),
    "pegasus short": lambda epsilon, bits=SYSTEM: Pegasus(epsilon, THREE, patience=50, longest=4, bits=bits),
    "james-stein": lambda epsilon, bits=SYSTEM: Pegasus(
        epsilon, THREE, smoother="james-stein", split="optimal", patience=15, bits=bits
    ),
    "segment": lambda epsilon, bits=SYSTEM: Segment(epsilon, THREE, bits=bits),
    "hierarchy": lambda epsilon, bits=SYSTEM: Hierarchy(epsilon, [None, 0, 1, 1, 0], bits=bits),
}
BAD: list[object] = [None, "x", "1/0", -1, []]
every = pytest.mark.parametrize("name", MAKERS)


def restored(stream: Mechanism, bits: Bits) -> Mechanism:
    return type(stream).from_dict(json.loads(json.dumps(stream.to_dict())), bits=bits)


def counts(ticks: int, seed: int = 1) -> Any:
    return np.random.default_rng(seed).integers(0, 40, (ticks, THREE)) // [1, 4, 40]


@every
def test_a_restart_before_every_tick_changes_nothing(name: str) -> None:
    bits, other = seeded(7), seeded(7)
    whole, broken = MAKERS[name](0.5, bits=bits), MAKERS[name](0.5, bits=other)
    for tick in counts(300):
        broken = restored(broken, other)
        np.testing.assert_array_equal(whole.update(tick), broken.update(tick))
    assert whole.to_dict() == broken.to_dict()


@every
@settings(max_examples=15)
@given(data=st.data())
def test_a_restart_at_any_tick_of_any_stream_changes_nothing(name: str, data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.tuples(*[st.integers(-5, 2**53)] * THREE), min_size=1, max_size=30))
    at = data.draw(st.integers(0, len(rows)))
    bits, other = seeded(3), seeded(3)
    whole, broken = MAKERS[name](1, bits=bits), MAKERS[name](1, bits=other)
    for tick in rows[:at]:
        np.testing.assert_array_equal(whole.update(tick), broken.update(tick))
    broken = restored(broken, other)
    for tick in rows[at:]:
        np.testing.assert_array_equal(whole.update(tick), broken.update(tick))


@every
def test_a_stored_state_does_not_change_when_the_stream_goes_on(name: str) -> None:
    stream = MAKERS[name](1)
    stream.run(counts(50))
    stored = stream.to_dict()
    before = json.dumps(stored)
    stream.run(counts(50))
    assert json.dumps(stored) == before


@every
def test_a_batch_gives_what_that_many_ticks_give_with_the_same_noise(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = counts(400)
    script_noise(monkeypatch, 5)
    together = MAKERS[name](0.3)
    batched = np.concatenate([together.run(rows[:150]), together.run(rows[150:])])
    script_noise(monkeypatch, 5)
    single = MAKERS[name](0.3)
    np.testing.assert_array_equal(batched, [single.update(tick) for tick in rows])
    assert single.to_dict() == together.to_dict()
    assert single.ticks == 400


@pytest.mark.parametrize("name", [name for name in MAKERS if name != "hierarchy"])
def test_regions_do_not_touch_each_other(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rows, other = counts(200), counts(200)
    other[:, 1] = 900
    released = []
    for given_rows in (rows, other):
        script_noise(monkeypatch, 5)
        released.append(MAKERS[name](0.3).run(given_rows))
    np.testing.assert_array_equal(released[0][:, [0, 2]], released[1][:, [0, 2]])
    assert (released[0][:, 1] != released[1][:, 1]).any()


@every
def test_a_missing_tick_is_released_as_a_tick_of_zeros(name: str) -> None:
    one, two, three = (MAKERS[name](1, bits=seeded(2)) for _ in range(3))
    for _ in range(3):
        zeros = two.update([0, 0, 0])
        np.testing.assert_array_equal(one.update(None), zeros)
        np.testing.assert_array_equal(three.update([None, math.nan, "nothing"]), zeros)


@every
@pytest.mark.parametrize(
    ("strange", "read"),
    [
        ([-1, -(2**63), -math.inf], [0, 0, 0]),
        ([-1, -(2**63), 5], [0, 0, 5]),
        ([2.4, 2.5, np.float64(2.6)], [2, 3, 3]),
        ([Fraction(5, 2), True, "7"], [3, 1, 7]),
        (np.array([1, 2, 3], dtype=np.uint8), [1, 2, 3]),
        (np.array([1, 2, 3], dtype=np.int8), [1, 2, 3]),
    ],
)
def test_strange_numbers_are_rounded_and_clamped(name: str, strange: Any, read: list[int]) -> None:
    one, two = (MAKERS[name](1, bits=seeded(2)) for _ in range(2))
    np.testing.assert_array_equal(one.update(strange), two.update(read))


@every
def test_a_number_that_is_far_too_large_does_not_stop_a_stream(name: str) -> None:
    stream = MAKERS[name](1)
    for tick in ([2**63 - 1] * 3, [10**400] * 3, [math.inf] * 3, [0] * 3, np.array([2**64 - 1] * 3, dtype=np.uint64)):
        assert np.isfinite(stream.update(tick)).all()
    assert np.isfinite(stream.run(np.zeros((300, 3), dtype=np.int64))).all()
    json.dumps(stream.to_dict(), allow_nan=False)


@every
@pytest.mark.parametrize("shape", [(), (2,), (4,), (1, 3), (3, 1), (0,)])
def test_a_tick_of_the_wrong_shape_is_refused(name: str, shape: tuple[int, ...]) -> None:
    with pytest.raises(ParameterError, match=r"one number for each of 3 regions\.$"):
        MAKERS[name](1).update(np.zeros(shape, dtype=np.int64))


@every
@pytest.mark.parametrize("shape", [(), (3,), (2, 2), (1, 2, 3), (0,)])
def test_a_batch_of_the_wrong_shape_is_refused(name: str, shape: tuple[int, ...]) -> None:
    with pytest.raises(ParameterError, match=r"\.$"):
        MAKERS[name](1).run(np.zeros(shape, dtype=np.int64))


@every
def test_rows_of_different_lengths_are_refused(name: str) -> None:
    with pytest.raises(ParameterError, match=r"^A tick must be"):
        MAKERS[name](1).update([[1], [2, 3], [4]])
    with pytest.raises(ParameterError, match=r"^A batch must be"):
        MAKERS[name](1).run([[1, 2, 3], [4]])


@every
def test_an_empty_batch_releases_nothing(name: str) -> None:
    stream = MAKERS[name](1)
    assert len(stream.run(np.zeros((0, 3), dtype=np.int64))) == 0
    assert stream.ticks == 0


def test_one_stream_takes_numbers_and_gives_numbers() -> None:
    for stream in (Laplace(1), Pegasus(1), Segment(1)):
        assert isinstance(stream.update(3), int | float)
        assert stream.run([1, 2, 3]).shape == (3,)
        assert isinstance(stream.update(None), int | float)
        for wrong in ([3], [[3]], []):
            with pytest.raises(ParameterError, match=r"one number\.$"):
                stream.update(wrong)
        with pytest.raises(ParameterError, match=r"each with one number\.$"):
            stream.run([[1], [2]])


@every
def test_no_repr_shows_a_number(name: str) -> None:
    stream = MAKERS[name](1)
    stream.update([123456, 123456, 123456])
    assert repr(stream) == f"<{type(stream).__name__} stream, state not shown>"


@every
@pytest.mark.parametrize("epsilon", NOT_POSITIVE)
def test_an_epsilon_that_is_none_is_refused(name: str, epsilon: object) -> None:
    assert_made_or_refused(lambda: MAKERS[name](epsilon))
    if not isinstance(epsilon, str):
        with pytest.raises(ParameterError, match=r"\.$"):
            MAKERS[name](epsilon)


@given(anything, anything, anything, anything)
def test_any_arguments_make_a_stream_or_are_refused_in_one_sentence(a: object, b: object, c: object, d: object) -> None:
    assert_made_or_refused(lambda: Laplace(a, b, sensitivity=c))  # type: ignore[arg-type]
    assert_made_or_refused(lambda: Segment(1, sensitivity=a))  # type: ignore[arg-type]
    assert_made_or_refused(lambda: Pegasus(1, smoother=a))  # type: ignore[arg-type]
    assert_made_or_refused(lambda: Pegasus(1, 2, patience=a, grouping_share=b, longest=c))  # type: ignore[arg-type]
    assert_made_or_refused(lambda: Hierarchy(1, [None, a, b], inner=c))  # type: ignore[arg-type, list-item]
    assert_made_or_refused(lambda: Hierarchy(1, d))  # type: ignore[arg-type]


@every
def test_a_damaged_state_is_refused_in_one_sentence(name: str) -> None:
    stream = MAKERS[name](1)
    stream.run(counts(20))
    stored = json.loads(json.dumps(stream.to_dict()))
    wrong: list[object] = [
        None,
        [],
        {},
        "x",
        stored | {"kind": "other"},
        stored | {"format": 2},
        stored | {"ticks": -1},
    ]
    wrong += [{key: value for key, value in stored.items() if key != left} for left in stored]
    wrong += [stored | {"parameters": stored["parameters"] | {"epsilon": bad}} for bad in BAD]
    for plain in wrong:
        with pytest.raises(ParameterError, match=r"\.$"):
            type(stream).from_dict(plain)


@pytest.mark.parametrize("name", ["pegasus", "segment", "hierarchy"])
@settings(max_examples=40)
@given(bad=anything)
def test_a_region_of_a_state_that_holds_anything_is_read_or_refused(name: str, bad: object) -> None:
    stream = MAKERS[name](1)
    stream.run(counts(20))
    stored = stream.to_dict()
    regions = stored["state"]["state"]["regions"] if name == "hierarchy" else stored["state"]["regions"]
    for field in list(regions[0]):
        kept, regions[0][field] = regions[0][field], bad
        assert_made_or_refused(lambda: type(stream).from_dict(stored))
        regions[0][field] = kept
    regions.pop()
    with pytest.raises(ParameterError, match="damaged"):
        type(stream).from_dict(stored)


@every
def test_the_price_is_epsilon_once_and_a_unit_in_more_ticks_or_states_pays_for_each(name: str) -> None:
    assert MAKERS[name](Fraction(3, 4)).price == Pure(Fraction(3, 4))
    assert MAKERS[name](Fraction(3, 4)).price.for_group(4) == Pure(3)  # type: ignore[union-attr]


SINGLE: dict[str, Callable[[int | None], Any]] = {
    "laplace": lambda regions: Laplace(0.3, regions),
    "pegasus": lambda regions: Pegasus(0.3, regions),
    "pegasus short": lambda regions: Pegasus(0.3, regions, patience=50, longest=4),
    "segment": lambda regions: Segment(0.3, regions),
}


@pytest.mark.parametrize("name", SINGLE)
def test_a_stream_without_regions_gives_tick_by_tick_what_a_batch_gives_with_the_same_noise(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = counts(300)[:, 0]
    script_noise(monkeypatch, 7)
    together = SINGLE[name](None)
    batched = together.run(rows)
    script_noise(monkeypatch, 7)
    single = SINGLE[name](None)
    assert [single.update(tick) for tick in rows.tolist()] == batched.tolist()
    assert single.to_dict() == together.to_dict()


@pytest.mark.parametrize("name", [name for name in SINGLE if name != "laplace"])
@pytest.mark.parametrize("regions", [None, THREE])
def test_a_batch_has_the_trace_of_that_many_ticks(
    name: str, regions: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also how much each value scatters, which `variances` says of the last tick."""
    rows = counts(200)[:, 0] if regions is None else counts(200)
    script_noise(monkeypatch, 8)
    together = SINGLE[name](regions)
    together.run(rows)
    script_noise(monkeypatch, 8)
    single = SINGLE[name](regions)
    for tick, row in enumerate(rows):
        single.update(row)
        for part in ("released", "noisy", "levels", "lengths", "variances"):
            np.testing.assert_array_equal(getattr(single.trace, part)[0], getattr(together.trace, part)[tick])
        np.testing.assert_array_equal(single.variances(), single.trace.variances[0])


@pytest.mark.parametrize("name", [name for name in SINGLE if name != "laplace"])
def test_before_the_first_tick_the_trace_is_empty_and_all_regions_scatter_alike(name: str) -> None:
    stream = SINGLE[name](THREE)
    assert stream.trace.released.shape == stream.trace.variances.shape == (0, THREE)
    assert (stream.variances() == stream.variances()[0]).all()


@pytest.mark.parametrize(
    "masked",
    [
        np.ma.array([[1, 999], [3, 4]], mask=[[False, True], [True, False]]),
        [np.ma.array([1, 999], mask=[False, True]), np.ma.array([3, 4], mask=[True, False])],
        np.ma.array([["1", "2"], ["3", "4"]], mask=[[False, True], [True, False]]),
    ],
)
def test_masked_values_are_missing(masked: Any) -> None:
    assert Laplace(100, 2).run(masked).tolist() == [[1, 0], [0, 4]]
    assert Laplace(100, 2).update(masked[0]).tolist() == [1, 0]


def test_after_an_empty_batch_a_hierarchy_has_no_deviations() -> None:
    stream = Hierarchy(1, [None, 0, 0])
    stream.run([[1, 2]])
    assert stream.run(np.empty((0, 2))).shape == stream.deviations.shape == (0, 3)
