"""The project's own alarm: no mechanism loses more than it promises, and the audit would notice.

False alarm: 1e-6 over all mechanisms together, and bits are seeded.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import pytest

from louver import decide, local, space
from louver.attack.alarm import audit, audits, mechanisms
from louver.attack.case import Case
from louver.attack.membership import FALSE_ALARM
from louver.privacy import Pure, Subspace
from louver.space.structure import Structure
from louver.stream.kernels import KERNELS
from tests.attack.broken import fresh, halve_noise, reused, seeded

CASES = {case.name: case for case in mechanisms()}
SHARE = FALSE_ALARM / len(CASES)
# So few releases tell little here: what comes out is a ratio, one of few values, or one of many that must agree.
BLIND = {"stream present-mean", "stream quantile", "stream smooth quantile", "stream tail"}
# These draw from coins and clouds that are theirs alone, and not from the samplers that `halve_noise` halves.
OWN_NOISE = {name for name, case in CASES.items() if case.room == "local"} | {"table crossed"}
AT_ONCE = 10_000  # releases; mechanisms that make one at a time are audited with fewer in the short form
SHORT = 0.1


@pytest.mark.parametrize("name", CASES)
def test_no_mechanism_loses_more_than_it_promises(name: str) -> None:
    case = CASES[name]
    found = audit(case, times=0.5 if case.trials > AT_ONCE else SHORT, false_alarm=SHARE, bits=seeded(len(name)))
    assert not found.is_broken, str(found)


@pytest.mark.parametrize(
    "name", [name for name, case in CASES.items() if name not in OWN_NOISE and case.trials > AT_ONCE]
)
def test_each_mechanism_is_caught_at_half_the_noise(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    halve_noise(monkeypatch)
    found = audit(CASES[name], false_alarm=SHARE, bits=seeded(len(name)))
    assert found.is_broken, str(found)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_no_mechanism_loses_more_than_it_promises_in_four_times_the_releases(name: str) -> None:
    found = audit(CASES[name], times=4, false_alarm=SHARE, bits=seeded(len(name)))
    assert not found.is_broken, str(found)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.trials <= AT_ONCE and name not in BLIND])
def test_each_mechanism_that_releases_one_by_one_is_caught_at_half_the_noise(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    halve_noise(monkeypatch)
    found = audit(CASES[name], times=4, false_alarm=SHARE, bits=seeded(len(name)))
    assert found.is_broken, str(found)


@pytest.mark.parametrize("name", sorted(OWN_NOISE))
def test_a_mechanism_that_draws_noise_of_its_own_is_caught_where_it_promises_half(name: str) -> None:
    case = CASES[name]
    promise = case.promise
    assert isinstance(promise, Pure | Subspace)
    half = promise.epsilon / 2
    less = Pure(half) if isinstance(promise, Pure) else Subspace(half, promise.delta, promise.invariants)
    assert audit(replace(case, promise=less), false_alarm=SHARE, bits=seeded(1)).is_broken


def test_every_mechanism_of_every_room_is_in_the_alarm() -> None:
    heard: dict[str, set[str]] = {}
    for case in CASES.values():
        heard.setdefault(case.room, set()).add(case.mechanism)
    assert set(decide._PLANS) <= heard["decide"]
    assert set(KERNELS) <= heard["stream"]
    assert {"hierarchy", "quantile", "tail"} <= heard["stream"]
    structures = [each for name in space.__all__ if isinstance(each := getattr(space, name), type)]
    kinds = {each.kind for each in structures if issubclass(each, Structure) and each is not Structure}
    assert kinds <= heard["space"]
    assert {"whole", "ambient laplace", "agents", "noisy", "crossed"} <= heard["table"]
    assert len(heard["local"]) >= len({"Choice", "Unary", "YesNo"} & set(local.__all__))


def test_each_mechanism_is_named_once() -> None:
    assert len(mechanisms()) == len(CASES)


def test_false_alarms_of_all_mechanisms_together_are_as_rare_as_stated() -> None:
    few = [CASES["local coin"], CASES["noise levels"]]
    found = list(audits(few, times=0.1, false_alarm=1e-3, bits=seeded(2)))
    spent = math.fsum(each.alone.false_alarm + each.beside.false_alarm for each in found)
    assert spent == pytest.approx(1e-3)


def test_noise_that_is_shared_among_releases_is_caught_beside_a_known_one() -> None:
    """The same bits for every release: alone it may pass, beside a release of known data it cannot."""
    case = CASES["stream laplace"]
    repeating = replace(case, draw=lambda has_unit, count, _: case.draw(has_unit, count, seeded(5)))
    found = audit(repeating, times=0.25, false_alarm=SHARE)
    assert found.beside.is_broken
    assert "stream laplace: Lost at least" in str(found)


def test_an_audit_says_how_much_of_the_promise_it_saw() -> None:
    kept = Case("test", "fresh", "one tick", Pure(1), lambda has, size, bits: fresh([3, 3 + has])(size, bits))  # type: ignore[arg-type]
    found = audit(kept, bits=seeded(3))
    assert 0.8 < found.share <= 1
    assert audit(replace(kept, promise=Pure(Fraction(1, 2))), bits=seeded(3)).share > 1.6
    assert audit(replace(kept, draw=lambda has, size, bits: reused([3, 3 + has])(size, bits)), bits=seeded(4)).is_broken  # type: ignore[arg-type]
