"""Exact inversion that looks at as few random bits as it can.

A law on 0, 1, 2, ... is given by its cumulative probabilities F_0 < F_1 < ..., each enclosed to any precision. With U
uniform on [0, 1), the number of F_j at or below U has exactly that law. U is never written out: its first 16 bits
settle most draws by one look-up, 48 more settle nearly all others by a search in floor(2^64 F_j), and where even 64
bits equal a table entry, or lie past its end, U is prolonged 64 bits at a time until it differs. No step rounds.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator

import numpy as np
from numpy.typing import NDArray

from louver.errors import ParameterError
from louver.noise.bits import Bits
from louver.noise.enclosure import GUARD_BITS, Enclosure

CumulativeLaw = Callable[[int], Iterator[Enclosure]]
"""law(working_bits) yields enclosures of F_0, F_1, ...; a finite law leaves out the last, which is 1."""

FEW = 8  # draws that are made sooner one by one than as an array
CHUNK = 1 << 15  # draws whose intermediate arrays stay in the processor's cache
LARGEST_TABLE = 1 << 22
_PREFIX_BITS = 16
_WORD_BITS = 64
_NEGLIGIBLE = (1 << _WORD_BITS) - 16  # a table may stop where 2^-60 of the mass is left
_UNSETTLED = -1


class Inversion:
    """Draws from a law by its table; exact whatever the table's length."""

    def __init__(self, law: CumulativeLaw) -> None:
        self._law = law
        floors, self._complete = _floors(law)
        self._floors = np.array(floors, dtype=np.uint64)
        self._by_prefix = self._settled_by_prefix()
        # The same memory as Python's numbers, which are quicker to look at one by one.
        self._floors_view, self._by_prefix_view = self._floors.data, self._by_prefix.data

    @property
    def nbytes(self) -> int:
        return self._floors.nbytes + self._by_prefix.nbytes

    def draw(self, count: int, bits: Bits) -> NDArray[np.int64]:
        if count <= CHUNK:
            return self._drawn(count, bits)
        drawn = np.empty(count, dtype=np.int64)
        for start in range(0, count, CHUNK):
            drawn[start : start + CHUNK] = self._drawn(min(CHUNK, count - start), bits)
        return drawn

    def _drawn(self, count: int, bits: Bits) -> NDArray[np.int64]:
        prefixes = bits.words16(count)
        settled = self._by_prefix.take(prefixes)
        drawn = settled.astype(np.int64)
        unsettled = np.flatnonzero(settled == _UNSETTLED)
        if len(unsettled) > FEW:
            drawn[unsettled] = self._settle(prefixes[unsettled], bits)
        else:
            for position in unsettled.tolist():
                drawn[position] = self._settle_one(int(prefixes[position]), bits)
        return drawn

    def one(self, bits: Bits) -> int:
        """What `draw(1, bits)` gives, from the same bits, without arrays: live streams draw one at a time."""
        prefix = bits.integer(_PREFIX_BITS)
        settled = self._by_prefix_view[prefix]
        return settled if settled != _UNSETTLED else self._settle_one(prefix, bits)

    def _settle_one(self, prefix: int, bits: Bits) -> int:
        rest = _WORD_BITS - _PREFIX_BITS
        word = (prefix << rest) | (bits.integer(_WORD_BITS) >> _PREFIX_BITS)
        first = bisect_left(self._floors_view, word)
        past_end = first == len(self._floors_view)
        if not self._complete if past_end else self._floors_view[first] == word:
            return self._settle_slowly(word, bits)
        return first

    def _settle(self, prefixes: NDArray[np.uint16], bits: Bits) -> NDArray[np.int64]:
        shift = np.uint64(_WORD_BITS - _PREFIX_BITS)
        words = (prefixes.astype(np.uint64) << shift) | (bits.words64(len(prefixes)) >> np.uint64(_PREFIX_BITS))
        drawn = np.searchsorted(self._floors, words, side="left").astype(np.int64)
        past_end = drawn == len(self._floors)
        tied = ~past_end & (self._floors.take(drawn, mode="clip") == words)
        for position in np.flatnonzero(tied if self._complete else tied | past_end):
            drawn[position] = self._settle_slowly(int(words[position]), bits)
        return drawn

    def _settle_slowly(self, prefix: int, bits: Bits) -> int:
        """Prolong U until no floor(2^n F_j) equals its first n bits; the first one above them is the answer."""
        length = _WORD_BITS
        while True:
            answer = _first_at_or_above(self._law, prefix, length)
            if answer is not None:
                return answer
            prefix = (prefix << _WORD_BITS) | bits.integer(_WORD_BITS)
            length += _WORD_BITS

    def _settled_by_prefix(self) -> NDArray[np.int16] | NDArray[np.int32]:
        shift = np.uint64(_WORD_BITS - _PREFIX_BITS)
        lowest = np.arange(1 << _PREFIX_BITS, dtype=np.uint64) << shift
        highest = lowest | ((np.uint64(1) << shift) - np.uint64(1))
        first = np.searchsorted(self._floors, lowest, side="left")
        unsettled = first != np.searchsorted(self._floors, highest, side="right")
        if not self._complete:
            unsettled |= first == len(self._floors)
        settled = np.where(unsettled, _UNSETTLED, first)
        return settled.astype(np.int16) if len(self._floors) < 1 << 15 else settled.astype(np.int32)


def _floors(law: CumulativeLaw) -> tuple[list[int], bool]:
    """floor(2^64 F_j) up to where almost no mass is left, and whether that is the whole law."""
    working = _WORD_BITS + GUARD_BITS
    while True:
        floors: list[int] = []
        for enclosed in law(working):
            floor = _floor(enclosed, _WORD_BITS)
            if floor is None:
                break
            if len(floors) == LARGEST_TABLE:
                raise ParameterError("This noise spreads over too many values for an exact table; use a larger rate.")
            floors.append(floor)
            if floor >= _NEGLIGIBLE:
                return floors, False
        else:
            return floors, True
        working *= 2


def _floor(probability: Enclosure, bits: int) -> int | None:
    """floor(2^bits F) if sure. F lies strictly between 0 and 1, however near: its enclosure may be cut to that."""
    low, high = max(probability.low, 0), min(probability.high, (1 << probability.bits) - 1)
    return Enclosure(low, high, probability.bits).floor(bits)


def _first_at_or_above(law: CumulativeLaw, prefix: int, length: int) -> int | None:
    """The first j with floor(2^length F_j) > prefix if none equals it; None if one does."""
    working = length + GUARD_BITS
    while True:
        index = 0
        for index, enclosed in enumerate(law(working)):
            floor = _floor(enclosed, length)
            if floor is None:
                break
            if floor >= prefix:
                return None if floor == prefix else index
        else:
            return index + 1
        working *= 2


class TableCache:
    """Tables by law, the least recently used dropped once all together pass a number of bytes."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._tables: OrderedDict[Hashable, Inversion] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, law: CumulativeLaw) -> Inversion:
        with self._lock:
            table = self._tables.get(key)
            if table is not None:
                self._tables.move_to_end(key)
                return table
        table = Inversion(law)
        with self._lock:
            self._tables[key] = table
            while self.nbytes > self._most_bytes and len(self._tables) > 1:
                self._tables.popitem(last=False)
        return table

    @property
    def nbytes(self) -> int:
        return sum(table.nbytes for table in self._tables.values())


TABLES = TableCache(most_bytes=64 << 20)
