"""Streams that differ in several ticks of one person: what that costs, and audits that nothing more is lost.

Pure prices: the auditor of `tests.decide.auditor`, whose false alarm is 1e-6. Gaussian prices: outcomes are projected
on a direction found on one half of the trials, and on the other half the two means are compared with the deviation. A
price of rho allows a distance of sqrt(2 rho), 2 here; with 20,000 trials each way what is measured deviates by 0.013,
and 0.1 is allowed: a false alarm has probability under 1e-12. Bits are from seeds.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from louver.noise import discrete_gaussian, discrete_laplace
from louver.privacy import Pure, ZeroConcentrated
from louver.stream import buffered, gaussian, laplace, nodes, pegasus, segment, toeplitz, truncated
from louver.stream.buffered import Buffered
from louver.stream.buffers import buffers_for
from louver.stream.gaussian import Gaussian
from louver.stream.kary import KAry
from louver.stream.laplace import Laplace
from louver.stream.mechanism import Mechanism
from louver.stream.pegasus import Pegasus
from louver.stream.segment import Segment
from louver.stream.toeplitz import Toeplitz
from louver.stream.together import rho_of_one, squared_length
from louver.stream.tree import Tree
from louver.stream.truncated import TruncatedSum
from tests.decide.auditor import audited
from tests.stream.counting import signed, without_noise
from tests.stream.smoothing import seeded

Make = Callable[..., Any]
Matrix = NDArray[Any]
TRIALS = 20_000


def halve_noise(patch: pytest.MonkeyPatch) -> None:
    """Half the standard deviation, wherever a stream draws noise."""

    def half_laplace(rate: Any, count: int, **named: Any) -> NDArray[np.int64]:
        return discrete_laplace(2 * rate, count, **named)

    def half_gaussian(variance: Any, count: int, **named: Any) -> NDArray[np.int64]:
        return discrete_gaussian(variance / 4, count, **named)

    for module in (laplace, segment, pegasus, nodes, truncated):
        patch.setattr(module, "discrete_laplace", half_laplace)
    for module in (gaussian, segment, nodes, toeplitz, buffered):
        patch.setattr(module, "discrete_gaussian", half_gaussian)


# Each way to see the noisy numbers of a stream, and by how much the window moves them.
PURE: dict[str, tuple[Make, int, int, Callable[[Any, Matrix], Matrix]]] = {
    "laplace": (lambda **named: Laplace(Fraction(2, 3), **named), 3, 4, lambda _, released: released - 5),
    "segment": (lambda **named: Segment(Fraction(2, 3), **named), 3, 4, lambda stream, _: stream.trace.noisy - 5),
    "pegasus": (
        lambda **named: Pegasus(2, patience=1, **named),
        2,
        3,
        lambda stream, _: np.concatenate((stream.trace.noisy - 5, stream.trace.lengths[1:])),
    ),
    # The nodes that a prefix is made of, by differences of what is released; less the five of each of their ticks.
    "kary": (
        lambda **named: KAry(4, arity=2, epsilon=Fraction(2, 3), **named),
        3,
        4,
        lambda _, sums: np.stack((sums[0] - 5, sums[1] - 10, sums[2] - sums[1] - 5, sums[3] - 20)),
    ),
    # Averages of nodes show their change less clearly than nodes: in three bins each, from 1 and from 3 too many.
    "tree": (
        lambda **named: Tree(2, epsilon=1, **named),
        2,
        2,
        lambda _, sums: np.searchsorted([0.99, 2.99], sums - [[5], [10]]) - 1,
    ),
    "signed": (
        lambda **named: signed(4, arity=3, epsilon=Fraction(2, 3), **named),
        3,
        4,
        lambda _, sums: np.stack((sums[0] - 5, sums[2] - 15, sums[2] - sums[1] - 5)),
    ),
}


@pytest.mark.parametrize("name", PURE)
def test_an_audit_finds_no_more_than_as_many_times_epsilon_as_there_are_ticks(name: str) -> None:
    make, window, ticks, seen = PURE[name]
    trials, seeds = 10_000 if name in ("segment", "pegasus") else 100_000, itertools.count()

    def draw(present: bool) -> Counter[Any]:
        values = np.full((ticks, trials), 5)
        values[:window] += present
        stream = make(regions=trials, bits=seeded(next(seeds)))
        numbers = seen(stream, stream.run(values))
        return Counter(map(tuple, np.sign(np.round(numbers)).astype(int).T.tolist()))

    stated = make(regions=1).price_of(window).epsilon
    assert stated == window * make(regions=1).price.epsilon
    assert audited(draw, lambda _: stated) <= 0
    with pytest.MonkeyPatch.context() as patch:
        halve_noise(patch)
        assert audited(draw, lambda _: stated) > 0


def test_an_audit_of_cut_off_sums_finds_no_more_than_the_price_of_the_window() -> None:
    seeds = itertools.count()

    def draw(present: bool) -> Counter[Any]:
        values = np.zeros((3, 800), dtype=np.int64)
        values[1:] = present
        stream = TruncatedSum(1, high=1, horizon=3, lag=1, regions=800, bits=seeded(next(seeds)))
        return Counter(map(tuple, (np.diff(stream.run(values), axis=0) >= 1).T.tolist()))

    stated = TruncatedSum(1, high=1, horizon=3, lag=1).price_of(2)
    assert stated == Pure(2)
    assert audited(draw, lambda _: Fraction(2)) <= 0
    with pytest.MonkeyPatch.context() as patch:
        halve_noise(patch)
        assert audited(draw, lambda _: Fraction(2)) > 0


WINDOW, TICKS = 6, 24
GAUSSIAN: dict[str, Make] = {
    "gaussian": Gaussian,
    "segment": Segment,
    "tree": lambda **named: Tree(TICKS, **named),
    "kary": lambda **named: KAry(TICKS, arity=3, **named),
    "signed": lambda **named: signed(TICKS, arity=3, **named),
    "toeplitz": lambda **named: Toeplitz(TICKS, **named),
    "buffered": lambda **named: Buffered(TICKS, **named),
}


def rho_for_a_window(make: Make, window: int = WINDOW) -> Fraction:
    return rho_of_one(lambda rho: make(rho=rho), Fraction(2), window, 1)


def distance(make: Make) -> float:
    """Between outcomes with and without somebody in the first ticks, in standard deviations, at a window's rho of 2."""
    rho, seeds = rho_for_a_window(make), itertools.count(7)
    ticks = WINDOW if make in (Gaussian, Segment) else TICKS

    def trials(present: bool) -> Matrix:
        values = np.full((ticks, TRIALS), 5)
        values[:WINDOW] += present
        stream = make(rho=rho, regions=TRIALS, bits=seeded(next(seeds)))
        released = stream.run(values)
        return np.asarray(stream.trace.noisy if isinstance(stream, Segment) else released, dtype=np.float64)

    (first, second), (test_first, test_second) = [(trials(False), trials(True)) for _ in range(2)]
    direction = np.linalg.pinv(np.cov(first)) @ (second - first).mean(axis=1)
    along = direction @ test_first, direction @ test_second
    return float((along[1].mean() - along[0].mean()) / np.concatenate([each - each.mean() for each in along]).std())


