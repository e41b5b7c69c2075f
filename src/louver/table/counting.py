"""What a table counts, and how much one unit can change it.

Rows, or those that a column counts (`of`), where rows hold counts. Neighbours have the same exact totals, and all rows
of one unit are others, or are those of another unit. What counts of a unit is m rows at most, so that at most m of the
table's entries leave their cells and at most m come in: the table moves by 2 m at most, added up over all cells, and
where nothing is exact a unit that is there or not moves it by m. One of those that a column counts is one entry: m =
1.

A column of counts holds whole numbers of 0 or more in every row that is counted; anything else is refused once it is
found. That tells nothing about anybody: it is the same for all neighbours, which are files of counts like this one.
"""

from __future__ import annotations

from louver.errors import ParameterError
from louver.noise.grid import Grid
from louver.privacy import Unit
from louver.source.measures import COUNT, LARGEST_COUNTED, ODD, SUM, Bound, Measure

COUNTS = Grid(0, LARGEST_COUNTED, 1)


def checked(unit: object, of: str | None, bound: object, keys: tuple[str, ...]) -> None:
    """Whether unit, counted column and bound fit each other."""
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
    if of is not None and of in keys:
        raise ParameterError(f"{of!r} is counted, so it cannot be a key as well.")


def moved(unit: Unit, bound: Bound | None, keys: tuple[str, ...]) -> tuple[int, Bound | None]:
    """How many entries of the table one unit is at most, and the bound to be kept for that."""
    if unit.is_row:
        return 1, None
    kept = bound or Bound()
    in_one_cell = all(unit.fixes(key) for key in keys)
    return kept.rows * (1 if in_one_cell or kept.keys is None else kept.keys), kept


def measures(of: str | None) -> tuple[Measure, ...]:
    """What is read for each key: its count, and for counts also in how many rows there is none."""
    if of is None:
        return (Measure(COUNT),)
    return Measure(SUM, column=of, grid=COUNTS), Measure(ODD, column=of)
