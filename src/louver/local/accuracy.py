"""How well a survey will know shares, before anybody is asked: the price for a precision, and the precision of a price.

The standard error of a share among n reports is at most sqrt(max(p(1-p), q(1-q)) / n) / (p - q), whatever people have
answered. With so many reports its law is about normal, so these numbers are about right, and promise nothing; the
intervals of estimates hold exactly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from statistics import NormalDist

from louver import parameters
from louver.errors import PromiseError
from louver.local.estimate import USUAL_LEVEL
from louver.local.survey import Survey

DEAREST = 8  # epsilon; beyond, a report tells nearly as much as the answer
_STEPS = 100  # of epsilon in 1


def expected_error(survey: Survey, people: int, level: parameters.Number = USUAL_LEVEL) -> float:
    """How far from the truth a share comes out at most, about, in as many surveys as the level says.

    >>> round(expected_error(Survey("Do you smoke?", truth=Fraction(1, 2)), 1000), 3)
    0.054
    """
    many = parameters.count("people", people, smallest=1)
    wanted = float(parameters.within("level", level, Fraction(1, 100), 1 - Fraction(1, 10**12)))
    mechanism = survey.mechanism()
    truth, other = mechanism.truth, mechanism.other
    variance = max(float(truth * (1 - truth)), float(other * (1 - other)))
    return NormalDist().inv_cdf((1 + wanted) / 2) * math.sqrt(variance / many) / float(truth - other)


def least_price(
    question: str,
    answers: Sequence[str],
    *,
    within: parameters.Number,
    people: int,
    level: parameters.Number = USUAL_LEVEL,
) -> Survey:
    """The survey of the least price, in hundredths, that knows each share as well as that, about.

    >>> float(least_price("Do you smoke?", ["yes", "no"], within=0.05, people=1000).epsilon)
    1.18
    """
    wanted = float(parameters.within("within", parameters.positive("within", within), 0, Fraction(1, 2)))
    for step in range(1, DEAREST * _STEPS + 1):
        survey = Survey(question, answers, epsilon=Fraction(step, _STEPS))
        if expected_error(survey, people, level) <= wanted:
            return survey
    raise PromiseError(f"No epsilon up to {DEAREST} knows shares so well; ask more people, or be content with less.")
