from __future__ import annotations

import json
import os
from fractions import Fraction
from pathlib import Path

import pytest

from louver.errors import BudgetError, DataError, ParameterError
from louver.local import Memory, Survey
from tests.table.tools import seeded

WALK = Survey("How did you come?", [f"way {number}" for number in range(9)], epsilon=1)
SMOKE = Survey("Do you smoke?", truth=Fraction(1, 2))


def test_asked_again_a_device_sends_the_same_report_whatever_is_answered(tmp_path: Path) -> None:
    memory = Memory(tmp_path / "state")
    first = memory.report(WALK, "way 1")
    assert memory.recall(WALK) == first
    assert {memory.report(WALK, f"way {number}") for number in range(9)} == {first}
    assert Memory(tmp_path / "state").report(WALK, "way 2") == first


def test_without_its_memory_a_device_draws_anew(tmp_path: Path) -> None:
    """The control: numbers of reports are equal with probability 2^-64."""
    first = Memory(tmp_path / "state").report(WALK, "way 1")
    (tmp_path / "state").unlink()
    assert Memory(tmp_path / "state").report(WALK, "way 1").number != first.number


def test_the_price_of_a_survey_is_paid_once(tmp_path: Path) -> None:
    memory = Memory(tmp_path / "state")
    assert memory.paid() == 0
    for _ in range(3):
        memory.report(WALK, "way 1")
    assert memory.paid() == 1
    memory.report(SMOKE, "yes")
    assert memory.paid() == 1 + SMOKE.price.epsilon


def test_the_file_holds_no_answer_and_is_its_owners_alone(tmp_path: Path) -> None:
    """Whatever was answered, the file depends on the report alone. Bits are fixed."""
    files = set()
    for answer in ("yes", "no"):
        for seed in range(20):
            memory = Memory(tmp_path / f"{answer} {seed}")
            report = memory.report(SMOKE, answer, bits=seeded(seed))
            files.add((report.said, memory.path.read_text().replace(report.number, "")))
            assert memory.path.stat().st_mode & 0o777 == 0o600
    assert len(files) == 2


def test_people_who_share_a_device_have_reports_of_their_own(tmp_path: Path) -> None:
    memory = Memory(tmp_path / "state")
    anna, ben = (memory.report(WALK, "way 1", key=key) for key in ("anna", "ben"))
    assert anna.number != ben.number
    assert memory.report(WALK, "way 2", key="anna") == anna
    assert memory.recall(WALK) is None
    assert memory.paid(key="anna") == 1


def test_no_report_is_drawn_above_the_most_that_somebody_pays(tmp_path: Path) -> None:
    memory = Memory(tmp_path / "state")
    memory.report(WALK, "way 1", most=2)
    with pytest.raises(BudgetError, match=r"together, and 2 is the most; nothing was reported\.$"):
        memory.report(SMOKE, "yes", most=2)
    assert memory.recall(SMOKE) is None
    assert memory.report(WALK, "way 1", most=Fraction(1, 2)) == memory.recall(WALK)  # at no price
    assert memory.report(SMOKE, "yes", most=3) == memory.recall(SMOKE)


def test_a_report_that_cannot_be_kept_does_not_leave(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    memory = Memory(tmp_path / "state")
    memory.report(WALK, "way 1")
    before = memory.path.read_text()
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DataError, match=r"cannot be kept at .*: No space left on device\.$"):
        memory.report(SMOKE, "yes")
    assert memory.path.read_text() == before


def test_a_wrong_answer_keeps_nothing(tmp_path: Path) -> None:
    memory = Memory(tmp_path / "state")
    with pytest.raises(ParameterError):
        memory.report(SMOKE, "maybe")
    assert not memory.path.exists()


@pytest.mark.parametrize("content", ["", "[]", '{"format": 2}', '{"format": 1, "reports": [{}]}', "\x00"])
def test_a_file_that_is_no_memory_is_not_written_over(tmp_path: Path, content: str) -> None:
    memory = Memory(tmp_path / "state")
    memory.path.write_text(content)
    with pytest.raises(DataError, match=r"holds no reports of a device; .*\.$"):
        memory.report(SMOKE, "yes")
    assert memory.path.read_text() == content


def test_a_price_that_is_too_long_to_read_is_refused(tmp_path: Path) -> None:
    memory = Memory(tmp_path / "state")
    memory.report(SMOKE, "yes")
    plain = json.loads(memory.path.read_text())
    plain["reports"][0]["epsilon"] = "1e999999999"
    memory.path.write_text(json.dumps(plain))
    with pytest.raises(DataError, match="holds no reports"):
        memory.paid()
