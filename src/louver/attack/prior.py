"""What an attacker expects before anything is released: where people were at this time of day on past days.

Ghayyur's thesis, section 4.5.1: p_l = m_l / (sum over places of m), with m_l how many people were counted in place l at
a time of day. One prior for everybody, or, from each person's own past, one for each; by weekday where asked.

Counts are smoothed as Laplace did: each place gets `smoothing` presences that nobody made, so that no place is
impossible. They are spread evenly, or like `towards`: a person's few days, or a weekday's, are then filled up with what
is known of everybody.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from louver import parameters
from louver.attack.shapes import probabilities
from louver.errors import ParameterError

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]


def presences(shape: tuple[int, ...], *numbers: ArrayLike) -> Whole:
    """Counts of presences from lists of where they were: one list of numbers for each axis of the shape.

    >>> presences((2, 3), [0, 0, 1], [2, 2, 0]).tolist()  # tick and place
    [[0, 0, 2], [1, 0, 0]]
    """
    lists = [np.asarray(each) for each in numbers]
    if len(lists) != len(shape) or any(each.dtype.kind not in "iu" or each.ndim != 1 for each in lists):
        raise ParameterError("Presences are lists of whole numbers from 0 on, one list for each axis of the shape.")
    if len({len(each) for each in lists}) > 1:
        raise ParameterError("Presences are equally long lists of numbers, one number for each presence.")
    try:
        at = np.ravel_multi_index(tuple(each.astype(np.int64) for each in lists), shape)
    except ValueError:
        raise ParameterError("Presences are lists of numbers that are inside the shape.") from None
    return np.bincount(at, minlength=int(np.prod(shape))).reshape(shape)


def prior_of(counts: ArrayLike, *, smoothing: parameters.Number = 1, towards: ArrayLike | None = None) -> Floats:
    """The share of each place, on the last axis, in past presences: (..., ticks, places), which sum to 1.

    Sums over days give one prior for everybody; (people, ticks, places) gives each person an own one.

    >>> prior_of([[6, 1, 0]], smoothing=1).tolist()
    [[0.7, 0.2, 0.1]]
    """
    past = np.asarray(counts, dtype=np.float64)
    extra = float(parameters.within("smoothing", smoothing, 0, 10**9))
    if not past.ndim or not past.shape[-1] or not (np.isfinite(past) & (past >= 0)).all():
        raise ParameterError("Past presences are counts of 0 or more, with the places as the last axis.")
    places = past.shape[-1]
    shape = np.full(places, 1 / places) if towards is None else probabilities("towards", towards)
    try:
        made_up = np.broadcast_to(shape, past.shape)
    except ValueError:
        raise ParameterError("towards needs the shape of the counts, or one that is broadcast to it.") from None
    filled = past + extra * places * made_up
    total = filled.sum(axis=-1, keepdims=True)
    return np.where(total > 0, filled / np.where(total > 0, total, 1.0), made_up)


def prior_by_weekday(
    daily: ArrayLike, weekdays: ArrayLike, *, smoothing: parameters.Number = 1, like_all: bool = True
) -> Floats:
    """A prior for each weekday, Monday first: (7, ticks, places) from counts of days (days, ticks, places).

    What is smoothed in is shaped like the prior of all days, or, without `like_all`, even.

    >>> prior_by_weekday([[[4, 0]], [[0, 4]]], [0, 1], smoothing=1)[:3].round(3).tolist()
    [[[0.833, 0.167]], [[0.167, 0.833]], [[0.5, 0.5]]]
    """
    counts, days = np.asarray(daily), np.asarray(weekdays)
    if (
        counts.ndim != 3
        or days.shape != counts.shape[:1]
        or days.dtype.kind not in "iu"
        or not np.isin(days, range(7)).all()
    ):
        raise ParameterError("Days are (days, ticks, places), with a weekday from 0, Monday, to 6 for each.")
    summed = np.stack([counts[days == weekday].sum(axis=0) for weekday in range(7)])
    towards = prior_of(counts.sum(axis=0), smoothing=smoothing) if like_all else None
    return prior_of(summed, smoothing=smoothing, towards=towards)


def with_outside(counts: ArrayLike, possible: ArrayLike) -> Whole:
    """The counts with one more place, the last: outside, where all others of the `possible` presences were.

    `possible` is the number of people times the number of days; for one person it is the number of days. Nothing is
    released about outside, so its release is NaN.

    >>> with_outside([[6, 1, 0]], 10).tolist()
    [[6, 1, 0, 3]]
    """
    past = np.asarray(counts)
    if past.dtype.kind not in "iu" or not past.ndim:
        raise ParameterError("Past presences are whole numbers, with the places as the last axis.")
    outside = np.asarray(possible) - past.sum(axis=-1)
    if (outside < 0).any():
        raise ParameterError("There are more presences than are possible; `possible` is people times days.")
    return np.concatenate([past, outside[..., None]], axis=-1).astype(np.int64)