@pytest.mark.parametrize("name", GAUSSIAN)
def test_an_audit_finds_no_more_than_the_rho_of_a_window(name: str) -> None:
    assert 0.75 * 2 < distance(GAUSSIAN[name]) < 2 + 0.1
    with pytest.MonkeyPatch.context() as patch:
        halve_noise(patch)
        assert distance(GAUSSIAN[name]) > 2 + 0.1


def test_no_pure_price_of_a_window_could_be_smaller() -> None:
    """By the law itself: with somebody in each of w ticks, that all are larger is exp(w epsilon) times as likely."""
    rate = Laplace(Fraction(1, 2)).rate
    a = math.exp(-rate)
    at_least = {0: 1 / (1 + a), 1: a / (1 + a)}  # P(noise >= n)
    for window in (1, 3, 12):
        ratio = (at_least[0] / at_least[1]) ** window
        assert math.log(ratio) == pytest.approx(window / 2)
        assert Laplace(Fraction(1, 2)).price_of(window) == Pure(Fraction(window, 2))


def columns(stream: Any, ticks: int) -> Matrix:
    """How far each tick moves each number that gets noise, in standard deviations of the noise at a rho of 1/2."""
    if isinstance(stream, Tree | KAry):
        widths = stream._widths(ticks)
        rows = []
        for width in widths:
            offset = stream._digits.offset(widths.index(width)) if isinstance(stream, KAry) and stream.signed else 0
            places = (np.arange(ticks) + offset) // width
            rows += [(places == node).astype(float) for node in np.unique(places)]
        return np.array(rows) / math.sqrt(len(widths))
    coefficients = stream._used.whole.terms if isinstance(stream, Toeplitz) else buffers_for(ticks).coefficients(ticks)
    matrix = np.array(
        [[coefficients[row - column] if row >= column else 0 for column in range(ticks)] for row in range(ticks)]
    )
    return np.asarray(matrix / math.sqrt(float(coefficients @ coefficients)))


