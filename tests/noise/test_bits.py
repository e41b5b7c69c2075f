from __future__ import annotations

import multiprocessing
import os

import numpy as np
import pytest

from louver.noise.bits import SYSTEM, Bits
from tests.noise.laws import FALSE_ALARM, chi_square


def test_bits_come_from_the_operating_system() -> None:
    assert SYSTEM._source is os.urandom
    assert Bits()._source is os.urandom


def test_there_is_no_seed() -> None:
    with pytest.raises(TypeError):
        Bits(1)  # type: ignore[call-arg]


def test_an_injected_source_is_read_in_order_and_nothing_is_kept_back() -> None:
    asked: list[int] = []

    def counting(count: int) -> bytes:
        asked.append(count)
        return bytes(range(count))

    bits = Bits._from(counting)
    assert bits.words16(2).tolist() == [0x0100, 0x0302]
    assert bits.words64(1).tolist() == [0x0706050403020100]
    assert bits.integer(64) == 0x0706050403020100
    assert asked == [4, 8, 8]


def test_uniform_integers_below_a_bound_are_uniform_for_bounds_that_are_no_power_of_two() -> None:
    for bound in (1, 2, 3, 5, 7, 64, 100):
        drawn = SYSTEM.below(np.full(100_000, bound))
        if bound == 1:
            assert not drawn.any()
            continue
        counts = np.bincount(drawn, minlength=bound)
        assert len(counts) == bound
        assert chi_square(counts, np.full(bound, 1 / bound)) >= FALSE_ALARM


def test_each_bound_has_its_own_range_up_to_the_largest() -> None:
    bounds = np.array([1, 2, 2**31, 2**62, 2**63 - 1] * 2000)
    drawn = SYSTEM.below(bounds)
    assert ((drawn >= 0) & (drawn < bounds)).all()
    assert (drawn[3::5] > 2**60).mean() > 0.6  # 3/4 are expected of 2000 draws: 15 standard deviations


def test_a_forked_process_draws_other_bits_than_its_parent() -> None:
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=lambda: sender.send(SYSTEM.words64(4).tolist()))
    child.start()
    mine = SYSTEM.words64(4).tolist()
    theirs = receiver.recv()
    child.join()
    assert mine != theirs
