"""What a table counts, and how much one unit can change it.

Rows, or those that a column counts (`of`), where rows hold counts. What counts of a unit is m rows at most; one of
those that a column counts is one entry, so m = 1. Where nothing is exact, a unit is there or not, and the table moves
by m at most, added up over all cells. Beside exact totals, which neighbours share, a unit's rows are others, or are
those of another unit: at most m entries leave their cells and at most m come in, so that the table moves by 2 m.

A total can be exact only if the rows decide it. Of a unit with more rows than count, a lot decides which do. The total
is the same for every lot where all of the unit's rows are in that total anyway: always in the grand total, and
elsewhere if the unit fixes the columns of the total. Other totals would differ from release to release, which would
show who has rows in two of them; they are refused.

A column of counts holds whole numbers of 0 or more in every row that is counted; anything else is refused once it is
found. That tells nothing about anybody: it is the same for all neighbours, which are files of counts like this one.
"""

from __future__ import annotations

from louver.errors import ParameterError
from louver.noise.grid import Grid
from louver.privacy import Unit
from louver.source.measures import COUNT, LARGEST_COUNTED, ODD, SUM, Bound, Measure

COUNTS = Grid(0, LARGEST_COUNTED, 1)


def checked(unit: object, of: str | None, bound: object, labels: tuple[str, ...]) -> None:
    """Whether unit, counted column and bound fit each other, and no label that is published is a count."""
    if not isinstance(unit, Unit):
        raise ParameterError(f"A table needs a Unit, not a {type(unit).__name__}; Unit.row() is one row.")
    if bound is not None and not isinstance(bound, Bound):
        raise ParameterError(f"A table needs a Bound on what one unit contributes, not a {type(bound).__name__}.")
    if bound is not None and unit.is_row:
        raise ParameterError("Where the unit is the row itself there is nothing to bound per unit.")
    if of is not None and unit.counted != of:
        raise ParameterError(
            f"Where rows hold counts, one of those that {of!r} counts is the unit; write it as 'one of {of}', not as "
            f"{str(unit)[:40]!r}."
        )
    if of is not None and of in labels:
        raise ParameterError(f"{of!r} is counted, so it can be neither a key nor what totals are by.")


def moved(unit: Unit, bound: Bound | None, keys: tuple[str, ...]) -> tuple[int, Bound | None]:
    """How many entries of the table one unit is at most, and the bound to be kept for that."""
    if unit.is_row:
        return 1, None
    kept = bound or Bound()
    in_one_cell = all(unit.fixes(key) for key in keys)
    return kept.rows * (1 if in_one_cell or kept.keys is None else kept.keys), kept


def check_exact(unit: Unit, kept: Bound | None, exact: tuple[str, ...], keys: tuple[str, ...], number: int) -> None:
    """Whether the rows alone decide the exact totals of a table with this number of keys."""
    if kept is None or all(unit.fixes(key) for key in keys) or (kept.keys is not None and kept.keys >= number):
        return
    whose = " and ".join(unit.columns)
    if kept.keys is not None:
        raise ParameterError(
            f"Of each {whose} at most {kept.keys:,} keys count, and a lot decides which, so that no total is exact; "
            "leave keys_per_unit out, or exact."
        )
    loose = [name for name in exact if name not in keys or not unit.fixes(name)]
    if loose:
        rows = "1 row counts" if kept.rows == 1 else f"{kept.rows:,} rows count"
        raise ParameterError(
            f"Of each {whose} at most {rows}, and a lot decides which, so that no total by {loose[0]} is exact; "
            f"make {loose[0]} a key and a column of the unit, or publish the grand total, or leave exact out."
        )


def measures(of: str | None) -> tuple[Measure, ...]:
    """What is read for each key: its count, and for counts also in how many rows there is none."""
    if of is None:
        return (Measure(COUNT),)
    return Measure(SUM, column=of, grid=COUNTS), Measure(ODD, column=of)
