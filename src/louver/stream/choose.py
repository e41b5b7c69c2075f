"""Which continual sum to take: the one with the least error that the price and the stream allow, and why.

Errors are known before the first tick, from the parameters alone, so choosing costs nothing. Mechanisms whose errors
are within 1% of the least are as good, and of those the one that keeps the fewest numbers is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any

from louver import parameters
from louver.errors import ParameterError
from louver.privacy import ZeroConcentrated
from louver.privacy.gaussian import largest_rho
from louver.stream.buffered import Buffered
from louver.stream.continual import LARGEST_HORIZON, ContinualSum
from louver.stream.kary import KAry
from louver.stream.toeplitz import Toeplitz
from louver.stream.tree import Tree

UNKNOWN_HORIZON = 2**20
LONGEST_TOEPLITZ = 2**20
AS_GOOD = 1.01
_HALVINGS = 40
_LEFT, _ROUNDED = Fraction(3, 4), Fraction(1, 2**20)


@dataclass(frozen=True)
class Choice:
    """A mechanism that is ready to run, what it promises, and why it was taken."""

    mechanism: ContinualSum
    rms_error: float
    largest_error: float
    why: str


Made = tuple[str, Callable[..., ContinualSum]]


@dataclass(frozen=True)
class _Candidate:
    words: str
    mechanism: ContinualSum
    rms: float


def choose(
    horizon: int | None = None,
    *,
    epsilon: parameters.Number | None = None,
    delta: parameters.Number | None = None,
    rho: parameters.Number | None = None,
    adaptive: bool = True,
    foreseen: int = UNKNOWN_HORIZON,
    **shared: Any,
) -> Choice:
    """The best continual sum: `epsilon` alone is a pure price, `epsilon` with `delta`, or `rho`, allow Gaussian noise.

    `adaptive=False` says that the stream cannot react to what is released. Without a horizon, errors are those of the
    first `foreseen` ticks.

    >>> print(choose(1_000_000, epsilon=1).why)
    A plain tree with 16 children for each node: over 1,000,000 ticks its error is 43 (root mean square), and 60.7 at \
the worst tick, the least of 2 mechanisms that are private at this price. A signed tree would have 33.7, but it uses \
noise of sums that are still open, which is private only where the stream does not react to what is released.
    >>> choose(1_000_000, epsilon=1, adaptive=False).mechanism.signed
    True
    """
    if rho is not None and (epsilon is not None or delta is not None):
        raise ParameterError("Say the price as rho, or as epsilon with or without delta, not as both.")
    ticks = parameters.integer("horizon", foreseen if horizon is None else horizon, 1, LARGEST_HORIZON)
    candidates: list[_Candidate] = []
    refused: list[ParameterError] = []
    if epsilon is not None:
        candidates += _measured(_trees(adaptive), horizon, ticks, refused, epsilon=epsilon, **shared)
    gaussian = [*_trees(adaptive), *_factorisations(horizon)]
    if epsilon is not None and delta is not None:
        tight: list[Made] = [(words, partial(_within, make, epsilon, delta)) for words, make in gaussian]
        candidates += _measured(tight, horizon, ticks, refused, **shared)
    if rho is not None:
        candidates += _measured(gaussian, horizon, ticks, refused, rho=rho, **shared)
    if not candidates and refused:
        raise refused[0]
    if not candidates:
        raise ParameterError("Say the price of the stream: epsilon, epsilon and delta, or rho.")
    least = min(each.rms for each in candidates)
    best = next(each for each in candidates if each.rms <= AS_GOOD * least)
    largest = best.mechanism.largest_error(ticks)
    why = (
        f"{best.words}: over {ticks:,} ticks its error is {best.rms:.3g} (root mean square), and {largest:.3g} at the "
        f"worst tick, the least of {len(candidates)} mechanisms that are private at this price."
    )
    price = {"rho": rho} if epsilon is None else {"epsilon": epsilon}
    for signed in _measured([_SIGNED] if adaptive else [], horizon, ticks, refused, **price, **shared):
        if signed.rms * AS_GOOD >= best.rms:
            continue
        why += (
            f" A signed tree would have {signed.rms:.3g}, but it uses noise of sums that are still open, which is "
            "private only where the stream does not react to what is released."
        )
    return Choice(best.mechanism, best.rms, largest, why)


def _within(
    make: Callable[..., ContinualSum],
    epsilon: parameters.Number,
    delta: parameters.Number,
    horizon: int | None,
    **shared: Any,
) -> ContinualSum:
    """The mechanism at the largest rho that is (epsilon, delta)-private, by the law of its noise where it is known."""
    safe = rho_for(epsilon, delta)
    made = make(horizon, rho=safe, **shared)
    noise = made._gaussian_noise(1)
    if noise is None:
        return made
    wanted = parameters.positive("epsilon", epsilon)
    # Of the noise at more rho only so much is left; and epsilon is rounded up a little when it is checked.
    rho = largest_rho(wanted * (1 - _ROUNDED), delta, variance=noise.variance * _LEFT, moved=noise.moved)
    if rho <= safe:
        return made
    better = make(horizon, rho=rho, **shared)
    return better if better.approximately(delta).epsilon <= wanted else made


@lru_cache(maxsize=64)
def rho_for(epsilon: parameters.Number, delta: parameters.Number) -> Fraction:
    """The largest rho whose guarantee gives (epsilon, delta), whatever the noise, by halving; needs dp-accounting."""
    wanted = parameters.positive("epsilon", epsilon)
    low, high = Fraction(0), wanted
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if ZeroConcentrated(middle).as_approximate(delta).epsilon <= wanted:
            low = middle
        else:
            high = middle
    return low


_SIGNED: Made = ("A signed tree", partial(KAry, signed=True, adaptive=False))


def _trees(adaptive: bool) -> list[Made]:
    plain: list[Made] = [("A binary tree with estimates from below", Tree), ("A plain tree", KAry)]
    return plain if adaptive else [*plain, _SIGNED]


def _factorisations(horizon: int | None) -> list[Made]:
    buffered: list[Made] = [("The square-root factorisation by buffers", Buffered)]
    short = horizon is not None and horizon <= LONGEST_TOEPLITZ
    return [*buffered, ("The square-root factorisation", Toeplitz)] if short else buffered


def _measured(
    made: list[Made], horizon: int | None, ticks: int, refused: list[ParameterError], **arguments: Any
) -> Iterator[_Candidate]:
    """Each mechanism at its price, those that keep less before those that keep more; without what one of them says
    that is not made at this price."""
    for words, make in made:
        try:
            mechanism = make(horizon, **arguments)
        except ParameterError as refusal:
            refused.append(refusal)
            continue
        if isinstance(mechanism, KAry):
            words += f" with {mechanism.children(ticks)} children for each node"
        yield _Candidate(words, mechanism, mechanism.rms_error(ticks))
