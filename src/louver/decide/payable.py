"""After a refusal: which keys could still pay, and the WHERE that asks about them alone.

Keys pay apart only along columns that the unit fixes, so that is where they are told apart. What remains on each
follows from released values and public parameters, so that naming keys here tells nothing about the rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from louver.ledger import Ledger
from louver.privacy import Scope, largest_total
from louver.question.write_sql import filter_to_sql
from louver.source import filters
from louver.source.filters import Compare, Filter, OneOf
from louver.source.measures import KeyValue

MOST_PLACES = 4096
MOST_LOOKS = 256  # into the ledger
LONGEST_WHERE = 500

Place: TypeAlias = "tuple[KeyValue, ...]"


def who_can_pay(plan: Any, ledger: Ledger, audience: str | None, names: Mapping[str, str]) -> str | None:
    """A sentence about the keys that could pay for the plan by themselves; None where none can, or keys pay together.

    `names` are what the source calls columns that are made of a time.
    """
    keys = plan.reading.keys[0]
    fixed = [at for at, column in enumerate(keys.columns) if plan.unit.fixes(column)]
    columns = [keys.columns[at] for at in fixed]
    every = list(dict.fromkeys(tuple(key[at] for at in fixed) for key in keys.values))
    regions = _regions(plan, columns, every) if len(every) <= MOST_PLACES else {}
    can = _payers(plan, ledger, audience, regions)
    if not can or len(can) == len(regions):
        return None
    by = "" if len(fixed) == len(keys.columns) else f" by {' and '.join(names.get(each, each) for each in columns)}"
    said = f"Of {len(regions):,} keys{by}, {len(can):,} could still pay"
    where, asked = _widest([names.get(each, each) for each in columns], list(regions), set(can))
    written = None if where is None else filter_to_sql(where)
    if written is None or len(written) > LONGEST_WHERE:
        return f"{said}; ask with a domain that lists only those."
    word = "AND" if filters.conjuncts(plan.reading.where) else "WHERE"
    return f"{said}; {word} {written} asks about {'them' if asked == len(can) else f'{asked:,} of them'}."


def _regions(plan: Any, columns: Sequence[str], every: Sequence[Place]) -> dict[Place, Scope]:
    """For each place what the plan pays on there; places that it does not pay on are left out."""
    charged = [charge.scope for charge in plan.worst]
    found = {}
    for place in every:
        ranges = {column: filters.point_range(value) for column, value in zip(columns, place, strict=True)}
        parts = [part for scope in charged if (part := scope.intersection(Scope(ranges))) is not None]
        if parts:
            found[place] = Scope.covering(parts)
    return found


def _payers(plan: Any, ledger: Ledger, audience: str | None, regions: Mapping[Place, Scope]) -> list[Place] | None:
    """The places that could pay, found by halves: most budgets are alike. None where that takes too many looks."""
    charges, can, open_, looks = plan.worst, [], [list(regions)], 0
    while open_:
        group = open_.pop()
        looks += 1
        if looks > MOST_LOOKS or not group:
            return None
        region = Scope.covering([regions[place] for place in group])
        price = largest_total(charge for charge in charges if charge.scope.overlaps(region)).price
        if price <= ledger.remaining(region, audience):
            can += group
        elif len(group) > 1:
            middle = len(group) // 2
            open_ += [group[middle:], group[:middle]]
    return can


def _widest(columns: Sequence[str], every: Sequence[Place], can: set[Place]) -> tuple[Filter | None, int]:
    """Of restrictions of one column to places that can pay, the one that keeps most of them, and how many."""
    best: tuple[Filter | None, int] = None, 0
    for at, column in enumerate(columns):
        failing = {place[at] for place in every if place not in can}
        kept = _kept([place[at] for place in every], failing)
        size = sum(place[at] in kept for place in every)
        if size > best[1]:
            best = _restricted(column, kept), size
    return best


def _kept(values: Sequence[KeyValue], failing: set[KeyValue]) -> list[KeyValue]:
    """All texts that do not fail; of numbers and times, whose scopes are stretches, the longest run without a failing
    one."""
    if isinstance(values[0], str | bool):
        return [value for value in dict.fromkeys(values) if value not in failing]
    runs: list[list[KeyValue]] = [[]]
    for value in sorted(set(values)):
        if value in failing:
            runs.append([])
        else:
            runs[-1].append(value)
    return max(runs, key=len)


def _restricted(column: str, kept: Sequence[KeyValue]) -> Filter:
    if len(kept) == 1:
        return Compare(column, "=", kept[0])
    if isinstance(kept[0], str | bool):
        return OneOf(column, tuple(kept))
    return filters.both([Compare(column, ">=", kept[0]), Compare(column, "<=", kept[-1])])
