"""A published table: a count for each key, totals that follow from them, as columns and files."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from louver.publishing.columns import as_csv, as_frame, write
from louver.steward import Release
from louver.table.plan import COUNTS, TablePlan
from louver.table.plan_parts import COUNT, HIGH, LEVEL, LOW, plain_value
from louver.table.words import LEVEL as SURE
from louver.table.words import cell


@dataclass(frozen=True, eq=False)
class PublishedTable:
    """What was released, what it promises and protects, and what it cost. All of it may be published."""

    plan: TablePlan
    release: Release
    remaining: Fraction | None = None
    ledger: str | None = None

    @property
    def counts(self) -> NDArray[np.int64]:
        """One for each key, in the order of the domain."""
        return np.array(self.release.answer[COUNTS], dtype=np.int64)

    @property
    def promise(self) -> str:
        return self.release.promise

    @property
    def protected(self) -> str:
        return self.plan.protected

    @property
    def warnings(self) -> tuple[str, ...]:
        """Those of the plan, and what the exact totals show."""
        if self.plan.exact is None or any(self.totals(*self.plan.exact).values()):
            return self.plan.warnings
        return (
            *self.plan.warnings,
            "The exact totals are all 0, so no row has one of these keys; check how they are written.",
        )

    def totals(self, *columns: str) -> dict[tuple[Any, ...], int]:
        """The sums of the counts by some columns of the domain; of all counts where none is named."""
        for name in columns:
            self.plan.domain.column(name)  # says which there are
        labels, numbers = self.plan.grouped(columns)
        sums = np.zeros(len(labels), dtype=np.int64)
        np.add.at(sums, np.array(numbers), self.counts)
        return dict(zip(labels, sums.tolist(), strict=True))

    @property
    def columns(self) -> dict[str, list[Any]]:
        """A row for each key: keys, further columns, the count and the ends of its band.

        After them a row for each total that was asked for, and a first column that says by what each row counts. A
        total has nothing in the other columns, and no band but where it is exact.
        """
        domain, counts = self.plan.domain, self.counts.tolist()
        off = self._reach()
        made: dict[str, list[Any]] = {LEVEL: [cell(self.plan)] * len(counts)} if self.plan.totals else {}
        made |= {name: [plain_value(each) for each in domain.column(name)] for name in domain.columns}
        made[COUNT] = counts
        made[LOW] = [count - reach for count, reach in zip(counts, off, strict=True)]
        made[HIGH] = [count + reach for count, reach in zip(counts, off, strict=True)]
        for level in self.plan.totals:
            exact = self.is_exact(level)
            for (value,), total in self.totals(level).items():
                for name in domain.columns:
                    made[name].append(plain_value(value) if name == level else None)
                for name in (COUNT, LOW, HIGH):
                    made[name].append(total if exact or name == COUNT else None)
                made[LEVEL].append(level)
        return made

    def is_exact(self, *columns: str) -> bool:
        """Whether the totals by these columns are exact: each is a sum of totals that are."""
        if self.plan.exact is None:
            return False
        whole, groups = self.plan.grouped(columns)[1], self.plan.groups or []
        return len(set(zip(groups, whole, strict=True))) == len(set(groups))

    def _reach(self) -> list[int]:
        """How far each count may be off; a count that is a total by itself is exact."""
        from louver.noise.bits import SYSTEM

        off = self.plan.made(SYSTEM).reach(SURE)
        groups = self.plan.groups
        if groups is None:
            return [off] * len(self.counts)
        sizes = np.bincount(groups)
        return [0 if sizes[group] == 1 else off for group in groups]

    def to_dict(self) -> dict[str, Any]:
        """For JSON: the promise, what is exact, the price, and `columns`."""
        return {
            "protected": self.protected,
            "promise": self.promise,
            "warnings": list(self.warnings),
            "exact": None if self.plan.exact is None else self.plan.invariants,
            "level": str(SURE),
            "worst": str(self.release.worst),
            "charged": str(self.release.charged),
            "kind": self.plan.price.kind,
            "remaining": None if self.remaining is None else str(self.remaining),
            "number": self.release.number,
            "again": self.release.again,
            "columns": self.columns,
        }

    def to_csv(self, path: str | Path | None = None) -> str:
        """A line for each key, and for each total that was asked for. Also written to a file."""
        text = as_csv(self.columns)
        if path is not None:
            write(path, text)
        return text

    def to_frame(self, kind: str = "pandas") -> Any:
        """The same as a frame of pandas, polars or arrow."""
        return as_frame(self.columns, kind, "A table")

    def __repr__(self) -> str:
        return f"PublishedTable({len(self.plan.domain):,} keys, number {self.release.number})"
