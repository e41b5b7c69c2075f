"""How many people are found, and how sure the attacker is of it: six classes of confidence.

Ghayyur's thesis, sections 4.3, 4.5 and 4.6: a person counts where the attacker's best guess is right, in the class of
the probability that the attacker gives it, and only if that class is above the one that the prior alone gives to the
same place. Truth is needed here, and only here, to score.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from louver.attack.shapes import probabilities, wholes
from louver.errors import ParameterError

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

EDGES = (0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
"""The upper ends of the classes: (0, 0.1], (0.1, 0.25], ... (0.9, 1]."""
NAMES = ("up to 10%", "10 to 25%", "25 to 50%", "50 to 75%", "75 to 90%", "above 90%")


def confidence_class(probability: ArrayLike) -> Whole:
    """The class of each probability, from 0 to 5; -1 for 0, which is no confidence at all.

    >>> confidence_class([0, 0.1, 0.11, 0.9, 1]).tolist()
    [-1, 0, 1, 4, 5]
    """
    sure = probabilities("A confidence", probability)
    return np.where(sure > 0, np.searchsorted(EDGES, sure, side="left"), -1)


def localised(
    posterior: ArrayLike, counts: ArrayLike, prior: ArrayLike | None = None, *, correct_only: bool = True
) -> Whole:
    """How many people are found in each class: (..., 6) from posteriors (..., places).

    `counts` are the true numbers of those people in each place whom a posterior is about: all who are not known
    already, or one person where priors are individual. With a prior, only those count whose class is above its. Without
    `correct_only` everybody counts with the confidence given to the true place, as in the thesis's Figures 4.2 to 4.5.

    >>> localised([0.6, 0.3, 0.1], [5, 2, 0]).tolist()
    [0, 0, 0, 5, 0, 0]
    >>> localised([0.6, 0.3, 0.1], [5, 2, 0], prior=[0.55, 0.05, 0.4]).tolist()
    [0, 0, 0, 0, 0, 0]
    """
    found, true, before = _checked(posterior, counts, prior)
    classes = confidence_class(found)
    counted = np.where(classes >= 0, true, 0)
    if correct_only:
        best = found.argmax(axis=-1)[..., None]
        counted = np.where(np.arange(found.shape[-1]) == best, counted, 0)
    if prior is not None:
        counted = np.where(classes > confidence_class(before), counted, 0)
    return np.stack([np.where(classes == each, counted, 0).sum(axis=-1) for each in range(len(EDGES))], axis=-1)


def advantage(posterior: ArrayLike, counts: ArrayLike, prior: ArrayLike) -> Floats:
    """How far the confidence of right guesses is above the prior, on average over all people: (...) of (..., places).

    A wrong guess gains nothing, and nor does one that the prior was surer of.

    >>> round(float(advantage([0.6, 0.3, 0.1], [5, 2, 1], [0.4, 0.4, 0.2])), 3)
    0.125
    """
    found, true, before = _checked(posterior, counts, prior)
    best = found.argmax(axis=-1)[..., None]
    gain = np.maximum(np.take_along_axis(found - before, best, axis=-1), 0.0)
    right = np.take_along_axis(true, best, axis=-1)
    return np.asarray((gain * right)[..., 0] / np.maximum(true.sum(axis=-1), 1), dtype=np.float64)


@dataclass(frozen=True)
class Over:
    """Runs of one experiment, taken together: on average, with its standard error, and at worst."""

    average: Floats
    standard_error: Floats
    worst: Floats
    runs: int


def over_runs(values: ArrayLike) -> Over:
    """What several runs, on the first axis, come to.

    >>> over_runs([[1, 4], [3, 0]]).worst.tolist()
    [3.0, 4.0]
    """
    runs = np.asarray(values, dtype=np.float64)
    if not runs.ndim or not len(runs):
        raise ParameterError("Runs are on the first axis, at least one.")
    spread = runs.std(axis=0, ddof=1) if len(runs) > 1 else np.full(runs.shape[1:], np.nan)
    return Over(runs.mean(axis=0), spread / np.sqrt(len(runs)), runs.max(axis=0), len(runs))


def _checked(posterior: ArrayLike, counts: ArrayLike, prior: ArrayLike | None) -> tuple[Floats, Whole, Floats]:
    found, true = probabilities("The posterior", posterior), wholes("counts", counts)
    before = probabilities("The prior", found if prior is None else prior)
    try:
        shape = np.broadcast_shapes(found.shape, true.shape, before.shape)
    except ValueError:
        shape = ()
    if not shape:
        raise ParameterError("The posterior, the counts and the prior need the same places as their last axis.")
    return np.broadcast_to(found, shape), np.broadcast_to(true, shape), np.broadcast_to(before, shape)
