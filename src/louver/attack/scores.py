"""What an attacker looks at: one number for each release, larger the more it looks like that of one of two data sets.

A score is learned from releases of both, and then applied to others. Where the law of the noise is known, the best
score is the logarithm of the likelihood ratio (Neyman and Pearson): `known`. Otherwise each of these is tried:

- `linear`: the direction in which the two differ most for their scatter (Fisher). It finds noise that cancels out.
- `additive`: the log ratio of each number's frequencies, added up; the likelihood ratio where numbers are independent.
- `cells`: the log ratio of a few numbers together, each cut into a few pieces; a tree that splits on everything.
- `atoms`: the log ratio of a whole release, digit for digit. It finds seeds that come again.
- `grain`: how fine the last binary digit of each number is. It finds noise that was drawn in floating point.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Rows: TypeAlias = "NDArray[Any]"
"""One row for each release."""
Floats: TypeAlias = "NDArray[np.float64]"
Score: TypeAlias = "Callable[[Rows], Floats]"
Learn: TypeAlias = "Callable[[Rows, Rows], Score]"
"""From releases without and with the unit to a score that is large where it looks as if the unit is there."""

MOST_PIECES = 24
FEW_PIECES = 6
TOGETHER = 4
_FINEST = -1100.0
_RIDGE = 1e-10


def known(log_ratio: Callable[[Rows], Floats]) -> Learn:
    """A score that needs no learning, because the law is known: ln P(row | with the unit) / P(row | without)."""
    return lambda _, __: log_ratio


def linear(without: Rows, having: Rows) -> Score:
    """Fisher's direction: the difference of the means, by the inverse of the scatter around them."""
    together = np.concatenate((without, having)).astype(np.float64)
    middle, width = together.mean(axis=0), together.std(axis=0)
    width[width == 0] = 1
    first, second = ((rows - middle) / width for rows in (without, having))
    scatter = sum(np.atleast_2d(np.cov(rows, rowvar=False)) for rows in (first, second))
    direction = np.linalg.solve(scatter + _RIDGE * np.eye(len(middle)), second.mean(axis=0) - first.mean(axis=0))
    weights = direction / width
    return lambda rows: np.asarray(rows.astype(np.float64) - middle) @ weights


def additive(without: Rows, having: Rows) -> Score:
    """Number by number: how much more often a piece of its range was seen with the unit than without."""
    columns = [_Pieces(*both, MOST_PIECES) for both in zip(without.T, having.T, strict=True)]
    return lambda rows: np.sum([each.ratios(column) for each, column in zip(columns, rows.T, strict=True)], axis=0)


def cells(without: Rows, having: Rows) -> Score:
    """The same for the few numbers that tell most, all together."""
    columns = [_Pieces(*both, FEW_PIECES) for both in zip(without.T, having.T, strict=True)]
    telling = sorted(range(len(columns)), key=lambda place: -columns[place].information)[:TOGETHER]

    def codes(rows: Rows) -> Rows:
        found = np.zeros(len(rows), dtype=np.int64)
        for place in telling:
            found = found * (FEW_PIECES + 1) + columns[place].pieces(rows[:, place])
        return found

    joint = _Seen(codes(without), codes(having))
    return lambda rows: joint.ratios(codes(rows))


def atoms(without: Rows, having: Rows) -> Score:
    """Whether the very same release was seen before."""
    seen = _Seen(_whole(without), _whole(having))
    return lambda rows: seen.ratios(_whole(rows))


def grain(without: Rows, having: Rows) -> Score:
    """The sizes of the first and the last binary digit that is not 0; for whole numbers the last is always 1."""
    columns = [_Seen(_digits(near), _digits(far)) for near, far in zip(without.T, having.T, strict=True)]
    return lambda rows: np.sum(
        [each.ratios(_digits(column)) for each, column in zip(columns, rows.T, strict=True)], axis=0
    )


LEARNED: tuple[Learn, ...] = (linear, additive, cells, atoms, grain)


def fineness(rows: Rows) -> Floats:
    """For each number the exponent of its last binary digit, 0 from whole numbers on.

    >>> fineness(np.array([[3.0, 0.75, 0.0]]))
    array([[ 0., -2.,  0.]])
    """
    part, exponent = np.frexp(rows.astype(np.float64))
    digits = np.ldexp(part, 53).astype(np.int64)
    last = np.where(digits == 0, 1, digits & -digits).astype(np.float64)
    found = exponent - 53 + np.log2(last)
    return np.where(digits == 0, 0.0, np.clip(found, _FINEST, 0.0))


def _digits(column: Rows) -> Rows:
    """First and last binary digit as one number."""
    first = np.maximum(np.frexp(column.astype(np.float64))[1], -1100)
    return np.asarray(first * 2048 - fineness(column)).astype(np.int64)


class _Pieces:
    """One number's range in pieces that hold about as many releases each, and the log ratio of each piece."""

    def __init__(self, without: Rows, having: Rows, pieces: int) -> None:
        together = np.sort(np.concatenate((without, having)))
        places = np.linspace(0, len(together) - 1, pieces + 1)[1:-1].astype(np.int64)
        self._edges = np.unique(together[places])
        self._seen = _Seen(self.pieces(without), self.pieces(having))
        near, far = self.ratios(without), self.ratios(having)
        self.information = float(far.mean() - near.mean())

    def pieces(self, column: Rows) -> Rows:
        """A value that is an edge is the end of its piece, so that common values are pieces of their own."""
        return np.searchsorted(self._edges, column, side="left")

    def ratios(self, column: Rows) -> Floats:
        return self._seen.ratios(self.pieces(column))


class _Seen:
    """How often each thing was seen, as ln of the ratio; what was never seen says nothing."""

    def __init__(self, without: Rows, having: Rows) -> None:
        self._names, numbers = np.unique(np.concatenate((without, having)), return_inverse=True)
        sizes = len(without), len(having)
        counts = (np.bincount(part, minlength=len(self._names)) for part in np.split(numbers.ravel(), [sizes[0]]))
        near, far = ((count + 0.5) / (size + 0.5) for count, size in zip(counts, sizes, strict=True))
        self._ratios: Floats = np.log(far / near)

    def ratios(self, things: Rows) -> Floats:
        places = np.minimum(np.searchsorted(self._names, things), len(self._names) - 1)
        return np.where(self._names[places] == things, self._ratios[places], 0.0)


def _whole(rows: Rows) -> Rows:
    """Each row as one text of its bytes."""
    plain = np.ascontiguousarray(rows.astype(np.float64) + 0.0)  # so that there is one 0
    return plain.view(f"S{plain.itemsize * plain.shape[1]}").ravel()
