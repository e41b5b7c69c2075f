"""Every one of some keys with every value of one more column, written out only where somebody looks.

A stream has a key for each region at each tick. There are few regions and few ticks, but many pairs of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload


@dataclass(frozen=True, slots=True, repr=False)
class Crossed(Sequence[tuple[Any, ...]]):
    """Each of the first with each of the last, which change fastest.

    >>> pairs = Crossed((("hall",), ("lab",)), (9, 10))
    >>> len(pairs), pairs[1], pairs[-1]
    (4, ('hall', 10), ('lab', 10))
    """

    first: tuple[tuple[Any, ...], ...]
    last: tuple[Any, ...]

    def __len__(self) -> int:
        return len(self.first) * len(self.last)

    @overload
    def __getitem__(self, at: int) -> tuple[Any, ...]: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[tuple[Any, ...], ...]: ...
    def __getitem__(self, at: int | slice) -> tuple[Any, ...]:
        if isinstance(at, slice):
            return tuple(self[each] for each in range(len(self))[at])
        key, value = divmod(range(len(self))[at], len(self.last))
        return (*self.first[key], self.last[value])

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return ((*key, value) for key in self.first for value in self.last)

    def __repr__(self) -> str:
        return f"Crossed({len(self.first)} keys with {len(self.last)} values)"
