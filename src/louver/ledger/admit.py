"""Whether a ledger can pay: every cap is checked at every point that a new charge covers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from louver.errors import BudgetError
from louver.ledger.envelope import Envelope
from louver.ledger.model import Cap
from louver.ledger.totals import (
    EVERYBODY,
    ZERO,
    Measure,
    Total,
    around,
    by_category,
    delta,
    peak,
    price,
    with_same_intervals,
)
from louver.privacy.guarantee import Subspace, ZeroConcentrated
from louver.privacy.predicatewise import Peak
from louver.privacy.scope import Point, Scope


@dataclass(frozen=True, slots=True)
class Shortage:
    """Where a request would exceed a cap, and by how much."""

    scope: Scope
    point: Point
    cap: Cap
    audience: str
    what: str
    family: str
    requested: Fraction
    remaining: Fraction

    @property
    def difference(self) -> Fraction:
        return self.requested - self.remaining


@dataclass(frozen=True, slots=True)
class Admission:
    """What checking found: the worst shortage, if any, and the largest totals there will be on the new scopes."""

    shortage: Shortage | None
    peaks: dict[tuple[str, str], tuple[Fraction, Fraction]]  # by audience and family
    stored: Sequence[Total] | None  # what is stored near the new scopes, where all of them are short


def admit(envelope: Envelope, caps: Sequence[Cap], new: Sequence[Total], audience: str) -> Admission:
    """What costs nothing needs no room: it is admitted also where a cap was lowered below what is spent."""
    asked = [cap for cap in caps if cap.audience in (None, audience or None)]
    envelope.check_columns(total.scope for total in new)
    found = _Findings()
    short: list[Total] = []
    paying = [total for total in new if total.price or total.delta]
    for group in _by_intervals(paying):
        if not envelope.is_long(group[0].scope):
            short += group
        elif not _is_well_below(envelope, asked, group, paying, found):
            for total in group:
                _check_long(envelope, asked, total, paying, found)
    regions = [total.scope for total in short]
    stored = envelope.meeting(regions) if regions else []
    near = by_category([*stored, *paying], regions)
    for total in short:
        _check(near(total.scope), asked, total, found)
    for total in new:  # last, because an owner can allow it, and cannot help where kinds have no sum
        _check_exact(asked, total)
    return Admission(found.worst, found.peaks, stored if len(short) == len(new) else None)


def _by_intervals(new: Sequence[Total]) -> list[list[Total]]:
    """New totals of one kind whose scopes differ in categories only."""
    groups: dict[str, list[Total]] = {}
    for total in new:
        groups.setdefault(total.family, []).append(total)
    return [
        list(group) for family in groups.values() for group in with_same_intervals(family, lambda total: total.scope)
    ]


class _Findings:
    def __init__(self) -> None:
        self.worst: Shortage | None = None
        self.peaks: dict[tuple[str, str], tuple[Fraction, Fraction]] = {}

    def see_peak(self, audience: str, family: str, totals: tuple[Fraction, Fraction]) -> None:
        before = self.peaks.get((audience, family), (ZERO, ZERO))
        self.peaks[audience, family] = max(before[0], totals[0]), max(before[1], totals[1])

    def see_shortage(self, found: Shortage) -> None:
        if self.worst is None or found.difference > self.worst.difference:
            self.worst = found


def _check(near: Sequence[Total], caps: Sequence[Cap], new: Total, found: _Findings) -> None:
    """Totals that can meet the new one are at hand, the new ones among them."""
    _check_kinds(near, new)
    for audience in {EVERYBODY, new.audience}:
        totals = [peak(near, new.scope, price, new.family, audience), Peak(ZERO, {})]
        if any(total.delta for total in near):
            totals[1] = peak(near, new.scope, delta, new.family, audience)
        found.see_peak(audience, new.family, (totals[0].price, totals[1].price))
        for cap in caps:
            if (cap.audience or EVERYBODY) != audience:
                continue
            part = cap.scope.intersection(new.scope)
            for what, measure, limit in _limits(cap, new.family):
                if part is None or not measure(new):
                    continue
                whole = totals[measure is delta]
                reached = whole if part == new.scope else peak(near, part, measure, new.family, audience)
                if reached.price > limit:
                    there = _asked_for_at(near, new, measure, reached.point)
                    left = limit - (reached.price - there)
                    found.see_shortage(Shortage(part, reached.point, cap, new.audience, what, new.family, there, left))


def _is_well_below(
    envelope: Envelope, caps: Sequence[Cap], group: Sequence[Total], new: Sequence[Total], found: _Findings
) -> bool:
    """Whether the bounds of the blocks show at once that a group of long scopes fits under every cap."""
    if envelope.families() - {group[0].family} or len({total.family for total in new}) > 1:
        return False
    family, region = group[0].family, around([total.scope for total in group])
    for audience in {EVERYBODY, group[0].audience}:
        bounds = [
            envelope.bound(region, measure, family, audience, new) if any(map(measure, new)) else ZERO
            for measure in (price, delta)
        ]
        for cap in caps:
            over = any(bounds[measure is delta] > limit for _, measure, limit in _limits(cap, family))
            if over and (cap.audience or EVERYBODY) == audience and cap.scope.overlaps(region):
                return False
        found.see_peak(audience, family, (bounds[0], bounds[1]))
    return True


def _check_long(
    envelope: Envelope, caps: Sequence[Cap], new: Total, all_new: Sequence[Total], found: _Findings
) -> None:
    """One long scope, looked at closely."""
    _check_kinds(envelope.meeting([new.scope]) if envelope.families() - {new.family} else [], new)
    _check_kinds(all_new, new)
    for audience in {EVERYBODY, new.audience}:
        whole = [envelope.peak(new.scope, measure, new.family, audience, all_new) for measure in (price, delta)]
        found.see_peak(audience, new.family, (whole[0].price, whole[1].price))
        for cap in caps:
            part = cap.scope.intersection(new.scope)
            if part is None or (cap.audience or EVERYBODY) != audience:
                continue
            for what, measure, limit in _limits(cap, new.family):
                if not measure(new):
                    continue
                reached = whole[measure is delta]
                if reached.price > limit and part != new.scope:
                    reached = envelope.peak(part, measure, new.family, audience, all_new)
                if reached.price > limit:
                    there = _asked_for_at(all_new, new, measure, reached.point)
                    left = limit - (reached.price - there)
                    found.see_shortage(Shortage(part, reached.point, cap, new.audience, what, new.family, there, left))


def _asked_for_at(near: Sequence[Total], new: Total, measure: Measure, point: Point) -> Fraction:
    """What the request itself adds at a point."""
    return sum((measure(each) for each in near if each is new or _is_new_at(each, new, point)), ZERO)


def _limits(cap: Cap, family: str) -> list[tuple[str, Measure, Fraction]]:
    if family == ZeroConcentrated.kind:
        return [("rho", price, cap.amount(family))]
    return [("epsilon", price, cap.amount(family)), ("delta", delta, cap.delta)]


def _check_kinds(near: Sequence[Total], new: Total) -> None:
    for total in near:
        if total.family != new.family and (total.price or total.delta) and total.scope.overlaps(new.scope):
            raise BudgetError(
                f"This ledger has already paid for {_priced(total)} on {total.scope}, and they have no proved sum with "
                f"{_priced(new)}; ask for what is there already, or about another data set. Nothing was read and "
                "nothing was spent."
            )


def _priced(total: Total) -> str:
    """What prices of a kind pay for, in words."""
    kind, _, invariants = total.family.partition(" of ")
    if kind == Subspace.kind:
        return f"tables with exact totals ({invariants})"
    return "answers in rho" if kind == ZeroConcentrated.kind else "answers in epsilon without exact totals"


def _check_exact(caps: Sequence[Cap], new: Total) -> None:
    """What is exact is in no epsilon, so an owner must have allowed it by its name."""
    kind, _, invariants = new.family.partition(" of ")
    if kind != Subspace.kind:
        return
    for cap in caps:
        if invariants not in cap.exact and cap.scope.overlaps(new.scope):
            where = f" where {cap.scope}" if cap.scope.ranges else ""
            whose = f" for {cap.audience}" if cap.audience else ""
            raise BudgetError(
                f"This would publish exactly, without any protection: {invariants}. The cap{where}{whose} does not "
                "allow that; an owner can, by this name, with: louver ledger cap --exact. Nothing was read and nothing "
                "was spent."
            )


def _is_new_at(total: Total, new: Total, point: Point) -> bool:
    return not total.stored and total.family == new.family and _holds(total.scope, point)


def _holds(scope: Scope, point: Point) -> bool:
    columns = {column: point.get(column) for column, _ in scope.ranges}
    return scope.contains(columns)