SUMS: dict[str, Make] = {
    "tree": Tree,
    "binary": lambda *given, **named: KAry(*given, arity=2, **named),
    "ternary": lambda *given, **named: KAry(*given, arity=3, **named),
    "signed": lambda *given, **named: signed(*given, arity=3, **named),
    "toeplitz": Toeplitz,
    "buffered": Buffered,
}


@pytest.mark.parametrize("name", SUMS)
@pytest.mark.parametrize("ticks", [1, 5, 9, 12])
def test_no_choice_of_ticks_moves_sums_further_than_their_price_says(name: str, ticks: int) -> None:
    """All subsets of the ticks, and signs: changes of one sign are the worst."""
    stream = SUMS[name](ticks, rho=Fraction(1, 2))
    moved = columns(stream, ticks)
    for size in range(1, ticks + 1):
        chosen = np.array([moved[:, list(each)].sum(axis=1) for each in itertools.combinations(range(ticks), size)])
        worst = float((chosen**2).sum(axis=1).max())
        assert worst <= 2 * float(stream.price_of(size).rho) * (1 + 1e-6)
        mixed = moved[:, :size] @ np.where(np.arange(size) % 2, -1, 1)
        assert float(mixed @ mixed) <= worst * (1 + 1e-9)


@pytest.mark.parametrize("ticks", [5, 12])
def test_the_first_ticks_are_the_worst_of_a_factorisation(ticks: int) -> None:
    moved = columns(Toeplitz(ticks, rho=Fraction(1, 2)), ticks)
    for size in range(1, ticks + 1):
        lengths = {
            each: float((moved[:, list(each)].sum(axis=1) ** 2).sum())
            for each in itertools.combinations(range(ticks), size)
        }
        assert max(lengths, key=lambda each: lengths[each]) == tuple(range(size))


@pytest.mark.parametrize("make", [Toeplitz, Buffered])
def test_the_price_of_a_short_window_is_nearly_what_its_first_ticks_move(make: Make) -> None:
    stream = make(288, rho=Fraction(1, 2))
    moved = columns(stream, 288)
    for size in (2, 12, 36):
        worst = float((moved[:, :size].sum(axis=1) ** 2).sum())
        assert worst <= 2 * float(stream.price_of(size).rho) <= 1.03 * worst


def test_filled_nodes_cost_exactly_what_is_stated() -> None:
    stream: Any = Tree(15, rho=Fraction(1, 2))
    moved = columns(stream, 15)
    for size in (1, 2, 4, 8):
        worst = float((moved[:, :size].sum(axis=1) ** 2).sum())
        assert worst == pytest.approx(2 * float(stream.price_of(size).rho))


