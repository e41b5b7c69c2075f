"""How far released counts are from the truth, and how fast they come: fresh noise, PeGaSus and segments.

Mean absolute error over 1000 ticks, at epsilon 0.1 and 1. The figures beside ours are those of prototypes with
continuous noise, so each mechanism runs twice: on whole counts, as it is used, and on 64ths of a count, where discrete
noise is as good as continuous. The prototypes' streams were described by a word or two each. The first five follow from
that. The last three do not: each was picked, after about twenty tries, for errors of PeGaSus and of segments near the
prototypes', so these rows show that such streams exist, and are no check of their own.

Run: script/bench stream_smoothing [STREAMS]
     script/bench stream_smoothing speeds    without the errors
"""

from __future__ import annotations

import sys

import numpy as np
from tests.stream.shapes import EPSILONS, MECHANISMS, STREAMS, drawn, errors, figure

from bench.clock import seconds
from louver.stream.pegasus import Pegasus


def main() -> None:
    if sys.argv[1:] == ["speeds"]:
        speeds()
        return
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    print(f"{'':20}", *(f"{mechanism:30}" for mechanism in MECHANISMS))
    print(f"{repeats} streams each; ours +- standard error on 64ths of a count (prototype) [ours on whole counts]")
    for name in STREAMS:
        counts = drawn(name, repeats)
        for epsilon in EPSILONS:
            shown = []
            for mechanism in MECHANISMS:
                fine, whole = errors(mechanism, counts, epsilon, fine=True), errors(mechanism, counts, epsilon)
                error = fine.std(ddof=1) / np.sqrt(repeats)
                shown.append(
                    f"{fine.mean():6.2f} +-{error:4.2f} ({figure(name, mechanism, epsilon):5.2f}) [{whole.mean():5.2f}]"
                )
            print(f"{name:15} {epsilon:4}", *shown, sep="  ")
    groups = Pegasus(0.1, repeats)
    groups.run(drawn("constant", repeats))
    print(f"groups of a constant stream, PeGaSus as published: {(groups.trace.lengths == 1).sum() / repeats:.0f} (345)")
    speeds()


def speeds() -> None:
    draw = np.random.default_rng(6)
    print(f"\n{'region-ticks a second':44} {'thousands':>10} {'of numpy':>9}")
    floor = 0.0
    for regions, ticks in ((64, 1000), (1024, 200), (None, 20_000)):
        shape = (ticks,) if regions is None else (ticks, regions)
        counts = draw.integers(0, 50, shape)
        floor = counts.size / seconds(lambda c=counts: np.cumsum(c + draw.laplace(size=c.shape), axis=0))  # type: ignore[misc]
        places = "one stream" if regions is None else f"{regions} regions"
        print(f"{'numpy Laplace and cumsum, ' + places:44} {floor / 1e3:10.0f} {1.0:9.4f}")
        for name, make in MECHANISMS.items():
            batch = counts.size / seconds(lambda m=make, r=regions, c=counts: m(1, r).run(c), repeats=2)  # type: ignore[misc]
            print(f"{f'{name}, {places}, run':44} {batch / 1e3:10.0f} {batch / floor:9.4f}")
            stream, few = make(1, regions), counts[: max(50, 2000 // (regions or 1))]
            single = few.size / seconds(lambda s=stream, f=few: [s.update(tick) for tick in f], repeats=5)  # type: ignore[misc]
            print(f"{f'{name}, {places}, update':44} {single / 1e3:10.0f} {single / floor:9.4f}")


if __name__ == "__main__":
    main()
