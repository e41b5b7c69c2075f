"""What a device remembers: the report that it sent to each survey, so that asking again draws no second one.

Permanent randomized response (Erlingsson, Pihur and Korolova 2014), with one report for good: whatever is answered
later, the first report is sent again. So a survey costs its price once, however often it asks. A new report to a
changed answer would show that the answer changed, which no epsilon covers.

The file holds reports, which are public, and never an answer. Whoever loses it pays again with the next report.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from louver import parameters
from louver.errors import BudgetError, DataError
from louver.local.reports import Report
from louver.local.survey import Survey, written_number
from louver.noise import Bits
from louver.noise.bits import SYSTEM

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Kept:
    """One report, whose it is where several people share a device, and what it cost."""

    key: str
    epsilon: str
    report: Report


class Memory:
    """The reports of one device, in a file that only its owner can read."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def report(
        self,
        survey: Survey,
        answer: str,
        *,
        key: str = "",
        most: parameters.Number | None = None,
        bits: Bits = SYSTEM,
    ) -> Report:
        """The report to a survey: drawn at the first call, on disk before it returns, and the same ever after.

        With `most`, none is drawn that would bring what the same person paid here above it.
        """
        with self._alone():
            kept = self._load()
            found = _found(kept, survey, key)
            if found is None:
                if most is not None:
                    _check(_paid(kept, key) + survey.price.epsilon, parameters.fraction("most", most))
                found = survey.report(answer, bits=bits)
                self._save([*kept, Kept(key, str(survey.price.epsilon), found)])
        return found

    def recall(self, survey: Survey, *, key: str = "") -> Report | None:
        """What was sent to this survey before."""
        return _found(self._load(), survey, key)

    def paid(self, *, key: str = "") -> Fraction:
        """What all reports of one person on this device cost together."""
        return _paid(self._load(), key)

    def _load(self) -> list[Kept]:
        try:
            plain = json.loads(self.path.read_text(encoding="utf-8"))
            if plain["format"] != FORMAT:
                raise ValueError
            return [_kept(each) for each in plain["reports"]]
        except FileNotFoundError:
            return []
        except OSError as fault:
            raise DataError(f"{self.path} cannot be read: {fault.strerror}.") from None
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError, DataError):
            raise DataError(
                f"{self.path} holds no reports of a device; restore it, or what is sent pays again."
            ) from None

    def _save(self, kept: list[Kept]) -> None:
        """Beside its place first: whatever happens, the file holds this or what was there before."""
        aside = self.path.with_name(f"{self.path.name}.new")
        with _sentences(self.path):
            aside.unlink(missing_ok=True)  # of a process that died; one that others could read would stay so
            file = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(file, "w", encoding="utf-8") as opened:
                json.dump({"format": FORMAT, "reports": [asdict(each) for each in kept]}, opened)
                opened.flush()
                os.fsync(file)
            aside.replace(self.path)
            folder = os.open(self.path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """One process at a time: two that draw at once would pay twice."""
        with _sentences(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
            opened = os.open(self.path.with_name(f"{self.path.name}.lock"), flags, 0o600)
        try:
            fcntl.flock(opened, fcntl.LOCK_EX)
            yield
        finally:
            os.close(opened)


def _found(kept: list[Kept], survey: Survey, key: str) -> Report | None:
    own = survey.id
    return next((each.report for each in kept if (each.report.survey, each.key) == (own, key)), None)


def _paid(kept: list[Kept], key: str) -> Fraction:
    return sum((Fraction(each.epsilon) for each in kept if each.key == key), Fraction(0))


def _check(total: Fraction, most: Fraction) -> None:
    if total > most:
        raise BudgetError(
            f"With this report all that were sent from here would cost epsilon {parameters.short(total)} together, and "
            f"{parameters.short(most)} is the most; nothing was reported."
        )


def _kept(plain: dict[str, Any]) -> Kept:
    made = Kept(plain["key"], plain["epsilon"], Report(**plain["report"]))
    written_number("epsilon", made.epsilon)
    if not all(isinstance(each, str) for each in (made.key, *asdict(made.report).values())):
        raise ValueError
    return made


@contextmanager
def _sentences(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as fault:
        raise DataError(f"The reports of this device cannot be kept at {path}: {fault.strerror}.") from None
