"""What hiding a window of ticks costs in accuracy: Laplace noise at a pure price beside Gaussian noise.

All of a window pays epsilon 1, with a delta of 1e-6 where noise is Gaussian. Mean absolute error over 1000 ticks of the
streams of `bench.stream_smoothing`; then the root mean square error of running sums over a week of five minutes, where
`as a group` is Gaussian noise that pays for w ticks as for w units in one of them.

Run: python -m bench.stream_windows [STREAMS]
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from tests.stream.shapes import STREAMS, drawn

from louver.errors import ParameterError
from louver.privacy.gaussian import largest_rho
from louver.stream.buffered import Buffered
from louver.stream.gaussian import Gaussian
from louver.stream.kary import KAry
from louver.stream.laplace import Laplace
from louver.stream.segment import Segment
from louver.stream.toeplitz import Toeplitz
from louver.stream.together import rho_of_one
from louver.stream.tree import Tree

WINDOWS = (1, 12, 288)
WEEK = 2016
DELTA = Fraction(1, 10**6)
# Fresh noise for so many ticks has at least this variance, and sums have more; none moves more numbers.
RHO = {window: largest_rho(1, DELTA, variance=17 * window, moved=4096) for window in WINDOWS}

Make = Callable[..., Any]
SUMS: list[tuple[str, Make]] = [("tree", Tree), ("kary", KAry), ("toeplitz", Toeplitz), ("buffered", Buffered)]


def main() -> None:
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    print_streams(repeats)
    print_sums()


def print_streams(repeats: int) -> None:
    print(f"{repeats} streams each, +- standard error")
    heads = ("laplace", "gaussian", "segment, epsilon", "segment, rho")
    print(f"{'mean absolute error':16} {'window':>6} " + " ".join(f"{head:>18}" for head in heads))
    for name in STREAMS:
        counts = drawn(name, repeats)
        for window in WINDOWS:
            made: list[Any] = [
                Laplace(Fraction(1, window), repeats),
                Gaussian(RHO[window] / window, repeats),
                Segment(Fraction(1, window), repeats),
                Segment(rho=RHO[window] / window, regions=repeats),
            ]
            shown = []
            for stream in made:
                errors = np.abs(stream.run(counts) - counts).mean(axis=0)
                shown.append(f"{errors.mean():10.2f} +-{errors.std(ddof=1) / np.sqrt(repeats):6.2f}")
            print(f"{name:16} {window:6} ", *shown)


def print_sums() -> None:
    print(f"\n{'root mean square error':24} {'window':>6} {'epsilon 1':>10} {'and delta':>10} {'as a group':>10}")
    for name, make in SUMS:
        for window in WINDOWS:
            errors = [
                _error(make, window, epsilon=Fraction(1, window)),
                _error(make, window, rho=None),
                _error(make, window, rho=RHO[window] / window**2),
            ]
            print(f"{name:24} {window:6} " + " ".join(f"{each:>10}" for each in errors))


def _error(make: Make, window: int, **price: Fraction | None) -> str:
    """Where a sum has such a price; no rho is the one for a window."""
    try:
        if price == {"rho": None}:
            price = {"rho": rho_of_one(lambda one: make(WEEK, rho=one), RHO[window], window, 1)}
        return f"{make(WEEK, **price).rms_error():.4g}"
    except ParameterError:
        return "-"


if __name__ == "__main__":
    main()
