"""A survey that nobody has to trust: a question, its answers, and the price of one report.

All that respondents and collectors share, and public. Its id is a digest of all of it: another wording, price or answer
is another survey, and the same plan sent out again is the same one, to which a device has reported already.

With `epsilon`, a report is by `Choice` or `Unary`, whichever estimates rare answers better: `Choice` up to about
3 e^epsilon + 2 answers (Wang, Blocki, Li and Jha 2017). With `truth`, it is by the coin of `Choice.coin`.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from louver import parameters
from louver.errors import DataError, ParameterError
from louver.local.answers import Answers
from louver.local.estimate import USUAL_LEVEL, Estimate
from louver.local.randomized_response import Choice
from louver.local.reports import Report
from louver.local.unary import Unary
from louver.noise import Bits
from louver.noise.bits import SYSTEM
from louver.privacy import Pure

FORMAT = 1
MOST_ANSWERS = 10_000
LONGEST_QUESTION = 2000
CHOICE, UNARY = "choice", "unary"
_ID_DIGITS = 32
_LONGEST_NUMBER = 2600  # two whole numbers of 4,096 bits


@dataclass(frozen=True, slots=True)
class Sifted:
    """What was said, by the number of the report, and how many others were left out."""

    said: dict[str, str]
    repeated: int
    odd: int


@dataclass(frozen=True, slots=True, init=False)
class Survey:
    """What is asked, and how a report to it is drawn.

    >>> survey = Survey("How did you come to work?", ["walk", "bus", "car"], epsilon=1)
    >>> survey.way, survey.report("bus").survey == survey.id
    ('choice', True)
    """

    question: str
    answers: tuple[str, ...]
    epsilon: Fraction | None
    truth: Fraction | None
    way: str

    def __init__(
        self,
        question: str,
        answers: Sequence[str] = ("yes", "no"),
        *,
        epsilon: parameters.Number | None = None,
        truth: parameters.Number | None = None,
        way: str | None = None,
    ) -> None:
        names = Answers.of(answers).names
        if names is None or len(names) > MOST_ANSWERS:
            raise ParameterError(f"A survey needs the names of its answers, {MOST_ANSWERS:,} at most.")
        if any(name != name.strip() or not name.isprintable() for name in names):
            raise ParameterError("The name of an answer is one line without spaces around it.")
        if (epsilon is None) == (truth is None):
            raise ParameterError("A survey needs a price: give either epsilon or truth.")
        object.__setattr__(self, "question", _question(question))
        object.__setattr__(self, "answers", names)
        object.__setattr__(self, "epsilon", None if epsilon is None else parameters.fraction("epsilon", epsilon))
        object.__setattr__(self, "truth", None if truth is None else parameters.fraction("truth", truth))
        object.__setattr__(self, "way", way or better_way(len(names), self.epsilon))
        if self.way not in (CHOICE, UNARY) or (self.truth is not None and self.way == UNARY):
            raise ParameterError("A survey goes by the way choice, or, with epsilon, by the way unary.")
        self.mechanism()  # says what is wrong with the price

    @property
    def id(self) -> str:
        written = json.dumps(self.to_dict(), sort_keys=True, ensure_ascii=True)
        return hashlib.sha256(written.encode("ascii")).hexdigest()[:_ID_DIGITS]

    @property
    def price(self) -> Pure:
        """What one report costs the one who sends it."""
        return self.mechanism().price

    def mechanism(self, bits: Bits = SYSTEM) -> Choice | Unary:
        if self.truth is not None:
            return Choice.coin(self.answers, self.truth, bits=bits)
        assert self.epsilon is not None  # noqa: S101 one of the two is there
        made = Choice if self.way == CHOICE else Unary
        return made(self.answers, self.epsilon, bits=bits)

    def report(self, answer: str, *, bits: Bits = SYSTEM) -> Report:
        """What leaves the device of somebody with this answer; each call draws anew, and pays again."""
        return self.reports([answer], bits=bits)[0]

    def reports(self, answers: Sequence[str], *, bits: Bits = SYSTEM) -> list[Report]:
        """What leaves the devices of several people."""
        said = self.mechanism(bits).report(answers)
        texts = said.tolist() if self.way == CHOICE else [_bits_text(row) for row in said.tolist()]
        own = self.id
        return [
            Report(own, f"{number:016x}", text)
            for number, text in zip(bits.words64(len(texts)).tolist(), texts, strict=True)
        ]

    def estimate(self, reports: Iterable[Report | None], level: parameters.Number = USUAL_LEVEL) -> dict[str, Estimate]:
        """How many of those who reported have each answer, from what `sift` keeps."""
        sifted = self.sift(reports)
        if sifted.odd and not sifted.said:
            raise DataError("None of these lines is a report to this survey; they may be for another wording of it.")
        said = list(sifted.said.values())
        if self.way == UNARY:
            bits = np.array([[sign == "1" for sign in each] for each in said], dtype=np.bool_)
            return self.mechanism().estimate(bits.reshape(len(said), len(self.answers)), level)
        return self.mechanism().estimate(said, level)

    def sift(self, reports: Iterable[Report | None]) -> Sifted:
        """Leaves out what came again, and what no device sends to this survey; None is a line that is no report.

        Anybody can add a line, so one that is odd must not stop a survey, nor take the place of one that came before.
        """
        said: dict[str, str] = {}
        repeated = odd = 0
        known, own = frozenset(self.answers), self.id
        for each in reports:
            if each is None or each.survey != own or not self._possible(each.said, known):
                odd += 1
            elif each.number not in said:
                said[each.number] = each.said
            elif said[each.number] == each.said:
                repeated += 1
            else:
                odd += 1
        return Sifted(said, repeated, odd)

    def _possible(self, said: str, known: frozenset[str]) -> bool:
        if self.way == CHOICE:
            return said in known
        return len(said) == len(self.answers) and not said.strip("01")

    def to_dict(self) -> dict[str, Any]:
        price = {"truth": str(self.truth)} if self.epsilon is None else {"epsilon": str(self.epsilon)}
        return {
            "louver": "survey",
            "format": FORMAT,
            "question": self.question,
            "answers": list(self.answers),
            **price,
            "way": self.way,
        }

    @classmethod
    def from_dict(cls, plain: Any) -> Survey:
        if not isinstance(plain, dict) or plain.get("louver") != "survey" or plain.get("format") != FORMAT:
            raise DataError(f"This is no plan of a survey of format {FORMAT}; make one with louver survey plan.")
        answers = plain.get("answers")
        if not isinstance(answers, list):
            raise DataError("The plan of a survey must have a list of answers.")
        price = {name: written_number(name, plain[name]) for name in ("epsilon", "truth") if name in plain}
        return cls(plain.get("question", ""), answers, way=plain.get("way"), **price)


def read_survey(path: str | Path) -> Survey:
    """The plan in a JSON file."""
    place = Path(path)
    try:
        plain = json.loads(place.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataError(f"There is no file {place}.") from None
    except (OSError, ValueError, RecursionError):
        raise DataError(f"{place} cannot be read as the plan of a survey in JSON.") from None
    return Survey.from_dict(plain)


def write_survey(survey: Survey, path: str | Path) -> None:
    place = Path(path)
    try:
        place.write_text(json.dumps(survey.to_dict(), indent=2) + "\n", encoding="utf-8")
    except OSError as fault:
        raise DataError(f"{place} cannot be written: {fault.strerror}.") from None


def better_way(answers: int, epsilon: Fraction | None) -> str:
    """By which a rare answer is estimated with the smaller variance."""
    if epsilon is None or epsilon > 30:
        return CHOICE
    return CHOICE if answers < 3 * math.exp(epsilon) + 2 else UNARY


def _question(given: object) -> str:
    if not isinstance(given, str) or not given.strip() or len(given) > LONGEST_QUESTION:
        raise ParameterError(f"A survey needs a question, a text of 1 to {LONGEST_QUESTION:,} characters.")
    # The form shows it above what is protected, where a second line could pass for a promise.
    if not given.strip().isprintable():
        raise ParameterError("The question of a survey is one line, without tabs and signs that cannot be printed.")
    return given.strip()


def _bits_text(row: list[bool]) -> str:
    return "".join("1" if bit else "0" for bit in row)


def written_number(name: str, given: object) -> Fraction:
    """An exact number from a file; no exponents, which could be longer than memory."""
    try:
        if not isinstance(given, str) or len(given) > _LONGEST_NUMBER or "e" in given.lower():
            raise ValueError
        return Fraction(given)
    except (ValueError, ZeroDivisionError):
        raise DataError(f"In a survey {name} must be written as a text like '1' or '1/2'.") from None
