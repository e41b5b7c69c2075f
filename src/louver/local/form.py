"""What respondents are told, made from the plan: what is sent, and what is protected."""

from __future__ import annotations

from fractions import Fraction

from louver.local.survey import CHOICE, Survey
from louver.privacy.rates import percent

_LISTED = 12
_FIRST = "Your answer does not leave your device; a report that is drawn by chance does."
_LAST = (
    "Your device keeps the report, and sends the same one if it is asked again. That you took part is not hidden. "
    "Other surveys, and people who answer as you do, can tell more about you."
)


def form(survey: Survey) -> str:
    """The question, its answers, and one paragraph about what is protected.

    >>> print(form(Survey("Do you smoke?", truth=Fraction(1, 2))).partition(" With ")[0])
    Do you smoke?
    Answers: yes, no
    <BLANKLINE>
    Your answer does not leave your device; a report that is drawn by chance does.
    """
    # Many spaces in a row could pass for the end of a line.
    question = " ".join(survey.question.split())
    return f"{question}\nAnswers: {listed(survey)}\n\n{_FIRST} {_drawn(survey)} {_sure(survey)} {_LAST}"


def listed(survey: Survey) -> str:
    """The answers, or the first of many."""
    sign = "; " if any("," in name for name in survey.answers) else ", "
    more = f"{sign}and {len(survey.answers) - _LISTED:,} more" if len(survey.answers) > _LISTED else ""
    return sign.join(survey.answers[:_LISTED]) + more


def most_sure(survey: Survey) -> str:
    """How sure somebody can be at most that an answer is the true one who gave it even odds before; rounded up."""
    if survey.way != CHOICE:
        return percent(survey.price.posterior(Fraction(1, 2)))
    mechanism = survey.mechanism()
    return percent(mechanism.truth / (mechanism.truth + mechanism.other))


def _sure(survey: Survey) -> str:
    return (
        "Whoever thought it as likely as not that an answer is yours, and sees your report, can be at most "
        f"{most_sure(survey)} sure of it."
    )


def _drawn(survey: Survey) -> str:
    mechanism = survey.mechanism()
    truth, other = _chance(mechanism.truth), _chance(mechanism.other)
    if survey.way != CHOICE:
        return (
            f"It says yes or no to each of the {len(survey.answers):,} answers: yes to yours with probability {truth}, "
            f"and yes to any other with probability {other}."
        )
    others = "the other one" if len(survey.answers) == 2 else "each other one"
    drawn = f"it is your answer with probability {truth}, and {others} with probability {other}."
    if survey.truth is None:
        return drawn[0].upper() + drawn[1:]
    told = _chance(survey.truth)
    return f"With probability {told} your device tells the truth, and else any answer, each as likely. So {drawn}"


def _chance(probability: Fraction) -> str:
    """To a tenth of a percent, and never certain."""
    rounded = round(float(probability) * 100, 1)
    if rounded >= 100:
        return "over 99.9%"
    return f"{rounded:.1f}".removesuffix(".0") + "%" if rounded > 0 else "under 0.1%"
