"""What follows from released numbers: sums of sliding windows, and which counts are above their limit."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from louver.errors import LouverError, ParameterError
from louver.noise.bits import SYSTEM
from louver.privacy import Unit, one_shot
from louver.source import Bound, Domain, Source, Table
from louver.source.measures import View
from louver.stream.above import Above, rate_for
from louver.stream.measured import Measured
from louver.stream.plan import StreamPlan
from louver.stream.planning import stream
from louver.stream.publishing import publish
from louver.stream.recent import Anchored, Recent
from louver.stream.segment import Segment
from louver.stream.session import Session, released_ticks
from louver.stream.tick import Tick
from tests.stream.living import KEY, lived, made_ledger, table
from tests.stream.published import HOUR, SLOTTED, TICKS, TRUTH, assert_goes_on, house, planned
from tests.stream.smoothing import seeded

ONE_IN_20 = Fraction(1, 20)
SEEN = View((TRUTH.T.reshape(-1),))


def answered(plan: StreamPlan, seed: int = 1) -> dict[str, Any]:
    """What a plan releases of the hour, as arrays, ticks by regions."""
    answer: Any = plan.run(SEEN, seeded(seed)).answer
    return {name: None if each is None else np.array(each).T for name, each in answer.items()}


@pytest.mark.parametrize("miss_rate", [ONE_IN_20, Fraction(1, 1000), Fraction(2, 5)])
@pytest.mark.parametrize("rate", [Fraction(5), Fraction(1), Fraction(2, 5), Fraction(1, 100)])
def test_a_flag_keeps_its_promise_at_the_worst_counts_and_no_smaller_slack_would(
    rate: Fraction, miss_rate: Fraction
) -> None:
    """By the exact law: just above the limit, at the slack below it, and one step nearer."""
    above = Above(rate, miss_rate)
    assert above.test.acceptance(1).lower >= 1 - miss_rate
    assert above.test.acceptance(-above.slack).upper <= miss_rate
    if above.slack:
        assert one_shot(miss_rate, above.slack - 1).epsilon > rate


@pytest.mark.parametrize("slack", [0, 3, 10, 11, 400])
def test_the_rate_for_a_slack_is_that_of_the_best_single_look(slack: int) -> None:
    rate = rate_for(slack, ONE_IN_20)
    assert rate == one_shot(ONE_IN_20, slack).epsilon
    assert Above(rate, ONE_IN_20).slack == slack


@pytest.mark.parametrize("slack", [2, 3])
def test_flags_follow_the_law_of_the_test(slack: int) -> None:
    """On 200,000 noisy counts at each margin; off by more than 6 standard deviations once in 10^8 runs or less."""
    from louver.noise import discrete_laplace

    above = Above(rate_for(slack, ONE_IN_20), ONE_IN_20)
    limits = np.arange(50, 56)
    noisy = 52 + discrete_laplace(above.rate, 6 * 200_000, bits=seeded(slack)).reshape(-1, 6)
    flagged = above.flags(noisy, limits, seeded(9)).mean(axis=0)
    for share, limit in zip(flagged, limits, strict=True):
        expected = float(above.test.acceptance(52 - int(limit)).lower)
        assert abs(share - expected) <= 6 * np.sqrt(expected * (1 - expected) / 200_000)


def test_at_fresh_noise_a_flag_can_be_read_off_the_released_number() -> None:
    plan = planned(mechanism="laplace", epsilon=None, above=34, miss_rate=0.05, slack=10)
    answer = answered(plan)
    np.testing.assert_array_equal(answer["flags"], answer["values"] > 34 - 5)
    assert answer["flags"].any()
    assert not answer["flags"].all()


@pytest.mark.parametrize("name", ["segment", "laplace", "pegasus"])
def test_the_promise_holds_for_whole_streams(name: str) -> None:
    """20,000 rooms just above or at the slack below their limit; 5 deviations of a binomial, under 1e-6 of runs."""
    many = Domain({"room": list(range(20_000)), "limit": [30, 41] * 10_000}, keys=["room"])
    table = Source(Table("presence.csv", dataset="house", unit=Unit.row()), domains=many)
    asked: dict[str, Any] = {"every": "15m", "begin": "2018-02-01T09:00", "end": "2018-02-01T09:30", "by": "room"}
    plan = stream(table, mechanism=name, above="limit", miss_rate=0.05, slack=10, **asked)
    counts = np.full(20_000 * 2, 31, dtype=np.int64)
    flags = np.array(plan.run(View((counts,)), seeded(3)).answer["flags"])
    allowed = 0.05 + 5 * np.sqrt(0.05 * 0.95 / 10_000)
    assert (~flags[0::2]).mean(axis=0).max() <= allowed
    assert flags[1::2].mean(axis=0).max() <= allowed
    assert flags[0::2].mean() <= 1 - 0.04  # noise is no smaller than it must be
    assert "is missed in at most 1 of 20 cases" in plan.promise
    assert "is 10 or more below that is flagged in at most 1 of 20 cases" in plan.promise


def test_a_slack_gives_the_least_price_of_the_mechanism() -> None:
    least = one_shot(ONE_IN_20, 10).epsilon
    asked: dict[str, Any] = {"epsilon": None, "above": 30, "miss_rate": 0.05, "slack": 10}
    assert [planned(mechanism=name, **asked).price.epsilon for name in ("segment", "laplace")] == [least, least]  # type: ignore[union-attr]
    pegasus = planned(mechanism="pegasus", **asked)
    assert pegasus.price.epsilon == least * Fraction(5, 4)  # type: ignore[union-attr]
    assert pegasus.made(SYSTEM).rate == least  # type: ignore[attr-defined]
    three = planned(SLOTTED, Bound(3), window=4, **asked)
    assert three.worst[0].price == 12 * least
    watts = planned(sum_of="watts", **{**asked, "above": 100, "slack": 40})
    assert watts.worst[0].price == 8 * one_shot(ONE_IN_20, 40).epsilon


def test_with_an_epsilon_the_slack_follows_and_is_said_before_anything_is_paid() -> None:
    plan = planned(epsilon=1, above=30, miss_rate=0.05)
    assert plan.test is not None
    assert plan.test.slack == 4
    assert "One whose count is 4 or more below that is flagged in at most 1 of 20 cases" in plan.promise
    tight = planned(epsilon=Fraction(1, 10), above=30, miss_rate=0.05)
    assert tight.test is not None
    assert tight.test.slack > 40


def test_a_larger_slack_is_proposed_where_the_budget_does_not_suffice() -> None:
    plan = planned(epsilon=None, above=30, miss_rate=0.05, slack=10)
    (said,) = plan.cheaper(plan.worst[0].price / 2)
    slack = int(said.removeprefix("a slack of "))
    assert (
        plan.with_(slack=slack).worst[0].price <= plan.worst[0].price / 2 < plan.with_(slack=slack - 1).worst[0].price
    )


def test_limits_are_a_column_of_the_domain_or_one_number() -> None:
    rooms = Domain({"room": ["hall", "lab"], "floor": [0, 1], "limit": [30.5, 2]}, keys=["room", "floor"])
    described = Source(Table("presence.csv", dataset="house", unit=SLOTTED), domains=rooms)
    plan = stream(described, above="limit", miss_rate=0.05, epsilon=1, **HOUR)
    assert plan.above == (Fraction(61, 2), Fraction(2))
    assert plan.limits == (30, 2)
    assert stream(described, above=3, miss_rate=0.05, epsilon=1, **HOUR).above == (Fraction(3), Fraction(3))
    alike = Domain({"room": ["hall", "hall"], "floor": [0, 1], "limit": [1, 2]}, keys=["room", "floor"])
    with pytest.raises(ParameterError, match="several values for one region"):
        stream(described, above="limit", miss_rate=0.05, epsilon=1, domain=alike, **HOUR)
    with pytest.raises(ParameterError, match="need regions"):
        planned(above="limit", miss_rate=0.05, by=())


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"above": 30}, "above needs miss_rate too"),
        ({"miss_rate": 0.05}, "miss_rate belongs to a promise"),
        ({"above": 30, "miss_rate": 0.05, "slack": 3}, "one way"),
        ({"epsilon": None, "slack": 3}, "give the limit with above"),
        ({"epsilon": None, "above": 30, "miss_rate": 0.05}, "one way"),
        ({"above": 30, "miss_rate": 0.05, "mechanism": "kary"}, "fresh Laplace noise"),
        ({"above": 2**41, "miss_rate": 0.05}, "above must be"),
        ({"above": "limit", "miss_rate": 0.05}, "limit"),
        ({"last": 0}, "last must be"),
        ({"last": "1s"}, "whole minutes"),
        ({"last": 10**6}, "shorter one"),
        ({"last": 3, "mechanism": "histogram", "options": {"bins": "3"}}, "leave last out"),
    ],
)
def test_what_cannot_be_seen_in_a_stream_is_refused_with_one_sentence(asked: dict[str, Any], said: str) -> None:
    with pytest.raises(LouverError, match=said) as refused:
        planned(**{"epsilon": 1, **asked})
    assert str(refused.value).endswith(".")


@pytest.mark.parametrize(("name", "sums"), [("segment", Anchored), ("pegasus", Recent)])
def test_the_last_ticks_of_a_smoothed_stream_take_the_levels_of_their_groups(name: str, sums: Any) -> None:
    plan = planned(mechanism=name, last=4)
    running, alone = plan.restored(None, seeded(1)), plan.made(seeded(1))
    recent = sums(alone, 4)
    for row in TRUTH:
        alone.update(row)
        np.testing.assert_allclose(running.advance(row[None]).recent, recent.sums(alone.trace), atol=1e-3)  # type: ignore[arg-type,attr-defined]


@pytest.mark.parametrize("asked", [{"mechanism": "laplace"}, {"mechanism": "gaussian", "rho": Fraction(1, 8)}])
@pytest.mark.parametrize("ticks", [1, 2, 5, 12])
def test_the_sum_of_the_last_ticks_keeps_its_distance_by_the_exact_law(asked: dict[str, Any], ticks: int) -> None:
    plan = planned(last=ticks, **asked)
    reach = plan.last_reach(1 - ONE_IN_20)
    assert reach is not None
    steps = np.arange(-400, 401)
    mechanism: Any = plan.made(SYSTEM)
    parameter = getattr(mechanism, "variance", 0)
    one = np.exp(-(steps**2) / (2 * float(parameter)) if parameter else -np.abs(steps) * float(mechanism.rate))
    law = summed = one / one.sum()
    for _ in range(ticks - 1):
        summed = np.convolve(summed, law, mode="same")
    assert summed[np.abs(steps) <= 0.7 * float(reach)].sum() < 19 / 20
    assert summed[np.abs(steps) > reach].sum() <= 1 / 20
    assert f"within {reach} of the truth" in plan.promise


def test_the_sum_of_the_last_ticks_of_segments_is_promised_to_within_what_it_may_differ_from_noisy_counts() -> None:
    """800 rooms that empty at once; each window by itself; off by 5 deviations of a binomial once in 10^6 runs."""
    plan = planned(mechanism="segment", last=12)
    stream = Segment(1, 800, bits=seeded(4))
    counts = np.repeat([40, 0], [6, 6])[:, None].repeat(800, axis=1)
    stream.run(counts)
    off = np.abs(Anchored(stream, 12).sums(stream.trace)[-1] - counts[:, 0].sum())
    reach = plan.last_reach(1 - ONE_IN_20)
    assert reach is not None
    assert np.mean(off > float(reach)) <= 0.05 + 5 * np.sqrt(0.05 * 0.95 / 800)
    assert f"it is within {reach} of the truth" in plan.promise


@pytest.mark.parametrize("name", ["pegasus", "kary"])
def test_no_distance_is_promised_for_other_sums_of_the_last_ticks(name: str) -> None:
    plan = planned(mechanism=name, last=4)
    assert plan.last_reach(1 - ONE_IN_20) is None
    assert "promises nothing" in plan.promise


def test_the_last_ticks_of_fresh_noise_are_the_sum_of_what_is_released() -> None:
    answer = answered(planned(mechanism="laplace", last="20m"))
    sums = [answer["values"][max(tick - 3, 0) : tick + 1].sum(axis=0) for tick in range(TICKS)]
    np.testing.assert_allclose(answer["recent"], sums)


@pytest.mark.parametrize("name", ["kary", "tree", "signed", "buffered"])
def test_the_last_ticks_of_a_running_sum_are_the_difference_of_two(name: str) -> None:
    price: dict[str, Any] = {"rho": 1} if name == "buffered" else {"epsilon": 1}
    answer = answered(planned(mechanism=name, last=4, **price))
    values = answer["values"]
    before = np.concatenate((np.zeros((4, 2)), values[:-4]))
    np.testing.assert_allclose(answer["recent"], values - before, atol=2e-3)


def test_a_window_that_begins_before_the_threshold_is_found_is_left_open() -> None:
    plan = planned(mechanism="truncated", epsilon=1, tick_bound=64, options={"lag": 3}, last=4)
    recent: Any = plan.run(SEEN, SYSTEM).answer["recent"][0]
    assert [value is None for value in recent] == [True, True] + [False] * 2 + [True] * 2 + [False] * 6


BESIDE: dict[str, dict[str, Any]] = {
    "segment": {"epsilon": 1, "last": 3, "above": 30, "miss_rate": 0.05},
    "pegasus": {"epsilon": 1, "last": "20m", "above": 30, "miss_rate": 0.05},
    "laplace": {"epsilon": None, "above": 30, "miss_rate": 0.05, "slack": 11, "last": 30},
    "kary": {"epsilon": 1, "last": 3},
    "buffered": {"rho": 1, "last": 5},
    "truncated": {"epsilon": 1, "tick_bound": 64, "options": {"lag": 3}, "last": 4},
}


@pytest.mark.parametrize("name", BESIDE)
def test_a_restart_before_every_tick_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    plan = planned(SLOTTED, Bound(1), mechanism=name, **BESIDE[name])
    assert_goes_on(plan, TRUTH)
    told = []
    for restarting in (False, True):
        folder = tmp_path / str(restarting)
        folder.mkdir()
        monkeypatch.setattr("louver.steward.SYSTEM", seeded(4))
        with made_ledger(folder) as ledger:
            told.append(lived(plan, ledger, folder, restarting=restarting))
    assert list(dict.fromkeys(told[1])) == told[0]
    first = told[0][0].to_dict()["regions"][0]
    assert ("last" in first, "above" in first) == (True, plan.above is not None)


def test_a_damaged_window_is_refused() -> None:
    plan = planned(SLOTTED, Bound(1), last=3)
    _, state = plan.advance(None, None, SYSTEM)
    plan.restored(state)
    for wrong in ({}, None, {"levels": 3}, {"levels": {"type": "int64", "shape": [2, 3], "base64": ""}}):
        with pytest.raises(ParameterError, match=r"\.$"):
            plan.restored({**state, "recent": wrong})
    with pytest.raises(ParameterError, match="goes on from its own"):
        plan.with_(last=None).restored(state)


def test_columns_have_what_is_asked_for_beside_the_value(tmp_path: Path) -> None:
    with house(tmp_path, cap=2000) as made:
        loud: dict[str, Any] = {**HOUR, "mechanism": "laplace", "epsilon": 500, "above": 34, "miss_rate": 0.05}
        found = publish(made.source, ledger=made.ledger, last="10m", **loud)
        assert list(found.columns) == ["room", "tick", "value", "low", "high", "last", "above"]
        assert found.columns["above"] == [bool(value > 34) for value in TRUTH.ravel()]
        assert found.flags is not None
        assert found.recent is not None
        assert found.recent[3].tolist() == (TRUTH[2] + TRUTH[3]).tolist()
        assert found.to_csv().splitlines()[2].endswith(",false")
        assert made.ledger.spent() == 500


@pytest.mark.parametrize("sign", [1, -1])
def test_a_limit_beyond_what_is_counted_is_refused_and_the_largest_is_tested(sign: int) -> None:
    """In steps: a limit that is small in watts may be one that whole numbers of 64 bits cannot be held against."""
    fine = Measured.sum_of("watts", 0, Fraction(1, 2**20), Fraction(1, 2**36))
    made: dict[str, Any] = {"unit": SLOTTED, "kernel": "laplace", "epsilon": 1, "miss_rate": ONE_IN_20}
    ticks = planned().ticks
    plan = StreamPlan(fine, None, ticks, above=sign * 2**16, **made)
    assert plan.limits == (sign * 2**52,)
    (flags,) = plan.run(View((np.full(TICKS, 1000),)), seeded(1)).answer["flags"]
    assert flags == [sign < 0] * TICKS
    with pytest.raises(ParameterError, match=r"A limit is more than 2\^52 steps"):
        StreamPlan(fine, None, ticks, above=sign * (2**16 + 1), **made)


@pytest.mark.parametrize("restarting", [False, True])
@pytest.mark.parametrize("name", ["laplace", "segment", "kary"])
def test_the_sum_of_the_last_ticks_is_not_told_while_one_of_them_is_missing(
    tmp_path: Path, name: str, restarting: bool
) -> None:
    """A sum with a 0 in it that nobody marks would not keep the promise."""
    plan, told = planned(SLOTTED, Bound(1), mechanism=name, last=3), dict[int, Tick]()
    absent = (2, 3, 8)
    with made_ledger(tmp_path) as ledger:
        state, session = tmp_path / "state", None
        for number in range(TICKS):
            if session is None or restarting:
                if session is not None:
                    session.close()
                session = Session.open(plan, ledger, state, lambda tick: told.update({tick.number: tick}), key=KEY)
            session.advance(None if number in absent else table(number))
        again = list(released_ticks(plan, ledger, KEY))
    assert again == [told[number] for number in range(TICKS)]
    known = [number for number, tick in told.items() if tick.recent is not None and None not in tick.recent]
    assert known == [0, 1, 6, 7, 11]
    assert [number for number, tick in told.items() if None not in tick.values] == [0, 1, 4, 5, 6, 7, 9, 10, 11]


def test_a_state_whose_missing_tick_is_not_one_of_its_own_is_refused() -> None:
    plan = planned(SLOTTED, Bound(1), mechanism="laplace", last=3)
    _, state = plan.advance(None, None, seeded(1))
    assert plan.restored(state).ticks == 1
    for odd in (1, -1, "0", None):
        with pytest.raises(ParameterError):
            plan.restored({**state, "missed": odd})
    with pytest.raises(ParameterError):
        plan.with_(last=None).restored({"mechanism": state["mechanism"], "missed": 0})
