"""Where most was spent: found block by block, without looking at every scope that was ever charged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from heapq import nlargest

from louver.ledger.envelope import Envelope
from louver.ledger.totals import ZERO, by_category, peak, price
from louver.privacy.scope import Scope


class Usage(Envelope):
    """The totals in one open transaction, looked through for the scopes on which most was spent."""

    def most_used(self, limit: int, family: str, audience: str) -> list[tuple[Scope, Fraction]]:
        """The charged scopes whose largest totals are largest, the narrowest of equal ones first."""
        best: list[tuple[Scope, Fraction]] = []
        seen: set[Scope] = set()
        for ceiling, scopes in self._groups(family, audience):
            if len(best) >= limit and best[-1][1] >= ceiling:
                break
            new = [scope for scope in dict.fromkeys(scopes) if scope not in seen]
            seen.update(new)
            found = [*best, *self._spent_on(new, family, audience)]
            best = nlargest(limit, found, key=lambda each: (each[1], len(each[0].ranges)))
        spent = [(scope, total) for scope, total in best if total]
        return sorted(spent, key=lambda each: (-each[1], -len(each[0].ranges), each[0]))

    def _groups(self, family: str, audience: str) -> Iterator[tuple[Fraction | float, Iterable[Scope]]]:
        """Scopes block by block, each with a total that none of them exceeds, the largest first.

        A point's total is made of what is filed in its block of each axis, and of what is in no block.
        """
        long = [(axis, reach) for axis, reach in self._classes if not self._is_short(axis, reach)]
        rest = [total for total in self._rows(Scope.everything(), long) if total.family == family]
        yield float("inf"), [total.scope for total in rest]
        beside = peak(rest, Scope.everything(), price, family, audience).price
        everywhere = Scope.everything()
        bounds = {axis: list(self._heaviest(axis, everywhere, price, family, audience)) for axis in self._axes}
        highest = {axis: found[0][1] if found else ZERO for axis, found in bounds.items()}
        others = {axis: beside + sum(highest.values(), ZERO) - highest[axis] for axis in bounds}
        blocks = [(bound + others[axis], axis, block) for axis, found in bounds.items() for block, bound in found]
        for ceiling, axis, block in sorted(blocks, key=lambda each: -each[0]):
            yield ceiling, [total.scope for total in self._in_block(axis, block) if total.family == family]

    def _spent_on(self, scopes: Sequence[Scope], family: str, audience: str) -> list[tuple[Scope, Fraction]]:
        short = [scope for scope in scopes if not self.is_long(scope)]
        near = by_category(self.meeting(short), short)
        spent = [(scope, peak(near(scope), scope, price, family, audience).price) for scope in short]
        long = (scope for scope in scopes if self.is_long(scope))
        return spent + [(scope, self.peak(scope, price, family, audience).price) for scope in long]
