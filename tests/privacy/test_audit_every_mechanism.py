"""The project's own alarm: no mechanism loses more than it promises, and the audit would notice.

False alarm: 1e-6 over all mechanisms together, and bits are seeded.
"""

from __future__ import annotations

import ast
import math
import os
import re
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

import louver
from louver import decide, space
from louver.attack.alarm import BESIDE_SHARE, audit, audits, mechanisms
from louver.attack.case import Case
from louver.attack.floats import InverseLaplace, all_whole
from louver.attack.losses import stated
from louver.attack.membership import FALSE_ALARM, Measured, measure, most_shown
from louver.attack.scores import Rows
from louver.noise import Bits
from louver.privacy import Pure, Subspace
from louver.space.structure import Structure
from louver.stream.kernels import KERNELS
from tests.attack.broken import fresh, halve_noise, reused, seeded

CASES = {case.name: case for case in mechanisms()}
SHARE = FALSE_ALARM / len(CASES)
DEAF = {"stream present-mean", "stream smooth quantile", "stream tail"}
# These draw from coins and clouds that are theirs alone, and not from the samplers that `halve_noise` halves.
OWN_NOISE = {name for name, case in CASES.items() if case.room == "local"} | {"table crossed"}
LONG = {"decide adaptive", "local memory", "space decomposition", "stream window-mean"}
ONE_BY_ONE = {"decide sparse", "decide survey", "stream hierarchy", "table agents"} | {
    f"stream {name}" for name in ("truncated", "truncated smooth", "running-mean", "quantile", "penalised threshold")
}
ROOMS = ("decide", "stream", "space", "table", "local")
SOURCE = Path(louver.__file__).parent


def files() -> list[Path]:
    return [path for room in ROOMS for path in sorted((SOURCE / room).rglob("*.py"))]