EVERY: dict[str, Mechanism] = {
    "laplace": Laplace(1),
    "pegasus": Pegasus(1),
    "gaussian": Gaussian(Fraction(1, 2)),
    "segment": Segment(rho=Fraction(1, 2)),
    "without a horizon": Buffered(rho=Fraction(1, 2)),
    **{name: make(40, rho=Fraction(1, 2)) for name, make in SUMS.items()},
    "coarse": Toeplitz(40, rho=Fraction(1, 10**6), sensitivity=2**20),
}


@pytest.mark.parametrize("name", EVERY)
def test_fewer_changes_never_cost_more_than_their_share(name: str) -> None:
    """So that caps hold for windows that lie in several streams."""
    prices: list[Any] = [EVERY[name].price_of(changes) for changes in range(1, 300)]
    each = [
        (price.epsilon if isinstance(price, Pure) else price.rho) / changes for changes, price in enumerate(prices, 1)
    ]
    assert prices[0] == EVERY[name].price
    assert all(before <= after for before, after in itertools.pairwise(each))
    assert all(
        price.epsilon <= 2**20 if isinstance(price, Pure) else price.rho <= n**2 for n, price in enumerate(prices, 1)
    )


def test_fresh_noise_adds_up_prices_of_different_ticks() -> None:
    assert Gaussian(Fraction(1, 2)).price_of(12) == ZeroConcentrated(6)
    assert Segment(rho=Fraction(1, 2)).price_of(12) == ZeroConcentrated(6)
    assert Segment(Fraction(1, 2)).price_of(12) == Pure(6)
    assert Buffered(rho=1).price_of(12) == ZeroConcentrated(144)


@pytest.mark.parametrize("make", [Toeplitz, Buffered])
@pytest.mark.parametrize(
    ("sensitivity", "rho"), [(1, Fraction(1, 2)), (3, Fraction(1, 10**10)), (2**20, Fraction(1, 1000))]
)
@pytest.mark.parametrize("seed", range(3))
def test_no_window_moves_rounded_rows_further_than_it_pays_for(
    monkeypatch: pytest.MonkeyPatch, make: Make, sensitivity: int, rho: Fraction, seed: int
) -> None:
    """Without noise, so that nothing fails by chance; on streams where rounding differs from row to row."""
    monkeypatch.setattr(Buffered, "longest", 200)
    for module in (toeplitz, buffered):
        monkeypatch.setattr(module, "discrete_gaussian", without_noise)
    draw = np.random.default_rng(seed)
    high = max(2**20, 2 * sensitivity)
    values = draw.integers(0, high - sensitivity + 1, (200, 20))
    neighbours = values.copy()
    window = 12
    where = np.arange(window) + 10 * seed if seed else np.arange(window)
    neighbours[where] += sensitivity
    rows = [
        make(200, rho=rho, sensitivity=sensitivity, high=high, regions=20)._noised(each).astype(object)
        for each in (values, neighbours)
    ]
    stream = make(200, rho=rho, sensitivity=sensitivity, high=high)
    longest = max(int(each) for each in ((rows[1] - rows[0]) ** 2).sum(axis=0))
    stated = stream.price_of(window).rho
    spent = Fraction(longest) / (2 * stream._used.variance)
    assert spent <= stated
    assert seed or spent >= 0.8 * stated


def test_blocks_of_lags_count_every_pair_once_and_none_too_low() -> None:
    for changes in (1, 2, 63, 64, 65, 200, 1000):
        exact = changes + 2 * sum((changes - lag) / (1 + lag) for lag in range(1, changes))
        found = squared_length(changes, lambda lag: 1 / (1 + lag))
        assert exact * (1 - 1e-12) <= found <= 1.02 * exact
        assert squared_length(changes, lambda _: 1) == changes**2


@pytest.mark.parametrize("make", [Toeplitz, Buffered])
def test_changes_in_other_regions_move_as_many_rows_again(make: Make) -> None:
    """What a proof of epsilon and delta for discrete noise counts."""
    stream = make(50, rho=1, regions=4)
    one, four = stream._gaussian_noise(1), stream._gaussian_noise(4)
    assert one is not None
    assert four is not None
    assert (one.moved, four.moved) == (50, 200)
    assert one.variance == four.variance
