from __future__ import annotations

import numpy as np
import pytest

from louver.attack import (
    Attacker,
    DiscreteLaplace,
    administrator,
    opened_at_random,
    outsider,
    single_posterior,
    unknown_groups,
    who_sees,
    with_role,
)
from louver.attack.open_regions import attacker_named
from louver.errors import ParameterError
from louver.sense.building import Building, Floor, Region
from louver.sense.simulate.hall import CAMPUS_HALL, hall

PRIOR, COUNTS = np.array([0.5, 0.2, 0.2, 0.1]), np.array([6, 3, 1, 0])


def building() -> Building:
    regions = (
        Region("lobby", own_capacity=9),
        Region("lab", own_capacity=9, open_to=("staff", "student")),
        Region("office", own_capacity=9, open_to=("staff",)),
        Region("plant", own_capacity=9, open_to=()),
    )
    return Building("house", (Floor("ground", regions),), roles=("staff", "student"))


def test_who_may_enter_can_look() -> None:
    house = building()
    assert outsider(house).open == (False,) * 4
    assert with_role(house, "student").open == (True, True, False, False)
    assert with_role(house, "staff").open == (True, True, True, False)


def test_an_administrator_sees_what_cameras_see() -> None:
    house = building()
    assert administrator(house).open == (True, False, False, False)
    assert administrator(house, ["lobby", "plant"]).open == (True, False, False, True)
    assert who_sees(house, ["office"], "colleague") == Attacker("colleague", (False, False, True, False))


def test_attackers_are_named_as_in_commands() -> None:
    house = building()
    assert attacker_named(house, "outsider") == outsider(house)
    assert attacker_named(house, "administrator") == administrator(house)
    assert attacker_named(house, "role:staff") == with_role(house, "staff")
    assert attacker_named(house, "cameras:lobby,plant") == administrator(house, ["lobby", "plant"])
    assert attacker_named(house, "sees: office, lab").open == (False, True, True, False)
    assert attacker_named(house, "sees:office").name == "who sees office"


@pytest.mark.parametrize("said", ["janitor", "role:", "sees:", "cameras: ,", "outsider:lab", "sees:ofice", "role:cook"])
def test_an_attacker_that_there_is_not_is_refused(said: str) -> None:
    with pytest.raises(ParameterError, match=r"\.$"):
        attacker_named(building(), said)


def test_a_camera_in_no_region_is_refused() -> None:
    with pytest.raises(ParameterError, match="no region 'ofice'"):
        administrator(building(), ["ofice"])
    with pytest.raises(ParameterError, match="no role"):
        with_role(building(), "janitor")


def test_a_student_of_the_invented_building_sees_all_but_offices() -> None:
    made = hall(CAMPUS_HALL, "Hall 7").building
    closed = {made.regions[number].name for number in with_role(made, "student").closed}
    assert len(made.regions) == 64
    assert all(name is not None and name.startswith("Offices") for name in closed)


def test_what_is_left_is_a_smaller_building() -> None:
    left = with_role(building(), "student").left(PRIOR, COUNTS)
    assert left.closed.tolist() == [2, 3]
    assert left.prior == pytest.approx([2 / 3, 1 / 3])
    assert left.counts.tolist() == [1, 0]
    assert left.people == 1
    assert left.of([1.0, 2.0, 3.0, 4.0]).tolist() == [3.0, 4.0]


def test_an_outsider_has_everything_left() -> None:
    left = outsider(building()).left([PRIOR, PRIOR], [COUNTS, 2 * COUNTS])
    assert left.prior == pytest.approx(np.array([PRIOR, PRIOR]))
    assert left.people.tolist() == [10, 20]


def test_closed_regions_of_no_prior_are_alike() -> None:
    left = with_role(building(), "student").left([0.5, 0.5, 0.0, 0.0], COUNTS)
    assert left.prior.tolist() == [0.5, 0.5]


def test_an_attacker_who_sees_everything_has_nothing_left() -> None:
    left = Attacker("guard", (True,) * 4).left(PRIOR, COUNTS)
    assert left.people == 0
    assert single_posterior(left.of(COUNTS), left.prior, left.people, DiscreteLaplace(1)).shape == (0,)


def test_regions_open_until_a_share_of_the_people_is_seen() -> None:
    for seed in range(20):
        seen = np.array(opened_at_random(COUNTS, 0.5, seed).open)
        assert COUNTS[seen].sum() >= 5
        assert min(COUNTS[seen].sum() - COUNTS[region] for region in np.flatnonzero(seen)) < 5
    assert not any(opened_at_random(COUNTS, 0, 1).open)


@pytest.mark.parametrize(("share", "sizes"), [(0, [10]), (0.5, [5, 5]), (0.9, [2] * 5), (1, [1] * 10)])
def test_everybody_is_once_a_victim_of_somebody_who_knows_the_others(share: float, sizes: list[int]) -> None:
    groups = list(unknown_groups(COUNTS, share, seed=3))
    assert [group.people for group in groups] == sizes
    assert np.sum([group.counts for group in groups], axis=0).tolist() == COUNTS.tolist()
    assert all((group.counts + group.known == COUNTS).all() for group in groups)


def test_groups_are_drawn_from_all_places() -> None:
    drawn = {tuple(next(unknown_groups(COUNTS, 0.5, seed).__iter__()).counts) for seed in range(30)}
    assert len(drawn) > 3


def test_nobody_has_no_attacker() -> None:
    assert list(unknown_groups([0, 0], 0.5, seed=1)) == []


def test_knowing_others_sharpens_what_is_learned() -> None:
    """The last unknown person, in a place whose other people are known."""
    alone = single_posterior([3.0], [0.2], 1, DiscreteLaplace(2), known=2)
    crowd = single_posterior([3.0], [0.2], 10, DiscreteLaplace(2))
    assert alone[0] > 0.6 > 0.35 > crowd[0]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: outsider(building()).left([0.5, 0.5], COUNTS),
        lambda: opened_at_random([[1, 2]], 0.5, 1),
        lambda: list(unknown_groups([[1, 2]], 0.5, 1)),
        lambda: list(unknown_groups([1, 2], 1.5, 1)),
    ],
)
def test_what_does_not_fit_is_refused(wrong: object) -> None:
    with pytest.raises(ParameterError):
        wrong()  # type: ignore[operator]
