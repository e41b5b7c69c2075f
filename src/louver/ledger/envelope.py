"""What was spent where: totals by scope, found through the index, and bounds that spare most of the looking.

Charges on one scope are added up in one row. The largest total inside a region is found from the rows that meet it.
Where a region is long, the axis is cut into blocks; for each block a bound on the totals inside it is kept, and only
blocks whose bound could beat the best point found so far are looked at. A bound rises when something is reserved, by
the total that was found then anyway, and is made exact again when a gradual plan settles.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache

from louver.errors import ParameterError
from louver.ledger.index import ENDLESS, Filed, edges, filed, interval, meeting, scope_of
from louver.ledger.store import Connection
from louver.ledger.totals import EVERYBODY, ZERO, Measure, Total, around, delta, peak, price, with_same_intervals
from louver.privacy.predicatewise import Peak, heaviest
from louver.privacy.ranges import Between
from louver.privacy.scope import Scope

MOST_BLOCKS = 64
LOOSE = 3  # a block may be up to 2^LOOSE times as long as the shortest scopes, and longer where there are many
MOST_SPLIT = 4096
_PLACE = "axis = ? AND reach = ? AND low = ? AND id = ? AND audience = ? AND family = ?"


class Envelope:
    """The totals in one open transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        filed_by = connection.rows("SELECT axis, reach, family FROM classes")
        self._classes = list({(str(axis), int(reach)): None for axis, reach, _ in filed_by})
        self._families = {(str(axis), int(reach), str(family)) for axis, reach, family in filed_by}
        self._columns = {str(name): str(kind) for name, kind in connection.rows("SELECT name, kind FROM columns")}
        self._axes = {str(axis): int(exponent) for axis, exponent in connection.rows("SELECT axis, exponent FROM axes")}

    def columns(self) -> dict[str, str]:
        """The columns that scopes speak of, each with its kind of values."""
        return dict(self._columns)

    def check_columns(self, scopes: Iterable[Scope]) -> None:
        """One column has one kind of values for good: the index compares values of one kind only."""
        kinds = dict(self._columns)
        for scope in scopes:
            for column, kept in scope.ranges:
                kind = kinds.setdefault(column, kept.kind)
                if kind != kept.kind:
                    raise ParameterError(f"Column {column!r} is {kind} in this ledger, but {kept.kind} in the request.")

    def meeting(self, regions: Sequence[Scope]) -> list[Total]:
        """The totals that may meet any of the regions: one look for all regions with the same intervals."""
        found: dict[tuple[Scope, str, str], Total] = {}
        for group in with_same_intervals(regions, lambda region: region):
            for total in self._rows(around(group), self._classes):
                found[total.scope, total.audience, total.family] = total
        return list(found.values())

    def families(self) -> set[str]:
        """Every kind of prices that was ever charged."""
        return {family for _, _, family in self._families}

    def is_long(self, region: Scope) -> bool:
        """Whether a region may hold so many rows that the blocks should be asked first."""
        kept = dict(region.ranges)
        return any(
            not isinstance(between := kept.get(axis), Between) or self._blocks(axis, *edges(between)) is None
            for axis in self._axes
        )

    def peak(self, region: Scope, measure: Measure, family: str, audience: str, more: Sequence[Total] = ()) -> Peak:
        """The largest total inside a region, and where; `more` is added to what is stored."""
        if not self.is_long(region):
            return peak([*self.meeting([region]), *more], region, measure, family, audience)
        axis = self._main_axis()
        blocked = [(each, reach) for each, reach in self._classes if each == axis and self._is_short(axis, reach)]
        others = [each for each in self._classes if each not in blocked]
        rest = [*self._rows(region, others), *more]
        best = peak(rest, region, measure, family, audience)
        base = best.price
        for block, bound in self._heaviest(axis, region, measure, family, audience):
            if bound + base <= best.price:
                break
            piece = self._piece(axis, block, region)
            if piece is not None:
                inside = [*self._rows(piece, blocked), *rest]
                best = max(best, peak(inside, piece, measure, family, audience), key=lambda found: found.price)
        return best

    def bound(self, region: Scope, measure: Measure, family: str, audience: str, more: Sequence[Total]) -> Fraction:
        """A total that no point of a long region exceeds, from the blocks alone."""
        axis = self._main_axis()
        others = [(each, reach) for each, reach in self._classes if each != axis or not self._is_short(axis, reach)]
        rest = peak([*self._rows(region, others), *more], region, measure, family, audience).price
        return rest + max((bound for _, bound in self._heaviest(axis, region, measure, family, audience)), default=ZERO)

    def add(self, changes: Sequence[Total], known: Iterable[Total] | None = None) -> None:
        """Add to the totals of scopes; `known` holds those that are stored on the same scopes, if they were read."""
        stored = {
            (each.scope, each.audience, each.family): each
            for each in (self._stored(changes) if known is None else known)
        }
        new, altered, gone = [], [], []
        for change in changes:
            place, before = filed(change.scope), stored.get((change.scope, change.audience, change.family))
            where = place.axis, place.reach, place.low, place.id, change.audience, change.family
            after = (change.price, change.delta)
            if before is not None:
                after = before.price + change.price, before.delta + change.delta
            written = str(after[0]), str(after[1])
            if not any(after):
                gone.append(where)
            elif before is not None:
                altered.append((*written, *where))
            else:
                self._make_room(change.scope, place, change.family)
                new.append((*where, place.high, place.keyed, place.category, place.text, *written))
        if new:
            names = "axis, reach, low, id, audience, family, high, keyed, category, scope, price, delta"
            self._connection.run_many(f"INSERT INTO totals ({names}) VALUES ({', '.join('?' * 12)})", new)  # noqa: S608
        if altered:
            self._connection.run_many(f"UPDATE totals SET price = ?, delta = ? WHERE {_PLACE}", altered)  # noqa: S608
        if gone:
            self._connection.run_many(f"DELETE FROM totals WHERE {_PLACE}", gone)  # noqa: S608

    def _stored(self, changes: Sequence[Total]) -> list[Total]:
        """What is stored on the very scopes of the changes."""
        stored = []
        for change in changes:
            place = filed(change.scope)
            where = place.axis, place.reach, place.low, place.id, change.audience, change.family
            found = self._connection.rows(f"SELECT price, delta FROM totals WHERE {_PLACE}", *where)  # noqa: S608
            stored += [
                Total(change.scope, change.audience, change.family, _fraction(a), _fraction(b)) for a, b in found
            ]
        return stored

    def raise_bounds(
        self, scopes: Iterable[Scope], family: str, audience: str, peaks: tuple[Fraction, Fraction]
    ) -> None:
        """After a reservation: no point of these scopes is above the peaks, and all others are as before."""
        for axis, block in self._touched(scopes):
            before = self._bounds(axis, block, audience, family)
            after = max(before[0], peaks[0]), max(before[1], peaks[1])
            if after != before:
                self._set_bounds(axis, block, audience, family, after)

    def in_fitting_blocks(self, scopes: Iterable[Scope]) -> list[Scope]:
        """Those of the scopes whose blocks are not much longer than they are, so that few other scopes are in them."""
        places = ((scope, filed(scope)) for scope in scopes)
        return [scope for scope, place in places if self._axes.get(place.axis, ENDLESS) - place.reach <= LOOSE]

    def renew_bounds(self, scopes: Iterable[Scope], families: Iterable[str], audiences: Iterable[str]) -> None:
        """Make the bounds of the blocks that these scopes touch tight again."""
        listed, everybody = list(families), [EVERYBODY, *audiences]
        for axis, block in self._touched(scopes):
            inside = self._in_block(axis, block)
            for family in listed:
                for audience in everybody:
                    chosen = [
                        total for total in inside if total.family == family and audience in (EVERYBODY, total.audience)
                    ]
                    # Scopes that reach beyond the block are not cut: that is quicker, and the bound stays a bound.
                    tight = [
                        heaviest([(total.scope, measure(total)) for total in chosen]).price
                        if any(map(measure, chosen))
                        else ZERO
                        for measure in (price, delta)
                    ]
                    self._set_bounds(axis, block, audience, family, (tight[0], tight[1]))

    def _in_block(self, axis: str, block: int) -> list[Total]:
        classes = [(each, reach) for each, reach in self._classes if each == axis and self._is_short(axis, reach)]
        piece = self._piece(axis, block, Scope.everything())
        return [] if piece is None else self._rows(piece, classes)

    def block_above_its_bound(self, scopes: Iterable[Scope], audiences: Iterable[str]) -> str | None:
        """The axis of a block that holds a point above its bound, or None: for checking."""
        listed = list(audiences)
        for axis, block in self._touched(scopes):
            piece, inside = self._piece(axis, block, Scope.everything()), self._in_block(axis, block)
            for family in {total.family for total in inside}:
                for audience in listed:
                    bounds = self._bounds(axis, block, audience, family)
                    for measure, bound in zip((price, delta), bounds, strict=True):
                        if piece is not None and peak(inside, piece, measure, family, audience).price > bound:
                            return axis
        return None

    def _main_axis(self) -> str:
        return min(self._axes)

    def _rows(self, region: Scope, classes: Iterable[tuple[str, int]]) -> list[Total]:
        return [
            Total(scope_of(scope), audience, family, _fraction(price), _fraction(delta))
            for scope, audience, family, price, delta in meeting(self._connection, region, classes)
        ]

    def _make_room(self, scope: Scope, place: Filed, family: str) -> None:
        for column, kept in scope.ranges:
            if column not in self._columns:
                self._columns[column] = kept.kind
                self._connection.run("INSERT INTO columns (name, kind) VALUES (?, ?)", column, kept.kind)
        if (place.axis, place.reach) not in self._classes:
            self._classes.append((place.axis, place.reach))
        kind = place.axis, place.reach, family
        if kind not in self._families:
            self._families.add(kind)
            self._connection.run("INSERT INTO classes (axis, reach, family) VALUES (?, ?, ?)", *kind)
        if 0 <= place.reach < ENDLESS:
            self._fit_blocks(place.axis, place.reach)

    def _fit_blocks(self, axis: str, reach: int) -> None:
        """Blocks are about as long as the shortest scopes, so that few scopes meet one."""
        exponent = self._axes.get(axis)
        if exponent is None:
            self._connection.run("INSERT INTO axes (axis, exponent) VALUES (?, ?)", axis, reach)
            self._axes[axis] = reach
        elif reach < exponent - LOOSE and self._split_blocks(axis, exponent - reach):
            self._connection.run("UPDATE axes SET exponent = ? WHERE axis = ?", reach, axis)
            self._axes[axis] = reach

    def _split_blocks(self, axis: str, by: int) -> bool:
        """Each new block starts from the bound of the one it was part of, if short scopes can be in it at all.

        Where that would be many blocks they stay as they are: longer blocks bound less tightly, but rightly.
        """
        rows = self._connection.rows("SELECT block, audience, family, price, delta FROM blocks WHERE axis = ?", axis)
        kept = rows if by <= LOOSE + MOST_BLOCKS.bit_length() - 1 else []
        if len(kept) << by > MOST_SPLIT:
            return False
        self._connection.run("DELETE FROM blocks WHERE axis = ?", axis)
        self._connection.run_many(
            "INSERT INTO blocks (axis, block, audience, family, price, delta) VALUES (?, ?, ?, ?, ?, ?)",
            ((axis, (block << by) + part, *others) for block, *others in kept for part in range(1 << by)),
        )
        return True

    def _is_short(self, axis: str, reach: int) -> bool:
        """Whether scopes of this reach take few blocks, so that the blocks' bounds include them."""
        exponent = self._axes.get(axis)
        return exponent is not None and 0 <= reach < ENDLESS and reach < exponent + MOST_BLOCKS.bit_length()

    def _blocks(self, axis: str, low: int, high: int) -> range | None:
        """The blocks an interval touches; None where they are too many."""
        exponent = self._axes[axis]
        first, last = low >> exponent, (high - 1) >> exponent
        return range(first, last + 1) if last - first <= MOST_BLOCKS else None

    def _touched(self, scopes: Iterable[Scope]) -> list[tuple[str, int]]:
        touched: dict[tuple[str, int], None] = {}
        for scope in scopes:
            place = filed(scope)
            if self._is_short(place.axis, place.reach):
                exponent = self._axes[place.axis]
                for block in range(place.low >> exponent, ((place.high - 1) >> exponent) + 1):
                    touched[place.axis, block] = None
        return list(touched)

    def _piece(self, axis: str, block: int, region: Scope) -> Scope | None:
        """The part of a region inside one block."""
        like = dict(region.ranges).get(axis) or self._like(axis)
        exponent = self._axes[axis]
        cut = interval(like, block << exponent, (block + 1) << exponent) if isinstance(like, Between) else None
        return None if cut is None else region.intersection(Scope({axis: cut}))

    def _like(self, axis: str) -> Between | None:
        found = self._connection.rows("SELECT scope FROM totals WHERE axis = ? AND reach >= 0 LIMIT 1", axis)
        kept = dict(scope_of(found[0][0]).ranges)[axis] if found else None
        return kept if isinstance(kept, Between) else None

    def _heaviest(
        self, axis: str, region: Scope, measure: Measure, family: str, audience: str
    ) -> Iterator[tuple[int, Fraction]]:
        kept = dict(region.ranges).get(axis)
        sql = "axis = ? AND audience = ? AND family = ?"
        values: list[object] = [axis, audience, family]
        if isinstance(kept, Between):
            low, high = edges(kept)
            sql += " AND block >= ? AND block <= ?"
            values += [low >> self._axes[axis], (high - 1) >> self._axes[axis]]
        number = "price" if measure is price else "delta"
        found = self._connection.rows(f"SELECT block, {number} FROM blocks WHERE {sql}", *values)  # noqa: S608
        yield from sorted(((int(block), _fraction(text)) for block, text in found), key=lambda each: -each[1])

    def _bounds(self, axis: str, block: int, audience: str, family: str) -> tuple[Fraction, Fraction]:
        found = self._connection.rows(
            "SELECT price, delta FROM blocks WHERE axis = ? AND block = ? AND audience = ? AND family = ?",
            *(axis, block, audience, family),
        )
        return (_fraction(found[0][0]), _fraction(found[0][1])) if found else (ZERO, ZERO)

    def _set_bounds(self, axis: str, block: int, audience: str, family: str, after: tuple[Fraction, Fraction]) -> None:
        self._connection.run(
            "INSERT INTO blocks (axis, block, audience, family, price, delta) VALUES (?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (axis, block, audience, family) DO UPDATE SET price = excluded.price, delta = excluded.delta",
            *(axis, block, audience, family, str(after[0]), str(after[1])),
        )


@lru_cache(maxsize=1 << 12)
def _fraction(text: str) -> Fraction:
    return Fraction(text)
