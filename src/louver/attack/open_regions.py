"""Attackers: who can look into which regions, and whose places they know already.

Ghayyur's thesis, sections 4.4.1 and 4.6.2. Whoever can look into a region knows who is there, so these people are no
longer guessed. For all others, what is left is a smaller building: the closed regions, with the prior divided by its
sum over them, and the people who were not seen.

An outsider sees no region, a student those that students may enter, an administrator those with a camera.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from louver import parameters
from louver.attack.shapes import probabilities, wholes
from louver.errors import ParameterError

if TYPE_CHECKING:
    from louver.sense.building import Building

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]


@dataclass(frozen=True)
class Attacker:
    """A name, and for each region of a building, in its order, whether the attacker can look into it."""

    name: str
    open: tuple[bool, ...]

    @property
    def closed(self) -> Whole:
        """The numbers of the regions that stay closed."""
        return np.flatnonzero(~np.array(self.open, dtype=bool))

    def left(self, prior: ArrayLike, counts: ArrayLike) -> Left:
        """What is left to guess at each tick: `prior` and true `counts` are (..., regions), of all regions.

        >>> left = Attacker("student", (True, False, False)).left([0.5, 0.3, 0.2], [4, 2, 0])
        >>> left.prior.tolist(), left.people.tolist(), left.counts.tolist()
        ([0.6, 0.4], 2, [2, 0])
        """
        shares, true = probabilities("The prior", prior), wholes("counts", counts)
        if not shares.ndim or not true.ndim or {shares.shape[-1], true.shape[-1]} != {len(self.open)}:
            raise ParameterError(f"The prior and the counts need the {len(self.open):,} regions as their last axis.")
        closed = self.closed
        inside, behind = true[..., closed], shares[..., closed]
        total = behind.sum(axis=-1, keepdims=True)
        even = np.full(behind.shape, 1 / max(len(closed), 1))
        scaled = np.where(total > 0, behind / np.where(total > 0, total, 1.0), even)
        return Left(closed, scaled, inside, inside.sum(axis=-1))


@dataclass(frozen=True, eq=False)
class Left:
    """The closed regions: their numbers, their prior, and the true counts, of which the attacker knows the sum only.

    `of` takes what belongs to them from releases about all regions.
    """

    closed: Whole
    prior: Floats
    counts: Whole
    people: Whole

    def of(self, released: ArrayLike) -> Floats:
        return np.asarray(released, dtype=np.float64)[..., self.closed]


def outsider(building: Building) -> Attacker:
    """Somebody who is not in the building: no region is open."""
    return Attacker("outsider", (False,) * len(building.regions))


def with_role(building: Building, role: str) -> Attacker:
    """Everybody of a role, together: the regions that `building.toml` opens to it, a student's say."""
    return Attacker(role, tuple(building.may_enter(role, region.id) for region in building.regions))


def administrator(building: Building, cameras: Iterable[str] | None = None) -> Attacker:
    """Whoever watches the cameras: in these regions, or, if none are named, in all that are open to everybody."""
    watched = {region.id for region in building.regions if region.open_to is None} if cameras is None else set(cameras)
    return who_sees(building, watched, "administrator")


def who_sees(building: Building, regions: Iterable[str], name: str = "insider") -> Attacker:
    """Somebody who can look into these regions, by their ids."""
    seen = set(regions)
    for region in seen:
        building.above("region", region)
    return Attacker(name, tuple(region.id in seen for region in building.regions))


def attacker_named(building: Building, said: str) -> Attacker:
    """As commands have it: outsider, administrator, role:NAME, sees:REGION,REGION or cameras:REGION,REGION."""
    kind, _, given = said.strip().partition(":")
    regions = [each.strip() for each in given.split(",") if each.strip()]
    if kind == "role" and given:
        return with_role(building, given.strip())
    if kind == "sees" and regions:
        return who_sees(building, regions, f"who sees {', '.join(regions)}")
    if kind == "cameras" and regions:
        return administrator(building, regions)
    if said.strip() == "outsider":
        return outsider(building)
    if said.strip() == "administrator":
        return administrator(building)
    raise ParameterError(
        f"There is no attacker {said!r}; name outsider, administrator, role:NAME, or regions like sees:hall,lab or "
        "cameras:hall,lab."
    )


def opened_at_random(counts: ArrayLike, share: parameters.Number, seed: int) -> Attacker:
    """Regions opened one after another until this share of the people (of one tick's true counts) is seen.

    >>> opened_at_random([5, 0, 3, 2], 0, seed=1).open
    (False, False, False, False)
    """
    true, wanted = wholes("counts", counts), parameters.probability("share", share)
    if true.ndim != 1:
        raise ParameterError("Regions are opened at random by the counts of one tick.")
    order = np.random.default_rng(seed).permutation(len(true))
    before = np.cumsum(true[order]) - true[order]
    seen = set(order[before < float(wanted) * true.sum()].tolist())
    return Attacker(f"knows {float(wanted):.0%}", tuple(region in seen for region in range(len(true))))


@dataclass(frozen=True, eq=False)
class Unknown:
    """People whose places an attacker does not know, counted by place, while all others of the tick are known."""

    counts: Whole
    known: Whole

    @property
    def people(self) -> int:
        return int(self.counts.sum())


def unknown_groups(counts: ArrayLike, share: parameters.Number, seed: int) -> Iterator[Unknown]:
    """Everybody of one tick, in groups: whoever attacks one of a group knows this share of the others, at random.

    The thesis gives each victim an own attacker who knows 0, 50 or 90% of the others. Victims of one group share
    theirs: it knows everybody who is not in the group. Each person is in one group.

    >>> [group.people for group in unknown_groups([6, 4], 0.5, seed=1)]
    [5, 5]
    """
    true, known = wholes("counts", counts), parameters.probability("share", share)
    if true.ndim != 1:
        raise ParameterError("People are put into groups by the counts of one tick.")
    many = int(true.sum())
    size = max(1, many - round(known * max(many - 1, 0)))
    groups = max(1, round(many / size)) if many else 0
    places = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(true)), true))
    for members in np.array_split(places, groups) if groups else ():
        inside = np.bincount(members, minlength=len(true))
        yield Unknown(inside, true - inside)