def draws(path: Path) -> bool:
    """Whether a file gives bits to something that it has from `louver.noise`, or calls a method of them."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    taken = {
        each.asname or each.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("louver.noise")
        for each in node.names
    }
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    by_sampler = any(ast.unparse(call.func) in taken and any(k.arg == "bits" for k in call.keywords) for call in calls)
    return by_sampler or any(re.match(r"(self\._)?bits\.", ast.unparse(call.func)) for call in calls)


def drawing(cases: list[Case]) -> set[Path]:
    """The files that call `louver.noise` while every case makes some releases."""
    inside, found = str(SOURCE / "noise"), set()

    def look(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_back is not None and frame.f_code.co_filename.startswith(inside):
            found.add(frame.f_back.f_code.co_filename)

    for case in cases:
        sys.setprofile(look)
        try:
            for has_unit in (False, True):
                case.draw(has_unit, 4, seeded(2))
        finally:
            sys.setprofile(None)
    return {Path(name) for name in found}


@pytest.fixture(autouse=True)
def _nothing_here_outlives_the_test(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)


def as_run(names: set[str], long: set[str]) -> list[Any]:
    return [pytest.param(name, marks=pytest.mark.slow if name in long else ()) for name in CASES if name in names]


@pytest.mark.parametrize("name", as_run(set(CASES), LONG | DEAF))
def test_no_mechanism_loses_more_than_it_promises(name: str) -> None:
    """With as many releases as the next tests hear half of the noise at."""
    case = CASES[name]
    found = audit(case, times=case.hears / case.trials, false_alarm=SHARE, bits=seeded(len(name)))
    assert found.verdict == ("could not tell" if name in DEAF else "kept"), str(found)


@pytest.mark.parametrize("name", as_run(set(CASES) - OWN_NOISE - DEAF, LONG | ONE_BY_ONE))
def test_each_mechanism_is_caught_at_half_the_noise(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    halve_noise(monkeypatch)
    assert by_itself(CASES[name]).is_broken


@pytest.mark.parametrize("name", as_run(OWN_NOISE, LONG))
def test_a_mechanism_that_draws_noise_of_its_own_is_caught_where_it_promises_half(name: str) -> None:
    case = CASES[name]
    promise = case.promise
    assert isinstance(promise, Pure | Subspace)
    half = promise.epsilon / 2
    less = Pure(half) if isinstance(promise, Pure) else Subspace(half, promise.delta, promise.invariants)
    assert by_itself(replace(case, promise=less)).is_broken


def by_itself(case: Case) -> Measured:
    return measure(
        case.without,
        case.having,
        case.promise,
        trials=case.hears,
        scores=case.scores,
        paid=case.paid,
        false_alarm=SHARE / 2,
        bits=seeded(1),
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(CASES) - LONG))
def test_no_mechanism_loses_more_than_it_promises_in_four_times_the_releases(name: str) -> None:
    found = audit(CASES[name], times=4, false_alarm=SHARE, bits=seeded(len(name)))
    assert not found.is_broken, str(found)


@pytest.mark.parametrize("name", sorted(set(CASES)))
def test_either_half_of_each_audit_can_show_more_than_is_promised(name: str) -> None:
    case = CASES[name]
    assert 0 < case.hears <= case.trials
    for trials in (case.hears, case.hears // BESIDE_SHARE):
        assert most_shown(trials, case.promise, SHARE / 2) > stated(case.promise)


@pytest.mark.parametrize("name", ["space uniform", "stream laplace", "table whole", "decide within"])
def test_the_bare_truth_is_caught_and_with_too_few_releases_nobody_says_that_a_promise_is_kept(name: str) -> None:
    bare = replace(CASES[name], draw=lambda has_unit, count, _: np.full((count, 2), 5 + has_unit))
    assert audit(bare, times=bare.hears / bare.trials, false_alarm=SHARE).verdict == "BROKEN"
    few = audit(bare, times=64 / bare.trials, false_alarm=SHARE)
    assert few.verdict == "could not tell"
    assert "from" in few.deaf


def test_those_that_are_deaf_are_known_and_say_why() -> None:
    assert {name for name, case in CASES.items() if case.deaf} == DEAF


def test_every_file_of_every_room_that_draws_is_in_the_alarm() -> None:
    """A file draws that takes a sampler from `louver.noise`, or bits by itself; some case must make it do so."""
    heard = drawing(list(CASES.values()))
    # As published, for comparison; nothing is released by them.
    written = {path for path in files() if draws(path) and "published" not in path.parts}
    assert len(written) > 20
    assert written - heard == set()


def test_a_case_that_is_missing_is_noticed() -> None:
    without = [case for name, case in CASES.items() if name != "stream above"]
    assert SOURCE / "stream" / "above.py" not in drawing(without)


def test_every_mechanism_that_a_room_names_is_in_the_alarm() -> None:
    heard: dict[str, set[str]] = {}
    for case in CASES.values():
        heard.setdefault(case.room, set()).add(case.mechanism)
    assert set(decide._PLANS) <= heard["decide"]
    assert set(KERNELS) <= heard["stream"]
    structures = [each for name in space.__all__ if isinstance(each := getattr(space, name), type)]
    kinds = {each.kind for each in structures if issubclass(each, Structure) and each is not Structure}
    assert kinds <= heard["space"]


@pytest.mark.parametrize("path", files(), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_no_file_of_a_room_draws_floats_of_its_own(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"np\.random|numpy\.random|^import random|^from random|default_rng", text, re.MULTILINE)


def test_each_mechanism_is_named_once() -> None:
    assert len(mechanisms()) == len(CASES)


def test_false_alarms_of_all_mechanisms_together_are_as_rare_as_stated() -> None:
    few = [CASES["local coin"], CASES["noise levels"]]
    found = list(audits(few, times=0.1, false_alarm=1e-3, bits=seeded(2)))
    spent = math.fsum(each.alone.false_alarm + each.beside.false_alarm for each in found)
    assert spent == pytest.approx(1e-3)


@pytest.mark.parametrize("name", sorted(set(CASES) - LONG - DEAF - ONE_BY_ONE))
def test_noise_that_comes_again_is_caught_beside_a_known_release_of_each_mechanism(name: str) -> None:
    case = CASES[name]
    repeating = replace(case, draw=lambda has_unit, count, _: case.draw(has_unit, count, seeded(5)))
    assert audit(repeating, times=case.hears / case.trials, false_alarm=SHARE, bits=seeded(1)).beside.is_broken


def test_noise_that_is_shared_among_releases_is_caught_beside_a_known_one() -> None:
    """The same bits for every release: alone it may pass, beside a release of known data it cannot."""
    case = CASES["stream laplace"]
    repeating = replace(case, draw=lambda has_unit, count, _: case.draw(has_unit, count, seeded(5)))
    found = audit(repeating, times=0.25, false_alarm=SHARE)
    assert found.beside.is_broken
    assert not found.alone.is_broken
    assert found.worst == found.beside
    assert found.worst.lost > found.worst.promised
    assert "stream laplace, beside a known release: Lost at least" in str(found)


@pytest.mark.parametrize("people", [0, 3, 10, 40, 100])
@pytest.mark.parametrize("by", ["the textbook", "NumPy"])
def test_float_noise_is_caught_on_few_people_and_on_many(by: str, people: int) -> None:
    def draw(has_unit: bool, count: int, bits: Bits) -> Rows:
        if by == "the textbook":
            return InverseLaplace(1.0).release(people + has_unit)(count, bits)
        return people + has_unit + np.random.default_rng(bits.integer(64)).laplace(size=count)

    found = audit(Case("test", by, "one person", Pure(1), draw, 2_000), bits=seeded(people))
    assert found.verdict == "BROKEN"
    assert "whole-number noise cannot make" in str(found)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.whole is not None])
def test_what_should_be_whole_is_whole_and_is_there(name: str) -> None:
    case = CASES[name]
    assert case.whole is not None
    rows = case.whole(case.having(4, seeded(1)))
    assert rows.shape[1] > 0
    assert all_whole(rows)


def test_an_audit_says_how_much_of_the_promise_it_saw() -> None:
    kept = Case("test", "fresh", "one tick", Pure(1), lambda has, size, bits: fresh([3, 3 + has])(size, bits))  # type: ignore[arg-type]
    found = audit(kept, bits=seeded(3))
    assert 0.8 < found.share <= 1
    assert audit(replace(kept, promise=Pure(Fraction(1, 2))), bits=seeded(3)).share > 1.6
    assert audit(replace(kept, draw=lambda has, size, bits: reused([3, 3 + has])(size, bits)), bits=seeded(4)).is_broken  # type: ignore[arg-type]
