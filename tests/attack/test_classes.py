from __future__ import annotations

import numpy as np
import pytest

from louver.attack import advantage, confidence_class, localised, over_runs
from louver.attack.classes import EDGES, NAMES
from louver.errors import ParameterError

POSTERIOR, COUNTS = [0.6, 0.3, 0.1], [5, 2, 1]


def test_an_edge_belongs_to_the_class_below_it() -> None:
    assert confidence_class([*EDGES]).tolist() == [0, 1, 2, 3, 4, 5]
    assert confidence_class([0, 1e-9, 0.1 + 1e-9, 0.9 + 1e-9]).tolist() == [-1, 0, 1, 5]
    assert len(NAMES) == len(EDGES)


def test_only_people_where_the_guess_is_right_are_found() -> None:
    assert localised(POSTERIOR, COUNTS).tolist() == [0, 0, 0, 5, 0, 0]
    assert localised([0.1, 0.3, 0.6], COUNTS).tolist() == [0, 0, 0, 1, 0, 0]
    assert localised([0.1, 0.3, 0.6], [5, 2, 0]).sum() == 0


def test_everybody_counts_where_guesses_are_not_checked() -> None:
    assert localised(POSTERIOR, COUNTS, correct_only=False).tolist() == [1, 0, 2, 5, 0, 0]


def test_people_whom_the_prior_finds_as_surely_are_left_out() -> None:
    assert localised(POSTERIOR, COUNTS, prior=[0.55, 0.45, 0.0]).sum() == 0
    assert localised(POSTERIOR, COUNTS, prior=[0.95, 0.05, 0.0]).sum() == 0
    assert localised(POSTERIOR, COUNTS, prior=[0.45, 0.55, 0.0]).tolist() == [0, 0, 0, 5, 0, 0]


def test_ticks_and_runs_are_counted_each() -> None:
    posterior = np.array([[POSTERIOR, [0.2, 0.2, 0.6]], [[0.0, 1.0, 0.0], POSTERIOR]])
    found = localised(posterior, [COUNTS, [0, 0, 9]], prior=[0.3, 0.3, 0.4])
    assert found.shape == (2, 2, 6)
    assert found.sum(axis=-1).tolist() == [[5, 9], [2, 0]]


def test_people_of_their_own_are_counted_one_by_one() -> None:
    """Individual priors: each has an own posterior, and an own place."""
    posterior = np.array([[0.9, 0.1], [0.8, 0.2]])
    assert localised(posterior, np.array([[1, 0], [0, 1]])).sum(axis=0).tolist() == [0, 0, 0, 0, 1, 0]


def test_the_advantage_is_that_of_right_guesses_over_all_people() -> None:
    assert float(advantage(POSTERIOR, COUNTS, [0.4, 0.4, 0.2])) == pytest.approx(0.2 * 5 / 8)
    assert float(advantage(POSTERIOR, [0, 5, 5], [0.4, 0.4, 0.2])) == 0
    assert float(advantage(POSTERIOR, COUNTS, [0.7, 0.2, 0.1])) == 0
    assert float(advantage(POSTERIOR, [0, 0, 0], [0.4, 0.4, 0.2])) == 0


def test_runs_come_to_an_average_and_a_worst() -> None:
    found = over_runs([[1, 4], [3, 0], [2, 2]])
    assert found.average.tolist() == [2, 2]
    assert found.worst.tolist() == [3, 4]
    assert found.standard_error == pytest.approx([1 / np.sqrt(3), 2 / np.sqrt(3)])
    assert found.runs == 3


def test_one_run_has_no_standard_error() -> None:
    assert np.isnan(over_runs([[1, 4]]).standard_error).all()


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ParameterError, match="same places"):
        localised(POSTERIOR, [5, 2])
    with pytest.raises(ParameterError, match="same places"):
        localised(0.5, 5)
    with pytest.raises(ParameterError, match="probabilities"):
        localised([1.2, 0.0, 0.0], COUNTS)
    with pytest.raises(ParameterError, match="at least one"):
        over_runs([])
