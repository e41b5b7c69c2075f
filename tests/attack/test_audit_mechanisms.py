"""`louver audit mechanisms`, told of mechanisms that are broken. False alarms: below 1e-6 for each run."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from louver import cli
from louver.attack import alarm
from louver.attack.case import Case
from louver.attack.scores import Rows
from louver.noise import Bits, discrete_laplace
from louver.privacy import Pure
from tests.attack.broken import seeded


def noisy(has_unit: bool, count: int, bits: Bits) -> Rows:
    return int(has_unit) + discrete_laplace(1, count, bits=bits)


SOUND = Case("test", "sound", "one person", Pure(1), noisy, 2_000, 1_500)


def said(
    case: Case, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *words: str
) -> tuple[int, str]:
    monkeypatch.setattr(alarm, "mechanisms", lambda: (case,))
    code = cli.main(["audit", "mechanisms", *words])
    return code, capsys.readouterr().out


def test_a_promise_is_kept_where_half_of_the_noise_would_have_been_heard(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, out = said(SOUND, capsys, monkeypatch)
    assert code == 0
    assert "kept" in out
    assert "ould not tell" not in out


@pytest.mark.parametrize(
    ("case", "times", "why"),
    [
        (SOUND, "0.1", "half of the noise is heard from 1,500 releases on, and there were 200"),
        (replace(SOUND, deaf="it is a ratio"), "1", "it is a ratio"),
        (replace(SOUND, hears=0), "0.1", "cannot show a loss as large as is promised"),
    ],
)
def test_an_audit_that_cannot_sound_could_not_tell_and_says_why(
    case: Case, times: str, why: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, out = said(case, capsys, monkeypatch, "--times", times)
    assert code == 0
    assert "kept" not in out
    assert f"Could not tell about test sound: {why}" in out or why in out


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_what_is_broken_beside_a_known_release_only_is_shown_by_the_numbers_of_that(
    form: tuple[str, ...], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    repeating = replace(SOUND, draw=lambda has_unit, count, _: noisy(has_unit, count, seeded(5)))
    code, out = said(repeating, capsys, monkeypatch, *form)
    assert code == 1
    if form:
        (found,) = json.loads(out)["mechanisms"]
        assert found["verdict"] == "BROKEN"
        assert found["lost"] > found["promised"]
        assert found["seen"] == "beside a known release"
    else:
        line = next(line for line in out.splitlines() if line.startswith("test sound"))
        promised, lost = (float(word) for word in line.split()[2:4])
        assert lost > promised
        assert "BROKEN" in line
        assert "beside a known release" in line


def test_float_noise_is_broken_by_numbers_that_are_not_whole(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    floats = replace(SOUND, draw=lambda has_unit, count, bits: noisy(has_unit, count, bits) + np.full(count, 2.0**-30))
    code, out = said(floats, capsys, monkeypatch)
    assert code == 1
    assert "by numbers that are not whole" in out
