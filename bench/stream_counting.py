"""Continual sums: errors beside the published ones, and speed beside numpy's floating-point Laplace, added up.

Errors are for a price of epsilon 1 (pure), or in multiples of the noise of one number at the same price (Gaussian), and
for a sensitivity of 1. `foretold` comes from the parameters, `measured` from streams that were run. One stream's ticks
share their noise, so what is measured scatters: the column after it says by how much. The floor of speed is not
private. Speeds are by processor time, which other programs on the machine change little.

Run: script/bench stream_counting
     script/bench stream_counting speeds    without the errors
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from bench import clock
from louver.noise import discrete_gaussian, discrete_laplace
from louver.stream.buffered import Buffered
from louver.stream.choose import choose, rho_for
from louver.stream.continual import ContinualSum
from louver.stream.kary import KAry
from louver.stream.toeplitz import Toeplitz
from louver.stream.tree import Tree

TICKS = 1_000_000
seconds = partial(clock.seconds, clock=time.process_time)
Make = Callable[..., ContinualSum]


def signed(ticks: int | None, **named: Any) -> KAry:
    return KAry(ticks, signed=True, adaptive=False, **named)


def plain(arity: int | None) -> Make:
    return lambda ticks, **named: KAry(ticks, arity=arity, **named)


# Published: root mean square error at 1e5 and at 1e6 ticks.
ERRORS: list[tuple[str, Make, dict[str, float], tuple[float | None, float | None]]] = [
    ("pure: binary tree", plain(2), {"epsilon": 1}, (68.6, 88.9)),
    ("pure: binary tree, from below", Tree, {"epsilon": 1}, (50.9, 65.4)),
    ("pure: plain 16-ary", plain(16), {"epsilon": 1}, (38.1, 43.0)),
    ("pure: plain, best arity", plain(None), {"epsilon": 1}, (None, None)),
    ("pure: signed, best arity", signed, {"epsilon": 1}, (26.4, 33.8)),
    ("Gaussian: binary tree", plain(2), {"rho": 0.5}, (11.77, 14.06)),
    ("Gaussian: tree, from below", Tree, {"rho": 0.5}, (8.72, 10.34)),
    ("Gaussian: square root", Toeplitz, {"rho": 0.5}, (4.57, 5.30)),
    ("Gaussian: square root, buffered", Buffered, {"rho": 0.5}, (4.57, 5.30)),
]

SPEEDS: list[tuple[str, Make, dict[str, float]]] = [
    ("tree, from below", Tree, {"epsilon": 1}),
    ("plain, best arity", plain(None), {"epsilon": 1}),
    ("signed, best arity", signed, {"epsilon": 1}),
    ("square root", Toeplitz, {"rho": 0.5}),
    ("square root, ticks up to 10,000", Toeplitz, {"rho": 0.5, "high": 10_000}),
    ("square root, buffered", Buffered, {"rho": 0.5}),
]


def main() -> None:
    if sys.argv[1:] != ["speeds"]:
        print_errors()
        print_unknown_horizon()
        print_epsilon_and_delta()
        print_choices()
    print_speeds()
    print_memory()


def print_errors() -> None:
    heads = ("ticks", "published", "foretold", "measured", "+-", "worst")
    print(f"{'root mean square error':34} {'{:>8} {:>10} {:>9} {:>9} {:>6} {:>7}'.format(*heads)}")
    for ticks, streams in ((10**5, 60), (10**6, 24)):
        for name, make, price, published in ERRORS:
            stream = make(ticks, **price)
            found = published[0 if ticks == 10**5 else 1]
            squares = [
                float(np.mean(make(ticks, **price).run(np.zeros(ticks, dtype=np.int64)) ** 2.0)) for _ in range(streams)
            ]
            measured = math.sqrt(np.mean(squares))
            scatter = float(np.std(squares)) / math.sqrt(streams) / (2 * measured)
            shown = "-" if found is None else f"{found:.4g}"
            print(
                f"{name:34} {ticks:8} {shown:>10} {stream.rms_error():9.4g} {measured:9.4g} {scatter:6.2g} "
                f"{stream.largest_error():7.4g}"
            )


def print_unknown_horizon() -> None:
    print(f"\n{'horizon not known: foretold, and with it known':48} {'1e4':>13} {'1e5':>13} {'1e6':>13} {'1e7':>13}")
    for name, make, price, _ in ERRORS[1:]:
        if make is not Toeplitz:
            errors = [
                (make(None, **price).rms_error(t), make(t, **price).rms_error()) for t in (10**4, 10**5, 10**6, 10**7)
            ]
            print(f"{name:48} " + " ".join(f"{a:6.4g} {b:6.4g}" for a, b in errors))


def print_epsilon_and_delta() -> None:
    """The square root at the largest rho that is (1, 1e-6)-private: by the law of its noise, and by zCDP alone."""
    heads = ("published", "foretold", "by zCDP", "epsilon")
    print(f"\n{'epsilon 1, delta 1e-6: square root':34} {'{:>10} {:>9} {:>9} {:>9}'.format(*heads)}")
    for ticks, published in ((10**5, 19.3), (10**6, 22.4)):
        chosen = choose(ticks, epsilon=1, delta=1e-6)
        other = Buffered(ticks, rho=rho_for(1, 1e-6)).rms_error()
        epsilon = float(chosen.mechanism.approximately(1e-6).epsilon)
        print(f"{ticks:34} {published:10} {chosen.rms_error:9.4g} {other:9.4g} {epsilon:9.6f}")


def print_choices() -> None:
    print()
    for arguments in ({"epsilon": 1}, {"epsilon": 1, "adaptive": False}, {"epsilon": 1, "delta": 1e-6}):
        print(arguments, choose(TICKS, **arguments).why)


def print_speeds() -> None:
    floor = TICKS / seconds(lambda: np.random.default_rng().laplace(size=TICKS).cumsum())
    print(f"\n{'batch of a million ticks':44} {'million/s':>10} {'of numpy':>9} {'noise alone':>12}")
    print(f"{'numpy float Laplace, added up (not private)':44} {floor / 1e6:10.2f} {1:9.3f}")
    values = np.random.default_rng(1).integers(0, 100, TICKS)
    for name, make, price in SPEEDS:
        speed = TICKS / seconds(lambda make=make, price=price: make(TICKS, **price).run(values), repeats=4)  # type: ignore[misc]
        print(f"{name:44} {speed / 1e6:10.2f} {speed / floor:9.3f} {noise_speed(make, price) / 1e6:12.2f}")
    values = values[: 64 * 10_000].reshape(-1, 64)
    for name, make, price in SPEEDS:
        made = lambda make=make, price=price: make(TICKS, regions=64, **price).run(values)  # noqa: E731
        speed = values.size / seconds(made, repeats=2)
        print(f"{name + ', 64 regions, region-ticks':44} {speed / 1e6:10.2f} {speed / floor:9.3f}")
    for name, make, price in SPEEDS:
        stream = make(TICKS, **price)
        speed = 250 / seconds(lambda stream=stream: [stream.update(1) for _ in range(250)], repeats=12)  # type: ignore[misc]
        print(f"{name + ', one tick at a time':44} {speed / 1e6:10.4f} {speed / floor:9.5f}")
    for name, make, price in SPEEDS:
        stream, row = make(TICKS, regions=64, **price), np.ones(64, dtype=np.int64)
        speed = 64 * 130 / seconds(lambda s=stream, r=row: [s.update(r) for _ in range(130)], repeats=4)  # type: ignore[misc]
        print(f"{name + ', 64 regions, one tick at a time':56} {speed / 1e6:10.4f} {speed / floor:9.5f}")


def print_memory() -> None:
    """The size of the saved state, all that a stream remembers, after so many ticks."""
    lengths = (1_000, 10_000, 100_000, 1_000_000)
    print(f"\n{'bytes of state after so many ticks':44}" + " ".join(f"{ticks:>10,}" for ticks in lengths))
    for name, make, price in SPEEDS:
        stream = make(None, **price)
        sizes, passed = [], 0
        for ticks in lengths:
            stream.run(np.ones(ticks - passed, dtype=np.int64))
            passed = ticks
            sizes.append(len(json.dumps(stream.to_dict())))
        print(f"{name:44}" + " ".join(f"{size:>10,}" for size in sizes))


def noise_speed(make: Make, price: dict[str, float]) -> float:
    """As many ticks a second as their noise alone would allow."""
    stream = make(TICKS, **price)
    if isinstance(stream, Toeplitz | Buffered):
        return TICKS / seconds(lambda: discrete_gaussian(stream._used.variance, TICKS), repeats=3)
    draws = 2 * TICKS if isinstance(stream, Tree) else TICKS
    return TICKS / seconds(lambda: discrete_laplace(stream._noise.parameter, draws), repeats=3)  # type: ignore[attr-defined]


if __name__ == "__main__":
    main()
